"""How a gallery is made: the space of its components, where its rows lie in it, and the limits of what is accepted."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadParameter, RankWarning, SingularModel
from lowdim.models import settings
from lowdim.models.fit_linear import seed_of
from lowdim.models.gallery import SpaceTask, furthest_accepted, least_likely_accepted, tried
from lowdim.models.labels import NAME, unknown_label
from lowdim.models.pca import PCA
from lowdim.results import gaussian
from lowdim.results.certificate import counted
from lowdim.results.recogniser import COSINE, METRICS, RecogniserFit, Trial
from lowdim.sources.memory import ArraySource, SparseSource
from lowdim.sources.source import Source

if TYPE_CHECKING:
    from lowdim.models.recogniser import Recogniser

OWNER = "Recogniser"


def check_settings(model: Recogniser) -> None:
    """Raise an error for a setting that cannot be."""
    settings.check_seed(OWNER, model.random_state)
    if model.metric not in METRICS:
        raise BadParameter.of(OWNER, "metric", model.metric, f"one of {', '.join(map(repr, METRICS))}")
    if settings.is_zero(model.n_components):
        raise BadParameter.of(OWNER, "n_components", 0, "a number of components from 1, as rows are compared by them")
    settings.whole(OWNER, "drop_first", model.drop_first, 0, None)
    for name in ("reject", "reject_outside"):
        given = getattr(model, name)
        fine = isinstance(given, Real) and not isinstance(given, bool) and 0 < float(given) < 1
        if given is not None and not fine:
            raise BadParameter.of(OWNER, name, given, "a share between 0 and 1, such as 0.05, or None")
    if model.max_distance is not None:
        settings.real(OWNER, "max_distance", model.max_distance, 0.0)
        if model.reject is not None:
            raise BadParameter.of(
                OWNER, "max_distance", model.max_distance, f"None, as reject={model.reject} finds the limit"
            )


def fit_gallery(
    model: Recogniser, source: Source, rows: Any, classes: NDArray[Any], places: NDArray[np.int64]
) -> RecogniserFit:
    """The record of rows, (n, p), of which `places` (n,) says whose of the classes each is."""
    task = SpaceTask(model.n_components, model.scale, model.metric, int(model.drop_first), model.random_state)
    dense = isinstance(rows, np.ndarray)
    kept = (ArraySource if dense else SparseSource)(rows, source.columns, name=source.title)
    space = task.space(kept)
    settings.whole(OWNER, "n_neighbors", model.n_neighbors, 1, rows.shape[0])
    if model.metric == COSINE and space.fit_.k - model.drop_first == 1:
        warnings.warn(
            f"n_components={model.n_components!r} leaves one component to compare by, and angles in one dimension "
            "are only signs: keep more, scale columns of different units (scale=True), or use another metric.",
            RankWarning,
            stacklevel=3,
        )
    rejects = any(given is not None for given in (model.reject, model.max_distance, model.reject_outside))
    unknown = unknown_label(OWNER, model.unknown, classes) if rejects else None
    trial = _trial(model, space, rows, places, task)
    reach, least = model.max_distance, None
    if model.reject is not None:
        assert trial is not None
        reach = furthest_accepted(trial.strangers, float(model.reject))
    if model.reject_outside is not None:
        assert trial is not None
        assert trial.densities is not None
        least = least_likely_accepted(trial.densities, float(model.reject_outside))
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


def _trial(model: Recogniser, space: PCA, rows: Any, places: Any, task: SpaceTask) -> Trial | None:
    """What left-out rows say, if a limit depends on it."""
    if model.reject is None and model.reject_outside is None:
        return None
    if model.reject_outside is not None:
        gaussian.proper(space.fit_)  # raises an error where there is no density to reject by
    trial = tried(rows, places, task, np.random.default_rng(seed_of(model.random_state)))
    if model.reject_outside is not None and trial.densities is None:
        raise SingularModel(
            f"{OWNER}(reject_outside={model.reject_outside}): without some of the {len(places):,} rows the "
            f"{counted(space.fit_.k, 'component')} {'holds' if space.fit_.k == 1 else 'hold'} all the variance, and "
            "there is no density: keep fewer components."
        )
    return trial
