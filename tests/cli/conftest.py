"""Running the command line inside the test's own process, which spares the start of Python."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import lowdim
from lowdim.cli.main import main


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
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ended]:
    """Run a command line; gives its exit code and what it printed."""

    def command(*argv: object) -> Ended:
        capsys.readouterr()
        code = main([str(word) for word in argv])
        said = capsys.readouterr()
        return Ended(code, said.out, said.err)

    return command


@pytest.fixture
def child() -> Callable[..., Ended]:
    """Run a command line in a process of its own, with what is piped in."""

    def command(*argv: object, given: str | None = None, **environment: str) -> Ended:
        answer = subprocess.run(
            [sys.executable, "-m", "lowdim.cli.main", *map(str, argv)],
            input=given,
            capture_output=True,
            text=True,
            timeout=120,
            env={**os.environ, **environment},
            check=False,
        )
        return Ended(answer.returncode, answer.stdout, answer.stderr)

    return command


@pytest.fixture
def wine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with wine.csv in it, in which the command runs."""
    monkeypatch.chdir(tmp_path)
    found = lowdim.datasets.wine()
    found.to_pandas().assign(kind=found.labels).to_csv("wine.csv", index=False)
    return tmp_path
