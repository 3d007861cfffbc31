"""Topics of a collection of texts."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from lowdim import errors
from lowdim.errors import BadInput, BadParameter, EmptyTexts, RankWarning
from lowdim.models.base.parameters import whole
from lowdim.recipes.topics.counts import WordCounts, count_words
from lowdim.recipes.topics.fit import (
    LOSSES,
    MOST_STEPS,
    PASSES,
    TOP,
    Fitted,
    agreement,
    coherence,
    expected_words,
    fit_lda,
    fit_topics,
    near_the_best,
    perplexity,
    stability,
)
from lowdim.recipes.topics.result import Scores, Topics, Vocabulary, alive, first_words
from lowdim.runtime.progress import track
from lowdim.runtime.warn import warn_user
from lowdim.sources.formats.texts import Documents, class_of, read_documents
from lowdim.types import Floats
from lowdim.words import plural

# What `topics` is given: settings that can be had, and texts with names and classes from wherever they are.

LARGEST_SEED = 2**32 - 1
"""scikit-learn takes none above."""


def check_settings(k: Any, loss: Any, min_df: Any, max_df: Any, starts: Any, held_out: Any, seed: Any) -> None:
    """Raise an error that names the first setting that cannot be had."""
    whole("topics", "k", k, 1, None)
    whole("topics", "starts", starts, 1, None)
    whole("topics", "seed", seed, 0, LARGEST_SEED)
    if min_df is not None:
        whole("topics", "min_df", min_df, 1, None)
    if not isinstance(loss, str) or loss not in LOSSES:
        raise BadParameter.of("topics", "loss", loss, "'kl' or 'frobenius'")
    if not _is_number(max_df) or not 0 < max_df <= 1:
        raise BadParameter.of("topics", "max_df", max_df, "a share of the texts, above 0 and up to 1")
    if not _is_number(held_out) or not 0 <= held_out < 1:
        raise BadParameter.of("topics", "held_out", held_out, "a share of the texts, from 0 and below 1")


def documents_of(
    texts: str | os.PathLike[str] | Iterable[str],
    labels: Sequence[Any] | None,
    text: str | None,
    label: str | None,
) -> Documents:
    """Texts with names and classes; None is the class of a text of which it is missing."""
    if isinstance(texts, (str, os.PathLike)):
        if isinstance(texts, str) and not os.path.exists(texts) and any(sign in texts for sign in " \n"):
            raise BadInput(
                f"topics takes many texts, but one text of {len(texts):,} letters came: pass a list of texts, or the "
                "path of a folder or file."
            )
        read = read_documents(texts, text, label)
    else:
        if text is not None or label is not None:
            raise BadParameter("text and label are for paths: pass a list of texts and labels= instead.")
        listed = listed_texts("texts", texts)
        read = Documents(listed, tuple(map(str, range(1, len(listed) + 1))))
    if labels is None:
        return read
    if isinstance(labels, (str, Mapping)) or hasattr(labels, "columns") or not isinstance(labels, Iterable):
        raise BadInput(f"labels is a {type(labels).__name__}, but a list with the class of each text is needed.")
    known = tuple(map(class_of, labels))
    if len(known) != len(read.texts):
        raise BadInput(f"{len(known):,} labels came for {len(read.texts):,} texts; one for each is needed.")
    return Documents(read.texts, read.names, known)


def listed_texts(name: str, texts: Iterable[str]) -> tuple[str, ...]:
    """Texts that came as a list or anything that gives one after another; an error if they are not texts."""
    if isinstance(texts, (str, bytes, os.PathLike)):
        raise BadInput(f"{name} is one {type(texts).__name__}, but many texts are needed: pass a list of them.")
    if isinstance(texts, Mapping) or hasattr(texts, "columns"):  # going through them would give keys or headings
        better = f"list({name}.values())" if isinstance(texts, Mapping) else f"a column, as in {name}['text']"
        raise BadInput(f"{name} is a {type(texts).__name__}, but a list of texts is needed: pass {better}.")
    if not isinstance(texts, Iterable):
        raise BadInput(f"{name} is a {type(texts).__name__}, but a list of texts is needed.")
    listed = tuple(texts)
    odd = next((i for i, text in enumerate(listed) if not isinstance(text, str)), None)
    if odd is not None:
        kind = type(listed[odd]).__name__
        raise BadInput(f"Text {odd + 1:,} of {len(listed):,} in {name} is a {kind}, but must be a str.")
    if not listed:
        raise BadInput(f"{name} holds no text, but some are needed: check where they come from.")
    return listed


def refuse_too_many(k: int, documents: Documents) -> None:
    """An error if there are more topics than texts."""
    n = len(documents.texts)
    if not n:
        raise BadInput("There is no text in it: check where the texts should be.")
    if n < k:
        raise BadParameter(f"{plural(n, 'text')} cannot tell {k:,} topics apart: take fewer topics, or more texts.")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


NAMES = {"kl": "lowdim KL-NMF", "frobenius": "lowdim NMF of tf-idf"}
LDA = "scikit-learn LDA"


@final
class TextTopics(Topics):
    """What `topics` gives back: words, shares of texts, `top_words(by)`, `table(name)`, `plot()`, `report(path)`."""

    def plot(self, ax: Any = None, *, most: int = 10, by: str = "weight") -> Any:
        """Bars: of each topic the first words, as long as their share of the topic; needs the package matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, or None for a new figure
        most : int
            Words of each topic, at most.
        by : {"weight", "lift", "relevance"}
            Which words come first, as in `top_words`.

        Returns
        -------
        matplotlib Axes
        """
        from lowdim.models.nmf.figures import draw_parts, parts_size
        from lowdim.recipes.topics.overview import topic_words
        from lowdim.views.plots.canvas import shown_figure

        self.top_words(by, most)  # which refuses what is no ranking, or no number
        found = topic_words(self, most, by)
        return draw_parts(found, shown_figure(*parts_size(found)).subplots() if ax is None else ax)

    def report(self, path: str | os.PathLike[str], *, title: str | None = None) -> None:
        """Write one HTML file with the words and texts of each topic, and the texts on a map of topics.

        Parameters
        ----------
        path : path
            Ends in .html. It is replaced whole, or not at all.
        title : str or None
            The heading; None: the name of the file.
        """
        from lowdim.models.base.report import report_title, write_result
        from lowdim.recipes.topics.overview import topics_payload

        write_result(topics_payload(self, report_title(path, title)), path)


def topics(
    texts: str | os.PathLike[str] | Iterable[str],
    k: int,
    *,
    loss: str = "kl",
    labels: Sequence[Any] | None = None,
    text: str | None = None,
    label: str | None = None,
    min_df: int | None = None,
    max_df: float = 0.5,
    stop_words: str | Iterable[str] | None = "english",
    starts: int = 5,
    held_out: float = 0.1,
    compare: bool = False,
    reference: Iterable[str] | None = None,
    seed: int = 0,
) -> TextTopics:
    """Find k topics in texts, and say how coherent, how stable and how foretelling they are.

    Words are counted, and the counts X (n, p) factorised, X ≈ W H with nothing negative. Rows of H, brought to the sum
    1, are topics: shares of words. Rows of W, brought to the sum 1, are of each text the shares of topics.

    Parameters
    ----------
    texts : list of texts, or path
        A path is a folder of .txt files, whose subfolders are known classes, or a table: JSON lines, CSV or Parquet.
    k : int
        Number of topics.
    loss : {"kl", "frobenius"}
        "kl": the likeliest topics of the counts (Kullback–Leibler divergence; probabilistic latent semantic analysis).
        "frobenius": least squares of tf-idf, whose words are rarer and more telling.
    labels : list, optional
        Known classes of the texts, with which topics are compared; None where a class is missing. Nothing is chosen by
        them.
    text, label : str, optional
        Of a table: which fields hold texts ("text", unless said) and known classes.
    min_df : int, optional
        Words must stand in so many texts; unless said 2, from 300 texts on 3, from 400 on 4, and from 500 on 5.
    max_df : float
        Words may stand in such a share of the texts, at most.
    stop_words : "english", list of words, or None
        Words that are left out whatever their number.
    starts : int
        Fits from random topics; of "frobenius" the first begins where `NMF` does. The best is kept; those others that
        came within 1 % of it say how stable its topics are.
    held_out : float
        Share of the texts that one more fit does not see, whose words it then foretells; 0: none.
    compare : bool
        Whether to fit scikit-learn's latent Dirichlet allocation to the same counts, too: one start, 50 passes.
    reference : list of texts, optional
        Where to count how often words go together, for coherence; the texts themselves unless said.
    seed : int
        For random starts and what is held out; from 0 to 2³² − 1.

    Returns
    -------
    TextTopics
        With `topics`, `shares`, `words`, `top_words(by)`, `documents`, `npmi`, `umass`, `stability`, `perplexity`,
        `agreement`, `table(name)`, `plot()` and `report(path)`. `print` gives one line for each topic.

    Notes
    -----
    The order of the texts makes no difference but rounding. Repeated texts count for the topics, but neither for
    coherence nor for what is held out. docs/topics.md says how to read all numbers.

    References
    ----------
    Lee & Seung 1999, "Learning the parts of objects by non-negative matrix factorization"; Ding, Li & Peng 2008, "On
    the equivalence between non-negative matrix factorization and probabilistic latent semantic indexing"; Blei, Ng &
    Jordan 2003, "Latent Dirichlet allocation".

    Examples
    --------
    >>> texts = ["The cat chased the mouse.", "A mouse fears every cat.", "My cat caught a mouse!",
    ...          "Banks lend money.", "The banks want money back.", "Money rests in banks."]
    >>> found = topics(texts, 2, labels=["pets"] * 3 + ["trade"] * 3)
    >>> sorted(map(sorted, found.top_words(most=2)))
    [['banks', 'money'], ['cat', 'mouse']]
    >>> found.documents, found.agreement
    (array([3, 3]), 1.0)
    >>> found.shares.sum(axis=1).round(6)
    array([1., 1., 1., 1., 1., 1.])
    """
    check_settings(k, loss, min_df, max_df, starts, held_out, seed)
    others = None if reference is None else listed_texts("reference", reference)
    documents = documents_of(texts, labels, text, label)
    refuse_too_many(k, documents)
    counts = count_words(documents.texts, min_df, max_df, stop_words)
    _warn_of_empty(documents, counts)
    begun = time.perf_counter()
    fits = [fit_topics(counts.X, k, loss, seed, i) for i in track(range(starts), "start")]
    fits.sort(key=lambda fit: fit.objective)
    seconds = (time.perf_counter() - begun) / starts
    found = _largest_first(fits[0], counts)
    _warn_of_haste(found)
    _warn_of_dead(found, counts)
    contenders = [_Contender(NAMES[loss], _how(starts), found, lambda X: fit_topics(X, k, loss, seed), seconds)]
    if compare:
        begun = time.perf_counter()
        other = fit_lda(counts.X, k, seed)
        seconds = time.perf_counter() - begun
        contenders.append(_Contender(LDA, f"one start, {PASSES} passes", other, lambda X: fit_lda(X, k, seed), seconds))
    presence = counts.presence if others is None else counts.presence_in(others)
    judge = _Judge(documents, counts, presence, held_out, seed)
    scores = judge.scores(contenders)
    alike = _stability(found, fits, counts)
    objectives = tuple(fit.objective for fit in fits)
    return _record(documents, counts, found, loss, judge.coherence(found), alike, objectives, scores)


def _how(starts: int) -> str:
    return f"{'one start' if starts == 1 else f'best of {starts} starts'}, up to {MOST_STEPS} steps"


def _stability(found: Fitted, fits: Sequence[Fitted], counts: WordCounts) -> Floats | None:
    """(k,) against the starts that came near the best, which `fits` begins with."""
    near = near_the_best([fit.objective for fit in fits], float(counts.X.sum()))
    return stability(_living(found, counts), [_living(fits[i], counts) for i in near if i > 0])


def _living(found: Fitted, counts: WordCounts) -> Floats:
    """(k, p) topics, zero where no text has them."""
    return np.where(alive(expected_words(counts.X, found.shares))[:, None], found.topics, 0.0)


def _record(
    documents: Documents,
    counts: WordCounts,
    found: Fitted,
    loss: str,
    coherences: tuple[Floats, Floats],
    alike: Floats | None,
    objectives: tuple[float, ...],
    scores: tuple[Scores, ...],
) -> TextTopics:
    return TextTopics(
        topics=found.topics,
        shares=found.shares,
        lengths=counts.lengths,
        vocabulary=Vocabulary(counts.words, counts.min_df, counts.most_df, counts.stop_words),
        names=documents.names,
        labels=documents.labels,
        repeats=int((~counts.first).sum()),
        loss=loss,
        npmi=coherences[0],
        umass=coherences[1],
        stability=alike,
        objectives=objectives,
        steps=found.steps,
        reached=found.reached,
        scores=scores,
    )


@dataclass(frozen=True, eq=False)
class _Contender:
    """A method, what it found, and how it would begin anew on other counts."""

    name: str
    how: str
    found: Fitted
    fit: Callable[[Any], Fitted]
    seconds: float


class _Judge:
    """One rule for every method: as many words, the same texts held out, the same known classes."""

    def __init__(self, documents: Documents, counts: WordCounts, presence: Any, held_out: float, seed: int):
        self._documents, self._counts, self._presence = documents, counts, presence
        self._held_out, self._seed = held_out, seed

    def scores(self, contenders: Sequence[_Contender]) -> tuple[Scores, ...]:
        """Of each; coherence is that of as many words as every topic of every contender has that has two."""
        tops = [self._top_words(one.found) for one in contenders]
        words = min((len(top) for found in tops for top in found if len(top) > 1), default=1)
        return tuple(self._score(one, top, words) for one, top in zip(contenders, tops, strict=True))

    def _score(self, one: _Contender, top: Sequence[NDArray[np.intp]], words: int) -> Scores:
        npmi, umass = coherence(self._presence, [best[:words] for best in top])
        X, texts, first = self._counts.X, self._documents.texts, self._counts.first
        labels = self._documents.labels
        return Scores(
            one.name,
            _mean(npmi),
            _mean(umass),
            perplexity(one.fit, X, texts, first, self._held_out, self._seed) if self._held_out else None,
            None if labels is None else agreement(one.found.shares, labels),
            one.seconds,
            one.how,
            words,
        )

    def coherence(self, found: Fitted) -> tuple[Floats, Floats]:
        """NPMI (k,) and UMass (k,) of the ten words of most weight."""
        return coherence(self._presence, self._top_words(found))

    def _top_words(self, found: Fitted) -> list[NDArray[np.intp]]:
        return first_words(found.topics, expected_words(self._counts.X, found.shares), "weight", TOP)


def _mean(values: Floats) -> float:
    """Of those topics of which it is known."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")


