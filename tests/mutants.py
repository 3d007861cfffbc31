"""Whether the tests notice when the code is wrong: small changes of it, one at a time, and the tests nearest to it.

    python tests/mutants.py --sample 100 --seed 0        a sample of solvers, results and sources
    python tests/mutants.py --files src/lowdim/words.py  all of a file

A mutant is one comparison, operator, constant, condition or result that says something else. It lives if the nearest
tests pass; those are read, and either a test is mended, or the change makes no difference. Nothing is written into
the tree that is checked: mutants stand in a copy of `src`.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
ROOMS = ("solvers", "results", "sources")

OTHER = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.MatMult: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.USub: ast.UAdd,
}

NEAREST: dict[str, tuple[str, ...]] = {
    "solvers/rank": ("tests/solvers", "tests/recipes/choose_k"),
    "solvers/resampling": ("tests/solvers", "tests/models/base/test_uncertainty.py"),
    "solvers": ("tests/solvers", "tests/contracts/test_every_solver.py", "tests/contracts/test_properties.py"),
    "results": ("tests/results", "tests/models/base/test_saving.py", "tests/contracts/test_every_model.py"),
    "sources/formats": ("tests/sources", "tests/cli/test_bad_files.py"),
    "sources/tables": ("tests/sources",),
    "sources/genotypes": ("tests/sources/genotypes", "tests/models/genotype_pca"),
    "sources/dask": ("tests/sources/test_dask.py", "tests/contracts/test_every_engine.py"),
    "sources": ("tests/sources", "tests/contracts/test_every_engine.py"),
    "words": ("tests/test_words.py", "tests/cli/test_hostile_names.py"),
}
"""Beginning of a file's path below the package → the tests nearest to it; the first that fits."""


class Mutant(NamedTuple):
    """One change."""

    path: Path
    number: int
    """Which of the places in the file where something can be changed."""
    line: int
    what: str


def places(tree: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Nodes that can say something else, and what they are; texts, annotations and docstrings cannot."""
    passed = {
        id(inner)
        for node in ast.walk(tree)
        for kept in (getattr(node, "annotation", None), getattr(node, "returns", None))
        if kept is not None
        for inner in ast.walk(kept)
    }
    for node in ast.walk(tree):
        if id(node) in passed:
            continue
        if isinstance(node, ast.Compare) and type(node.ops[0]) in OTHER:
            yield node, "comparison"
        elif isinstance(node, (ast.BinOp, ast.BoolOp, ast.UnaryOp)) and type(node.op) in OTHER:
            if not any(isinstance(side, ast.JoinedStr) for side in ast.iter_child_nodes(node)):
                yield node, "operator"
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float, bool):
            yield node, "constant"
        elif isinstance(node, (ast.If, ast.While, ast.IfExp)):
            yield node, "condition"
        elif isinstance(node, ast.Return) and node.value is not None:
            yield node, "result"


def change(node: ast.AST) -> str:
    """Have a node say something else; tells what."""
    before = ast.unparse(node).splitlines()[0][:60]
    if isinstance(node, ast.Compare):
        node.ops[0] = OTHER[type(node.ops[0])]()
    elif isinstance(node, (ast.BinOp, ast.BoolOp, ast.UnaryOp)):
        node.op = OTHER[type(node.op)]()  # type: ignore[assignment]
    elif isinstance(node, ast.Constant):
        value = node.value
        node.value = not value if isinstance(value, bool) else value + 1 if isinstance(value, int) else value * 1.5 + 1
    elif isinstance(node, (ast.If, ast.While, ast.IfExp)):
        node.test = ast.UnaryOp(ast.Not(), node.test)
    elif isinstance(node, ast.Return):
        node.value = ast.Constant(None)
    return f"{before}  →  {ast.unparse(ast.fix_missing_locations(node)).splitlines()[0][:60]}"


def mutants_of(path: Path) -> list[Mutant]:
    """Every mutant of a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [Mutant(path, i, node.lineno, what) for i, (node, what) in enumerate(places(tree))]  # type: ignore[attr-defined]


def write(mutant: Mutant, source: Path) -> str:
    """Put a mutant into a copy of the sources; tells what it changes."""
    tree = copy.deepcopy(ast.parse(mutant.path.read_text(encoding="utf-8")))
    node = next(node for i, (node, _) in enumerate(places(tree)) if i == mutant.number)
    told = change(node)
    target = source / mutant.path.relative_to(ROOT / "src")
    target.write_text(ast.unparse(ast.fix_missing_locations(tree)) + "\n", encoding="utf-8")
    return told


def nearest(path: Path) -> list[str]:
    """The tests nearest to a file: that of its name first, as it is the quickest to fail."""
    inside = path.relative_to(ROOT / "src" / "lowdim").as_posix()
    found = next((tests for begins, tests in NEAREST.items() if inside.startswith(begins)), ("tests",))
    own = [str(one.relative_to(ROOT)) for one in ROOT.glob(f"tests/**/test_{path.stem}.py")]
    return list(dict.fromkeys([*own, *found]))


def survives(mutant: Mutant, source: Path, seconds: float) -> bool:
    """Whether the nearest tests pass; a mutant that takes too long is noticed."""
    command = ["-m", "pytest", "-q", "-x", "-m", "not slow", "-p", "no:cacheprovider", "--timeout", str(int(seconds))]
    env = {**os.environ, "PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        ran = subprocess.run(
            [sys.executable, *command, *nearest(mutant.path)],
            cwd=ROOT,
            env=env,
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False
    return ran.returncode == 0


def main() -> None:
    """Try a sample, and tell the survivors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=600, help="for the tests of a mutant")
    parser.add_argument("--files", nargs="*", type=Path, help="in place of solvers, results and sources")
    given = parser.parse_args()
    package = ROOT / "src" / "lowdim"
    files = given.files or [path for room in ROOMS for path in sorted((package / room).rglob("*.py"))]
    every = [one for path in files for one in mutants_of(path.resolve())]
    chosen = random.Random(given.seed).sample(every, min(given.sample, len(every)))
    killed = 0
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "src"
        shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
        for i, mutant in enumerate(chosen, 1):
            told = write(mutant, source)
            lives = survives(mutant, source, given.seconds)
            shutil.copy(mutant.path, source / mutant.path.relative_to(ROOT / "src"))
            killed += not lives
            where = f"{mutant.path.relative_to(ROOT)}:{mutant.line}"
            print(f"{'LIVES ' if lives else 'killed'} {where}  {mutant.what}: {told}", flush=True)
            if i == len(chosen) or i % 20 == 0:
                print(f"{killed} of {i} killed ({killed / i:.0%}); {len(every):,} mutants in all", flush=True)


if __name__ == "__main__":
    main()
