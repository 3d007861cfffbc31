"""What card, screen, JSON and page show of a kernel PCA."""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import numpy as np

from lowdim.models.base.report import PageRequest
from lowdim.models.kernel_pca.figures import similarity
from lowdim.models.kernel_pca.record import KernelFit
from lowdim.views import overview as view
from lowdim.views.overview import BLANK, MOST_BARS, Bars, Block, Fact, Number, Overview, Swamped, Trust
from lowdim.views.report import encode
from lowdim.views.report.page import page_of
from lowdim.views.report.payload import Payload, Section, Spectrum
from lowdim.views.text.lines import percent
from lowdim.views.text.screen import find_swamping
from lowdim.words import column_names, plural

MOST_RANK_SHARE, LEAST_RANK = 0.5, 1.2
"""An effective rank above this share of the rows, or below this number, is the sign of an unfit width."""

LEAST_SHARE = 1e-12
"""A share of less than this is what rounding leaves."""

SAME_ON_SCREEN = 5e-4
"""Ends of an interval that lie nearer than this are the same number on a screen."""

MEANING_OF_EXACT = (
    "Every eigenvalue was checked after it was found, and the span of the axes has a proven bound. This is about "
    "arithmetic: another width of the kernel would give other axes, and no certificate says which width is right."
)
MEANING_OF_LANDMARKS = (
    "A few rows, the landmarks, stand for all of them. What they leave out is known exactly, and so every share lies "
    "in an interval that is certain; more landmarks make the intervals narrower."
)
MEANING_OF_FEATURES = (
    "Random features only come near the kernel, and nobody knows how near. Take landmarks, or the exact solver, where "
    "a bound is needed."
)


