"""The guides for contributors name files that exist, and what they say of figures holds for every model."""

from __future__ import annotations

import ast
import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

from lowdim.models.base.plots import Plots
from lowdim.models.registry import FOLDERS

ROOT = Path(__file__).parents[1]
GUIDES = sorted((ROOT / "docs" / "contributing").glob("*.md"))
PLACES = (ROOT, ROOT / "src" / "lowdim", ROOT / "src" / "lowdim" / "sources")
"""What paths of the guides are relative to."""

for folder in FOLDERS.values():
    import_module(f"lowdim.models.{folder}.model")  # which loads its list of figures


def lists_of_figures(kind: type[Plots] = Plots) -> list[type[Plots]]:
    return [found for child in kind.__subclasses__() for found in (child, *lists_of_figures(child))]


FIGURES = {f"{kind.__name__}.{name}": getattr(kind, name) for kind in lists_of_figures() for name in kind.names()}


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.stem)
def test_files_that_guides_name_exist(guide):
    named = re.findall(r"`([\w./-]+/[\w.-]+\.(?:py|md|ts))`", guide.read_text())
    assert not [name for name in named if not any((place / name).exists() for place in PLACES)]


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.stem)
def test_contributors_find_the_guide(guide):
    assert f"docs/contributing/{guide.name}" in (ROOT / "CONTRIBUTING.md").read_text()


@pytest.mark.parametrize(
    ("guide", "file"),
    [("add-a-figure", "models/genotype_pca/figures.py"), ("add-a-verb", "cli/recipes/redundant.py")],
)
def test_lines_that_guides_show_are_those_of_the_file(guide, file):
    told = (ROOT / "docs" / "contributing" / f"{guide}.md").read_text()
    source = (ROOT / "src" / "lowdim" / file).read_text()
    shown = [line.strip() for line in re.findall(r"^ {7,}(.+)$", told, re.M) if "..." not in line and "…" not in line]
    assert len(shown) >= 8
    assert not [line for line in shown if line not in source], "lines that the file does not have"


def test_the_figure_of_the_guide_is_in_the_gallery():
    gallery = (ROOT / "examples/figure_list/others.py").read_text()
    assert '"tracy-widom": tracy_widom' in gallery


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_one_function_in_its_list_under_its_own_name(name):
    figure = FIGURES[name]
    assert inspect.isfunction(figure)
    assert figure.__name__ == figure.__qualname__ == name.partition(".")[2]  # of a file, not of a class
    assert "ax" in inspect.signature(figure).parameters
    assert inspect.getdoc(figure)


def test_lists_of_figures_are_lists():
    """Nothing is written in them but `name = function`, and how rows are made for pictures."""
    for kind in lists_of_figures():
        (body,) = ast.parse(inspect.getsource(kind)).body
        assert isinstance(body, ast.ClassDef)
        assert all(isinstance(one, (ast.Assign, ast.Expr)) for one in body.body), kind


@pytest.mark.parametrize("name", sorted({name.partition(".")[2] for name in FIGURES}))
def test_every_figure_is_in_the_documentation(name):
    for guides in (("plots.md", "plots-models.md"), ("api.md",)):
        told = "".join((ROOT / "docs" / guide).read_text() for guide in guides)
        assert re.search(rf"\b{name}\b\(|`{name}`|\b{name},", told), f"{name} is not in {guides}"
