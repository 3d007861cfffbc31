"""A child reads what this process would, has its limits, and whatever ends it is one sentence here."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.sources.mutations import ROWS, WRITERS, seed_of

import lowdim
from lowdim.errors import BadFile, SeveralTables
from lowdim.runtime.machine import held_bytes
from lowdim.runtime.memory import resident_bytes
from lowdim.sources.files import Wish, source_of
from lowdim.sources.isolated import limits, process
from lowdim.sources.isolated.process import Child
from lowdim.sources.isolated.tables import IsolatedReader, isolated_array
from lowdim.sources.kinds import ISOLATED, kind_of
from lowdim.sources.source import Source

pytestmark = pytest.mark.skipif(os.name != "posix", reason="limits and signals are those of POSIX")

FORMATS = [name for name in WRITERS if name not in ("t.npy", "t.npz", "t.bmp", "t.gif", "t.webp", "t.jpg", "t.tif")]
"""One file of every kind that a child reads, if it is asked to."""


@pytest.fixture(scope="module")
def child(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Child]:
    """One for many files."""
    path = tmp_path_factory.mktemp("child") / "large"
    path.write_bytes(bytes(2**20))
    one = Child([path])
    yield one
    one.end()


def read_by(child: Child, path: Path) -> Source:
    kind = kind_of(path)
    if kind in ("hdf5", "zarr", "h5ad", "pictures"):
        more = {"text": str(path), "selection": Wish().selection, "name": None, "size": None}
        return isolated_array([path], child, kind=kind, **more)
    from lowdim.sources.tables.text_columns import TextColumnsReader

    return source_of(TextColumnsReader(IsolatedReader(child, kind, path, None, Wish().lines)), Wish())


@pytest.mark.parametrize("name", FORMATS)
def test_a_child_gives_what_this_process_reads(name: str, tmp_path: Path, child: Child) -> None:
    seed_of(name, tmp_path)
    here, there = lowdim.open(tmp_path / name, isolated="never"), read_by(child, tmp_path / name)
    for known in ("n_rows", "n_columns", "columns", "dtype", "title", "names", "label", "shape_of_rows", "marks"):
        assert getattr(here, known) == getattr(there, known), known
    assert list(map(str, here.notes)) == list(map(str, there.notes))
    assert here.left_out == there.left_out
    for one, other in zip(here.blocks(), there.blocks(), strict=True):
        dense = [block.rows.toarray() if here.sparse else block.rows for block in (one, other)]
        np.testing.assert_array_equal(*dense)
    if here.every_column:
        for mine, its in zip(here.stored(), there.stored(), strict=True):  # type: ignore[attr-defined]
            for column in here.every_column:
                assert list(mine[column]) == list(its[column])


def test_kinds_that_a_file_can_end_are_read_by_a_child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def refuse(self: Child, call: dict[str, object]) -> None:
        asked.append(str(call["kind"]))
        raise BadFile("told")

    monkeypatch.setattr(Child, "open", refuse)
    for name in ("t.json", "t.xlsx", "t.sqlite", "t.feather", "t.h5", "t.zarr.zip", "t.h5ad", "t.png"):
        seed_of(name, tmp_path)
        with pytest.raises(BadFile, match="told"):
            lowdim.open(tmp_path / name)
        assert lowdim.open(tmp_path / name, isolated="never").n_columns
    assert set(asked) == set(ISOLATED)
    for name in ("t.csv", "t.parquet", "t.zip"):
        seed_of(name, tmp_path)
        assert lowdim.open(tmp_path / name).n_columns == 3
        with pytest.raises(BadFile, match="told"):
            lowdim.open(tmp_path / name, isolated="always")


def test_isolated_must_be_one_of_three_words(tmp_path: Path) -> None:
    with pytest.raises(lowdim.errors.BadParameter, match="isolated=True"):
        lowdim.open(tmp_path, isolated=True)  # type: ignore[arg-type]


def test_several_files_are_read_by_one_child(tmp_path: Path) -> None:
    for day in range(3):
        (tmp_path / f"day-{day}.json").write_text(f'[{{"a": {day}, "b": 1}}, {{"a": 2, "b": 3}}]')
    before = _children()
    source = lowdim.open(str(tmp_path / "day-*.json"))
    assert len(_children() - before) == 1
    assert np.vstack([block.rows for block in source.blocks()])[:, 0].tolist() == [0, 2, 1, 2, 2, 2]
    del source
    gc.collect()
    assert _children() <= before


def test_errors_and_notes_are_those_of_this_process(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "two.h5", "w") as file:
        file["a"], file["b"] = ROWS, ROWS
    said = []
    for isolated in ("never", "auto"):
        with pytest.raises(SeveralTables) as caught:
            lowdim.open(tmp_path / "two.h5", isolated=isolated)  # type: ignore[arg-type]
        said.append((str(caught.value), caught.value.pieces, caught.value.tables))
    assert said[0] == said[1]
    (tmp_path / "t.json").write_text('{"rows": [{"a": 1, "b": 2}, {"a": 3, "b": 4}], "about": "x"}')
    with pytest.warns(lowdim.errors.TableNote, match="list of records under 'rows'") as told:
        lowdim.open(tmp_path / "t.json")
    assert told[0].filename == __file__


# What ends a child.


@pytest.fixture
def doing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], Path]:
    """A file that does something to the process that reads it."""

    begin = process.PROGRAM.split("; from ")[0]

    def do(program: str) -> Path:
        body = f"{begin}\n" + (
            "import os, signal, time\nfrom lowdim.sources.isolated import child\n"
            f"def harm(**said):\n    {program}\n"
            "child.OPENERS['table'] = harm\nchild.main({!r}, {!r})"
        )
        monkeypatch.setattr(process, "PROGRAM", body)
        (tmp_path / "t.json").write_text("[1]")
        return tmp_path / "t.json"

    return do


ENDS = {
    "a segmentation fault": ("os.kill(os.getpid(), signal.SIGSEGV)", r"t\.json: .*crashed \(SIGSEGV\)"),
    "a bus error": ("os.kill(os.getpid(), signal.SIGBUS)", r"t\.json: .*crashed \(SIGBUS\)"),
    "an exit": ("os._exit(3)", r"t\.json: .*crashed \(exit code 3\)"),
    "an abort": ("os.abort()", r"t\.json: .*memory"),
    "memory": ("bytearray(2**30)", r"t\.json: .*more than the 256 MiB of memory"),
    "an error of a parser": ("raise KeyError('x')", r"t\.json: cannot be read \(KeyError: 'x'\)"),
    "a file": ("open(f'{{said[\"path\"]}}x', 'w').write('x' * 10**6)", r"t\.json: cannot be read \(OSError: .*large"),
    "many files": ("[open('/dev/null') for _ in range(300)]", r"t\.json: cannot be read \(OSError: .*many"),
    "what is no message": ("os.write(4, b'x' * 100)", r"t\.json: .*(understood|crashed)"),
}


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux alone")
@pytest.mark.parametrize(("program", "said"), ENDS.values(), ids=ENDS)
def test_the_end_of_a_child_is_one_sentence(doing: Callable[[str], Path], program: str, said: str) -> None:
    with pytest.raises(BadFile, match=said):
        lowdim.open(doing(program))


def test_a_child_that_computes_for_ever_is_ended(doing: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BASE_SECONDS", 1)
    monkeypatch.setattr(limits, "WAITS", 600)  # a busy machine gives it less than a second of each
    with pytest.raises(BadFile, match=r"t\.json: .*more than the 1 seconds of the processor.*isolated='never'"):
        lowdim.open(doing("while True: pass"))


def test_a_child_that_says_nothing_is_ended(doing: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BASE_SECONDS", 1)
    monkeypatch.setattr(limits, "WAITS", 2)
    with pytest.raises(BadFile, match=r"t\.json: .*gave nothing for 2 seconds"):
        lowdim.open(doing("time.sleep(60)"))


@pytest.mark.skipif(sys.platform != "linux", reason="the network is left on Linux alone")
def test_a_child_has_no_secrets_and_opens_no_connection(
    doing: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "x")
    with pytest.raises(BadFile, match=r"KeyError: False"):
        lowdim.open(doing("raise KeyError('SECRET_TOKEN' in os.environ)"))
    probe = [sys.executable, "-c", "import ctypes; print(ctypes.CDLL(None).unshare(0x50000000))"]
    if subprocess.run(probe, capture_output=True, text=True, check=True).stdout.strip() != "0":
        pytest.skip("this system has no namespaces for users")
    connect = (
        "import socket; raise KeyError(socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect_ex(('192.0.2.1', 9)))"
    )
    with pytest.raises(BadFile, match=r"KeyError: 101"):  # the network is unreachable
        lowdim.open(doing(connect))


# Its life.


def _children() -> set[int]:
    found = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(os.getpid())], capture_output=True, text=True, check=False
    )
    return {int(one) for one in found.stdout.split() if Path(f"/proc/{one}").exists()}


def test_a_child_ends_with_its_source(tmp_path: Path) -> None:
    seed_of("t.json", tmp_path)
    gc.collect()
    before = _children()
    source = lowdim.open(tmp_path / "t.json")
    assert len(_children() - before) == 1
    del source
    gc.collect()
    assert _children() <= before


def test_a_refused_file_leaves_no_child(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text("{")
    gc.collect()
    before = _children()
    with pytest.raises(BadFile):
        lowdim.open(tmp_path / "t.json")
    assert _children() <= before


ORPHAN = """
import os, signal, sys
from lowdim.sources.isolated import process
body = process.PROGRAM.split("; from ")[0] + '''
import os
from lowdim.sources.isolated import child
def harm(**said):
    os.write(2, f"{{os.getpid()}}\\\\n".encode())
    sum(range(10**12))
child.OPENERS["table"] = harm
child.main({!r}, {!r})'''
process.PROGRAM = body
os.environ["LOWDIM_DEBUG"] = "1"
import lowdim
lowdim.open(sys.argv[1])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="seen in /proc")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=["killed", "interrupted"])
def test_no_child_outlives_its_parent(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "t.json").write_text("[1]")
    parent = subprocess.Popen(
        [sys.executable, "-c", ORPHAN, str(tmp_path / "t.json")], stderr=subprocess.PIPE, text=True
    )
    assert parent.stderr is not None
    child = int(parent.stderr.readline())
    assert Path(f"/proc/{child}").exists()
    parent.send_signal(number)
    parent.wait(20)
    parent.stderr.close()
    for _ in range(200):
        if not Path(f"/proc/{child}").exists() or "State:\tZ" in Path(f"/proc/{child}/status").read_text():
            return
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    raise AssertionError("the child goes on")


