"""Peaks of memory of a process and of those that it starts, as Linux counts them."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

LOOK_SECONDS = 0.005
"""How often it is looked: the system keeps the peak of a process, so that only one that ends in between is missed."""


class Ended(NamedTuple):
    """How a program ended."""

    code: int
    said: str
    errors: str
    peak: int
    """Bytes: the most that the peaks of the process and of its living children came to together."""


def run_measured(program: str, given: Sequence[str], timeout: float) -> Ended:
    """Run a Python program, and look at what it and its children hold until it ends."""
    with tempfile.TemporaryFile("w+") as said, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen([sys.executable, "-c", program, *given], stdout=said, stderr=errors, text=True)
        peak, until = 0, time.monotonic() + timeout
        try:
            while process.poll() is None:
                assert time.monotonic() < until, "it did not end in time"
                peak = max(peak, _peak(process.pid) + sum(map(_peak, _children(process.pid))))
                time.sleep(LOOK_SECONDS)
        finally:
            process.kill()
            process.wait()
        said.seek(0)
        errors.seek(0)
        return Ended(process.returncode, said.read(), errors.read(), peak)


def _children(process: int) -> list[int]:
    """Processes that any of its threads has started."""
    found: list[int] = []
    for file in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):  # a thread that has ended
            found += map(int, file.read_text().split())
    return found


def _peak(process: int) -> int:
    try:
        found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{process}/status").read_text())
    except OSError:  # it has ended
        return 0
    return int(found[1]) * 1024 if found else 0
