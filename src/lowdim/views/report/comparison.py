"""The page of several models of the same rows."""

from __future__ import annotations

from lowdim.results.certificate import counted
from lowdim.results.comparison import Comparison
from lowdim.views.report.payload import Fact, MadeBy, Payload, Proof
from lowdim.views.report.sections.gallery import gallery_section
from lowdim.views.report.sections.table import table_section

MEANING = (
    "Every model saw the same rows, and is judged by the same others, which it has not seen. The standard error is by "
    "how these rows differ; another seed holds other rows out."
)
KNOWN = "The models are judged by the rows they were fitted on, so the one with most freedom looks best."

SHOWN = {
    "model": "model",
    "k": "k",
    "error": "error",
    "error_se": "its standard error",
    "training_error": "error where it learnt",
    "basis_sparseness": "sparseness of the basis",
    "code_sparseness": "sparseness of the codes",
    "of_original": "bytes, as a share",
    "fit_seconds": "seconds to fit",
}
"""Columns of the table that are shown, as they are called there."""


def comparison_payload(found: Comparison, title: str, python: str = "", cli: str = "") -> Payload:
    """All that a page shows of a comparison: the table, and pictures where rows are some."""
    table = found.table()
    listed = {said: table[name] for name, said in SHOWN.items()}
    word = "held out" if found.n_held_out else "not held out"
    pictures = () if found.shape is None else (gallery_section(found),)
    return Payload(
        title=title,
        model="Comparison",
        lead=f"{counted(len(found.representations), 'model')} of the same rows: {found.verdict()}.",
        axes=(),
        facts=(
            Fact("rows", f"{found.n_rows:,}", f"{found.n_held_out:,} held out"),
            Fact("columns", f"{found.n_columns:,}"),
            Fact("models", f"{len(found.representations):,}"),
        ),
        proof=Proof(word, bool(found.n_held_out), f"Judged by {found.judged}", MEANING if found.n_held_out else KNOWN),
        made=MadeBy(python, cli, (("data", found.data), ("seed", found.seed))),
        sections=(
            table_section("What each model loses and takes", listed, "The error is |X − X̂| / |X|, less is better."),
            *pictures,
        ),
    )
