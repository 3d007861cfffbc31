"""A kernel PCA in words."""

from __future__ import annotations

import math
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np

from lowdim.models.kernel_pca.record import KernelFit
from lowdim.results.certificate import counted
from lowdim.views.overview import (
    BLANK,
    MOST_BARS,
    Bars,
    Block,
    Fact,
    Overview,
    Said,
    Swamped,
    Trust,
    more_bar,
    numbered,
    share_bars,
    shares_glance,
    that,
    variance_bars,
)
from lowdim.views.text.lines import percent, size
from lowdim.views.text.screen import swampers
from lowdim.words import column_names

NARROW, WIDE = 0.5, 1.2
"""An effective rank above this share of the rows, or below this number, is the sign of an unfit width."""

LEAST_SHARE = 1e-12
"""A share of less than this is what rounding leaves."""

CLOSE = 5e-4
"""Ends of an interval that lie nearer than this are the same number on a screen."""

EXACT = (
    "Every eigenvalue was checked after it was found, and the span of the axes has a proven bound. This is about "
    "arithmetic: another width of the kernel would give other axes, and no certificate says which width is right."
)
NEAR = (
    "A few rows, the landmarks, stand for all of them. What they leave out is known exactly, and so every share lies "
    "in an interval that is certain; more landmarks make the intervals narrower."
)
RANDOM = (
    "Random features only come near the kernel, and nobody knows how near. Take landmarks, or the exact solver, where "
    "a bound is needed."
)


