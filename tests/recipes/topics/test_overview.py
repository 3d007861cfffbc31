"""Topics on narrow screens: nothing runs over, and what is cut is cut whole."""

from __future__ import annotations

import warnings

import pytest

from lowdim.recipes.topics.overview import topic_lines
from lowdim.recipes.topics.topics import topics


@pytest.mark.parametrize("width", [60, 80])
def test_many_topics_are_cut_whole(width: int) -> None:
    texts = [f"{name}{i} {name}{i} {name}{i + 1} word{i}" for i in range(16) for name in ("cat", "dog", "cow")]
    labels = [f"a class of {i % 3}" for i in range(len(texts))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # how good topics of such texts are does not matter
        found = topics(texts, 14, labels=labels, starts=2, compare=True, min_df=1)
    lines = [line.text for line in topic_lines("news", found, width)]
    assert max(map(len, lines)) <= width
    at = next(i for i, line in enumerate(lines) if line.startswith("class, by topic"))
    shown = lines[at].split()[3:]
    assert shown == [str(t + 1) for t in range(len(shown))]
    table = dict(found.table("classes"))
    for i, line in enumerate(lines[at + 1 : at + 4]):
        cells = [0 if cell == "." else int(cell) for cell in line.split()[4:]]
        assert cells == [table[f"topic{t}"][i] for t in shown]
    assert lines[at + 4] == f"and {14 - len(shown)} more topics: --json has them all"
