"""Rows by their numbers, wherever they are."""

from __future__ import annotations

import dask.array
import numpy as np
import pytest
import scipy.sparse

import lowdim
from lowdim.sources.arrays import ArraySource, SparseSource
from lowdim.sources.dask import dask_source
from lowdim.sources.wrapped import ChosenRows, PreparedSource, take_rows

X = np.random.default_rng(0).integers(0, 3, (500, 4)).astype(float)
PLACES = np.array([499, 3, 3, 0, 250])


@pytest.mark.parametrize("place", ["memory", "float32", "sparse", "dask", "file"])
def test_rows_come_in_the_order_asked_for(place, tmp_path):
    path = tmp_path / "rows.csv"
    np.savetxt(path, X, delimiter=",", header="a,b,c,d", comments="")
    source = {
        "memory": lambda: ArraySource(X),
        "float32": lambda: ArraySource(X.astype(np.float32)),
        "sparse": lambda: SparseSource(scipy.sparse.csr_array(X)),
        "dask": lambda: dask_source(dask.array.from_array(X, chunks=(60, 4))),
        "file": lambda: lowdim.open(path),
    }[place]()
    found = take_rows(source, PLACES)
    assert found.dtype == np.float64
    assert np.array_equal(found, X[PLACES])


def test_the_rows_are_a_copy():
    found = take_rows(ArraySource(X), PLACES)
    found[:] = -1
    assert (X >= 0).all()


def _labelled() -> ArraySource:
    source = ArraySource(np.arange(24.0).reshape(6, 4), ("a", "b", "c", "d"))
    source.title, source.shape_of_rows, source.reading_bytes = "pictures", (2, 2), 7
    source.beside = {"who": np.array(list("uvwxyz"))}
    return source


SAME = {"n_columns", "columns", "numbered", "header", "repeatable", "title", "shape_of_rows", "reading_bytes"}
"""What no view of rows changes."""


@pytest.mark.parametrize(
    "view",
    [
        lambda source: ChosenRows(source, np.array([1, 4])),
        lambda source: source.after(2),
        lambda source: source.with_weights(np.arange(6.0)),
        lambda source: PreparedSource(source, np.ones(4), np.full(4, 2.0)),
    ],
    ids=["chosen", "later", "weighted", "prepared"],
)
def test_a_view_says_of_itself_what_its_source_does(view) -> None:
    source = _labelled()
    found = view(source)
    assert {name: getattr(found, name) for name in SAME} == {name: getattr(source, name) for name in SAME}


def test_columns_kept_aside_follow_their_rows() -> None:
    source = _labelled()
    assert ChosenRows(source, np.array([1, 4])).aside("who").tolist() == ["v", "y"]
    assert source.after(2).aside("who").tolist() == list("wxyz")


def test_chosen_rows_keep_their_weights() -> None:
    chosen = ChosenRows(_labelled().with_weights(np.arange(1.0, 7.0)), np.array([1, 4]))
    assert [block.weight.tolist() for block in chosen.blocks()] == [[2.0, 5.0]]


@pytest.mark.parametrize(
    "view", [lambda s: s.after(2), lambda s: ChosenRows(s, np.arange(1, 9))], ids=["later", "chosen"]
)
def test_a_view_passes_limits_on_and_drops_weights_when_asked(view, tmp_path) -> None:
    path = tmp_path / "weighted.csv"
    np.savetxt(path, np.arange(30.0).reshape(10, 3), delimiter=",", header="a,b,w", comments="")
    found = view(lowdim.open(path, weight="w"))
    assert found.weighted
    assert all(block.weight is not None for block in found.blocks())
    plain = found.unweighted()
    assert not plain.weighted
    assert all(block.weight is None for block in plain.blocks())
    np.save(tmp_path / "rows.npy", X)
    limited = view(lowdim.open(tmp_path / "rows.npy")).limited(64)
    assert max(block.rows.nbytes for block in limited.blocks()) <= 64
