"""What a model in a file answers, as JSON can say it: by the public interface alone, whatever lies behind it."""

from __future__ import annotations

import contextlib
import io
import json
import math
import shutil
import tempfile
import warnings
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

import lowdim
from lowdim.cli.main import main  # what the command `lowdim` runs

METHODS = (
    "transform",
    "predict",
    "predict_proba",
    "decision_function",
    "accepts",
    "distances",
    "score_samples",
    "impute",
    "intervals",
    "codes",
    "novelty",
    "deviances",
)
"""Methods of one model or another that are asked about rows."""

NOT_TOLD = ("fit_", "space_")
"""The record, whose fields are told by the attributes, and a model inside a model."""


def told(value: Any) -> Any:
    """A value as JSON can say it: arrays with their type and shape, records by their fields."""
    if isinstance(value, np.ndarray):
        return {"dtype": value.dtype.name, "shape": list(value.shape), "values": told(value.ravel().tolist())}
    if isinstance(value, np.generic):
        return told(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [told(item) for item in value]
    if isinstance(value, Mapping):
        return {str(name): told(item) for name, item in value.items()}
    if is_dataclass(value):
        return {field.name: told(getattr(value, field.name)) for field in fields(value)}
    if hasattr(value, "columns"):  # a frame, of whichever library
        return {str(name): told(np.asarray(value[name])) for name in value.columns}
    raise TypeError(f"facts cannot hold a {type(value).__name__}")


def said(ask: Callable[[], Any]) -> Any:
    """What a call gives, or the name of the error that it raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return told(ask())
        except (ValueError, ArithmeticError, AttributeError) as error:
            return {"raises": type(error).__name__}


def answers(path: Path, rows: Any) -> dict[str, Any]:
    """What the model in a file is, knows, and answers about rows."""
    model = lowdim.load(path)
    known = [name for name in dir(type(model)) + list(vars(model)) if name.endswith("_") and not name.startswith("_")]
    asked = {name: said(lambda name=name: getattr(model, name)(rows)) for name in METHODS if hasattr(model, name)}
    if hasattr(model, "inverse_transform"):
        asked["inverse_transform"] = said(lambda: model.inverse_transform(model.transform(rows)))
    if hasattr(model, "partial_fit"):  # what a file keeps to go on with
        asked["partial_fit"] = said(lambda: lowdim.load(path).partial_fit(rows).transform(rows))
    return {
        "class": type(model).__name__,
        "params": told(model.get_params()),
        "attributes": {name: said(lambda name=name: getattr(model, name)) for name in sorted({*known} - {*NOT_TOLD})},
        "answers": asked,
        "info": info(path),
    }


def info(path: Path) -> Any:
    """What `lowdim info --json` prints, without the place of the file."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        code = main(["info", str(path), "--json"])
    found = json.loads(printed.getvalue())
    del found["file"]
    return {"code": code} | found


def answers_of_checkpoint(path: Path, begin: Callable[[str], Any], rows: np.ndarray) -> dict[str, Any]:
    """What a fit that goes on from a checkpoint comes to; the file itself is left as it is."""
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copy(path, folder)
        refused = said(lambda: lowdim.load(copy))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = begin(copy).fit(rows)
        return {"load": refused, "steps": getattr(model, "n_iter_", None), "transform": told(model.transform(rows))}
