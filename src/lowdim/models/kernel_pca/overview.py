"""A kernel PCA in words, and on one screen."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from lowdim.models.kernel_pca.record import KernelFit
from lowdim.results.certificate import counted
from lowdim.views.text.explain import size
from lowdim.views.text.lines import Line, listed, percent, shortened, wrapped
from lowdim.views.text.screen import (
    MOST_COMPONENTS,
    ROUNDING,
    About,
    data_lines,
    on_one_screen,
    share_head,
    swampers,
    swamping_note,
    written_line,
)
from lowdim.words import column_names

# A kernel PCA in words.

NARROW, WIDE = 0.5, 1.2
"""An effective rank above this share of the rows, or below this number, is the sign of an unfit width."""

LEAST_SHARE = 1e-12
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


# A kernel PCA on one screen: how many dimensions, what they keep, how wide the kernel is, how accurate, what next.

CLOSE = 5e-4
"""Ends of an interval that lie nearer than this are the same number on a screen."""


def kernel_summary(fit: KernelFit, about: About, width: int = 80) -> list[Line]:
    """At most 24 lines of at most `width` characters; only a command that cannot be broken may be longer."""
    swamped = [] if about.scaled else kernel_swamping(fit)
    lines = [
        *data_lines(fit, about, width),
        Line(""),
        *_kept(fit, about, width),
        Line(""),
        *_components(fit),
        Line(""),
        *wrapped("kernel    ", kernel_in_words(fit, about), width),
        *wrapped("accuracy  ", accuracy_in_words(fit), width),
        *swamping_note(swamped, "the squared distances between rows", width),
        *written_line(about),
    ]
    return on_one_screen(lines, about, width)


def kernel_in_words(fit: KernelFit, about: About) -> str:
    """Which kernel, of what, and what its effective rank says of its width."""
    asked = f" ({about.kernel})" if about.kernel else ""
    return f"{fit.kernel.formula}{' of the scaled columns' if about.scaled else ''}{asked}; {width_in_words(fit)}"


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


def kernel_model_lines(name: str, fit: KernelFit, settings: Mapping[str, Any], width: int = 80) -> list[Line]:
    """What a model file holds: columns, kernel, eigenvalues, accuracy, versions."""
    made = fit.provenance
    how = ["centred" if fit.centered else "not centred", "scaled" if settings["scale"] else "not scaled"]
    versions = ", ".join(f"{package} {version}" for package, version in made.versions)
    kept = f": KernelPCA, {counted(fit.k, 'component')} that keep {captured_in_words(fit)}"
    columns = [] if fit.kernel.name == "precomputed" else [f"columns   {listed(column_names(fit), width - 10)}"]
    return [
        Line(shortened(name, width - len(kept)) + kept, "title"),
        Line(f"fitted on {counted(fit.n_rows, 'row')} × {counted(fit.n_columns, 'column')}, {', '.join(how)}"),
        *map(Line, columns),
        *wrapped("kernel    ", f"{fit.kernel.formula}; {width_in_words(fit)}", width),
        Line(""),
        *_eigenvalues(fit),
        Line(""),
        *wrapped("accuracy  ", accuracy_in_words(fit), width),
        *wrapped("data      ", made.data, width),
        *wrapped("solver    ", made.solver, width),
        *wrapped("holds     ", _held(fit), width),
        Line(shortened(f"made by   {versions}", width)),
        Line("later     no rows can be added"),
    ]


def _kept(fit: KernelFit, about: About, width: int) -> list[Line]:
    if fit.found.total <= 0:
        return [Line("All rows are alike to this kernel: there is no direction to find.", "title")]
    keeps = "dimension keeps" if fit.k == 1 else "dimensions keep"
    said = f"{fit.k:,} {keeps} {captured_in_words(fit)} of the variance in the feature space"
    asked = f" ({about.asked})" if about.asked else ""
    return [Line(said + asked if len(said + asked) <= width else said, "title")]


def _components(fit: KernelFit) -> list[Line]:
    shown = min(fit.k, MOST_COMPONENTS)
    shares, total = fit.shares, np.cumsum(fit.shares)
    largest = max(float(shares.max(initial=0.0)), 1e-300)
    between = fit.approximate and not math.isnan(fit.found.slack)
    lines = [Line(f"        share    in all{'':18}exactly between" if between else "        share    in all", "faint")]
    for i in range(shown):
        ends = " and ".join(f"{percent(end):>7}" for end in fit.share_intervals[i]) if between else ""
        text = share_head(f"PC{i + 1}", float(shares[i]), largest, percent(float(total[i]))) + ends
        lines.append(Line(text.rstrip(), "bar"))
    if fit.k > shown:
        text = f"{counted(fit.k - shown, 'more dimension')}, kept too"
        lines.append(Line(share_head("more", float(shares[shown:].sum())) + text, "faint"))
    left = 1.0 - float(shares.sum())
    if left > ROUNDING and fit.found.total > 0:
        lines.append(Line(share_head("rest", left) + "all other dimensions, not kept", "faint"))
    return lines


def _eigenvalues(fit: KernelFit) -> list[Line]:
    shares, total = fit.shares, np.cumsum(fit.shares)
    lines = [Line(f"{'':<5} {'eigenvalue':>12}  {'share':>8}  {'in all':>8}", "faint")]
    for i in range(min(fit.k, MOST_COMPONENTS)):
        text = f"{f'PC{i + 1}':<5} {fit.values[i]:>12.6g}  {percent(float(shares[i])):>8}"
        lines.append(Line(f"{text}  {percent(float(total[i])):>8}"))
    if fit.k > MOST_COMPONENTS:
        lines.append(Line(f"and {fit.k - MOST_COMPONENTS:,} more", "faint"))
    return lines


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
