"""scikit-learn's own tests, run on these classes: what fails is listed, with its reason, in docs/scikit-learn-tests.md.

`python tests/scikit_learn/test_their_tests.py` prints what fails and is not listed, and what is listed and passes.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

HERE = Path(__file__).parent
LIST = HERE.parents[1] / "docs" / "scikit-learn-tests.md"


@dataclass(frozen=True)
class Listed:
    """A row of the list: tests by name, in which * stands for anything, how many they are, and why they fail."""

    tests: str
    count: int
    reason: str

    def names(self, test: str) -> bool:
        return re.fullmatch(re.escape(self.tests).replace(r"\*", ".*"), test) is not None


def listed_failures() -> dict[str, list[Listed]]:
    """Module → rows of its table."""
    found: dict[str, list[Listed]] = {}
    module = ""
    for line in LIST.read_text().splitlines():
        if line.startswith("## `"):
            module = line.split("`")[1]
            assert module not in found, f"{LIST.name} has two tables of {module}"
            found[module] = []
        row = re.fullmatch(r"\| `(.+)` \| (\d+) \| (.+) \|", line)
        if row:
            found[module].append(Listed(row[1], int(row[2]), row[3]))
    return found


def run(module: str, folder: Path) -> dict[str, list[str]]:
    """Run a test module of the installed scikit-learn; tests by outcome."""
    outcomes = folder / "outcomes.json"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "our_classes", "-p", "no:cacheprovider", "-p", "no:xdist"]
    command += ["-c", os.devnull, "--rootdir", str(folder), "--tb=no", "--pyargs", module]
    path = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
    # SciPy must know before it is loaded that arrays of other kinds may come; their tests are skipped without it
    settings = {"PYTHONPATH": path, "LOWDIM_OUTCOMES": str(outcomes), "SCIPY_ARRAY_API": "1"}
    done = subprocess.run(command, cwd=folder, env={**os.environ, **settings}, capture_output=True, text=True)
    assert outcomes.exists(), done.stdout + done.stderr
    found: dict[str, list[str]] = json.loads(outcomes.read_text())
    return found


def differences(outcomes: dict[str, list[str]], rows: list[Listed]) -> list[str]:
    """What the list does not say truly, a sentence each."""
    failed, passed = outcomes["failed"], outcomes["passed"]
    said = [f"fails, and is not listed: {test}" for test in failed if not any(row.names(test) for row in rows)]
    for row in rows:
        mended = [test for test in passed if row.names(test)]
        if mended:
            said.append(f"listed as failing, but {len(mended)} of {row.tests} pass, such as {mended[0]}")
        count = sum(map(row.names, failed))
        if count != row.count:
            said.append(f"{row.tests}: {count} fail, {row.count} are listed")
    return said


@pytest.mark.slow
@pytest.mark.parametrize("module", sorted(listed_failures()))
def test_only_listed_tests_fail(module, tmp_path):
    outcomes = run(module, tmp_path)
    assert outcomes["passed"], "no test ran"
    assert not differences(outcomes, listed_failures()[module])


def test_a_new_failure_a_mended_one_and_a_wrong_count_are_told():
    rows = [Listed("test_a[*]", 2, "stated"), Listed("test_b", 1, "stated")]
    outcomes = {"passed": ["test_a[2]"], "failed": ["test_a[1]", "test_b", "test_c"], "skipped": []}
    said = differences(outcomes, rows)
    assert [line.partition(" ")[0] for line in said] == ["fails,", "listed", "test_a[*]:"]
    assert not differences({"passed": ["test_d"], "failed": ["test_a[1]", "test_a[2]", "test_b"]}, rows)


def test_every_listed_failure_has_a_reason_and_no_test_has_two():
    rows = [row for rows in listed_failures().values() for row in rows]
    assert rows
    assert all(len(row.reason) > 20 for row in rows)
    assert len({row.tests for row in rows}) == len(rows)


if __name__ == "__main__":
    for name, listed in listed_failures().items():
        with tempfile.TemporaryDirectory() as scratch:
            found = run(name, Path(scratch))
        counts = ", ".join(f"{len(tests)} {outcome}" for outcome, tests in found.items())
        print(f"{name}: {counts}", *differences(found, listed), sep="\n  ")
