"""A table on its way to a file, whatever the kind: named columns, batch by batch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput
from lowdim.views.cells import as_column


class TableWriter(ABC):
    """A table of named columns that grows by batches of rows. `open_table` makes one."""

    def __init__(self, name: str, file: IO[bytes], names: Sequence[str]):
        self.name = name
        """As the user knows it, for messages."""
        self.names = tuple(names)
        self.n_rows = 0
        """Rows written so far."""
        self._file = file

    def write(self, columns: Mapping[str, Any]) -> None:
        """Add rows: an array for each name, of numbers (NaN: missing) or of anything that is text (None: missing)."""
        if set(columns) != set(self.names):
            odd = sorted(set(columns) ^ set(self.names))
            raise BadInput(f"{self.name}: every batch needs the columns that were named at first; odd ones: {odd}.")
        batch = [as_column(columns[name]) for name in self.names]
        if any(column.ndim != 1 for column in batch):
            raise BadInput(f"{self.name}: every column of a batch needs one axis; pass a table column by column.")
        lengths = {len(column) for column in batch}
        if len(lengths) > 1:
            raise BadInput(f"{self.name}: columns of a batch need equal lengths, but there are {sorted(lengths)}.")
        try:
            self._add(batch)
        except UnicodeEncodeError as error:
            raise BadInput(f"{self.name}: a text is not valid Unicode ({error.object[:40]!r}); rename it.") from error
        self.n_rows += lengths.pop()

    @abstractmethod
    def _add(self, batch: list[NDArray[Any]]) -> None:
        """Write the columns of a batch, in the order of the names."""

    def finish(self) -> None:
        """Write what comes after the last row."""
        if not self.n_rows:
            self._add([np.empty(0) for _ in self.names])

    def abandon(self) -> None:  # noqa: B027  most kinds hold nothing to let go
        """Let go of everything without finishing."""