def test_a_child_that_is_gone_is_started_anew(tmp_path: Path) -> None:
    seed_of("t.jsonl", tmp_path)
    source = lowdim.open(tmp_path / "t.jsonl")
    first = np.vstack([block.rows for block in source.blocks()])
    held = [one for one in gc.get_objects() if type(one) is Child and one.name.startswith(str(tmp_path))]
    for one in held:
        one.end()
    np.testing.assert_array_equal(np.vstack([block.rows for block in source.blocks()]), first)


def test_an_array_that_travels_is_read_by_another_child(tmp_path: Path) -> None:
    pytest.importorskip("h5py")
    seed_of("t.h5", tmp_path)
    source = pickle.loads(pickle.dumps(lowdim.open(tmp_path / "t.h5")))
    np.testing.assert_array_equal(np.vstack([block.rows for block in source.blocks()]), ROWS)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_fork_has_a_child_of_its_own(tmp_path: Path) -> None:
    seed_of("t.jsonl", tmp_path)
    source = lowdim.open(tmp_path / "t.jsonl")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        fork = os.fork()
    if not fork:
        try:
            rows = np.vstack([block.rows for block in source.blocks()])
            os._exit(0 if len(rows) == len(ROWS) else 1)
        finally:
            os._exit(2)
    assert os.waitpid(fork, 0)[1] == 0
    assert sum(len(block.rows) for block in source.blocks()) == len(ROWS)


