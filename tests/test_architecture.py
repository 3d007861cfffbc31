"""One direction between rooms, roles and families; packages in one place each; no cycles; sizes: by every import."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import fields
from fnmatch import fnmatch
from functools import cache
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import NamedTuple, get_type_hints

import pytest

import architecture
import lowdim
from architecture import ALONE, FAMILIES, GROUND, LARGEST_FILE, PACKAGES, ROLES, ROOMS, SHARED_PARTS, WIDEST_FOLDER
from lowdim.cli.main import VERBS
from lowdim.cli.model import build
from lowdim.cli.options import ModelOptions, Wish
from lowdim.models.registry import FOLDERS, PROMPTS, prompt_name, prompt_of

SOURCE = Path(__file__).parents[1] / "src" / "lowdim"
FILES = {path.relative_to(SOURCE).as_posix(): path for path in sorted(SOURCE.rglob("*.py"))}
MODELS = sorted(FAMILIES.keys() - GROUND)


class Import(NamedTuple):
    """One imported module, and when: at load time, inside a function, or for types alone."""

    module: str
    when: str


@cache
def imports_of(name: str) -> frozenset[Import]:
    """Modules that a file imports: dotted, the deepest that is known."""
    found: set[Import] = set()

    def visit(node: ast.AST, when: str) -> None:
        for child in ast.iter_child_nodes(node):
            now = when
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
                now = "types"
            elif isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)) and when == "load":
                now = "lazy"
            if isinstance(child, ast.Import):
                found.update(Import(alias.name, now) for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                assert child.level == 0, f"{name} uses a relative import"
                for alias in child.names:
                    deeper = f"{child.module}.{alias.name}"
                    found.add(Import(deeper if file_of(deeper) else str(child.module), now))
            visit(child, now)

    visit(ast.parse(FILES[name].read_text()), "load")
    return frozenset(found)


def file_of(module: str) -> str | None:
    """The file of a module of this package."""
    if module.split(".")[0] != "lowdim":
        return None
    stem = "/".join(module.split(".")[1:])
    names = (f"{stem}.py", f"{stem}/__init__.py") if stem else ("__init__.py",)
    return next((name for name in names if name in FILES), None)


def edges(*kinds: str) -> Iterator[tuple[str, str]]:
    """(file, file that it imports), of imports of these kinds."""
    for name in FILES:
        for module, when in imports_of(name):
            other = file_of(module)
            if when in kinds and other is not None and other != name:
                yield name, other


def room_of(name: str) -> str:
    return name.split("/")[0].removesuffix(".py")


def family_of(name: str) -> str | None:
    parts = name.split("/")
    return parts[1] if parts[0] == "models" and len(parts) > 2 else None


def role_of(name: str) -> str | None:
    """What a file of a model's folder is for; None of its page."""
    part = name.split("/")[2].removesuffix(".py")
    if part == "__init__":
        return None
    return next((role for role, names in ROLES.items() if any(fnmatch(part, one) for one in names)), "unknown")


ALL = ("load", "lazy", "types")


def wrong_rooms() -> set[tuple[str, str]]:
    return {
        (one, other)
        for one, other in edges(*ALL)
        if room_of(one) != room_of(other) and room_of(other) not in ROOMS[room_of(one)]
    }


def wrong_families() -> set[tuple[str, str]]:
    pairs = ((one, other, family_of(one), family_of(other)) for one, other in edges(*ALL))
    return {
        (one, other)
        for one, other, mine, theirs in pairs
        if mine and theirs and mine != theirs and theirs not in FAMILIES[mine]
    }


def wrong_roles() -> set[tuple[str, str]]:
    order = list(ROLES)
    found = set()
    for one, other in edges(*ALL):
        if family_of(one) not in MODELS or family_of(one) != family_of(other):
            continue
        mine, theirs = role_of(one), role_of(other)
        if mine and theirs and order.index(theirs) > order.index(mine):
            found.add((one, other))
    return found


def knots(*kinds: str) -> list[list[str]]:
    """Files that import each other, directly or not (Tarjan 1972)."""
    graph: dict[str, set[str]] = {name: set() for name in FILES}
    for one, other in edges(*kinds):
        graph[one].add(other)
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            group = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(group) > 1:
                found.append(sorted(group))

    for node in graph:
        if node not in index:
            visit(node)
    return sorted(found)


LAWS = {
    "WRONG_ROOMS": wrong_rooms,
    "WRONG_FAMILIES": wrong_families,
    "WRONG_ROLES": wrong_roles,
}


@pytest.mark.parametrize("law", LAWS)
def test_imports_go_one_way(law):
    found, known = LAWS[law](), getattr(architecture, law)
    assert not found - known, "imports against the tables of tests/architecture.py"
    assert not known - found, f"these hold now: take them out of {law}"


def test_nothing_is_circular_when_it_is_loaded():
    assert knots("load") == []


