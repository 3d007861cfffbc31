"""How sure the numbers of a fitted model are: what every model that can say so offers, and how it is asked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadParameter
from lowdim.matrices.convert import read_weights
from lowdim.models import registry
from lowdim.models.base import parameters
from lowdim.models.base.output import make_table
from lowdim.models.base.scikit_learn import check_is_fitted
from lowdim.results.uncertainty import Uncertainty
from lowdim.runtime.progress import ROW, stage
from lowdim.sources.source import Source
from lowdim.words import column_names

EXCHANGEABLE = (
    "It assumes that rows are exchangeable: drawn one by one from one population. Of rows that hang together (a series "
    "in time, several rows of a person) it makes intervals that are too narrow."
)
"""What every bootstrap says of itself."""

KINDS = ("bootstrap", "asymptotic", "posterior")

SHARE = 0.9
"""Of the variance, if the model was not asked for another: how many components reach it is said with an interval."""


@dataclass(frozen=True)
class Question:
    """What is asked of a model, and of which rows."""

    model: Any
    source: Source
    """The rows that it was fitted on."""
    X: Any
    kind: str
    level: float
    count: int | None
    """Resamples; None: as many as are usual."""
    seed: int
    procrustes: bool
    share: float
    weight: NDArray[np.int64] | None
    """(n,) how often each row counts."""

    @property
    def rescaled(self) -> bool:
        """Whether the model divides columns by their own standard deviations."""
        return isinstance(self.model.scale, (bool, np.bool_)) and bool(self.model.scale)

    @property
    def name(self) -> str:
        """Of the model."""
        return type(self.model).__name__

    def answer(self, **known: Any) -> Uncertainty:
        """The record, with what is the same in all of them."""
        fit, model = self.model.fit_, self.model
        columns = column_names(fit)
        return Uncertainty(
            model=self.name,
            kind=self.kind,
            level=self.level,
            n_rows=fit.n_rows,
            n_columns=fit.n_columns,
            axes=tuple(model._axes),
            columns=tuple(columns),
            make=partial(make_table, getattr(model, "_frame_kind", None)),
            **known,
        )


class Unsure:
    """A model that says how sure its numbers are."""

    def uncertainty(
        self,
        X: Any,
        kind: str = "bootstrap",
        *,
        level: float = 0.95,
        n_resamples: int | None = None,
        random_state: Any = None,
        align: str = "sign",
        share: float | None = None,
        sample_weight: Any = None,
    ) -> Uncertainty:
        """Intervals for variances, shares, loadings, components, scores and the number of components.

        Parameters
        ----------
        X : the rows that the model was fitted on, (n, p)
        kind : {"bootstrap", "asymptotic", "posterior"}
            Rows drawn anew, which assumes no more than that they are exchangeable; the law of large samples of Gaussian
            rows (not of NMF); the posterior of the model (of ProbabilisticPCA).
        level : float
            Probability of each interval, one at a time.
        n_resamples : int or None
            Resamples of a bootstrap; None is 1,000, and 100 where each must be fitted by iteration (rows with holes,
            NMF).
        random_state : int, Generator, RandomState or None
            Which rows are drawn; None is a fixed seed. The same seed gives the same intervals on any number of threads.
        align : {"sign", "procrustes"}
            Axes of a resample stand in the order of its variances, and only signs are taken from those of all rows: if
            two components are nearly tied, intervals reach over their plane. "procrustes" turns all kept axes together
            towards those of all rows, for intervals of coordinates in the space that they span.
        share : float or None
            Of the variance: how many components reach it is said too. None: as `n_components` asked for, or 0.9.
        sample_weight : array of shape (n,) or None
            How often each row counts, as in `fit`: whole numbers.

        Returns
        -------
        Uncertainty, with `table(name)`, `explain()`, and arrays in `intervals`.

        References
        ----------
        Efron & Tibshirani 1993, "An introduction to the bootstrap"; Fisher, Caffo, Schwartz & Zipunnikov 2016, "Fast,
        exact bootstrap principal component analysis for p > 1 million"; Anderson 1963, "Asymptotic theory for principal
        component analysis"; Tipping & Bishop 1999 for the posterior.

        Examples
        --------
        >>> import lowdim
        >>> iris = lowdim.datasets.iris().values
        >>> model = lowdim.PCA(2).fit(iris)
        >>> sure = model.uncertainty(iris, n_resamples=200)
        >>> bool(sure.intervals["shares"].lower[0] < model.explained_variance_ratio_[0])
        True
        >>> sure.tied
        ()
        """
        question = self._asked(X, kind, level, n_resamples, random_state, align, share, sample_weight)
        file = registry.part_of(self, "uncertainty")
        assert file is not None  # every class that says how sure it is has one
        with stage("uncertainty", parts=[(ROW, 1.0), ("resample", 20.0), (ROW, 1.0)]):
            found: Uncertainty = file.answer(question)
        return found

    def _asked(
        self, X: Any, kind: Any, level: Any, count: Any, seed: Any, align: Any, share: Any, sample_weight: Any
    ) -> Question:
        """The question, checked."""
        check_is_fitted(self)
        name, model = type(self).__name__, self
        if not self.fit_.k:  # type: ignore[attr-defined]
            raise BadParameter.of(name, "n_components", 0, "at least 1, as intervals are those of components")
        if kind not in KINDS:
            raise BadParameter.of(name, "kind", kind, "'bootstrap', 'asymptotic' or 'posterior'")
        parameters.real(name, "level", level, 0.0)
        if not 0 < level < 1:
            raise BadParameter.of(name, "level", level, "a number between 0 and 1, such as 0.95")
        if count is not None:
            parameters.whole(name, "n_resamples", count, 10, None)
        parameters.check_seed(name, seed)
        if align not in ("sign", "procrustes"):
            raise BadParameter.of(name, "align", align, "'sign' or 'procrustes'")
        if share is not None:
            parameters.real(name, "share", share, 0.0)
            if not 0 < share <= 1:
                raise BadParameter.of(name, "share", share, "a share between 0 and 1, such as 0.9")
        else:
            asked = getattr(model, "n_components", None)
            share = asked if isinstance(asked, float) and asked <= 1 else SHARE
        source: Source = model._opened(X, reset=False)  # type: ignore[attr-defined]
        if not source.repeatable:
            raise BadInput("How sure a fit is takes its rows again and again: pass an array, or the path of a file.")
        if source.weighted:
            raise BadInput(
                f"{source.describe()} has a column of weights: open it without, and give sample_weight whole numbers, "
                "which count rows."
            )
        source.count_rows()
        weight = None if sample_weight is None else _counts(source, sample_weight)
        return Question(
            model=model,
            source=source.unweighted(),
            X=X,
            kind=str(kind),
            level=float(level),
            count=None if count is None else int(count),
            seed=_whole_seed(seed),
            procrustes=align == "procrustes",
            share=float(share),
            weight=weight,
        )


def _counts(source: Source, sample_weight: Any) -> NDArray[np.int64]:
    """Weights that count rows: only of whole rows can be said how many units there are to draw from."""
    weight = read_weights(source, sample_weight)
    counts = np.rint(weight).astype(np.int64)
    if (counts != weight).any():
        worst = int(np.flatnonzero(counts != weight)[0])
        raise BadInput(
            f"sample_weight holds {weight[worst]:g} at row {worst}, but how sure a fit is depends on how many rows "
            "there are: give whole numbers, which count rows, or leave sample_weight out."
        )
    return counts


def _whole_seed(random_state: Any) -> int:
    """A number that says which rows are drawn."""
    if random_state is None:
        return 0
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    parameters.whole("uncertainty", "random_state", random_state, 0, None)
    return int(random_state)
