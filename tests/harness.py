"""How reliable the program is, in one table: what is tried, how often it should be, how often it was, what was wrong.

A test that tries many things says how many, under the number of a row of GOALS: `tally(5, 3_000, "model files")`. The
counts of a run, of whatever was run, are printed at its end and written to out/reliability.md. What a failing test
counted stands there as wrong.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

Tally = Callable[[int, "int | str", str], None]
"""The fixture `tally`: a goal's number, how many were tried (or a figure that is no count), and of what."""

FULL = os.environ.get("LOWDIM_FULL") == "1"
"""`make check-full`: every figure as GOALS states it. `make check-slow` tries as many as forty minutes allow."""


def many(slow: int, full: int) -> int:
    """How many cases a slow test tries: so many, or as many as its goal asks for under `make check-full`."""
    return full if FULL else slow


GOALS = {
    1: "1,000 checks of estimators over all models and settings, none unexplained",
    2: "40 properties × 500 examples over all models",
    3: "the zoo of matrices: LAPACK's ratios below 30, engines agree to 1e-10",
    4: "600 bad files, arrays, frames and parameters × all that take them",
    5: "10⁶ model files, 200,000 JSON texts, 20,000 tables of each format, changed at random",
    6: "1,000 SIGKILLs while files are written, models fitted, workers working",
    7: "a fault at every write, fsync, rename and close; full disks",
    8: "100 signals: a checkpoint, nothing left behind, within two seconds",
    9: "memory= of 256, 512 and 1,024 MB on files of 3 GB",
    10: "too little memory, too few threads: one sentence, exit code 6",
    11: "eight threads on one model, fork, asyncio: the same bits",
    12: "threads, hash seeds, locales, -O, -W error: the same bits",
    13: "workers and the scheduler of a cluster killed",
    17: "bombs of every format: refused in 2 s and 300 MB",
    18: "SQL: nothing read outside of the file, nothing written",
    19: "no formula in an exported table",
    20: "pages with hostile names: no script, no request, no error",
    21: "15 minutes of mixed work: memory, files and threads stay level",
    22: "model files of every version answer as they did; ONNX graphs as `transform`",
    23: "branches covered ≥ 95 %, mutants killed ≥ 80 %",
    24: "dependencies: hashes, licences, lowest versions, every Python",
}
"""Rows of the table. 14 to 16 are those of a page that computes, which there is none of yet."""


@dataclass
class Row:
    """What was counted for one goal."""

    done: dict[str, int] = field(default_factory=dict)
    """What → how many were tried."""
    wrong: list[str] = field(default_factory=list)
    """Tests that failed."""
    facts: list[str] = field(default_factory=list)
    """Figures that are no counts: the largest peak, the longest time."""


def table(rows: dict[int, Row]) -> list[str]:
    """The lines of the table, in Markdown."""
    lines = ["| | goal | done | found wrong |", "|---|---|---|---|"]
    for number, row in sorted(rows.items()):
        done = "; ".join([*(f"{count:,} {what}" for what, count in row.done.items()), *row.facts])
        lines.append(f"| {number} | {GOALS[number]} | {done} | {', '.join(row.wrong) or 'nothing'} |")
    return lines


def collect(reports: Iterable[tuple[str, bool, list[tuple[str, object]]]]) -> dict[int, Row]:
    """Rows from (name of the test, whether it failed, what it counted)."""
    rows: dict[int, Row] = {}
    for name, failed, properties in reports:
        told = [value for key, value in properties if key == PROPERTY]
        for number, done, what in told:  # type: ignore[misc]
            row = rows.setdefault(number, Row())
            if isinstance(done, int):
                row.done[what] = row.done.get(what, 0) + done
            else:
                row.facts.append(f"{what}: {done}")
            if failed and name not in row.wrong:
                row.wrong.append(name)
    return rows


PROPERTY = "reliability"
"""What the counts are called among the properties of a test's report, which come from every worker."""
