"""Probabilistic principal component analysis."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import scipy
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadParameter, Interrupted
from lowdim.matrices.convert import fits_in_memory, load_rows, read_weights
from lowdim.matrices.empty_rows import warn_of_empty_rows, warning_of_empty_rows
from lowdim.matrices.missing import naming_all_missing
from lowdim.matrices.preparation import working_dtype
from lowdim.models.base import parameters
from lowdim.models.base.fitting import fit_transform_weighted
from lowdim.models.base.output import frame_kind, scores_table
from lowdim.models.base.parameters import (
    CHECKED_BY_FIT,
    Bytes,
    Checkpoint,
    ColumnScale,
    Count,
    NumberAbove0,
    NumberFrom0,
    Option,
    Seed,
    Unstored,
    seed_of,
)
from lowdim.models.base.prompt import Prompt
from lowdim.models.base.scikit_learn import Takes, check_is_fitted
from lowdim.models.base.uncertainty import Unsure
from lowdim.models.linear.fit import load_to_count
from lowdim.models.linear.model import LinearModel
from lowdim.models.probabilistic_pca import rows as latent_rows
from lowdim.models.probabilistic_pca.checkpoint import read_checkpoint, write_checkpoint
from lowdim.models.probabilistic_pca.figures import LatentPlots
from lowdim.models.probabilistic_pca.fit import (
    SOLVER,
    LatentTask,
    Progress,
    begin,
    estimate_memory,
    fit_by_em,
    fit_closed,
    limit_blocks,
    make_record,
    name_missing_values,
    resume,
    task_of,
)
from lowdim.models.probabilistic_pca.record import LatentFit
from lowdim.models.probabilistic_pca.rows import RowModel
from lowdim.runtime.memory import budget_of
from lowdim.runtime.progress import ROW
from lowdim.sources.source import Block, Source
from lowdim.sources.wrapped import UnstoredMissing, scale_to_counts
from lowdim.types import Floats
from lowdim.views.text.facts import PlanFacts


class ProbabilisticPCA(Unsure, LinearModel):
    """Principal components of rows with missing values, and how sure every number is.

    Each row is mean + W z + noise, with k hidden values z ~ N(0, 1) and noise of one variance in every column. Missing
    values (NaN, masked, null) are left out of the likelihood, not filled; the model then says what they probably were,
    with an error bar. Without missing values the answer is PCA's, in closed form.

    Parameters
    ----------
    n_components : int, "auto", "bic" or "ard"
        A number; those of least BIC; as many as automatic relevance determination leaves, by variational Bayes, which
        also reckons with the uncertainty of the loadings; or "auto": the latter for tables with holes of up to 200,000
        entries, and else as many as predict hidden entries best.
    scale : bool or array of shape (p,)
        Divide the columns by the standard deviations of their observed entries (or by these numbers), which makes one
        noise for all of them plausible where their units differ.
    solver : {"auto", "closed", "em", "lecture"}
        "closed" is for rows without holes, "em" for all, "auto" is "closed" where it can be. "lecture" is EM as
        textbooks write it, one slow step after the other, for looking at.
    w_precision : float
        Precision of a normal prior of every loading, which makes the fit one of maximum a posteriori. It depends on the
        units of the data. 1 is what the lecture's M-step has, with its σ²I.
    noise_variance : float or None
        Variance of the noise where it is known, in the units of the scaled columns.
    tol : float
        EM stops when two steps in a row raise the log-likelihood by no more than this per row.
    max_iter : int
        Passes of EM over the rows, at most.
    unstored : {"zero", "missing"}
        What the entries are that a sparse matrix does not store.
    checkpoint : path or None
        A file that keeps the state of EM after every step. If it exists, the fit goes on from there.
    random_state : int, Generator, RandomState or None
        Which rows EM is begun with, and which entries are hidden to find `n_components`; None is a fixed seed.
    memory : int, str or None
        Most bytes that the process may hold while it fits ("512MB"); see PCA.

    Notes
    -----
    `transform` gives expected hidden values, `inverse_transform` the rows that they stand for. EM is exact: it raises
    the likelihood of the observed entries in every step (`loglik_path_`).

    References
    ----------
    Tipping & Bishop 1999, "Probabilistic principal component analysis"; Ilin & Raiko 2010, "Practical approaches to
    principal component analysis in the presence of missing values".

    Examples
    --------
    >>> import lowdim
    >>> X = lowdim.datasets.iris().values.copy()
    >>> X[0, 2] = float("nan")
    >>> model = lowdim.ProbabilisticPCA(2).fit(X)
    >>> filled, deviation = model.impute(X, return_std=True)
    >>> bool(abs(filled[0, 2] - 1.4) < 2 * deviation[0, 2])
    True
    """

    whiten = True
    """Hidden values have variance one."""
    center = True

    _record: LatentFit | None = None

    _has_linear_rules = True
    _prompt: ClassVar = Prompt("auto", ("lowdim impute {data} -o filled.csv", "fill what is missing"), resumes=True)

    _parts = ((ROW, 1.0), (ROW, 1.0), ("number of components", 20.0), ("step", 20.0))

    def __init__(
        self,
        n_components: Annotated[Count | Literal["auto", "bic", "ard"], CHECKED_BY_FIT, Option("keep")] = "auto",
        *,
        scale: ColumnScale = False,
        solver: Literal["auto", "closed", "em", "lecture"] = "auto",
        w_precision: NumberFrom0 = 0.0,
        noise_variance: NumberAbove0 | None = None,
        tol: NumberFrom0 = 1e-6,
        max_iter: Count = 1000,
        unstored: Unstored = "zero",
        checkpoint: Checkpoint = None,
        random_state: Seed = None,
        memory: Bytes = None,
    ):
        self.n_components = n_components
        self.scale = scale
        self.solver = solver
        self.w_precision = w_precision
        self.noise_variance = noise_variance
        self.tol = tol
        self.max_iter = max_iter
        self.unstored = unstored
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.memory = memory

    # -- fitting --------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> ProbabilisticPCA:
        """Find the model under which the observed entries of X, (n, p), are most likely.

        `sample_weight` (n,) counts rows: 2 means twice. Where a rule finds `n_components`, weights that add up to less
        than the rows are scaled up to them.

        Parameters
        ----------
        X : array, sparse matrix, frame, dask data, path, iterator of row blocks or Source
            Rows, (n, p); what `lowdim.open` takes.
        y : ignored
        sample_weight : array of shape (n,) or None
            How often each row counts: 2 means twice.

        Returns
        -------
        ProbabilisticPCA
            The model itself.
        """
        budget = budget_of("ProbabilisticPCA", self.memory)
        source = load_to_count(self._opened(X, reset=True), budget)
        task = task_of(self, source.n_columns)
        weighted = source
        if sample_weight is not None:
            sample_weight = read_weights(source, sample_weight)
            if isinstance(task.n_components, str):  # rules reckon with the number of rows
                sample_weight = scale_to_counts(sample_weight)
            weighted = source.with_weights(sample_weight)
        closed = task.may_be_closed and task.n_components != "auto"
        fit = fit_closed(source, sample_weight, task, self.memory) if closed else None
        if fit is None:
            if sample_weight is None and fits_in_memory(source, None if budget is None else budget.room):
                weighted = load_rows(source)  # EM reads the rows again and again
            fit = self._by_em(X, limit_blocks(weighted, task, budget), task)
            warn_of_empty_rows(source, fit.observed, fit.n_rows)
        self._remember(X, source)
        self._record = fit
        return self

    fit_transform = fit_transform_weighted

    def _plan_facts(self, source: Source) -> PlanFacts:
        task, budget = task_of(self, source.n_columns), budget_of("ProbabilisticPCA", self.memory)
        k = task.most_components(source.n_columns)
        size = None if source.n_rows is None else source.n_rows * source.n_columns * source.dtype.itemsize
        return PlanFacts(
            data=source.describe(),
            bytes=None if source.sparse else size,
            keep=f"{task.n_components}" if isinstance(task.n_components, str) else f"{k} component{'s' * (k != 1)}",
            solver=SOLVER,
            reason="rows may have holes; without any, the closed form is used" if task.may_be_closed else "asked for",
            read=f"2 passes, and one in each of up to {task.steps} steps over the rows",
            memory=estimate_memory(source.n_rows, source.n_columns, k),
            limit=None if budget is None else budget.limit,
            accuracy=f"until two steps gain no more than {task.tol:.0e} of log-likelihood a row",
        )

    @property
    def _takes(self) -> Takes:
        return Takes(missing=True)

    @property
    def fit_(self) -> LatentFit:
        """The frozen record of the fit, which every read-out below reads."""
        found: LatentFit = super().fit_  # type: ignore[assignment]  # that of a latent model is one
        return found

    @property
    def plot(self) -> LatentPlots:
        """Figures of this fit: `model.plot.holes(X)`, `model.plot.path()`, …"""
        return LatentPlots(self)

    # -- attributes -----------------------------------------------------------------------------------------------

    @property
    def loadings_(self) -> Floats:
        """(p, k) W: what a hidden value of one adds to a row, in the data's units."""
        return self.fit_.axes(whiten=True).T

    @property
    def loglik_(self) -> float:
        """Log-likelihood of all observed entries, in the data's units; with n_components="ard" a bound below it."""
        return self.fit_.loglik

    @property
    def loglik_path_(self) -> Floats:
        """(steps,) log-likelihood of every model that EM accepted, the last of which is the result, in the units of the
        scaled columns; one value without EM."""
        ascent = self.fit_.ascent
        return np.array([self.fit_.loglik] if ascent is None else ascent.loglik)

    @property
    def logpost_path_(self) -> Floats:
        """(steps,) the same with the log-prior of the loadings, which EM raises in every step."""
        ascent = self.fit_.ascent
        return np.array([self.fit_.loglik] if ascent is None else ascent.logpost)

    @property
    def bic_(self) -> float:
        """Bayesian information criterion, −2 log-likelihood + log n for each free number: smaller is better."""
        return self.fit_.bic

    @property
    def converged_(self) -> bool:
        """Whether EM stood still at the end; True without EM."""
        return self.fit_.reached

    @property
    def n_iter_(self) -> int:
        """Passes of EM over the rows, steps that were taken back included; 1 for the closed form."""
        ascent = self.fit_.ascent
        return 1 if ascent is None else len(ascent.loglik) + ascent.refused

    def _graph(self, inverse: bool, dtype: str) -> Any:
        if self.fit_.spread is not None and not inverse:
            raise BadInput(
                "The hidden values of this fit reckon with uncertain loadings (n_components='ard'), which the graph of "
                f"a linear model does not: fit with n_components={self.fit_.k} first."
            )
        return super()._graph(inverse, dtype)

    # -- hidden values --------------------------------------------------------------------------------------------

    def posterior(self, X: Any) -> tuple[Floats, Floats]:
        """Means (n, k) and covariances (n, k, k) of the hidden values, given what was observed of each row.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).

        Returns
        -------
        pair of arrays
            (n, k) means and (n, k, k) covariances.
        """
        check_is_fitted(self)
        source, model = self._opened(X, reset=False).unweighted(), RowModel.of(self.fit_)
        k = self.fit_.k
        covariances = _mapped(source, partial(latent_rows.hidden_covariances, model=model), k * k, np.float64)
        return self._scores(X), covariances.reshape(-1, k, k)

    def _scores(self, X: Any) -> Any:
        """(n, k) expected hidden values."""
        source = self._opened(X, reset=False).unweighted()
        work = partial(latent_rows.hidden_values, model=RowModel.of(self.fit_))
        return _mapped(source, work, self.fit_.k, working_dtype(source.dtype))

    # -- missing values -------------------------------------------------------------------------------------------

    def impute(self, X: Any, return_std: bool = False) -> Any:
        """Rows (n, p) with what is missing filled by what the model expects of it; what was observed stays as it is.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).
        return_std : bool
            Give the standard deviation of a reading of each missing entry too, noise included; 0 where it was observed.
            Infinite in columns of which nothing was ever observed, whose entries stay NaN.

        Returns
        -------
        (n, p) array, or a frame of X's own kind; with `return_std` two of them.
        """
        values, deviations = self._filled(X, return_std)
        return (self._like(X, values), self._like(X, deviations)) if return_std else self._like(X, values)

    def intervals(self, X: Any, level: float = 0.95) -> tuple[Any, Any]:
        """Lower and upper ends (n, p) of intervals that hold missing entries with this probability, if the model is
        right; where an entry was observed, both are its value.

        Of a fixed number of components and few rows it is nearly this probability: .94 of entries for 40 rows at .95.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).
        level : float
            That probability.

        Returns
        -------
        pair of arrays or frames
            Lower and upper ends, each (n, p).
        """
        parameters.real(type(self).__name__, "level", level, 0.0)
        if not 0 < level < 1:
            raise BadParameter.of(type(self).__name__, "level", level, "a number between 0 and 1, such as 0.95")
        values, deviations = self._filled(X, True)
        reach = float(scipy.special.ndtri(0.5 + level / 2)) * deviations
        middle = np.where(np.isinf(deviations), 0.0, values)  # where nothing is expected, anything may be
        return self._like(X, middle - reach), self._like(X, middle + reach)

    def draw_missing(self, X: Any, random_state: Any = None) -> Any:
        """Rows (n, p) with what is missing drawn from its joint distribution given what was observed.

        Unlike expected values, draws vary as much as the entries do, as multiple imputation needs it. Loadings that are
        uncertain (n_components="ard") are drawn too, once for all rows.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).
        random_state : int, Generator, RandomState or None
            For the draws; None is a fixed seed.

        Returns
        -------
        array or frame
            (n, p), a frame where X is one.
        """
        check_is_fitted(self)
        parameters.check_seed(type(self).__name__, random_state)
        source, rng = self._opened(X, reset=False).unweighted(), np.random.default_rng(seed_of(random_state))
        model, dtype = RowModel.of(self.fit_).drawn(rng), working_dtype(source.dtype)
        with naming_all_missing(source, only_infinite=True):
            rows = [latent_rows.draw_rows(block, model, rng, dtype) for block in source.blocks()]
        return self._like(X, np.concatenate(rows))

    def _filled(self, X: Any, with_deviations: bool) -> tuple[Any, Any]:
        check_is_fitted(self)
        source, model = self._opened(X, reset=False).unweighted(), RowModel.of(self.fit_)
        p, dtype = source.n_columns, working_dtype(source.dtype)
        if not with_deviations:
            return _mapped(source, partial(latent_rows.fill_rows, model=model, dtype=dtype), p, dtype), None
        work = partial(latent_rows.fill_rows_with_deviations, model=model, dtype=dtype)
        both = _mapped(source, work, 2 * p, dtype)
        return both[:, :p], both[:, p:]

    def _deviations(self, source: Source) -> Floats:
        """(n, p) standard deviations of what fills the holes of rows."""
        return latent_rows.missing_deviations(source, self.fit_)

    def _like(self, X: Any, rows: Any) -> Any:
        """Rows as a frame, if they came as one."""
        kind, columns = frame_kind(X), self.fit_.columns
        return rows if kind is None or columns is None else scores_table(kind, list(columns), rows, like=X)

    # -- densities ------------------------------------------------------------------------------------------------

    def score_samples(self, X: Any) -> Any:
        """(n,) log-likelihood of what was observed of each row, at the loadings found; lazy for dask's data.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).

        Returns
        -------
        array
            (n,)
        """
        check_is_fitted(self)
        source, model = self._opened(X, reset=False).unweighted(), RowModel.of(replace(self.fit_, spread=None))
        return _mapped(source, partial(latent_rows.log_densities, model=model), 1, np.float64)[:, 0]

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Floats:
        """(n_samples, p) rows drawn from the model at the loadings found, in the data's units.

        Parameters
        ----------
        n_samples : int
            How many rows.
        random_state : int, Generator, RandomState or None
            For the draws; None is a fixed seed.

        Returns
        -------
        array
            (n_samples, p)
        """
        check_is_fitted(self)
        name = type(self).__name__
        parameters.whole(name, "n_samples", n_samples, 1, None)
        parameters.check_seed(name, random_state)
        fit, rng = self.fit_, np.random.default_rng(seed_of(random_state))
        z = rng.standard_normal((n_samples, fit.k))
        noise = np.sqrt(fit.noise) * rng.standard_normal((n_samples, len(fit.mean)))
        return np.asarray(fit.mean + z @ fit.axes(whiten=True) + noise * fit.undo_gain)

    # -- inside ---------------------------------------------------------------------------------------------------

    def _by_em(self, X: Any, source: Source, task: LatentTask) -> LatentFit:
        path = None if self.checkpoint is None else os.fspath(self.checkpoint)
        if path is not None and os.path.exists(path):
            begun = resume(source, read_checkpoint(path), task)
        else:
            begun = begin(source, task)
        if task.may_be_closed and begun.observed.complete:  # the number of components had to be found first
            found = fit_closed(source, None, replace(task, n_components=begun.search.model.k), self.memory)
            assert found is not None
            return replace(found, provenance=replace(found.provenance, reason=begun.reason))
        if task.solver == "closed":
            raise name_missing_values(begun.observed, source)
        last = begun

        def keep(state: Progress) -> None:
            nonlocal last
            last = state
            if path is not None:
                write_checkpoint(path, state)

        try:
            return fit_by_em(source, task, begun, keep)
        except Interrupted as stop:
            stop.model = self._part(X, source, last) if last.search.best is not None else None
            raise

    def _part(self, X: Any, source: Source, last: Progress) -> ProbabilisticPCA:
        """The model as far as an interrupted fit had come."""
        part: ProbabilisticPCA = self.__sklearn_clone__()
        part.__dict__.update({k: v for k, v in self.__dict__.items() if k not in part.__dict__})
        part._remember(X, source)
        part._record = make_record(source, last, self.random_state)
        part.begun_ = last
        return part

    def _opened(self, X: Any, reset: bool) -> Source:
        source = super()._opened(X, reset)
        return UnstoredMissing(source) if source.sparse and self.unstored == "missing" else source


def _mapped(source: Source, work: Callable[[Block], NDArray[Any]], width: int, dtype: Any) -> Any:
    """What a function of blocks makes of all rows; if some are infinite, an error that counts them all."""
    with naming_all_missing(source, only_infinite=True), warning_of_empty_rows(source) as watched:
        return watched.map_rows(work, width, dtype)
