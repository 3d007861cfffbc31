"""A vector quantiser in words and on one screen."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lowdim.models.vector_quantizer.figures import clusters
from lowdim.models.vector_quantizer.record import CodebookFit
from lowdim.results.certificate import counted
from lowdim.views.plots.representations import leading
from lowdim.views.text.explain import size
from lowdim.views.text.lines import Line, percent, shortened, wrapped
from lowdim.views.text.screen import BAR, MOST_COMPONENTS, About, fit_screen, model_screen, share_head
from lowdim.words import column_names


def explain_codebook(fit: CodebookFit) -> str:
    """The story of a fit."""
    made = fit.provenance
    return "\n".join(
        [
            f"data       {made.data}",
            f"model      {counted(fit.k, 'codeword')}; each row becomes the nearest, as {counted(fit.bits, 'bit')}",
            f"solver     {made.solver}",
            f"because    {made.reason}",
            f"read       {counted(made.passes, 'pass', 'es')} over the rows",
            f"memory     about {size(made.memory)} beside the data and the result",
            f"kept       {fit.kept:.4%} of the variance{_decibels(fit)}",
            f"lost       {fit.distortion:.6g}, the mean squared distance from a row to its codeword",
            f"usage      {usage_in_words(fit)}",
            f"accuracy   {standing(fit)} (n_init, random_state)",
        ]
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


def codebook_summary(fit: CodebookFit, about: About, width: int = 80) -> list[Line]:
    """At most 24 lines of at most `width` characters."""
    title = f"{counted(fit.k, 'codeword')} {'keeps' if fit.k == 1 else 'keep'} {percent(fit.kept)} of the variance"
    usage, size, accuracy = _said(fit, width)
    return fit_screen(fit, about, title, [*_words(fit, width), Line(""), *usage, *size, *accuracy], width)


def codebook_model_lines(name: str, fit: CodebookFit, width: int = 80) -> list[Line]:
    """What a model file holds."""
    kept = f"VectorQuantizer, {counted(fit.k, 'codeword')} that keep {percent(fit.kept)}"
    usage, _, accuracy = _said(fit, width)
    body = [*_words(fit, width), Line(""), *usage, *accuracy]
    return model_screen(name, fit, kept, body, width, later="no rows can be added")


def _said(fit: CodebookFit, width: int) -> tuple[list[Line], list[Line], list[Line]]:
    """Of usage, size and accuracy."""
    return (
        wrapped("usage     ", usage_in_words(fit), width),
        wrapped("size      ", _sizes(fit), width),
        wrapped("accuracy  ", standing(fit), width),
    )


def codebook_facts(fit: CodebookFit) -> dict[str, Any]:
    """The same as plain facts, for JSON."""
    made = fit.provenance
    return {
        "rows": fit.n_rows,
        "columns": list(column_names(fit)),
        "kept": {"components": fit.k, "share": fit.kept},
        "distortion": fit.distortion,
        "decibels": fit.decibels,
        "bits": fit.bits,
        "perplexity": fit.perplexity,
        "components": [
            {"name": f"word{i + 1}", "share_of_rows": float(share), "codeword": word}
            for i, (share, word) in enumerate(zip(fit.usage, fit.codebook, strict=True))
        ],
        "certificate": {"reached": fit.reached, "sentence": standing(fit)},
        "made_by": {"solver": made.solver, "reason": made.reason, "passes": made.passes, **dict(made.versions)},
    }


def _words(fit: CodebookFit, width: int) -> list[Line]:
    """Codewords by the rows they stand for, with the columns in which they differ most from the mean of all rows."""
    found, names = clusters(fit), column_names(fit)
    shares, total = found.shares, np.cumsum(found.shares)
    lines = [Line(f"word     rows    in all  {'':{BAR}}  far from the mean in", "faint")]
    for i, word in enumerate(found.places[:MOST_COMPONENTS]):
        head = share_head(f"{word + 1}", float(shares[i]), float(shares[0]), percent(float(total[i])))
        signs = [f"{'+' if far > 0 else '−'} {name}" for name, far in leading(found.offsets[i], names, 4).pairs]
        lines.append(Line(shortened(head + "  ".join(signs), width), "bar"))
    if fit.k > MOST_COMPONENTS:
        rest = share_head("more", float(shares[MOST_COMPONENTS:].sum()))
        lines.append(Line(f"{rest}{counted(fit.k - MOST_COMPONENTS, 'more codeword')}", "faint"))
    return lines


def _sizes(fit: CodebookFit) -> str:
    table = fit.compression(8)
    share = float(table["of_original"][0])
    return f"{size(float(table['bytes'][0]))} for codebook and codes, {percent(share)} of the data as float64"


def _decibels(fit: CodebookFit) -> str:
    return "" if math.isinf(fit.decibels) else f", {fit.decibels:.2f} dB above what is lost"
