"""Data and settings that nobody should pass, each by name and built anew for every use; `tests/badfiles.py` has files.

What an estimator makes of them is its own matter, but it is one of two things: a fit, or an error of lowdim's.
"""

from __future__ import annotations

import datetime
import decimal
import fractions
import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse

from lowdim.models.base.parameters import Parameter, parameters_of
from lowdim.models.registry import FOLDERS, model_class

N, P = 30, 5
"""Rows and columns of what is right."""


def rows() -> np.ndarray:
    """Rows that every model takes: 0, 1 and 2, which are counts, copies of an allele, and nothing negative."""
    return np.random.default_rng(5).integers(0, 3, (N, P)).astype(float)


SETTINGS: dict[str, dict[str, Any]] = {
    "Autoencoder": {"hidden": (3,), "max_iter": 2, "loss": "mse"},
    "GenotypePCA": {"n_components": 2},
    "KernelPCA": {"n_components": 2},
    "LogisticPCA": {"n_components": 2, "family": "poisson", "max_iter": 20},
    "NMF": {"n_components": 2, "max_iter": 50},
    "PCRegression": {"repeats": 1, "cv": 3},
    "PPCAMixture": {"n_init": 1, "max_iter": 20},
    "ProbabilisticPCA": {"n_components": 2, "max_iter": 50},
    "VectorQuantizer": {"n_components": 3, "n_init": 1},
}
"""In place of defaults that take longer than a bad value needs."""

TARGETS: dict[str, Callable[[int], Any]] = {
    "PCRegression": lambda n: np.arange(n) % 7.0,
    "Recogniser": lambda n: np.arange(n) % 3,
}
"""Model that needs one → what it is to learn of n rows."""


def model_of(name: str, **settings: Any) -> Any:
    """The model of this name, quick to fit."""
    return model_class(name)(**{**SETTINGS.get(name, {}), **settings})


# -- arrays and frames -----------------------------------------------------------------------------------------------


def put(value: Any, dtype: Any = float, where: Any = (3, 2)) -> np.ndarray:
    """The right rows with one wrong entry."""
    made = rows().astype(dtype)
    made[where] = value
    return made


class Raises:
    """Says that it is an array, and is none."""

    def __array__(self, *args: Any, **settings: Any) -> Any:
        raise RuntimeError("no array today")


class Grows:
    """Another array each time that it is asked."""

    def __init__(self) -> None:
        self.times = 0

    def __array__(self, *args: Any, **settings: Any) -> Any:
        self.times += 1
        return np.ones((N + self.times, P + self.times))


class Lies:
    """Gives something else than an array."""

    def __array__(self, *args: Any, **settings: Any) -> Any:
        return "text"


class Texts:
    """An array of texts."""

    def __array__(self, *args: Any, **settings: Any) -> Any:
        return np.array([["a", "b"]])


class Sequence:
    """A sequence whose items are not there."""

    shape, ndim = (3, 3), 2

    def __len__(self) -> int:
        return 3

    def __getitem__(self, place: Any) -> Any:
        raise KeyError(place)


class Endless:
    """A list in a list in a list …"""

    def __len__(self) -> int:
        return 1

    def __getitem__(self, place: Any) -> Any:
        if place:
            raise IndexError
        return self


def ring() -> list[Any]:
    """A list that holds itself."""
    made: list[Any] = [1]
    made.append(made)
    return made


def frame(**columns: Any) -> pd.DataFrame:
    """The right rows as a frame, with other columns."""
    return pd.DataFrame(rows(), columns=list("abcde")).assign(**columns)


