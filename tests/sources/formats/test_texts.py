"""Texts become counts of words that scikit-learn counts too; they stay sparse and keep their labels."""

from __future__ import annotations

import gzip
import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import lowdim
from lowdim import PCA
from lowdim.errors import BadParameter, LowdimError
from lowdim.sources.arrays import SparseSource

TEXTS = ["The cat sat on the mat.", "A dog sat; the DOG slept", "", "Größe: naïve cat, naïve dog!", "mat mat mat größe"]
KINDS = ["cat", "dog", "none", "both", "mat"]
# words of two or more letters that stand in at least two texts, counted by hand
WORDS = {
    "cat": [1, 0, 0, 1, 0],
    "dog": [0, 2, 0, 1, 0],
    "größe": [0, 0, 0, 1, 1],
    "mat": [1, 0, 0, 0, 3],
    "sat": [1, 1, 0, 0, 0],
    "the": [2, 1, 0, 0, 0],
}
X = np.array(list(WORDS.values()), dtype=float).T


def dense(source: Any) -> np.ndarray:
    assert isinstance(source, SparseSource)
    return np.concatenate([block.rows.toarray() for block in source.blocks()])


def write_jsonl(path: Path) -> None:
    lines = [json.dumps({"kind": kind, "body": text or None}) for kind, text in zip(KINDS, TEXTS, strict=True)]
    data = "\n".join(lines).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def write_folder(folder: Path) -> None:
    for i, text in enumerate(TEXTS):
        inner = folder / ("first" if i < 2 else "second")
        inner.mkdir(parents=True, exist_ok=True)
        (inner / f"{i}.txt").write_bytes(text.encode(["utf-8", "utf-8-sig", "utf-8", "cp1252", "utf-16"][i]))


FRAME = pd.DataFrame({"kind": KINDS, "body": TEXTS, "length": [len(text) for text in TEXTS]})
TABLES: dict[str, Callable[[Path], Any]] = {
    "t.jsonl": write_jsonl,
    "t.jsonl.gz": write_jsonl,
    "t.csv": lambda path: FRAME.to_csv(path, index=False),
    "t.parquet": FRAME.to_parquet,
    "t.feather": FRAME.to_feather,
}


@pytest.mark.parametrize("name", TABLES)
def test_a_column_of_texts_becomes_counts(name: str, tmp_path: Path) -> None:
    TABLES[name](tmp_path / name)
    source = lowdim.open(tmp_path / name, text="body", label="kind")
    assert source.columns == tuple(WORDS)
    np.testing.assert_array_equal(dense(source), X)
    np.testing.assert_array_equal(dense(source), X)  # and once more
    assert list(source.aside("kind")) == KINDS
    assert "texts of body" in source.describe()
    model, known = PCA(2, svd_solver="covariance_eigh").fit(source), PCA(2, svd_solver="covariance_eigh").fit(X)
    np.testing.assert_allclose(model.explained_variance_, known.explained_variance_, rtol=1e-10)
    # a fit is used on other texts by its own words
    again = lowdim.open(tmp_path / name, text="body", columns=model.fit_.columns)
    np.testing.assert_allclose(model.transform(again), known.transform(X), atol=1e-10)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")  # the same numbers as an array
def test_a_folder_of_texts_becomes_counts(tmp_path: Path) -> None:
    write_folder(tmp_path / "texts")
    source = lowdim.open(tmp_path / "texts", label="folder")
    assert source.columns == tuple(WORDS)
    np.testing.assert_array_equal(dense(source), X)
    assert list(source.aside("folder")) == ["first"] * 2 + ["second"] * 3
    assert source.aside("name")[0] == "first/0"
    model = PCA(2, svd_solver="covariance_eigh").fit(tmp_path / "texts")
    other = tmp_path / "other"
    other.mkdir()
    (other / "new.txt").write_text("a new cat, a new dog and the mat")
    # words of the fit only
    expected = model.transform(np.array([[1.0, 1, 0, 1, 0, 1]]))
    np.testing.assert_allclose(model.transform(other), expected, atol=1e-12)


