"""How a `.lowdim` file begins: enough to tell it from data, without loading what reads it."""

from __future__ import annotations

import os


def begins_as_model(path: str | os.PathLike[str]) -> bool:
    """Whether a file starts as a model file does; not if it cannot be read."""
    try:
        with open(path, "rb") as file:
            head = file.read(24)
    except OSError:
        return False
    return head[8:].startswith(b'{"__metadata__"')
