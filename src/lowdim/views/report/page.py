"""The page of a fit, and its file: script, style and data in one HTML page that may not use any network."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
from dataclasses import replace
from importlib.resources import files
from typing import Any

from lowdim.errors import BadInput
from lowdim.runtime.files import atomic_write
from lowdim.types import Floats
from lowdim.views.overview import Number, Overview, Trust
from lowdim.views.report.payload import Columns, MadeBy, Payload, Proof, ReportContext, Section, Spectrum, shown_rows
from lowdim.views.text.card import swamped_in_words
from lowdim.views.text.lines import percent
from lowdim.words import shown, shown_lines

ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
"""Characters that could end the element which holds the data; JSON reads the escapes as the same characters."""


def write_report(payload: Payload, path: str | os.PathLike[str]) -> None:
    """Write the page of a payload, whole or not at all."""
    text = report_html(payload)
    with atomic_write(path) as file:
        file.write(text.encode("utf-8", errors="replace"))


def report_html(payload: Payload) -> str:
    """The page as text."""
    script, style = _bundled("page.js"), _bundled("page.css")
    data = json.dumps(_shown(payload.as_json()), allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    for character, escape in ESCAPES.items():
        data = data.replace(character, escape)
    # nothing but this script and this style may run, and nothing may be fetched, whatever the labels hold
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="lowdim">
<title>{html.escape(shown(payload.title))}</title>
<style>{style}</style>
</head>
<body>
<div id="page"><p>This report is drawn by a script that it contains: open it in a browser that runs scripts.</p></div>
<script type="application/json" id="data">{data}</script>
<script>{script}</script>
</body>
</html>
"""


def _shown(value: Any) -> Any:
    """What JSON can hold, its texts as they can be looked at; a text of several lines keeps them."""
    if isinstance(value, str):
        return shown_lines(value)
    if isinstance(value, dict):
        return {shown(key): _shown(one) for key, one in value.items()}
    return list(map(_shown, value)) if isinstance(value, (list, tuple)) else value


def _bundled(name: str) -> str:
    """A file that `make page` built from `frontend/`."""
    return files("lowdim.views.report").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


# The page of a fit: what its overview says at the head, and below it what only pages show.


def page_of(
    seen: Overview,
    scores: Floats | None,
    context: ReportContext,
    *sections: Section,
    spectrum: Spectrum | None = None,
    columns: Columns | None = None,
) -> Payload:
    """All that a page shows of a fit, with scores (n, k) of rows, or without any rows."""
    k = len(seen.axes)
    if scores is not None and scores.shape[1] != k:
        raise BadInput(f"The fit has {k} components, but the scores have {scores.shape[1]}: pass its own scores.")
    return Payload(
        title=context.title,
        model=seen.model,
        lead=seen.lead,
        axes=seen.axes,
        facts=_facts(seen),
        proof=proof_of(seen.trust),
        made=_made_by(seen, context),
        spectrum=spectrum,
        rows=None if scores is None else shown_rows(scores, context),
        columns=columns,
        picture=None if columns is None else context.picture,
        warnings=(*context.warnings, *_swamped(seen)),
        sections=(*sections, *context.sections),
    )


def replace_head(seen: Overview, page: Payload) -> Payload:
    """The page of a linear fit under the head of a model that is built on it."""
    return replace(page, model=seen.model, lead=seen.lead, facts=_facts(seen))


def sentence(text: str) -> str:
    """A capital letter and a full stop."""
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def proof_of(trust: Trust) -> Proof:
    """How far the numbers can be trusted, for a page."""
    said = trust.sentence.removeprefix("certified: ").removeprefix("reached: ")
    said = said.removeprefix("NOT reached: ") if trust.badge else said
    return Proof(trust.badge or trust.word, trust.reached, sentence(said), trust.meaning)


def _facts(seen: Overview) -> tuple[Number, ...]:
    n, p = seen.fit.n_rows, seen.fit.n_columns
    missing = (Number("missing values", f"{seen.missing:,}", percent(seen.missing / (n * p))),) if seen.missing else ()
    return (Number("rows", f"{n:,}"), Number("columns", f"{p:,}", seen.scaling), *missing, *seen.numbers)


def _made_by(seen: Overview, context: ReportContext) -> MadeBy:
    """How the same page is made again."""
    made = seen.made
    if made is None:
        return MadeBy(context.python, context.cli, ())
    facts = (("data", made.data), ("solver", made.solver), ("why this solver", made.reason), ("seed", made.seed))
    known = tuple((name, text) for name, text in facts if text not in ("", "None"))
    return MadeBy(context.python, context.cli, known + made.versions)


def _swamped(seen: Overview) -> tuple[str, ...]:
    """That a few columns on a large scale hold nearly everything."""
    if not seen.swamped.found:
        return ()
    return (f"{swamped_in_words(*seen.swamped)}; scaling gives all columns the same weight.",)
