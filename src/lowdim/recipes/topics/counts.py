"""Texts as counts of the words that can tell topics apart. Counting is scikit-learn's.

A word is two or more letters, marks or digits, not digits alone, in small letters. Marks are what stands on or beside
letters, as accents and the vowels of Hindi; where Unicode has one sign for both, that is taken (normal form C). Three
cut-offs take words out:

* few: those of fewer than `min_df` texts, which no topic can be learnt from (2; from 300 texts on a hundredth of them,
  but no more than 5);
* many: those of more than a share `max_df` of the texts (half), which no topic is told by;
* stop words: English ones unless another list, or none, is asked for.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer, TfidfTransformer

from lowdim.errors import BadInput, BadParameter, Setting
from lowdim.types import Floats
from lowdim.words import plural

UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
"""Thai, Lao, Burmese, Khmer, kana and Chinese characters: scripts that put no spaces between words."""

PIECES: tuple[str, ...] = ("ain", "aren", "couldn", "didn", "doesn", "don", "hadn", "hasn", "haven", "isn", "ll")
PIECES += ("mustn", "shouldn", "ve", "wasn", "weren", "wouldn")
"""What is left of don't, we've and others when words end at an apostrophe; scikit-learn's list lacks them (Nothman, Qin
& Yurchak 2018, "Stop word lists in free open-source software packages"). "won" of won't is a word of its own."""

MOST_MARKS = 0x20000
"""Unicode has no marks from here on but those that choose a variant of a sign."""

MOST_WORDS = 50_000
"""Of more words the most frequent are kept."""


@dataclass(frozen=True, eq=False)
class WordCounts:
    """n texts × p words."""

    X: Any
    """(n, p) CSR, float64."""
    words: tuple[str, ...]
    min_df: int
    """Texts that a word is in, at least …"""
    most_df: int
    """… and at most."""
    stop_words: str
    """Which were left out, in words."""
    first: NDArray[np.bool_]
    """(n,) whether no text before is the same: repeats would count for coherence as if they were evidence."""

    @property
    def lengths(self) -> Floats:
        """(n,) words that were counted."""
        return np.asarray(self.X.sum(axis=1)).ravel()

    @property
    def presence(self) -> Any:
        """(distinct texts, p) 1 where a word is in a text."""
        return _presence(self.X[self.first])

    def presence_in(self, texts: Iterable[str]) -> Any:
        """The same of other texts."""
        return _presence(_counter(vocabulary=self.words).transform(texts))


def count_words(
    texts: Sequence[str], min_df: int | None, max_df: float, stop_words: str | Iterable[str] | None
) -> WordCounts:
    """Count the words of texts, with cut-offs; an error if no word is left."""
    n = len(texts)
    least = int(min_df) if min_df is not None else min(5, max(2, n // 100))
    most = max(math.floor(max_df * n), least)  # of three texts, more than half is already two
    stopped, said = _stop_words(stop_words)
    counter = _counter(min_df=least, max_df=most, stop_words=stopped, max_features=MOST_WORDS)
    try:
        X = counter.fit_transform(texts)
    except ValueError as error:
        raise BadInput(
            f"No word is left of {plural(n, 'text')}: none is in {least:,} to {most:,} of them and no stop word "
            f"({said}); lower ",
            Setting("min_df"),
            ", raise ",
            Setting("max_df"),
            f", or give more or longer texts.{_advice(texts)}",
        ) from error
    words = tuple(counter.get_feature_names_out().tolist())
    X = scipy.sparse.csr_array(X)
    X.sort_indices()  # they come in the order in which words are first met
    return WordCounts(X, words, least, most, said, first_of_its_kind(texts))


def weigh(X: Any) -> tuple[Any, Floats]:
    """tf-idf of counts (n, p), each text of length 1, and the idf log((1 + n) / (1 + df)) + 1 of each word (p,).

    Least squares wants it: of counts, long texts and frequent words would outweigh all others.
    """
    weigher = TfidfTransformer()
    return scipy.sparse.csr_array(weigher.fit_transform(X)), np.asarray(weigher.idf_)


def first_of_its_kind(texts: Sequence[str]) -> NDArray[np.bool_]:
    """(n,) False for a text that stood before, but for space around it."""
    seen: set[str] = set()
    found = np.ones(len(texts), dtype=bool)
    for i, text in enumerate(map(str.strip, texts)):
        found[i] = text not in seen
        seen.add(text)
    return found


def as_counts(text: str) -> str:
    """A text in small letters, each with its marks one sign where Unicode has one."""
    return unicodedata.normalize("NFC", text.lower())


@cache
def word_pattern() -> str:
    """Two or more letters, marks, digits or underscores, at least one of them a letter.

    Python's own word signs leave marks out, and would end words at them.
    """
    marks = "".join(map(chr, (i for i in range(MOST_MARKS) if unicodedata.category(chr(i))[0] == "M")))
    return rf"\b(?=\w*[^\W\d_])(?:\w\w+|\w(?=[{marks}]))(?:[{marks}]+\w*)*"  # marks are looked for once a word: fast


def _counter(**settings: Any) -> CountVectorizer:
    return CountVectorizer(preprocessor=as_counts, token_pattern=word_pattern(), dtype=np.float64, **settings)


def _advice(texts: Iterable[str]) -> str:
    if any(map(UNSPACED.search, texts)):
        return " Words need spaces between them, which this script does not put: part the words first."
    return ""


def _presence(counts: Any) -> Any:
    found = scipy.sparse.csr_array(counts, copy=True)
    found.data = np.ones_like(found.data)
    return found


def _stop_words(wish: str | Iterable[str] | None) -> tuple[list[str] | None, str]:
    if wish is None:
        return None, "none"
    if isinstance(wish, str):
        if wish != "english":
            raise BadParameter.of("topics", "stop_words", wish, "'english', a list of words, or None")
        return sorted({*ENGLISH_STOP_WORDS, *PIECES}), "English"
    if not isinstance(wish, Iterable):
        raise BadParameter.of("topics", "stop_words", wish, "'english', a list of words, or None")
    listed = sorted({as_counts(str(word)) for word in wish})
    return listed, f"{len(listed):,} given"
