"""What type checkers know of the package: what is public is typed, and a program that misspells a word is told so."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import lowdim

HERE = Path(__file__).parent
SOURCE = Path(lowdim.__file__).parents[1]
PYRIGHT = [sys.executable, "-m", "basedpyright", "--pythonpath", sys.executable]

pytestmark = pytest.mark.slow


def run(command, folder, path):
    environment = {**os.environ, "PYTHONPATH": path, "MYPYPATH": str(SOURCE), "COLUMNS": "400"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """`pyright --verifytypes`, with scikit-learn's base classes known (stubs/README.md)."""
    command = [*PYRIGHT, "--verifytypes", "lowdim", "--ignoreexternal", "--outputjson"]
    path = os.pathsep.join([str(SOURCE), str(HERE / "stubs")])
    return json.loads(run(command, tmp_path_factory.mktemp("types"), path))["typeCompleteness"]


def told(symbols):
    return {symbol["name"]: [found["message"] for found in symbol["diagnostics"]] for symbol in symbols}


def is_of(symbol, names):
    return any(symbol["name"] == name or symbol["name"].startswith(f"{name}.") for name in names)


def test_this_package_was_looked_at(report):
    assert report["packageRootDirectory"] == str(SOURCE / "lowdim")
    assert report["exportedSymbolCounts"]["withKnownType"] > 8000


def test_every_type_is_known(report):
    unknown = [symbol for symbol in report["symbols"] if not (symbol["isTypeKnown"] or symbol["isTypeAmbiguous"])]
    # the prompt's commands and one of SciPy's operators inherit from classes that have no types; nobody imports them
    inside = ["lowdim.cli", "lowdim.models.nmf.solvers.start"]
    assert not told(symbol for symbol in unknown if symbol["isExported"] and not is_of(symbol, inside))


def test_no_type_of_what_users_hold_depends_on_the_checker(report):
    public = [getattr(lowdim, name) for name in lowdim.__all__]
    classes = [base for one in public if isinstance(one, type) for base in one.__mro__]
    names = [f"{one.__module__}.{one.__qualname__}" for one in (*public, *classes) if hasattr(one, "__qualname__")]
    names += [f"lowdim.{name}" for name in lowdim.__all__] + ["lowdim.results", "lowdim.datasets", "lowdim.errors"]
    assert not told(symbol for symbol in report["symbols"] if symbol["isTypeAmbiguous"] and is_of(symbol, names))


def marked(*words):
    lines = (HERE / "program.txt").read_text().splitlines()
    return {number for number, line in enumerate(lines, 1) if line.endswith(words)}


def test_pyright_finds_what_is_wrong_and_nothing_else(tmp_path):
    (tmp_path / "program.py").write_text((HERE / "program.txt").read_text())
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "standard"}')  # as pyright itself checks
    answer = json.loads(run([*PYRIGHT, "--outputjson", "program.py"], tmp_path, str(SOURCE)))
    errors = [found for found in answer["generalDiagnostics"] if found["severity"] == "error"]
    lines = {found["range"]["start"]["line"] + 1: found["message"] for found in errors}
    assert set(lines) == marked("# wrong", "# wrong in pyright"), lines


def test_mypy_finds_what_is_wrong_and_nothing_else(tmp_path):
    (tmp_path / "program.py").write_text((HERE / "program.txt").read_text())
    (tmp_path / "mypy.ini").write_text("[mypy]\n[mypy-sklearn.*]\nignore_missing_imports = True\n")
    said = run([sys.executable, "-m", "mypy", "program.py"], tmp_path, "")
    lines = {
        int(line.split(":")[1]): line
        for line in said.splitlines()
        if line.startswith("program.py:") and ": error:" in line
    }
    assert set(lines) == marked("# wrong"), said
