"""What a report is called, and what its file may be called."""

from __future__ import annotations

import os
from pathlib import Path

from lowdim.errors import BadParameter

ENDINGS = (".html", ".htm")


def report_title(path: str | os.PathLike[str], title: str | None) -> str:
    """The heading of a page: as asked, or the name of its file; an error if that is no page."""
    if Path(path).suffix.lower() not in ENDINGS:
        raise BadParameter.of("report", "path", os.fspath(path), "a file that ends in .html, as a report is a web page")
    return title or Path(path).stem
