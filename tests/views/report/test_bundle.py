"""What is shipped is what the sources give."""

import filecmp
from importlib.resources import files
from pathlib import Path

import pytest

from views.report.conftest import BUILD, FRONT_END

SHIPPED = Path(str(files("lowdim.views.report")))


def test_types_hold(front_end):
    BUILD["node"]("node_modules/typescript/bin/tsc", "--noEmit", folder=front_end)


@pytest.mark.parametrize("name", ["page.js", "page.css"])
def test_the_same_sources_give_the_same_bytes(front_end, tmp_path, name):
    BUILD["node"]("build.mjs", tmp_path, folder=front_end)
    assert filecmp.cmp(tmp_path / name, SHIPPED / name, shallow=False), f"{name} is stale: run `make page`"


def test_the_lock_names_no_registry():
    assert '"resolved"' not in (FRONT_END / "package-lock.json").read_text(encoding="utf-8")
