"""What a child says arrives as it was, and nothing else can be said."""

from __future__ import annotations

import contextlib
import datetime
import gc
import json
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lowdim import errors
from lowdim.sources.columns import Column, Selection
from lowdim.sources.isolated.wire import Garbled, pack, unpack
from lowdim.sources.tables.layout import Lines

OBJECTS = np.empty(6, dtype=object)
OBJECTS[:] = ["a", None, 1.5, datetime.date(2020, 2, 29), {"$": [1]}, [1, "b"]]

VALUES: dict[str, Any] = {
    "plain": [None, True, 3, 2.5, "ä\0\ud800", [1, [2]], {"a": (1, 2)}],
    "not finite": [float("inf"), float("-inf")],
    "a large number": 10**300,
    "keys that are no texts": {1: "a", "$": 2, None: 3},
    "times": [
        datetime.datetime(2020, 1, 2, 3, 4, 5, 6, tzinfo=datetime.UTC),
        datetime.date(1, 1, 1),
        datetime.time(23, 59),
        datetime.timedelta(days=-1, microseconds=5),
    ],
    "records": [
        Column("a", "text", distinct=3),
        Selection(("a",), drop=("b",), levels={"c": ("x",)}),
        Lines(2, 1, "#"),
    ],
    "a path and bytes": (Path("/x/y"), b"\0\xff"),
}

ARRAYS = {
    "floats": np.arange(6.0).reshape(2, 3),
    "by columns": np.asfortranarray(np.arange(6).reshape(2, 3)),
    "strided": np.arange(20, dtype=np.int16)[::3],
    "big-endian": np.arange(4, dtype=">f4"),
    "flags": np.array([True, False]),
    "days": np.array(["2020-01-01", "NaT"], dtype="M8[D]"),
    "nothing": np.empty((0, 3)),
    "texts": np.array(["a", "bcd"]),
    "objects": OBJECTS,
}


def sent(value: Any) -> Any:
    """A value that went through a pipe."""
    text, arrays = pack(value)
    return unpack(text, np.concatenate(arrays) if arrays else None)


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_plain_values_arrive(value: Any) -> None:
    assert sent(value) == value


@pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS)
def test_arrays_arrive(array: Any) -> None:
    found = sent([array, 1])[0]
    assert found.dtype.kind == array.dtype.kind
    assert found.shape == array.shape
    np.testing.assert_array_equal(found, array)


def test_masked_arrays_arrive() -> None:
    found = sent(np.ma.MaskedArray([1, 2, 3], [False, True, False]))
    assert found.tolist() == [1, None, 3]


LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()


@given(st.recursive(LEAVES, lambda one: st.lists(one) | st.dictionaries(st.text(), one) | st.tuples(one, one)))
def test_what_tables_hold_arrives(value: Any) -> None:
    assert sent(value) == value


SETTING = errors.Setting("table", ["a"])
TOLD = {
    "a file": errors.BadFile("t.xlsx: ", SETTING, "."),
    "several tables": errors.SeveralTables.in_file("t", {"a": "1 × 2", "b": "3"}, "arrays"),
    "a parameter": errors.BadParameter.of("open", "size", 3, ("a pair", errors.Words("x", ("--size", SETTING)))),
    "a package": errors.NeedsExtra.package("h5py", "Reading HDF5 files", "arrays"),
    "types": errors.NotNumeric.dtype("|O"),
    "a note": errors.TableNote("a", "is left out", matters="first"),
    "a total": errors.TotalRow("a", "Total", "the last row"),
    "memory": errors.TooLarge.beyond("This", 9e9, 1e9, "take fewer"),
}


@pytest.mark.parametrize("error", TOLD.values(), ids=TOLD)
def test_errors_and_notes_arrive_with_all_they_know(error: errors.Told) -> None:
    found = sent(error)
    assert type(found) is type(error)
    assert (str(found), found.pieces, found.args) == (str(error), error.pieces, error.args)
    assert vars(found) == vars(error)


GARBAGE = {
    "no JSON": b"{",
    "deep": b"[" * 100_000,
    "an unknown thing": b'{"$":["pickle","x"]}',
    "a method": b'{"$":["_class__",1]}',
    "a class of another kind": b'{"$":["record","Popen",{}]}',
    "an error that is none": b'{"$":["told","dataclass",[],{}]}',
    "objects of NumPy": b'{"$":["array","|O",[1],"C"]}',
    "more than came": b'{"$":["array","<f8",[1000000000000],"C"]}',
    "a negative shape": b'{"$":["array","<f8",[-1],"C"]}',
    "a record of others": b'{"$":["record","Column",{"nam":1}]}',
    "a day that is none": b'{"$":["date","2020-13-01"]}',
    "nothing": b'{"$":[]}',
    "a number of too many digits": b"1" * 5000,
}


@pytest.mark.parametrize("text", GARBAGE.values(), ids=GARBAGE)
def test_garbage_is_refused(text: bytes) -> None:
    with pytest.raises(Garbled):
        unpack(text, np.zeros(8, np.uint8))


@given(
    st.binary(max_size=60)
    | st.from_regex(r'\{"\$":\["(array|objects|told|record|tuple|dict|masked)",.{0,30}\]\}', fullmatch=True).map(
        str.encode
    )
)
def test_whatever_comes_is_understood_or_refused(text: bytes) -> None:
    with contextlib.suppress(Garbled):
        unpack(text, np.zeros(64, np.uint8))


def test_messages_are_json() -> None:
    text, arrays = pack({"rows": np.arange(3.0), "name": "a"})
    assert json.loads(text) == {"rows": {"$": ["array", "<f8", [3], "C"]}, "name": "a"}
    assert bytes(arrays[0]) == np.arange(3.0).tobytes()


def test_what_came_is_let_go_at_once():
    """Blocks that wait for the collector of cycles would add up to the whole file."""
    text, arrays = pack({"rows": np.arange(6.0).reshape(2, 3)})
    came = np.concatenate(arrays)
    gone = weakref.ref(came)
    gc.disable()
    try:
        found = unpack(text, came)
        del came
        assert gone() is not None
        del found
        assert gone() is None
    finally:
        gc.enable()
