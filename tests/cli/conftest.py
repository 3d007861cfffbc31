"""Running the command line inside the test's own process, which spares the start of Python."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import lowdim
from conftest import Ended


@pytest.fixture
def child() -> Callable[..., Ended]:
    """Run a command line in a process of its own, with what is piped in; for what `run` cannot show."""

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