def overview(fit: KernelFit) -> Overview:
    """What is said of a kernel PCA; intervals hold the exact numbers."""
    captured, keep = captured_in_words(fit), "keeps" if fit.k == 1 else "keep"
    meaning = (
        MEANING_OF_FEATURES
        if math.isnan(fit.found.slack)
        else MEANING_OF_LANDMARKS
        if fit.approximate
        else MEANING_OF_EXACT
    )
    finding = f"{fit.k:,} dimension{'s' * (fit.k != 1)} {keep} {captured} of the variance in the feature space"
    return Overview(
        fit=fit,
        model="Kernel PCA",
        trust=Trust("certified" if fit.reached else "untrusted", fit.reached, accuracy_in_words(fit), meaning),
        kept=view.count_that(fit.k, "component", "keep", captured),
        finding=finding if fit.found.total > 0 else "All rows are alike to this kernel: there is no direction to find.",
        lead=f"{plural(fit.k, 'component')} {keep} {captured} of the variance in the space of features.",
        axes=view.number_names("PC", fit.k),
        glance=view.shares_glance(fit.shares, fit.k, "variance by component"),
        facts=(Fact("kernel", fit.kernel.formula), Fact("width", width_in_words(fit))),
        swamped=Swamped(tuple(kernel_swamping(fit)), "the squared distances between rows"),
        screen=partial(_screen, fit),
        file_screen=partial(_file_screen, fit),
        own_columns=fit.kernel.name != "precomputed",
        prepared=True,
        story=partial(_story, fit),
        numbers=(
            Number("components", f"{fit.k:,}"),
            Number("kernel", fit.kernel.name, fit.kernel.formula),
            Number("variance kept", captured, "in the space of features"),
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
    if rank > MOST_RANK_SHARE * fit.n_rows:
        return f"{said}: too narrow, each row is like no other; try a smaller gamma"
    if rank < LEAST_RANK:
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
    return percent(low) if high - low < SAME_ON_SCREEN else f"{percent(low)} to {percent(high)}"


def kernel_swamping(fit: KernelFit) -> list[tuple[str, float]]:
    """The few columns that make up nearly all of the squared distances between rows; none if many do.

    Where the basis is landmarks, they stand for the rows; kernels that are no function of the distance are not judged.
    """
    found = fit.found
    if fit.scale is not None or fit.kernel.name not in ("rbf", "laplacian") or found.waves:
        return []
    spread = np.var(found.basis, axis=0)
    return find_swamping(spread / spread.sum(), column_names(fit)) if spread.sum() > 0 else []


def _basis(fit: KernelFit) -> str:
    m = len(fit.found.basis)
    if fit.over_rows or (fit.found.triangle is None and not fit.found.waves):
        return ""
    return f": {plural(m, 'frequency', '') if fit.found.waves else plural(m, 'landmark')}"


def _share(fit: KernelFit) -> str:
    low, high = fit.captured
    if math.isnan(low):
        return f"about {float(fit.shares.sum()):.2%}"
    return f"{low:.4%}" if high - low < 5e-7 else f"{low:.3%} to {high:.3%}"


def _screen(fit: KernelFit) -> tuple[Block, ...]:
    scaled = "" if fit.scale is None else " of the scaled columns"
    kernel = Fact("kernel", f"{fit.kernel.formula}{scaled}", more=width_in_words(fit))
    return _components(fit), BLANK, kernel, Fact("accuracy", accuracy_in_words(fit))


def _components(fit: KernelFit) -> Bars:
    shares, shown = fit.shares, min(fit.k, MOST_BARS)
    between = fit.approximate and not math.isnan(fit.found.slack)
    ends = tuple(" and ".join(f"{percent(end):>7}" for end in pair) for pair in fit.share_intervals if between)
    lines = view.share_bars(view.number_names("PC", fit.k), shares, texts=ends)
    lines += view.more_bar(shares[shown:], f"{plural(fit.k - shown, 'more dimension')}, kept too")
    left = 1.0 - float(shares.sum())
    if left > LEAST_SHARE and fit.found.total > 0:
        lines += view.more_bar(np.array([left]), "all other dimensions, not kept", "rest")
    return Bars(f"        share    in all{'':18}exactly between" if between else "        share    in all", lines)


def _file_screen(fit: KernelFit) -> tuple[Block, ...]:
    return (
        Fact("kernel", fit.kernel.formula, more=width_in_words(fit)),
        BLANK,
        view.variance_bars("eigenvalue", fit.values, fit.shares, MOST_BARS),
        BLANK,
        Fact("accuracy", accuracy_in_words(fit)),
        Fact("holds", _held(fit)),
    )


def _story(fit: KernelFit) -> tuple[Fact, ...]:
    made, read = fit.provenance, "all pairs of rows" if fit.over_rows else "the rows"
    return (
        Fact("data", made.data),
        Fact("kernel", f"{fit.kernel.formula}{'' if fit.centered else ', not centred'}"),
        Fact("width", width_in_words(fit)),
        *view.solved_in_words(replace(made, solver=f"{made.solver}{_basis(fit)}"), "the data", read),
        Fact("kept", f"{plural(fit.k, 'component')}, {_share(fit)} of the variance in the feature space"),
        Fact("accuracy", accuracy_in_words(fit)),
    )


def _details(fit: KernelFit) -> dict[str, Any]:
    return {
        "kernel": {"formula": fit.kernel.formula, **asdict(fit.kernel)},
        "effective_rank": fit.effective_rank,
        "kept": {"components": fit.k, "share": float(fit.shares.sum()), "share_interval": fit.captured},
        "total_variance": fit.total_variance,
        "components": view.component_facts(
            name=view.number_names("PC", fit.k),
            variance=fit.variances,
            share=fit.shares,
            cumulative=np.cumsum(fit.shares),
            share_interval=fit.share_intervals,
            eigenvalue=fit.values,
            eigenvalue_interval=fit.value_intervals,
        ),
        "swamped_by": view.column_facts(kernel_swamping(fit), "share"),
    }


def _held(fit: KernelFit) -> str:
    """Which rows of the data the file contains, as sharing the file shares them."""
    m = len(fit.found.basis)
    if fit.kernel.name == "precomputed":
        return "no rows: new ones come as their kernel with the training rows"
    if fit.found.waves:
        return f"no rows, but {m:,} random frequencies"
    if fit.over_rows:
        return f"all {m:,} rows of the data, as the kernel of new rows is taken with them"
    return (
        "no rows of the data" if fit.found.triangle is None else f"{plural(m, 'landmark')}, which are rows of the data"
    )


# The page.

NO_LOADINGS = (
    "A kernel PCA has no loadings: its axes lie in a space of features that the kernel only hints at, so no column of "
    "the data belongs to an axis. Colour the scores by a column to see where it is large."
)


def page(model: Any, asked: PageRequest) -> Payload:
    """The page of a kernel PCA; it has no loadings."""
    fit, context = model.fit_, asked.context
    spectrum = Spectrum(fit.shares, "variance in the feature space", context.choice)
    return page_of(overview(fit), asked.scores(model), context, kernel_section(fit), spectrum=spectrum)


def kernel_section(fit: KernelFit) -> Section:
    """The formula, what its width means for these rows, and intervals for the share of each component."""
    found = similarity(fit)
    shares = fit.share_intervals
    return Section(
        "kernel",
        "The kernel",
        {
            "formula": fit.kernel.formula,
            "centered": fit.centered,
            "scaled": fit.scale is not None,
            "width": width_in_words(fit),
            "accuracy": accuracy_in_words(fit),
            "noLoadings": NO_LOADINGS,
            "rank": encode.number(fit.effective_rank),
            "nRows": fit.n_rows,
            "shares": encode.float32(fit.shares),
            "lower": encode.float32(shares[:, 0]),
            "upper": encode.float32(shares[:, 1]),
            "exact": not fit.approximate,
            "curve": None
            if found is None
            else {
                "distance": encode.float32(found.distance),
                "value": encode.float32(found.value),
                "measure": found.measure,
                "edges": encode.float32(found.edges),
                "counts": found.counts.tolist(),
                "half": encode.number(found.half),
                "pairs": found.n_pairs,
            },
        },
    )
