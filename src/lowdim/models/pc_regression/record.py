"""The record of a regression on principal components: axes, what each says of responses, how well it predicts."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import FormatError
from lowdim.models.probabilistic_pca.record import LatentFit
from lowdim.results.fields import IN_FACTS, NonNegative, OneOf, OwnSizes, Prefix, Share, StandsFor, size
from lowdim.results.meaning import LEAST, ROUNDED, Distinct, Squarable, refuse
from lowdim.results.record import LinearFit, Provenance
from lowdim.results.uncertainty import AT_LEAST_LEVEL, NO_INTERVAL
from lowdim.types import Floats

RULES = ("cv", "count", "share", "t-test", "all")
"""How components may be chosen."""

TIED = (
    "a component that is used is hardly told apart from one that is not, so the rows do not tell how the axes turn; "
    "std_err_given_axes takes them for known"
)
"""Why coefficients have no interval."""

ROUNDING = 1e-9
"""Share of the sum of weights below which degrees of freedom are what its rounding left."""

UNTOLD = StandsFor(np.nan, -1.0)
"""A standard error that rows do not tell."""


@dataclass(frozen=True)
class Validation:
    """What cross-validation says of the first 0, 1, …, K components, and of the rule that chose."""

    DERIVED: ClassVar[Mapping[str, Any]] = {"most": lambda checked: len(checked.error) - 1}

    error: Annotated[Floats, "counts", NonNegative]
    """(K + 1,) mean squared error of held-out rows as a share of the variance of the responses, their mean."""
    std_error: Annotated[Floats, "counts", NonNegative]
    """(K + 1,) of that mean, over rows (over groups, if there are some)."""
    rmse: Annotated[Floats, "counts m", NonNegative]
    """(K + 1, m) root mean squared error of each response."""
    press: Annotated[Floats, "m", NonNegative]
    """(m,) Σ (y − ŷ)² of held-out rows, by the rule; the mean over repetitions."""
    q2: Annotated[Floats, "m"]
    """(m,) 1 − PRESS / Σ (y − ȳ)²."""
    best: int
    """Components with the smallest error."""
    within: int
    """Fewest components whose error is within one standard error of the smallest."""
    folds: int
    """Decompositions: folds times repetitions."""
    words: str
    """How rows were held out."""
    nested: bool
    """Whether the rule chose within each fold, so that q2 owes nothing to the choice."""

    def check(self) -> None:
        """Refuse what no file can say."""
        if max(self.best, self.within) >= len(self.error):
            raise FormatError(
                f"The validation of the model file chose more than the {len(self.error) - 1} components that it saw."
            )


@dataclass(frozen=True)
class Rival:
    """A method that was judged by the same held-out rows, each time with a choice of its own made without them."""

    name: str
    chosen: str
    """What it chose in the folds, in words."""
    rmse: Annotated[Floats, "m", IN_FACTS]
    """(m,)"""
    q2: Annotated[Floats, "m", IN_FACTS]
    """(m,)"""
    error: float
    """Mean over responses of 1 − Q²."""
    difference: float
    """Of that error to principal component regression's, in the same rows …"""
    difference_error: float
    """… and its standard error."""


