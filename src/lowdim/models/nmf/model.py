"""Non-negative matrix factorisation."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from lowdim.errors import BadInput, WrongShape
from lowdim.matrices.convert import read_weights
from lowdim.matrices.empty_rows import warning_of_empty_rows
from lowdim.matrices.preparation import dense, working_dtype
from lowdim.models.base.estimator import Assignable, RecordedModel
from lowdim.models.base.fitting import refuse_one_pass
from lowdim.models.base.output import table_by_name
from lowdim.models.base.parameters import (
    Bytes,
    Count,
    Jobs,
    Needed,
    Number,
    NumberFrom0,
    Option,
    Range,
    Seed,
    Unstored,
    WholeFrom0,
)
from lowdim.models.base.prompt import Prompt
from lowdim.models.base.scikit_learn import Takes, check_is_fitted
from lowdim.models.base.uncertainty import Unsure
from lowdim.models.nmf.count import best_count, choice_of
from lowdim.models.nmf.figures import NonNegativePlots
from lowdim.models.nmf.fit import fit_in_memory, parts_record, warn_of_more
from lowdim.models.nmf.fit_streamed import fit_by_passes, next_batch
from lowdim.models.nmf.loss import Penalty
from lowdim.models.nmf.plan import ASSUMED_PARTS, plan_nmf
from lowdim.models.nmf.record import NonNegativeFit
from lowdim.models.nmf.rows import checked_shape, rows_of
from lowdim.models.nmf.settings import OWNER, NmfTask, task_of
from lowdim.models.nmf.solvers.codes import codes
from lowdim.models.nmf.tables import TABLES
from lowdim.results.table import Table
from lowdim.runtime.memory import budget_of
from lowdim.runtime.progress import ROW, expect
from lowdim.runtime.threads import at_most_threads
from lowdim.sources.open import open_source
from lowdim.sources.source import Block, Source
from lowdim.types import Floats
from lowdim.views.text.facts import PlanFacts

CLOSER = 0.01
"""KKT residual of each row's codes, as a share of `tol`: sweeps over a row are cheap, and codes then hardly depend on
where they began."""


class NMF(Unsure, RecordedModel[NonNegativeFit]):
    """Parts that rows are made of: X ≈ W H, in which nothing is negative.

    scikit-learn's parameters and attributes mean here what they mean there. The search ends where the conditions of a
    solution hold (Karush, Kuhn and Tucker), not where a step was small, and `transform` solves its problem to the same
    tolerance, so that it gives the training rows the codes of `fit_transform`.

    Parameters
    ----------
    n_components : int, "held_out" or "auto"
        Number of parts; "held_out" takes the number that predicts hidden entries best, "auto" as many as there are
        columns (or rows of H).
    init : {"random", "nndsvd", "nndsvda", "nndsvdar", "custom"} or None
        Where to begin. None is "nndsvda" where there are as many components, otherwise "random".
    solver : {"auto", "cd", "hals", "newton", "mu"}
        "cd" and "hals": least squares, part by part; "newton": Kullback–Leibler divergence, by Newton steps for one
        number after the other; "mu": the lecture's multiplicative updates, for any β. `explain` says what "auto"
        chose, and why.
    beta_loss : {"frobenius", "kullback-leibler", "poisson", "itakura-saito"} or float
        What is minimised: half the squared error, the Kullback–Leibler divergence (a Poisson likelihood; both names),
        Itakura and Saito's, or the β-divergence.
    tol : float
        KKT residual at which to stop: 0 at a solution, 1 far from it, whatever the units.
    max_iter : int
        Steps at most; one updates both factors.
    random_state : int, Generator, RandomState or None
        For starts; None is a fixed seed.
    alpha_W, alpha_H : float, float or "same"
        Penalties of the codes for each column, and of the parts for each row, as in scikit-learn.
    l1_ratio : float
        Which share of them is on the sums of the entries; the rest is on half their squares.
    verbose, shuffle : ignored
        Accepted for scikit-learn's sake.
    n_init : int
        Starts. The best end is kept, and `stability_` says how alike the others are. All but the first are random.
    unstored : {"zero", "missing"}
        What entries of a sparse matrix are that it does not store.
    n_jobs : int or None
        Threads; None: as many as the BLAS may use.
    memory : int, str or None
        Most bytes that the process may hold while it fits; rows that do not fit stay on disk.

    References
    ----------
    Lee & Seung 1999, "Learning the parts of objects by non-negative matrix factorization"; Cichocki & Phan 2009 and
    Ang & Gillis 2019 for "hals"; Hsieh & Dhillon 2011 and Hien & Gillis 2021 for "newton"; Févotte & Idier 2011 for β.

    Examples
    --------
    >>> import numpy as np
    >>> import lowdim
    >>> parts = np.array([[1.0, 1, 0, 0], [0, 0, 1, 3]])
    >>> X = np.array([[1.0, 0], [0, 2], [3, 1], [2, 2]]) @ parts
    >>> model = lowdim.NMF(2).fit(X)
    >>> model.components_.round(3)
    array([[0.  , 0.  , 0.25, 0.75],
           [0.5 , 0.5 , 0.  , 0.  ]])
    >>> model.transform(X).round(2)
    array([[0., 2.],
           [8., 0.],
           [4., 6.],
           [8., 4.]])
    """

    score_name = "part"

    _choice: Table | None

    _prompt: ClassVar = Prompt(
        "auto",
        ("{fit} --loss kl", "the numbers are counts?"),
        no_scale="takes means off, and an NMF needs numbers from 0 as they are; leave it out",
    )

    _parts = ((ROW, 1.0), ("number of parts", 20.0), (ROW, 1.0), ("start", 10.0), ("refinement", 2.0), ("step", 20.0))

    def __init__(
        self,
        n_components: Annotated[
            Count | Literal["held_out", "auto"] | None,
            Needed("a whole number from 1, 'held_out', or 'auto' for as many as there are columns"),
            Option("keep", {"auto": "held_out"}, without={"held_out": "here it is called auto"}),
        ] = "auto",
        *,
        init: Literal["random", "nndsvd", "nndsvda", "nndsvdar", "custom"] | None = None,
        solver: Literal["auto", "cd", "hals", "newton", "mu"] = "auto",
        beta_loss: Annotated[
            Literal["frobenius", "kullback-leibler", "poisson", "itakura-saito"] | Number,
            Needed(
                "one of 'frobenius', 'kullback-leibler', 'poisson', 'itakura-saito', or a number β from -100 to 100"
            ),
            Option(
                "loss",
                {"kl": "kullback-leibler"},
                needed="it must be kl, frobenius, kullback-leibler, poisson, itakura-saito, or a number β",
            ),
        ] = "frobenius",
        tol: NumberFrom0 = 1e-4,
        max_iter: Count = 1000,
        random_state: Seed = None,
        alpha_W: NumberFrom0 = 0.0,
        alpha_H: NumberFrom0 | Literal["same"] = "same",
        l1_ratio: Annotated[float, Range(0, 1)] = 0.0,
        verbose: Annotated[WholeFrom0 | bool, Needed("a whole number from 0, or True")] = 0,
        shuffle: bool = False,
        n_init: Count = 1,
        unstored: Unstored = "zero",
        n_jobs: Jobs = None,
        memory: Bytes = None,
    ):
        self.n_components = n_components
        self.init = init
        self.solver = solver
        self.beta_loss = beta_loss
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.alpha_W = alpha_W
        self.alpha_H = alpha_H
        self.l1_ratio = l1_ratio
        self.verbose = verbose
        self.shuffle = shuffle
        self.n_init = n_init
        self.unstored = unstored
        self.n_jobs = n_jobs
        self.memory = memory

    # -- fitting --------------------------------------------------------------------------------------------------

    def fit(
        self, X: Any, y: Any = None, W: Any = None, H: Any = None, sample_weight: Any = None, entry_weight: Any = None
    ) -> NMF:
        """Find the parts of the rows of X, (n, p), in which nothing is negative; NaN is missing.

        Parameters
        ----------
        X : array, sparse matrix, frame, dask data, path, iterator of row blocks or Source
            Rows, (n, p); what `lowdim.open` takes.
        y : ignored
        W, H : arrays of shapes (n, k) and (k, p)
            Where init="custom" begins.
        sample_weight : array of shape (n,)
            How often each row counts: 2 means twice.
        entry_weight : array or sparse matrix of shape (n, p)
            How much each entry counts; 0, or False of a mask, means that it is missing.

        Returns
        -------
        NMF
            The model itself.
        """
        source = self._opened(X, reset=True)
        task = task_of(self, source.n_columns, W, H)
        weights = checked_shape(entry_weight, source)
        if sample_weight is not None:
            counted = read_weights(source, sample_weight)
            source = source.with_weights(counted)
            if not counted.all():  # such rows are left out
                used = counted > 0
                task = replace(task, W=None if W is None else np.asarray(W)[used])
                weights = None if weights is None else weights[used]
        with at_most_threads(OWNER, self.n_jobs):
            self._record = self._fitted(source, task, weights)
        self._remember(X, source)
        return self

    def _fitted(self, source: Source, task: NmfTask, entry_weight: Any) -> NonNegativeFit:
        plan = plan_nmf(source, task, task.k or ASSUMED_PARTS, budget_of(OWNER, self.memory), entry_weight is not None)
        if entry_weight is not None and not plan.in_memory:
            raise BadInput(
                f"entry_weight was given for {source.describe()}, whose rows are read block by block: pass an array, "
                "or NaN for what is missing."
            )
        counted = [("number of parts", 20.0)] if task.k is None else []
        passes = [(ROW, 1.0), (ROW, 1.0), ("start", 2.0), ("step", 20.0)]
        expect([*counted, *([("start", 10.0), ("refinement", 1.0)] if plan.in_memory else passes)])
        self._choice = choice_of(source, task, plan.in_memory, entry_weight) if task.k is None else None
        k = task.k if self._choice is None else best_count(self._choice)
        assert k is not None
        warn_of_more(k, plan.source)
        if plan.in_memory:
            return fit_in_memory(plan.source, task, k, entry_weight, plan.room)
        return fit_by_passes(plan.source, task, k)

    def fit_transform(
        self, X: Any, y: Any = None, W: Any = None, H: Any = None, sample_weight: Any = None, entry_weight: Any = None
    ) -> Any:
        """Fit, and give the codes (n, k) of the same rows.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).
        y : ignored
        W, H : arrays of shapes (n, k) and (k, p), or None
            Where init="custom" begins.
        sample_weight : array of shape (n,) or None
            How often each row counts: 2 means twice.
        entry_weight : array or sparse matrix of shape (n, p), or None
            How much each entry counts.

        Returns
        -------
        array
            (n, k) codes, as `transform` gives them.
        """
        refuse_one_pass(X)
        return self.fit(X, y, W, H, sample_weight, entry_weight).transform(X, entry_weight)

    def partial_fit(self, X: Any, y: Any = None, W: Any = None, H: Any = None, sample_weight: Any = None) -> NMF:
        """Go on with a batch of rows, which is seen once and not kept; the first is fitted as if it were all.

        `H` (k, p) is where init="custom" begins, at the first batch.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).
        y : ignored
        W : ignored
        H : array of shape (k, p) or None
            Where init="custom" begins.
        sample_weight : array of shape (n,) or None
            How often each row counts: 2 means twice.

        Returns
        -------
        NMF
            The model itself.
        """
        before = self.fit_ if self.__sklearn_is_fitted__() else None
        source = self._opened(X, reset=before is None)
        task = task_of(self, source.n_columns, W, H)
        if sample_weight is not None:
            source = source.with_weights(read_weights(source, sample_weight))
        with at_most_threads(OWNER, self.n_jobs):
            self._record = next_batch(source, task, before)
        self._remember(X, source)
        return self

    def _plan_facts(self, source: Source) -> PlanFacts:
        task = task_of(self, source.n_columns)
        return plan_nmf(source, task, task.k or ASSUMED_PARTS, budget_of(OWNER, self.memory)).facts(task)

    @property
    def plot(self) -> NonNegativePlots:
        """Figures of this fit: `model.plot.parts()`, `model.plot.gallery()`, …"""
        return NonNegativePlots(self)

    def _deviations(self, source: Source) -> None:
        """Parts do not say how sure they are of what fills a hole."""

    # -- attributes, with scikit-learn's names --------------------------------------------------------------------

    @Assignable
    def components_(self) -> Floats:
        """(k, p) the parts H, largest first; their entries add up to one unless a penalty fixes their size."""
        return self.fit_.components

    @Assignable
    def reconstruction_err_(self) -> float:
        """√(2 loss), as scikit-learn measures: for the Frobenius loss the norm of X − W H."""
        return self.fit_.error

    @Assignable
    def n_iter_(self) -> int:
        """Steps that were made."""
        return self.fit_.descent.steps

    def _assign(self, name: str, value: Any) -> None:
        """Keep it; the record is made of it when it is needed."""
        self._keep_assigned(name, value)
        if name == "components_" and not hasattr(self, "n_features_in_") and np.ndim(value) == 2:
            self.n_features_in_: int = int(np.shape(value)[1])

    # -- read-outs ------------------------------------------------------------------------------------------------

    @property
    def kkt_residual_(self) -> float:
        """How far from a solution the factors are: 0 where all conditions of one hold, at most 1."""
        return self.fit_.descent.residual

    @property
    def loss_path_(self) -> Floats:
        """What was minimised, wherever the solver looked."""
        return self.fit_.descent.path

    @property
    def explained_deviance_(self) -> float:
        """Share of the divergence from the columns' means that the parts explain."""
        return self.fit_.explained

    @property
    def sparseness_(self) -> Floats:
        """(k,) Hoyer's sparseness of each part."""
        return self.fit_.sparseness

    @property
    def code_sparseness_(self) -> Floats:
        """(k,) Hoyer's sparseness of each part's codes, over the training rows."""
        return self.fit_.codes.sparseness

    @property
    def stability_(self) -> Floats | None:
        """(k,) mean cosine of each part with its counterpart from other starts; None after a single start."""
        return self.fit_.stability

    @property
    def consensus_(self) -> float | None:
        """How far all starts put the same rows together (cophenetic correlation, Brunet et al. 2004): 1 is clear."""
        return self.fit_.consensus

    @property
    def choice_(self) -> Table | None:
        """What n_components="held_out" compared: numbers of parts, and the loss of hidden entries; not in files."""
        return getattr(self, "_choice", None)

    # -- rows to codes and back -----------------------------------------------------------------------------------

    def transform(self, X: Any, entry_weight: Any = None) -> Any:
        """Codes of rows, (n, k): how much of each part is in a row.

        `entry_weight` (n, p) says how much each entry counts, as in `fit`; NaN is missing. Of a dask array or frame
        codes are a lazy dask array, in the same row chunks.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).
        entry_weight : array or sparse matrix of shape (n, p), or None
            How much each entry counts.

        Returns
        -------
        array
            (n, k), of the library that X is an array of; a frame if `set_output` asked for one.
        """
        check_is_fitted(self)
        return self._as_frame(X, self._scores(X, entry_weight))

    def _scores(self, X: Any, entry_weight: Any = None) -> Any:
        source = self._opened(X, reset=False).unweighted()
        weights = checked_shape(entry_weight, source)
        work = partial(codes_of_block, fit=self.fit_, unstored=self.unstored, entry_weight=weights)
        with at_most_threads("NMF", self.n_jobs), warning_of_empty_rows(source) as watched:
            return watched.map_rows(work, self.fit_.k, working_dtype(source.dtype))

    def inverse_transform(self, X: Any) -> Any:
        """Rows (n, p) made of the parts by codes (n, k); lazy for dask's codes.

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
                f"The codes have {source.n_columns} columns, but this model has {self.fit_.k} parts: pass what "
                "transform gave."
            )
        work = partial(rows_of_codes, parts=self.fit_.components)
        return source.map_rows(work, self.fit_.n_columns, working_dtype(source.dtype))

    # -- looking --------------------------------------------------------------------------------------------------

    def table(self, name: str, X: Any = None) -> Any:
        """A table by name, as a frame of the kind the model was fitted on (a plain Table for arrays).

        Parameters
        ----------
        name : {"parts", "components", "loss", "scores", "choice"}
            "parts" has for each its share of all that is fitted, its sparseness and that of its codes; "components"
            are the parts themselves, by column; "loss" is the path of the search; "scores" are the codes of X;
            "choice" is what "held_out" compared.
        X : whatever `transform` takes, or None
            Rows, (n, p), for tables about them.

        Returns
        -------
        frame, or Table
            A frame of the kind that X is, or that the model was fitted on; a Table for arrays.
        """
        return table_by_name(self, TABLES, name, X)

    # -- inside ---------------------------------------------------------------------------------------------------

    def _with_assigned(self, record: NonNegativeFit | None) -> NonNegativeFit:
        return parts_record(record, self._assigned, partial(task_of, self))

    @property
    def _takes(self) -> Takes:
        return Takes(missing=True, negative=False)


def codes_of_block(block: Block, fit: NonNegativeFit, unstored: str, entry_weight: Any = None) -> Floats:
    """(n, k) codes of a block's rows."""
    end = block.start + block.rows.shape[0]
    weights = None if entry_weight is None else entry_weight[block.start : end]
    given = fit.penalties
    penalty = Penalty.of((1, fit.n_columns), given.alpha_W, given.alpha_H, given.l1_ratio)
    rows = rows_of(block.rows, None, fit.loss_function, unstored, weights)
    return codes(rows.problem(fit.loss_function, penalty), fit.components, CLOSER * fit.descent.tol).W


def rows_of_codes(block: Block, parts: Floats) -> Floats:
    """(n, p) rows of a block's codes."""
    return np.asarray(dense(block.rows) @ parts)
