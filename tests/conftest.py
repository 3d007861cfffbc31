"""What tests in every folder may ask for."""

import ctypes
import io
import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lowdim.runtime import native


@pytest.fixture(scope="session")
def shared_data() -> Callable[[str], Path]:
    """Where a file of real data lies, by its name; the test is skipped where there is none."""

    def path(name: str) -> Path:
        folder = os.environ.get("LOWDIM_DATA")
        if not folder:
            pytest.skip(f"LOWDIM_DATA is not set: needs {name}")
        found = Path(folder) / name
        if not found.exists():
            pytest.skip(f"LOWDIM_DATA={folder} does not hold {name}")
        return found

    return path


@pytest.fixture(autouse=True)
def no_figure_left_open() -> Iterator[None]:
    """Figures that pyplot keeps are closed after each test."""
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")


@pytest.fixture(params=[level for level in native.LEVELS if native._file(level).exists()])
def each_library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Kernels run from each library that this machine can run, in turn."""
    level = request.param
    if level != "any" and int(level[1]) > native._level_of_machine():
        pytest.skip(f"this machine does not run {level}")
    loaded = ctypes.CDLL(str(native._file(level)))
    monkeypatch.setattr(native, "library", lambda: loaded)
    _forget_functions()
    yield level
    _forget_functions()


def _forget_functions() -> None:
    """Kernels keep functions of the library that they were called from."""
    for name, module in list(sys.modules.items()):
        for value in vars(module).values() if name.startswith("lowdim.") else ():
            if isinstance(value, native.Kernel):
                value._known.clear()


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ended]:
    """Run a command line, with what is piped in; gives its exit code and what it printed."""

    from lowdim.cli.main import main

    def command(*argv: object, given: str | None = None) -> Ended:
        capsys.readouterr()
        with monkeypatch.context() as patched:
            if given is not None:
                patched.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given.encode())))
            code = main([str(word) for word in argv])
        said = capsys.readouterr()
        return Ended(code, said.out, said.err)

    return command
