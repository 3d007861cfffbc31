"""What lowdim is made of: pins with sums, lowest versions, a bill of materials; and the runner of mutants."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import mutants

ROOT = Path(__file__).parents[1]


def script(name: str, *argv: str) -> str:
    return subprocess.run(
        [sys.executable, str(ROOT / "supply" / name), *argv], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout


def test_every_pin_has_the_sums_of_its_files(tally):
    script("lock.py", "--check")
    text = (ROOT / "supply" / "hashed.txt").read_text()
    pinned = re.findall(r"^\S+==\S+ \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", text, re.MULTILINE)
    assert len(pinned) == len(re.findall("==", text))
    assert "://" not in text  # sums, and nothing of where files lie
    tally(24, len(pinned), "pins with sums")


def test_the_lowest_versions_are_those_of_the_project(tally):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    told = dict(line.split("==") for line in script("lowest.py").split())
    for one in project["dependencies"]:
        name, _, version = one.partition(">=")
        assert told[name] == version
    assert told["pyarrow"] == "17"
    tally(24, len(told), "lower bounds")


def test_the_bill_names_all_that_is_needed_with_its_licence(tally):
    bill = json.loads(script("sbom.py"))
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    named = {one["name"]: one for one in bill["components"]}
    assert {"numpy", "scipy", "scikit-learn", "typer", "rich", "narwhals", "threadpoolctl"} <= set(named)
    refs = {one["bom-ref"] for one in (*bill["components"], bill["metadata"]["component"])}
    assert {one["ref"] for one in bill["dependencies"]} == refs
    assert all(set(one["dependsOn"]) <= refs for one in bill["dependencies"])
    for one in named.values():
        said = json.dumps(one["licenses"])
        assert "not stated" not in said
        assert not re.search(r"\bA?GPL", said), one["name"]  # which a program under BSD may not bring along
    tally(24, len(named), "packages with a licence")


CODE = '''
def f(x: int = 1) -> bool:
    """A docstring with 3 numbers."""
    if x > 2 and x != 5:
        return not x
    return x * 2 if x else -x
'''


def test_every_kind_of_mutant_is_made_and_is_another_program():
    found = list(mutants.places(ast.parse(CODE)))
    assert {what for _, what in found} == {"comparison", "operator", "constant", "condition", "result"}
    made = set()
    for number in range(len(found)):
        tree = ast.parse(CODE)
        node = [node for node, _ in mutants.places(tree)][number]
        assert "→" in mutants.change(node)
        text = ast.unparse(ast.fix_missing_locations(tree))
        compile(text, "mutant", "exec")
        made.add(text)
    assert ast.unparse(ast.parse(CODE)) not in made
    assert len(made) >= len(found) - 1


@pytest.mark.parametrize("room", mutants.ROOMS)
def test_each_file_has_tests_near_to_it(room):
    for path in (ROOT / "src" / "lowdim" / room).rglob("*.py"):
        assert mutants.nearest(path)
        assert all((ROOT / one).exists() for one in mutants.nearest(path)), path
