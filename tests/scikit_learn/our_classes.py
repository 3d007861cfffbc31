"""A pytest plugin: scikit-learn's test modules see lowdim's classes under scikit-learn's names.

Every name that both `sklearn.decomposition` and lowdim have is replaced before a test module is imported. What became
of each test is written as JSON to the file that LOWDIM_OUTCOMES names.
"""

import json
import os
from pathlib import Path

import sklearn.decomposition

import lowdim

outcomes: dict[str, list[str]] = {"passed": [], "failed": [], "skipped": []}


def pytest_configure():
    for name in set(sklearn.decomposition.__all__) & set(lowdim.__all__):
        setattr(sklearn.decomposition, name, getattr(lowdim, name))


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        outcomes[report.outcome].append(report.nodeid.partition("::")[2])


def pytest_sessionfinish():
    Path(os.environ["LOWDIM_OUTCOMES"]).write_text(json.dumps(outcomes))
