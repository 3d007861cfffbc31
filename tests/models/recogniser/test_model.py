"""Recognition has known answers: nearest neighbours in component space, and limits that only the gallery sets."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from PIL import Image
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

import lowdim
from lowdim import PCA, ProbabilisticPCA, Recogniser
from lowdim.errors import BadInput, BadParameter, RankWarning, SingularModel

METRICS = ("cosine", "euclid", "whitened")


def people(n_people: int = 12, each: int = 6, p: int = 30, seed: int = 0) -> tuple[Any, Any]:
    """Rows of people who differ more than their own rows do."""
    rng = np.random.default_rng(seed)
    middle = 3 * rng.normal(size=(n_people, p))
    y = np.repeat(np.arange(n_people), each)
    return middle[y] + rng.normal(size=(len(y), p)), y


X, Y = people()
KNOWN = np.arange(len(Y)) % 6 < 4


@pytest.mark.parametrize("metric", METRICS)
def test_a_row_of_the_gallery_is_found_at_distance_zero(metric: str) -> None:
    found = Recogniser(8, metric=metric).fit(X, Y).nearest(X)
    np.testing.assert_array_equal(found.rows[:, 0], np.arange(len(X)))
    np.testing.assert_array_equal(found.identities[:, 0], Y)
    # the same products of the same rows, but for how blocks are cut
    np.testing.assert_allclose(found.distances[:, 0], 0, atol=1e-12)


def test_euclid_is_scikit_learns_neighbours_of_pca_scores() -> None:
    for neighbours in (1, 5):
        model = Recogniser(8, metric="euclid", n_neighbors=neighbours).fit(X[KNOWN], Y[KNOWN])
        pca = PCA(8).fit(X[KNOWN])
        peer = KNeighborsClassifier(neighbours).fit(pca.transform(X[KNOWN]), Y[KNOWN])
        distances, rows = peer.kneighbors(pca.transform(X[~KNOWN]), 3)
        found = model.nearest(X[~KNOWN], 3)
        np.testing.assert_array_equal(found.rows, rows)
        np.testing.assert_allclose(found.distances, distances, rtol=1e-9)
        np.testing.assert_array_equal(model.predict(X[~KNOWN]), peer.predict(pca.transform(X[~KNOWN])))


def test_the_metrics_are_what_they_say() -> None:
    pca = PCA(8, whiten=True, ddof=0).fit(X[KNOWN])
    known, new = pca.transform(X[KNOWN]), pca.transform(X[~KNOWN])
    lengths = np.linalg.norm(new, axis=1)[:, None] * np.linalg.norm(known, axis=1)
    whole = {"cosine": 1 - new @ known.T / lengths, "whitened": np.linalg.norm(new[:, None] - known, axis=2)}
    for metric, distances in whole.items():
        found = Recogniser(8, metric=metric).fit(X[KNOWN], Y[KNOWN]).nearest(X[~KNOWN], KNOWN.sum())
        np.testing.assert_allclose(np.sort(distances, axis=1), found.distances, atol=1e-12)


def test_the_cosine_does_not_see_how_far_a_row_is_from_the_mean() -> None:
    model = Recogniser(8).fit(X[KNOWN], Y[KNOWN])
    mean = model.space_.mean_
    further = mean + 7.5 * (X[~KNOWN] - mean)
    np.testing.assert_allclose(model.distances(further), model.distances(X[~KNOWN]), atol=1e-12)
    euclid = Recogniser(8, metric="euclid").fit(X[KNOWN], Y[KNOWN])
    assert np.abs(euclid.distances(further) - euclid.distances(X[~KNOWN])).max() > 1


def test_a_row_without_a_direction_is_as_far_as_a_right_angle() -> None:
    # a row that is the mean but for rounding would have a direction made of rounding: take scores that are exactly 0
    blank = scipy.sparse.csr_array((1, X.shape[1]))
    centred = Recogniser(8).fit(np.concatenate([X, -X]), np.concatenate([Y, Y]))
    centred.fit_.space.mean[:] = 0
    np.testing.assert_allclose(centred.distances(blank), np.ones((1, len(Y) // 6)), rtol=1e-15)


def test_dropped_components_make_no_difference() -> None:
    model = Recogniser(8, metric="euclid", drop_first=2).fit(X[KNOWN], Y[KNOWN])
    assert model.transform(X).shape == (len(X), 6)
    lit = X[~KNOWN] + 100 * model.space_.components_[:2].sum(axis=0)
    np.testing.assert_allclose(model.distances(lit), model.distances(X[~KNOWN]), rtol=1e-9)
    with pytest.raises(BadParameter, match=r"drop_first=8\): drop_first must be below the number of components, 8"):
        Recogniser(8, drop_first=8).fit(X, Y)


def test_the_log_likelihood_is_that_of_probabilistic_pca() -> None:
    model = Recogniser(8).fit(X[KNOWN], Y[KNOWN])
    peer = ProbabilisticPCA(8).fit(X[KNOWN])
    np.testing.assert_allclose(model.score_samples(X[~KNOWN]), peer.score_samples(X[~KNOWN]), rtol=1e-10)


def test_the_log_likelihood_is_moghaddam_and_pentlands() -> None:
    model = Recogniser(8).fit(X[KNOWN], Y[KNOWN])
    space, new = model.space_, X[~KNOWN]
    variances, p = space.explained_variance_, X.shape[1]
    rest = space.noise_variance_
    inside = ((space.transform(new)) ** 2 / variances).sum(axis=1)
    distance = inside + model.distance_from_space(new) ** 2 / rest
    constant = p * np.log(2 * np.pi) + np.log(variances).sum() + (p - 8) * np.log(rest)
    np.testing.assert_allclose(model.score_samples(new), -0.5 * (distance + constant), rtol=1e-10)


def test_the_distance_from_the_space_is_that_from_the_reconstruction() -> None:
    for scale in (False, True):
        model = Recogniser(8, scale=scale).fit(X[KNOWN], Y[KNOWN])
        space = model.space_
        left = X[~KNOWN] - space.inverse_transform(space.transform(X[~KNOWN]))
        expected = np.linalg.norm(left / space.scale_, axis=1)
        np.testing.assert_allclose(model.distance_from_space(X[~KNOWN]), expected, rtol=1e-10)
        on_it = space.inverse_transform(space.transform(X[~KNOWN]))
        # from differences, not from |x|² − |t|², which would leave the square root of rounding: 1e-7
        np.testing.assert_allclose(model.distance_from_space(on_it), 0, atol=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_preferences_agree_with_predictions(metric: str) -> None:
    rng = np.random.default_rng(1)
    noisy, y = rng.normal(size=(90, 5)), rng.integers(0, 4, 90)
    for neighbours in (1, 4):
        model = Recogniser(3, metric=metric, n_neighbors=neighbours).fit(noisy[:60], y[:60])
        said = model.classes_[model.decision_function(noisy[60:]).argmax(axis=1)]
        np.testing.assert_array_equal(model.predict(noisy[60:]), said)


# -- limits -----------------------------------------------------------------------------------------------------------


def test_limits_come_from_the_gallery_alone() -> None:
    model = Recogniser(8, reject=0.1, reject_outside=0.1).fit(X[KNOWN], Y[KNOWN])
    limits = model.max_distance_, model.least_log_likelihood_
    for probes in (X[~KNOWN], 100 * X, X[:1]):
        model.predict(probes)
        assert (model.max_distance_, model.least_log_likelihood_) == limits
    one_by_one = np.concatenate([model.predict(row[None]) for row in X[~KNOWN]])
    np.testing.assert_array_equal(one_by_one, model.predict(X[~KNOWN]))


def test_left_out_rows_meet_the_level() -> None:
    model = Recogniser(8, reject=0.1, reject_outside=0.05).fit(X[KNOWN], Y[KNOWN])
    trial = model.fit_.trial
    n = int(KNOWN.sum())  # 48: the 4th nearest stranger and the 2nd least likely row are the limits, of 49
    assert (trial.strangers <= model.max_distance_).sum() == 3
    assert (trial.densities < model.least_log_likelihood_).sum() == 1
    table = model.table("trial")
    assert table["what"][0] == "strangers let in"
    assert table["value"][0] == 3 / n


def test_a_stranger_is_measured_in_a_space_that_never_saw_that_person() -> None:
    model = Recogniser(5, metric="euclid", reject=0.1).fit(X[KNOWN], Y[KNOWN])
    rows, labels, trial = X[KNOWN], Y[KNOWN], model.fit_.trial
    for person in (0, 7):  # 12 people in up to 20 parts: each is left out alone
        own = labels == person
        other = Recogniser(5, metric="euclid").fit(rows[~own], labels[~own])
        np.testing.assert_allclose(trial.strangers[own], other.nearest(rows[own]).distances[:, 0], rtol=1e-10)
        np.testing.assert_allclose(trial.densities[own], other.score_samples(rows[own]), rtol=1e-10)


def test_strangers_and_other_things_are_turned_away() -> None:
    """60 people who differ in 6 of 30 directions; the last 30 are strangers. Shares of 60 have errors of .03 at .05."""
    rng = np.random.default_rng(0)
    middle = 5 * rng.normal(size=(60, 6)) @ np.linalg.qr(rng.normal(size=(30, 6)))[0].T
    y = np.repeat(np.arange(60), 6)
    rows, known = middle[y] + rng.normal(size=(360, 30)), np.arange(360) % 6 < 4
    gallery = known & (y < 30)
    model = Recogniser(6, metric="euclid", reject=0.05, reject_outside=0.05).fit(rows[gallery], y[gallery])
    new, own = ~known, y[~known] < 30
    said = model.predict(rows[new])
    assert (said[own] == y[new][own]).mean() > 0.6
    assert (said[own] == -1).mean() < 0.4
    assert (said[~own] == -1).mean() > 0.85
    np.testing.assert_array_equal(said != -1, model.accepts(rows[new]))
    things = 20 * rng.normal(size=(50, 30))
    assert not model.accepts(things).any()


def test_far_from_the_space_but_near_in_it() -> None:
    model = Recogniser(8, metric="euclid", reject=0.1).fit(X, Y)
    both = Recogniser(8, metric="euclid", reject=0.1, reject_outside=0.01).fit(X, Y)
    V = model.space_.components_
    away = np.linalg.svd(V)[2][-1]  # a direction that no component has
    moved = X[:5] + 1000 * away
    assert model.accepts(moved).all()  # in the space they lie where they were
    assert not both.accepts(moved).any()
    assert both.accepts(X[:5]).all()


@pytest.mark.parametrize(
    ("labels", "unknown"),
    [
        (Y, -1),
        (Y.astype(np.uint8), -1),
        (np.array([f"p{i}" for i in Y]), "unknown"),
        (np.array([f"p{i}" for i in Y], dtype=object), "unknown"),
    ],
)
def test_unknown_rows_get_a_label_of_the_labels_kind(labels: Any, unknown: Any) -> None:
    model = Recogniser(8, max_distance=1e-6).fit(X[KNOWN], labels[KNOWN])
    said = model.predict(np.concatenate([X[KNOWN], X[~KNOWN]]))
    np.testing.assert_array_equal(said[: KNOWN.sum()], labels[KNOWN])
    assert set(said[KNOWN.sum() :].tolist()) == {unknown}
    assert model.unknown_ == unknown


def test_without_limits_nobody_is_turned_away() -> None:
    model = Recogniser(8).fit(X[KNOWN], Y[KNOWN])
    assert model.unknown_ is None
    assert model.accepts(100 * X).all()
    assert set(model.predict(100 * X)) <= set(Y)


# -- what cannot be ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "error", "said"),
    [
        ({"metric": "manhattan"}, BadParameter, "one of 'cosine', 'euclid', 'whitened'"),
        ({"reject": 5}, BadParameter, "a share between 0 and 1"),
        ({"reject": 0.1, "max_distance": 1.0}, BadParameter, "None, as reject=0.1 finds the limit"),
        ({"reject": 0.1, "unknown": 3}, BadParameter, "a label that nobody of the gallery has"),
        ({"reject": 0.1, "unknown": "nobody"}, BadParameter, "a number, as the labels are"),
        ({"n_neighbors": 1000}, BadParameter, "a whole number from 1 to 72"),
        ({"n_components": None, "reject_outside": 0.1, "drop_first": 0}, None, ""),
    ],
)
def test_settings_that_cannot_be(settings: dict[str, Any], error: Any, said: str) -> None:
    model = Recogniser(**settings)
    if error is None:
        assert np.isfinite(model.fit(X, Y).least_log_likelihood_)  # more rows than columns: a density with all axes
        return
    with pytest.raises(error, match=said):
        model.fit(X, Y)


def test_gallery_without_density_or_strangers() -> None:
    few = X[:10]
    with pytest.raises(SingularModel, match="keep fewer components"):
        Recogniser(9, reject_outside=0.1).fit(few, Y[:10])
    assert Recogniser(9).fit(few, Y[:10]).score(few, Y[:10]) == 1
    with pytest.raises(BadInput, match="one identity"):
        Recogniser(3, reject=0.1).fit(few, np.zeros(10, dtype=int))
    with pytest.raises(BadInput, match="72 rows came with 3 labels"):
        Recogniser(3).fit(X, Y[:3])


def test_angles_in_one_dimension_are_warned_of() -> None:
    with pytest.warns(RankWarning, match="angles in one dimension are only signs"):
        Recogniser(1).fit(X, Y)


# -- data of every kind -----------------------------------------------------------------------------------------------


def test_frames_sparse_rows_and_sources() -> None:
    names = [f"c{j}" for j in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names, index=np.arange(len(X)) + 100)
    model = Recogniser(8, reject=0.1).fit(frame, pd.Series(Y))
    said = model.predict(frame)
    np.testing.assert_array_equal(said, Recogniser(8, reject=0.1).fit(X, Y).predict(X))
    near = model.table("nearest", frame)
    assert isinstance(near, pd.DataFrame)
    assert list(near.index) == list(frame.index)
    np.testing.assert_array_equal(near["identity"], Y)
    assert isinstance(model.set_output(transform="pandas").transform(frame), pd.DataFrame)
    polars = pl.DataFrame(dict(zip(names, X.T, strict=True)))
    assert isinstance(Recogniser(8).fit(polars, Y).table("identities"), pl.DataFrame)
    sparse = scipy.sparse.csr_array(np.where(np.abs(X) > 3, X, 0))
    dense = Recogniser(8).fit(sparse.toarray(), Y)
    np.testing.assert_allclose(
        Recogniser(8).fit(sparse, Y).distances(sparse), dense.distances(sparse.toarray()), atol=1e-9
    )  # sparse scores are centred after the product


def test_a_folder_of_pictures_brings_its_labels(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for who in ("ann", "bob", "eve"):
        (tmp_path / who).mkdir()
        face = rng.integers(60, 200, (9, 7))
        for i in range(4):
            pixels = np.clip(face + rng.integers(-20, 20, (9, 7)), 0, 255).astype(np.uint8)
            Image.fromarray(pixels).save(tmp_path / who / f"{i}.png")
    model = Recogniser(4).fit(tmp_path)
    assert model.classes_.tolist() == ["ann", "bob", "eve"]
    assert model.predict(tmp_path / "bob").tolist() == ["bob"] * 4
    with pytest.raises(BadInput, match="lie in one folder, 'bob'"):
        Recogniser(2).fit(tmp_path / "bob")


@pytest.mark.parametrize(
    "labels", [Y, np.array([f"p{i:02}" for i in Y]), np.array([f"p{i}" for i in Y], dtype=object), Y > 5]
)
def test_a_saved_recogniser_is_the_same(labels: Any, tmp_path: Path) -> None:
    limits = {} if labels.dtype == bool else {"reject": 0.1, "reject_outside": 0.1}
    model = Recogniser(8, scale=True, drop_first=1, n_neighbors=2, **limits).fit(X[KNOWN], labels[KNOWN])
    model.save(tmp_path / "r.lowdim")
    back = lowdim.load(tmp_path / "r.lowdim")
    np.testing.assert_array_equal(back.predict(X), model.predict(X))
    np.testing.assert_array_equal(back.distances(X), model.distances(X))
    assert back.classes_.dtype == model.classes_.dtype
    assert back.get_params() == model.get_params()
    assert back.explain() == model.explain()


def test_it_works_in_searches() -> None:
    search = GridSearchCV(Recogniser(), {"n_components": [2, 8], "metric": ["cosine", "euclid"]}, cv=3).fit(X, Y)
    assert search.best_score_ == search.cv_results_["mean_test_score"].max() > 0.9
    assert cross_val_score(clone(search.best_estimator_), X, Y, cv=3).mean() == pytest.approx(search.best_score_)


@pytest.mark.slow
def test_olivetti_is_recognised_as_published(shared_data: Any) -> None:
    """The dossier's check: K = 40, 5 + 5 pictures of 40 people, 10 splits: .872, .876 and .907, ± .02 in a split."""
    with np.load(shared_data("olivetti_faces.npz")) as file:
        rows, who = file["images"].reshape(400, -1) / 255.0, file["subject"]
    found: dict[str, list[float]] = {metric: [] for metric in METRICS}
    for seed in range(10):
        rng = np.random.default_rng(seed)
        known = np.concatenate([rng.permutation(np.flatnonzero(who == person))[:5] for person in range(40)])
        new = np.setdiff1d(np.arange(400), known)
        for metric in METRICS:
            model = Recogniser(40, metric=metric).fit(rows[known], who[known])
            found[metric].append(model.score(rows[new], who[new]))
    means = {metric: float(np.mean(values)) for metric, values in found.items()}
    assert means["cosine"] >= 0.90
    assert means["cosine"] > means["whitened"]
    assert means["euclid"] == pytest.approx(0.872, abs=0.02)  # one standard deviation of a split
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        limited = Recogniser(40, reject=0.05).fit(rows[known], who[known])
    assert 0 < limited.max_distance_ < 1
