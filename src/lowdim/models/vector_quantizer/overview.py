"""A vector quantiser in words."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from lowdim.models.vector_quantizer.figures import Clusters, clusters
from lowdim.models.vector_quantizer.record import CodebookFit
from lowdim.results.certificate import counted
from lowdim.views.overview import (
    BLANK,
    MOST_BARS,
    Bars,
    Block,
    Fact,
    Overview,
    Said,
    more_bar,
    share_bars,
    shares_glance,
    solved_in_words,
    sought,
    steps_in_words,
    that,
)
from lowdim.views.plots.representations import leading
from lowdim.views.text.lines import percent, size
from lowdim.words import column_names


def overview(fit: CodebookFit) -> Overview:
    """What is said of codewords."""
    words, share = counted(fit.k, "codeword"), percent(fit.kept)
    keeps = f"{words} keep{'s' * (fit.k == 1)} {share} of the variance"
    unused = f"{counted(fit.unused, 'codeword')} stand{'s' * (fit.unused == 1)} for no row"
    return Overview(
        fit=fit,
        model="Vector quantisation",
        trust=sought(fit.reached, standing(fit)),
        kept=that(fit.k, "codeword", "keep", share),
        finding=keeps,
        lead=f"{keeps}.",
        glance=shares_glance(np.sort(fit.usage)[::-1], fit.k, "rows by codeword"),
        facts=(Said("usage", usage_in_words(fit)), Said("steps", steps_in_words(fit.steps, fit.converged))),
        notes=(unused,) if fit.unused else (),
        screen=partial(_screen, fit, True),
        file_screen=lambda: (BLANK, *_screen(fit, False)),
        story=partial(_story, fit),
        numbers=(
            Fact("codewords", f"{fit.k:,}", f"{counted(fit.bits, 'bit')} a row"),
            Fact("variance kept", share),
        ),
        details=partial(_details, fit),
    )


def standing(fit: CodebookFit) -> str:
    """How the search ended."""
    how = "the codewords stood still" if fit.converged else "NOT reached: the codewords still moved"
    return f"{how} after {counted(fit.steps, 'step')}; other starts may end elsewhere"


def usage_in_words(fit: CodebookFit) -> str:
    """How evenly the codewords are used."""
    shares = fit.usage
    said = f"perplexity {fit.perplexity:.4g} of {fit.k}: codewords stand for {shares.min():.2%} to {shares.max():.2%}"
    return f"{said} of the rows{f'; {fit.unused} for none' if fit.unused else ''}"


def _screen(fit: CodebookFit, sized: bool) -> tuple[Block, ...]:
    return (
        cluster_bars(clusters(fit), column_names(fit), "word ", "codeword"),
        BLANK,
        Said("usage", usage_in_words(fit)),
        *((Said("size", _sizes(fit)),) if sized else ()),
        Said("accuracy", standing(fit)),
    )


def cluster_bars(found: Clusters, names: tuple[str, ...], title: str, noun: str) -> Bars:
    """Groups by the rows they stand for, with the columns in which they differ most from the mean of all rows."""
    lines = share_bars(
        tuple(f"{place + 1}" for place in found.places),
        found.shares,
        lambda i: leading(found.offsets[i], names, 4).pairs,
    )
    more = found.shares[MOST_BARS:]
    return Bars(
        f"{title:<9}rows    in all  {'':14}  far from the mean in",
        (*lines, *more_bar(more, counted(len(more), f"more {noun}"))),
    )


def _story(fit: CodebookFit) -> tuple[Said, ...]:
    return (
        Said("data", fit.provenance.data),
        Said("model", f"{counted(fit.k, 'codeword')}; each row becomes the nearest, as {counted(fit.bits, 'bit')}"),
        *solved_in_words(fit.provenance),
        Said("kept", f"{fit.kept:.4%} of the variance{_decibels(fit)}"),
        Said("lost", f"{fit.distortion:.6g}, the mean squared distance from a row to its codeword"),
        Said("usage", usage_in_words(fit)),
        Said("accuracy", f"{standing(fit)} (n_init, random_state)"),
    )


def _details(fit: CodebookFit) -> dict[str, Any]:
    return {
        "kept": {"components": fit.k, "share": fit.kept},
        "distortion": fit.distortion,
        "decibels": fit.decibels,
        "bits": fit.bits,
        "perplexity": fit.perplexity,
        "components": [
            {"name": f"word{i + 1}", "share_of_rows": float(share), "codeword": word}
            for i, (share, word) in enumerate(zip(fit.usage, fit.codebook, strict=True))
        ],
    }


def _sizes(fit: CodebookFit) -> str:
    table = fit.compression(8)
    share = float(table["of_original"][0])
    return f"{size(float(table['bytes'][0]))} for codebook and codes, {percent(share)} of the data as float64"


def _decibels(fit: CodebookFit) -> str:
    return "" if math.isinf(fit.decibels) else f", {fit.decibels:.2f} dB above what is lost"
