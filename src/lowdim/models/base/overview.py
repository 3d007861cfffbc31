"""What is said of any record: found by its kind, so that nothing shared names a model."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from lowdim.models.registry import part_of
from lowdim.views.overview import Overview


def part_for(record: Any, role: str) -> ModuleType:
    """The file of this role ("overview", "report") that knows a record: of its own folder, or of all linear fits."""
    return part_of(type(record), role) or import_module(f"lowdim.models.linear.{role}")


def overview_of(record: Any) -> Overview:
    """What is said of the record of a fit."""
    seen: Overview = part_for(record, "overview").overview(record)
    return seen