def _warn_of_empty(documents: Documents, counts: WordCounts) -> None:
    empty = np.flatnonzero(counts.lengths == 0)
    if len(empty):
        some = ", ".join(documents.names[i] for i in empty[:5]) + (" …" if len(empty) > 5 else "")
        warn_user(
            f"{len(empty):,} of {len(documents.texts):,} texts have no words that are counted ({some}): they are kept, "
            "with shares of 0.",
            EmptyTexts,
        )


def _warn_of_haste(found: Fitted) -> None:
    if not found.reached:
        warn_user(
            f"The search for {len(found.topics)} topics was stopped after {found.steps} steps, before they stood "
            "still; take fewer topics, or another seed.",
            errors.NotConverged,
        )


def _warn_of_dead(found: Fitted, counts: WordCounts) -> None:
    k, living = len(found.topics), int(alive(expected_words(counts.X, found.shares)).sum())
    if living < k:
        have = "has" if k - living == 1 else "have"
        warn_user(
            f"{k - living:,} of {k:,} topics {have} no words, as the texts tell no more than {living:,} apart: ask for "
            f"{plural(living, 'topic')}.",
            RankWarning,
        )


def _largest_first(found: Fitted, counts: WordCounts) -> Fitted:
    """Topics in the order of the words that they have written."""
    order = np.argsort(-expected_words(counts.X, found.shares), kind="stable")
    return Fitted(
        found.topics[order],
        found.shares[:, order],
        found.chances[order],
        lambda others: found.codes(others)[:, order],
        found.objective,
        found.steps,
        found.reached,
    )
