"""What the names of many files say about their rows: which file, and in which folder of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadParameter
from lowdim.sources.selection import near


def names_of(paths: Sequence[Path], root: Path) -> dict[str, NDArray[Any]]:
    """The column "name", paths below the root without their endings, and "folder", the folder each file is in."""
    below = [path.relative_to(root) if path.is_relative_to(root) and path != root else path for path in paths]
    names = [path.with_suffix("").as_posix() for path in below]
    return {
        "name": np.array(names, dtype=object),
        "folder": np.array([path.parent.name for path in paths], dtype=object),
    }


def refuse_other_label(where: str, label: str | None, beside: Mapping[str, Any]) -> None:
    """Raise an error if a label is asked for that the names of files do not give."""
    if label is not None and label not in beside:
        raise BadParameter(f"{where}: no column {label!r} is kept aside{near(label, list(beside))}")
