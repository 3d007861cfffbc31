"""A linear fit in words: PCA, and what stands on it."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from lowdim.results.certificate import Certificate, counted, ranges
from lowdim.results.record import LinearFit
from lowdim.views.overview import (
    BLANK,
    MOST_BARS,
    Bar,
    Bars,
    Block,
    Fact,
    Overview,
    Said,
    Swamped,
    Trust,
    more_bar,
    noise_in_words,
    numbered,
    share_bars,
    shares_glance,
    that,
    variance_bars,
)
from lowdim.views.text.lines import percent, size
from lowdim.views.text.screen import SWAMPED, swampers
from lowdim.words import column_names

MOST_VARIANCES = 8
"""Components whose variances the screen of a file shows."""

ROUNDING = 1e-12
"""A share of less than this is what rounding leaves."""

MEANINGS = {
    "certified": "Each component was checked after it was found. The error that the computer may have made in it has a "
    "proven bound, and every bound is within what was asked. This is about arithmetic only: whether other rows would "
    "give the same components is a question of how many rows there are.",
    "planes": "The variances are proven to be right. Some of them are nearly equal, though, and then no single axis is "
    "fixed: any turn within their common plane describes the data as well. Read those components together, never one "
    "by one.",
    "reached": "The model was found step by step, each step making the observed values more probable, until the last "
    "steps changed nothing any more. That is what this says; it is no proof that no better model exists.",
    "untrusted": "Not every number has been proven to be as accurate as was asked. The picture may still be right, but "
    "nothing here guarantees it: fit again with more iterations or another solver before relying on it.",
}


def overview(fit: LinearFit) -> Overview:
    """What is said of a linear fit."""
    scaled, share = bool((fit.scale != 1).any()), percent(float(fit.shares.sum()))
    varies, possible, word = fit.total_variance > 0, min(fit.n_rows - 1, fit.n_columns), fit.certificate.word
    keeps = f"{fit.k:,} dimension{'s keep' if fit.k != 1 else ' keeps'} {share} of the variance"
    nothing = "No column varies: there is no direction to find."
    spectrum = fit.variances if fit.spectrum is None or len(fit.spectrum) < fit.k else fit.spectrum
    return Overview(
        fit=fit,
        model="Principal component analysis",
        trust=Trust(word, fit.reached, accuracy(fit.certificate), MEANINGS[word]),
        kept=that(fit.k, "component", "keep", share) if varies else "no column varies",
        finding=keeps + " of the scaled columns" * scaled if varies else nothing,
        lead=f"{keeps} of {counted(fit.n_columns, 'column')}." if varies else nothing,
        axes=numbered("PC", fit.k),
        glance=shares_glance(spectrum, fit.k, "variance by component"),
        facts=_facts(fit, scaled),
        swamped=Swamped(() if scaled else tuple(swamping(fit))),
        screen=partial(_screen, fit),
        file_screen=partial(_file_screen, fit),
        prepared=True,
        grows="partial_fit, merge",
        story=partial(_story, fit),
        numbers=(
            Fact(
                "components",
                f"{fit.k:,}",
                f"of {possible:,} possible" if fit.k <= possible else f"only {possible:,} vary",
            ),
            Fact("variance kept", share),
        ),
        scaling="scaled to equal variance" if scaled else "not scaled",
        details=partial(_details, fit),
        proof={
            "relative_error": fit.certificate.relative_error,
            "angle": fit.certificate.axis_angle,
            "tol": fit.certificate.tol,
            "tol_of_total": fit.certificate.floor,
            "data_rounding": fit.certificate.relative_data_rounding,
        },
    )


def accuracy(certificate: Certificate) -> str:
    """How far the numbers can be trusted, in one sentence."""
    if certificate.blank:
        return "; ".join(certificate.notes)
    if not certificate.reached:
        return (
            f"NOT reached: the variance of component {ranges(certificate.untrusted)} has fewer right digits than the "
            f"{_digits(certificate.tol)} asked for"
        )
    digits = _digits(max(certificate.relative_error, 1e-16))
    text = f"certified: variances right to {digits} digits"
    return f"{text}{_of_axes(certificate)}{f'; {allowed}' if (allowed := certificate.allowed_by_data) else ''}"


def _of_axes(certificate: Certificate) -> str:
    if certificate.clusters:
        runs = " and ".join(f"PC{run[0] + 1} to PC{run[-1] + 1}" for run in certificate.clusters)
        return f"; {runs} have nearly equal variances, so only the plane they span is fixed"
    if certificate.cut:
        return "; the last one and the next, left out, are nearly equal: keep one more or one fewer"
    angle = math.degrees(certificate.axis_angle)
    return f", directions to {angle:.0e} degrees" if angle > 0 else ""


def _digits(relative: float) -> int:
    return max(0, math.floor(-math.log10(relative)))


def drivers(fit: LinearFit, component: int, most: int = 4) -> list[tuple[str, float]]:
    """The columns with the largest entries in a component, largest first: those that make up nine tenths of it."""
    entries = fit.components[component]
    order = np.argsort(-np.abs(entries), kind="stable")[:most]
    before = np.concatenate([[0.0], np.cumsum(entries[order] ** 2)[:-1]])
    names = column_names(fit)
    return [(names[j], float(entries[j])) for j, done in zip(order, before, strict=True) if done < SWAMPED]


def swamping(fit: LinearFit) -> list[tuple[str, float]]:
    """The few columns that hold nearly all of the variance, and their shares of it; none if many share it.

    Σ_i λ_i v_ij² over the components kept is not more than the variance of column j.
    """
    if fit.total_variance <= 0:
        return []
    return swampers(fit.variances @ fit.components**2 / fit.total_variance, column_names(fit))


def _facts(fit: LinearFit, scaled: bool) -> tuple[Said, ...]:
    made, noise = fit.provenance, fit.noise_variance
    told = () if fit.certificate.blank else (Said("solver", f"{made.solver}, {counted(made.passes, 'pass', 'es')}"),)
    return ((Said("noise", noise_in_words(noise, noise, scaled)),) if noise > 0 else ()) + told


def _screen(fit: LinearFit) -> tuple[Block, ...]:
    names, shown = numbered("PC", fit.k), min(fit.k, MOST_BARS)
    idle = tuple("" if variance > 0 else "nothing: no variance is left" for variance in fit.variances)
    lines = (
        *share_bars(names, fit.shares, partial(drivers, fit), idle),
        *more_bar(fit.shares[shown:], f"{counted(fit.k - shown, 'more dimension')}, kept too"),
        *_not_kept(fit, MOST_BARS - shown),
    )
    title = f"        share    in all  {'':14}  driven by"
    return Bars(title, lines), BLANK, Said("accuracy", accuracy(fit.certificate))


def _not_kept(fit: LinearFit, most: int) -> list[Bar]:
    """The next dimensions, where their variances are known, and what is left beyond them."""
    possible = min(fit.n_rows - 1, len(fit.mean))
    spectrum = np.zeros(0) if fit.spectrum is None or fit.total_variance <= 0 else fit.spectrum[:possible]
    shares = spectrum[fit.k : fit.k + most] / fit.total_variance if len(spectrum) else spectrum
    lines = [
        Bar((f"PC{fit.k + i + 1}", percent(share), ""), share, text="not kept", part="faint")
        for i, share in enumerate(shares.tolist())
    ]
    left = max(0.0, 1.0 - float(fit.shares.sum())) - float(shares.sum())
    beyond = possible - fit.k - len(lines)
    if beyond > 0 and left > ROUNDING:
        lines += more_bar(np.array([left]), f"{counted(beyond, 'more dimension')}, not kept", "rest")
    return lines


def _file_screen(fit: LinearFit) -> tuple[Block, ...]:
    variances = variance_bars("variance", fit.variances, fit.shares, MOST_VARIANCES)
    return BLANK, variances, BLANK, Said("accuracy", accuracy(fit.certificate))


def _story(fit: LinearFit) -> tuple[Said, ...]:
    made, count = fit.provenance, fit.certificate.bytes_read
    said = "\n".join(fit.certificate.notes) if fit.certificate.blank else str(fit.certificate)
    return (
        Said("data", made.data),
        Said("solver", made.solver),
        Said("because", made.reason),
        Said(
            "read", f"{counted(made.passes, 'pass', 'es')} over the rows{'' if count is None else f', {size(count)}'}"
        ),
        Said("memory", f"about {size(made.memory)} beside the data and the result"),
        Said("kept", f"{counted(fit.k, 'component')}, {fit.shares.sum():.4%} of the variance"),
        Said("accuracy", said),
    )


def _details(fit: LinearFit) -> dict[str, Any]:
    total = np.cumsum(fit.shares)
    return {
        "kept": {"components": fit.k, "share": float(fit.shares.sum())},
        "total_variance": fit.total_variance,
        "components": [
            {
                "name": f"PC{i + 1}",
                "variance": float(fit.variances[i]),
                "share": float(fit.shares[i]),
                "cumulative": float(total[i]),
                "driven_by": [{"column": name, "entry": entry} for name, entry in drivers(fit, i)],
            }
            for i in range(fit.k)
        ],
        "swamped_by": [{"column": name, "share": share} for name, share in swamping(fit)],
    }
