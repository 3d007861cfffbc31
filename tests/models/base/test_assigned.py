"""Fitted attributes can be assigned and changed in place, as scikit-learn's can, and no certificate outlives that."""

import copy
import pickle

import numpy as np
import pytest
import sklearn.decomposition
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

import lowdim
from lowdim import NMF, PCA, GenotypePCA, KernelPCA, ProbabilisticPCA
from lowdim.errors import BadInput, SingularModel, WrongShape

IRIS = lowdim.datasets.iris().values
CALLS = np.random.default_rng(0).integers(0, 3, (40, 12)).astype(float)

LINEAR = [PCA(3), PCA(3, whiten=True), PCA(3, scale=True), ProbabilisticPCA(3), ProbabilisticPCA(3, solver="em")]
LINEAR += [GenotypePCA(3), PCA(3, missing="ppca")]

ASSIGNED = "since the fit components_ was assigned, so nothing is certified"
CHANGED = "since the fit components_ was changed, so nothing is certified"


def rows(model):
    return CALLS if isinstance(model, GenotypePCA) else IRIS


@pytest.fixture(params=LINEAR, ids=repr)
def fitted(request):
    return copy.deepcopy(request.param).fit(rows(request.param))


def every_view(model, said):
    """Whatever is shown or written of a model says what was done to it."""
    assert model.certificate_.word == "untrusted"
    assert not model.fit_.reached
    flat = " ".join(f"{model!r} {model._repr_html_()}".split())
    assert said in flat
    assert said in str(model.certificate_)
    assert said in model.explain()


# -- signs turned, in both ways ----------------------------------------------------------------------------------------


def test_signs_turned_by_assignment(fitted):
    before = fitted.transform(rows(fitted))
    assert fitted.fit_.reached
    fitted.components_ = -fitted.components_
    np.testing.assert_array_equal(fitted.transform(rows(fitted)), -before)
    np.testing.assert_allclose(
        fitted.inverse_transform(-before), fitted.inverse_transform(fitted.transform(rows(fitted)))
    )
    every_view(fitted, ASSIGNED)


@pytest.mark.parametrize(
    "turn",
    [
        lambda model: model.components_.__imul__(-1),
        lambda model: np.negative(model.components_, out=model.components_),
        lambda model: model.components_.__setitem__(slice(None), -model.components_),
    ],
    ids=["*=", "out", "[:]"],
)
def test_signs_turned_in_place(fitted, turn):
    before = fitted.transform(rows(fitted))
    turn(fitted)
    np.testing.assert_array_equal(fitted.transform(rows(fitted)), -before)
    every_view(fitted, CHANGED)


def test_augmented_assignment_is_both():
    model = PCA(2).fit(IRIS)
    before = model.transform(IRIS)
    model.components_ *= -1
    np.testing.assert_array_equal(model.transform(IRIS), -before)
    assert model.certificate_.word == "untrusted"


@pytest.mark.parametrize("name", ["components_", "mean_", "explained_variance_", "singular_values_", "scale_"])
def test_one_number_changed_anywhere_is_noticed(name):
    model = PCA(2).fit(IRIS)
    assert model.certificate_.word == "certified"
    getattr(model, name).flat[-1] *= 1 + 1e-15
    assert model.certificate_.word == "untrusted"
    assert f"{name} was changed" in str(model.certificate_)


def test_components_that_change_places_are_noticed():
    model = PCA(2).fit(IRIS)
    model.components_[[0, 1]] = model.components_[[1, 0]]
    assert model.certificate_.word == "untrusted"


