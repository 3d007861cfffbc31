"""Topics of news and of newsgroups, by lowdim and by scikit-learn: coherence, agreement, perplexity, seconds.

Texts are those of LOWDIM_DATA. `python benchmarks/run.py topics` writes the section.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.decomposition import NMF

from lowdim.recipes.topics.counts import WordCounts, count_words, weigh
from lowdim.recipes.topics.fit import (
    TOP,
    Fitted,
    agreement,
    coherence,
    expected_words,
    fit_lda,
    fit_topics,
    perplexity,
    topics_from_factors,
)
from lowdim.recipes.topics.result import first_words

NAME = "topics"
HEAD = """
All contenders get the same counts (cut-offs as in docs/topics.md), and topics the same rules: coherence of the ten
words of most weight in each topic, by the texts that hold them; NPMI of the ten most relevant words (Sievert & Shirley
2014, 0.6) beside it; NMI of largest topics with known classes, by which nothing was chosen; perplexity of the other
half of the words of a tenth of the texts, which the fit did not see (first seed only; 1/k is added to expected counts
of all; — where one more fit would take too long). Nobody has more than one start: lowdim's is random for KL and NNDSVDA
for Frobenius, that of scikit-learn's NMF is NNDSVDA for both, that of LDA random. scikit-learn runs as it comes but for
what is named, which for LDA means 10 passes over the texts; 50 are tried on one case. Figures are means over seeds 1
and 2 for BBC news, of seed 1 alone for newsgroups and for LDA; seconds are those of one fit, counting left out.
"""


@dataclass(frozen=True)
class Case:
    """Texts, and how many topics."""

    title: str
    file: str
    label: str
    k: int
    seeds: tuple[int, ...]
    slow: tuple[str, ...] = ()
    """Contenders that are left out, as they would take many minutes."""
    unforetold: tuple[str, ...] = ()
    """Contenders without a perplexity, which would be one more fit."""


BATCH, LONG, ONLINE = (f"sklearn LDA, {how}" for how in ("batch, 10 passes", "batch, 50 passes", "online, 10 passes"))
LDA = (BATCH, LONG, ONLINE)
UPDATES = "sklearn NMF, KL of counts (mu)"
"""Slow, so that they run with the first seed only."""

CASES = (
    Case("BBC news, 5 topics", "bbc_news.jsonl.gz", "topic", 5, (1, 2)),
    Case("BBC news, 10 topics", "bbc_news.jsonl.gz", "topic", 10, (1, 2), (LONG,)),
    Case("20 newsgroups, 20 topics", "newsgroups20.jsonl.gz", "group", 20, (1,), (LONG, UPDATES), LDA),
)

Contender = Callable[[Any, int, int], Fitted]


def sklearn_frobenius(X: Any, k: int, seed: int) -> Fitted:
    T, idf = weigh(X)
    model = NMF(k, random_state=seed)
    return topics_from_factors(X, model.fit_transform(T), model.components_, idf)


def sklearn_kl(X: Any, k: int, seed: int) -> Fitted:
    model = NMF(k, solver="mu", beta_loss="kullback-leibler", random_state=seed)
    return topics_from_factors(X, model.fit_transform(X), model.components_)


CONTENDERS: dict[str, Contender] = {
    "lowdim, KL of counts": lambda X, k, seed: fit_topics(X, k, "kl", seed),
    "lowdim, Frobenius of tf-idf": lambda X, k, seed: fit_topics(X, k, "frobenius", seed),
    "sklearn NMF, Frobenius of tf-idf (cd)": sklearn_frobenius,
    UPDATES: sklearn_kl,
    BATCH: lambda X, k, seed: fit_lda(X, k, seed, max_iter=10),
    LONG: lambda X, k, seed: fit_lda(X, k, seed, max_iter=50),
    ONLINE: lambda X, k, seed: fit_lda(X, k, seed, max_iter=10, learning_method="online"),
}


def measured(name: str, case: Case, texts: list[str], labels: list[str], counts: WordCounts) -> str:
    fit, rows = CONTENDERS[name], []
    for seed in case.seeds[:1] if name in LDA else case.seeds:
        begun = time.perf_counter()
        found = fit(counts.X, case.k, seed)
        seconds = time.perf_counter() - begun
        weights = expected_words(counts.X, found.shares)
        by = {name: first_words(found.topics, weights, name, TOP) for name in ("weight", "relevance")}
        npmi, umass = coherence(counts.presence, by["weight"])
        relevant, _ = coherence(counts.presence, by["relevance"])
        known = (np.nanmean(values) for values in (npmi, relevant, umass))  # a topic that died has no words
        rows.append((*known, agreement(found.shares, labels), seconds))
    npmi, relevant, umass, nmi, seconds = np.mean(np.array(rows, dtype=np.float64), axis=0)
    foretold = "—" if name in case.unforetold else f"{held_out(fit, case, texts, counts):,.0f}"
    return f"{npmi:.3f} | {relevant:.3f} | {umass:.1f} | {nmi:.3f} | {foretold} | {seconds:.1f}"


def held_out(fit: Contender, case: Case, texts: list[str], counts: WordCounts) -> float:
    first = case.seeds[0]
    found = perplexity(lambda X: fit(X, case.k, first), counts.X, texts, counts.first, 0.1, first)
    return np.nan if found is None else found


def table() -> list[str]:
    made = ["", "## Topics", *HEAD.rstrip().splitlines(), ""]
    made += ["| texts | contender | NPMI | NPMI, relevant words | UMass | NMI | perplexity | seconds |"]
    made += ["|---|---|---|---|---|---|---|---|"]
    for loss in ("kl", "frobenius"):  # compiled once
        fit_topics(count_words(["cat mouse", "cat mouse", "bank money", "bank money"], None, 1.0, None).X, 2, loss, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn says where it has not converged
        for case in CASES:
            with gzip.open(Path(os.environ["LOWDIM_DATA"]) / case.file, "rt") as file:
                rows = [json.loads(line) for line in file]
            texts, labels = [row["text"] for row in rows], [row[case.label] for row in rows]
            counts = count_words(texts, None, 0.5, "english")
            for name in (name for name in CONTENDERS if name not in case.slow):
                line = f"| {case.title} | {name} | {measured(name, case, texts, labels, counts)} |"
                print(line, file=sys.stderr, flush=True)
                made.append(line)
    return made
