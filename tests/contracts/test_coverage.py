"""Every interval and limit that the library prints holds what it says as often as it says, or says otherwise itself.

Simulations of `tests/interval_coverage.py`, which prints them as docs/coverage.md shows them.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import lowdim

sys.path.insert(0, str(Path(__file__).parents[1]))
from interval_coverage import AT_LEAST, SPIKED, STUDIES, gaussian_rows, simulate


@pytest.mark.slow
@pytest.mark.parametrize("study", STUDIES, ids=lambda one: f"{one.name}, {one.shape}")
def test_it_holds_as_often_as_it_says(study):
    """Within two standard errors, or called otherwise: by the library (`basis`, `words`), or by docs/coverage.md."""
    for found in simulate(study):
        said = study.beside.get(found.statistic, "")
        assert not found.word or said, found
        assert found.word != "short" or said != AT_LEAST, found


def test_what_is_not_at_its_level_is_called_otherwise():
    """The two statistics that simulations find off their level, as tables of the library name them."""
    rng = np.random.default_rng(0)
    X = gaussian_rows(rng, 300, SPIKED, tails=5)  # of 100 rows one table in 70 does not look it
    sure = lowdim.PCA(3).fit(X).uncertainty(X, "asymptotic")
    for name in sure.intervals:
        printed = np.isfinite(sure.table(name)["lower"])
        assert printed.any()
        assert all("which these are not" in one for one in np.array(sure.table(name)["basis"])[printed]), name
    table = lowdim.PCRegression(3).fit(X, X @ np.ones(10) + rng.normal(size=300)).table("coefficients")
    assert "std_err_given_axes" in list(table)
    assert set(table["basis"]) == {"exchangeable rows, given 3 components, at least this level"}


@pytest.mark.parametrize("study", STUDIES, ids=lambda one: f"{one.name}, {one.shape}")
def test_studies_run(study):
    """Two tables of each that is quick, so that the slow test is known to run."""
    if study.name.startswith(("NMF", "probabilistic PCA, bootstrap, holes", "imputation", "limits")):
        pytest.skip(f"{study.name} takes seconds for a table")
    assert simulate(study, tables=2)
