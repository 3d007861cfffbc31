"""What every model of the registry does with its default settings: shown, explained, kept, reported, drawn."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.base import is_classifier, is_regressor

import lowdim
from lowdim.models.base.output import overview_of
from lowdim.models.registry import FOLDERS, KINDS, model_class

ROWS = np.random.default_rng(3).integers(0, 3, size=(40, 6)) / 2.0
"""Halves of 0, 1 and 2: counts, shares and numbers at once, so that every family takes them."""

SETTINGS: dict[str, dict[str, Any]] = {
    "Autoencoder": {"hidden": (8,), "max_iter": 3},
    "GenotypePCA": {"n_components": 2},
}
"""In place of defaults that are made for more rows and columns than these."""

DATA = {"GenotypePCA": ROWS * 2}


def rows_of(name: str) -> np.ndarray:
    return DATA.get(name, ROWS)


@cache
def fitted(name: str) -> Any:
    model = model_class(name)(**SETTINGS.get(name, {}))
    target = np.arange(40.0) if is_regressor(model) else np.arange(40) % 2 if is_classifier(model) else None
    return model.fit(rows_of(name)) if target is None else model.fit(rows_of(name), target)


@pytest.mark.parametrize("name", FOLDERS)
@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")  # of rows without structure, which is not the point
class TestEveryModel:
    def test_it_is_shown_and_explained(self, name):
        model, seen = fitted(name), overview_of(fitted(name).fit_)
        assert repr(model).startswith(f"{name}(")
        assert "40 rows × 6 columns" in repr(model)
        assert seen.kept in repr(model)
        assert name in model._repr_html_()
        assert model.explain().strip()
        assert all((seen.model, seen.lead, seen.trust.sentence))

    def test_it_is_kept_in_a_file(self, name, tmp_path):
        model = fitted(name)
        model.save(tmp_path / "model.lowdim")
        again = lowdim.load(tmp_path / "model.lowdim")
        assert type(again) is type(model)
        assert repr(again) == repr(model)
        ask = "transform" if hasattr(model, "transform") else "predict"
        np.testing.assert_array_equal(getattr(again, ask)(rows_of(name)), getattr(model, ask)(rows_of(name)))

    def test_it_has_a_page(self, name, tmp_path):
        fitted(name).report(tmp_path / "page.html", rows_of(name))
        text = (tmp_path / "page.html").read_text(encoding="utf-8")
        assert overview_of(fitted(name).fit_).model in text

    def test_it_is_drawn(self, name):
        plots = fitted(name).plot
        assert [figure for figure in dir(plots) if not figure.startswith("_")]

    def test_it_is_told_at_the_prompt(self, name, tmp_path, capsys):
        from lowdim.cli.main import main

        fitted(name).save(tmp_path / "model.lowdim")
        assert main(["info", str(tmp_path / "model.lowdim"), "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert KINDS[told["model"]["kind"] if isinstance(told["model"], dict) else told["model"]] == name