def test_nothing_is_circular_with_lazy_imports():
    assert [set(knot) for knot in knots("load", "lazy")] == architecture.LAZY_KNOTS


@pytest.mark.parametrize("name", FILES)
def test_packages_stay_where_they_belong(name):
    for module, _ in imports_of(name):
        package = module.split(".")[0]
        if package in sys.stdlib_module_names or package == "lowdim":
            continue
        alone = any(Path(name).match(one.removeprefix("**/")) for one in ALONE.get(package, ()))
        assert package in PACKAGES[room_of(name)] or alone, f"{name} may not import {package}"


def test_compiled_files_are_those_that_load_the_compiler():
    loading = {name for name in FILES if any(module.split(".")[0] == "numba" for module, _ in imports_of(name))}
    assert loading == {name for name in FILES if Path(name).name.startswith("compiled_")}


def test_every_room_is_in_the_tables():
    assert {room_of(name) for name in FILES} == set(ROOMS) == set(PACKAGES)


def test_the_tables_have_no_cycle():
    for table in ({room: needs - {"__init__"} for room, needs in ROOMS.items()}, dict(FAMILIES)):
        order: list[str] = []
        while table:
            free = [one for one, needs in table.items() if needs <= set(order)]
            assert free, f"these import each other: {sorted(table)}"
            order += free
            table = {one: needs for one, needs in table.items() if one not in free}


def test_every_folder_of_models_is_a_family():
    assert {family_of(name) for name in FILES} - {None} == set(FAMILIES)


@pytest.mark.parametrize("family", MODELS)
def test_every_model_has_its_roles_and_its_page(family):
    names = {name.split("/")[2].removesuffix(".py") for name in FILES if family_of(name) == family}
    assert names >= {"model", "record", "overview"} - SHARED_PARTS.get(family, set())
    page = ast.get_docstring(ast.parse(FILES[f"models/{family}/__init__.py"].read_text())) or ""
    assert not [name for name in names - {"__init__"} if name not in page], "files that the folder's page does not name"
    assert {role_of(name) for name in FILES if family_of(name) == family} <= {*ROLES, None}


@pytest.mark.parametrize("family", MODELS)
def test_a_folder_gives_its_public_class_and_no_other_name(family):
    """Pickles name it so: `lowdim.models.nmf.NMF`."""
    folder = import_module(f"lowdim.models.{family}")
    classes = [getattr(lowdim, name) for name in lowdim.__all__]
    own = [one for one in classes if getattr(one, "__module__", "") == f"lowdim.models.{family}.model"]
    assert [getattr(folder, one.__name__) for one in own if isinstance(one, type)] == own
    assert len(own) == 1
    with pytest.raises(AttributeError, match="errors"):
        folder.errors  # noqa: B018  the access itself is the test


def test_files_and_folders_are_small():
    assert not {name for name, path in FILES.items() if len(path.read_text().splitlines()) > LARGEST_FILE}
    folders = [str(Path(name).parent) for name in FILES]
    assert not {folder for folder in folders if folders.count(folder) > WIDEST_FOLDER}


FITTING: dict[str, set[str]] = {
    "fit": set(),
    "describe": set(),
    "explain": set(),
    "report": set(),
    "plot": {"weight"},
    "choose": {"keep"},
    "uncertainty": {"weight"},
}
"""Verbs that fit whichever model → options of the groups that have no meaning there."""

FIXED: dict[str, set[str]] = {"compare": {"weight"}, "regress": set(), "impute": {"label", "weight", "encode"}}
"""Verbs that fit models of their own → options of data that have no meaning there."""


@pytest.mark.parametrize("verb", [*FITTING, *FIXED])
def test_verbs_that_fit_take_the_same_options(verb):
    """One group of options is the same, with the same help, wherever it is taken."""
    groups = [Wish, ModelOptions] if verb in FITTING else [Wish]
    taken = signature(getattr(VERBS[verb], verb)).parameters
    for group in groups:
        types = get_type_hints(group, include_extras=True)
        for option in fields(group):
            if option.name not in ("data", *(FITTING | FIXED)[verb]):
                assert taken[option.name].annotation == types[option.name]
                assert taken[option.name].default == option.default


@pytest.mark.parametrize("name", PROMPTS)
def test_what_a_model_has_at_the_prompt_is_an_option_of_the_group_and_a_setting_of_the_model(name):
    prompt, made = prompt_of(name), build(ModelOptions(model=name))
    assert type(made).__name__ == PROMPTS[name]
    assert set(prompt.options) <= {option.name for option in fields(ModelOptions)} - set(ModelOptions.SHARED)
    assert set(prompt.settings()) <= set(made.get_params())
    assert ("scale" in made.get_params()) >= (not prompt.no_scale)
    assert prompt_name(PROMPTS[name]) == prompt_name(FOLDERS[PROMPTS[name]]) == prompt_name(name.upper()) == name
