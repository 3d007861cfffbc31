"""What tests in every folder may ask for."""

import ctypes
import io
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import harness
from lowdim.runtime import native
from lowdim.runtime.native import Kernel

if "LOWDIM_TEST_LIBRARIES" in os.environ:  # those that `make check-sanitizers` compiles
    native.LIBRARIES = Path(os.environ["LOWDIM_TEST_LIBRARIES"]).resolve()

LIBRARIES = [
    name
    for name in native.LEVELS
    if native._file(name).exists() and (name == "any" or int(name[1]) <= native._level_of_machine())
]
"""Levels whose kernels this machine can run."""


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


HEARING = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
for number in (signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_DFL)
"""
"""Signals as a shell hands them to a command in the foreground, whatever the tests themselves are run by."""


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


@pytest.fixture
def tally(record_property: Callable[[str, object], None]) -> harness.Tally:
    """`tally(5, 3_000, "model files")` counts what a test tried for a goal of `harness.GOALS`.

    `tally(9, "212 MB", "peak of PCA, .npy")` tells a figure that is no count.
    """
    return lambda goal, done, what: record_property(harness.PROPERTY, (goal, done, what))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """The table of what was tried, and a file of it."""
    reports = [report for name in ("passed", "failed") for report in terminalreporter.stats.get(name, ())]
    rows = harness.collect((one.nodeid.split("::")[-1], one.failed, one.user_properties) for one in reports)
    if rows:
        lines = harness.table(rows)
        path = Path("out", "reliability.md")
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        terminalreporter.section("reliability")
        terminalreporter.write("\n".join(lines) + "\n")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that bring a library of their own are those of kernels."""
    for item in items:
        if {"each_library", "each_route"} & set(getattr(item, "fixturenames", ())):
            item.add_marker("kernels")


@contextmanager
def _library(name: str) -> Iterator[None]:
    """Kernels of another library meanwhile; "none" for the plain routes."""
    function = Kernel.function

    def without_what_is_known(self: Kernel, ending: str = "") -> Any:
        known, self._known = self._known, {}
        try:
            return function(self, ending)
        finally:
            self._known = known

    loaded = None if name == "none" else ctypes.CDLL(str(native._file(name)))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(native, "library", lambda: loaded)
        patched.setattr(Kernel, "function", without_what_is_known)
        yield


@pytest.fixture(params=LIBRARIES)
def each_library(request: pytest.FixtureRequest) -> Iterator[None]:
    """The test runs with the kernels of every library in turn."""
    with _library(request.param):
        yield


@pytest.fixture(params=["none", *LIBRARIES])
def each_route(request: pytest.FixtureRequest) -> Iterator[None]:
    """The same, and without any."""
    with _library(request.param):
        yield


@pytest.fixture
def no_library() -> Callable[[], AbstractContextManager[None]]:
    """`with no_library():` takes the plain routes."""
    return lambda: _library("none")
