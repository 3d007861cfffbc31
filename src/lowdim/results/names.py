"""What columns are called."""

from __future__ import annotations

from typing import Protocol


class HasColumns(Protocol):
    """A fit, or a source of rows."""

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Names, if they have some."""

    @property
    def n_columns(self) -> int:
        """How many there are."""


def column_names(named: HasColumns) -> tuple[str, ...]:
    """(p,) names of the columns, or x0, x1, … where there are none."""
    return named.columns or tuple(f"x{j}" for j in range(named.n_columns))
