"""A non-negative factorisation in words."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from lowdim.models.nmf.figures import column_shares
from lowdim.models.nmf.record import NonNegativeFit
from lowdim.results.certificate import counted
from lowdim.views.overview import (
    BLANK,
    MOST_BARS,
    Bar,
    Bars,
    Block,
    Fact,
    Overview,
    Said,
    missing_in_words,
    numbered,
    shares_glance,
    sought,
    steps_in_words,
    that,
)
from lowdim.views.plots.paths import SearchPath, path_of
from lowdim.views.plots.representations import leading
from lowdim.views.text.lines import percent, size
from lowdim.words import column_names

MOST_COLUMNS = 8
"""Columns at most that are named for a part, …"""

FAINT = 0.1
"""… if their entry is more than this share of the largest."""

ROUNDING = 1e-13
"""KKT residual that is rounding."""


def overview(fit: NonNegativeFit) -> Overview:
    """What is said of parts."""
    parts, explain = counted(fit.k, "part"), f"explain{'s' * (fit.k == 1)} {percent(fit.explained)} of the deviance"
    return Overview(
        fit=fit,
        model="Non-negative matrix factorisation",
        trust=sought(fit.reached, descent_in_words(fit)),
        kept=that(fit.k, "part", "explain", percent(fit.explained)),
        finding=f"{parts} {explain}",
        lead=f"{parts} that only add up {explain}.",
        axes=numbered("part ", fit.k),
        glance=shares_glance(fit.masses, fit.k, "share by part"),
        facts=(Said("loss", loss_in_words(fit)), Said("steps", steps_in_words(fit.descent.steps, fit.reached))),
        screen=partial(_screen, fit),
        grows="partial_fit",
        story=partial(_story, fit),
        numbers=(
            Fact("parts", f"{fit.k:,}"),
            Fact("deviance explained", percent(fit.explained), f"{fit.loss_name} loss"),
        ),
        details=partial(_details, fit),
        proof={"kkt_residual": fit.descent.residual, "tol": fit.descent.tol, "steps": fit.descent.steps},
    )


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


def _stable(fit: NonNegativeFit) -> str:
    assert fit.stability is not None
    return f"{float(fit.stability.min()):.2f} to {float(fit.stability.max()):.2f}"


def _screen(fit: NonNegativeFit) -> tuple[Block, ...]:
    return (
        _parts(fit),
        BLANK,
        Said("loss", loss_in_words(fit)),
        Said("sparse", sparseness_in_words(fit)),
        Said("accuracy", descent_in_words(fit)),
    )


def _parts(fit: NonNegativeFit) -> Bars:
    made, shown = [made_of(fit, i) for i in range(min(fit.k, MOST_BARS))], fit.masses[:MOST_BARS].tolist()
    lines = [
        Bar((f"part {i + 1}", percent(shown[i])), shown[i], tuple(made[i]), "" if made[i] else "nothing")
        for i in range(len(shown))
    ]
    if fit.k > MOST_BARS:
        rest, more = percent(float(fit.masses[MOST_BARS:].sum())), counted(fit.k - MOST_BARS, "more part")
        lines.append(Bar((), text=f"{'more':<8}{rest:<8} {more}", part="faint"))
    return Bars(f"{'':8}{'share':<21}made of", tuple(lines), "{:<8}{:<8} {bar:10}  ", 10, signed=False)


def _story(fit: NonNegativeFit) -> tuple[Said, ...]:
    made = fit.provenance
    return (
        Said("data", made.data),
        *missing_in_words(fit),
        Said("loss", loss_in_words(fit)),
        Said("solver", made.solver),
        Said("because", made.reason),
        Said("memory", f"about {size(made.memory)} beside the data"),
        Said("kept", f"{counted(fit.k, 'part')}, {percent(fit.explained)} of the deviance explained"),
        Said("sparse", sparseness_in_words(fit)),
        Said("stable", stability_in_words(fit)),
        Said("accuracy", descent_in_words(fit)),
    )


def _details(fit: NonNegativeFit) -> dict[str, Any]:
    stability = fit.stability
    return {
        "missing": fit.missing,
        "loss": {"name": fit.loss_name, "beta": fit.beta, "value": fit.loss, "without_parts": fit.null_loss},
        "kept": {"components": fit.k, "explained_deviance": fit.explained},
        "consensus": fit.consensus,
        "components": [
            {
                "name": f"part{i + 1}",
                "share": float(fit.masses[i]),
                "sparseness": float(fit.sparseness[i]),
                "code_sparseness": float(fit.codes.sparseness[i]),
                "stability": None if stability is None else float(stability[i]),
                "made_of": [{"column": name, "share": share} for name, share in made_of(fit, i)],
            }
            for i in range(fit.k)
        ],
    }


def search_path(fit: NonNegativeFit) -> SearchPath:
    """How the loss fell."""
    return path_of(fit.descent.path, f"loss ({fit.loss_name})", "look", False, fit.reached)
