"""Work is a tree of stages: one share of the whole, which never falls, and one way to stop it, from any thread."""

from __future__ import annotations

import threading
import warnings

import pytest

from lowdim.errors import Interrupted
from lowdim.runtime.progress import Observer, Progress, expect, observing, stage, stop_if_asked, track, watching
from lowdim.runtime.threads import in_order
from lowdim.runtime.warn import warn_user


def shares_of(work):
    """The shares that a watcher is told."""
    seen: list[Progress] = []
    with watching(seen.append):
        work()
    return [progress.share for progress in seen]


def test_turns_of_turns_are_shares_of_the_whole():
    def work():
        for _ in track(range(2), "start"):
            for _ in track(range(4), "step"):
                pass

    assert shares_of(work) == [1 / 8, 2 / 8, 3 / 8, 4 / 8, 4 / 8, 5 / 8, 6 / 8, 7 / 8, 1, 1]


def test_parts_have_weights_and_those_that_do_not_come_are_left_out():
    def work(names):
        with stage("fit", parts=[("row", 1.0), ("step", 3.0), ("row", 1.0), ("draw", 5.0)]):
            for name in names:
                for _ in track(range(2), name):
                    pass

    assert shares_of(lambda: work(["row", "step", "row", "draw"])) == pytest.approx(
        [0.05, 0.1, 0.25, 0.4, 0.45, 0.5, 0.75, 1.0]
    )
    assert shares_of(lambda: work(["step", "draw"]))[-1] == 1.0  # neither reading came
    assert shares_of(lambda: work(["other", "row"])) == pytest.approx([0.0, 0.0, 0.05, 0.1])  # something beside them


def test_a_share_never_falls_but_the_estimate_may():
    seen: list[Progress] = []
    with watching(seen.append), stage("step") as tell:
        for done, of in ((1, 4), (2, 4), (3, 12), (6, 12)):
            tell(done, of)
    assert [one.share for one in seen] == [0.25, 0.5, 0.5, 0.5]
    assert [one.estimate for one in seen] == [0.25, 0.5, 0.25, 0.5]
    assert shares_of(lambda: list(track(iter(range(3)), "row"))) == [
        None,
        None,
        None,
    ]  # nobody knows how many there are


def test_what_is_expected_can_be_said_later():
    def work():
        with stage("fit", parts=[("row", 1.0)]):
            expect([("step", 1.0), ("row", 1.0)])
            list(track(range(2), "step"))

    assert shares_of(work) == [0.25, 0.5]


def test_stages_that_an_error_left_are_over():
    seen: list[Progress] = []
    with watching(seen.append), stage("whole", 2) as tell:
        left = track(range(3), "step")  # a loop that an error left, kept as a traceback keeps it
        next(left)
        tell(1)
        for _ in track(range(1), "row"):
            pass
        left.close()
        tell(2)
    assert [[one.name for one in progress.stages] for progress in seen] == [["whole"], ["whole", "row"], ["whole"]]


def test_a_watcher_that_says_true_stops_work_once():
    def learnt():
        try:
            for _ in track(range(5), "step"):
                pass
        except Interrupted:
            for _ in track(range(5), "row"):  # to keep what was learnt must not be stopped again
                stop_if_asked()
            return "kept"

    with watching(lambda progress: progress.stages[-1].done == 2):
        assert learnt() == "kept"


def test_threads_that_work_for_another_stop_with_it():
    class Asking(Observer):
        def __init__(self):
            self.asked, self.heard = False, 0

        def asks_to_stop(self):
            return self.asked

        def stopped(self):
            self.heard += 1

    observer, met = Asking(), threading.Event()

    def work(number):
        if number == 1:
            observer.asked = True
            met.set()
        met.wait(10)
        for _ in track(range(3), "step"):  # tells nothing, as it is not the thread that is watched
            stop_if_asked()
        return number

    with observing(observer), pytest.raises(Interrupted):
        list(in_order(work, range(100)))
    assert observer.heard == 1


def test_nobody_watches():
    with stage("fit", parts=[("step", 1.0)]), stage("step") as tell:
        assert tell(1) is False
    expect([("row", 1.0)])
    stop_if_asked()
    assert list(track("ab", "letter")) == ["a", "b"]


def test_observers_hear_of_every_beginning_and_end():
    class Listening(Observer):
        def __init__(self):
            self.heard = []

        def begin(self, stages):
            self.heard.append(f"begin {stages[-1].name}")

        def end(self, stages):
            self.heard.append(f"end {stages[-1].name}")

        def move(self, progress):
            self.heard.append(f"{progress.stages[-1].name} {progress.stages[-1].done}")
            return progress.stages[-1].done == 1

    one, other = Listening(), Listening()
    with observing(one), stage("fit"), observing(other), stage("step") as tell:
        assert tell(1)
        assert not tell(2)
    assert other.heard == ["begin step", "step 1", "step 2", "end step"]
    assert one.heard == ["begin fit", *other.heard, "end fit"]


def test_warnings_are_at_the_users_line(tmp_path):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_user("here")
    assert caught[0].filename == __file__
