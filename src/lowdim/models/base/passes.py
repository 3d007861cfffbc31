"""Fits of any model that can be carried on: their passes over rows in a file, written every so often."""

from __future__ import annotations

import math
from typing import Any

from lowdim.errors import FormatError, LowdimError
from lowdim.models.base.parameters import settings_of
from lowdim.results.container import read_document
from lowdim.results.passes import PASSES, describe_passes, read_passes, write_passes
from lowdim.runtime.passes import Passes, keeping
from lowdim.sources.source import Source

SECONDS = 30.0
"""Seconds between two times that passes are written."""

NO_MATTER = ("n_jobs", "verbose", "copy")
"""Settings that change nothing that a pass gives."""


class KeptFit:
    """A fit of a model whose passes over the rows are kept.

    Parameters
    ----------
    model : Estimator
        Not fitted yet.
    source : Source
        Its rows.
    path : str or None
        The file that passes are written to while it fits; None: to none.
    every : float or None
        Seconds between two such times; None: as usual.
    """

    def __init__(self, model: Any, source: Source, path: str | None = None, every: float | None = None):
        self.model, self.source = model, source
        self._path = path
        self._every = math.inf if path is None else SECONDS if every is None else every
        self.passes = Passes()

    def fit(self, resume: str | None = None) -> Any:
        """Fit the model, from what a file has kept, if one is named; gives it back."""
        kept = () if resume is None else read_passes(resume, *self._marks())
        self.passes = Passes(kept, None if self._path is None else self._write, self._every)
        try:
            with keeping(self.passes):
                return self.model.fit(self.source)
        except (TypeError, ValueError, AttributeError, LookupError, ArithmeticError) as error:
            if resume is None or isinstance(error, LowdimError):
                raise
            said = " ".join(str(error).split())[:200]
            raise FormatError(f"{resume}: its passes do not lead to a fit ({said}): begin anew.") from error

    def write(self, path: str) -> str:
        """Keep the passes so far in a file; gives how far the fit came, in words."""
        write_passes(path, *self._marks(), self.passes.kept)
        return describe_passes(self.passes.kept)

    def _write(self, passes: Passes) -> None:
        assert self._path is not None
        write_passes(self._path, *self._marks(), passes.kept)

    def _marks(self) -> tuple[str, str]:
        """The model, and all that decides its passes, in words."""
        owner = type(self.model).__name__
        settings = {name: value for name, value in settings_of(self.model).items() if name not in NO_MATTER}
        given = ", ".join(f"{name}={value!r}" for name, value in sorted(settings.items()))
        return owner, f"{owner}({given}) of {self.source.n_columns:,} columns of {self.source.title or 'the rows'}"


def holds_passes(path: str) -> bool:
    """Whether a file holds passes."""
    return read_document(path).kind.endswith(PASSES)
