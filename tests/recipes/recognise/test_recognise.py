"""`recognise`: every probe is counted once, the record says what the model says, and curves belong to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from sklearn.metrics import roc_auc_score

from lowdim import Recogniser, recognise
from lowdim.errors import BadInput, BadParameter

RNG = np.random.default_rng(0)
WHO = np.repeat(np.arange(16), 6)
ROWS = 2 * RNG.normal(size=(16, 20))[WHO] + RNG.normal(size=(96, 20))
GALLERY = (np.arange(96) % 6 < 3) & (WHO < 11)
LIMITS: dict[str, Any] = {"n_components": 6, "reject": 0.1, "reject_outside": 0.1}


@pytest.fixture(scope="module")
def found() -> Any:
    return recognise(ROWS[GALLERY], WHO[GALLERY], ROWS[~GALLERY], WHO[~GALLERY], n_draws=50, **LIMITS)


def test_every_probe_is_counted_once(found: Any) -> None:
    counts, truth = found.counts, WHO[~GALLERY]
    assert (counts.known, counts.strangers) == ((truth < 11).sum(), (truth >= 11).sum())
    assert counts.known + counts.strangers == found.n_probes == (~GALLERY).sum()
    assert counts.identified + counts.mistaken + counts.strangers_in == found.accepted.sum()
    assert counts.identified == ((found.predicted == truth) & (truth < 11)).sum()
    assert counts.strangers_in == ((found.predicted != -1) & (truth >= 11)).sum()
    table = found.table("identities")
    assert sum(table["probes"]) == counts.known
    right = sum(share * n for share, n in zip(table["value"], table["probes"], strict=True))
    assert right == pytest.approx(found.closed_set.count)


def test_it_says_what_the_recogniser_says(found: Any) -> None:
    model = Recogniser(6, reject=0.1, reject_outside=0.1, random_state=0).fit(ROWS[GALLERY], WHO[GALLERY])
    np.testing.assert_array_equal(found.predicted, model.predict(ROWS[~GALLERY]))
    np.testing.assert_array_equal(found.accepted, model.accepts(ROWS[~GALLERY]))
    np.testing.assert_array_equal(found.rows, model.nearest(ROWS[~GALLERY]).rows[:, 0])
    np.testing.assert_allclose(found.log_likelihood, model.score_samples(ROWS[~GALLERY]), rtol=1e-12)
    closed = Recogniser(6).fit(ROWS[GALLERY], WHO[GALLERY])
    np.testing.assert_array_equal(found.identities, closed.predict(ROWS[~GALLERY]))
    own = WHO[~GALLERY] < 11
    assert found.closed_set.value == closed.score(ROWS[~GALLERY][own], WHO[~GALLERY][own])
    assert found.cumulative[0] == pytest.approx(found.closed_set.value)
    pairs = WHO[~GALLERY][:, None] == closed.classes_
    auc = roc_auc_score(pairs.ravel(), -closed.distances(ROWS[~GALLERY]).ravel())
    assert found.verification.auc.value == pytest.approx(auc, rel=1e-12)


def test_limits_do_not_depend_on_the_probes(found: Any) -> None:
    some = recognise(ROWS[GALLERY], WHO[GALLERY], ROWS[~GALLERY][:7], **LIMITS)
    assert some.model.max_distance_ == found.model.max_distance_
    assert some.model.least_log_likelihood_ == found.model.least_log_likelihood_
    np.testing.assert_array_equal(some.predicted, found.predicted[:7])


def test_tables_and_words(found: Any) -> None:
    summary = found.table()
    assert {"closed-set accuracy", "strangers let in", "AUC", "equal error rate"} <= set(summary["measure"])
    for value, low, high in zip(summary["value"], summary["low"], summary["high"], strict=True):
        assert 0 <= low <= value <= high <= 1
    assert len(found.table("probes")["label"]) == found.n_probes
    assert found.table("roc")["false_accept"][-1] == 1
    assert list(found.table("open_set")["false_accept"]) == [0.05, 0.1]  # 30 strangers
    said = found.explain()
    assert "probes are independent, which several of one person are not" in said
    assert "the gallery stays as it is" in said
    with pytest.raises(BadParameter, match="one of 'summary'"):
        found.table("rocs")


def test_a_fitted_recogniser_in_the_place_of_its_gallery(found: Any) -> None:
    again = recognise(found.model, None, ROWS[~GALLERY], WHO[~GALLERY], n_draws=50)
    assert again.measures() == found.measures()
    np.testing.assert_array_equal(again.distances, found.distances)
    assert again.pictures is None
    for more in (
        {"labels": WHO[GALLERY]},
        {"labels": None, "metric": "euclid"},
        {"labels": None, "scale": np.ones(20)},
    ):
        with pytest.raises(BadParameter, match="was given beside a fitted Recogniser"):
            recognise(found.model, probes=ROWS[~GALLERY], **more)


@pytest.mark.parametrize("hole", [None, np.nan])
def test_labels_that_are_missing_are_counted(hole: Any) -> None:
    for kind in (object, float) if hole is not None else (object,):
        labels = WHO.astype(kind)
        labels[[4, 9]] = hole
        with pytest.raises(BadInput, match=r"Recogniser: 2 of 96 labels are missing .* the first that of row 5"):
            Recogniser(2).fit(ROWS, labels)
        with pytest.raises(BadInput, match="2 of 96 labels are missing"):
            recognise(ROWS, WHO, ROWS, labels)


def test_without_labels_nothing_is_judged() -> None:
    found = recognise(ROWS[GALLERY], WHO[GALLERY], ROWS[~GALLERY], n_components=6)
    assert found.closed_set is found.verification is found.counts is None
    assert list(found.table()["measure"]) == ["accepted"]
    with pytest.raises(BadInput, match="give probe_labels"):
        found.table("roc")


def test_only_strangers_or_none() -> None:
    strangers = recognise(ROWS[GALLERY], WHO[GALLERY], ROWS[WHO >= 11], WHO[WHO >= 11], **LIMITS)
    assert strangers.closed_set is strangers.open_set is strangers.verification is None
    assert strangers.counts.strangers == (WHO >= 11).sum()
    nobody = recognise(ROWS[GALLERY], WHO[GALLERY], ROWS[WHO < 11], WHO[WHO < 11], n_components=6, n_draws=5)
    assert nobody.open_set is None
    assert nobody.counts.strangers == 0


def test_pictures_are_shown_beside_their_matches(tmp_path: Path) -> None:
    for i, (row, who) in enumerate(zip(ROWS, WHO, strict=True)):
        side = "known" if GALLERY[i] else "new"
        folder = tmp_path / side / f"p{who:02}"
        folder.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.clip(128 + 20 * row, 0, 255).astype(np.uint8).reshape(5, 4)).save(folder / f"{i:02}.png")
    found = recognise(tmp_path / "known", None, tmp_path / "new", n_components=6, n_draws=5, n_shown=6)
    assert found.shape == (5, 4)
    assert found.counts.strangers == 30  # folders say whose probes are
    assert found.pictures.shape == (6, 2, 20)
    gallery = np.array([np.asarray(Image.open(path)).ravel() for path in sorted((tmp_path / "known").rglob("*.png"))])
    np.testing.assert_array_equal(found.pictures[:, 1], gallery[found.rows[found.shown]])
    figure = found.plot()
    titles = [panel.get_title() for part in figure.subfigs for panel in part.axes]
    assert sum("→" in title for title in titles) == 6
    assert "probe | nearest of the gallery" in figure.subfigs[1].get_suptitle()


@pytest.mark.parametrize("labelled", [True, False])
def test_rows_that_are_no_pictures_have_curves_alone(labelled: bool) -> None:
    truth = WHO[~GALLERY] if labelled else None
    figure = recognise(ROWS[GALLERY], WHO[GALLERY], ROWS[~GALLERY], truth, n_draws=5, **LIMITS).plot()
    (part,) = figure.subfigs
    assert ("let in" in part.axes[0].get_xlabel()) == labelled


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"probe_labels": WHO[:3]}, BadInput, "63 probes came with 3 labels"),
        ({"probe_labels": WHO[~GALLERY].astype(str)}, BadInput, "gallery are numbers, those of the probes texts"),
        ({"probe_labels": WHO[~GALLERY][:, None]}, BadInput, "one label for each probe"),
        ({"level": 95}, BadParameter, "a number between 0 and 1"),
        ({"n_draws": 0}, BadParameter, "a whole number from 1"),
        ({"random_state": None}, BadParameter, "a whole number from 0"),
        ({"picture_shape": (3, 3)}, BadParameter, "such pictures have 9 numbers, but the rows have 20"),
        ({"labels": None}, BadInput, "y is None"),
    ],
)
def test_what_cannot_be_is_said(change: dict[str, Any], error: Any, said: str) -> None:
    given = {"gallery": ROWS[GALLERY], "labels": WHO[GALLERY], "probes": ROWS[~GALLERY], "n_components": 6} | change
    with pytest.raises(error, match=said):
        recognise(**given)
