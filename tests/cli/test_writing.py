"""Tables are written piece by piece, however wide they become."""

from __future__ import annotations

import numpy as np

import lowdim
from lowdim.cli.options import OutputOptions
from lowdim.cli.writing import MOST_NUMBERS, write_rows


def test_few_scores_that_become_many_columns_are_written_in_pieces(tmp_path):
    seen = []

    def widened(rows):
        seen.append(len(rows) * 5000)
        return np.broadcast_to(rows[:, :1], (len(rows), 5000))

    scores = np.arange(2000.0)[:, None]
    names = [f"c{j}" for j in range(5000)]
    assert write_rows(lowdim.open(scores), widened, names, OutputOptions(str(tmp_path / "t.npy")), None) == 2000
    assert max(seen) <= MOST_NUMBERS
    assert len(seen) > 1
    np.testing.assert_array_equal(np.load(tmp_path / "t.npy")[:, 4999], scores[:, 0])
