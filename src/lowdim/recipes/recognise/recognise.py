"""Whose rows are these? A gallery with labels, probes without or with, and how well the one tells the other."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadParameter, SingularModel, Words
from lowdim.models.base.input import load_rows, picture_shape_of
from lowdim.models.recogniser.fit import FOLDER, NAME, read_labels, refuse_missing
from lowdim.models.recogniser.model import Recogniser
from lowdim.models.recogniser.record import Estimate, Rate
from lowdim.recipes.recognise.result import LEVELS, Counts, Flags, OpenSet, Recognition, Verification
from lowdim.runtime.memory import refuse_beyond
from lowdim.runtime.progress import track
from lowdim.sources.arrays import ArraySource, rows_of_source
from lowdim.sources.open import open_source
from lowdim.sources.source import Source
from lowdim.types import Floats, Indices, is_whole

# Distances of probes from identities as curves: genuine pairs against impostors, people against strangers.

FEWEST_PEOPLE = 10
"""Of fewer people intervals cannot be drawn person by person."""


@dataclass(frozen=True)
class Pairs:
    """Distances of pairs, sorted into steps of equal distance, so that each drawing only has to count."""

    steps: Floats
    """(t,) distances, rising, each once."""
    genuine: Indices
    """(g,) step of each genuine pair, and …"""
    genuine_of: Indices
    """(g,) the unit (person or probe) that it is drawn with."""
    impostor: Indices
    impostor_of: Indices

    def curves(self, weight: Floats) -> tuple[Floats, Floats]:
        """False and true accepts (t,) up to each step, as shares, where units count so often, (u,)."""
        shares = []
        for step, unit in ((self.impostor, self.impostor_of), (self.genuine, self.genuine_of)):
            running = np.cumsum(np.bincount(step, weight[unit], minlength=len(self.steps)))
            shares.append(running / running[-1])
        return shares[0], shares[1]


def area(false_accept: Floats, true_accept: Floats) -> float:
    """Area under the curve, by trapezia: ties of genuine and impostor pairs count half (Bamber 1975)."""
    return float(np.trapezoid(np.concatenate([[0.0], true_accept]), np.concatenate([[0.0], false_accept])))


def equal_error(false_accept: Floats, true_accept: Floats) -> float:
    """Where false accepts and false refusals are as many, on the line between two points of the curve."""
    accept, refuse = np.concatenate([[0.0], false_accept]), np.concatenate([[1.0], 1.0 - true_accept])
    after = int(np.argmax(accept >= refuse))  # accept rises to 1, refuse falls to 0
    gap = refuse - accept
    share = gap[after - 1] / (gap[after - 1] - gap[after])
    return float(accept[after - 1] + share * (accept[after] - accept[after - 1]))


def verification(
    distances: Floats, own: Indices, person: Indices, level: float, draws: int, rng: np.random.Generator
) -> Verification | None:
    """The curve of all pairs of probes and identities, distances (m, c); None if there are not pairs of both kinds.

    `own` (m,) is the identity that each probe belongs to, −1 for strangers, `person` (m,) whose each is, strangers
    told apart. Pairs with one probe share it, so that formulas for independent pairs (DeLong & al. 1988) do not hold:
    people are drawn again and again instead, with all that is theirs (the bootstrap, clustered).
    """
    is_own = np.zeros(distances.shape, dtype=bool)
    known = own >= 0
    is_own[np.flatnonzero(known), own[known]] = True
    if not is_own.any() or is_own.all():
        return None
    by_person = len(np.unique(person)) >= FEWEST_PEOPLE
    unit = np.unique(person, return_inverse=True)[1] if by_person else np.arange(len(person))
    steps, place = np.unique(distances, return_inverse=True)
    place = place.reshape(distances.shape)
    units = np.broadcast_to(unit[:, None], distances.shape)
    pairs = Pairs(steps, place[is_own], units[is_own], place[~is_own], units[~is_own])
    count = int(unit.max()) + 1
    false_accept, true_accept = pairs.curves(np.ones(count))
    found = _draw(pairs, count, draws, rng)
    areas, errors = (_interval(values, level) for values in found.T)
    return Verification(
        thresholds=steps,
        false_accept=false_accept,
        true_accept=true_accept,
        genuine=len(pairs.genuine),
        impostor=len(pairs.impostor),
        auc=Estimate(area(false_accept, true_accept), *areas),
        equal_error=Estimate(equal_error(false_accept, true_accept), *errors),
        resampled="identity" if by_person else "probe",
        draws=draws,
    )


def _draw(pairs: Pairs, count: int, draws: int, rng: np.random.Generator) -> Floats:
    """(draws, 2) area and equal error rate, each time of as many units drawn anew."""
    found = np.empty((draws, 2))
    for i in track(range(draws), "draw"):
        while True:
            weight = np.bincount(rng.integers(count, size=count), minlength=count).astype(np.float64)
            if weight[pairs.genuine_of].any() and weight[pairs.impostor_of].any():
                break
        curves = pairs.curves(weight)
        found[i] = area(*curves), equal_error(*curves)
    return found


def _interval(values: Floats, level: float) -> tuple[float, float]:
    low, high = np.quantile(values, [0.5 - level / 2, 0.5 + level / 2])
    return float(low), float(high)


def cumulative_matches(distances: Floats, own: Indices) -> Floats:
    """(c,) share of probes whose own identity is among the 1, …, c nearest; of equally near ones it is the last."""
    known = own >= 0
    mine = np.take_along_axis(distances[known], own[known][:, None], axis=1)
    rank = (distances[known] <= mine).sum(axis=1)
    return np.asarray(np.cumsum(np.bincount(rank, minlength=distances.shape[1] + 1)[1:]) / known.sum())


def open_set(nearest: Floats, right: Flags, known: Flags, levels: Sequence[float], level: float) -> OpenSet | None:
    """What a rising limit of the distance lets in, (m,) distances to the nearest; None without strangers or others."""
    if known.all() or not known.any():
        return None
    steps = np.unique(nearest)
    strangers, found = np.sort(nearest[~known]), np.sort(nearest[known & right])
    false_accept = np.searchsorted(strangers, steps, side="right") / len(strangers)
    identified = np.searchsorted(found, steps, side="right") / known.sum()
    at = {}
    for share in levels:
        if share * len(strangers) < 1:  # too few strangers to tell it from none
            continue
        fine = false_accept <= share
        best = float(identified[fine].max(initial=0.0))
        at[share] = Rate(round(best * int(known.sum())), int(known.sum()), level)
    return OpenSet(false_accept, identified, at)


@dataclass(frozen=True, eq=False)
class Recognised(Recognition):
    """What `recognise` gives back: `table()`, `explain()`, `plot()`, and the fitted recogniser."""

    model: Any = field(default=None, repr=False)

    def plot(self) -> Any:
        """Draw it; gives back a matplotlib Figure. Needs the package matplotlib.

        The ROC of verification and, with strangers among the probes, of identification; where rows are pictures, some
        probes beside the rows of the gallery that are nearest to them. Without probe_labels distances are drawn.
        """
        from lowdim.recipes.recognise.overview import draw_recognition

        return draw_recognition(self)


JUDGED = 8
"""Numbers for every pair of probe and identity that are in memory at a time: distances, their order, whose they are."""


def recognise(
    gallery: Any,
    labels: Any,
    probes: Any,
    probe_labels: Any = None,
    *,
    n_components: Any = 0.9,
    metric: str = "cosine",
    drop_first: int = 0,
    n_neighbors: int = 1,
    reject: float | None = None,
    max_distance: float | None = None,
    reject_outside: float | None = None,
    unknown: Any = None,
    scale: Any = False,
    picture_shape: tuple[int, ...] | None = None,
    n_shown: int = 8,
    level: float = 0.95,
    n_draws: int = 1000,
    random_state: int = 0,
) -> Recognised:
    """Recognise probes by a gallery and, where it is known whose they are, say how well that went.

    Parameters
    ----------
    gallery : array (n, p), pictures (n, height, width), whatever `lowdim.open` takes, or a fitted Recogniser
        Rows that are known, held in memory. Of a folder of pictures with a folder inside for each person, labels may be
        None. A Recogniser has its gallery, labels and settings; `plot` cannot show rows of it then.
    labels : array (n,) or None
        Whose each row is.
    probes : like gallery, (m, p)
        Rows to recognise.
    probe_labels : array (m,) or None
        Whose they really are, if that is known: labels that the gallery does not have are strangers. None: nothing is
        judged, unless the probes are a folder with folders inside for each person.
    n_components, metric, drop_first, n_neighbors, reject, max_distance, reject_outside, unknown, scale
        As for `Recogniser`. Limits come from the gallery alone, never from the probes.
    picture_shape : (height, width), (height, width, 3) or None
        Where each row is a picture; known of folders of pictures and of arrays of three or four dimensions.
    n_shown : int
        Probes that `plot` shows beside their matches: up to half of them mistakes.
    level : float
        Of all intervals.
    n_draws : int
        Drawings behind the intervals of AUC and equal error rate.
    random_state : int
        Of the drawings, and of which rows of the gallery are left out together to find limits.

    Returns
    -------
    Recognised
        `identities`, `distances`, `rows`, `accepted`, `predicted`, `log_likelihood`; and of probes with labels
        `closed_set` accuracy, `cumulative` matches, `verification` (ROC, AUC, equal error rate), `open_set`
        identification at false-accept levels, `counts`. `table(name)`, `explain()`, `plot()`.

    References
    ----------
    Phillips, Moon, Rizvi & Rauss 2000, "The FERET evaluation methodology for face-recognition algorithms"; Wilson 1927
    for shares; Efron & Tibshirani 1993 for the bootstrap.

    Examples
    --------
    >>> import lowdim
    >>> digits = lowdim.datasets.digits()
    >>> X, y = digits.values, digits.labels
    >>> known = y[:600] < 8  # 8 and 9 are strangers
    >>> found = lowdim.recognise(X[:600][known], y[:600][known], X[600:900], y[600:900], n_components=20, reject=0.1)
    >>> found.closed_set.value > 0.9
    True
    >>> found.counts.known + found.counts.strangers
    300
    """
    seed = _seed(random_state)
    _check(level, n_draws, n_shown)
    settings = {
        "n_components": n_components,
        "metric": metric,
        "drop_first": drop_first,
        "n_neighbors": n_neighbors,
        "reject": reject,
        "max_distance": max_distance,
        "reject_outside": reject_outside,
        "unknown": unknown,
        "scale": scale,
    }
    gallery_rows: Source | None = None
    if isinstance(gallery, Recogniser):
        model = _fit(gallery, labels, settings)
        asked, shape = _open(probes, picture_shape, model.fit_.columns)
    else:
        known, shape = _open(gallery, picture_shape)
        asked, _ = _open(probes, picture_shape)
        gallery_rows = _in_memory(known)
        model = Recogniser(**settings, random_state=seed).fit(gallery_rows, _read_labels(known, labels))
    truth = _truth(asked, probe_labels)
    probe_rows = _in_memory(asked)
    if truth is not None:
        _refuse_other_labels(truth, model.classes_, probe_rows)
    m, c = probe_rows.n_rows or 0, len(model.classes_)
    refuse_beyond(
        JUDGED * 8 * m * c,
        f"Judging {m:,} probes by their distances to {c:,} identities",
        lambda left: (f"recognise {left // (JUDGED * 8 * c):,} probes at a time",),
    )
    found = _find(model, probe_rows)
    judged = {} if truth is None else _judge(model, probe_rows, found, truth, level, n_draws, seed)
    shown = _pick_shown(found, truth, model.classes_, n_shown if shape is not None and gallery_rows is not None else 0)
    pairs = [] if gallery_rows is None else [[_row(probe_rows, i), _row(gallery_rows, found["rows"][i])] for i in shown]
    names = model.fit_.names
    return Recognised(
        **found,
        **judged,
        classes=model.classes_,
        labels=truth,
        story=model.explain(),
        data=asked.describe(),
        level=float(level),
        shape=shape,
        shown=shown,
        pictures=np.array(pairs, dtype=np.float64) if pairs else None,
        names=asked.beside.get(NAME),
        matches=None if names is None else np.array(names, dtype=object)[found["rows"]],
        model=model,
    )


def _find(model: Recogniser, rows: Source) -> dict[str, Any]:
    """What the recogniser says of rows."""
    nearest = model.nearest(rows)
    try:
        likely: Floats | None = model.score_samples(rows)
    except SingularModel:
        likely = None
    predicted, accepted = model.predict(rows), model.accepts(rows)
    identities = model.classes_[np.argmax(_prefer(model, rows), axis=1)]
    return {
        "identities": identities,
        "predicted": predicted,
        "distances": nearest.distances[:, 0],
        "rows": nearest.rows[:, 0],
        "accepted": accepted,
        "log_likelihood": likely,
    }


def _prefer(model: Recogniser, rows: Source) -> Floats:
    """(m, c) preferences; scikit-learn's form for two classes is (m,)."""
    preferred = model.decision_function(rows)
    return np.stack([-preferred, preferred], axis=1) if preferred.ndim == 1 else preferred


