"""A pytest plugin: scikit-learn's test modules see lowdim's classes under scikit-learn's names.

Every name that both `sklearn.decomposition` and lowdim have is replaced before a test module is imported. What became
of each test is written as JSON to the file that LOWDIM_OUTCOMES names.
"""

import json
import os
from pathlib import Path

import sklearn.decomposition

import lowdim

REPLACED = sorted(set(sklearn.decomposition.__all__) & set(lowdim.__all__))

for _name in REPLACED:
    setattr(sklearn.decomposition, _name, getattr(lowdim, _name))

outcomes: dict[str, list[str]] = {"passed": [], "failed": [], "skipped": []}


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        outcomes[report.outcome].append(report.nodeid.partition("::")[2])


def pytest_sessionfinish():
    Path(os.environ["LOWDIM_OUTCOMES"]).write_text(json.dumps(outcomes))
