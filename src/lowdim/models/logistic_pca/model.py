"""Logistic principal component analysis, and its sisters for counts and numbers."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, ClassVar, Literal

from lowdim.errors import WrongShape
from lowdim.matrices.convert import fits_in_memory, load_rows, read_weights
from lowdim.matrices.empty_rows import warning_of_empty_rows
from lowdim.matrices.preparation import working_dtype
from lowdim.models.base.estimator import RecordedModel
from lowdim.models.base.fitting import fit_transform_weighted
from lowdim.models.base.output import table_by_name
from lowdim.models.base.parameters import (
    CHECKED_BY_FIT,
    Bytes,
    Count,
    NumberAbove0,
    NumberFrom0,
    Option,
    Seed,
    Unstored,
)
from lowdim.models.base.prompt import Prompt
from lowdim.models.base.scikit_learn import Takes, check_is_fitted
from lowdim.models.linear.fit import load_to_count
from lowdim.models.logistic_pca.figures import LogisticPlots
from lowdim.models.logistic_pca.fit import SOLVER, STEPS_A_PASS, estimate_memory, fit_logistic, limit_blocks
from lowdim.models.logistic_pca.record import OPTIMAL, LogisticFit
from lowdim.models.logistic_pca.rows import Deviances, deviances, fill_block, means_of_codes, scores_of_block
from lowdim.models.logistic_pca.settings import OWNER, task_of
from lowdim.models.logistic_pca.tables import TABLES
from lowdim.runtime.memory import budget_of
from lowdim.runtime.progress import ROW
from lowdim.sources.open import open_source
from lowdim.sources.source import Source
from lowdim.sources.wrapped import UnstoredMissing
from lowdim.types import Floats
from lowdim.views.text.facts import PlanFacts


class LogisticPCA(RecordedModel[LogisticFit]):
    """Principal components of coins, grey values or counts: PCA in the space of their natural parameters.

    Each entry is drawn with the parameter θ = bias + z · axes of its row's codes z: a coin of chance 1 / (1 + e^−θ)
    (also a grey value between 0 and 1), a count of mean e^θ, or a number of mean θ, for which all of this is PCA. So
    what is said of an entry stays between 0 and 1, or above 0, and an error near a bound counts for more.

    Parameters
    ----------
    n_components : int
        Axes.
    family : {"bernoulli", "poisson", "gaussian"}
        What entries are: numbers from 0 to 1, counts, or numbers of either sign.
    encoder : {"optimal", "linear", "projection"}
        How a row gets its codes. "optimal": the best ones, of a convex problem with one solution for each row;
        "linear": a matrix learnt together with the axes, as Hinton & Salakhutdinov 2006 do, so that codes are one
        product and not as good; "projection": that of Landgraf & Lee 2020, axes on which the parameters ±m of a perfect
        fit are projected.
    ridge : float or "auto"
        Penalty of the sum of the singular values of θ − bias. It keeps parameters finite where rows or columns can be
        told without error. "auto" is 0.1, and 0 for the Gaussian family. Not used by "projection".
    m : float or "held_out"
        Of "projection": how large parameters may become; "held_out" takes the best of a few for rows left out.
    tol : float
        It ends when two passes in a row gain no more than this share of the deviance; with linear codes, when five
        steps of L-BFGS gain no more than a tenth of it each.
    max_iter : int
        Passes over the rows, at most; with linear codes five times as many steps of L-BFGS.
    unstored : {"zero", "missing"}
        What the entries are that a sparse matrix does not store.
    random_state : int, Generator, RandomState or None
        For rows that are drawn where values are missing or left out; None is a fixed seed.
    memory : int, str or None
        Most bytes that the process may hold while it fits ("512MB").

    Notes
    -----
    Missing values (NaN) are left out, not filled; `impute` says what they probably were. A column that does not vary
    gets no loadings, and where all its entries lie on one bound the bias of half an entry off it.

    References
    ----------
    Collins, Dasgupta & Schapire 2001, "A generalization of principal component analysis to the exponential family";
    Schein, Saul & Ungar 2003; Landgraf & Lee 2020, "Dimensionality reduction for binary data through the projection of
    natural parameters"; Hinton & Salakhutdinov 2006, "Reducing the dimensionality of data with neural networks".

    Examples
    --------
    >>> import numpy as np
    >>> import lowdim
    >>> rng = np.random.default_rng(0)
    >>> axis = np.linspace(-2, 2, 40)
    >>> theta = np.outer(rng.normal(size=300), axis)
    >>> X = (rng.random(theta.shape) < 1 / (1 + np.exp(-theta))).astype(float)
    >>> model = lowdim.LogisticPCA(1).fit(X)
    >>> cosine = abs(model.components_[0] @ axis) / np.linalg.norm(axis)
    >>> bool(cosine > 0.98)
    True
    >>> chances = model.inverse_transform(model.transform(X))
    >>> bool(((chances > 0) & (chances < 1)).all())
    True
    """

    _prompt: ClassVar = Prompt(
        "2",  # a plane, which can be looked at
        ("lowdim fit {same} --keep {k}", "what PCA keeps in as many"),
        no_scale="takes means off, and logistic PCA needs values as they are; leave it out",
    )

    _parts = ((ROW, 1.0), (ROW, 1.0), ("step", 20.0), (ROW, 2.0))

    def __init__(
        self,
        n_components: Annotated[
            Count, CHECKED_BY_FIT, Option("keep", needed="a logistic PCA needs a whole number of components, from 1")
        ] = 2,
        *,
        family: Annotated[Literal["bernoulli", "poisson", "gaussian"], Option()] = "bernoulli",
        encoder: Literal["optimal", "linear", "projection"] = "optimal",
        ridge: NumberFrom0 | Literal["auto"] = "auto",
        m: NumberAbove0 | Literal["held_out"] = 4.0,
        tol: NumberFrom0 = 1e-4,
        max_iter: Count = 200,
        unstored: Unstored = "zero",
        random_state: Seed = None,
        memory: Bytes = None,
    ):
        self.n_components = n_components
        self.family = family
        self.encoder = encoder
        self.ridge = ridge
        self.m = m
        self.tol = tol
        self.max_iter = max_iter
        self.unstored = unstored
        self.random_state = random_state
        self.memory = memory

    # -- fitting --------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> LogisticPCA:
        """Find the axes of the rows of X, (n, p); NaN is missing. `sample_weight` (n,) counts rows: 2 means twice.

        Parameters
        ----------
        X : array, sparse matrix, frame, dask data, path, iterator of row blocks or Source
            Rows, (n, p); what `lowdim.open` takes.
        y : ignored
        sample_weight : array of shape (n,) or None
            How often each row counts: 2 means twice.

        Returns
        -------
        LogisticPCA
            The model itself.
        """
        budget = budget_of(OWNER, self.memory)
        source = load_to_count(self._opened(X, reset=True), budget)
        task = task_of(self, source.n_columns)
        used = load_rows(source) if fits_in_memory(source, None if budget is None else budget.room) else source
        if sample_weight is not None:  # every pass reads the rows again, so they are put into memory first
            used = used.with_weights(read_weights(source, sample_weight))
        self._record = fit_logistic(*limit_blocks(used, task, budget))
        self._remember(X, source)
        return self

    fit_transform = fit_transform_weighted

    @property
    def plot(self) -> LogisticPlots:
        """Figures of this fit: `model.plot.scores(X)`, `model.plot.path()`, …"""
        return LogisticPlots(self)

    # -- attributes -----------------------------------------------------------------------------------------------

    @property
    def components_(self) -> Floats:
        """(k, p) orthonormal axes in the space of θ, that with the most spread first."""
        return self.fit_.components

    @property
    def _decoder_size(self) -> float:
        return self.components_.size + self.bias_.size

    @property
    def bias_(self) -> Floats:
        """(p,) θ of a row whose codes are 0."""
        return self.fit_.bias

    @property
    def spreads_(self) -> Floats:
        """(k,) standard deviation of each code over the training rows."""
        return self.fit_.spreads

    @property
    def deviance_(self) -> float:
        """Twice the log-likelihood that the training rows lose against a perfect fit."""
        return self.fit_.deviance

    @property
    def null_deviance_(self) -> float:
        """The same of a fit without axes, by the means of the columns."""
        return self.fit_.null_deviance

    @property
    def explained_deviance_(self) -> float:
        """Share of that deviance which the axes explain."""
        return self.fit_.explained

    @property
    def deviance_path_(self) -> Floats:
        """Deviance and twice the penalty, for every model that a pass accepted: it never rises."""
        return self.fit_.descent.path

    @property
    def m_(self) -> float | None:
        """Of a projection: how large parameters may become, as given or as held-out rows chose."""
        return self.fit_.m

    @property
    def converged_(self) -> bool:
        """Whether the search stood still."""
        return self.fit_.descent.converged

    @property
    def n_iter_(self) -> int:
        """Passes over the rows."""
        return self.fit_.descent.passes

    # -- rows to codes and back -----------------------------------------------------------------------------------

    def _scores(self, X: Any) -> Any:
        source = self._opened(X, reset=False).unweighted()
        work = partial(scores_of_block, fit=self.fit_, columns=source.columns)
        with warning_of_empty_rows(source) as watched:
            return watched.map_rows(work, self.fit_.k, working_dtype(source.dtype))

    def transform(self, X: Any) -> Any:
        """Codes of rows, (n, k), so that θ is bias_ + codes @ components_; NaN is missing. Lazy for dask's data.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).

        Returns
        -------
        array
            (n, k), of the library that X is an array of; a frame if `set_output` asked for one.
        """
        return super().transform(X)

    def inverse_transform(self, X: Any) -> Any:
        """Means (n, p) of codes (n, k): chances of coins, expected counts, or numbers. Lazy for dask's codes.

        Parameters
        ----------
        X : array, frame, dask data, path or Source
            Codes, (n, k), as `transform` gives them.

        Returns
        -------
        array
            (n, p)
        """
        check_is_fitted(self)
        source = open_source(X)
        if source.n_columns != self.fit_.k:
            raise WrongShape(
                f"The codes have {source.n_columns} columns, but this model has {self.fit_.k} "
                f"component{'s' * (self.fit_.k != 1)}: pass what "
                "transform gave."
            )
        return source.map_rows(partial(means_of_codes, fit=self.fit_), self.fit_.n_columns, working_dtype(source.dtype))

    def impute(self, X: Any) -> Any:
        """(n, p) the rows, with the mean that their codes stand for wherever a value is missing.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).

        Returns
        -------
        array
            (n, p)
        """
        check_is_fitted(self)
        source = self._opened(X, reset=False).unweighted()
        work = partial(fill_block, fit=self.fit_, columns=source.columns)
        return source.map_rows(work, self.fit_.n_columns, working_dtype(source.dtype))

    # -- looking --------------------------------------------------------------------------------------------------

    def deviances(self, X: Any) -> Deviances:
        """Deviances of rows, also new ones: without axes, and with the first 1, …, k, each time with its own codes.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).

        Returns
        -------
        array
            (k + 1,)
        """
        check_is_fitted(self)
        return deviances(self._opened(X, reset=False), self.fit_)

    def score(self, X: Any, y: Any = None) -> float:
        """Share of the deviance of rows, also new ones, that the axes explain: 1 is perfect.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).
        y : ignored

        Returns
        -------
        float
        """
        check_is_fitted(self)
        found = deviances(self._opened(X, reset=False), self.fit_, (0, self.fit_.k))
        return float(found.explained[-1])

    def table(self, name: str, X: Any = None) -> Any:
        """A table by name, as a frame of the kind the model was fitted on (a plain Table for arrays).

        Parameters
        ----------
        name : {"components", "axes", "deviance", "path", "scores"}
            "components" are the axes by column, with the bias; "axes" has the spread of each; "deviance" what the first
            1, …, k axes explain of the rows X, and "scores" their codes; "path" is that of the search.
        X : whatever `transform` takes, or None
            Rows, (n, p), for tables about them.

        Returns
        -------
        frame, or Table
            A frame of the kind that X is, or that the model was fitted on; a Table for arrays.
        """
        return table_by_name(self, TABLES, name, X)

    # -- inside ---------------------------------------------------------------------------------------------------

    @property
    def _takes(self) -> Takes:
        return Takes(missing=True, negative=self.family == "gaussian")

    def _opened(self, X: Any, reset: bool) -> Source:
        source = super()._opened(X, reset)
        return UnstoredMissing(source) if source.sparse and self.unstored == "missing" else source

    def _plan_facts(self, source: Source) -> PlanFacts:
        budget, n, p = budget_of(OWNER, self.memory), source.n_rows, source.n_columns
        task = task_of(self, p)
        return PlanFacts(
            data=source.describe(),
            bytes=None if n is None or source.sparse else n * p * source.dtype.itemsize,
            keep=f"{task.k} axes, {task.family.name} family, {task.encoder} codes",
            solver=SOLVER if task.encoder == OPTIMAL else "L-BFGS",
            reason=f"{task.encoder} codes were asked for",
            read=f"3 passes, and one in each of up to {task.steps * (1 if task.encoder == OPTIMAL else STEPS_A_PASS)} "
            "steps over the rows",
            memory=estimate_memory(n or 0, p, task, keep_codes=n is not None),
            limit=None if budget is None else budget.limit,
            accuracy=f"until two passes gain no more than {task.tol:.0e} of the deviance",
        )
