"""Topics to be read: lines for a terminal, plain facts for JSON, and the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.models.nmf.figures import Parts
from lowdim.recipes.topics.result import RANKINGS, Scores, Topics, first_words, lift
from lowdim.views.overview import Number, search_trust
from lowdim.views.plots.representations import Leading
from lowdim.views.report import encode
from lowdim.views.report.page import proof_of
from lowdim.views.report.payload import Columns, MadeBy, Payload, ReportContext, Section, colour_column, shown_rows
from lowdim.views.report.sections import table_section
from lowdim.views.text.lines import Line, percent, shortened, wrapped
from lowdim.words import plural

# Which words each topic is made of.


def topic_words(found: Topics, most: int = 10, by: str = "weight", most_topics: int = 12) -> Parts:
    """The first words of each topic by "weight", "lift" or "relevance", always with their shares of the topic."""
    orders = first_words(found.topics, found.weights, by, most)
    shown = []
    for t in range(min(found.k, most_topics)):
        order = orders[t]
        agreed = "" if np.isnan(found.npmi[t]) else f", NPMI {found.npmi[t]:.2f}"
        note = f"{100 * found.weights[t]:.0f} % of the words{agreed}"
        words = tuple(found.words[j] for j in order)
        shown.append(Leading(words, found.topics[t, order], f"topic {t + 1}", note))
    return Parts(tuple(shown), max(0, found.k - most_topics), f"share of the topic; words by {by}")


# Words and texts of each topic.

MOST_WORDS_OF_TOPIC, MOST_TEXTS = 20, 12


def topics_section(found: Topics) -> Section:
    """Of each topic the words by three rankings, and the texts that have most of it."""
    orders = {by: first_words(found.topics, found.weights, by, MOST_WORDS_OF_TOPIC) for by in RANKINGS}
    lifts = lift(found.topics, found.weights)
    shown = [
        {
            "name": f"topic {t + 1}",
            "share": encode.number(float(found.weights[t])),
            "documents": int(found.documents[t]),
            "npmi": encode.number(float(found.npmi[t])),
            "stability": None if found.stability is None else encode.number(float(found.stability[t])),
            "words": {by: _words(found, t, orders[by][t], lifts) for by in RANKINGS},
            "texts": _texts(found, t),
        }
        for t in range(found.k)
    ]
    return Section("topics", "The topics", {"topics": shown, "classes": _page_classes(found)}, first=True)


def _words(found: Topics, topic: int, which: NDArray[np.intp], lifts: NDArray[np.float64]) -> list[dict[str, Any]]:
    return [
        {
            "word": found.words[j],
            "share": encode.number(float(found.topics[topic, j])),
            "lift": encode.number(float(lifts[topic, j])),
        }
        for j in which
    ]


def _texts(found: Topics, topic: int) -> list[dict[str, Any]]:
    """The texts with the largest share of a topic; of equal ones the longest, whose share is the surest."""
    order = np.lexsort((-found.lengths, -found.shares[:, topic].round(3)))[:MOST_TEXTS]
    return [
        {
            "name": found.names[i],
            "label": None if found.labels is None else found.labels[i],
            "share": encode.number(float(found.shares[i, topic])),
            "words": int(found.lengths[i]),
        }
        for i in order
        if found.shares[i, topic] > 0
    ]


def _page_classes(found: Topics) -> dict[str, Any] | None:
    """Texts of each known class by their largest topic."""
    if found.labels is None:
        return None
    table = found.table("classes")
    counts = [[int(one) for one in table[f"topic{t + 1}"]] for t in range(found.k)]
    return {"names": list(table["class"]), "counts": [list(row) for row in zip(*counts, strict=True)]}


# The page of the topics of a collection of texts.

PAGE_LOSSES = {"kl": "likeliest topics of the counts", "frobenius": "least squares of tf-idf"}


def topics_payload(found: Topics, title: str, python: str = "", cli: str = "", rows: bool = True) -> Payload:
    """All that a page shows of topics: words, texts, how coherent and how stable they are, and texts among them."""
    axes = tuple(f"topic {t + 1}" for t in range(found.k))
    said = f"{'reached' if found.reached else 'NOT reached'}: {plural(found.steps, 'step')}, best of " + plural(
        len(found.objectives), "start"
    )
    shares = np.where(found.empty[:, None], np.nan, found.shares)
    return Payload(
        title=title,
        model="Topics",
        lead=f"{plural(found.k, 'topic')} in {plural(len(found.names), 'text')}. {_largest(found)}",
        axes=axes,
        facts=_facts(found),
        proof=proof_of(search_trust(found.reached, said)),
        made=MadeBy(python, cli, (("loss", PAGE_LOSSES[found.loss]), ("stop words", found.vocabulary.stop_words))),
        rows=shown_rows(shares, _beside(found, title)) if rows else None,
        columns=Columns(
            found.words,
            found.topics,
            np.zeros(len(found.words)),
            np.ones(len(found.words)),
            entry="share",
            signed=False,
        )
        if len(found.words) <= MOST_WORDS_OF_PAGE
        else None,
        sections=(topics_section(found), *_page_scores(found)),
    )


MOST_WORDS_OF_PAGE = 2_000
"""Words up to which whole topics are in the page; beyond, only the first words of each."""


SCORES = {"npmi": "coherence (NPMI)", "umass": "coherence (UMass)", "words": "words a topic, judged"}
"""Columns that are called otherwise in a page."""


def _largest(found: Topics) -> str:
    """What the topics are about that most texts have most of, by their first words."""
    counts = np.bincount(found.main[found.main >= 0], minlength=found.k)
    words = found.top_words("weight", 3)
    largest = np.argsort(-counts, kind="stable")[:3]
    first = [f"{', '.join(words[t])} ({plural(int(counts[t]), 'text')})" for t in largest]
    return f"The largest: {'; '.join(first)}."


def _facts(found: Topics) -> tuple[Number, ...]:
    empty = int(found.empty.sum())
    facts = [
        Number("texts", f"{len(found.names):,}", f"{empty:,} without counted words" if empty else ""),
        Number("words", f"{len(found.words):,}", f"in {found.vocabulary.min_df:,} texts at least"),
        Number("topics", f"{found.k:,}"),
        Number("coherence", f"{float(np.nanmean(found.npmi)):.3f}", "mean NPMI, −1 to 1"),
    ]
    if found.perplexity is not None:
        facts.append(Number("perplexity", f"{found.perplexity:,.0f}", "of held-out words"))
    if found.agreement is not None:
        facts.append(Number("agreement", f"{found.agreement:.3f}", "with the known classes, 0 to 1"))
    return tuple(facts)


def _beside(found: Topics, title: str) -> ReportContext:
    main = ["" if t < 0 else f"topic {t + 1}" for t in found.main]
    classes = () if found.labels is None else (colour_column("class", list(found.labels)),)
    return ReportContext(title, row_names=found.names, colours=(*classes, colour_column("largest topic", main)))


def _page_scores(found: Topics) -> tuple:  # type: ignore[type-arg]
    if len(found.scores) < 2:
        return ()
    table = {SCORES.get(name, name): values for name, values in found.table("scores").items()}
    note = (
        "The same texts and words for each method. Higher is better for coherence and agreement, lower for perplexity."
    )
    return (table_section("Against other methods", table, note),)


# Topics to be read: lines for a terminal, and plain facts for JSON.

LOSSES = {"kl": "counts, by Kullback–Leibler divergence", "frobenius": "tf-idf, by least squares"}

MOST_CLASSES = 12
"""Topics beside classes that can be looked over, and half of such classes."""

TOP = 10
"""Words that coherence is about where topics have as many."""

LEAST_ROOM = 12
"""For words, however narrow the screen."""


def topic_lines(name: str, found: Topics, width: int = 80) -> list[Line]:
    """What was counted, the topics with their words, the known classes among them, and how good all is."""
    return [
        *_head(name, found, width),
        Line(""),
        *_topics(found, width),
        *_classes(found, width),
        Line(""),
        *_scores(found.scores, width),
    ]


def _head(name: str, found: Topics, width: int) -> list[Line]:
    shape = f"{plural(len(found.names), 'text')}, {plural(found.k, 'topic')}"
    vocabulary = found.vocabulary
    words = (
        f"{len(found.words):,}, those in {vocabulary.min_df:,} to {vocabulary.most_df:,} texts; "
        f"stop words left out: {vocabulary.stop_words}"
    )
    starts = len(found.objectives)
    fit = f"{LOSSES[found.loss]}; {'one start' if starts == 1 else f'best of {starts} starts'}, {found.steps} steps"
    odd = [f"{int(found.empty.sum()):,} without counted words"] if found.empty.any() else []
    odd += [f"{found.repeats:,} repeat another, and are left out of coherence and perplexity"] if found.repeats else []
    return [
        Line(f"{shortened(name, max(20, width - len(shape) - 2))}: {shape}", "title"),
        *wrapped("words     ", words, width),
        *(wrapped("texts     ", f"{'; '.join(odd)}", width) if odd else []),
        *wrapped("fit       ", fit, width),
    ]


def _topics(found: Topics, width: int) -> list[Line]:
    """Two rows of words for each: those of most weight, and those that are most its own."""
    stable = found.stability
    head = f"topic   share   texts   NPMI  {'stable  ' if stable is not None else ''}"
    room = max(LEAST_ROOM, width - len(head))
    lines = [Line(head + shortened("words of most weight, below: of most lift", room), "faint")]
    rows = zip(found.weights, found.documents, found.npmi, found.top_words(), found.top_words("lift"), strict=True)
    for t, (share, texts, npmi, words, own) in enumerate(rows):
        left = f"{t + 1:>5}{percent(share):>8}{texts:>8,}{_number(npmi, 2):>7}  "
        left += f"{_number(stable[t], 2):>6}  " if stable is not None else ""
        lines.append(Line(left + _as_many(words, room)))
        lines.append(Line(" " * len(head) + _as_many(own, room), "faint"))
    return lines


def _as_many(words: list[str], room: int) -> str:
    """As many words as there is room for; at least one. A topic that no text has has none."""
    if not words:
        return "-"
    count = next((i for i in range(len(words), 1, -1) if len(" ".join(words[:i])) <= room), 1)
    return shortened(" ".join(words[:count]), room)


def _classes(found: Topics, width: int) -> list[Line]:
    """Texts of each known class by their main topic."""
    if found.labels is None:
        return []
    table = dict(found.table("classes"))
    names = table.pop("class")
    wide = min(24, max(15, *(len(name) for name in names)))
    cell = max(4, *(len(f"{count:,}") for column in table.values() for count in column))
    room = max(1, (width - wide) // (cell + 2))
    columns = list(table.values())[: min(room, MOST_CLASSES)]
    lines = [Line(f"{'class, by topic':<{wide}}{''.join(f'  {t + 1:>{cell}}' for t in range(len(columns)))}", "faint")]
    for i, name in enumerate(names[: 2 * MOST_CLASSES]):
        cells = "".join(f"  {f'{column[i]:,}' if column[i] else '.':>{cell}}" for column in columns)
        lines.append(Line(f"{shortened(name, wide):<{wide}}{cells}"))
    return [Line(""), *lines, *_cut(len(table) - len(columns), max(0, len(names) - 2 * MOST_CLASSES), width)]


def _cut(topics: int, classes: int, width: int) -> list[Line]:
    """How many there was no room for."""
    more = [f"{plural(topics, 'more topic')}"] if topics else []
    more += [f"{classes:,} more {'class' if classes == 1 else 'classes'}"] if classes else []
    return wrapped("", f"and {', '.join(more)}: --json has them all", width, "faint") if more else []


def _scores(scores: tuple[Scores, ...], width: int) -> list[Line]:
    """Higher is better, but for the perplexity and the time. What was not run alike is said below."""
    figures = f"{'NPMI':>7}{'UMass':>8}{'perplexity':>12}{'NMI':>7}{'seconds':>9}"
    wide = max(10, min(24, width - len(figures)))
    lines = [Line(f"{'':<{wide}}{figures}", "faint")]
    for one in scores:
        coherence = f"{_number(one.npmi, 3):>7}{_number(one.umass, 1):>8}"
        known = f"{_number(one.perplexity, 0):>12}{_number(one.agreement, 3):>7}"
        lines.append(Line(f"{shortened(one.method, wide - 1):<{wide}}{coherence}{known}{one.seconds:>9.1f}"))
    rule = "better is: higher NPMI, UMass and NMI (with the classes), lower perplexity"
    notes = [rule, *([] if len(scores) == 1 else [f"{one.method}: {one.how}" for one in scores])]
    words = scores[0].words
    notes += [] if words >= TOP else [f"coherence here is that of {plural(words, 'word')} a topic: some have no more"]
    return [*lines, *(line for note in notes for line in wrapped("", note, width, "faint"))]


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None or np.isnan(value) else f"{value:,.{digits}f}"


def topic_facts(found: Topics) -> dict[str, Any]:
    """All that was found but the shares of each text, which are a table of their own."""
    vocabulary = found.vocabulary
    by_weight, by_lift, by_relevance = (found.top_words(by) for by in ("weight", "lift", "relevance"))
    return {
        "texts": len(found.names),
        "empty": [found.names[i] for i in np.flatnonzero(found.empty)],
        "repeated": found.repeats,
        "vocabulary": {
            "words": len(found.words),
            "min_df": vocabulary.min_df,
            "most_df": vocabulary.most_df,
            "stop_words": vocabulary.stop_words,
        },
        "loss": found.loss,
        "starts": list(found.objectives),
        "steps": found.steps,
        "reached": found.reached,
        "topics": [
            {
                "topic": t + 1,
                "share": float(found.weights[t]),
                "documents": int(found.documents[t]),
                "effective_documents": float(found.effective[t]),
                "npmi": float(found.npmi[t]),
                "umass": float(found.umass[t]),
                "stability": None if found.stability is None else float(found.stability[t]),
                "by_weight": _weigh(found, t, by_weight[t]),
                "by_lift": by_lift[t],
                "by_relevance": by_relevance[t],
            }
            for t in range(found.k)
        ],
        "classes": None if found.labels is None else _rows(found.table("classes")),
        "scores": [vars(one) for one in found.scores],
    }


def _weigh(found: Topics, t: int, words: list[str]) -> list[dict[str, Any]]:
    place = {word: j for j, word in enumerate(found.words)}
    return [{"word": word, "share": float(found.topics[t, place[word]])} for word in words]


def _rows(table: Mapping[str, Any]) -> list[dict[str, Any]]:
    columns = {name: list(values) for name, values in table.items()}
    length = len(next(iter(columns.values())))
    return [{name: _plain(values[i]) for name, values in columns.items()} for i in range(length)]


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
