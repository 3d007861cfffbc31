"""The record of a regression on principal components, and how a model file keeps it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import FormatError
from lowdim.models.probabilistic_pca.record import LatentFit, pack_latent, unpack_latent
from lowdim.results.container import array, each, facts, flag, mapping, number, one_of, optional, text, whole
from lowdim.results.record import Arrays, LinearFit, Provenance, pack_linear, unpack_linear
from lowdim.results.uncertainty import AT_LEAST, NONE
from lowdim.types import Floats

# The record of a regression on principal components: axes, what each says of responses, how well it predicts.

RULES = ("cv", "count", "share", "t-test", "all")
"""How components may be chosen."""

TIED = (
    "a component that is used is hardly told apart from one that is not, so the rows do not tell how the axes turn; "
    "std_err_given_axes takes them for known"
)
"""Why coefficients have no interval."""

ROUNDING = 1e-9
"""Share of the sum of weights below which degrees of freedom are what its rounding left."""


@dataclass(frozen=True)
class Validation:
    """What cross-validation says of the first 0, 1, …, K components, and of the rule that chose."""

    error: Floats
    """(K + 1,) mean squared error of held-out rows as a share of the variance of the responses, their mean."""
    std_error: Floats
    """(K + 1,) of that mean, over rows (over groups, if there are some)."""
    rmse: Floats
    """(K + 1, m) root mean squared error of each response."""
    press: Floats
    """(m,) Σ (y − ŷ)² of held-out rows, by the rule; the mean over repetitions."""
    q2: Floats
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


@dataclass(frozen=True)
class Rival:
    """A method that was judged by the same held-out rows, each time with a choice of its own made without them."""

    name: str
    chosen: str
    """What it chose in the folds, in words."""
    rmse: Floats
    """(m,)"""
    q2: Floats
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

    axes: LinearFit
    """The components, up to the last one that is used."""
    picked: NDArray[np.int64]
    """(k,) which of them are used, from 0."""
    loads: Floats
    """(k, m) coefficients of the scores."""
    y_mean: Floats
    """(m,)"""
    squares: Floats
    """(m,) Σ (y − ȳ)²."""
    residual_squares: Floats
    """(m,) Σ (y − ŷ)² of the rows that were fitted."""
    rule: str
    """One of RULES."""
    reason: str
    """Why so many components."""
    validation: Validation | None = None
    p_values: Floats | None = None
    """(c,) of the t-tests, corrected by Holm's method; None: none were made."""
    filler: LatentFit | None = None
    """What fills the holes of rows; None: they may have none."""
    rivals: tuple[Rival, ...] = ()
    rivals_words: str = ""
    """How rivals were judged."""
    targets: tuple[str, ...] | None = None
    """Names of the responses."""
    flat: bool = True
    """Whether the response came as (n,)."""
    missing: int = 0
    groups: int | None = None
    """How many groups of rows that belong together; None: each row stands for itself."""
    errors: Floats | None = field(default=None, repr=False)
    """(m, p + 1) standard errors of the intercepts and coefficients that do not take the axes for known, NaN where the
    rows do not tell; None: a file that holds none."""
    errors_freedom: Floats | None = field(default=None, repr=False)
    """(m, p + 1) degrees of freedom of each."""

    @property
    def basis(self) -> str:
        """What the intervals of the coefficients rest on, or why there are none."""
        if self.errors is None:
            return f"{NONE}this model's file does not tell; fit it again"
        if np.isnan(self.errors).all():
            return f"{NONE}{TIED}"
        drawn = "exchangeable rows" if self.groups is None else "exchangeable groups of rows"
        filled = ", filled values taken for known" if self.missing else ""
        return f"{drawn}, given {self.k} component{'s' * (self.k != 1)}{filled}{AT_LEAST}"

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


# A regression on components as facts and arrays of a model file, and back.

FIT = {
    "axes": mapping,
    "n_components": whole,
    "n_targets": whole,
    "rule": one_of(*RULES),
    "reason": text,
    "validation": optional(mapping),
    "tests": optional(whole),
    "filler": optional(mapping),
    "rivals": each(mapping),
    "rivals_words": text,
    "targets": optional(each(text)),
    "flat": flag,
    "missing": whole,
    "groups": optional(whole),
}
VALIDATION = {"most": whole, "best": whole, "within": whole, "folds": whole, "words": text, "nested": flag}
RIVAL = {
    "name": text,
    "chosen": text,
    "rmse": each(number),
    "q2": each(number),
    "error": number,
    "difference": number,
    "difference_error": number,
}
PATHS = ("error", "std_error", "rmse", "press", "q2")
ERRORS = ("errors", "errors_freedom")
"""Arrays that older files do not have."""

UNTOLD = -1.0
"""Stands in files for a standard error that rows do not tell, as all numbers there are finite."""

FILLER = "filler_"
"""Before the names of the arrays of what fills holes."""


