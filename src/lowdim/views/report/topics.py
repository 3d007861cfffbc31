"""The page of the topics of a collection of texts."""

from __future__ import annotations

import numpy as np

from lowdim.results.certificate import counted
from lowdim.results.topics import Topics
from lowdim.views.report.beside import Beside, colour_column
from lowdim.views.report.payload import Columns, Fact, MadeBy, Payload
from lowdim.views.report.rows import shown_rows
from lowdim.views.report.sections.table import table_section
from lowdim.views.report.sections.topics import topics_section
from lowdim.views.report.standing import proof_of_search

LOSSES = {"kl": "likeliest topics of the counts", "frobenius": "least squares of tf-idf"}


def topics_payload(found: Topics, title: str, python: str = "", cli: str = "", rows: bool = True) -> Payload:
    """All that a page shows of topics: words, texts, how coherent and how stable they are, and texts among them."""
    axes = tuple(f"topic {t + 1}" for t in range(found.k))
    said = f"{'reached' if found.reached else 'NOT reached'}: {counted(found.steps, 'step')}, best of " + counted(
        len(found.objectives), "start"
    )
    shares = np.where(found.empty[:, None], np.nan, found.shares)
    return Payload(
        title=title,
        model="Topics",
        lead=f"{counted(found.k, 'topic')} in {counted(len(found.names), 'text')}. {_largest(found)}",
        axes=axes,
        facts=_facts(found),
        proof=proof_of_search(found.reached, said),
        made=MadeBy(python, cli, (("loss", LOSSES[found.loss]), ("stop words", found.vocabulary.stop_words))),
        rows=shown_rows(shares, _beside(found, title)) if rows else None,
        columns=Columns(
            found.words,
            found.topics,
            np.zeros(len(found.words)),
            np.ones(len(found.words)),
            entry="share",
            signed=False,
        )
        if len(found.words) <= MOST_WORDS
        else None,
        sections=(topics_section(found), *_scores(found)),
    )


MOST_WORDS = 2_000
"""Words up to which whole topics are in the page; beyond, only the first words of each."""


SCORES = {"npmi": "coherence (NPMI)", "umass": "coherence (UMass)", "words": "words a topic, judged"}
"""Columns that are called otherwise in a page."""


def _largest(found: Topics) -> str:
    """What the topics are about that most texts have most of, by their first words."""
    counts = np.bincount(found.main[found.main >= 0], minlength=found.k)
    words = found.top_words("weight", 3)
    largest = np.argsort(-counts, kind="stable")[:3]
    first = [f"{', '.join(words[t])} ({counted(int(counts[t]), 'text')})" for t in largest]
    return f"The largest: {'; '.join(first)}."


def _facts(found: Topics) -> tuple[Fact, ...]:
    empty = int(found.empty.sum())
    facts = [
        Fact("texts", f"{len(found.names):,}", f"{empty:,} without counted words" if empty else ""),
        Fact("words", f"{len(found.words):,}", f"in {found.vocabulary.min_df:,} texts at least"),
        Fact("topics", f"{found.k:,}"),
        Fact("coherence", f"{float(np.nanmean(found.npmi)):.3f}", "mean NPMI, −1 to 1"),
    ]
    if found.perplexity is not None:
        facts.append(Fact("perplexity", f"{found.perplexity:,.0f}", "of held-out words"))
    if found.agreement is not None:
        facts.append(Fact("agreement", f"{found.agreement:.3f}", "with the known classes, 0 to 1"))
    return tuple(facts)


def _beside(found: Topics, title: str) -> Beside:
    main = ["" if t < 0 else f"topic {t + 1}" for t in found.main]
    classes = () if found.labels is None else (colour_column("class", list(found.labels)),)
    return Beside(title, row_names=found.names, colours=(*classes, colour_column("largest topic", main)))


def _scores(found: Topics) -> tuple:  # type: ignore[type-arg]
    if len(found.scores) < 2:
        return ()
    table = {SCORES.get(name, name): values for name, values in found.table("scores").items()}
    note = (
        "The same texts and words for each method. Higher is better for coherence and agreement, lower for perplexity."
    )
    return (table_section("Against other methods", table, note),)