def test_paths_begin_where_the_user_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "other").mkdir()
    seed_of("t.jsonl", tmp_path)
    monkeypatch.chdir(tmp_path)
    source = lowdim.open("t.jsonl")
    assert source.title == "t.jsonl"
    monkeypatch.chdir(tmp_path / "other")
    assert sum(len(block.rows) for block in source.blocks()) == len(ROWS)
    (Path("t.json")).write_text("{")
    with pytest.raises(BadFile, match=r"^t\.json: not JSON"):
        lowdim.open("t.json")


def test_a_file_that_changes_after_it_was_opened_is_an_error(tmp_path: Path) -> None:
    seed_of("t.jsonl", tmp_path)
    source = lowdim.open(tmp_path / "t.jsonl")
    (tmp_path / "t.jsonl").write_text('{"a": 1, "b": 2}\n' * 9)
    with pytest.raises(BadFile, match=r"t\.jsonl: was replaced or changed after it was opened; open it anew"):
        list(source.blocks())


def test_threads_and_readings_share_a_child(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text("".join(f'{{"a": {i}, "b": {i % 7}}}\n' for i in range(30_000)))
    source = lowdim.open(tmp_path / "t.jsonl").limited(2**16)
    expected = 29_999 * 15_000
    found: list[float] = []

    def add() -> None:
        found.append(sum(float(block.rows[:, 0].sum()) for block in source.blocks()))

    threads = [threading.Thread(target=add) for _ in range(3)]
    for one in threads:
        one.start()
    together = sum(
        float(a.rows[:, 0].sum() + b.rows[:, 0].sum()) for a, b in zip(source.blocks(), source.blocks(), strict=True)
    )
    for one in threads:
        one.join()
    assert [*found, together] == [expected] * 3 + [2 * expected]


def test_what_a_child_holds_counts(tmp_path: Path) -> None:
    seed_of("t.json", tmp_path)
    gc.collect()
    before = resident_bytes() - (held_bytes() or 0)  # other children
    source = lowdim.open(tmp_path / "t.json")
    held = resident_bytes() - (held_bytes() or 0) - before
    assert held > 20 * 10**6
    assert source.reading_bytes > 20 * 10**6
