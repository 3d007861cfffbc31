"""Whether files are still those that were opened: what was learnt of one says nothing of another in its place."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from lowdim.errors import BadFile


class Stamp(NamedTuple):
    """A file as it was when it was opened."""

    path: Path
    mark: tuple[int, int, int] | None
    """Its size, the time of its last change and its number on the disk; None: nothing is known of it."""

    @classmethod
    def of(cls, path: Path) -> Stamp:
        """The file as it is now."""
        return cls(path, _mark(path))

    def refuse_other(self) -> None:
        """Raise an error if there is another file now, or if this one was written to."""
        if self.mark is not None and _mark(self.path) not in (self.mark, None):
            raise BadFile(f"{self.path}: was replaced or changed after it was opened; open it anew.")


def stamps(paths: Sequence[Path]) -> tuple[Stamp, ...]:
    """Several files as they are now."""
    return tuple(map(Stamp.of, paths))


def _mark(path: Path) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:  # whoever reads it says so in better words
        return None
    return found.st_size, found.st_mtime_ns, found.st_ino