def test_looking_changes_nothing():
    model = PCA(2).fit(IRIS)
    for name in ("components_", "mean_", "explained_variance_", "singular_values_"):
        getattr(model, name).copy().sort()
    model.transform(IRIS)
    for twin in (model, copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert twin.certificate_.word == "certified"


def test_a_new_fit_is_certified_again():
    model = PCA(2).fit(IRIS)
    model.components_ = -model.components_
    assert model.certificate_.word == "untrusted"
    assert model.fit(IRIS).certificate_.word == "certified"
    model.components_ = -model.components_
    assert model.partial_fit(IRIS).certificate_.word == "certified"  # all rows again, and more
    assert model.n_samples_ == 300


@pytest.mark.parametrize("how", ["assigned", "changed", "left out"])
def test_files_of_every_kind_say_so(fitted, how, tmp_path):
    if how == "changed":
        fitted.components_[:] *= -1
    else:
        fitted.components_ = -fitted.components_ if how == "assigned" else fitted.components_[1:]
    fitted.save(tmp_path / "model.lowdim")
    again = lowdim.load(tmp_path / "model.lowdim")
    np.testing.assert_array_equal(again.transform(rows(fitted)), fitted.transform(rows(fitted)))
    every_view(again, CHANGED if how == "changed" else ASSIGNED)
    again.report(tmp_path / "page.html", rows(fitted))


# -- components left out -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kept", [slice(2), [0, 2], [2], [1, 0]], ids=str)
@pytest.mark.parametrize("kind", [PCA, sklearn.decomposition.PCA], ids=["lowdim", "scikit-learn"])
def test_components_left_out_one_attribute_after_the_other(kind, kept):
    whole = PCA(4).fit_transform(IRIS)
    model = kind(4).fit(IRIS)
    model.components_ = model.components_[kept]
    # other attributes are still those of the fit, so that they can be indexed alike
    model.explained_variance_ = model.explained_variance_[kept]
    model.explained_variance_ratio_ = model.explained_variance_ratio_[kept]
    model.singular_values_ = model.singular_values_[kept]
    model.n_components_ = len(model.components_)
    np.testing.assert_allclose(model.transform(IRIS), whole[:, kept], rtol=0, atol=1e-12)  # the order of sums
    assert model.inverse_transform(model.transform(IRIS)).shape == IRIS.shape
    assert list(model.get_feature_names_out()) == [f"pca{i}" for i in range(len(whole[0, kept]))]
    assert model.n_components_ == len(model.explained_variance_) == len(model.components_)


@pytest.mark.parametrize("whiten", [False, True])
def test_components_left_out_alone(whiten):
    whole = PCA(4, whiten=whiten).fit(IRIS)
    model = PCA(4, whiten=whiten).fit(IRIS)
    model.components_ = model.components_[[0, 2]]
    np.testing.assert_allclose(model.transform(IRIS), whole.transform(IRIS)[:, [0, 2]], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(model.explained_variance_, whole.explained_variance_)  # as in scikit-learn
    np.testing.assert_array_equal(model.fit_.variances, whole.explained_variance_[[0, 2]])
    assert model.fit_.total_variance == whole.fit_.total_variance
    every_view(model, ASSIGNED)


# -- a model made of arrays --------------------------------------------------------------------------------------------


ORDERS = [
    ("components_", "mean_", "explained_variance_", "explained_variance_ratio_", "singular_values_", "noise_variance_"),
    ("noise_variance_", "singular_values_", "explained_variance_ratio_", "explained_variance_", "mean_", "components_"),
]


@pytest.mark.parametrize("order", ORDERS, ids=["components first", "components last"])
@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("kind", [PCA, sklearn.decomposition.PCA], ids=["lowdim", "scikit-learn"])
def test_a_model_is_restored_from_arrays(order, whiten, kind, tmp_path):
    theirs = sklearn.decomposition.PCA(2, whiten=whiten, svd_solver="full").fit(IRIS)
    model = kind(2, whiten=whiten)
    for name in order:
        setattr(model, name, getattr(theirs, name))
    model.n_components_ = 2
    check_is_fitted(model)
    np.testing.assert_allclose(model.transform(IRIS), theirs.transform(IRIS), rtol=0, atol=1e-12)
    np.testing.assert_allclose(model.inverse_transform(np.eye(2)), theirs.inverse_transform(np.eye(2)), rtol=1e-12)
    if kind is PCA or not whiten:  # scikit-learn's density of a whitened model is scaled twice
        np.testing.assert_allclose(model.score(IRIS), PCA(2).fit(IRIS).score(IRIS), rtol=1e-12)
    if kind is PCA:
        every_view(model, "nothing is certified")
        assert model.n_samples_ == 150  # singular_values_² = explained_variance_ (n − 1)
        model.save(tmp_path / "model.lowdim")
        again = lowdim.load(tmp_path / "model.lowdim")
        np.testing.assert_array_equal(again.transform(IRIS), model.transform(IRIS))
        every_view(again, "nothing is certified")


def test_components_and_a_mean_are_enough_to_transform():
    theirs = sklearn.decomposition.PCA(2).fit(IRIS)
    model = PCA(2)
    with pytest.raises(NotFittedError):
        model.transform(IRIS)
    model.components_ = theirs.components_
    with pytest.raises(AttributeError, match=r"mean_ is not known: components_ was assigned .* assign mean_ too"):
        model.transform(IRIS)
    model.mean_ = theirs.mean_
    np.testing.assert_allclose(model.transform(IRIS), theirs.transform(IRIS), rtol=0, atol=1e-12)
    with pytest.raises(SingularModel, match="explained_variance_ is not known"):
        model.set_params(whiten=True).transform(IRIS)
    with pytest.raises(SingularModel, match="explained_variance_ is not known"):
        model.score(IRIS)
    model.set_params(whiten=False)
    repr(model), model.explain(), model._repr_html_()
    with pytest.raises(SingularModel, match=r"explained_variance_ is not known.*assign it"):
        model.save("nowhere.lowdim")


@pytest.mark.parametrize("mean", [None, 0.0, np.zeros(4)], ids=["None", "number", "array"])
def test_no_mean_is_one_of_zeros(mean):
    model = PCA(2)
    model.components_, model.mean_ = np.eye(4)[:2], mean
    np.testing.assert_array_equal(model.transform(IRIS), IRIS[:, :2])


def test_arrays_that_do_not_go_together_are_told():
    model = PCA(2).fit(IRIS)
    model.components_ = np.eye(3)[:2]
    assert repr(model) == "PCA(n_components=2)"  # it is still shown
    with pytest.raises(WrongShape, match=r"mean_ has shape \(4,\), but components_ has 3 columns"):
        model.transform(IRIS)
    model.components_ = np.ones(4)
    with pytest.raises(WrongShape, match=r"components_ has shape \(4,\)"):
        model.transform(IRIS)


def test_an_assigned_array_can_be_changed_in_place():
    model, mine = PCA(2).fit(IRIS), np.eye(4)[:2].copy()
    model.components_ = mine
    assert model.components_ is mine
    mine *= 2
    np.testing.assert_allclose(model.transform(IRIS), 2 * (IRIS - IRIS.mean(axis=0))[:, :2], rtol=1e-12, atol=1e-12)


def test_inside_a_pipeline_and_after_a_copy():
    pipeline = make_pipeline(StandardScaler(), PCA(2)).fit(IRIS)
    before = pipeline.transform(IRIS)
    pipeline[-1].components_ = -pipeline[-1].components_
    for twin in (pipeline, copy.deepcopy(pipeline), pickle.loads(pickle.dumps(pipeline))):
        np.testing.assert_array_equal(twin.transform(IRIS), -before)
        assert twin[-1].certificate_.word == "untrusted"


@pytest.mark.parametrize("turn", ["assigned", "changed"])
def test_files_and_pages_say_so(turn, tmp_path):
    model = PCA(2).fit(IRIS)
    if turn == "assigned":
        model.components_ = -model.components_
    else:
        model.components_[:] *= -1
    said = f"fit components_ was {turn}, so"
    model.save(tmp_path / "model.lowdim")
    again = lowdim.load(tmp_path / "model.lowdim")
    np.testing.assert_array_equal(again.transform(IRIS), model.transform(IRIS))
    every_view(again, said)
    model.report(tmp_path / "page.html", IRIS)
    assert said in (tmp_path / "page.html").read_text()


# -- parts, and what cannot be assigned --------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler"])
def test_parts_are_assigned_to_a_model_that_is_not_fitted(loss, tmp_path):
    fitted = NMF(3, beta_loss=loss).fit(IRIS)
    model = NMF(3, beta_loss=loss)
    model.components_ = fitted.components_.copy()
    model.n_components_ = 3
    # codes are found anew, row by row, to the same tolerance
    np.testing.assert_allclose(model.transform(IRIS), fitted.transform(IRIS), rtol=1e-6, atol=1e-8)
    assert not model.fit_.reached
    for text in (repr(model), model.explain(), model._repr_html_()):
        assert "components_ was assigned" in " ".join(text.split())
    model.save(tmp_path / "parts.lowdim")
    again = lowdim.load(tmp_path / "parts.lowdim")
    np.testing.assert_array_equal(again.transform(IRIS), model.transform(IRIS))
    assert "components_ was assigned" in again.explain()
    assert len(model.partial_fit(IRIS).components_) == 3


def test_parts_of_a_fit_are_assigned_and_changed():
    model = NMF(3).fit(IRIS)
    assert model.fit_.reached
    H = model.components_ * 2
    model.components_ = H
    np.testing.assert_allclose(model.inverse_transform(np.eye(3)), H, rtol=1e-15)
    assert not model.fit_.reached
    assert "components_ was assigned" in model.explain()
    model.fit(IRIS)
    assert model.fit_.reached
    model.components_[0] *= 2
    assert not model.fit_.reached
    assert "components_ was changed" in model.explain()
    model.components_ = np.eye(4)[:2]
    assert model.transform(IRIS).shape == (150, 2)
    repr(model), model._repr_html_()


def test_parts_are_not_negative():
    model = NMF(2)
    model.components_ = -np.eye(4)[:2]
    with pytest.raises(BadInput, match="components_ holds -1, but parts are finite and not negative"):
        model.transform(IRIS)


def test_what_follows_from_a_kernel_cannot_be_assigned_nor_changed():
    model = KernelPCA(2, kernel="rbf").fit(IRIS)
    for name in ("eigenvalues_", "eigenvectors_", "X_fit_", "explained_variance_"):
        with pytest.raises(AttributeError, match=r"KernelPCA\.\w+ cannot be assigned.*fit again"):
            setattr(model, name, np.ones(2))
    for name in ("eigenvalues_", "eigenvectors_", "X_fit_"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(model, name)[0] = 1.0
