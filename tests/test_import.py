"""`import lowdim` is light, and gives exactly the names that the documentation lists."""

from __future__ import annotations

import ast
import json
import pickle
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import lowdim
from lowdim.runtime import native

PROMPT = {"lowdim", "typer", "annotated_doc", "shellingham"}
"""Packages that help, and an error about a path or an option, may load: typer, and what it loads itself."""

NUMBERS = {"numpy", "scipy", "scipy.linalg", "threadpoolctl"}
"""What numbers need: NumPy, and the parts of SciPy that every fit calls."""

WITH_PARTS = {"dask", "numpy", "pyarrow", "scipy", "sklearn"}
"""Packages whose parts are written as `package.part`."""

LOADED = """
import sys
{}
parts = {{".".join(name.split(".")[:2]) for name in sys.modules if name.startswith("scipy.")}}
found = {{name.partition(".")[0] for name in sys.modules}} - sys.stdlib_module_names
print(*sorted(name for name in found | parts if "._" not in name and not name.startswith(("_", "cython"))))
"""

COMMAND = """
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from lowdim.cli.main import main
with redirect_stdout(TextIOWrapper(BytesIO())), redirect_stderr(TextIOWrapper(BytesIO())):
    code = main({})
assert code == {}, code
"""

DOCS = Path(__file__).parents[1] / "docs"

PROBE = """
import json, sys, time
import numpy
before, start = set(sys.modules), time.perf_counter()
import lowdim
spent = time.perf_counter() - start
print(json.dumps([spent, sorted({name.split(".")[0] for name in set(sys.modules) - before})]))
"""


def probe() -> tuple[float, list[str]]:
    answer = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True)
    spent, loaded = json.loads(answer.stdout)
    return spent, loaded


def test_import_loads_nothing_heavy():
    _, loaded = probe()
    heavy = {"scipy", "sklearn", "numba", "pandas", "polars", "pyarrow", "narwhals", "matplotlib", "joblib"}
    assert not heavy & set(loaded)


def test_import_reads_no_source_code():
    # `dataclasses` loads `inspect`, and with it the tokenizer and the parser, which takes as long as all the rest
    heavy = {"dataclasses", "inspect", "importlib.util"}
    asked = f"import sys; begun = set(sys.modules); import lowdim; print(*{heavy} & (set(sys.modules) - begun))"
    answer = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert not answer.stdout.split()


def test_import_takes_under_50_ms_beyond_numpy():
    # a promise of the design, not a benchmark: the best of five keeps a busy machine out of it
    assert min(probe()[0] for _ in range(5)) < 0.050


