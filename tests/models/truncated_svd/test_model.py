"""Truncated SVD: the best approximation about zero, scikit-learn's numbers, and how it differs from PCA."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import sklearn.decomposition

import lowdim
from lowdim.cli.main import main
from lowdim.errors import BadInput, BadParameter, MissingValues
from lowdim.models.linear.overview import spectrum_choice

RNG = np.random.default_rng(0)
DENSE = RNG.normal(size=(60, 9)) * np.arange(1, 10) + 3
SPARSE = scipy.sparse.random(300, 80, 0.05, format="csr", random_state=np.random.default_rng(1))
WIDE = RNG.normal(size=(20, 70)) + 1
DATA = {"dense": DENSE, "sparse": SPARSE, "wide": WIDE, "single": DENSE.astype(np.float32)}
ALGORITHMS = ["auto", "arpack", "randomized", "lanczos", "covariance_eigh", "gram", "tsqr", "full"]

SAME = 1e-9
"""Relative, of numbers that two exact methods find: the singular values of these matrices are apart by more than 1 %,
so that vectors are right to 100 times the 1e-14 of the values, and variances are sums of their squares."""


def array_of(X):
    return X.toarray() if scipy.sparse.issparse(X) else np.asarray(X, dtype=float)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("name", DATA)
def test_singular_values_are_those_of_lapack(name, algorithm):
    X = array_of(DATA[name])
    model = lowdim.TruncatedSVD(4, algorithm=algorithm).fit(DATA[name])
    assert model.certificate_.word == "certified"
    np.testing.assert_allclose(model.singular_values_, np.linalg.svd(X, compute_uv=False)[:4], rtol=SAME)
    # single precision: scores are given as float32, whose 2⁻²⁴ is of the largest value
    atol = (1e-5 if name == "single" else SAME) * np.abs(X).max() * X.shape[1]
    np.testing.assert_allclose(model.transform(DATA[name]), X @ model.components_.T, atol=atol)


@pytest.mark.parametrize("name", ["dense", "sparse", "wide"])
def test_attributes_are_scikit_learns(name):
    ours = lowdim.TruncatedSVD(4).fit(DATA[name])
    theirs = sklearn.decomposition.TruncatedSVD(4, algorithm="arpack").fit(DATA[name])
    for attribute in ("singular_values_", "explained_variance_", "explained_variance_ratio_"):
        np.testing.assert_allclose(getattr(ours, attribute), getattr(theirs, attribute), rtol=SAME)
    signs = np.sign((ours.components_ * theirs.components_).sum(axis=1))
    np.testing.assert_allclose(ours.components_, theirs.components_ * signs[:, None], atol=SAME)
    for parameter in sklearn.decomposition.TruncatedSVD().get_params():
        assert parameter in ours.get_params()


def test_no_other_dimensions_are_nearer():
    model = lowdim.TruncatedSVD(3).fit(DENSE)
    back = model.inverse_transform(model.transform(DENSE))
    lost = np.square(DENSE - back).sum()
    assert lost == pytest.approx(
        np.square(np.linalg.svd(DENSE, compute_uv=False)[3:]).sum(), rel=SAME
    )  # Eckart & Young
    for seed in range(20):
        Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(9, 3)))[0]
        assert np.square(DENSE - DENSE @ Q @ Q.T).sum() > lost


def test_of_centred_rows_it_is_pca():
    centred = DENSE - DENSE.mean(axis=0)
    ours, pca = lowdim.TruncatedSVD(3).fit(centred), lowdim.PCA(3, ddof=0).fit(DENSE)
    np.testing.assert_allclose(ours.components_, pca.components_, atol=SAME)
    np.testing.assert_allclose(ours.explained_variance_, pca.explained_variance_, rtol=SAME)
    np.testing.assert_allclose(ours.explained_variance_ratio_, pca.explained_variance_ratio_, rtol=SAME)


def test_variances_of_scores_keep_their_digits_where_means_are_large():
    X = RNG.normal(size=(40, 60)) + 1e5  # σ²/n − mean² would lose ten digits, and "gram" forms no scatter
    for algorithm in ("gram", "covariance_eigh", "lanczos"):
        model = lowdim.TruncatedSVD(2, algorithm=algorithm).fit(X)
        exact = (X @ model.components_.T).var(axis=0)
        # scores of 8e5 are rounded to 1e-10, and the variances of the first of them are about 1
        np.testing.assert_allclose(model.explained_variance_, exact, rtol=1e-6)


def test_weights_count_rows():
    weight = RNG.integers(0, 4, size=60)
    weighted = lowdim.TruncatedSVD(3).fit(DENSE, sample_weight=weight)
    repeated = lowdim.TruncatedSVD(3).fit(np.repeat(DENSE, weight, axis=0))
    np.testing.assert_allclose(weighted.components_, repeated.components_, atol=SAME)
    np.testing.assert_allclose(weighted.explained_variance_, repeated.explained_variance_, rtol=SAME)
    lanczos = lowdim.TruncatedSVD(3, algorithm="lanczos").fit(DENSE, sample_weight=weight)
    np.testing.assert_allclose(lanczos.explained_variance_, repeated.explained_variance_, rtol=SAME)


def test_files_and_blocks_give_what_the_array_gives(tmp_path):
    np.save(tmp_path / "x.npy", DENSE)
    whole = lowdim.TruncatedSVD(3).fit(DENSE)
    for source in (tmp_path / "x.npy", iter([DENSE[:25], DENSE[25:]])):
        other = lowdim.TruncatedSVD(3).fit(source)
        np.testing.assert_allclose(other.components_, whole.components_, atol=SAME)
        np.testing.assert_allclose(other.explained_variance_, whole.explained_variance_, rtol=SAME)


def test_a_file_keeps_the_variances_of_scores(tmp_path):
    model = lowdim.TruncatedSVD(3, n_iter=4, tol=1e-6).fit(DENSE)
    model.save(tmp_path / "svd.lowdim")
    again = lowdim.load(tmp_path / "svd.lowdim", lowdim.TruncatedSVD)
    assert again.get_params() == model.get_params()
    assert (again.explained_variance_ratio_ == model.explained_variance_ratio_).all()
    assert (again.transform(DENSE) == model.transform(DENSE)).all()


def test_the_screen_of_a_file_does_not_say_that_rows_were_centred(tmp_path, capsys):
    lowdim.TruncatedSVD(3).fit(DENSE).save(tmp_path / "svd.lowdim")
    assert main(["info", str(tmp_path / "svd.lowdim")]) == 0
    told = capsys.readouterr().out
    assert "rows × " in told
    assert "centred" not in told


def test_a_share_is_one_of_squares():
    squares = np.square(np.linalg.svd(DENSE, compute_uv=False))
    needed = int(np.searchsorted(np.cumsum(squares) / squares.sum(), 0.95)) + 1
    assert lowdim.TruncatedSVD(0.95).fit(DENSE).n_components_ == needed


def test_values_whose_squares_float64_has_not_are_taken():
    usual, small = (lowdim.TruncatedSVD(2).fit(DENSE * size) for size in (1.0, 2.0**-600))
    # a power of two changes no digit, until squares are below the smallest number there is
    assert (small.singular_values_ == usual.singular_values_ * 2.0**-600).all()
    assert (small.components_ == usual.components_).all()
    assert (small.explained_variance_ == 0).all()


def test_cards_screens_and_pages_are_about_squares(tmp_path):
    model = lowdim.TruncatedSVD(2).fit(DENSE)
    assert "sum of squares by component" in repr(model)
    assert "% of the sum of squares" in model.explain()
    model.report(tmp_path / "page.html", DENSE)
    assert "Truncated singular value decomposition" in (tmp_path / "page.html").read_text(encoding="utf-8")
    model.plot.scree()
    model.plot.scores(DENSE)


def test_what_cannot_be_is_refused():
    with pytest.raises(BadParameter, match="n_components"):
        lowdim.TruncatedSVD(10).fit(DENSE)
    for given in ("mle", 1.5, -1):  # Minka's choice is about variances
        with pytest.raises(BadParameter, match=r"a share of the sum of squares such as 0\.9, or None"):
            lowdim.TruncatedSVD(given).fit(DENSE)
    with pytest.raises(BadParameter, match="'auto', 'arpack'"):
        lowdim.TruncatedSVD(2, algorithm="svd").fit(DENSE)
    holes = DENSE.copy()
    holes[3, 4] = np.nan
    with pytest.raises(MissingValues):
        lowdim.TruncatedSVD(2).fit(holes)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_one_row_is_its_own_direction(algorithm):
    model = lowdim.TruncatedSVD(1, algorithm=algorithm).fit(np.array([[3.0, 4.0, 0.0]]))
    np.testing.assert_allclose(model.singular_values_, [5.0], rtol=SAME)
    np.testing.assert_allclose(model.components_, [[0.6, 0.8, 0.0]], atol=SAME)
    assert model.explained_variance_.tolist() == [0.0]


def test_components_that_are_dropped_take_their_variances_with_them(tmp_path):
    model = lowdim.TruncatedSVD(4).fit(DENSE)
    known = model.explained_variance_
    model.components_ = model.components_[[0, 2]]
    model.save(tmp_path / "two.lowdim")
    assert lowdim.load(tmp_path / "two.lowdim").explained_variance_.tolist() == known[[0, 2]].tolist()
    model.components_ = np.eye(9)[:2]
    with pytest.raises(BadInput, match="how much its scores vary is not known"):
        model.save(tmp_path / "other.lowdim")
    assert not (tmp_path / "other.lowdim").exists()


def test_rules_about_variances_do_not_advise_on_squares():
    answers = spectrum_choice(lowdim.TruncatedSVD().fit(DENSE).fit_).answers
    assert answers
    assert all(answer.rule.startswith("share-") for answer in answers)  # of the squares, which is a fact and no rule


# -- at the prompt -----------------------------------------------------------------------------------------------------


@pytest.fixture
def counts(tmp_path, monkeypatch):
    """A sparse matrix of counts, in counts.npz."""
    monkeypatch.chdir(tmp_path)
    found = scipy.sparse.random_array((80, 20), density=0.2, rng=np.random.default_rng(0), format="csr")
    found.data = np.ceil(5 * found.data)
    scipy.sparse.save_npz("counts.npz", found)
    return found


def test_a_sparse_matrix_is_fitted_kept_and_shown(run, counts):
    expected = lowdim.TruncatedSVD(3).fit(counts)
    ended = run("fit", "counts.npz", "--model", "svd", "--keep", "3", "--save", "m.lowdim", "-o", "scores.csv")
    assert (ended.code, ended.err) == (0, "")
    assert "of the sum of squares (--keep 3)" in ended.out
    np.testing.assert_array_equal(lowdim.load("m.lowdim").components_, expected.components_)
    # a table of text keeps all digits; blocks of rows are multiplied one by one or all at once
    np.testing.assert_allclose(pd.read_csv("scores.csv").to_numpy(), expected.transform(counts), rtol=1e-10, atol=1e-12)
    assert run("report", "counts.npz", "--model", "svd", "-o", "page.html").code == 0
    assert run("plot", "counts.npz", "scree", "--model", "svd", "-o", "scree.png").code == 0


def test_a_model_file_says_what_it_is(run, counts):
    lowdim.TruncatedSVD(3).fit(counts).save("m.lowdim")
    told = run("info", "m.lowdim")
    assert "TruncatedSVD, 3 components" in told.out
    assert "mean square     share    in all" in told.out
    assert "centred" not in told.out  # its columns are taken as they are
    assert "sum of squares" in run("explain", "m.lowdim").out
    table = run("table", "m.lowdim", "components")
    assert table.code == 0
    assert len(table.out.splitlines()) == 1 + counts.shape[1]


def test_it_is_compared_and_named_by_help(run, counts):
    found = run("compare", "counts.npz", "-k", "3", "--models", "pca,svd", "--json").json
    by_python = lowdim.compare(counts, ["pca", "svd"], 3, n_shown=8)
    assert [one["name"] for one in found["models"]] == ["pca", "svd"]
    assert found["models"][1]["error"] == pytest.approx(by_python["svd"].error, rel=1e-12)  # the same fit, through JSON
    assert "svd" in run("compare", "--help").out.partition("Which models: ")[2]
    assert "svd for sparse counts" in " ".join(run("fit", "--help").out.split())


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("fit counts.npz --model svd --scale", "--scale: takes means off"),
        ("fit counts.npz --model svd --keep mle", "a share such as 90%, a number such as 12, or all is needed"),
        ("fit counts.npz --model svd --loss kl", "--loss kl: only --model nmf or autoencoder has that"),
        ("choose counts.npz --model svd", "rules are there for pca, ppca, kernel and nmf."),
        ("uncertainty counts.npz --model svd", "intervals are known of pca, ppca, nmf."),
    ],
)
def test_what_it_has_not_is_said(typed, said, run, counts):
    ended = run(*typed.split())
    assert ended.code == 2
    assert said in ended.err
