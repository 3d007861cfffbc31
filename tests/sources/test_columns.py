"""Columns of files: weights that count rows, text columns one-hot coded, labels kept aside."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lowdim
from lowdim import PCA
from lowdim.errors import BadFile, BadInput, BadParameter, NotNumeric, WrongColumns

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(RNG.standard_normal((300, 3)), columns=["a", "b", "c"]).assign(
    times=RNG.integers(0, 4, 300), kind=["x", "y", "z"] * 100, name=[f"row {i}" for i in range(300)]
)


@pytest.fixture(params=["t.csv", "t.parquet"])
def path(request, tmp_path) -> Path:
    here = tmp_path / request.param
    FRAME.to_csv(here, index=False) if here.suffix == ".csv" else FRAME.to_parquet(here)
    return here


def test_a_weight_counts_its_row_so_many_times(path):
    model = PCA().fit(lowdim.open(path, weight="times"))
    repeated = np.repeat(FRAME[["a", "b", "c"]].to_numpy(), FRAME["times"], axis=0)
    # the same sums in another order: a few roundings of float64
    np.testing.assert_allclose(model.explained_variance_, PCA(ddof=1).fit(repeated).explained_variance_, rtol=1e-12)
    assert model.n_samples_ == (FRAME["times"] > 0).sum()


def test_scores_are_of_all_rows_whatever_their_weight(path):
    source = lowdim.open(path, weight="times")
    model = PCA(2).fit(source)
    assert model.transform(source).shape == (300, 2)
    np.testing.assert_allclose(model.transform(source), model.transform(path), atol=1e-14)


def test_weights_cannot_come_from_two_places(path):
    with pytest.raises(BadInput, match="use one of them"):
        PCA().fit(lowdim.open(path, weight="times"), sample_weight=np.ones(300))


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
def test_a_bad_weight_is_named_with_its_row(tmp_path, bad):
    FRAME.assign(w=[1.0] * 299 + [bad]).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(BadFile, match=r"weight 'w' is (-1.0|nan|inf) in row 300"):
        PCA().fit(lowdim.open(tmp_path / "t.parquet", weight="w"))


def test_a_weight_must_be_a_number(path):
    with pytest.raises(NotNumeric, match="kind"):
        lowdim.open(path, weight="kind")


def test_text_columns_are_coded_by_their_values(path):
    source = lowdim.open(path, encode=True, drop=["times"])
    assert source.columns == ("a", "b", "c", "kind=x", "kind=y", "kind=z")
    assert source.left_out == {"name": "text, more than 100 different values"}
    rows = np.concatenate([block.rows for block in source.blocks()])
    np.testing.assert_array_equal(rows[:, 3:], pd.get_dummies(FRAME["kind"]).to_numpy(float))


def test_a_model_of_coded_columns_finds_them_in_another_file(path, tmp_path):
    model = PCA(2).fit(lowdim.open(path, encode=True, drop=["times"]))
    FRAME.iloc[:10, ::-1].to_csv(tmp_path / "new.csv", index=False)
    everything = model.transform(lowdim.open(path, encode=True, drop=["times"]))
    np.testing.assert_allclose(model.transform(tmp_path / "new.csv"), everything[:10], atol=1e-14)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")  # the same numbers as an array
def test_a_value_that_the_fit_did_not_see_is_none_of_them(path, tmp_path):
    model = PCA(2).fit(lowdim.open(path, encode=True, drop=["times"]))
    FRAME.iloc[:4].assign(kind="new").to_csv(tmp_path / "new.csv", index=False)
    blank = np.column_stack([FRAME.iloc[:4, :3].to_numpy(), np.zeros((4, 3))])
    np.testing.assert_allclose(model.transform(tmp_path / "new.csv"), model.transform(blank), atol=1e-14)


def test_a_missing_text_is_a_value_of_its_own(tmp_path):
    FRAME.assign(kind=["x", None, "y"] * 100).to_parquet(tmp_path / "t.parquet")
    source = lowdim.open(tmp_path / "t.parquet", encode=True, columns=["a", "kind"])
    assert source.columns == ("a", "kind=", "kind=x", "kind=y")


def test_a_coded_name_that_is_taken_is_refused(tmp_path):
    FRAME.assign(**{"kind=x": 1.0}).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(BadFile, match="'kind=x' stands more than once"):
        lowdim.open(tmp_path / "t.parquet", encode=True)


def test_unknown_columns_are_answered_with_near_ones(path):
    with pytest.raises(BadParameter, match="did you mean 'times'"):
        lowdim.open(path, weight="tims")
    with pytest.raises(BadParameter, match="no column 'sort=x'"):
        lowdim.open(path, columns=["sort=x"])


def test_weights_of_a_file_count_in_every_batch(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.standard_normal((100, 3)), columns=list("abc")).assign(w=rng.integers(0, 4, 100) * 1.0)
    table[:50].to_csv(tmp_path / "1.csv", index=False)
    table[50:].to_csv(tmp_path / "2.csv", index=False)
    model = PCA(2)
    for name in ("1.csv", "2.csv"):
        model.partial_fit(lowdim.open(tmp_path / name, weight="w"))
    expected = PCA(2).fit(table[list("abc")].to_numpy(), sample_weight=table["w"])
    np.testing.assert_allclose(model.explained_variance_, expected.explained_variance_, rtol=1e-12)


def test_a_header_longer_than_the_first_look_is_read_whole(tmp_path):
    # 40,000 names make a line of 700 kB
    X = RNG.standard_normal((6, 40_000))
    names = [f"a long column name {j}" for j in range(X.shape[1])]
    pd.DataFrame(X, columns=names).to_csv(tmp_path / "wide.csv", index=False)
    source = lowdim.open(tmp_path / "wide.csv")
    assert source.columns == tuple(names)
    np.testing.assert_array_equal(np.concatenate([block.rows for block in source.blocks()]), X)


def test_a_source_with_other_columns_than_the_fit_is_refused(path):
    model = PCA(2).fit(lowdim.open(path, columns=["a", "b", "c"]))
    with pytest.raises(WrongColumns, match="Column 1 is 'b', and was 'a'"):
        model.transform(lowdim.open(path, columns=["b", "a", "c"]))
    with pytest.raises(WrongColumns):
        model.partial_fit(lowdim.open(path, columns=["a", "b", "times"]))
    assert model.transform(lowdim.open(path, columns=model.fit_.columns)).shape == (300, 2)


def test_a_model_of_a_frame_takes_a_path(path):
    model = PCA(2).fit(FRAME[["a", "b", "c"]])
    np.testing.assert_allclose(model.transform(path), model.transform(FRAME[["a", "b", "c"]]), atol=1e-14)