def _judge(
    model: Recogniser, rows: Source, found: dict[str, Any], truth: NDArray[Any], level: float, draws: int, seed: int
) -> dict[str, Any]:
    """How right that is."""
    place = {label: i for i, label in enumerate(model.classes_.tolist())}
    own = np.array([place.get(label, -1) for label in truth.tolist()], dtype=np.int64)
    person = np.unique(truth, return_inverse=True)[1]
    known, right = own >= 0, found["identities"] == truth
    accepted, distances = found["accepted"], model.distances(rows)
    rng = np.random.default_rng(seed)
    return {
        "closed_set": Rate.of_all(right[known], level) if known.any() else None,
        "cumulative": cumulative_matches(distances, own) if known.any() else None,
        "verification": verification(distances, own, person, level, int(draws), rng),
        "open_set": open_set(found["distances"], right, known, LEVELS, level),
        "counts": Counts(
            identified=int((known & accepted & right).sum()),
            mistaken=int((known & accepted & ~right).sum()),
            turned_away=int((known & ~accepted).sum()),
            strangers_in=int((~known & accepted).sum()),
            strangers_out=int((~known & ~accepted).sum()),
        ),
    }


def _pick_shown(
    found: dict[str, Any], truth: NDArray[Any] | None, classes: NDArray[Any], count: int
) -> NDArray[np.int64]:
    """Which probes are shown: up to half are answered wrongly (or turned away, if nobody knows), then others."""
    odd = ~found["accepted"]
    if truth is not None:
        odd = np.where(np.isin(truth, classes), odd | (found["identities"] != truth), ~odd)
    first = _spread(np.flatnonzero(odd), (count + 1) // 2)
    return np.concatenate([first, _spread(np.flatnonzero(~odd), count - len(first))]).astype(np.int64)


def _spread(places: NDArray[Any], count: int) -> NDArray[Any]:
    """So many of them, from first to last: those of one person often stand together."""
    some = np.linspace(0, len(places) - 1, min(count, len(places))).round().astype(int)
    return np.asarray(places[np.unique(some)])


def _fit(model: Recogniser, labels: Any, settings: dict[str, Any]) -> Recogniser:
    """A recogniser that has its gallery, if nothing else is asked of it."""
    usual = Recogniser().get_params()
    other = [name for name, value in settings.items() if not np.array_equal(value, usual[name])]
    other += ["labels"] if labels is not None else []
    if other:
        raise BadParameter(
            Words("recognise: "),
            f"{other[0]} was given beside a fitted Recogniser, which has its own: leave it out, or give the "
            "rows of the gallery.",
        )
    return model


def _open(X: Any, picture_shape: Any, columns: tuple[str, ...] | None = None) -> tuple[Source, tuple[int, ...] | None]:
    """The rows, of a file those columns, and the shape of the pictures that they are."""
    shape = None if picture_shape is None else tuple(picture_shape)
    if isinstance(X, np.ndarray) and X.ndim in (3, 4) and X.size:
        shape = shape or X.shape[1:]
        X = X.reshape(len(X), -1)
    file = isinstance(X, (str, os.PathLike))
    source = (open_source(X, columns=columns) if file else open_source(X)).unweighted()
    shape = shape or picture_shape_of(source)
    if shape is not None and (len(shape) not in (2, 3) or math.prod(shape) != source.n_columns):
        raise BadParameter(
            f"recognise(picture_shape={shape}): such pictures have {math.prod(shape):,} numbers, but the rows have "
            f"{source.n_columns:,}; give the height and the width of a row."
        )
    return source, shape


def _in_memory(source: Source) -> Source:
    """The rows as one array, which they are read as several times; sparse ones stay sparse."""
    if source.sparse:
        return source
    rows, _ = load_rows(source)
    kept = rows_of_source(rows, source)
    kept.beside = source.beside
    return kept


def _row(source: Source, i: int) -> Floats:
    assert isinstance(source, ArraySource)
    return np.asarray(source.array[i], dtype=np.float64)


def _read_labels(source: Source, labels: Any) -> Any:
    """Labels of a gallery; those of a folder are its folders' names."""
    if labels is not None:
        return labels
    return read_labels("recognise", source, None)


def _truth(source: Source, labels: Any) -> NDArray[Any] | None:
    """Whose the probes are, if that was said, or if they lie in folders, several of them."""
    if labels is None:
        folders = source.beside.get(FOLDER)
        return folders if folders is not None and len(set(folders.tolist())) > 1 else None
    refuse_missing("probe_labels", labels)
    found = np.asarray(labels)
    if found.ndim != 1:
        raise BadInput(
            Words("recognise: "), f"probe_labels have the shape {found.shape}, but one label for each probe is needed."
        )
    return found


def _refuse_other_labels(truth: NDArray[Any], classes: NDArray[Any], probes: Source) -> None:
    """Raise an error if labels are not one for each probe, or of another kind than those of the gallery."""
    if len(truth) != probes.n_rows:
        raise BadInput(
            Words("recognise: "), f"{probes.n_rows:,} probes came with {len(truth):,} labels; each needs one."
        )
    ours, theirs = (all(isinstance(label, str) for label in labels.tolist()) for labels in (classes, truth))
    if ours != theirs:
        kinds = ["texts" if text else "numbers" for text in (ours, theirs)]
        raise BadInput(
            Words("recognise: "),
            f"labels of the gallery are {kinds[0]}, those of the probes {kinds[1]}, so that none could "
            "agree; make them alike.",
        )


def _check(level: Any, n_draws: Any, n_shown: Any) -> None:
    if not isinstance(level, (int, float)) or not 0 < level < 1:
        raise BadParameter.of("recognise", "level", level, "a number between 0 and 1, such as 0.95")
    for name, given, least in (("n_draws", n_draws, 1), ("n_shown", n_shown, 0)):
        if not is_whole(given) or int(given) < least:
            raise BadParameter.of("recognise", name, given, f"a whole number from {least}")


def _seed(random_state: Any) -> int:
    fine = is_whole(random_state)
    if not fine or not 0 <= int(random_state) < 2**32:
        raise BadParameter.of("recognise", "random_state", random_state, f"a whole number from 0 to {2**32 - 1}")
    return int(random_state)
