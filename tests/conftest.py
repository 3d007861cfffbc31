"""What tests in every folder may ask for."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared_data() -> Callable[[str], Path]:
    """Where a file of real data lies, by its name; the test is skipped where there is none."""

    def path(name: str) -> Path:
        folder = os.environ.get("LOWDIM_DATA")
        if not folder:
            pytest.skip(f"LOWDIM_DATA is not set: needs {name}")
        found = Path(folder) / name
        if not found.exists():
            pytest.skip(f"LOWDIM_DATA={folder} does not hold {name}")
        return found

    return path


@pytest.fixture(autouse=True)
def no_figure_left_open() -> Iterator[None]:
    """Figures that pyplot keeps are closed after each test."""
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")