def pack_regression(fit: RegressionFit) -> tuple[dict[str, Any], Arrays]:
    """Facts and arrays of a fit."""
    axes, arrays = pack_linear(fit.axes)
    arrays |= {name: getattr(fit, name) for name in ("picked", "loads", "y_mean", "squares", "residual_squares")}
    checked = fit.validation
    if checked is not None:
        arrays |= {f"cv_{name}": getattr(checked, name) for name in PATHS}
    if fit.p_values is not None:
        arrays["p_values"] = fit.p_values
    if fit.errors is not None and fit.errors_freedom is not None:
        arrays |= {name: np.nan_to_num(getattr(fit, name), nan=UNTOLD) for name in ERRORS}
    filler = None
    if fit.filler is not None:
        filler, inside = pack_latent(fit.filler)
        arrays |= {f"{FILLER}{name}": values for name, values in inside.items()}
    known = {
        "axes": axes,
        "n_components": fit.k,
        "n_targets": fit.m,
        "rule": fit.rule,
        "reason": fit.reason,
        "validation": None if checked is None else _checked(checked),
        "tests": None if fit.p_values is None else len(fit.p_values),
        "filler": filler,
        "rivals": [_rival(one) for one in fit.rivals],
        "rivals_words": fit.rivals_words,
        "targets": None if fit.targets is None else list(fit.targets),
        "flat": fit.flat,
        "missing": fit.missing,
        "groups": fit.groups,
    }
    return known, arrays


def unpack_regression(given: Any, arrays: Mapping[str, NDArray[Any]]) -> RegressionFit:
    """The fit that `pack_regression` took apart."""
    known = facts(given, "fit", FIT)
    axes, k, m = unpack_linear(known["axes"], arrays), known["n_components"], known["n_targets"]
    picked = array(arrays, "picked", (k,), np.int64)
    squares, left = array(arrays, "squares", (m,)), array(arrays, "residual_squares", (m,))
    if m < 1 or (known["flat"] and m > 1) or (squares < 0).any() or (left < 0).any():
        raise FormatError(f"The model file says {m} responses and sums of squares that no regression can have.")
    last = axes.k - 1 if k else -1
    if (np.diff(picked) <= 0).any() or (k and (picked[0] < 0 or picked[-1] != last)) or (not k and axes.k != 1):
        raise FormatError("The model file uses components that it does not hold.")
    if not (axes.singular_values[picked] > 0).all():
        raise FormatError("The model file uses components without variance.")
    return RegressionFit(
        axes=axes,
        picked=picked,
        loads=array(arrays, "loads", (k, m)),
        y_mean=array(arrays, "y_mean", (m,)),
        squares=squares,
        residual_squares=left,
        rule=known["rule"],
        reason=known["reason"],
        validation=None if known["validation"] is None else _validation(known["validation"], arrays, m),
        p_values=None if known["tests"] is None else array(arrays, "p_values", (known["tests"],)),
        filler=None if known["filler"] is None else _filler(known["filler"], arrays, axes.n_columns),
        rivals=tuple(_unpacked_rival(one, m) for one in known["rivals"]),
        rivals_words=known["rivals_words"],
        targets=None if known["targets"] is None else _targets(known["targets"], m),
        flat=known["flat"],
        missing=known["missing"],
        groups=known["groups"],
        **{name: _told(arrays, name, (m, axes.n_columns + 1)) for name in ERRORS if name in arrays},
    )


def _checked(checked: Validation) -> dict[str, Any]:
    return {"most": len(checked.error) - 1} | {name: getattr(checked, name) for name in VALIDATION if name != "most"}


def _rival(one: Rival) -> dict[str, Any]:
    return {name: getattr(one, name) for name in RIVAL} | {"rmse": one.rmse.tolist(), "q2": one.q2.tolist()}


def _validation(given: Any, arrays: Mapping[str, NDArray[Any]], m: int) -> Validation:
    known = dict(facts(given, "validation", VALIDATION))
    most = known.pop("most")
    if max(known["best"], known["within"]) > most:
        raise FormatError(f"The validation of the model file chose more than the {most} components that it saw.")
    shapes = {"error": (most + 1,), "std_error": (most + 1,), "rmse": (most + 1, m), "press": (m,), "q2": (m,)}
    known |= {name: array(arrays, f"cv_{name}", shape) for name, shape in shapes.items()}
    return Validation(**known)


def _told(arrays: Mapping[str, NDArray[Any]], name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    found = array(arrays, name, shape)
    return np.where(found == UNTOLD, np.nan, found)


def _filler(given: Any, arrays: Mapping[str, NDArray[Any]], p: int) -> Any:
    inside = {name.removeprefix(FILLER): values for name, values in arrays.items() if name.startswith(FILLER)}
    found = unpack_latent(given, inside)
    if found.n_columns != p:
        raise FormatError(f"The model file fills {found.n_columns} columns, but it has {p}.")
    return found


def _unpacked_rival(given: Any, m: int) -> Rival:
    known = facts(given, "rivals", RIVAL)
    if len(known["rmse"]) != m or len(known["q2"]) != m:
        raise FormatError(f"A rival in the model file was not judged by {m} responses.")
    arrays = {name: np.array(known[name], dtype=np.float64) for name in ("rmse", "q2")}
    return Rival(**known | arrays)


def _targets(names: list[str], m: int) -> tuple[str, ...]:
    if len(names) != m:
        raise FormatError(f"The model file names {len(names)} responses, but it has {m}.")
    if len(set(names)) != m:
        raise FormatError("The model file has responses of the same name.")
    return tuple(names)
