"""Rows by their numbers, wherever they are."""

from __future__ import annotations

import dask.array
import numpy as np
import pytest
import scipy.sparse

import lowdim
from lowdim.sources.arrays import ArraySource, SparseSource
from lowdim.sources.dask.source import dask_source
from lowdim.sources.views_of_rows import rows_at

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
    found = rows_at(source, PLACES)
    assert found.dtype == np.float64
    assert np.array_equal(found, X[PLACES])


def test_the_rows_are_a_copy():
    found = rows_at(ArraySource(X), PLACES)
    found[:] = -1
    assert (X >= 0).all()