@dataclass(frozen=True)
class RegressionFit:
    """m responses as sums over the scores of some principal components of n rows × p columns."""

    DERIVED: ClassVar[Mapping[str, Any]] = {
        "n_components": size("picked"),
        "n_targets": size("y_mean"),
        "tests": size("p_values"),
    }

    axes: Annotated[LinearFit, OwnSizes("p")]
    """The components, up to the last one that is used."""
    picked: Annotated[NDArray[np.int64], "k"]
    """(k,) which of them are used, from 0."""
    loads: Annotated[Floats, "k m", Squarable]
    """(k, m) coefficients of the scores."""
    y_mean: Annotated[Floats, "m", Squarable]
    """(m,)"""
    squares: Annotated[Floats, "m", NonNegative]
    """(m,) Σ (y − ȳ)²."""
    residual_squares: Annotated[Floats, "m", NonNegative]
    """(m,) Σ (y − ŷ)² of the rows that were fitted."""
    rule: Annotated[str, OneOf(RULES)]
    """One of RULES."""
    reason: str
    """Why so many components."""
    validation: Annotated[Validation | None, Prefix("cv_")] = None
    p_values: Annotated[Floats | None, "tests", Share] = None
    """(c,) of the t-tests, corrected by Holm's method; None: none were made."""
    filler: Annotated[LatentFit | None, Prefix("filler_"), OwnSizes("p")] = None
    """What fills the holes of rows; None: they may have none."""
    rivals: tuple[Rival, ...] = ()
    rivals_words: str = ""
    """How rivals were judged."""
    targets: Annotated[tuple[str, ...] | None, Distinct] = None
    """Names of the responses."""
    flat: bool = True
    """Whether the response came as (n,)."""
    missing: int = 0
    groups: int | None = None
    """How many groups of rows that belong together; None: each row stands for itself."""
    errors: Annotated[Floats | None, "m coefficients", UNTOLD] = field(default=None, repr=False)
    """(m, p + 1) standard errors of the intercepts and coefficients that do not take the axes for known, NaN where the
    rows do not tell; None: a file that holds none."""
    errors_freedom: Annotated[Floats | None, "m coefficients", UNTOLD] = field(default=None, repr=False)
    """(m, p + 1) degrees of freedom of each."""

    def check(self) -> None:
        """Refuse what no file can say."""
        if self.m < 1 or (self.flat and self.m > 1):
            raise FormatError(f"The model file says {self.m} responses, which no regression can have.")
        last = self.axes.k - 1 if self.k else -1
        inside = not self.k or (self.picked[0] >= 0 and self.picked[-1] == last)
        if (np.diff(self.picked) <= 0).any() or not inside or (not self.k and self.axes.k != 1):
            raise FormatError("The model file uses components that it does not hold.")
        refuse(
            (self.residual_squares > self.squares * (1 + ROUNDED) + LEAST).any(), "that it explains less than nothing"
        )
        refuse(self.errors_freedom is not None and (self.errors_freedom <= 0).any(), "no degrees of freedom at all")
        refuse(self.errors is not None and (self.errors < 0).any(), "standard errors below 0")
        if not (self.axes.singular_values[self.picked] > 0).all():
            raise FormatError("The model file uses components without variance.")
        if self.errors is not None and self.errors.shape[1] != self.n_columns + 1:
            raise FormatError(f"The standard errors of the model file are not those of {self.n_columns} coefficients.")
        if (self.errors is None) != (self.errors_freedom is None):
            raise FormatError("The model file holds standard errors without degrees of freedom, or these alone.")
        if self.targets is not None and (len(self.targets) != self.m or len(set(self.targets)) != self.m):
            raise FormatError(f"The model file does not name {self.m} responses, each in its own way.")

    @property
    def basis(self) -> str:
        """What the intervals of the coefficients rest on, or why there are none."""
        if self.errors is None:
            return f"{NO_INTERVAL}this model's file does not tell; fit it again"
        if np.isnan(self.errors).all():
            return f"{NO_INTERVAL}{TIED}"
        drawn = "exchangeable rows" if self.groups is None else "exchangeable groups of rows"
        filled = ", filled values taken for known" if self.missing else ""
        return f"{drawn}, given {self.k} component{'s' * (self.k != 1)}{filled}{AT_LEAST_LEVEL}"

    @property
    def k(self) -> int:
        """Components that are used."""
        return len(self.picked)

    @property
    def m(self) -> int:
        """Responses."""
        return len(self.y_mean)

    @property
    def n_rows(self) -> int:
        """Rows."""
        return self.axes.n_rows

    @property
    def n_columns(self) -> int:
        """Columns."""
        return self.axes.n_columns

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Names of the columns."""
        return self.axes.columns

    @property
    def provenance(self) -> Provenance:
        """Where the axes come from."""
        return self.axes.provenance

    @property
    def reached(self) -> bool:
        """Whether the axes are as accurate as was asked."""
        return self.axes.reached

    @property
    def names(self) -> tuple[str, ...]:
        """Of the responses; y, or y0, y1, … where they have none."""
        return self.targets or (("y",) if self.m == 1 else tuple(f"y{j}" for j in range(self.m)))

    @property
    def interval_names(self) -> tuple[str, ...]:
        """(3 m,) for columns of each prediction and the ends of its interval: all different, whatever `names` are."""
        for times in itertools.count():
            word = " interval" * times
            found = tuple(f"{name}{end}" for name in self.names for end in ("", f"{word} lower", f"{word} upper"))
            if len(set(found)) == len(found):
                break
        return found

    @property
    def axes_used(self) -> Floats:
        """(k, p) axes that are used, by which centred rows in the data's units become scores."""
        return self.axes.components[self.picked] / self.axes.scale

    @property
    def coefficients(self) -> Floats:
        """(m, p) in the data's units."""
        return np.asarray(self.loads.T @ self.axes_used)

    @property
    def intercept(self) -> Floats:
        """(m,)"""
        return np.asarray(self.y_mean - self.coefficients @ self.axes.mean)

    @property
    def freedom(self) -> float:
        """Degrees of freedom that are left: n − k − 1, exactly 0 where it is rounding; components count as if known."""
        left = self.axes.weight - self.k - 1
        return left if left > ROUNDING * self.axes.weight else 0.0

    @property
    def residual_variance(self) -> Floats:
        """(m,) σ̂² = RSS / (n − k − 1); NaN where no degrees of freedom are left."""
        return np.asarray(self.residual_squares / self.freedom if self.freedom > 0 else np.full(self.m, np.nan))

    @property
    def score_squares(self) -> Floats:
        """(k,) Σ t² of each score over the training rows."""
        return np.asarray(self.axes.singular_values[self.picked] ** 2)

    @property
    def coefficient_errors(self) -> Floats:
        """(m, p) standard errors σ̂ √ diag(A (TᵀT)⁻¹ Aᵀ), conditional on the axes A and on their number."""
        leverage = (self.axes_used**2 / self.score_squares[:, None]).sum(axis=0)
        return np.asarray(np.sqrt(np.multiply.outer(self.residual_variance, leverage)))

    @property
    def intercept_errors(self) -> Floats:
        """(m,) standard errors of the intercepts, likewise."""
        return np.sqrt(self.residual_variance * self.leverage(-(self.axes.mean @ self.axes_used.T)[None]))

    def leverage(self, scores: Floats) -> Floats:
        """(n,) 1/n + Σ t² / (TᵀT) of rows with these scores (n, k)."""
        return np.asarray(1 / self.axes.weight + (scores**2 / self.score_squares).sum(axis=1))

    def predictions(self, scores: Floats) -> Floats:
        """(n, m) of rows with these scores."""
        return np.asarray(self.y_mean + scores @ self.loads)

    @property
    def predictive_variance(self) -> Floats:
        """(m,) variance of a new response about the model, for a row of no leverage.

        σ̂², or what held-out rows showed where that is more: in the rows of the fit the axes, and with "cv" their
        number, were made to fit, which degrees of freedom do not count.
        """
        if self.validation is None:
            return self.residual_variance
        shown = (1 - self.validation.q2) * self.squares / (self.axes.weight + self.k + 1)
        return np.asarray(np.maximum(self.residual_variance, shown))

    def deviations(self, scores: Floats) -> Floats:
        """(n, m) standard deviation of a new response about its prediction, noise included."""
        return np.sqrt(np.multiply.outer(1 + self.leverage(scores), self.predictive_variance))

    @property
    def r2(self) -> Floats:
        """(m,) share of the sum of squares explained in the rows that were fitted; 0 for a constant response."""
        varying = self.squares > 0
        left = np.divide(self.residual_squares, self.squares, out=np.ones(self.m), where=varying)
        return np.asarray(1 - left)


RECORD = RegressionFit
