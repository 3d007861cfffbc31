"""What `topics` is given: settings that can be had, and texts with names and classes from wherever they are."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from lowdim.errors import BadInput, BadParameter
from lowdim.models.settings import whole
from lowdim.recipes.topic_fit import LOSSES
from lowdim.results.certificate import counted
from lowdim.sources.documents import Documents, class_of, read_documents

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
    text_field: str | None,
    label_field: str | None,
) -> Documents:
    """Texts with names and classes; None is the class of a text of which it is missing."""
    if isinstance(texts, (str, os.PathLike)):
        if isinstance(texts, str) and not os.path.exists(texts) and any(sign in texts for sign in " \n"):
            raise BadInput(
                f"topics takes many texts, but one text of {len(texts):,} letters came: pass a list of texts, or the "
                "path of a folder or file."
            )
        read = read_documents(texts, text_field, label_field)
    else:
        if text_field is not None or label_field is not None:
            raise BadParameter("text_field and label_field are for paths: pass a list of texts and labels= instead.")
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
        raise BadParameter(f"{counted(n, 'text')} cannot tell {k:,} topics apart: take fewer topics, or more texts.")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
