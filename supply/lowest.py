"""Prints the lowest versions that pyproject.toml allows, as constraints for pip.

    python supply/lowest.py > lowest.txt

Of tools that only tests use, and of what is not installed with `lowdim[all]`, nothing is said.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

RUN = ("files", "arrays", "images", "dask", "onnx", "plots")
"""Extras whose packages lowdim works with."""


def bounds() -> dict[str, str]:
    """Package → lowest version."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listed = [*project["dependencies"], *(one for extra in RUN for one in project["optional-dependencies"][extra])]
    found = (re.fullmatch(r"([A-Za-z0-9_.-]+)(?:\[[^]]*\])?>=([0-9.]+)", one) for one in listed)
    return {one[1]: one[2] for one in found if one is not None}


if __name__ == "__main__":
    print("\n".join(f"{name}=={version}" for name, version in bounds().items()))
