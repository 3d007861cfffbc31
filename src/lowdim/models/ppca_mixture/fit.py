"""How a mixture fit is made: rows in memory → several starts by k-means → EM from each → the likeliest → record."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from lowdim import errors
from lowdim.errors import BadInput, SingularModel
from lowdim.matrices.convert import refuse_held
from lowdim.matrices.missing import Observed, choose_scales, describe_unseen, missing_values_error, observe
from lowdim.models.base.parameters import seed_of
from lowdim.models.ppca_mixture.record import MixtureFit
from lowdim.models.ppca_mixture.solvers import (
    Mixture,
    Settings,
    fit_mixture,
    fit_one_component,
    predict_entries,
    responsibilities,
    split_by_label,
)
from lowdim.models.probabilistic_pca.fit import refuse_extreme
from lowdim.runtime.progress import track
from lowdim.runtime.threads import one_blas_thread
from lowdim.runtime.warn import warn_user
from lowdim.sources.source import Source
from lowdim.types import Floats

LEAST_NOISE = 1e-6
"""Share of the mean variance of a column below which the noise of a cluster is not let fall: a cluster of few rows in a
plane would be infinitely likely."""


@dataclass(frozen=True)
class MixtureTask:
    """A mixture that is to be found."""

    n_clusters: int
    n_components: int
    noise: float | None  # variance of the noise, if it is known, in the units of the scaled columns
    tol: float  # gain per row that is taken for none
    steps: int
    starts: int
    scale: bool | Floats
    seed: Any


def fit_clusters(source: Source, task: MixtureTask) -> MixtureFit:
    """The mixture under which the observed entries of the rows, which may have weights, are most likely."""
    seen = observe(source)
    _refuse_unfit(seen, source, task.n_clusters)
    scale = choose_scales(seen, task.scale)
    rows, weight = load_rows(source)
    rows = (rows - seen.mean) / scale
    try:
        mixture, path = _fit_best(rows, weight, task, float((seen.variances / scale**2).mean()))
    except np.linalg.LinAlgError as error:
        raise SingularModel(
            f"A covariance cannot be inverted ({error}): the noise is too small beside the variances; raise "
            "noise_variance, or leave it out, so that it is estimated."
        ) from error
    gain = (path[-1] - path[-2]) / seen.weight if len(path) > 1 else np.inf
    if gain > task.tol:
        warn_user(
            f"EM was stopped after {task.steps} steps, of which the last gained {gain:.1e} per row: raise max_iter, "
            f"or tol={task.tol:g}.",
            errors.NotConverged,
        )
    return MixtureFit(
        center=seen.mean,
        scale=scale,
        weights=mixture.weights,
        means=mixture.means,
        loadings=mixture.W,
        noise=mixture.noise,
        n_rows=len(rows),
        weight=seen.weight,
        loglik=float(weight @ responsibilities(mixture, rows)[1]) - float(seen.seen @ np.log(scale)),
        path=np.array(path),
        converged=bool(gain <= task.tol),
        columns=source.columns,
    )


def load_rows(source: Source) -> tuple[Floats, Floats]:
    """All rows (n, p) in memory, and their weights (n,)."""
    refuse_held(source, 3)
    blocks = list(source.blocks())
    rows = np.concatenate([block.rows for block in blocks]).astype(np.float64)
    if np.isinf(rows).any():
        infinite = np.isinf(rows).sum(axis=0)
        raise missing_values_error(np.stack([np.zeros_like(infinite), infinite]), len(rows), source.columns)
    each = [np.ones(len(block.rows)) if block.weight is None else block.weight for block in blocks]
    return rows, np.concatenate(each)


def _fit_best(rows: Floats, weight: Floats, task: MixtureTask, variance: float) -> tuple[Mixture, list[float]]:
    """The likeliest of several ends, and its path."""
    settings = Settings(
        task.n_components,
        task.noise,
        max(LEAST_NOISE * variance, float(np.finfo(float).tiny)),
        gain=task.tol * float(weight.sum()),
    )
    rng = np.random.default_rng(seed_of(task.seed))
    ends = []
    with one_blas_thread():
        one = fit_one_component(np.nan_to_num(rows), settings, weight)
        if np.isnan(rows).any():
            one, _ = fit_mixture(rows, one, settings, task.steps, weight=weight)
        filled = predict_entries(one, rows)[0]
        for _ in track(range(task.starts if task.n_clusters > 1 else 1), "start"):
            labels = _label_rows(filled, weight, task.n_clusters, int(rng.integers(2**31)))
            first = split_by_label(one, rows, labels, settings, weight)
            ends.append(fit_mixture(rows, first, settings, task.steps, weight=weight))
    return max(ends, key=lambda end: end[1][-1])


def _label_rows(filled: Floats, weight: Floats, clusters: int, seed: int) -> NDArray[np.integer[Any]]:
    """(n,) clusters of rows without missing values, by k-means."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # said below
        means = KMeans(clusters, n_init=1, random_state=seed)
        labels: NDArray[np.integer[Any]] = means.fit_predict(filled, sample_weight=weight)
    found = len(np.unique(labels))
    if found < clusters:
        raise BadInput(
            f"Only {found} of the {len(filled):,} rows differ from each other, too few for {clusters} clusters: ask "
            f"for at most {found}."
        )
    return labels


def _refuse_unfit(seen: Observed, source: Source, clusters: int) -> None:
    """Raise an error if there is too little to learn from."""
    unseen = np.flatnonzero(seen.count == 0)
    if len(unseen):
        raise BadInput(f"{describe_unseen(unseen, source.columns, source.n_columns)}: leave them out.")
    if seen.n_rows < max(2, 2 * clusters) or source.n_columns < 2:
        raise BadInput(
            f"{source.describe()} is too small (n_samples={seen.n_rows}, n_features={source.n_columns}): "
            f"{clusters} cluster(s) need at least {max(2, 2 * clusters)} rows and 2 columns."
        )
    refuse_extreme(seen, source)
