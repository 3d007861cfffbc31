"""What a table holds, counted in one pass, whatever the kind of rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

import lowdim
from lowdim.models.base.describe import describe

X = np.array([[1.0, np.nan, np.inf, 5], [2.0, np.nan, 3.0, 5], [-4.0, np.nan, np.nan, 5]])


@pytest.mark.parametrize("kind", ["array", "sparse", "blocks"])
def test_counts_and_ranges(kind):
    rows = np.tile(X, (100, 1))
    data = {"array": rows, "sparse": scipy.sparse.csr_array(rows), "blocks": iter([rows[:30], rows[30:]])}[kind]
    found = describe(lowdim.open(data))
    assert (found.n_rows, found.complete_rows) == (300, 0)
    assert [one.missing for one in found.columns] == [0, 300, 100, 0]
    assert [one.infinite for one in found.columns] == [0, 0, 100, 0]
    np.testing.assert_array_equal([one.least for one in found.columns], [-4, np.nan, 3, 5])
    np.testing.assert_array_equal([one.most for one in found.columns], [2, np.nan, 3, 5])
    assert [one.constant for one in found.columns] == [False, True, True, True]
    assert [one.name for one in found.columns] == ["x0", "x1", "x2", "x3"]
    assert [one.kind for one in found.columns] == ["whole", "empty", "whole", "whole"]
    assert (found.missing, found.infinite) == (400, 100)
    assert not found.complete


@pytest.mark.parametrize("dtype", ["int8", "uint64", "bool", "float32", "float16"])
def test_every_kind_of_number(dtype):
    found = describe(lowdim.open(np.array([[0, 1], [1, 1]], dtype=dtype)))
    assert found.complete
    assert found.complete_rows == 2
    assert [one.least for one in found.columns] == [0, 1]
    assert [one.most for one in found.columns] == [1, 1]
