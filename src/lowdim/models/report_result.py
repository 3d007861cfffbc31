"""The page of what a recipe gives back."""

from __future__ import annotations

import os
from dataclasses import replace

from lowdim.models.fit_linear import versions
from lowdim.views.report.page import write_report
from lowdim.views.report.payload import Payload


def write_result(page: Payload, path: str | os.PathLike[str]) -> None:
    """Write a page, with the versions that made it, which results of recipes do not hold."""
    made = replace(page.made, facts=(*page.made.facts, *versions()))
    write_report(replace(page, made=made), path)