DATA: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "a number": lambda: 3.5,
    "a text": lambda: "no such file.csv",
    "an empty text": lambda: "",
    "a path with a NUL": lambda: "a\0b.csv",
    "bytes": lambda: b"1,2\n",
    "a function": lambda: rows,
    "a class": lambda: np.ndarray,
    "a set": lambda: {1, 2},
    "a dictionary": lambda: {"a": [1, 2]},
    "an empty list": list,
    "empty lists": lambda: [[], []],
    "a ragged list": lambda: [[1, 2], [3]],
    "a ragged list, deeper": lambda: [[1, [2, 3]], [3, 4]],
    "a list of texts": lambda: [["a", "b"], ["c", "d"]],
    "a list of None": lambda: [[None, None], [None, None]],
    "a list of lists of lists": lambda: [[[1, 2]], [[3, 4]]],
    "a list that holds itself": ring,
    "an endless list": Endless,
    "an array that raises": Raises,
    "an array that grows": Grows,
    "an array that is a text": Lies,
    "an array of texts": Texts,
    "a sequence without items": Sequence,
    "one axis": lambda: np.arange(6.0),
    "no axis": lambda: np.array(1.0),
    "three axes": lambda: np.ones((3, 3, 3)),
    "no rows": lambda: np.empty((0, P)),
    "no columns": lambda: np.empty((N, 0)),
    "nothing": lambda: np.empty((0, 0)),
    "one row": lambda: rows()[:1],
    "two rows": lambda: rows()[:2],
    "one column": lambda: rows()[:, :1],
    "one number": lambda: np.ones((1, 1)),
    "zeros": lambda: np.zeros((N, P)),
    "ones": lambda: np.ones((N, P)),
    "one row again and again": lambda: np.repeat(rows()[:1], N, axis=0),
    "one column again and again": lambda: np.repeat(rows()[:, :1], P, axis=1),
    "NaN": lambda: put(np.nan),
    "inf": lambda: put(np.inf),
    "−inf": lambda: put(-np.inf),
    "all NaN": lambda: np.full((N, P), np.nan),
    "all inf": lambda: np.full((N, P), np.inf),
    "a row of NaN": lambda: put(np.nan, where=3),
    "a column of NaN": lambda: put(np.nan, where=(slice(None), 2)),
    "inf and NaN": lambda: put([np.inf, -np.inf, np.nan, 1, 1], where=3),
    "a negative number": lambda: put(-1.0),
    "1.7e308": lambda: put(1.7e308),
    "±1.7e308": lambda: put([1.7e308, -1.7e308, 0, 0, 0], where=3),
    "all 1e308": lambda: rows() * 0.8e308,
    "1e200": lambda: rows() * 1e200,
    "1e155": lambda: rows() * 1e155,
    "1e-155": lambda: rows() * 1e-155,
    "1e-200": lambda: rows() * 1e-200,
    "5e-324": lambda: rows() * 5e-324,
    "1e300 beside 1e-300": lambda: rows() * np.array([1e300, 1e-300, 1, 1, 1]),
    "a mean of 1e17": lambda: rows() + 1e17,
    "−0": lambda: put(-0.0),
    "float16": lambda: rows().astype(np.float16),
    "float16, infinite": lambda: put(np.inf, np.float16),
    "float32": lambda: rows().astype(np.float32),
    "float32, 3e38": lambda: put(3e38, np.float32),
    "long double": lambda: rows().astype(np.longdouble),
    "long double, 1e4000": lambda: put(np.longdouble("1e4000"), np.longdouble),
    "long double, 1e-4000": lambda: put(np.longdouble("1e-4000"), np.longdouble),
    "complex": lambda: rows().astype(complex),
    "complex, imaginary": lambda: rows() * 1j,
    "int8": lambda: rows().astype(np.int8),
    "uint64, 2⁶⁴ − 1": lambda: put(2**64 - 1, np.uint64),
    "int64, −2⁶³": lambda: put(-(2**63), np.int64),
    "bool": lambda: rows() > 0,
    "objects": lambda: rows().astype(object),
    "objects, 10⁴⁰⁰": lambda: put(10**400, object),
    "objects, 2⁷⁰": lambda: put(2**70, object),
    "objects, None": lambda: put(None, object),
    "objects, a text": lambda: put("x", object),
    "objects, a text of a number": lambda: put("1.5", object),
    "objects, a list": lambda: put([[1, 2]], object, where=(3, slice(2, 4))),
    "objects, a Decimal": lambda: put(decimal.Decimal("1e999"), object),
    "objects, a Fraction": lambda: put(fractions.Fraction(1, 3), object),
    "objects, a complex number": lambda: put(1j, object),
    "objects, a date": lambda: put(datetime.date(2026, 1, 2), object),
    "objects, pandas' NA": lambda: put(pd.NA, object),
    "texts": lambda: np.array([["a", "b"], ["c", "d"]]),
    "texts of numbers": lambda: rows().astype(str),
    "bytes in an array": lambda: np.array([[b"a", b"b"]]),
    "dates": lambda: np.array([["2026-01-02", "2026-01-03"]], dtype="M8[D]"),
    "durations": lambda: np.ones((N, P), dtype="m8[s]"),
    "records": lambda: np.zeros(3, dtype=[("a", float), ("b", float)]),
    "void": lambda: np.zeros((3, 2), dtype="V8"),
    "masked": lambda: np.ma.masked_equal(rows(), 1),
    "all masked": lambda: np.ma.masked_all((N, P)),
    "a matrix": lambda: np.asmatrix(rows()),
    "other bytes first": lambda: rows().astype(">f8"),
    "columns first": lambda: np.asfortranarray(rows()),
    "backwards": lambda: rows()[::-1, ::-1],
    "every other": lambda: np.repeat(np.repeat(rows(), 2, 0), 2, 1)[::2, ::2],
    "read-only": lambda: np.broadcast_to(rows()[0], (N, P)),
    "not aligned": lambda: np.frombuffer(b"\0" + rows().tobytes(), np.uint8)[1:].view(float).reshape(N, P),
    "overlapping": lambda: np.lib.stride_tricks.as_strided(rows().ravel(), (N, P), (8, 8)),
    "a memoryview": lambda: memoryview(rows()),
    "an iterator of nothing": lambda: iter([]),
    "an iterator of None": lambda: iter([None]),
    "an iterator of texts": lambda: iter(["a"]),
    "an iterator of one axis": lambda: iter([np.ones(3)]),
    "an iterator of other widths": lambda: iter([rows(), np.ones((3, P + 1))]),
    "an iterator of ragged lists": lambda: iter([[[1, 2], [3]]]),
    "an iterator of no rows": lambda: iter([np.empty((0, P))] * 3),
    "an iterator with a hole": lambda: iter([rows(), put(np.nan)]),
    "an iterator of long doubles": lambda: iter([put(np.longdouble("1e4000"), np.longdouble)]),
    "a frame without rows": lambda: frame()[:0],
    "a frame without columns": lambda: frame()[[]],
    "a frame with a text": lambda: frame(b="x"),
    "a frame with a date": lambda: frame(b=pd.Timestamp("2026-01-02")),
    "a frame with a hole": lambda: frame(b=[np.nan] + [1.0] * (N - 1)),
    "a frame with pandas' NA": lambda: frame(b=pd.array([pd.NA] + [1] * (N - 1), dtype="Int64")),
    "a frame with lists": lambda: frame(b=[[1, 2]] * N),
    "a frame with categories": lambda: frame(b=pd.Categorical(["x", "y"] * (N // 2))),
    "a frame with complex numbers": lambda: frame(b=1j),
    "a frame with 10⁴⁰⁰": lambda: frame(b=[10**400] * N),
    "a frame with names that repeat": lambda: frame().set_axis(["a"] * P, axis=1),
    "a frame with numbers for names": lambda: frame().set_axis(range(P), axis=1),
    "a frame with mixed names": lambda: frame().set_axis(["a", 1, "b", 2, None], axis=1),
    "a frame with empty names": lambda: frame().set_axis(["", " ", "\n", "\0", "\x1b"], axis=1),
    "a frame with levels of names": lambda: frame().set_axis(pd.MultiIndex.from_product([["a"], range(P)]), axis=1),
    "a frame of sparse columns": lambda: frame().astype(pd.SparseDtype(float, 0)),
    "a Series": lambda: frame()["a"],
    "polars": lambda: pl.DataFrame(rows()),
    "polars with a text": lambda: pl.DataFrame({"a": ["x", "y"], "b": [1.0, 2.0]}),
    "polars with nulls": lambda: pl.DataFrame({"a": [None, 1.0], "b": [1.0, 2.0]}),
    "polars with lists": lambda: pl.DataFrame({"a": [[1], [2]], "b": [1.0, 2.0]}),
    "polars of nothing": pl.DataFrame,
    "polars, lazy, with a text": lambda: pl.LazyFrame({"a": ["x", "y"], "b": [1.0, 2.0]}),
    "a polars Series": lambda: pl.Series([1.0, 2.0]),
    "Arrow": lambda: pa.table({"a": rows()[:, 0], "b": rows()[:, 1]}),
    "Arrow with nulls": lambda: pa.table({"a": pa.array([None, 1.0]), "b": [1.0, 2.0]}),
    "Arrow with structures": lambda: pa.table({"a": pa.array([{"x": 1}, {"x": 2}]), "b": [1.0, 2.0]}),
    "Arrow with names that repeat": lambda: pa.Table.from_arrays([pa.array([1.0])] * 2, ["a", "a"]),
    "Arrow of nothing": lambda: pa.table({}),
    "an Arrow array": lambda: pa.array([1.0, 2.0]),
    "sparse": lambda: scipy.sparse.csr_array(rows()),
    "sparse without rows": lambda: scipy.sparse.csr_array((0, P)),
    "sparse of nothing": lambda: scipy.sparse.csr_array((N, P)),
    "sparse with NaN": lambda: scipy.sparse.csr_array(put(np.nan)),
    "sparse with inf": lambda: scipy.sparse.csc_array(put(np.inf)),
    "sparse with 1.7e308": lambda: scipy.sparse.coo_array(put(1.7e308)),
    "sparse, complex": lambda: scipy.sparse.csr_array(rows() * 1j),
    "sparse, int8": lambda: scipy.sparse.csr_array(rows().astype(np.int8)),
    "sparse, bool": lambda: scipy.sparse.lil_array(rows() > 0),
    "sparse on one axis": lambda: scipy.sparse.coo_array(rows()[0]),
    "sparse, long double": lambda: scipy.sparse.csr_array(put(np.longdouble("1e4000"), np.longdouble)),
}
"""Name → what is passed for X."""


def digest(data: Any) -> str:
    """What the numbers in memory are; the same before and after a fit."""
    if isinstance(data, np.ndarray) and data.dtype.kind != "O":
        return hashlib.sha256(np.ascontiguousarray(data).tobytes()).hexdigest()
    if scipy.sparse.issparse(data) and hasattr(data, "indptr"):
        return "".join(map(digest, (data.data, data.indices, data.indptr)))
    return repr(data) if isinstance(data, (list, tuple, dict, pd.DataFrame, np.ndarray)) else ""


# -- settings --------------------------------------------------------------------------------------------------------

VALUES: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "True": lambda: True,
    "False": lambda: False,
    "0": lambda: 0,
    "1": lambda: 1,
    "2": lambda: 2,
    "−1": lambda: -1,
    "99": lambda: 99,
    "2³¹": lambda: 2**31,
    "2⁶³": lambda: 2**63,
    "2⁷⁰": lambda: 2**70,
    "−2⁷⁰": lambda: -(2**70),
    "10⁴⁰⁰": lambda: 10**400,
    "0.5": lambda: 0.5,
    "2.5": lambda: 2.5,
    "−0.5": lambda: -0.5,
    "NaN": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "−inf": lambda: float("-inf"),
    "1e308": lambda: 1e308,
    "−1e308": lambda: -1e308,
    "5e-324": lambda: 5e-324,
    "complex": lambda: 1j,
    "NumPy's −1": lambda: np.int64(-1),
    "NumPy's 2.0": lambda: np.float32(2),
    "NumPy's NaN": lambda: np.float64("nan"),
    "NumPy's True": lambda: np.True_,
    "a Fraction": lambda: fractions.Fraction(1, 3),
    "a Decimal": lambda: decimal.Decimal("0.5"),
    "an empty text": lambda: "",
    "auto": lambda: "auto",
    "pcca": lambda: "pcca",
    "AUTO": lambda: "AUTO",
    "a long text": lambda: "x" * 2_000,
    "a NUL": lambda: "a\0b",
    "an escape": lambda: "\x1b[2J",
    "bytes": lambda: b"auto",
    "an empty list": list,
    "a list": lambda: [1, 2],
    "a list of a word": lambda: ["auto"],
    "a tuple": lambda: (3,),
    "a tuple of −1": lambda: (-1,),
    "a tuple of texts": lambda: ("a", "b"),
    "a dictionary": lambda: {"a": 1},
    "a set": lambda: {1},
    "an array": lambda: np.ones(P),
    "an array with NaN": lambda: np.full(P, np.nan),
    "an array of −1": lambda: -np.ones(P),
    "an array of zeros": lambda: np.zeros(P),
    "an array too long": lambda: np.ones(P + 1),
    "an empty array": lambda: np.empty(0),
    "an array of objects": lambda: np.array([None, 1, "x", 2, 3], dtype=object),
    "an object": object,
    "a class": lambda: int,
    "a function that raises": lambda: lambda *args, **settings: 1 / 0,
    "a function that lies": lambda: lambda *args, **settings: "text",
    "pandas' NA": lambda: pd.NA,
    "a date": lambda: datetime.date(2026, 1, 2),
    "an exception": lambda: ValueError("no"),
}
"""Name → what is given for a parameter."""

REPEATED = {"n_init", "repeats", "refine", "n_iter", "iterated_power", "outlier_rounds", "max_iter", "patience"}
"""Parameters that say how often something is done: large numbers are right, and take as long as they say."""

CALLED = {"a function that raises", "a function that lies"}
"""Functions of the caller's own, whose errors are the caller's."""


def settings_of(name: str) -> list[tuple[Parameter, str]]:
    """Every parameter of a model with every value that is worth a try."""
    found = []
    for parameter in parameters_of(model_class(name)).values():
        for called, make in VALUES.items():
            value = make()
            large = isinstance(value, int) and not isinstance(value, bool) and value > 1000
            if large and parameter.name in REPEATED and parameter.accepts(value):
                continue
            if called in CALLED and parameter.accepts(value):
                continue
            found.append((parameter, called))
    return found


MODELS = tuple(FOLDERS)
