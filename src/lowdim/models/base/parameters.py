"""Checking parameters that models share, and the words that parameters may be, as types."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from inspect import signature
from numbers import Integral, Real
from typing import Any, Literal, TypeAlias

import numpy as np

from lowdim.errors import BadParameter
from lowdim.matrices.scaling import Scaling as ColumnScaling
from lowdim.results.certificate import OF_TOTAL, TOLERANCE, Accuracy
from lowdim.solvers.choose import SOLVERS
from lowdim.solvers.keep import Keep, KeepCount, KeepMinka, KeepShare, too_many
from lowdim.solvers.lanczos import BlockLanczos

# Checking a linear model's parameters: strings and numbers in, rules and solvers out.


def keep_rule(owner: str, n_components: Any, n: int | None, p: int) -> Keep:
    """The rule behind n_components, for n rows (None: not known yet) and p columns."""
    most = p if n is None else min(n, p)
    shape = f"{n:,} rows × {p:,} columns" if n is not None else f"{p:,} columns"
    unknown = p if n is None else None
    if n_components is None:
        return KeepCount(most, unknown)
    if isinstance(n_components, str) and n_components == "mle":
        return KeepMinka(p)
    if isinstance(n_components, Integral) and not isinstance(n_components, bool):
        if not 1 <= int(n_components) <= most:
            raise too_many(owner, n_components, n, p)
        return KeepCount(int(n_components), unknown, owner)
    if isinstance(n_components, Real) and not isinstance(n_components, bool) and 0 < float(n_components) <= 1:
        return KeepShare(float(n_components))
    raise BadParameter.of(
        owner,
        "n_components",
        n_components,
        f"a whole number from 1 to {most:,} ({shape}), a share such as 0.9, 'mle' or None",
    )


def is_zero(n_components: Any) -> bool:
    """Whether no components are wanted."""
    return isinstance(n_components, Integral) and not isinstance(n_components, bool) and int(n_components) == 0


def solver_name(owner: str, svd_solver: Any) -> str:
    """A name that the table of solvers knows."""
    return word(owner, "svd_solver", svd_solver, "auto", *SOLVERS)


def tolerance(owner: str, tol: Any) -> float:
    """The relative accuracy asked for; 0 means the default."""
    if not isinstance(tol, Real) or isinstance(tol, bool) or not 0 <= float(tol) < 1:
        raise BadParameter.of(owner, "tol", tol, f"a number from 0 (the default, {TOLERANCE:.0e}) to below 1")
    return float(tol) or TOLERANCE


def accuracy(owner: str, tol: Any) -> Accuracy:
    """The accuracy asked for: of every variance where it was named, else of each or of all."""
    named = tolerance(owner, tol)
    return Accuracy(named, 0.0 if tol else OF_TOTAL)


def check_seed(owner: str, random_state: Any) -> None:
    """scikit-learn's kinds of random_state, and NumPy's Generator."""
    kinds = (Integral, np.random.RandomState, np.random.Generator)
    if random_state is not None and (isinstance(random_state, bool) or not isinstance(random_state, kinds)):
        raise BadParameter.of(owner, "random_state", random_state, "None, a whole number, a Generator or a RandomState")


def missing(owner: str, given: Any) -> str:
    """What to do about missing values."""
    return word(owner, "missing", given, "error", "ppca")


def whole(owner: str, name: str, given: Any, least: int, most: int | None, or_else: str = "") -> None:
    """Raise an error unless a whole number was given, within these limits."""
    fine = isinstance(given, Integral) and not isinstance(given, bool)
    if not fine or int(given) < least or (most is not None and int(given) > most):
        limits = f"from {least}" if most is None else f"from {least} to {most:,}"
        raise BadParameter.of(owner, name, given, f"a whole number {limits}{or_else}")


def word(owner: str, name: str, given: Any, *known: str) -> str:
    """One of the words that a setting can be, or an error that lists them."""
    if not isinstance(given, str) or given not in known:
        listed = [repr(one) for one in known]
        needed = f"{listed[0]} or {listed[1]}" if len(known) == 2 else f"one of {', '.join(listed)}"
        raise BadParameter.of(owner, name, given, needed)
    return given


def flag(owner: str, name: str, given: Any) -> None:
    """Raise an error unless True or False was given."""
    if not isinstance(given, (bool, np.bool_)):
        raise BadParameter.of(owner, name, given, "True or False")


def check_flags(model: Any) -> None:
    """Raise an error unless every setting that the model's constructor declares as a bool is True or False."""
    for name in _flags(type(model)):  # type: ignore[arg-type]  # mypy does not take a class for hashable
        flag(type(model).__name__, name, getattr(model, name))


@cache
def _flags(kind: type) -> tuple[str, ...]:
    declared = signature(kind).parameters
    return tuple(name for name, parameter in declared.items() if parameter.annotation in (bool, "bool"))


def real(owner: str, name: str, given: Any, least: float) -> None:
    """Raise an error unless a finite number was given that is not too small."""
    fine = isinstance(given, Real) and not isinstance(given, bool)
    if not fine or not least <= float(given) < np.inf:
        raise BadParameter.of(owner, name, given, f"a number {'above' if least > 0 else 'from'} 0")


