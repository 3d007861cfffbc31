"""A kernel PCA's parameters: names and numbers in, kernels and widths out."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from lowdim.errors import BadInput, BadParameter, Setting
from lowdim.models.kernel_pca.kernels import Custom
from lowdim.models.kernel_pca.record import KernelFacts
from lowdim.solvers.keep import Keep, KeepCount, KeepShare
from lowdim.types import Floats, is_number, is_whole

OWNER = "KernelPCA"

WIDE = {"rbf", "laplacian"}
"""Kernels of a distance, which have a width and a factor in front."""

PAIRS = 1000
"""Pairs of rows that the median distance is taken over (algorithms as in Gretton et al. 2012, §8)."""


def keep_rule(n_components: Any, n: int) -> Keep:
    """The rule behind n_components, for n rows: a number (at most n, as in scikit-learn), a share, or all."""
    if n_components is None:
        return KeepCount(n)
    if is_whole(n_components) and int(n_components) >= 1:
        return KeepCount(min(int(n_components), n))
    share = isinstance(n_components, Real) and not isinstance(n_components, (bool, Integral))
    if share and 0 < float(n_components) <= 1:
        return KeepShare(float(n_components))
    needed = "a whole number from 1, a share such as 0.9, 'auto' or None"
    raise BadParameter.of(OWNER, "n_components", n_components, needed)


def kernel_name(kernel: Any) -> str:
    """The name of the kernel: "custom" for a function."""
    return "custom" if callable(kernel) else str(kernel)


def width(name: str, gamma: Any, c: Any, sigma: Any) -> float | str | None:
    """gamma, in whichever of its three forms it was given: gamma = 1/c = 1/(2 sigma²); a rule's name, or None."""
    given = [word for word, value in (("gamma", gamma), ("c", c), ("sigma", sigma)) if value is not None]
    if len(given) > 1:
        raise BadParameter(f"{OWNER}: {' and '.join(given)} were given, which say the same thing: give one of them.")
    if (c is not None and name not in WIDE) or (sigma is not None and name != "rbf"):
        fit = "kernel='rbf' has sigma, and kernel='rbf' and 'laplacian' have c"
        raise BadParameter(Setting("kernel", name, OWNER), f": {given[0]} is the width of another kernel; {fit}.")
    for word, value in (("c", c), ("sigma", sigma)):
        if value is not None and not _above_zero(value):
            raise BadParameter.of(OWNER, word, value, "a finite number above 0")
    if c is not None or sigma is not None:
        with np.errstate(all="ignore"):
            found = float(1 / np.float64(c) if c is not None else 1 / (2 * np.float64(sigma) ** 2))
        if not _above_zero(found):
            raise BadParameter.of(OWNER, given[0], c or sigma, f"a number whose gamma is one too, and not {found:g}")
        return found
    if isinstance(gamma, str):
        if gamma not in ("median", "auto") or name not in WIDE:
            raise BadParameter.of(
                OWNER, "gamma", gamma, "a number above 0, None, or, for kernel='rbf' or 'laplacian', 'median' or 'auto'"
            )
        return gamma
    if gamma is not None and not _above_zero(gamma):
        raise BadParameter.of(OWNER, "gamma", gamma, "a finite number above 0, 'median', 'auto' or None (1/p)")
    return None if gamma is None else float(gamma)


def kernel_facts(
    name: str, gamma: float | str | None, coef0: Any, degree: Any, factor: Any, some_rows: Floats
) -> KernelFacts:
    """The kernel with its numbers; `some_rows` (m, p) are what a width is learnt from where none was given."""
    if not _above_zero(factor) or (name not in WIDE and factor != 1):
        raise BadParameter.of(OWNER, "scale_factor", factor, "a finite number above 0, and 1 but for rbf and laplacian")
    if name in ("linear", "cosine", "precomputed", "custom"):
        return KernelFacts(name)
    if gamma == "median":
        gamma = median_gamma(name, some_rows)
    number = 1 / max(1, some_rows.shape[1]) if gamma is None else float(gamma)  # scikit-learn's default
    if name in WIDE:
        return KernelFacts(name, number, factor=float(factor))
    if name == "sigmoid":
        return KernelFacts(name, number, float(coef0))
    return KernelFacts(name, number, float(coef0), float(degree))


def custom_kernel(function: Any, parameters: Any, some_rows: Floats) -> Custom:
    """The user's function as a kernel."""
    return Custom.of(function, parameters or {}, some_rows)


def median_gamma(name: str, rows: Floats) -> float:
    """1 / median of the squared distances (rbf: sigma² is half of it) or of the absolute ones (laplacian)."""
    rng = np.random.default_rng(0)
    first, second = rng.integers(len(rows), size=(2, PAIRS))
    apart = first != second
    differences = rows[first[apart]] - rows[second[apart]]
    with np.errstate(all="ignore"):
        distances = np.abs(differences).sum(axis=1) if name == "laplacian" else np.square(differences).sum(axis=1)
        gamma = float(1 / np.median(distances[distances > 0])) if (distances > 0).any() else np.inf
    if not differences.any():
        raise BadInput(
            Setting("gamma", "median"),
            f" needs rows that differ, but {PAIRS:,} pairs of rows drawn at random were all equal: give ",
            Setting("gamma"),
            " as a number.",
        )
    if not _above_zero(gamma):
        raise BadInput(
            Setting("gamma", "median"),
            " needs squared distances that float64 can hold, but rows differ by about "
            f"{float(np.median(np.abs(differences))):.1e}: divide the data by that first.",
        )
    return gamma


def _finite(value: Any) -> bool:
    return is_number(value) and bool(np.isfinite(float(value)))


def _above_zero(value: Any) -> bool:
    return _finite(value) and float(value) > 0


# The width at the prompt, where a Gaussian kernel is the usual one.


def prompt_settings(typed: dict[str, Any]) -> dict[str, Any]:
    """Settings from --kernel and --gamma."""
    kernel, gamma = typed.get("kernel", "rbf"), typed.get("gamma")
    return {"kernel": kernel, "gamma": _width_at_prompt(kernel, None if gamma is None else gamma.strip().lower())}


def _width_at_prompt(kernel: str, gamma: str | None) -> float | str | None:
    """What --gamma means for a kernel: a number, or the name of a rule, which only kernels of distances have."""
    if kernel in ("linear", "cosine"):
        if gamma is not None:
            raise BadParameter(f"--gamma {gamma}: the {kernel} kernel has no width; leave --gamma out.")
        return None
    of_distances = kernel in ("rbf", "laplacian")
    if gamma is None:
        return "median" if of_distances else None
    if of_distances and gamma in ("median", "auto"):
        return gamma
    try:
        number = float(gamma)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        if of_distances:
            raise BadParameter(f"--gamma {gamma}: a number above 0, median or auto is needed.")
        raise BadParameter(
            f"--gamma {gamma}: the {kernel} kernel needs a number above 0; without --gamma it is one over the number "
            "of columns."
        )
    return number
