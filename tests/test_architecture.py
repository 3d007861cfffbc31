"""One direction between rooms, roles and families; packages in one place each; no cycles; sizes: by every import."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import fields
from fnmatch import fnmatch
from functools import cache
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import NamedTuple, cast, get_type_hints

import pytest

import lowdim
from architecture import ALONE, FAMILIES, GROUND, LARGEST_FILE, PACKAGES, ROLES, ROOMS, SHARED_PARTS, WIDEST_FOLDER
from lowdim.cli.groups import GROUPS
from lowdim.cli.main import VERBS, main
from lowdim.cli.options import DataOptions, ModelOptions
from lowdim.models.registry import FOLDERS, OWN_OPTIONS, PROMPTS, prompt_name, prompt_of

SOURCE = Path(__file__).parents[1] / "src" / "lowdim"
FILES = {path.relative_to(SOURCE).as_posix(): path for path in sorted(SOURCE.rglob("*.py"))}
MODELS = sorted(FOLDERS.values())


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

    visit(tree_of(name), "load")
    return frozenset(found)


def tree_of(name: str) -> ast.Module:
    return ast.parse(FILES[name].read_text())


def base_name(base: ast.expr) -> str:
    """A class that another is made from, without its module and the types in brackets."""
    return ast.unparse(base.value if isinstance(base, ast.Subscript) else base).split(".")[-1]


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
        if mine and theirs and mine != theirs and theirs not in allowed_families(mine)
    }


def allowed_families(family: str) -> set[str]:
    """Folders of `models` that this one may import."""
    return FAMILIES[family] if family in GROUND else FAMILIES.get(family, set()) | GROUND


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


@pytest.mark.parametrize("wrong_imports", [wrong_rooms, wrong_families, wrong_roles])
def test_imports_go_one_way(wrong_imports):
    assert not wrong_imports(), "imports against the tables of tests/architecture.py"


def test_nothing_is_circular_when_it_is_loaded():
    assert knots("load") == []


def test_nothing_is_circular_with_lazy_imports():
    assert knots("load", "lazy") == []


@pytest.mark.parametrize("name", FILES)
def test_packages_stay_where_they_belong(name):
    for module, _ in imports_of(name):
        package = module.split(".")[0]
        if package in sys.stdlib_module_names or package == "lowdim":
            continue
        alone = any(Path(name).match(one.removeprefix("**/")) for one in ALONE.get(package, ()))
        assert package in PACKAGES[room_of(name)] or alone, f"{name} may not import {package}"


def test_compiled_files_stand_beside_their_c_and_alone_declare_kernels():
    compiled = {name for name in FILES if Path(name).name.startswith("compiled_")}
    assert compiled == {path.relative_to(SOURCE).with_suffix(".py").as_posix() for path in SOURCE.rglob("compiled_*.c")}
    assert compiled == {name for name in FILES if re.search(r"= Kernel\(", FILES[name].read_text("utf-8"))}
    assert [name for name in FILES if any(module == "ctypes" for module, _ in imports_of(name))] == [
        "runtime/machine.py",  # asks Windows and macOS for their memory
        "runtime/native.py",
    ]


def test_every_room_is_in_the_tables():
    assert {room_of(name) for name in FILES} == set(ROOMS) == set(PACKAGES)


def test_the_tables_have_no_cycle():
    rooms = {room: needs - {"__init__"} for room, needs in ROOMS.items()}
    families = {family: allowed_families(family) for family in (*GROUND, *MODELS)}
    for table in (rooms, families):
        order: list[str] = []
        while table:
            free = [one for one, needs in table.items() if needs <= set(order)]
            assert free, f"these import each other: {sorted(table)}"
            order += free
            table = {one: needs for one, needs in table.items() if one not in free}


def test_every_folder_of_models_is_a_family():
    assert {family_of(name) for name in FILES} - {None} == {*GROUND, *MODELS}
    assert set(FAMILIES) <= {*GROUND, *MODELS}


@pytest.mark.parametrize("family", MODELS)
def test_every_model_has_its_roles_and_its_page(family):
    names = {name.split("/")[2].removesuffix(".py") for name in FILES if family_of(name) == family}
    assert names >= {"model", "record", "overview"} - SHARED_PARTS.get(family, set())
    page = ast.get_docstring(tree_of(f"models/{family}/__init__.py")) or ""
    assert not [name for name in names - {"__init__"} if name not in page], "files that the folder's page does not name"
    assert {role_of(name) for name in FILES if family_of(name) == family} <= {*ROLES, None}


LIST = "Its files, in reading order::\n"
PAGES = {
    str(Path(name).parent): page
    for name in FILES
    if name.endswith("/__init__.py") and LIST in (page := ast.get_docstring(ast.parse(FILES[name].read_text())) or "")
}
"""Folder → its page, where it lists its files."""

WITH_PAGES = {"runtime", "results", "sources", "matrices", "solvers", "datasets"}
"""Rooms of which every folder has such a page; those of other folders are held to the same law once they have one."""


def test_shared_rooms_have_pages():
    folders = {str(Path(name).parent) for name in FILES if room_of(name) in WITH_PAGES}
    assert not folders - PAGES.keys()


@pytest.mark.parametrize("folder", PAGES)
def test_a_page_lists_the_files_of_its_folder_and_no_others(folder):
    inside = [Path(name).relative_to(folder).parts for name in FILES if name.startswith(f"{folder}/")]
    there = {f"{parts[0]}/" if len(parts) > 1 else parts[0].removesuffix(".py") for parts in inside} - {"__init__"}
    listed = re.findall(r"^    (\w+/?)  ", PAGES[folder].split(LIST)[1], re.MULTILINE)
    assert sorted(listed) == sorted(there)


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


@pytest.mark.parametrize("ground", sorted(GROUND))
def test_the_page_of_shared_ground_names_its_files(ground):
    page = ast.get_docstring(tree_of(f"models/{ground}/__init__.py")) or ""
    names = {name.split("/")[2].removesuffix(".py") for name in FILES if family_of(name) == ground} - {"__init__"}
    assert not [name for name in names if not re.search(rf"^ +{name}\b", page, re.MULTILINE)]


def test_shared_classes_have_more_than_one_child():
    """A base class of one child is a part of it: on shared ground it would only look as if others used it."""
    classes = [node for name in FILES for node in ast.walk(tree_of(name)) if isinstance(node, ast.ClassDef)]
    bases = Counter(base for node in classes for base in map(base_name, node.bases))
    shared = [
        node.name
        for name in FILES
        if family_of(name) in GROUND
        for node in tree_of(name).body
        if isinstance(node, ast.ClassDef)
        and any(isinstance(one, ast.FunctionDef) for one in node.body)  # else it is a list, of figures
    ]
    assert "Model" in shared
    assert not [name for name in shared if bases[name] == 1]


def test_files_and_folders_are_small():
    assert not {name for name, path in FILES.items() if len(path.read_text().splitlines()) > LARGEST_FILE}
    folders = [str(Path(name).parent) for name in FILES]
    assert not {folder for folder in folders if folders.count(folder) > WIDEST_FOLDER}


OPENS = ("wish.open", "open_for_model")
"""How a verb reads a table."""

FITS = (".build", "fit_model", ".fit", ".fit_transform")
"""How a verb fits a model; or it calls a recipe that does."""


def calls_in(name: str) -> set[str]:
    """What a file calls, as it is written: `function`, or `name.method`."""
    called = (node.func for node in ast.walk(ast.parse(FILES[name].read_text())) if isinstance(node, ast.Call))
    return {ast.unparse(one) for one in called}


def fits_a_model(verb: str) -> bool:
    """Whether the verb, or a recipe that it calls, makes a model: by what its file calls and imports."""
    name = Path(VERBS[verb].__file__).relative_to(SOURCE).as_posix()
    recipes = {one.module.split(".")[2] for one in imports_of(name) if one.module.startswith("lowdim.recipes.")}
    inside = [file for file in FILES if file.startswith(tuple(f"recipes/{recipe}/" for recipe in recipes))]
    models = ("lowdim.models.registry", *(f"lowdim.models.{family}." for family in MODELS))
    return any(one.endswith(FITS) for one in calls_in(name)) or any(
        one.module.startswith(models) for file in inside for one in imports_of(file)
    )


def groups_of(verb: str) -> list[type]:
    """The groups that a verb should take, by what its file does: data if it reads a table, a model if it fits one."""
    name = Path(VERBS[verb].__file__).relative_to(SOURCE).as_posix()
    if not any(one.endswith(OPENS) for one in calls_in(name)):
        return []
    return [DataOptions, ModelOptions] if fits_a_model(verb) else [DataOptions]


@pytest.mark.parametrize("verb", VERBS)
def test_verbs_take_whole_groups_of_options_or_say_why_not(verb):
    """An option of a group is there with the same meaning, means what the verb says of it, or is refused in words."""
    run = getattr(VERBS[verb], verb)
    taken, own = signature(run).parameters, signature(inspect_verb(run)).parameters
    groups = [group for group in GROUPS if group in get_type_hints(inspect_verb(run)).values()]
    assert set(groups_of(verb)) <= set(groups)
    for group in groups:
        types = get_type_hints(group, include_extras=True)
        for option in fields(group):
            if option.name in (*getattr(group, "NOT_TYPED", ()), *own):
                continue
            assert (option.name in taken) != (option.name in run.refused)
            if option.name in taken:
                assert taken[option.name].annotation == types[option.name]
                assert taken[option.name].default == option.default
    assert all(len(why.split()) > 3 and not why.endswith(".") for why in run.refused.values())


def inspect_verb(run: Callable[..., int]) -> Callable[..., int]:
    """The verb as it is written, before its groups are spread out."""
    return cast("Callable[..., int]", run.__wrapped__)


def test_the_law_sees_verbs_that_fit_and_those_that_do_not():
    """A law that finds nobody holds of everybody."""
    fitting = {verb for verb in VERBS if ModelOptions in groups_of(verb)}
    assert {"fit", "describe", "plot", "choose", "compare", "impute", "regress", "map", "recognise"} <= fitting
    assert not fitting & {"transform", "info", "convert", "redundant", "datasets", "denoise", "topics"}


def test_what_a_verb_refuses_is_told_to_whoever_types_it(capsys):
    assert main(["impute", "x.csv", "--kernel", "rbf"]) == 2
    said = capsys.readouterr().err
    assert "--kernel: impute fits probabilistic PCA, which has no such setting" in said


@pytest.mark.parametrize("name", PROMPTS)
def test_what_a_model_has_at_the_prompt_is_an_option_of_the_group_and_a_setting_of_the_model(name):
    prompt, made = prompt_of(name), ModelOptions(model=name).build()
    assert type(made).__name__ == PROMPTS[name]
    assert set(prompt.options) <= {option.name for option in fields(ModelOptions)} - set(ModelOptions.SHARED)
    own = {option for option, told in OWN_OPTIONS.items() if name in told.owners}
    assert own == set(prompt.options) & OWN_OPTIONS.keys()
    assert set(prompt.settings()) <= set(made.get_params())
    assert ("scale" in made.get_params()) >= (not prompt.no_scale)
    assert prompt_name(PROMPTS[name]) == prompt_name(FOLDERS[PROMPTS[name]]) == prompt_name(name.upper()) == name


SHARED = {"runtime", "results", "sources", "matrices", "solvers", "views", "datasets"}


def models_named(name: str) -> set[str]:
    """Public classes of models that the code of a file names: as a name, or in a text that is no docstring."""
    tree = tree_of(name)
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said
    ]
    words = {word for text in texts for word in re.findall(r"\w+", text)}
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} & FOLDERS.keys() | words & FOLDERS.keys()


def test_shared_code_names_no_model():
    ground = [name for name in FILES if room_of(name) in SHARED or family_of(name) in GROUND]
    assert len(ground) > 100
    # PCA is what a choice of K is about unless something else is said, and the example of a model in an error
    allowed = {("results/k_choice.py", "PCA"), ("models/base/saving.py", "PCA")}
    assert {(name, model) for name in ground for model in models_named(name)} <= allowed
    assert "PCA" in models_named("models/registry.py")
