"""VectorQuantizer: nearest codewords, what they lose and take, scikit-learn's answers, and rows that no array holds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline

import lowdim
from catalogue import ENGINES, Engine, blocks_of
from lowdim import PCA
from lowdim.errors import BadInput, BadParameter, FormatError, MissingValues, NotConverged, RankWarning, WrongShape
from lowdim.models.vector_quantizer import fit as fit_codebook
from lowdim.models.vector_quantizer.model import VectorQuantizer
from lowdim.models.vector_quantizer.record import CodebookFit
from lowdim.results.codec import pack, unpack

RNG = np.random.default_rng(0)
X = np.concatenate([RNG.standard_normal((60, 5)) + 4 * RNG.standard_normal(5) for _ in range(4)])
NEW = X[::3] + 0.5 * RNG.standard_normal((80, 5))


# -- laws -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_rows_become_their_nearest_codeword(offset: float) -> None:
    model = VectorQuantizer(6).fit(X + offset)
    distances = cdist(NEW + offset, model.components_)  # from differences, so that no offset harms it
    unary = model.transform(NEW + offset)
    np.testing.assert_array_equal(unary.argmax(axis=1), distances.argmin(axis=1))
    np.testing.assert_array_equal(np.sort(unary, axis=1)[:, -2:], np.tile([0.0, 1.0], (len(NEW), 1)))
    np.testing.assert_array_equal(model.codes(NEW + offset), distances.argmin(axis=1))
    np.testing.assert_array_equal(model.inverse_transform(unary), model.components_[distances.argmin(axis=1)])
    np.testing.assert_array_equal(model.inverse_transform(model.codes(NEW + offset)), model.inverse_transform(unary))


def test_the_distortion_is_the_mean_squared_distance() -> None:
    model = VectorQuantizer(5).fit(X)
    lost = ((X - model.inverse_transform(model.transform(X))) ** 2).sum()
    assert model.distortion_ == pytest.approx(lost / len(X), rel=1e-12)
    assert model.inertia_ == pytest.approx(lost, rel=1e-12)
    assert model.distortion(NEW) == pytest.approx((cdist(NEW, model.components_).min(axis=1) ** 2).mean(), rel=1e-12)
    assert model.score(NEW) == -model.distortion(NEW)
    about_mean = ((X - X.mean(axis=0)) ** 2).sum()
    assert model.decibels_ == pytest.approx(10 * np.log10(about_mean / lost), rel=1e-12)
    assert model.fit_.kept == pytest.approx(1 - lost / about_mean, rel=1e-12)


def test_more_codewords_lose_less_and_one_a_row_nothing() -> None:
    lost = [VectorQuantizer(k, n_init=5).fit(X).distortion_ for k in (1, 2, 4, 8, 16, 32)]
    assert (np.diff(lost) < 0).all()
    assert lost[0] == pytest.approx(X.var(axis=0).sum(), rel=1e-12)  # one codeword is the mean
    every = VectorQuantizer(len(X)).fit(X)
    assert every.distortion_ < 1e-28  # the mean of one row is the row, but for the rounding of centring
    assert every.decibels_ > 250


def test_usage_and_perplexity() -> None:
    model = VectorQuantizer(4).fit(X)
    counts = np.bincount(model.codes(X), minlength=4)
    np.testing.assert_allclose(model.usage_, counts / len(X), atol=1e-15)
    shares = counts[counts > 0] / len(X)
    assert model.perplexity_ == pytest.approx(np.prod(shares**-shares), rel=1e-12)
    even = VectorQuantizer(4).fit(np.repeat(np.eye(4), 3, axis=0))
    assert even.perplexity_ == pytest.approx(4.0, rel=1e-12)


@pytest.mark.parametrize(("k", "bits"), [(1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (49, 6), (64, 6), (65, 7)])
def test_bytes_are_those_of_codebook_and_codes(k: int, bits: int) -> None:
    table = VectorQuantizer(k).fit(X).compression()
    assert table["bytes"][0] == k * 5 * 8 + int(np.ceil(len(X) * bits / 8))
    assert table["of_original"][0] == pytest.approx(table["bytes"][0] / (X.size * 8))
    assert table["numbers"][0] == k * 5 + len(X)


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int32, np.int64, np.float32, np.float64])
def test_bytes_are_those_of_compare(dtype: type, tmp_path: Path) -> None:
    whole = np.random.default_rng(0).integers(0, 100, (60, 5)).astype(dtype)
    model = VectorQuantizer(4, random_state=0).fit(whole)
    one = lowdim.compare(whole, {"vq": model}, held_out=0)["vq"]
    model.save(tmp_path / "m.lowdim")
    for table in (model.compression(), lowdim.load(tmp_path / "m.lowdim").compression()):
        assert table["bytes"][0] == one.bytes
        assert table["of_original"][0] == pytest.approx(one.of_original, rel=1e-12)
    assert model.compression(2)["bytes"][0] == 4 * 5 * 2 + 15
    for itemsize in (0, -1, 1.5, "4"):
        with pytest.raises(BadParameter, match=r"VectorQuantizer\.compression\(itemsize=.*a whole number from 1"):
            model.compression(itemsize)


# -- against scikit-learn ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{}, {"init": "random"}, {"n_init": 4}, {"init": X[:7]}, {"max_iter": 3}])
@pytest.mark.filterwarnings("ignore::lowdim.errors.NotConverged")
def test_it_is_scikit_learns_k_means(settings: dict) -> None:
    ours = VectorQuantizer(7, random_state=3, **settings).fit(X)
    theirs = KMeans(7, random_state=3, **settings).fit(X)
    np.testing.assert_array_equal(ours.components_, theirs.cluster_centers_)
    np.testing.assert_array_equal(ours.codes(X), theirs.labels_)
    np.testing.assert_array_equal(ours.codes(NEW), theirs.predict(NEW))
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-10)
    assert ours.n_iter_ == theirs.n_iter_


def test_weights_count_rows() -> None:
    counts = np.random.default_rng(1).integers(0, 4, len(X))
    weighted = VectorQuantizer(4, init=X[[0, 70, 130, 190]], tol=0).fit(X, sample_weight=counts)
    repeated = VectorQuantizer(4, init=X[[0, 70, 130, 190]], tol=0).fit(np.repeat(X, counts, axis=0))
    np.testing.assert_allclose(weighted.components_, repeated.components_, atol=1e-12)
    assert weighted.distortion_ == pytest.approx(repeated.distortion_, rel=1e-12)
    np.testing.assert_allclose(weighted.usage_, repeated.usage_, atol=1e-15)


@pytest.mark.parametrize("sample_rows", [None, 30])
def test_rows_of_weight_zero_are_never_drawn(sample_rows: int | None, tmp_path: Path) -> None:
    weight = np.ones(len(X))
    weight[::5] = 0
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame[weight == 0] = 1e6  # a row of these would take a codeword away
    frame.assign(w=weight).to_csv(tmp_path / "x.csv", index=False)
    asked = VectorQuantizer(4, sample_rows=sample_rows, n_init=4, tol=0)
    without = VectorQuantizer(4, n_init=4, tol=0).fit(X[weight > 0])
    for model in (
        asked.fit(frame, sample_weight=weight),
        VectorQuantizer(4, sample_rows=sample_rows, n_init=4, tol=0).fit(
            lowdim.open(tmp_path / "x.csv", weight="w").limited(5 * 8 * 7)
        ),
    ):
        assert model.fit_.n_rows == (weight > 0).sum()
        # four clouds far apart: every start ends in the same optimum
        np.testing.assert_allclose(np.sort(model.components_, axis=0), np.sort(without.components_, axis=0), atol=1e-9)


@pytest.mark.parametrize("sample_rows", [None, 45, 49])
def test_more_codewords_than_rows_of_positive_weight_are_refused(sample_rows: int | None, tmp_path: Path) -> None:
    weight = np.ones(50)
    weight[3] = 0
    VectorQuantizer(45, sample_rows=sample_rows).fit(X[:50], sample_weight=weight)
    weight[:10] = 0
    said = "at most the number of rows of positive weight, .* n_samples=40"
    with pytest.raises(BadParameter, match=said):
        VectorQuantizer(45, sample_rows=sample_rows).fit(X[:50], sample_weight=weight)
    pd.DataFrame(X[:50]).assign(w=weight).to_csv(tmp_path / "x.csv", index=False)
    with pytest.raises(BadParameter, match=said):
        VectorQuantizer(45, sample_rows=sample_rows).fit(lowdim.open(tmp_path / "x.csv", weight="w"))


# -- rows from anywhere -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", [engine for engine in ENGINES if not engine.batches], ids=str)
def test_every_way_in_gives_the_same_codebook(engine: Engine, tmp_path: Path) -> None:
    model = VectorQuantizer(4, random_state=0).fit(engine.give(X, tmp_path))
    plain = VectorQuantizer(4, random_state=0).fit(X)
    np.testing.assert_allclose(model.components_, plain.components_, atol=1e-10)
    np.testing.assert_array_equal(np.asarray(model.codes(engine.give(X, tmp_path))), plain.codes(X))
    np.testing.assert_array_equal(np.asarray(model.transform(engine.give(X, tmp_path))), plain.transform(X))


def test_from_a_sample_all_rows_have_their_say() -> None:
    model = VectorQuantizer(4, sample_rows=30, tol=0, random_state=0).fit(X)
    assert "30 rows drawn at random, then Lloyd's steps over all" in model.explain()
    means = np.stack([X[model.codes(X) == code].mean(axis=0) for code in range(4)])
    np.testing.assert_allclose(model.components_, means, atol=1e-12)  # where Lloyd's steps end
    on = KMeans(4, init=model.components_, n_init=1, tol=0).fit(X)  # scikit-learn goes no further from there
    np.testing.assert_allclose(on.cluster_centers_, model.components_, atol=1e-12)
    assert on.inertia_ == pytest.approx(model.inertia_, rel=1e-12)


@pytest.mark.parametrize("k", [1, 3])
def test_codes_come_back_from_everywhere(k: int, tmp_path: Path) -> None:
    import dask.array as dask
    import polars

    frame = pd.DataFrame(X, columns=list("abcde"))
    model = VectorQuantizer(k, random_state=0).fit(frame)
    codes = model.codes(frame)
    table = model.table("codes", frame)
    table.to_csv(tmp_path / "codes.csv", index=False)
    for given in (
        codes.tolist(),
        tuple(codes),
        codes.astype(np.uint8),
        pd.Series(codes),
        polars.Series(codes),
        dask.from_array(codes, chunks=50),
        table,
        tmp_path / "codes.csv",
    ):
        np.testing.assert_array_equal(model.inverse_transform(given), model.components_[codes])
    assert model.inverse_transform([]).shape == (0, 5)
    np.testing.assert_array_equal(model.inverse_transform([[1.0] + [0.0] * (k - 1)]), model.components_[:1])


def test_zeros_are_no_unary_codes() -> None:
    model = VectorQuantizer(1).fit(X)
    with pytest.raises(BadInput, match="no unary codes of a single codeword"):
        model.inverse_transform(model.codes(X)[:, None])
    np.testing.assert_array_equal(model.inverse_transform(np.ones((2, 1), dtype=int)), model.components_[[0, 0]])
    for codes in ([0, 1], [0.5], pd.DataFrame({"code": [0, 1]}), pd.DataFrame({"code": [0.5]})):
        with pytest.raises(BadInput, match="whole numbers from 0 to 0"):
            model.inverse_transform(codes)


def test_blocks_do_not_change_the_answer() -> None:
    whole = VectorQuantizer(4, sample_rows=30, random_state=0).fit(X)
    source = lowdim.open(X).limited(5 * 8 * 7)  # seven rows a block
    np.testing.assert_allclose(
        VectorQuantizer(4, sample_rows=30).fit(source).components_, whole.components_, atol=1e-10
    )


def test_beyond_a_gibibyte_it_starts_from_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fit_codebook, "MOST_BYTES_IN_MEMORY", X.size * 8)
    assert "over all rows" in VectorQuantizer(4).explain(X)
    monkeypatch.setattr(fit_codebook, "MOST_BYTES_IN_MEMORY", X.size * 8 - 1)
    monkeypatch.setattr(fit_codebook, "SAMPLE_BYTES", 5 * 8 * 50)
    for said in (VectorQuantizer(4).explain(X), VectorQuantizer(4).fit(X).explain()):
        assert "over 50 rows drawn at random" in said
        assert "all rows would take" in said
    few = scipy.sparse.csr_array(np.eye(240, 5))  # five numbers: a column number beside each
    assert "over all rows" in VectorQuantizer(4).explain(few)


def test_rows_that_come_once_are_kept() -> None:
    model = VectorQuantizer(3).fit(blocks_of(X, 50))
    np.testing.assert_allclose(model.components_, VectorQuantizer(3).fit(X).components_, atol=1e-12)


def test_sparse_rows_stay_sparse_in_k_means(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = scipy.sparse.csr_array(np.random.default_rng(4).poisson(0.3, (120, 15)).astype(float))
    seen = []
    fit = KMeans.fit
    monkeypatch.setattr(KMeans, "fit", lambda self, rows, **more: (seen.append(rows), fit(self, rows, **more))[1])
    model = VectorQuantizer(5).fit(counts)
    assert scipy.sparse.issparse(seen[0])
    distances = cdist(counts.toarray(), model.components_)
    np.testing.assert_array_equal(model.codes(counts), distances.argmin(axis=1))
    assert model.distortion_ == pytest.approx((distances.min(axis=1) ** 2).mean(), rel=1e-12)


# -- the house's contract ---------------------------------------------------------------------------------------------


def test_frames_tables_and_pipelines() -> None:
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = VectorQuantizer(3).fit(frame)
    book = model.table("codebook")
    assert list(book) == ["column", "word1", "word2", "word3"]
    np.testing.assert_array_equal(book.set_index("column").to_numpy().T, model.components_)
    np.testing.assert_array_equal(model.table("codes", frame)["code"], model.codes(frame))
    assert model.table("usage")["weight"].sum() == len(X)
    assert model.table("compression")["bytes"][0] == 3 * 5 * 8 + 60
    assert type(model.set_output(transform="same").transform(frame)) is pd.DataFrame
    both = make_pipeline(PCA(2), VectorQuantizer(3)).fit(X)
    assert both.transform(X).shape == (len(X), 3)
    assert both.inverse_transform(both.transform(X)).shape == X.shape


@pytest.mark.parametrize("settings", [{}, {"init": X[:4]}, {"n_init": 2, "sample_rows": 50, "random_state": 5}])
def test_a_model_file_gives_the_model_back(settings: dict, tmp_path: Path) -> None:
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = VectorQuantizer(4, **settings).fit(frame)
    model.save(tmp_path / "m.lowdim")
    back = lowdim.load(tmp_path / "m.lowdim")
    assert isinstance(back, VectorQuantizer)
    np.testing.assert_array_equal(back.components_, model.components_)
    np.testing.assert_array_equal(back.codes(frame), model.codes(frame))
    np.testing.assert_array_equal(back.init, model.init)
    assert back.explain() == model.explain()
    assert back.distortion_ == model.distortion_
    assert back.fit_.columns == tuple("abcde")


@pytest.mark.parametrize(
    ("change", "arrays"),
    [
        ({"n_components": 3}, {}),
        ({"n_rows": 2}, {}),
        ({"squared": -1.0}, {}),
        ({"converged": 1}, {}),
        ({"extra": 1}, {}),
        ({}, {"weights": np.zeros(4)}),
        ({}, {"weights": np.array([1.0, 1.0, 1.0, -1.0])}),
        ({}, {"codebook": np.full((4, 5), np.nan)}),
        ({}, {"codebook": np.zeros((4, 6))}),
    ],
)
def test_a_damaged_record_is_refused(change: dict, arrays: dict) -> None:
    known, kept = pack(VectorQuantizer(4).fit(X).fit_)
    unpack(CodebookFit, known, kept)
    with pytest.raises(FormatError):
        unpack(CodebookFit, known | change, kept | arrays)


def test_explain_says_what_was_done_and_what_would_be() -> None:
    model = VectorQuantizer(4)
    assert "scikit-learn's k-means over all rows" in model.explain(X)
    said = model.fit(X).explain()
    assert "4 codewords; each row becomes the nearest, as 2 bits" in said
    assert "perplexity" in said
    assert f"{model.distortion_:.6g}" in said


# -- what cannot be ---------------------------------------------------------------------------------------------------


def test_fewer_different_rows_than_codewords() -> None:
    with pytest.warns(RankWarning, match="3 of them are never used.*ask for 2"):
        model = VectorQuantizer(5).fit(np.repeat([[1.0, 2.0], [3.0, 4.0]], 4, axis=0))
    assert model.distortion_ == pytest.approx(0.0, abs=1e-28)
    assert model.components_.shape == (5, 2)
    assert model.perplexity_ == pytest.approx(2.0)


def test_holes_are_named() -> None:
    holes = pd.DataFrame(X, columns=list("abcde"))
    holes.loc[3:5, "c"] = np.nan
    with pytest.raises(MissingValues, match=r"3 values are missing \(NaN\) \(c: 3\), in 240 rows"):
        VectorQuantizer(3).fit(holes)
    with pytest.raises(MissingValues, match="c: 3"):
        VectorQuantizer(3).fit(pd.DataFrame(X, columns=list("abcde"))).codes(holes)
    with pytest.raises(MissingValues, match="c: 3"):
        VectorQuantizer(3, sample_rows=3).fit(holes)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"n_components": 0}, "n_components"),
        ({"n_components": 2.5}, "n_components"),
        ({"n_components": 241}, "n_samples=240"),
        ({"init": "kmeans"}, "init"),
        ({"init": X[:3]}, r"\(8, 5\)"),
        ({"n_init": 0}, "n_init"),
        ({"n_init": "many"}, "n_init"),
        ({"max_iter": 0}, "max_iter"),
        ({"tol": -1}, "tol"),
        ({"sample_rows": 7}, "sample_rows"),
        ({"random_state": "a"}, "random_state"),
    ],
)
def test_wrong_settings_are_said(settings: dict, said: str) -> None:
    with pytest.raises(BadParameter, match=said):
        VectorQuantizer(**settings).fit(X)


def test_wrong_codes_and_tables_are_said() -> None:
    model = VectorQuantizer(3).fit(X)
    with pytest.raises(WrongShape, match="4 columns, but this model has 3 codewords"):
        model.inverse_transform(np.ones((2, 4)))
    for codes in ([0, 3], [-1, 0], [0.5, 1.0]):
        with pytest.raises(BadInput, match="whole numbers from 0 to 2"):
            model.inverse_transform(np.array(codes))
    with pytest.raises(BadParameter, match="'codebook', 'usage'"):
        model.table("scores")
    with pytest.raises(BadParameter, match="is about rows"):
        model.table("codes")


def test_numbers_beyond_squares_are_said() -> None:
    with pytest.raises(BadInput, match="divide the data"):
        VectorQuantizer(3).fit(X * 1e200)
    for rows in (X * 1e-170, scipy.sparse.csr_array(X * 1e-170)):
        with pytest.raises(BadInput, match=r"no entry is beyond \d\.\de-16\d, fall below the range"):
            VectorQuantizer(3).fit(rows)
    small = VectorQuantizer(3, random_state=0).fit(X * 1e-140)
    np.testing.assert_allclose(small.components_ * 1e140, VectorQuantizer(3, random_state=0).fit(X).components_)


def test_a_search_cut_short_is_said() -> None:
    with pytest.warns(NotConverged, match="still moved after 1 step:"):
        VectorQuantizer(6, max_iter=1, init=X[:6]).fit(X)
    for tol in (1e-4, 0.0):
        steps = VectorQuantizer(6, init=X[:6], tol=tol).fit(X).n_iter_
        last = VectorQuantizer(6, init=X[:6], tol=tol, max_iter=steps).fit(X)  # no warning: it stood still just in time
        assert last.fit_.converged
        assert last.n_iter_ == steps > 2
