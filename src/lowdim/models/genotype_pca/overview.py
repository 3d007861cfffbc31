"""What card, screen, JSON and page show of a PCA of genotypes."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from lowdim.models.base.report import PageRequest
from lowdim.models.genotype_pca.record import LEVEL, GenotypeFit
from lowdim.models.linear import overview as linear
from lowdim.models.linear.overview import add_limits, first_in_words, linear_payload, linear_scores
from lowdim.views.overview import BLANK, MOST_BARS, NOT_SWAMPED, Bar, Bars, Block, Fact, Overview
from lowdim.views.report.payload import Payload
from lowdim.views.report.sections import table_section
from lowdim.views.text.lines import percent
from lowdim.words import plural

NORMALISATIONS = {
    "patterson": "(g − 2p) / √(p (1 − p)), p half the mean call",
    "price": "(g − mean) / √(p (1 − p)), p = (1 + Σ calls) / (2 + 2 n)",
    "center": "g − mean",
}


def overview(fit: GenotypeFit) -> Overview:
    """What is said of a PCA of genotypes: that of a linear fit, and of SNPs, people, tests and new rows."""
    seen = linear.overview(fit)
    share, axes = percent(float(fit.shares.sum())), f"{fit.k:,} {'axis' if fit.k == 1 else 'axes'}"
    return replace(
        seen,
        model="PCA of genotypes",
        finding=f"{axes} {'keeps' if fit.k == 1 else 'keep'} {share} of the variance",
        in_file=f"PCA of genotypes, {axes} that keep {share}",
        facts=(Fact("SNPs", snps_in_words(fit)), Fact("tested", tests_in_words(fit))),
        notes=(),
        swamped=NOT_SWAMPED,
        screen=partial(_screen, fit, seen.trust.sentence),
        file_screen=None,
        prepared=False,
        grows=None,
        story=partial(_story, fit, seen),
        scaling="scaled by allele frequency" if (fit.scale != 1).any() else "not scaled",
        details=partial(_details, fit, seen),
    )


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
    rounds = f", outliers in {plural(fit.rounds, 'round')}" if fit.rounds else ""
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


def _screen(fit: GenotypeFit, accuracy: str) -> tuple[Block, ...]:
    return (
        _axes(fit),
        BLANK,
        Fact("SNPs", snps_in_words(fit)),
        Fact("people", individuals_in_words(fit)),
        Fact("tested", tests_in_words(fit)),
        Fact("new rows", shrinkage_in_words(fit)),
        Fact("accuracy", accuracy),
    )


def _axes(fit: GenotypeFit) -> Bars:
    tested = [f"{s:>11.2f}  {p:>8.1g}" for s, p in zip(fit.statistics, fit.p_values, strict=True)]
    lines = [
        Bar((f"PC{i + 1}", percent(float(fit.shares[i]))), float(fit.shares[i]), text="".join(tested[i : i + 1]))
        for i in range(min(fit.k, MOST_BARS))
    ]
    more = [Bar((), text=f"more {fit.k - MOST_BARS:,}", part="faint")] if fit.k > MOST_BARS else []
    title = f"{'':5}{'share':>8}  {'':14}  {'Tracy–Widom':>11}  {'p-value':>8}"
    return Bars(title, (*lines, *more), "{:<5}{:>8}  {bar:14}  ")


def _story(fit: GenotypeFit, seen: Overview) -> tuple[Fact, ...]:
    return (
        *(one._replace(text=one.text.replace(" over the rows", " over the genotypes")) for one in seen.story()),
        Fact("SNPs", snps_in_words(fit)),
        Fact("people", individuals_in_words(fit)),
        Fact("scaled", NORMALISATIONS[fit.normalisation]),
        Fact("tested", tests_in_words(fit)),
        Fact("new rows", shrinkage_in_words(fit)),
    )


def _details(fit: GenotypeFit, seen: Overview) -> dict[str, Any]:
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
        **seen.details(),
    }


# The page.

P_VALUE = 0.05
"""Below it an axis stands out."""

NOTE = "Patterson, Price & Reich 2006: each axis against the largest of what is left; p below 0.05 stands out."


def page(model: Any, asked: PageRequest) -> Payload:
    """The page of a PCA of genotypes."""
    fit, context = model.fit_, add_limits(model, asked, may_miss=True)
    if not len(fit.p_values):
        return linear_payload(fit, linear_scores(model, asked), context)
    tested = table_section("Which axes are real", model.tracy_widom_, NOTE)
    found = linear_payload(fit, linear_scores(model, asked), replace(context, sections=(tested, *context.sections)))
    return replace(found, lead=_lead(fit)) if fit.total_variance > 0 else found


def _lead(fit: GenotypeFit) -> str:
    """How many axes stand out, and what they keep."""
    above = int(np.argmax(np.append(fit.p_values[: fit.k] >= P_VALUE, True)))
    if not above:
        return f"{first_in_words(fit, fit.k)}; none stands out from chance."
    return f"{first_in_words(fit, above)}; {'it stands' if above == 1 else 'they stand'} out from chance."
