"""Means and variances of what was observed of each column."""

import numpy as np

from lowdim.matrices.missing import observe_block
from lowdim.sources.source import Block


def test_only_equal_values_are_constant() -> None:
    # 0.1 three times adds up to more than 0.3: the mean of equal numbers must be that number all the same
    X = np.full((7, 3), 0.1)
    X[2, 1] = np.nextafter(0.1, 1)
    X[3, 2] = np.nan
    seen = observe_block(Block(0, X))
    assert seen.mean[0] == 0.1
    assert (seen.squares == 0).tolist() == [True, False, True]
    assert (seen.merge(seen).squares == 0).tolist() == [True, False, True]
