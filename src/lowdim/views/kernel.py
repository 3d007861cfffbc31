"""A kernel PCA in words."""

from __future__ import annotations

import math

from lowdim.results.certificate import counted
from lowdim.results.kernel import KernelFit
from lowdim.views.explain import size

NARROW, WIDE = 0.5, 1.2
"""An effective rank above this share of the rows, or below this number, is the sign of an unfit width."""

ROUNDING = 1e-12
"""A share of less than this is what rounding leaves."""


def explain_kernel(fit: KernelFit) -> str:
    """The story of a fit."""
    made = fit.provenance
    what = "all pairs of rows" if fit.over_rows else "the rows"
    return "\n".join(
        [
            f"data       {made.data}",
            f"kernel     {fit.kernel.formula}{'' if fit.centered else ', not centred'}",
            f"width      {width_in_words(fit)}",
            f"solver     {made.solver}{_basis(fit)}",
            f"because    {made.reason}",
            f"read       {counted(made.passes, 'pass', 'es')} over {what}",
            f"memory     about {size(made.memory)} beside the data",
            f"kept       {counted(fit.k, 'component')}, {_share(fit)} of the variance in the feature space",
            f"accuracy   {accuracy_in_words(fit)}",
        ]
    )


def width_in_words(fit: KernelFit) -> str:
    """What the effective rank says about the kernel's width."""
    rank = fit.effective_rank
    said = f"effective rank {rank:.3g} of {fit.n_rows:,} rows"
    if fit.kernel.name not in ("rbf", "laplacian") or fit.n_rows < 10:
        return said
    if rank > NARROW * fit.n_rows:
        return f"{said}: too narrow, each row is like no other; try a smaller gamma"
    if rank < WIDE:
        return f"{said}: too wide, all rows look alike; try a larger gamma"
    return said


def accuracy_in_words(fit: KernelFit) -> str:
    """How far the axes and eigenvalues can be trusted."""
    found = fit.found
    if not fit.approximate:
        if not len(found.residuals):
            return "exact to rounding"
        if fit.tied and fit.sine > fit.tol:
            said = f"eigenvalues right to {float(found.residuals.max()) / found.values[0]:.0e} of the largest"
            if float(fit.shares.sum()) >= 1 - ROUNDING:
                return f"{said}, and nothing is left out"
            return f"{said}, but the last and the next, left out, are nearly equal: keep one more or one fewer"
        word = "certified" if fit.reached else "NOT reached"
        return f"{word}: the axes' span is off by a sine of at most {fit.sine:.1e} (asked {fit.tol:.0e})"
    if math.isnan(found.slack):
        return f"no certificate, random features only approach the kernel{_likely(fit)}"
    left = found.slack / (found.total + found.slack)
    word = "" if fit.reached else f", NOT the {fit.tol:.2%} asked"
    said = f"landmarks leave {left:.3%} of the kernel's trace{word}"
    return f"{said}: no eigenvalue is larger by more than {found.slack:.3g}{_likely(fit)}"


def _likely(fit: KernelFit) -> str:
    error = fit.likely_error
    return "" if math.isnan(error) else f"; probably eigenvalues are right to {error:.1g} of themselves"


def _basis(fit: KernelFit) -> str:
    m = len(fit.found.basis)
    if fit.over_rows or (fit.found.triangle is None and not fit.found.waves):
        return ""
    return f": {counted(m, 'frequency', '') if fit.found.waves else counted(m, 'landmark')}"


def _share(fit: KernelFit) -> str:
    low, high = fit.captured
    if math.isnan(low):
        return f"about {float(fit.shares.sum()):.2%}"
    return f"{low:.4%}" if high - low < 5e-7 else f"{low:.3%} to {high:.3%}"
