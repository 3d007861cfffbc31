"""A PCA of genotypes in words, and on one screen."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.models.genotype_pca.record import LEVEL, GenotypeFit
from lowdim.results.certificate import counted
from lowdim.views.text.explain import explain_fit
from lowdim.views.text.lines import Line, bar, percent, wrapped
from lowdim.views.text.screen import MOST_COMPONENTS, About, accuracy, fit_screen, model_screen

BAR = 14

NORMALISATIONS = {
    "patterson": "(g − 2p) / √(p (1 − p)), p half the mean call",
    "price": "(g − mean) / √(p (1 − p)), p = (1 + Σ calls) / (2 + 2 n)",
    "center": "g − mean",
}


def explain_genotypes(fit: GenotypeFit) -> str:
    """The story of a fit."""
    story = explain_fit(fit).replace(" over the rows", " over the genotypes")
    lines = [
        f"SNPs       {snps_in_words(fit)}",
        f"people     {individuals_in_words(fit)}",
        f"scaled     {NORMALISATIONS[fit.normalisation]}",
        f"tested     {tests_in_words(fit)}",
        f"new rows   {shrinkage_in_words(fit)}",
    ]
    return "\n".join([story, *lines])


def snps_in_words(fit: GenotypeFit) -> str:
    """How many SNPs were used, and why not the others."""
    left = fit.n_columns - fit.n_kept
    calls = fit.n_rows * fit.n_columns
    missing = f"{percent(fit.missing / calls)} of the calls missing" if fit.missing else "no call missing"
    off = f" ({fit.off_autosomes:,} on no autosome)" if fit.off_autosomes else ""
    return f"{fit.n_kept:,} of {fit.n_columns:,} used" + (f", {left:,} left out{off}" if left else "") + f"; {missing}"


def individuals_in_words(fit: GenotypeFit) -> str:
    """How many individuals were used."""
    out = len(fit.used) - fit.n_rows
    if not out:
        return f"{fit.n_rows:,}, nobody left out"
    rounds = f", outliers in {counted(fit.rounds, 'round')}" if fit.rounds else ""
    return f"{fit.n_rows:,} of {len(fit.used):,} ({out:,} left out{rounds})"


def tests_in_words(fit: GenotypeFit) -> str:
    """How many axes are more than noise."""
    if not len(fit.p_values):
        return "no axis: that needs all eigenvalues"
    more = " or more" if fit.significant == len(fit.p_values) else ""
    axes = "axis is" if fit.significant == 1 and not more else "axes are"
    first = f"{fit.effective_snps[0]:,.0f} effective SNPs" if np.isfinite(fit.effective_snps[0]) else "no spread"
    return (
        f"{fit.significant}{more} {axes} more than noise gives (Tracy–Widom, p < {LEVEL:g} each, {first}), if "
        "individuals are no relatives"
    )


def shrinkage_in_words(fit: GenotypeFit) -> str:
    """How far new individuals fall short of the map."""
    if np.isnan(fit.shrinkage).all():
        return "how much shorter their scores are is not known here"
    shown = ", ".join(f"{value:.2g}" for value in fit.shrinkage[:4])
    return f"their scores are {shown}{' …' if fit.k > 4 else ''} times as long on these axes (shrinkage_)"


def genotype_summary(fit: GenotypeFit, about: About, width: int = 80) -> list[Line]:
    """At most 24 lines of at most `width` characters."""
    keep = "keeps" if fit.k == 1 else "keep"
    title = f"{counted(fit.k, 'axis', '')[:-4]}{'axis' if fit.k == 1 else 'axes'} {keep} {_share(fit)} of the variance"
    return fit_screen(fit, about, title, _body(fit, width), width)


def genotype_model_lines(name: str, fit: GenotypeFit, width: int = 80) -> list[Line]:
    """What a model file holds."""
    kept = f"PCA of genotypes, {fit.k} {'axis' if fit.k == 1 else 'axes'} that keep {_share(fit)}"
    return model_screen(name, fit, kept, _body(fit, width), width)


def genotype_facts(fit: GenotypeFit) -> dict[str, Any]:
    """What only such a fit knows."""
    return {
        "normalisation": fit.normalisation,
        "individuals": {"came": len(fit.used), "used": fit.n_rows},
        "snps": {
            "came": fit.n_columns,
            "used": fit.n_kept,
            "off_autosomes": fit.off_autosomes,
            "missing_calls": fit.missing,
        },
        "significant": fit.significant,
        "tracy_widom": [
            {"axis": i + 1, "statistic": float(s) if np.isfinite(s) else None, "p_value": float(p)}
            for i, (s, p) in enumerate(zip(fit.statistics, fit.p_values, strict=True))
        ],
        "shrinkage": [None if np.isnan(value) else float(value) for value in fit.shrinkage],
    }


def _share(fit: GenotypeFit) -> str:
    return percent(float(fit.shares.sum()))


def _body(fit: GenotypeFit, width: int) -> list[Line]:
    return [
        *_axes(fit),
        Line(""),
        *wrapped("SNPs      ", snps_in_words(fit), width),
        *wrapped("people    ", individuals_in_words(fit), width),
        *wrapped("tested    ", tests_in_words(fit), width),
        *wrapped("new rows  ", shrinkage_in_words(fit), width),
        *wrapped("accuracy  ", accuracy(fit), width),
    ]


def _axes(fit: GenotypeFit) -> list[Line]:
    shown = min(fit.k, MOST_COMPONENTS)
    largest = max(float(fit.shares[0]), 1e-300)
    lines = [Line(f"{'':5}{'share':>8}  {'':{BAR}}  {'Tracy–Widom':>11}  {'p-value':>8}", "faint")]
    for i in range(shown):
        share = float(fit.shares[i])
        tested = f"{fit.statistics[i]:>11.2f}  {fit.p_values[i]:>8.1g}" if i < len(fit.p_values) else ""
        head = f"{f'PC{i + 1}':<5}{percent(share):>8}  {bar(share / largest, BAR):{BAR}}  "
        lines.append(Line((head + tested).rstrip(), "bar"))
    if fit.k > shown:
        lines.append(Line(f"more {fit.k - shown:,}", "faint"))
    return lines
