"""Zip archives (.npz, .xlsx) whose sizes are summed before anything is unpacked."""

from __future__ import annotations

import zipfile
from pathlib import Path

from lowdim.errors import BadFile

MOST_RATIO = 200
"""An archive that unpacks to more than so many times its size is refused."""


def refuse_bomb(path: Path) -> None:
    """Raise an error if a zip archive would unpack to far more than it is; other files pass."""
    if not zipfile.is_zipfile(path):
        return
    with zipfile.ZipFile(path) as archive:
        unpacked = sum(entry.file_size for entry in archive.infolist())
    if unpacked > MOST_RATIO * max(path.stat().st_size, 4096):
        raise BadFile(f"{path}: unpacks to {unpacked:,} bytes, more than {MOST_RATIO} times its size; refused.")
