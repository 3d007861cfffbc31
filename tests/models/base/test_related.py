"""Columns beside a fit: η² is that of the table of supplementary columns, and noise is not called related."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import lowdim
from lowdim.models.base.related import related_columns

RNG = np.random.default_rng(0)


def test_the_shares_are_those_of_supplementary_columns(tmp_path) -> None:
    wine = lowdim.datasets.wine()
    wine.to_pandas().assign(grower=wine.labels).to_csv(tmp_path / "wine.csv", index=False)
    source = lowdim.open(tmp_path / "wine.csv")
    model = lowdim.PCA(3, scale=True).fit(source)
    found = related_columns(model, source, ["grower"])
    table = model.table("supplementary", source, extra={"grower": wine.labels})
    line = list(table["statistic"]).index("eta2")
    for one in found:
        # sums of squares about zero, and about the mean: a few roundings of each other
        assert one.eta2 == pytest.approx(table[f"PC{one.axis + 1}"][line], rel=1e-9)
    assert [(one.column, one.axis) for one in found][:2] == [("grower", 0), ("grower", 1)]


def test_chance_is_not_called_related(tmp_path) -> None:
    calls = 0
    for trial in range(40):
        rng = np.random.default_rng(trial)
        frame = pd.DataFrame(rng.standard_normal((60, 5)), columns=list("abcde"))
        frame.assign(kind=rng.choice(["x", "y", "z"], 60), other=rng.choice(list("uv"), 60)).to_csv(
            tmp_path / "t.csv", index=False
        )
        source = lowdim.open(tmp_path / "t.csv", columns=list("abcde"))
        calls += bool(related_columns(lowdim.PCA(3).fit(source), source, ["kind", "other"]))
    assert calls <= 3  # each has a chance of 1 %; four of 40 have one of 1 in 1,000


@pytest.mark.parametrize("kind", [["only"] * 30, [f"row {i}" for i in range(30)], [""] * 30, [None] * 29 + ["x"]])
def test_columns_that_tell_nothing_are_passed_over(tmp_path, kind) -> None:
    frame = pd.DataFrame(RNG.standard_normal((30, 3)), columns=list("abc")).assign(kind=kind)
    frame.to_parquet(tmp_path / "t.parquet")
    source = lowdim.open(tmp_path / "t.parquet", columns=list("abc"))
    assert related_columns(lowdim.PCA(2).fit(source), source, ["kind"]) == []
