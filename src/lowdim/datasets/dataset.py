"""The one record that every function of `lowdim.datasets` returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from lowdim.errors import NeedsExtra, WrongShape
from lowdim.types import Array

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


# eq=False: comparing arrays gives arrays, so a generated == could only fail.
@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A table with its names, its origin and, where it was made, its truth. Its arrays cannot be written to.

    Parameters
    ----------
    values : array of shape (n, p)
        The numbers: rows are samples, columns are variables.
    columns : tuple of p names
        What each column holds.
    about : str
        One sentence on what the data are, and their source.
    rows : tuple of n names, or None
        What each row is.
    labels : array of shape (n,), or None
        The known group of each row.
    truth : mapping of arrays, or None
        What the data were made from, for data that were made.

    Examples
    --------
    >>> import numpy as np
    >>> from lowdim.datasets import Dataset
    >>> data = Dataset(np.eye(2), columns=("a", "b"), about="The identity.")
    >>> data
    Dataset: 2 rows × 2 columns of float64
    The identity.
    >>> data.values.flags.writeable
    False
    """

    values: Array
    """(n, p), read-only."""
    columns: tuple[str, ...]
    """p names."""
    about: str
    """One sentence and the source."""
    rows: tuple[str, ...] | None = None
    """n names, or None."""
    labels: Array | None = None
    """(n,) read-only, or None."""
    truth: Mapping[str, Array] | None = None
    """Named arrays, read-only, or None."""

    def __post_init__(self) -> None:
        _check(self)
        truth = self.truth
        frozen = {
            "values": _read_only(self.values),
            "columns": tuple(self.columns),
            "rows": None if self.rows is None else tuple(self.rows),
            "labels": None if self.labels is None else _read_only(self.labels),
            "truth": None if truth is None else MappingProxyType({k: _read_only(v) for k, v in truth.items()}),
        }
        for name, value in frozen.items():
            object.__setattr__(self, name, value)  # the way to set a field of a frozen dataclass

    def __repr__(self) -> str:
        n, p = self.values.shape
        parts = [f"Dataset: {n:,} rows × {p:,} columns of {self.values.dtype}"]
        if self.labels is not None:
            parts.append(f"{len(np.unique(self.labels))} labels")
        if self.truth is not None:
            parts.append(f"truth: {', '.join(self.truth)}")
        return f"{'; '.join(parts)}\n{self.about}"

    def __reduce__(self) -> tuple[type[Dataset], tuple[Any, ...]]:
        # A mapping proxy cannot be pickled, and an unpickled array can be written to: build the record anew.
        truth = None if self.truth is None else dict(self.truth)
        return Dataset, (self.values, self.columns, self.about, self.rows, self.labels, truth)

    def to_pandas(self) -> pd.DataFrame:
        """Give the values as a pandas frame; row names become its index, labels are left out.

        Returns
        -------
        pandas.DataFrame of shape (n, p)

        Raises
        ------
        NeedsExtra
            If pandas is not installed.

        Examples
        --------
        >>> from lowdim.datasets import uk_foods
        >>> uk_foods().to_pandas().loc["Wales", "Cheese"]
        np.float64(103.0)
        """
        return _needs("pandas", "Dataset.to_pandas").DataFrame(self.values, columns=self.columns, index=self.rows)

    def to_polars(self) -> pl.DataFrame:
        """Give the values as a polars frame; it has no row names, and labels are left out.

        Returns
        -------
        polars.DataFrame of shape (n, p)

        Raises
        ------
        NeedsExtra
            If polars is not installed.

        Examples
        --------
        >>> from lowdim.datasets import uk_foods
        >>> uk_foods().to_polars()["Cheese"].to_list()
        [105.0, 66.0, 103.0, 103.0]
        """
        polars = _needs("polars", "Dataset.to_polars")
        # Without orient, polars guesses from the shape which way round a table is meant.
        frame: pl.DataFrame = polars.DataFrame(self.values, schema=list(self.columns), orient="row")
        return frame


def _needs(package: str, what: str) -> Any:
    try:
        return import_module(package)
    except ImportError as error:
        raise NeedsExtra(f"{what} needs {package}, which is not installed: pip install {package}.") from error


def _read_only(array: Array) -> Array:
    view = np.asarray(array).view()  # a view, so that the caller's array stays writeable
    view.flags.writeable = False
    return view


def _check(data: Dataset) -> None:
    shape = np.shape(data.values)
    if len(shape) != 2:
        raise WrongShape(f"Dataset: values must have 2 dimensions, rows and columns, but have shape {shape}.")
    n, p = shape
    for name, given, needed in (
        ("columns", data.columns, p),
        ("rows", data.rows, n),
        ("labels", data.labels, n),
    ):
        if given is not None and len(given) != needed:
            raise WrongShape(f"Dataset: values of shape {shape} need {needed} {name}, but {len(given)} came.")
