"""How a recogniser is fitted: labels, the gallery in the space of its components, limits of acceptance, neighbours."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_y

from lowdim.errors import BadInput, BadParameter, LowdimWarning, RankWarning, Setting, SingularModel, Words
from lowdim.models.base import parameters
from lowdim.models.base.parameters import seed_of
from lowdim.models.linear import gaussian
from lowdim.models.pca.model import PCA
from lowdim.models.recogniser.record import COSINE, EUCLID, RecogniserFit, Trial
from lowdim.runtime.progress import track
from lowdim.runtime.warn import warn_user
from lowdim.sources.arrays import ArraySource, SparseSource
from lowdim.sources.source import Source
from lowdim.types import Floats, Indices
from lowdim.words import plural

# Nearest rows of a gallery, in coordinates whose Euclidean distance is the metric's.

MOST_DISTANCES = 2**22
"""Distances that are held at a time."""


def coordinates(scores: Floats, whitening: Floats, metric: str, drop_first: int) -> Floats:
    """(n, k − drop_first) coordinates of rows with these scores (n, k); whitening (k,) is 1 / standard deviation.

    Euclid's distance between them is that between the scores ("euclid"), the whitened scores ("whitened"), or the
    whitened scores made as long as 1, d² / 2 = 1 − cosine ("cosine"). A row at the mean has no direction and stays 0.
    """
    kept: Floats = scores[:, drop_first:]
    if metric == EUCLID:
        return np.ascontiguousarray(kept)
    white = kept * whitening[drop_first:]
    if metric != COSINE:
        return np.asarray(white)
    largest = np.abs(white).max(axis=1, initial=0.0, keepdims=True)
    scaled = np.divide(white, largest, out=np.zeros_like(white), where=largest > 0)  # squares stay in range
    length = np.linalg.norm(scaled, axis=1, keepdims=True)
    return np.asarray(np.divide(scaled, length, out=np.zeros_like(scaled), where=length > 0))


def distances_between(codes: Floats, gallery: Floats, metric: str) -> Iterator[tuple[slice, Floats]]:
    """Give (rows, n) distances between rows and gallery, some rows at a time, from differences: 0 is 0."""
    step = max(1, MOST_DISTANCES // max(1, len(gallery)))
    for start in range(0, len(codes), step):
        some = slice(start, start + step)
        yield some, _cosine(codes[some], gallery) if metric == COSINE else cdist(codes[some], gallery)


def _cosine(codes: Floats, gallery: Floats) -> Floats:
    """(m, n) 1 − cosine of rows of length 1; those without a direction are at 1 from all that have one."""
    distances = 0.5 * cdist(codes, gallery, "sqeuclidean")
    distances += 0.5 * np.not_equal.outer(np.any(codes, axis=1), np.any(gallery, axis=1))
    return np.asarray(distances)


def nearest_rows(codes: Floats, gallery: Floats, metric: str, count: int) -> tuple[Floats, Indices]:
    """Distances (m, count) to the nearest rows of the gallery, nearest first, and which (m, count) these are."""
    found, places = np.empty((len(codes), count)), np.empty((len(codes), count), dtype=np.int64)
    for some, distances in distances_between(codes, gallery, metric):
        if count == 1:
            order = np.argmin(distances, axis=1)[:, None]
        else:
            few = np.sort(np.argpartition(distances, count - 1, axis=1)[:, :count], axis=1)
            by_distance = np.argsort(np.take_along_axis(distances, few, axis=1), axis=1, kind="stable")
            order = np.take_along_axis(few, by_distance, axis=1)
        places[some] = order
        found[some] = np.take_along_axis(distances, order, axis=1)
    return found, places


def nearest_of_each(codes: Floats, gallery: Floats, metric: str, classes: Indices, n_classes: int) -> Floats:
    """(m, n_classes) distance to the nearest row of each class; every class has a row."""
    order = np.argsort(classes, kind="stable")
    starts = np.searchsorted(classes[order], np.arange(n_classes))
    found = np.empty((len(codes), n_classes))
    for some, distances in distances_between(codes, gallery[order], metric):
        found[some] = np.minimum.reduceat(distances, starts, axis=1)
    return found


def preferences(neighbours: Indices, distances: Floats) -> Floats:
    """(m, n_classes) how much each class is preferred: votes of the nearest rows, of equals the one that is nearest.

    `neighbours` (m, count) are classes of the nearest rows, `distances` (m, n_classes) those to the nearest row of each
    class. One neighbour has the only vote, so that minus the distance says it all.
    """
    if neighbours.shape[1] == 1:
        return -distances
    votes = np.zeros(distances.shape)
    for column in neighbours.T:
        votes[np.arange(len(votes)), column] += 1
    return np.asarray(votes - distances / (1 + distances))  # from 0 to 1, so never as much as a vote


# Rows with labels in the space of their components, and what they say of thresholds when some are left out.

PEOPLE_FOLDS = 20
"""Into so many parts people are divided, each in turn strangers to the others: few, and the rest would be too small."""

ROW_FOLDS = 5
"""Into so many parts the rows of each person are divided, each in turn seen for the first time."""


@dataclass(frozen=True)
class SpaceTask:
    """A space that is to be found, and how rows are compared in it."""

    n_components: Any
    scale: Any
    metric: str
    drop_first: int
    seed: Any

    def space(self, rows: Any, most: int | None = None) -> PCA:
        """PCA of rows; of `most` components at most, where fewer rows than the gallery has could not give more."""
        k = self.n_components
        if most is not None and isinstance(k, (int, np.integer)):
            k = min(int(k), most)
        # variances that divide by n are those of probabilistic PCA (Tipping & Bishop 1999, eqs. 7 and 8), whose density
        # is Moghaddam & Pentland's 1997, eqs. 8 to 11
        return PCA(k, scale=self.scale, ddof=0, random_state=self.seed).fit(rows)

    def codes(self, space: PCA, rows: Any) -> Floats:
        """(n, k − drop_first) coordinates of rows."""
        fit = space.fit_
        if self.drop_first >= fit.k:
            raise BadParameter.of(
                "Recogniser", "drop_first", self.drop_first, f"below the number of components, {fit.k}: none is left"
            )
        scores = np.asarray(space.transform(rows), dtype=np.float64)
        return coordinates(scores, fit.whitening, self.metric, self.drop_first)


def leave_rows_out(rows: Any, places: Indices, task: SpaceTask, rng: np.random.Generator) -> Trial:
    """What rows (n, p) of these people (n,) say of each other when some are left out, from components to distances.

    Distances of rows that the components were fitted to would be too small of a kind: n rows in n − 1 whitened
    dimensions are all equally far from each other.
    """
    strangers, densities = _try_as_strangers(rows, places, task, rng)
    nearest, right, parts = _try_as_new_rows(rows, places, task, rng)
    return Trial(strangers, densities, nearest, right, (min(PEOPLE_FOLDS, int(places.max()) + 1), parts))


def _try_as_strangers(
    rows: Any, places: Indices, task: SpaceTask, rng: np.random.Generator
) -> tuple[Floats, Floats | None]:
    people = int(places.max()) + 1
    if people < 2:
        raise BadInput(
            Words(f"{OWNER}: "),
            "the gallery has one identity, and none is left to be a stranger to it: give two or more, or ",
            Setting("max_distance"),
            " in place of ",
            Setting("reject"),
            ".",
        )
    part = rng.permutation(people) % min(PEOPLE_FOLDS, people)
    found, densities = np.empty(len(places)), np.empty(len(places))
    for fold in track(range(int(part.max()) + 1), "fold"):
        out = part[places] == fold
        space, codes, others = _refit_without(rows, out, task)
        found[out] = nearest_rows(codes, others, task.metric, 1)[0][:, 0]
        try:
            densities[out] = space.score_samples(rows[out])
        except SingularModel:
            densities[out] = np.nan
    return found, None if np.isnan(densities).any() else densities


def _try_as_new_rows(
    rows: Any, places: Indices, task: SpaceTask, rng: np.random.Generator
) -> tuple[Floats, NDArray[np.bool_], int]:
    part = _split_each_person(places, rng)
    nearest, right = np.full(len(places), np.nan), np.zeros(len(places), dtype=bool)
    for fold in track(range(int(part.max()) + 1), "fold"):
        out = part == fold
        _, codes, others = _refit_without(rows, out, task)
        distances, which = nearest_rows(codes, others, task.metric, 1)
        nearest[out] = distances[:, 0]
        right[out] = places[~out][which[:, 0]] == places[out]
    seen = part >= 0
    return nearest[seen], right[seen], int(part.max()) + 1


def _split_each_person(places: Indices, rng: np.random.Generator) -> Indices:
    """(n,) which part each row is in, drawn person by person; −1: the only row of its person."""
    part = np.full(len(places), -1, dtype=np.int64)
    for person in range(int(places.max()) + 1):
        own = rng.permutation(np.flatnonzero(places == person))
        if len(own) > 1:
            part[own] = np.arange(len(own)) % ROW_FOLDS
    return part


def _refit_without(rows: Any, out: NDArray[np.bool_], task: SpaceTask) -> tuple[PCA, Floats, Floats]:
    """The space of the other rows, and coordinates in it of those left out and of the others."""
    kept = rows[~out]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LowdimWarning)  # the fit of all rows has said it
        space = task.space(kept, most=min(kept.shape[0] - 1, kept.shape[1]))
    return space, task.codes(space, rows[out]), task.codes(space, kept)


def limit_distance(strangers: Floats, share: float) -> float:
    """The largest distance that lets in no more than this share of strangers, judged by n of them, (n,).

    One more stranger is nearer than the r-th nearest of n with a chance of r / (n + 1), if all are exchangeable (as in
    conformal prediction, Vovk & al. 2005); so r is the largest for which this is no more than the share.
    """
    return float(np.nextafter(np.sort(strangers)[_rank(len(strangers), share) - 1], -np.inf))


def limit_density(densities: Floats, share: float) -> float:
    """The smallest log-likelihood that turns away no more than this share of rows, in the same way."""
    return float(np.sort(densities)[_rank(len(densities), share) - 1])


def _rank(n: int, share: float) -> int:
    """At least 1: n rows cannot promise a share below 1 / (n + 1)."""
    return max(1, int(np.floor(share * (n + 1))))


# Labels of rows: given, or the folders that pictures lie in; and one more for rows rejected as unknown.

FOLDER, NAME = "folder", "name"
"""What is kept aside of files in folders."""


def read_labels(owner: str, source: Source, y: Any) -> NDArray[Any]:
    """(n,) labels as they were given; of a folder of pictures or texts, the names of its folders."""
    if y is None:
        return _read_folders(owner, source)
    refuse_missing(owner, y)
    labels = _check_y(y, multi_output=False, y_numeric=False)
    check_classification_targets(labels)
    n = source.count_rows()
    if n is not None and n != len(labels):
        raise BadInput(f"{owner}: {n:,} rows came with {len(labels):,} labels; each row needs one.")
    return np.asarray(labels)


def refuse_missing(owner: str, labels: Any) -> None:
    """Raise an error if some labels are not there."""
    given = np.asarray(labels)
    if given.dtype.kind == "O":
        missing = np.array([label is None or bool(label != label) for label in given.ravel()], dtype=bool)
    else:
        missing = ~np.isfinite(given.ravel()) if given.dtype.kind == "f" else np.zeros(given.size, dtype=bool)
    count = int(missing.sum())
    if count:
        raise BadInput(
            Words(f"{owner}: "),
            f"{count:,} of {given.size:,} labels {'is' if count == 1 else 'are'} missing (NaN or inf), the "
            "first that of row "
            f"{int(np.argmax(missing)) + 1:,}, but each row needs one: fill them in, or leave those rows out.",
        )


def _read_folders(owner: str, source: Source) -> NDArray[Any]:
    if FOLDER not in source.beside:
        raise BadInput(
            f"{owner} requires y to be passed, but the target y is None: give a label for each row. (Only folders of "
            "pictures, one inside for each label, bring their own.)"
        )
    labels = source.aside(FOLDER)
    if len(set(labels.tolist())) < 2:
        raise BadInput(
            f"{owner}: all of {source.describe()} lie in one folder, {labels[0]!r}, so their labels are not known: "
            "give y, or put those of each label into a folder of its own."
        )
    return labels


def choose_unknown_label(owner: str, unknown: Any, classes: NDArray[Any]) -> Any:
    """The label of rejected rows, of the same kind as the labels: as asked, or "unknown", or −1."""
    text = classes.dtype.kind in "UO" and all(isinstance(label, str) for label in classes)
    if unknown is None:
        if classes.dtype.kind not in "iufUO" or (classes.dtype.kind == "O" and not text):
            raise BadParameter.of(
                owner, "unknown", unknown, f"given where labels are {classes.dtype}: make them texts or whole numbers"
            )
        unknown = "unknown" if text else -1
    if isinstance(unknown, str) != text:
        raise BadParameter.of(owner, "unknown", unknown, f"{'a text' if text else 'a number'}, as the labels are")
    if unknown in classes.tolist():
        raise BadParameter.of(owner, "unknown", unknown, "a label that nobody of the gallery has")
    return unknown


def mark_unknown(labels: NDArray[Any], accepted: NDArray[np.bool_], unknown: Any) -> NDArray[Any]:
    """The same labels, where accepted; a type that holds both, as unsigned numbers have no −1, nor short texts room."""
    if labels.dtype.kind == "O":
        return np.where(accepted, labels, unknown)
    if labels.dtype.kind == "U":
        return np.where(accepted, labels, np.array(unknown))
    wide = np.result_type(labels.dtype, np.min_scalar_type(unknown))
    return np.where(accepted, labels.astype(wide), np.asarray(unknown).astype(wide))


# How a gallery is made: the space of its components, where its rows lie in it, and the limits of what is accepted.

OWNER = "Recogniser"


def check_settings(model: Any) -> None:
    """Raise an error for a setting that cannot be."""
    if parameters.is_zero(model.n_components):
        raise BadParameter.of(OWNER, "n_components", 0, "a number of components from 1, as rows are compared by them")
    if model.max_distance is not None and model.reject is not None:
        needed = (Words("None", "left out"), ", as ", Setting("reject", model.reject), " finds the limit")
        raise BadParameter.of(OWNER, "max_distance", model.max_distance, needed)


def fit_gallery(
    model: Any, source: Source, rows: Any, classes: NDArray[Any], places: NDArray[np.int64]
) -> RecogniserFit:
    """The record of rows, (n, p), of which `places` (n,) says whose of the classes each is."""
    task = SpaceTask(model.n_components, model.scale, model.metric, int(model.drop_first), model.random_state)
    dense = isinstance(rows, np.ndarray)
    kept = (ArraySource if dense else SparseSource)(rows, source.columns, name=source.title)
    space = task.space(kept)
    parameters.whole(OWNER, "n_neighbors", model.n_neighbors, 1, rows.shape[0])
    if model.metric == COSINE and space.fit_.k - model.drop_first == 1:
        warning = RankWarning(
            Setting("n_components", model.n_components),
            " leaves one component to compare by, and angles in one dimension are only signs: keep more, scale columns "
            "of different units (",
            Setting("scale", True),
            "), or use another ",
            Setting("metric"),
            ".",
        )
        warn_user(warning)
    rejects = any(given is not None for given in (model.reject, model.max_distance, model.reject_outside))
    unknown = choose_unknown_label(OWNER, model.unknown, classes) if rejects else None
    trial = _leave_out_if_needed(model, space, rows, places, task)
    reach, least = model.max_distance, None
    if model.reject is not None:
        assert trial is not None
        reach = limit_distance(trial.strangers, float(model.reject))
    if model.reject_outside is not None:
        assert trial is not None
        assert trial.densities is not None
        least = limit_density(trial.densities, float(model.reject_outside))
    return RecogniserFit(
        space=space.fit_,
        metric=model.metric,
        drop_first=int(model.drop_first),
        n_neighbors=int(model.n_neighbors),
        codes=task.codes(space, kept),
        places=places,
        classes=classes,
        unknown=unknown,
        max_distance=None if reach is None else float(reach),
        least_density=least,
        reject=None if model.reject is None else float(model.reject),
        reject_outside=None if model.reject_outside is None else float(model.reject_outside),
        trial=trial,
        names=tuple(source.beside[NAME].tolist()) if NAME in source.beside else None,
    )


def _leave_out_if_needed(model: Any, space: PCA, rows: Any, places: Any, task: SpaceTask) -> Trial | None:
    """What left-out rows say, if a limit depends on it."""
    if model.reject is None and model.reject_outside is None:
        return None
    if model.reject_outside is not None:
        gaussian.require_density(space.fit_)  # raises an error where there is no density to reject by
    trial = leave_rows_out(rows, places, task, np.random.default_rng(seed_of(model.random_state)))
    if model.reject_outside is not None and trial.densities is None:
        raise SingularModel(
            f"{OWNER}(reject_outside={model.reject_outside}): without some of the {len(places):,} rows the "
            f"{plural(space.fit_.k, 'component')} {'holds' if space.fit_.k == 1 else 'hold'} all the variance, and "
            "there is no density: keep fewer components."
        )
    return trial
