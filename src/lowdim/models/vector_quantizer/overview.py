"""What card, screen, JSON and page show of a codebook."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from lowdim.models.base.report import PageRequest, ReportRows
from lowdim.models.vector_quantizer.figures import Clusters, clusters
from lowdim.models.vector_quantizer.record import CodebookFit
from lowdim.views import overview as view
from lowdim.views.overview import BLANK, MOST_BARS, Bars, Block, Fact, Number, Overview
from lowdim.views.plots.groups import Groups
from lowdim.views.plots.representations import leading, row_picture
from lowdim.views.report import encode
from lowdim.views.report.page import page_of, sentence
from lowdim.views.report.payload import Payload, Section
from lowdim.views.report.sections import MOST_PARTS, row_looks, section_of_parts, table_section
from lowdim.views.text.lines import percent, size
from lowdim.words import column_names, plural


def overview(fit: CodebookFit) -> Overview:
    """What is said of codewords."""
    words, share = plural(fit.k, "codeword"), percent(fit.kept)
    keeps = f"{words} keep{'s' * (fit.k == 1)} {share} of the variance"
    unused = f"{plural(fit.unused, 'codeword')} stand{'s' * (fit.unused == 1)} for no row"
    return Overview(
        fit=fit,
        model="Vector quantisation",
        trust=view.search_trust(fit.reached, search_in_words(fit)),
        kept=view.count_that(fit.k, "codeword", "keep", share),
        finding=keeps,
        lead=f"{keeps}.",
        glance=view.shares_glance(np.sort(fit.usage)[::-1], fit.k, "rows by codeword"),
        facts=(Fact("usage", usage_in_words(fit)), Fact("steps", view.steps_in_words(fit.steps, fit.converged))),
        notes=(unused,) if fit.unused else (),
        screen=partial(_screen, fit, True),
        file_screen=lambda: (BLANK, *_screen(fit, False)),
        story=partial(_story, fit),
        numbers=(
            Number("codewords", f"{fit.k:,}", f"{plural(fit.bits, 'bit')} a row"),
            Number("variance kept", share),
        ),
        details=partial(_details, fit),
    )


def search_in_words(fit: CodebookFit) -> str:
    """How the search ended."""
    how = "the codewords stood still" if fit.converged else "NOT reached: the codewords still moved"
    return f"{how} after {plural(fit.steps, 'step')}; other starts may end elsewhere"


def usage_in_words(fit: CodebookFit) -> str:
    """How evenly the codewords are used."""
    shares = fit.usage
    said = f"perplexity {fit.perplexity:.4g} of {fit.k}: codewords stand for {shares.min():.2%} to {shares.max():.2%}"
    return f"{said} of the rows{f'; {fit.unused} for none' if fit.unused else ''}"


def _screen(fit: CodebookFit, sized: bool) -> tuple[Block, ...]:
    return (
        cluster_bars(clusters(fit), column_names(fit), "word ", "codeword"),
        BLANK,
        Fact("usage", usage_in_words(fit)),
        *((Fact("size", _sizes(fit)),) if sized else ()),
        Fact("accuracy", search_in_words(fit)),
    )


def cluster_bars(found: Clusters, names: tuple[str, ...], title: str, noun: str) -> Bars:
    """Groups by the rows they stand for, with the columns in which they differ most from the mean of all rows."""
    lines = view.share_bars(
        tuple(f"{place + 1}" for place in found.places),
        found.shares,
        lambda i: leading(found.offsets[i], names, 4).pairs,
    )
    more = found.shares[MOST_BARS:]
    return Bars(
        f"{title:<9}rows    in all  {'':14}  far from the mean in",
        (*lines, *view.more_bar(more, plural(len(more), f"more {noun}"))),
    )


def _story(fit: CodebookFit) -> tuple[Fact, ...]:
    return (
        Fact("data", fit.provenance.data),
        Fact("model", f"{plural(fit.k, 'codeword')}; each row becomes the nearest, as {plural(fit.bits, 'bit')}"),
        *view.solved_in_words(fit.provenance),
        Fact("kept", f"{fit.kept:.4%} of the variance{_decibels(fit)}"),
        Fact("lost", f"{fit.distortion:.6g}, the mean squared distance from a row to its codeword"),
        Fact("usage", usage_in_words(fit)),
        Fact("accuracy", f"{search_in_words(fit)} (n_init, random_state)"),
    )


def _details(fit: CodebookFit) -> dict[str, Any]:
    return {
        "kept": {"components": fit.k, "share": fit.kept},
        "distortion": fit.distortion,
        "decibels": fit.decibels,
        "bits": fit.bits,
        "perplexity": fit.perplexity,
        "components": view.component_facts(
            name=view.number_names("word", fit.k), share_of_rows=fit.usage, codeword=fit.codebook
        ),
    }


def _sizes(fit: CodebookFit) -> str:
    table = fit.compression(8)
    share = float(table["of_original"][0])
    return f"{size(float(table['bytes'][0]))} for codebook and codes, {percent(share)} of the data as float64"


def _decibels(fit: CodebookFit) -> str:
    return "" if math.isinf(fit.decibels) else f", {fit.decibels:.2f} dB above what is lost"


# The page.

MOST_LEVELS = 12
"""Known groups that have a column in a table."""


def page(model: Any, asked: PageRequest) -> Payload:
    """The page of codewords; codes are numbers of codewords, which have no place in a plane."""
    fit, noun = model.fit_, "codeword"
    usage = sentence(usage_in_words(fit))
    groups = clusters_section(clusters(fit), column_names(fit), asked.context.picture, noun, usage)
    context = asked.with_sections(*against_groups(asked.read, noun, model.codes))
    return page_of(overview(fit), None, context, groups)


def clusters_section(
    found: Clusters, columns: Sequence[str], shape: tuple[int, ...] | None, noun: str, note: str
) -> Section:
    """Each group with its size and its centre: as a picture, or by the columns in which it differs most."""
    shown = [
        {
            "name": f"{noun} {found.places[i] + 1}",
            "share": encode.number(float(found.shares[i])),
            "noise": None if found.noise is None else encode.number(float(found.noise[i])),
            **row_looks(
                found.offsets[i],
                columns,
                None if shape is None else row_picture(found.centres[i], found.centres[i], shape),
            ),
        }
        for i in range(min(len(found.shares), MOST_PARTS))
    ]
    what = "distance from the mean, in standard deviations between the groups"
    return section_of_parts("The groups", noun, what, shown, len(found.shares), signed=True, note=note)


def against_groups(rows: ReportRows | None, noun: str, groups_of: Callable[[Any], Any]) -> tuple[Section, ...]:
    """How many rows of each known group are in which group of the model."""
    if rows is None:
        return ()
    known = [one for one in rows.colours if isinstance(one, Groups) and one.names]
    if not known:
        return ()
    places = np.asarray(groups_of(rows.source), dtype=np.intp)
    found = []
    for one in known:
        counts = np.zeros((places.max() + 1, len(one.names)), dtype=np.int64)
        there = one.codes >= 0
        np.add.at(counts, (places[there], one.codes[there]), 1)
        shown = min(len(one.names), MOST_LEVELS)
        listed = {noun: [f"{noun} {i + 1}" for i in range(len(counts))]}
        listed |= {one.names[j]: counts[:, j].tolist() for j in range(shown)}
        more = f" The first {shown} of {len(one.names):,} are shown." if shown < len(one.names) else ""
        found.append(table_section(f"Against {one.title}", listed, f"Rows of each {one.title} in each {noun}.{more}"))
    return tuple(found)
