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
from lowdim.runtime.native import Kernel


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


def _runnable() -> list[str]:
    """Libraries of kernels that this machine can run."""
    there = [name for name in reversed(native.LEVELS) if native._file(name).exists()]
    return [name for name in there if name == "any" or int(name[1]) <= native._level_of_machine()]


@pytest.fixture(params=_runnable())
def each_library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of the library whose kernels run during the test: one after the other of those that can."""
    loaded, used, function = ctypes.CDLL(str(native._file(request.param))), set(), Kernel.function

    def of_this_library(kernel: Kernel, ending: str = "") -> Any:
        if kernel not in used:
            used.add(kernel)
            kernel._known.clear()
        return function(kernel, ending)

    monkeypatch.setattr(native, "library", lambda: loaded)
    monkeypatch.setattr(Kernel, "function", of_this_library)
    yield request.param
    for kernel in used:
        kernel._known.clear()


@pytest.fixture
def no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain routes are taken during the test."""
    monkeypatch.setattr(native, "library", lambda: None)
