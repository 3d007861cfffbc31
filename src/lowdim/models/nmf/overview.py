"""A non-negative factorisation in words, and on one screen."""

from __future__ import annotations

import numpy as np

from lowdim.models.nmf.figures import column_shares
from lowdim.models.nmf.record import NonNegativeFit
from lowdim.results.certificate import counted
from lowdim.views.plots.representations import leading
from lowdim.views.text.explain import size
from lowdim.views.text.lines import Line, bar, fitting, named, percent, wrapped
from lowdim.views.text.screen import MOST_COMPONENTS, About, fit_screen, model_screen
from lowdim.words import column_names

BAR = 10

MOST_COLUMNS = 8
"""Columns at most that are named for a part, …"""

ROUNDING = 1e-13
"""KKT residual that is rounding."""

FAINT = 0.1
"""… if their entry is more than this share of the largest."""


def explain_nmf(fit: NonNegativeFit) -> str:
    """The story of a fit."""
    made = fit.provenance
    lines = [f"data       {made.data}"]
    if fit.missing:
        lines.append(f"missing    {fit.missing:,} of {fit.n_rows * fit.n_columns:,} values")
    lines += [
        f"loss       {loss_in_words(fit)}",
        f"solver     {made.solver}",
        f"because    {made.reason}",
        f"memory     about {size(made.memory)} beside the data",
        f"kept       {counted(fit.k, 'part')}, {percent(fit.explained)} of the deviance explained",
        f"sparse     {sparseness_in_words(fit)}",
        f"stable     {stability_in_words(fit)}",
        f"accuracy   {descent_in_words(fit)}",
    ]
    return "\n".join(lines)


def loss_in_words(fit: NonNegativeFit) -> str:
    """What was minimised, and what is left of it."""
    name = {2.0: "½ Σ (x − wh)²", 1.0: "Kullback–Leibler divergence, a Poisson likelihood"}
    penalties = "" if fit.penalties.none else f", alpha_W {fit.penalties.alpha_W:g}, alpha_H {fit.penalties.alpha_H:g}"
    return f"{name.get(fit.beta, f'{fit.loss_name} divergence')}: {fit.loss:.6g}{penalties}"


def sparseness_in_words(fit: NonNegativeFit) -> str:
    """How few entries parts and codes are made of."""
    parts, codes = (
        float(one[np.isfinite(one)].mean()) if np.isfinite(one).any() else float("nan")
        for one in (fit.sparseness, fit.codes.sparseness)
    )
    said = f"Hoyer's sparseness {parts:.2f} of the parts, {codes:.2f} of their codes (0: all alike, 1: one alone)"
    return said


def stability_in_words(fit: NonNegativeFit) -> str:
    """How far other starts found the same."""
    if fit.stability is None:
        return "one start only: n_init says what others find"
    return f"other starts find parts with a cosine of {_stable(fit)}; consensus on rows {fit.consensus:.2f} (1: clear)"


def descent_in_words(fit: NonNegativeFit) -> str:
    """How far the search came."""
    down = fit.descent
    if down.note:
        return f"untrusted: {down.note}"
    if fit.past.batches > 1:
        return f"{counted(down.steps, 'batch', 'es')} seen once each: as good as a stream allows"
    if down.residual <= ROUNDING:
        return f"reached: after {counted(down.steps, 'step')} the KKT residual is nothing but rounding"
    word = "reached" if down.converged else "NOT reached"
    return (
        f"{word}: after {counted(down.steps, 'step')} the KKT residual is {down.residual:.1e} (asked {down.tol:g}); a "
        "local solution, as all are"
    )


def made_of(fit: NonNegativeFit, part: int) -> list[tuple[str, float]]:
    """Names of the columns that make up a part, largest first, with their shares of it."""
    return leading(column_shares(fit.components[part]), column_names(fit), MOST_COLUMNS, FAINT).pairs


def nmf_summary(fit: NonNegativeFit, about: About, width: int = 80) -> list[Line]:
    """At most 24 lines of at most `width` characters."""
    explain = "explains" if fit.k == 1 else "explain"
    title = f"{counted(fit.k, 'part')} {explain} {percent(fit.explained)} of the deviance"
    return fit_screen(fit, about, title, _body(fit, width), width)


def nmf_model_lines(name: str, fit: NonNegativeFit, width: int = 80) -> list[Line]:
    """What a model file holds."""
    kept = f"NMF, {counted(fit.k, 'part')} that explain {percent(fit.explained)}"
    return model_screen(name, fit, kept, _body(fit, width), width, later="more rows can be added (partial_fit)")


def _body(fit: NonNegativeFit, width: int) -> list[Line]:
    return [
        *_parts(fit, width),
        Line(""),
        *wrapped("loss      ", loss_in_words(fit), width),
        *wrapped("sparse    ", sparseness_in_words(fit), width),
        *wrapped("accuracy  ", descent_in_words(fit), width),
    ]


def _parts(fit: NonNegativeFit, width: int) -> list[Line]:
    shown = min(fit.k, MOST_COMPONENTS)
    largest = max(float(fit.masses.max(initial=0.0)), 1e-300)
    lines = [Line(f"{'':8}{'share':<21}made of", "faint")]
    for i in range(shown):
        share = float(fit.masses[i])
        head = f"{f'part {i + 1}':<8}{percent(share):<8} {bar(share / largest, BAR):<{BAR}}  "
        lines.append(Line(head + _made_of(fit, i, max(10, width - len(head))), "bar"))
    if fit.k > shown:
        rest = float(fit.masses[shown:].sum())
        lines.append(Line(f"{'more':<8}{percent(rest):<8} {counted(fit.k - shown, 'more part')}", "faint"))
    return lines


def _made_of(fit: NonNegativeFit, part: int, room: int) -> str:
    return fitting((f"{named(name)} {share:.0%}" for name, share in made_of(fit, part)), room, ", ") or "nothing"


def _stable(fit: NonNegativeFit) -> str:
    assert fit.stability is not None
    return f"{float(fit.stability.min()):.2f} to {float(fit.stability.max()):.2f}"
