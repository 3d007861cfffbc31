"""A bar for the whole of a verb, on terminals alone; signals that end it, between two turns or else all the same."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from conftest import HEARING
from lowdim.cli.progress import describe_work, time_left
from lowdim.models.base.saving import load_checkpoint
from lowdim.runtime.progress import Stage

PAUSED = """
import sys, time
import lowdim.cli.progress as progress
from lowdim.cli.main import main
move = progress.Reporter.move
def slowly(self, now):
    if now.stages[-1].name == {name!r}:
        print("turn", flush=True)
        time.sleep(0.2)
    return move(self, now)
progress.Reporter.move = slowly
sys.exit(main(sys.argv[1:]))
"""
"""The command line with a pause after each turn of a loop, so that a signal meets it in the middle."""

DEAF = """
import hashlib, sys
from lowdim import PCA
from lowdim.cli.main import main
from lowdim.runtime.files import atomic_write
def fit(self, X):
    with atomic_write("half.csv") as file:
        file.write(b"half")
        print("turn", flush=True)
        hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)  # minutes of one call, in which Python hears nothing
PCA.fit = fit
sys.exit(main(sys.argv[1:]))
"""
"""The command line with a fit that is one long call."""


def ended_by(script: str, *argv: str, signals=(signal.SIGINT,), turns: int = 2, pause: float = 0.0) -> tuple[int, str]:
    """Exit code and stderr of a process that gets signals after some turns, and a pause."""
    process = subprocess.Popen(
        [sys.executable, "-c", HEARING + script, *argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        for _ in range(turns):
            assert process.stdout.readline() == "turn\n"
        time.sleep(pause)
        for number in signals:
            process.send_signal(number)
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()  # where it should have ended by itself
        process.communicate()
    return process.returncode, said


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    np.save("x.npy", np.abs(rng.standard_normal((300, 8)) @ rng.standard_normal((8, 30))))
    return "x.npy"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_signals_that_end_a_program_end_work_between_its_turns(number, code, table):
    ended, said = ended_by(
        PAUSED.format(name="step"),
        "fit",
        table,
        "--model",
        "nmf",
        "--keep",
        "3",
        "--save",
        "m.lowdim",
        signals=[number],
    )
    assert (ended, said) == (code, "interrupted; nothing was kept, as this fit can only be begun anew\n")
    assert os.listdir() == [table]


def test_a_checkpoint_is_left_by_other_signals_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("big.npy", np.random.default_rng(0).standard_normal((20_000, 200)))
    code, said = ended_by(PAUSED.format(name="row"), "fit", "big.npy", signals=[signal.SIGTERM])
    assert code == 143, said
    assert 0 < load_checkpoint("lowdim.part.lowdim", "PCA").n_samples_ < 20_000
    assert "--resume lowdim.part.lowdim" in said


@pytest.mark.parametrize("signals", [[signal.SIGINT], [signal.SIGTERM], [signal.SIGINT, signal.SIGINT]])
def test_work_that_cannot_hear_is_ended_without_a_trace(signals, table):
    code, said = ended_by(DEAF, "fit", table, signals=signals, turns=1, pause=1.0)  # until it is deaf
    assert (code, said) == (128 + signals[0], "error: interrupted; no half-written file is left\n")
    assert os.listdir() == [table]


def test_ignored_signals_stay_ignored(table):
    """As under nohup, or in the background of a shell without job control."""
    ignoring = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n" + PAUSED.format(name="rule")
    code, _ = ended_by(ignoring, "choose", table, "-q", signals=[signal.SIGHUP], turns=1)
    assert code == 0


def on_a_terminal(*argv: str) -> tuple[int, str, str]:
    """Exit code, stdout, and what a terminal shows of stderr."""
    leader, follower = pty.openpty()
    process = subprocess.Popen([sys.executable, "-c", *argv], stdout=subprocess.PIPE, stderr=follower)
    os.close(follower)
    shown = b""
    assert process.stdout is not None
    while True:
        try:
            if not select.select([leader], [], [], 60)[0]:
                break
            part = os.read(leader, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    out, code = process.communicate(timeout=60)[0].decode(), process.returncode
    os.close(leader)
    return code, out, shown.decode()


def test_a_bar_is_shown_on_a_terminal_and_taken_away(table):
    slow = PAUSED.format(name="rule").replace('print("turn", flush=True)', "pass")
    code, out, shown = on_a_terminal(slow, "choose", table)
    assert code == 0, shown
    assert "What stands out from noise?" in out
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
    assert re.search(r"rule \d+ of 13", plain), plain
    assert re.search(r"\d+ % +about \d+ s left", plain), plain
    assert shown.rstrip().endswith("\x1b[2K")  # the line of the bar is cleared
    assert "\x1b[?25h" in shown  # and the cursor is there again
    assert on_a_terminal(slow, "choose", table, "-q") == (0, "", "")


def test_no_bar_where_nobody_looks(run, table):
    ended = run("fit", table, "--model", "nmf", "--keep", "3")
    assert (ended.code, ended.err) == (0, "")


@pytest.mark.parametrize(
    ("stages", "passes", "words"),
    [
        ([], 0, "working"),
        ([Stage("fit", 2, parts=[("row", 2.0)])], 0, "working"),
        ([Stage("row", None, 412_562)], 1, "412,562 rows"),
        ([Stage("row", 1000, 500)], 3, "pass 3, 500 rows"),
        ([Stage("start", 5, 1), Stage("step", 200.0, 33, counted=False)], 0, "start 2 of 5, step 34"),
        ([Stage("start", 1, 0), Stage("step", None)], 0, "step"),
        ([Stage("fold", 10, 10)], 0, "fold 10 of 10"),
        ([Stage("a", 3), Stage("b", 3), Stage("c", 3)], 0, "b 1 of 3, c 1 of 3"),
    ],
)
def test_what_is_under_way_is_told_in_a_few_words(stages, passes, words):
    assert describe_work(stages, passes) == words


@pytest.mark.parametrize(
    ("seconds", "share", "words"),
    [
        (10, 0.001, ""),
        (10, 0.5, "about 10 s left"),
        (10, 0.1, "about 2 min left"),
        (100, 0.01, "about 2 h 45 min left"),
        (10, 1.0, ""),
    ],
)
def test_the_time_left_is_told_as_people_say_it(seconds, share, words):
    assert time_left(seconds, share) == words
