"""Every model has its pages, and every page is found from the README, which is the index of docs/."""

import re
from pathlib import Path

import lowdim
from laws import for_each
from lowdim.models.registry import FOLDERS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
NAMES = DOCS / "api.md"
"""The page of all public names, which has a section for each model."""


def linked(page: Path) -> set[Path]:
    """Files of this project that a page links to."""
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    return {(page.parent / target).resolve() for target in targets if "://" not in target}


PAGES = {path for path in linked(ROOT / "README.md") if path.suffix == ".md" and DOCS in path.parents}
"""What the index links to."""


@for_each("name", FOLDERS)
def test_every_model_has_a_page_that_is_linked(name: str) -> None:
    assert f"\n## `lowdim.{name}`\n" in NAMES.read_text(encoding="utf-8"), f"{NAMES.name} has no section of it"
    telling = [page.name for page in PAGES - {NAMES} if re.search(rf"\b{name}\b", page.read_text(encoding="utf-8"))]
    assert telling, "no guide that the README links to names it"


def test_every_section_of_a_name_is_of_one_that_is_public() -> None:
    names = re.findall(r"^## `lowdim\.(\w+)`$", NAMES.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert [name for name in names if not hasattr(lowdim, name)] == []
    assert len(set(names)) == len(names) > len(FOLDERS)


def test_every_page_is_linked_from_the_index() -> None:
    assert NAMES in PAGES
    assert sorted(set(DOCS.glob("*.md")) - PAGES) == []
    assert linked(ROOT / "CONTRIBUTING.md") >= set((DOCS / "contributing").glob("*.md"))


@for_each("page", [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))])
def test_every_link_to_a_file_leads_somewhere(page: Path) -> None:
    assert [str(path) for path in linked(page) if not path.exists()] == []