def sketch(owner: str, n_components: Any, n_oversamples: Any, iterated_power: Any, normalizer: Any) -> BlockLanczos:
    """scikit-learn's randomised solver: a block of k + oversamples vectors and a number of power iterations.

    "auto" iterates until the residuals are small. The Krylov basis is always orthonormal, so the normaliser is only
    checked.
    """
    if not isinstance(n_oversamples, Integral) or int(n_oversamples) < 1:
        raise BadParameter.of(owner, "n_oversamples", n_oversamples, "a whole number from 1")
    if iterated_power != "auto" and not (isinstance(iterated_power, Integral) and int(iterated_power) >= 0):
        raise BadParameter.of(owner, "iterated_power", iterated_power, "'auto' or a whole number from 0")
    word(owner, "power_iteration_normalizer", normalizer, "auto", "QR", "LU", "none")
    if iterated_power == "auto" or not isinstance(n_components, Integral):
        return BlockLanczos()
    return BlockLanczos(block=int(n_components) + int(n_oversamples), steps=int(iterated_power) + 1)


def scaling_of(
    owner: str, center: Any, scale: Any, column_weight: Any, ddof: Any, p: int, spacing: float
) -> ColumnScaling:
    """What to do with the columns."""
    if not isinstance(ddof, Integral) or isinstance(ddof, bool) or ddof < 0:
        raise BadParameter.of(owner, "ddof", ddof, "a whole number from 0, usually 1 or 0")
    if not isinstance(scale, (bool, np.bool_)):
        scale = _positive(owner, "scale", scale, p, zero=False)
    if column_weight is not None:
        column_weight = _positive(owner, "column_weight", column_weight, p, zero=True)
    return ColumnScaling(
        bool(center),
        scale if isinstance(scale, np.ndarray) else bool(scale),
        column_weight,
        int(ddof),
        spacing,
    )


def _positive(owner: str, name: str, given: Any, p: int, zero: bool) -> np.ndarray[Any, np.dtype[np.float64]]:
    needed = f"one finite number {'from' if zero else 'above'} 0 for each of the {p:,} columns"
    try:
        values = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise BadParameter.of(owner, name, given, f"True, False or {needed}") from None
    fine = np.isfinite(values) & (values >= 0 if zero else values > 0)
    if values.shape != (p,) or not fine.all() or not values.any():
        what = f"an array of shape {values.shape}" if values.shape != (p,) else f"values from {values.min():g}"
        raise BadParameter.of(owner, name, what, needed)
    used = values[values > 0]
    if used.min() < 1 / LARGEST_FACTOR or used.max() > LARGEST_FACTOR:
        what = f"values from {used.min():g} to {used.max():g}"
        raise BadParameter.of(owner, name, what, f"numbers from {1 / LARGEST_FACTOR:g} to {LARGEST_FACTOR:g}")
    return values


LARGEST_FACTOR = 1e100
"""Columns times or over larger factors leave the range in which float64 has squares of squares."""


# What settings may be, as types: a word that is misspelt is an error of the type checker's too.
#
# The words are those that each setting is checked against when a model is fitted; tests hold the two together.

Whole: TypeAlias = int | np.integer[Any]
Number: TypeAlias = float | np.floating[Any] | np.integer[Any]
Seed: TypeAlias = Whole | np.random.Generator | np.random.RandomState | None
Bytes: TypeAlias = Whole | str | None

SvdSolver: TypeAlias = Literal["auto", "full", "covariance_eigh", "arpack", "randomized", "lanczos", "gram", "tsqr"]
Normalizer: TypeAlias = Literal["auto", "QR", "LU", "none"]
Missing: TypeAlias = Literal["error", "ppca"]
FloatType: TypeAlias = Literal["float32", "float64"]
Unstored: TypeAlias = Literal["zero", "missing"]

LatentSolver: TypeAlias = Literal["auto", "closed", "em", "lecture"]

Kernel: TypeAlias = (
    Literal["linear", "poly", "rbf", "laplacian", "cosine", "sigmoid", "precomputed"] | Callable[..., Any]
)
Scaling: TypeAlias = Literal["unit_axis", "lecture1"]
Preimage: TypeAlias = Literal["auto", "fixed_point", "distances", "ridge"]
EigenSolver: TypeAlias = Literal[
    "auto", "dense", "lanczos", "arpack", "randomized", "landmarks", "nystroem", "random_features"
]
NotPositive: TypeAlias = Literal["error", "clip"]

NmfInit: TypeAlias = Literal["random", "nndsvd", "nndsvda", "nndsvdar", "custom"]
NmfSolver: TypeAlias = Literal["auto", "cd", "hals", "newton", "mu"]
NmfLoss: TypeAlias = Literal["frobenius", "kullback-leibler", "poisson", "itakura-saito"]

Family: TypeAlias = Literal["bernoulli", "poisson", "gaussian"]
Encoder: TypeAlias = Literal["optimal", "linear", "projection"]

NetworkLoss: TypeAlias = Literal["auto", "bce", "mse"]
Activation: TypeAlias = Literal["silu", "gelu", "relu", "leaky_relu", "tanh", "logistic"]
NetworkSolver: TypeAlias = Literal["auto", "adam", "lbfgs", "als"]

Rule: TypeAlias = Literal["one_se", "best"]
Metric: TypeAlias = Literal["cosine", "euclid", "whitened"]
Normalisation: TypeAlias = Literal["patterson", "price", "center"]


def seed_of(seed: Any) -> Any:
    """scikit-learn's kinds of random_state, without touching the global generator of NumPy."""
    if isinstance(seed, np.random.RandomState):
        return int(seed.randint(2**31 - 1))
    return 0 if seed is None else seed


def versions() -> tuple[tuple[str, str], ...]:
    """Of the packages that a result depends on."""
    import scipy

    from lowdim import __version__

    return (("lowdim", __version__), ("numpy", np.__version__), ("scipy", scipy.__version__))
