"""Probabilistic principal component analysis."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from sklearn.base import clone

from lowdim.errors import BadParameter, Interrupted, MissingValues
from lowdim.matrices.convert import fits, in_memory, relative_spacing, row_weights
from lowdim.matrices.scaling import Scaling
from lowdim.models.base import parameters
from lowdim.models.base.parameters import Bytes, LatentSolver, Seed, Unstored, Whole
from lowdim.models.linear.fit import fit_linear
from lowdim.models.linear.plan import counted, plan_fit
from lowdim.models.probabilistic_pca.checkpoint import read_checkpoint, write_checkpoint
from lowdim.models.probabilistic_pca.count import RULES, refuse_small
from lowdim.models.probabilistic_pca.fit import (
    SOLVER,
    Begun,
    LatentTask,
    begin,
    closed_form,
    fit_by_em,
    go_on,
    holes_of,
    least_bic,
    memory_needed,
    record,
    within,
)
from lowdim.models.probabilistic_pca.fitted_model import LatentModel
from lowdim.models.probabilistic_pca.record import LatentFit
from lowdim.results.certificate import Accuracy
from lowdim.runtime.memory import budget_of
from lowdim.solvers.lanczos import BlockLanczos
from lowdim.sources.source import Source
from lowdim.sources.views_of_rows import UnstoredMissing, as_counts
from lowdim.words import printable

SOLVERS = ("auto", "closed", "em", "lecture")


class ProbabilisticPCA(LatentModel):
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

    def __init__(
        self,
        n_components: Whole | Literal["auto", "bic", "ard"] = "auto",
        *,
        scale: Any = False,
        solver: LatentSolver = "auto",
        w_precision: float = 0.0,
        noise_variance: float | None = None,
        tol: float = 1e-6,
        max_iter: int = 1000,
        unstored: Unstored = "zero",
        checkpoint: Any = None,
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
        source = counted(self._opened(X, reset=True), budget)
        task = self._task(source.n_columns)
        weighted = source
        if sample_weight is not None:
            sample_weight = row_weights(source, sample_weight)
            if isinstance(task.n_components, str):  # rules reckon with the number of rows
                sample_weight = as_counts(sample_weight)
            weighted = source.with_weights(sample_weight)
        fit = self._closed(source, sample_weight, task) if task.may_be_closed and task.n_components != "auto" else None
        if fit is None:
            if sample_weight is None and fits(source, None if budget is None else budget.room):
                weighted = in_memory(source)  # EM reads the rows again and again
            fit = self._by_em(X, within(weighted, task, budget), task)
        self._remember(X, source)
        self._record = fit
        return self

    @printable
    def explain(self, X: Any = None) -> str:
        """What the fit did, or with X what a fit of X would do.

        Parameters
        ----------
        X : whatever `fit` takes, or None
            Rows that a fit would be made of; None: say what the fit did.

        Returns
        -------
        str
            A few lines.
        """
        from lowdim.views.text.explain import PlanFacts, explain_plan

        if X is None:
            return self._story()
        source = self._to_be_fitted(X)
        task, budget = self._task(source.n_columns), budget_of("ProbabilisticPCA", self.memory)
        k = task.most_components(source.n_columns)
        size = None if source.n_rows is None else source.n_rows * source.n_columns * source.dtype.itemsize
        facts = PlanFacts(
            data=source.describe(),
            bytes=None if source.sparse else size,
            keep=f"{task.n_components}" if isinstance(task.n_components, str) else f"{k} component{'s' * (k != 1)}",
            solver=SOLVER,
            reason="rows may have holes; without any, the closed form is used" if task.may_be_closed else "asked for",
            read=f"2 passes, and one in each of up to {task.steps} steps over the rows",
            memory=memory_needed(source.n_rows, source.n_columns, k),
            limit=None if budget is None else budget.limit,
            accuracy=f"until two steps gain no more than {task.tol:.0e} of log-likelihood a row",
        )
        return explain_plan(facts)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    # -- inside ---------------------------------------------------------------------------------------------------

    def _task(self, p: int) -> LatentTask:
        """The settings, checked."""
        name = "ProbabilisticPCA"
        parameters.check_seed(name, self.random_state)
        if self.solver not in SOLVERS:
            raise BadParameter.of(name, "solver", self.solver, f"one of {', '.join(map(repr, SOLVERS))}")
        if self.unstored not in ("zero", "missing"):
            raise BadParameter.of(name, "unstored", self.unstored, "'zero' or 'missing'")
        if self.n_components not in RULES or not isinstance(self.n_components, str):
            parameters.whole(name, "n_components", self.n_components, 1, max(1, p - 1), ", 'auto', 'bic' or 'ard'")
        parameters.real(name, "w_precision", self.w_precision, 0.0)
        if self.n_components == "ard" and self.w_precision > 0:
            raise BadParameter.of(name, "w_precision", self.w_precision, "0, as n_components='ard' learns precisions")
        if self.solver == "closed" and (self.n_components == "ard" or self.w_precision > 0):
            raise BadParameter.of(name, "solver", "closed", "'auto' or 'em', as a prior has no closed form")
        if self.checkpoint is not None and not isinstance(self.checkpoint, (str, os.PathLike)):
            raise BadParameter.of(name, "checkpoint", self.checkpoint, "None or the path of a file")
        parameters.real(name, "tol", self.tol, 0.0)
        parameters.whole(name, "max_iter", self.max_iter, 1, None)
        if self.noise_variance is not None:
            parameters.real(name, "noise_variance", self.noise_variance, np.finfo(float).tiny)
        scaling = parameters.scaling_of(name, True, self.scale, None, 0, p, 0.0)
        return LatentTask(
            n_components=self.n_components if isinstance(self.n_components, str) else int(self.n_components),
            alpha=float(self.w_precision),
            noise=None if self.noise_variance is None else float(self.noise_variance),
            solver=self.solver,
            tol=float(self.tol),
            steps=int(self.max_iter),
            scale=scaling.scale,
            seed=self.random_state,
        )

    def _closed(self, source: Source, sample_weight: Any, task: LatentTask) -> LatentFit | None:
        """PCA, and the model behind it; None if values are missing and EM may be used instead."""
        k = task.n_components
        rows = source.n_rows if sample_weight is None else int((sample_weight > 0).sum())
        if rows is not None:
            refuse_small(source, rows, k)
        try:
            plan = plan_fit(
                "ProbabilisticPCA",
                source,
                sample_weight,
                None if k == "bic" else k,
                "auto",
                BlockLanczos(),
                budget_of("ProbabilisticPCA", self.memory),
            )
            spacing = relative_spacing(source.dtype)
            scaling = Scaling(True, task.scale, None, 0, spacing)
            fit = fit_linear(plan.matrix(scaling), plan.keep, plan.choice, Accuracy(), self.random_state).fit
        except MissingValues:
            if task.solver == "closed":
                raise
            return None
        refuse_small(source, fit.n_rows, k)  # rows of a stream are counted by reading them
        if k == "bic":
            return self._closed(source, sample_weight, replace(task, n_components=least_bic(fit)))
        return closed_form(fit, task.noise)

    def _by_em(self, X: Any, source: Source, task: LatentTask) -> LatentFit:
        path = None if self.checkpoint is None else os.fspath(self.checkpoint)
        if path is not None and os.path.exists(path):
            begun = go_on(source, read_checkpoint(path), task)
        else:
            begun = begin(source, task)
        if task.may_be_closed and begun.observed.complete:  # the number of components had to be found first
            found = self._closed(source, None, replace(task, n_components=begun.search.model.k))
            assert found is not None
            return replace(found, provenance=replace(found.provenance, reason=begun.reason))
        if task.solver == "closed":
            raise holes_of(begun.observed, source)
        last = begun

        def keep(state: Begun) -> None:
            nonlocal last
            last = state
            if path is not None:
                write_checkpoint(path, state)

        try:
            return fit_by_em(source, task, begun, keep)
        except Interrupted as stop:
            stop.model = self._part(X, source, last) if last.search.best is not None else None
            raise

    def _part(self, X: Any, source: Source, last: Begun) -> ProbabilisticPCA:
        """The model as far as an interrupted fit had come."""
        part: ProbabilisticPCA = clone(self)
        part.__dict__.update({k: v for k, v in self.__dict__.items() if k not in part.__dict__})
        part._remember(X, source)
        part._record = record(source, last, self.random_state)
        part.begun_ = last
        return part

    def _opened(self, X: Any, reset: bool) -> Source:
        source = super()._opened(X, reset)
        return UnstoredMissing(source) if source.sparse and self.unstored == "missing" else source
