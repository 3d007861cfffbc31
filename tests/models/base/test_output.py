"""Arrays of other libraries come back as their own kind: of every model, with and without scikit-learn's dispatch."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings

import array_api_strict
import numpy as np
import pytest
import sklearn
import torch

import lowdim
from lowdim.errors import BadInput
from lowdim.sources.arrays import as_numpy, is_foreign_array
from lowdim.sources.open import open_source

MODELS = {
    "PCA": lowdim.PCA(2),
    "PCA whitened": lowdim.PCA(2, whiten=True),
    "PCA of holes": lowdim.PCA(2, missing="ppca"),
    "ProbabilisticPCA": lowdim.ProbabilisticPCA(2),
    "KernelPCA": lowdim.KernelPCA(2, kernel="rbf", gamma=0.1),
    "NMF": lowdim.NMF(2, tol=1e-3),
    "LogisticPCA": lowdim.LogisticPCA(2, family="gaussian"),
    "VectorQuantizer": lowdim.VectorQuantizer(3),
    "Autoencoder": lowdim.Autoencoder(2, hidden=(), loss="mse"),
    "PCRegression": lowdim.PCRegression(2, cv=None),
    "Recogniser": lowdim.Recogniser(2),
    "PPCAMixture": lowdim.PPCAMixture(2, 1, random_state=0),
    "GenotypePCA": lowdim.GenotypePCA(2, normalisation="center"),
}

METHODS = [
    "transform",
    "inverse_transform",
    "score_samples",
    "predict",
    "predict_proba",
    "impute",
    "codes",
    "novelty",
    "distances",
]
"""What gives arrays for rows, where a model has it."""

LIBRARIES = {"torch": torch, "array_api_strict": array_api_strict}


@pytest.fixture(params=LIBRARIES)
def library(request):
    return LIBRARIES[request.param]


@pytest.fixture(autouse=True)
def dispatch_allowed(monkeypatch):
    """scikit-learn lets nobody dispatch unless SciPy does; what SciPy gets here is NumPy's anyway."""
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")


def table(dtype=np.float64):
    rng = np.random.default_rng(0)
    return rng.integers(0, 3, size=(40, 6)).astype(dtype)


def fitted(name, X):
    model = sklearn.clone(MODELS[name])
    if name == "PCRegression":
        return model.fit(X, np.arange(40.0) % 7)
    return model.fit(X, np.repeat([0, 1], 20)) if name == "Recogniser" else model.fit(X)


def made(library, array):
    return library.asarray(array)


def is_of(library, answer):
    return isinstance(answer, torch.Tensor if library is torch else type(array_api_strict.zeros(1)))


# -- answers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_what_is_given_for_rows_is_of_their_kind_and_the_numbers_are_the_same(name, library):
    X = table()
    ours, theirs = fitted(name, X), fitted(name, made(library, X))
    tried = 0
    for method in METHODS:
        if not hasattr(ours, method):
            continue
        given = ours.transform(X) if method == "inverse_transform" else X
        plain = getattr(ours, method)(given)
        answer = getattr(theirs, method)(made(library, given))
        assert is_of(library, answer), method
        np.testing.assert_array_equal(as_numpy(answer), plain)  # the same code on the same numbers: bit by bit
        assert as_numpy(answer).dtype == plain.dtype
        assert type(getattr(theirs, method)(given)) is np.ndarray  # and rows of NumPy's are answered in NumPy
        tried += 1
    assert tried >= 2


@pytest.mark.parametrize("name", [name for name in MODELS if name not in ("PPCAMixture", "PCRegression", "Recogniser")])
def test_fit_transform_gives_the_same_kind(name, library):
    X = table()
    answer = sklearn.clone(MODELS[name]).fit_transform(made(library, X))
    assert is_of(library, answer)
    np.testing.assert_array_equal(as_numpy(answer), sklearn.clone(MODELS[name]).fit_transform(X))


def test_float32_stays_float32(library):
    scores = lowdim.PCA(2).fit_transform(made(library, table(np.float32)))
    assert scores.dtype == library.float32


def test_weights_and_labels_may_be_of_that_kind_too(library):
    X, weight = table(), np.arange(1.0, 41)
    plain = lowdim.PCA(2).fit(X, sample_weight=weight)
    other = lowdim.PCA(2).fit(made(library, X), sample_weight=made(library, weight))
    np.testing.assert_array_equal(plain.components_, other.components_)


def test_frames_are_given_where_they_are_asked_for(library):
    model = lowdim.PCA(2).set_output(transform="pandas")
    X = made(library, table())
    assert list(model.fit_transform(X).columns) == ["pca0", "pca1"]
    assert list(model.transform(X).columns) == ["pca0", "pca1"]


def test_several_answers_are_all_of_that_kind():
    X = table()
    X[3, 2] = np.nan
    model = lowdim.ProbabilisticPCA(2).fit(torch.asarray(X))
    assert all(isinstance(part, torch.Tensor) for part in model.impute(torch.asarray(X), return_std=True))


