"""Columns of files: weights that count rows, text columns coded as numbers, labels kept aside."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lowdim
from lowdim import PCA
from lowdim.errors import BadFile, BadInput, BadParameter, NotNumeric, UnseenLevels, WrongColumns

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
    assert source.columns == ("a", "b", "c", "kind=y", "kind=z")  # all 0: kind is x
    assert source.left_out == {"name": "names of the rows"}
    assert source.levels == {"kind": ("x", "y", "z")}
    assert [str(note) for note in source.notes] == ["kind: 3 values become 2 columns; 0 in all where it is 'x'."]
    rows = np.concatenate([block.rows for block in source.blocks()])
    np.testing.assert_array_equal(rows[:, 3:], pd.get_dummies(FRAME["kind"]).to_numpy(float)[:, 1:])


def test_two_values_become_one_column(tmp_path):
    # two would be each other's negative, and scaled ones the first axis of all
    FRAME.assign(smoker=["no", "yes", "no"] * 100).to_csv(tmp_path / "t.csv", index=False)
    source = lowdim.open(tmp_path / "t.csv", encode=True, columns=["a", "b", "smoker"])
    assert source.columns == ("a", "b", "smoker=yes")
    assert [str(note) for note in source.notes] == ["smoker: 1 where it is 'yes', 0 where it is 'no'."]
    model = PCA(scale=True).fit(source)
    assert abs(model.components_[:, 2]).max() < 1
    assert model.explained_variance_ratio_[0] < 0.5


@pytest.mark.parametrize("values", [["only"] * 300, [""] * 300])
def test_texts_that_do_not_vary_become_no_column(tmp_path, values):
    FRAME[["a"]].assign(kind=values).to_csv(tmp_path / "t.csv", index=False)
    source = lowdim.open(tmp_path / "t.csv", encode=True)
    assert source.columns == ("a",)
    assert source.left_out["kind"] in ("text, 'only' in every row", "empty")


def test_a_model_of_coded_columns_finds_them_in_another_file(path, tmp_path):
    model = PCA(2).fit(lowdim.open(path, encode=True, drop=["times"]))
    FRAME.iloc[:10, ::-1].to_csv(tmp_path / "new.csv", index=False)
    everything = model.transform(lowdim.open(path, encode=True, drop=["times"]))
    np.testing.assert_allclose(model.transform(tmp_path / "new.csv"), everything[:10], atol=1e-14)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")  # the same numbers as an array
@pytest.mark.parametrize("kept", [False, True])
def test_a_value_that_the_fit_did_not_see_is_refused_or_told(path, tmp_path, kept):
    model = PCA(2).fit(lowdim.open(path, encode=True, drop=["times"]))
    if kept:
        model.save(tmp_path / "m.lowdim")
        model = lowdim.load(tmp_path / "m.lowdim")
    new = FRAME.iloc[:4].assign(kind=["x", "new", "newer", "new"])
    new.to_csv(tmp_path / "new.csv", index=False)
    with pytest.raises(BadInput, match=r"kind has 'new' \(2 rows\) and 'newer' \(1 row\), which the fit did not see"):
        model.transform(tmp_path / "new.csv")
    with pytest.raises(BadInput, match="unseen='warn'"):
        model.transform(lowdim.open(tmp_path / "new.csv", like=model))
    blank = np.column_stack([FRAME.iloc[:4, :3].to_numpy(), np.zeros((4, 2))])
    with pytest.warns(UnseenLevels, match=r"'new' \(2 rows\) and 'newer' \(1 row\), .* 0 in each of its columns"):
        scores = model.transform(lowdim.open(tmp_path / "new.csv", like=model, unseen="warn"))
    np.testing.assert_allclose(scores, model.transform(blank), atol=1e-14)
    FRAME.iloc[:4].to_csv(tmp_path / "new.csv", index=False)
    np.testing.assert_allclose(model.transform(tmp_path / "new.csv"), model.transform(path)[:4], atol=1e-14)


def test_values_of_a_coded_column_are_known_to_every_model(path, tmp_path):
    rows = lowdim.open(path, encode=True, columns=["a", "kind"])
    X = np.concatenate([block.rows for block in rows.blocks()])
    for model in (PCA(1), lowdim.ProbabilisticPCA(1), lowdim.KernelPCA(1), lowdim.VectorQuantizer(2, n_init=1)):
        assert dict(model.fit(rows).fit_.provenance.levels) == {"kind": ("x", "y", "z")}, model
    assert X.shape == (300, 3)


def test_a_missing_text_is_missing(tmp_path):
    FRAME.assign(kind=["x", None, "y"] * 100).to_parquet(tmp_path / "t.parquet")
    source = lowdim.open(tmp_path / "t.parquet", encode=True, columns=["a", "kind"])
    assert source.columns == ("a", "kind=y")
    rows = np.concatenate([block.rows for block in source.blocks()])
    np.testing.assert_array_equal(rows[:3, 1], [0, np.nan, 1])


def test_a_coded_name_that_is_taken_is_refused(tmp_path):
    FRAME.assign(**{"kind=z": 1.0}).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(BadFile, match="'kind=z' stands more than once"):
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