def loaded_by(program: str) -> set[str]:
    """Packages, and public parts of SciPy, that a program loads in a process of its own."""
    answer = subprocess.run([sys.executable, "-c", LOADED.format(program)], capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    return set(answer.stdout.split()) - {"scipy.version"}


def test_parts_of_packages_are_imported_where_they_are_used():
    # another module may have loaded them already, so that no other test would see it
    used: dict[str, dict[str, set[Path]]] = {}
    for file in Path(lowdim.__file__).parent.rglob("*.py"):
        tree = ast.parse(file.read_text("utf-8"))
        names = [alias for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
        packages = {name.asname: name.name for name in names if name.asname}
        packages |= {top: top for top in (name.name.partition(".")[0] for name in names if not name.asname)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in packages:
                package = packages[node.value.id]
                if f"{package}.{node.attr}" not in {name.name for name in names}:
                    used.setdefault(package, {}).setdefault(node.attr, set()).add(file)
    for package in sorted(name for name in used if name.partition(".")[0] in WITH_PARTS):
        asked = f"import {package}; print(*(one for one in {sorted(used[package])} if not hasattr({package}, one)))"
        answer = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
        assert not {name: used[package][name] for name in answer.stdout.split()}


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a small table, a model of it, an empty file and one of texts, in which programs run."""
    monkeypatch.chdir(tmp_path)
    rows = np.random.default_rng(0).random((40, 5))
    np.savetxt("rows.csv", rows, delimiter=",", header="a,b,c,d,e", comments="")
    lowdim.PCA(2).fit(rows).save("rows.lowdim")
    Path("empty.csv").touch()
    return tmp_path


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (["--help"], 0),
        (["fit", "--help"], 0),
        (["nofile.csv"], 3),
        (["empty.csv"], 3),
        (["fit", "nofile.csv", "--scale", "--keep", "3"], 3),
        (["report", "nofile.csv", "-o", "page.html"], 3),
        (["transform", "rows.lowdim", "nofile.csv"], 3),
        (["transform", "nofile.lowdim", "rows.csv"], 4),
        (["fitt", "rows.csv"], 2),
        (["fit", "rows.csv", "--kep", "3"], 2),
        (["fit", "rows.csv", "--gamma", "3"], 2),
        (["fit", "rows.csv", "--model", "umap"], 2),
    ],
)
def test_help_and_errors_about_paths_load_no_numbers(tables, argv, code):
    assert loaded_by(COMMAND.format(argv, code)) <= PROMPT


@pytest.mark.parametrize(
    "argv",
    [
        ["rows.csv"],
        ["fit", "rows.csv", "--scale", "--save", "new.lowdim", "-o", "scores.csv"],
        ["fit", "rows.csv", "--model", "svd", "--keep", "2", "--json"],
        ["transform", "rows.lowdim", "rows.csv"],
        ["info", "rows.csv"],
        ["info", "rows.lowdim"],
        ["explain", "rows.csv"],
        ["table", "rows.lowdim", "loadings"],
    ],
)
def test_small_jobs_at_the_prompt_load_what_numbers_need(tables, argv):
    assert loaded_by(COMMAND.format(argv, 0)) <= PROMPT | NUMBERS


@pytest.mark.parametrize("model", ["PCA", "IncrementalPCA", "TruncatedSVD"])
def test_a_first_fit_loads_what_numbers_need(model):
    program = f"import numpy as np, lowdim; X = np.eye(9)[:, :4]; lowdim.{model}(2).fit(X).inverse_transform"
    assert loaded_by(f"{program}(lowdim.{model}(2).fit_transform(X))") <= {"lowdim"} | NUMBERS


@pytest.mark.skipif(not native.is_compiled(), reason="plain routes call scipy.linalg")
@pytest.mark.parametrize("call", ["PCA(2).fit_transform(X)", "ProbabilisticPCA(2).fit(X)"])
def test_a_small_fit_loads_no_part_of_scipy(call):
    program = f"import numpy as np, lowdim; X = np.cos(np.arange(60.0) ** 2).reshape(20, 3); lowdim.{call}"
    assert loaded_by(program) <= {"lowdim"} | NUMBERS - {"scipy.linalg", "threadpoolctl"}


def test_public_names_are_the_documented_ones():
    documented = set(re.findall(r"^## `lowdim\.(\w+)`", (DOCS / "api.md").read_text(), flags=re.MULTILINE))
    assert documented == set(lowdim.__all__)


def test_every_public_name_loads_and_has_a_docstring():
    for name in lowdim.__all__:
        assert getattr(lowdim, name).__doc__


def test_unknown_name_says_what_there_is():
    with pytest.raises(AttributeError, match="PCA"):
        lowdim.PCAA  # noqa: B018  the access itself is the test


def test_errors_load_nothing_heavy():
    asked = "import sys, lowdim.errors; print('sklearn' in sys.modules, 'numpy' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert answer.stdout.split() == ["False", "False"]


def test_filters_for_scikit_learns_warning_catch_ours():
    X = np.random.default_rng(0).random((30, 6))
    assert lowdim.errors.NotConverged is lowdim.errors.NotConverged  # one class, however often it is asked for
    assert issubclass(lowdim.errors.NotConverged, lowdim.errors.LowdimWarning)
    assert pickle.loads(pickle.dumps(lowdim.errors.NotConverged("stopped"))).args == ("stopped",)
    with pytest.warns(ConvergenceWarning, match="residual"):
        lowdim.NMF(3, max_iter=1, tol=1e-12).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        lowdim.NMF(3, max_iter=1, tol=1e-12).fit(X)