# -- without a copy ---------------------------------------------------------------------------------------------------


def test_a_tensor_is_read_where_it_lies():
    X = torch.arange(12.0).reshape(6, 2)
    source = open_source(X)
    assert source.array.ctypes.data == X.data_ptr()


def test_a_turned_tensor_is_read_where_it_lies():
    X = torch.arange(12.0).reshape(2, 6).T
    source = open_source(X)
    assert source.array.ctypes.data == X.data_ptr()
    np.testing.assert_array_equal(source.array, np.arange(12.0).reshape(2, 6).T)


def test_the_data_are_not_written_to(library):
    X = made(library, table())
    before = as_numpy(X).copy()
    lowdim.PCA(2, whiten=True, copy=False).fit_transform(X)
    np.testing.assert_array_equal(as_numpy(X), before)


# -- attributes -------------------------------------------------------------------------------------------------------


def test_attributes_are_numpy_unless_dispatch_is_asked_for(library):
    model = lowdim.PCA(2).fit(made(library, table()))
    assert type(model.components_) is np.ndarray


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_with_dispatch_attributes_are_of_the_kind_and_type_of_the_fit(library, dtype):
    X = made(library, table(dtype))
    with sklearn.config_context(array_api_dispatch=True):
        model = lowdim.PCA(2).fit(X)
        attributes = ["components_", "mean_", "explained_variance_", "explained_variance_ratio_", "singular_values_"]
        for attribute in attributes:
            assert is_of(library, getattr(model, attribute)), attribute
            assert getattr(model, attribute).dtype == X.dtype
        assert is_of(library, model.get_covariance())
        assert is_of(library, model.get_precision())
        # so that their own arithmetic is that of transform; float32 sums of six products lose a few units of 6e-8
        by_hand = (X - model.mean_) @ model.components_.T
        scores = model.transform(X)
    np.testing.assert_allclose(as_numpy(by_hand), as_numpy(scores), atol=1e-5 if dtype == np.float32 else 1e-12)
    assert type(model.fit_.components) is np.ndarray
    assert model.fit_.components.dtype == np.float64


def test_another_fit_makes_attributes_numpy_again():
    with sklearn.config_context(array_api_dispatch=True):
        model = lowdim.PCA(2).fit(torch.asarray(table()))
        assert type(model.fit(table()).components_) is np.ndarray


@pytest.mark.parametrize("name", MODELS)
def test_with_dispatch_every_model_still_shows_saves_and_answers(name, tmp_path):
    X = torch.asarray(table())
    with sklearn.config_context(array_api_dispatch=True):
        model = fitted(name, X)
        assert repr(model)
        model.explain()
        model.save(tmp_path / "model.lowdim")
        again = pickle.loads(pickle.dumps(model))
        method = "predict_proba" if name == "PPCAMixture" else "transform"
        np.testing.assert_array_equal(getattr(again, method)(X), getattr(model, method)(X))
    loaded = lowdim.load(tmp_path / "model.lowdim")
    np.testing.assert_array_equal(getattr(loaded, method)(X), getattr(model, method)(X))


# -- what cannot be read ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tensor", "said"),
    [
        (torch.ones(4, 3, device="meta"), r"'meta'.*main memory.*X\.cpu\(\)"),
        (torch.ones(4, 3, requires_grad=True), r"X\.detach\(\)"),
        (torch.ones(4, 3, dtype=torch.bfloat16), r"bfloat16.*X\.float\(\)"),
        (torch.ones(4, 3).to_sparse(), r"X\.to_dense\(\)"),
    ],
)
def test_tensors_that_cannot_be_read_say_what_to_do(tensor, said):
    with pytest.raises(BadInput, match=said):
        lowdim.PCA(2).fit(tensor)


class OnDevice:
    """An array that says it lies on a GPU, as CuPy's do."""

    device = "cuda:1"
    dtype = "float64"

    def __array_namespace__(self):
        raise AssertionError("not needed")

    def __dlpack_device__(self):
        return (2, 1)

    def __dlpack__(self):
        raise AssertionError("not to be read")


def test_an_array_on_a_device_is_refused_before_it_is_read():
    with pytest.raises(BadInput, match="device 'cuda:1'"):
        lowdim.PCA(2).fit(OnDevice())


# -- what is loaded ---------------------------------------------------------------------------------------------------


def test_no_array_library_is_loaded_for_numpy_arrays():
    program = (
        "import sys, numpy, lowdim; lowdim.PCA(1).fit_transform(numpy.eye(3)); "
        "print(sorted({'torch', 'jax', 'cupy', 'array_api_strict'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout.strip() == "[]"


def test_numpys_own_arrays_are_no_others():
    others = [np.ones(2), np.float64(1), np.ma.ones(2), [1.0], None, "a"]
    assert not any(map(is_foreign_array, others))


def test_nothing_is_warned_of(library):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with sklearn.config_context(array_api_dispatch=True):
            assert is_of(library, lowdim.PCA(2).fit(made(library, table())).mean_)
