"""Sources whose columns can be read as well as their rows: a file that lies column by column."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from numpy.typing import NDArray

from lowdim.sources.source import ConvertibleSource


class ColumnwiseSource(ConvertibleSource):
    """Rows in blocks, and columns in blocks too."""

    @abstractmethod
    def read_columns(self, start: int, stop: int) -> NDArray[Any]:
        """(n, stop − start) consecutive columns, as they are stored: missing entries have their code."""
