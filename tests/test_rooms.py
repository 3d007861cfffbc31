"""One direction between rooms, and optional packages each in one place: read from every import statement."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from rooms import ALONE, BASE, ROOMS

SOURCE = Path(__file__).parents[1] / "src" / "lowdim"
FILES = sorted(SOURCE.rglob("*.py"))


def imported_modules(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} uses a relative import"
            names.add(node.module or "")
            if node.module == "lowdim":
                names.update(f"lowdim.{alias.name}" for alias in node.names)
    return names


def room_of(path: Path) -> str:
    first = path.relative_to(SOURCE).parts[0]
    return first.removesuffix(".py")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_go_one_way(path):
    room = room_of(path)
    for name in imported_modules(path):
        parts = name.split(".")
        if parts[0] != "lowdim" or len(parts) == 1:
            continue
        target = parts[1] if parts[1] in ROOMS else "__init__"
        assert target == room or target in ROOMS[room], f"{room} may not import {target} ({name})"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_packages_stay_where_they_belong(path):
    here, room = str(path.relative_to(SOURCE)), room_of(path)
    for name in imported_modules(path):
        package = name.split(".")[0]
        if package in sys.stdlib_module_names or package == "lowdim":
            continue
        assert package in BASE[room] or here in ALONE.get(package, set()), f"{here} may not import {package}"


def test_every_room_is_in_the_table():
    assert {room_of(path) for path in FILES} == set(ROOMS) == set(BASE)


def test_the_table_has_no_cycle():
    order: list[str] = []
    rooms = {room: needs - {"__init__"} for room, needs in ROOMS.items()}
    while rooms:
        free = [room for room, needs in rooms.items() if needs <= set(order)]
        assert free, f"rooms that import each other: {sorted(rooms)}"
        order += free
        rooms = {room: needs for room, needs in rooms.items() if room not in free}
