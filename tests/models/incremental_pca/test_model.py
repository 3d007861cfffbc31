"""IncrementalPCA by name: scikit-learn's parameters and attributes, and the exact result whatever the batches."""

import inspect

import numpy as np
import pytest
import scipy.sparse
import sklearn.decomposition
from sklearn.base import clone

import lowdim
from lowdim import PCA, IncrementalPCA
from lowdim.errors import BadParameter
from lowdim.sources.formats.numpy import ArrayFile

IRIS = lowdim.datasets.iris().values


def test_parameters_are_scikit_learns():
    ours, theirs = (inspect.signature(kind) for kind in (IncrementalPCA, sklearn.decomposition.IncrementalPCA))
    assert [(p.name, p.default, p.kind) for p in ours.parameters.values()] == [
        (p.name, p.default, p.kind) for p in theirs.parameters.values()
    ]


def test_every_attribute_of_scikit_learns_is_there():
    theirs = sklearn.decomposition.IncrementalPCA(4, batch_size=40).fit(IRIS)
    ours = IncrementalPCA(4, batch_size=40).fit(IRIS)
    names = [name for name in vars(theirs) if name.endswith("_") and not name.startswith("_")]
    assert {"var_", "mean_", "n_samples_seen_", "batch_size_", "components_", "noise_variance_"} <= set(names)
    for name in names:  # with all components kept theirs forgets nothing, but rounds at every batch
        np.testing.assert_allclose(np.abs(getattr(ours, name)), np.abs(getattr(theirs, name)), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("batches", [1, 2, 7, 75])
@pytest.mark.parametrize("k", [None, 2, 0.9])
def test_the_result_is_that_of_all_rows_whatever_the_batches(batches, k):
    expected, shuffled = PCA(k).fit(IRIS), np.random.default_rng(batches).permutation(IRIS)
    model = IncrementalPCA(k)
    for batch in np.array_split(shuffled, batches):
        assert model.partial_fit(batch, check_input=False) is model
    for name in ("components_", "explained_variance_", "singular_values_", "mean_", "noise_variance_"):
        # sums in another order; the components of iris are well apart
        np.testing.assert_allclose(getattr(model, name), getattr(expected, name), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.var_, IRIS.var(axis=0), rtol=1e-12)
    assert model.n_samples_seen_ == 150
    assert model.certificate_.word == "certified"


def test_a_direction_that_early_batches_do_not_show_is_found():
    """scikit-learn's keeps k directions of what it has seen, so that small ones of early batches are forgotten."""
    batches = []
    for j in range(6):  # each batch varies most along an axis of its own, and all along the last
        loud, steady = 2.0 * np.eye(7)[j], 1.5 * np.eye(7)[6]
        batches.append(np.array([loud + steady, loud - steady, steady - loud, -loud - steady] * 10))
    ours, theirs = IncrementalPCA(1), sklearn.decomposition.IncrementalPCA(1)
    for batch in batches:
        ours.partial_fit(batch)
        theirs.partial_fit(batch)
    np.testing.assert_allclose(ours.components_, np.eye(7)[[6]], atol=1e-12)
    np.testing.assert_allclose(ours.explained_variance_, 1.5**2 * 240 / 239, rtol=1e-12)
    assert abs(theirs.components_[0, 6]) < 1e-12


def test_fit_forgets_what_came_before():
    model = IncrementalPCA(2).partial_fit(IRIS[:20])
    assert model.fit(IRIS).n_samples_seen_ == 150
    assert model.partial_fit(IRIS).n_samples_seen_ == 300


@pytest.mark.parametrize("size", [None, 10, 1000])
def test_fit_reads_a_file_in_batches(size, tmp_path, monkeypatch):
    X = np.random.default_rng(0).normal(size=(5000, 900))  # larger than what is loaded at once
    np.save(tmp_path / "rows.npy", X)
    read, plain = [], ArrayFile._read

    def counting(self, file, start, rows):
        read.append(rows)
        return plain(self, file, start, rows)

    monkeypatch.setattr(ArrayFile, "_read", counting)
    model = IncrementalPCA(2, batch_size=size)
    model.fit(tmp_path / "rows.npy")
    assert model.batch_size_ == (size or 4500)
    assert max(read) <= model.batch_size_
    assert sum(read) == 5000
    np.testing.assert_allclose(model.mean_, X.mean(axis=0), atol=1e-13)


@pytest.mark.parametrize("make", [scipy.sparse.csr_array, scipy.sparse.csc_matrix], ids=lambda f: f.__name__)
def test_sparse_batches_are_taken(make):
    model = IncrementalPCA(2)
    for batch in (IRIS[:70], IRIS[70:]):
        model.partial_fit(make(batch))
    np.testing.assert_allclose(model.components_, PCA(2).fit(IRIS).components_, atol=1e-12)
    np.testing.assert_allclose(IncrementalPCA(2).fit(make(IRIS)).components_, PCA(2).fit(IRIS).components_, atol=1e-12)


def test_a_file_gives_it_back(tmp_path):
    model = IncrementalPCA(2, whiten=True, batch_size=7).fit(IRIS[:100])
    model.save(tmp_path / "model.lowdim")
    again = lowdim.load(tmp_path / "model.lowdim")
    assert type(again) is IncrementalPCA
    assert again.get_params() == model.get_params()
    assert again.batch_size_ == 7
    np.testing.assert_array_equal(again.transform(IRIS), model.transform(IRIS))
    np.testing.assert_array_equal(again.var_, model.var_)
    assert again.partial_fit(IRIS[100:]).n_samples_seen_ == 150
    # the rounding of sums in two orders
    np.testing.assert_allclose(again.explained_variance_, PCA(2).fit(IRIS).explained_variance_, rtol=1e-12)


def test_it_is_looked_at_like_any_pca(tmp_path):
    model = IncrementalPCA(2).fit(IRIS)
    assert "IncrementalPCA(n_components=2)" in repr(model)
    assert "certified" in repr(model)
    assert "certified" in model._repr_html_()
    assert "2 components" in model.explain()
    assert list(model.get_feature_names_out()) == ["incrementalpca0", "incrementalpca1"]
    assert len(model.table("eigenvalues")["share"]) == 2
    model.report(tmp_path / "page.html", IRIS)
    model.plot.scree()
    assert clone(model).batch_size is None
    merged = IncrementalPCA(2).fit(IRIS[:60]).merge(IncrementalPCA(2).fit(IRIS[60:]))
    np.testing.assert_allclose(merged.components_, model.components_, atol=1e-12)


def test_counts_may_be_assigned():
    """scikit-learn's own test makes the number of rows a float between two batches."""
    model = IncrementalPCA(2).partial_fit(IRIS[:70])
    model.n_samples_seen_ = float(model.n_samples_seen_)
    assert model.partial_fit(IRIS[70:]).n_samples_seen_ == 150
    np.testing.assert_allclose(model.components_, PCA(2).fit(IRIS).components_, atol=1e-12)


@pytest.mark.parametrize("size", [0, -1, 2.5, "many", True], ids=repr)
def test_a_batch_has_rows(size):
    for fit in ("fit", "partial_fit"):
        with pytest.raises(BadParameter, match=r"IncrementalPCA\(batch_size=.*a whole number from 1 or None"):
            getattr(IncrementalPCA(2, batch_size=size), fit)(IRIS)


def test_errors_name_it():
    with pytest.raises(BadParameter, match=r"IncrementalPCA\(n_components=9\)"):
        IncrementalPCA(9).fit(IRIS)


def test_pca_says_what_it_has_seen():
    for model in (PCA(2).fit(IRIS), PCA(2).partial_fit(IRIS[:70]).partial_fit(IRIS[70:]), PCA(2, ddof=0).fit(IRIS)):
        assert model.n_samples_seen_ == 150
        np.testing.assert_allclose(model.var_, IRIS.var(axis=0), rtol=1e-12)
    with pytest.raises(AttributeError, match="var_ is not known"):
        lowdim.convert(sklearn.decomposition.PCA(2).fit(IRIS)).var_  # noqa: B018  the access itself is the test
