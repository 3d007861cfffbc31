"""Every table of `messy` in every format: what is read, left out, said and refused is what was written down."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lowdim
from lowdim.errors import LowdimError, TableHint, TableNote, TotalRow
from lowdim.sources.source import Source
from messy import Messy, every_table, write_messy
from messy.records import SEVERAL

ALL = every_table()


def read_all(source: Source) -> dict[str, np.ndarray]:
    """The columns of a source, all rows read."""
    rows = np.concatenate([np.asarray(block.rows) for block in source.blocks()])
    return dict(zip(source.columns or (), rows.T, strict=True))


def opened(given: Any, settings: Mapping[str, Any]) -> tuple[Source, dict[str, np.ndarray], list[str]]:
    """The source, its numbers, and all that was warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        source = lowdim.open(given, **settings)
        columns = read_all(source)
    assert all(isinstance(warning.message, TableNote) for warning in caught), [str(one.message) for one in caught]
    return source, columns, [str(warning.message) for warning in caught]


def hold(table: Messy, given: Any) -> None:
    """Hold what comes of a table against what was written down."""
    if table.refused:
        with pytest.raises(LowdimError) as refused:
            opened(given, table.opened)
        assert re.search(table.refused, str(refused.value), re.DOTALL), str(refused.value)
        return
    source, columns, warned = opened(given, table.opened)
    said = [str(note) for note in source.notes]
    assert list(columns) == list(table.numbers)
    for name, expected in table.numbers.items():
        numbers = np.array([np.nan if one is None else one for one in expected], dtype=float)
        np.testing.assert_array_equal(columns[name], numbers, err_msg=name)
    assert set(source.left_out) == set(table.left_out)
    for name, what in table.left_out.items():
        assert re.search(what, source.left_out[name]), source.left_out
    assert len(said) == len(table.said), said
    for text, pattern in zip(said, table.said, strict=True):
        assert re.search(pattern, text), (pattern, text)
    losses = {str(note) for note in source.notes if not isinstance(note, TableHint)}
    assert losses <= set(warned), warned  # what was guessed or lost, and stands in the source at the end, was warned of
    again = read_all(source)
    assert all(np.array_equal(again[name], column, equal_nan=True) for name, column in columns.items())


@pytest.mark.parametrize("name", ALL)
def test_messy_table(name: str, tmp_path: Path) -> None:
    table, form = ALL[name]
    hold(table, write_messy(table, form, tmp_path))


@pytest.mark.parametrize("name", SEVERAL)
@pytest.mark.parametrize("how", ["list", "pattern"])
def test_several_files(name: str, how: str, tmp_path: Path) -> None:
    files, table = SEVERAL[name]
    for file, text in files.items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    paths = [tmp_path / file for file in files]
    hold(table, paths if how == "list" else str(tmp_path / "?.*"))


def test_a_row_of_totals_is_told_of_unless_it_is_left_out(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("land,a\n" + "".join(f"land {i},{i}.5\n" for i in range(30)) + "Total,450\n")
    with pytest.warns(TotalRow, match="called 'Total'"):
        lowdim.open(path)
    assert not [note for note in lowdim.open(path, where="land <> 'Total'").notes if "Total" in str(note)]
    with pytest.warns(TotalRow):
        lowdim.open(path, where="a > 5")