def overview(fit: KernelFit) -> Overview:
    """What is said of a kernel PCA; intervals hold the exact numbers."""
    captured, keep = captured_in_words(fit), "keeps" if fit.k == 1 else "keep"
    meaning = RANDOM if math.isnan(fit.found.slack) else NEAR if fit.approximate else EXACT
    finding = f"{fit.k:,} dimension{'s' * (fit.k != 1)} {keep} {captured} of the variance in the feature space"
    return Overview(
        fit=fit,
        model="Kernel PCA",
        trust=Trust("certified" if fit.reached else "untrusted", fit.reached, accuracy_in_words(fit), meaning),
        kept=that(fit.k, "component", "keep", captured),
        finding=finding if fit.found.total > 0 else "All rows are alike to this kernel: there is no direction to find.",
        lead=f"{counted(fit.k, 'component')} {keep} {captured} of the variance in the space of features.",
        axes=numbered("PC", fit.k),
        glance=shares_glance(fit.shares, fit.k, "variance by component"),
        facts=(Said("kernel", fit.kernel.formula), Said("width", width_in_words(fit))),
        swamped=Swamped(tuple(kernel_swamping(fit)), "the squared distances between rows"),
        screen=partial(_screen, fit),
        file_screen=partial(_file_screen, fit),
        own_columns=fit.kernel.name != "precomputed",
        prepared=True,
        story=partial(_story, fit),
        numbers=(
            Fact("components", f"{fit.k:,}"),
            Fact("kernel", fit.kernel.name, fit.kernel.formula),
            Fact("variance kept", captured, "in the space of features"),
        ),
        scaling="not scaled" if fit.scale is None else "scaled to equal variance",
        details=partial(_details, fit),
        proof={"sine": fit.sine, "trace_residual": fit.found.slack, "tol": fit.tol},
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
            if float(fit.shares.sum()) >= 1 - LEAST_SHARE:
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


def captured_in_words(fit: KernelFit) -> str:
    """The share of the variance that is kept, as an interval where only that is known."""
    low, high = fit.captured
    if math.isnan(low):
        return f"about {percent(float(fit.shares.sum()))}"
    return percent(low) if high - low < CLOSE else f"{percent(low)} to {percent(high)}"


def kernel_swamping(fit: KernelFit) -> list[tuple[str, float]]:
    """The few columns that make up nearly all of the squared distances between rows; none if many do.

    Where the basis is landmarks, they stand for the rows; other kernels than those of distances are left in peace.
    """
    found = fit.found
    if fit.scale is not None or fit.kernel.name not in ("rbf", "laplacian") or found.waves:
        return []
    spread = np.var(found.basis, axis=0)
    return swampers(spread / spread.sum(), column_names(fit)) if spread.sum() > 0 else []


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


def _screen(fit: KernelFit) -> tuple[Block, ...]:
    scaled = "" if fit.scale is None else " of the scaled columns"
    kernel = Said("kernel", f"{fit.kernel.formula}{scaled}", more=width_in_words(fit))
    return _components(fit), BLANK, kernel, Said("accuracy", accuracy_in_words(fit))


def _components(fit: KernelFit) -> Bars:
    shares, shown = fit.shares, min(fit.k, MOST_BARS)
    between = fit.approximate and not math.isnan(fit.found.slack)
    ends = tuple(" and ".join(f"{percent(end):>7}" for end in pair) for pair in fit.share_intervals if between)
    lines = share_bars(numbered("PC", fit.k), shares, texts=ends)
    lines += more_bar(shares[shown:], f"{counted(fit.k - shown, 'more dimension')}, kept too")
    left = 1.0 - float(shares.sum())
    if left > LEAST_SHARE and fit.found.total > 0:
        lines += more_bar(np.array([left]), "all other dimensions, not kept", "rest")
    return Bars(f"        share    in all{'':18}exactly between" if between else "        share    in all", lines)


def _file_screen(fit: KernelFit) -> tuple[Block, ...]:
    return (
        Said("kernel", fit.kernel.formula, more=width_in_words(fit)),
        BLANK,
        variance_bars("eigenvalue", fit.values, fit.shares, MOST_BARS),
        BLANK,
        Said("accuracy", accuracy_in_words(fit)),
        Said("holds", _held(fit)),
    )


def _story(fit: KernelFit) -> tuple[Said, ...]:
    made = fit.provenance
    return (
        Said("data", made.data),
        Said("kernel", f"{fit.kernel.formula}{'' if fit.centered else ', not centred'}"),
        Said("width", width_in_words(fit)),
        Said("solver", f"{made.solver}{_basis(fit)}"),
        Said("because", made.reason),
        Said(
            "read", f"{counted(made.passes, 'pass', 'es')} over {'all pairs of rows' if fit.over_rows else 'the rows'}"
        ),
        Said("memory", f"about {size(made.memory)} beside the data"),
        Said("kept", f"{counted(fit.k, 'component')}, {_share(fit)} of the variance in the feature space"),
        Said("accuracy", accuracy_in_words(fit)),
    )


def _details(fit: KernelFit) -> dict[str, Any]:
    total = np.cumsum(fit.shares)
    return {
        "kernel": {"formula": fit.kernel.formula, **asdict(fit.kernel)},
        "effective_rank": fit.effective_rank,
        "kept": {"components": fit.k, "share": float(fit.shares.sum()), "share_interval": fit.captured},
        "total_variance": fit.total_variance,
        "components": [
            {
                "name": f"PC{i + 1}",
                "variance": float(fit.variances[i]),
                "share": float(fit.shares[i]),
                "cumulative": float(total[i]),
                "share_interval": fit.share_intervals[i],
                "eigenvalue": float(fit.values[i]),
                "eigenvalue_interval": fit.value_intervals[i],
            }
            for i in range(fit.k)
        ],
        "swamped_by": [{"column": name, "share": share} for name, share in kernel_swamping(fit)],
    }


def _held(fit: KernelFit) -> str:
    """What of the data stands in the file: whoever gets it gets those rows."""
    m = len(fit.found.basis)
    if fit.kernel.name == "precomputed":
        return "no rows: new ones come as their kernel with the training rows"
    if fit.found.waves:
        return f"no rows, but {m:,} random frequencies"
    if fit.over_rows:
        return f"all {m:,} rows of the data, as the kernel of new rows is taken with them"
    return (
        "no rows of the data" if fit.found.triangle is None else f"{counted(m, 'landmark')}, which are rows of the data"
    )
