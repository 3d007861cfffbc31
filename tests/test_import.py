"""`import lowdim` is light, and gives exactly the names that the documentation lists."""

from __future__ import annotations

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