def test_words_are_dropped_or_chosen(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "t.jsonl")
    source = lowdim.open(tmp_path / "t.jsonl", text="body", drop=["the", "unheard"])
    assert "the" not in source.columns
    np.testing.assert_array_equal(dense(source), X[:, :5])
    source = lowdim.open(tmp_path / "t.jsonl", text="body", columns=["mat", "slept", "unheard"])
    assert source.columns == ("mat", "slept", "unheard")
    np.testing.assert_array_equal(dense(source), np.array([[1, 0, 0, 0, 3], [0, 1, 0, 0, 0], [0] * 5]).T)


def test_only_the_most_frequent_words_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lowdim.sources.formats.texts.MAX_WORDS", 1)
    write_jsonl(tmp_path / "t.jsonl")
    assert lowdim.open(tmp_path / "t.jsonl", text="body").columns == ("mat",)  # 4 times


def test_texts_of_rows_that_a_query_gives(tmp_path: Path) -> None:
    FRAME.to_parquet(tmp_path / "t.parquet")
    asked = lowdim.open(tmp_path / "t.parquet", text="body", sql="select * from data order by body desc")
    whole = lowdim.open(tmp_path / "t.parquet", text="body")
    assert asked.columns == whole.columns
    assert asked.n_rows == whole.n_rows


@pytest.mark.parametrize(
    ("wish", "answer"),
    [
        ({"text": "bodi"}, "did you mean 'body'"),
        ({"text": "length"}, "holds no texts"),
        ({"text": "body", "label": "kinds"}, "did you mean 'kind'"),
        ({"text": "body", "weight": "length"}, "sample_weight"),
        ({"text": "body", "encode": True}, "encode is for tables"),
        ({"text": "body", "columns": ["mat", "mat"]}, "cannot be counted"),
        ({"text": "body", "table": "sheet"}, "leave table='sheet' out"),
    ],
)
def test_wishes_that_cannot_be_met(wish: dict[str, Any], answer: str, tmp_path: Path) -> None:
    FRAME.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(BadParameter, match=answer):
        lowdim.open(tmp_path / "t.parquet", **wish)


BAD: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "no text in a folder": ("texts", lambda path: path.mkdir()),
    "one text": ("texts", lambda path: (path.mkdir(), (path / "a.txt").write_text("hello there"))),
    "nothing in common": (
        "texts",
        lambda path: (path.mkdir(), (path / "a.txt").write_text("hello"), (path / "b.txt").write_text("there")),
    ),
    "empty texts": ("texts", lambda path: (path.mkdir(), (path / "a.txt").write_text(""), (path / "b.txt").touch())),
    "a program among texts": ("texts", lambda path: (write_folder(path), (path / "z.txt").write_bytes(bytes(100)))),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_texts_end_in_one_sentence_that_names_them(name: str, tmp_path: Path) -> None:
    filename, write = BAD[name]
    write(tmp_path / filename)
    with pytest.raises(LowdimError) as caught:
        PCA(1).fit(tmp_path / filename)
    assert len(str(caught.value).splitlines()) == 1
    assert filename in str(caught.value)


@pytest.mark.skipif("LOWDIM_DATA" not in os.environ, reason="LOWDIM_DATA is unset: bbc_news.jsonl.gz")
def test_counts_of_real_news() -> None:
    path = Path(os.environ["LOWDIM_DATA"]) / "bbc_news.jsonl.gz"
    source = lowdim.open(path, text="text", label="topic")
    assert isinstance(source, SparseSource)
    assert source.n_rows == 2225
    assert Counter(source.aside("topic")).most_common(1) == [("sport", 511)]
    with gzip.open(path, "rt") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    cup = source.matrix[:, [source.columns.index("cup")]].toarray()[:, 0]
    by_hand = [
        "".join(sign if sign.isalnum() or sign == "_" else " " for sign in text.lower()).split() for text in texts
    ]
    np.testing.assert_array_equal(cup, [words.count("cup") for words in by_hand])
