"""The page of a fit: what its overview says at the head, and below it what only pages show."""

from __future__ import annotations

from dataclasses import replace

from lowdim.errors import BadInput
from lowdim.types import Floats
from lowdim.views.overview import Fact, Overview, Trust
from lowdim.views.report.payload import Beside, Columns, MadeBy, Payload, Proof, Section, Spectrum, shown_rows
from lowdim.views.text.card import swamped_in_words
from lowdim.views.text.lines import percent


def page_of(
    seen: Overview,
    scores: Floats | None,
    beside: Beside,
    *sections: Section,
    spectrum: Spectrum | None = None,
    columns: Columns | None = None,
) -> Payload:
    """All that a page shows of a fit, with scores (n, k) of rows, or without any rows."""
    k = len(seen.axes)
    if scores is not None and scores.shape[1] != k:
        raise BadInput(f"The fit has {k} components, but the scores have {scores.shape[1]}: pass its own scores.")
    return Payload(
        title=beside.title,
        model=seen.model,
        lead=seen.lead,
        axes=seen.axes,
        facts=_facts(seen),
        proof=proof_of(seen.trust),
        made=_made_by(seen, beside),
        spectrum=spectrum,
        rows=None if scores is None else shown_rows(scores, beside),
        columns=columns,
        picture=None if columns is None else beside.picture,
        warnings=(*beside.warnings, *_swamped(seen)),
        sections=(*sections, *beside.sections),
    )


def headed_by(seen: Overview, page: Payload) -> Payload:
    """The page of a space, with what is said of the model that works in it at its head."""
    return replace(page, model=seen.model, lead=seen.lead, facts=_facts(seen))


def sentence(text: str) -> str:
    """A capital letter and a full stop."""
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def proof_of(trust: Trust) -> Proof:
    """How far the numbers can be trusted, for a page."""
    said = trust.sentence.removeprefix("certified: ").removeprefix("reached: ")
    said = said.removeprefix("NOT reached: ") if trust.badge else said
    return Proof(trust.badge or trust.word, trust.reached, sentence(said), trust.meaning)


def _facts(seen: Overview) -> tuple[Fact, ...]:
    n, p = seen.fit.n_rows, seen.fit.n_columns
    missing = (Fact("missing values", f"{seen.missing:,}", percent(seen.missing / (n * p))),) if seen.missing else ()
    return (Fact("rows", f"{n:,}"), Fact("columns", f"{p:,}", seen.scaling), *missing, *seen.numbers)


def _made_by(seen: Overview, beside: Beside) -> MadeBy:
    """How the same page is made again."""
    made = seen.made
    if made is None:
        return MadeBy(beside.python, beside.cli, ())
    facts = (("data", made.data), ("solver", made.solver), ("why this solver", made.reason), ("seed", made.seed))
    known = tuple((name, text) for name, text in facts if text not in ("", "None"))
    return MadeBy(beside.python, beside.cli, known + made.versions)


def _swamped(seen: Overview) -> tuple[str, ...]:
    """That a few columns on a large scale hold nearly everything."""
    if not seen.swamped.found:
        return ()
    return (f"{swamped_in_words(*seen.swamped)}; scaling gives all columns the same weight.",)
