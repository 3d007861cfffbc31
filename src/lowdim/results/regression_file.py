"""A regression on components as facts and arrays of a model file, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import FormatError
from lowdim.results.latent_file import pack_latent, unpack_latent
from lowdim.results.linear_file import Arrays, pack_linear, unpack_linear
from lowdim.results.regression import RULES, RegressionFit, Rival, Validation
from lowdim.results.strict import array, each, facts, flag, mapping, number, one_of, optional, text, whole

FIT = {
    "axes": mapping,
    "n_components": whole,
    "n_targets": whole,
    "rule": one_of(*RULES),
    "reason": text,
    "validation": optional(mapping),
    "tests": optional(whole),
    "filler": optional(mapping),
    "rivals": each(mapping),
    "rivals_words": text,
    "targets": optional(each(text)),
    "flat": flag,
    "missing": whole,
    "groups": optional(whole),
}
VALIDATION = {"most": whole, "best": whole, "within": whole, "folds": whole, "words": text, "nested": flag}
RIVAL = {
    "name": text,
    "chosen": text,
    "rmse": each(number),
    "q2": each(number),
    "error": number,
    "difference": number,
    "difference_error": number,
}
PATHS = ("error", "std_error", "rmse", "press", "q2")
ERRORS = ("errors", "errors_freedom")
"""Arrays that older files do not have."""

UNTOLD = -1.0
"""Stands in files for a standard error that rows do not tell, as all numbers there are finite."""

FILLER = "filler_"
"""Before the names of the arrays of what fills holes."""


def pack_regression(fit: RegressionFit) -> tuple[dict[str, Any], Arrays]:
    """Facts and arrays of a fit."""
    axes, arrays = pack_linear(fit.axes)
    arrays |= {name: getattr(fit, name) for name in ("picked", "loads", "y_mean", "squares", "residual_squares")}
    checked = fit.validation
    if checked is not None:
        arrays |= {f"cv_{name}": getattr(checked, name) for name in PATHS}
    if fit.p_values is not None:
        arrays["p_values"] = fit.p_values
    if fit.errors is not None and fit.errors_freedom is not None:
        arrays |= {name: np.nan_to_num(getattr(fit, name), nan=UNTOLD) for name in ERRORS}
    filler = None
    if fit.filler is not None:
        filler, inside = pack_latent(fit.filler)
        arrays |= {f"{FILLER}{name}": values for name, values in inside.items()}
    known = {
        "axes": axes,
        "n_components": fit.k,
        "n_targets": fit.m,
        "rule": fit.rule,
        "reason": fit.reason,
        "validation": None if checked is None else _checked(checked),
        "tests": None if fit.p_values is None else len(fit.p_values),
        "filler": filler,
        "rivals": [_rival(one) for one in fit.rivals],
        "rivals_words": fit.rivals_words,
        "targets": None if fit.targets is None else list(fit.targets),
        "flat": fit.flat,
        "missing": fit.missing,
        "groups": fit.groups,
    }
    return known, arrays


def unpack_regression(given: Any, arrays: Mapping[str, NDArray[Any]]) -> RegressionFit:
    """The fit that `pack_regression` took apart."""
    known = facts(given, "fit", FIT)
    axes, k, m = unpack_linear(known["axes"], arrays), known["n_components"], known["n_targets"]
    picked = array(arrays, "picked", (k,), np.int64)
    squares, left = array(arrays, "squares", (m,)), array(arrays, "residual_squares", (m,))
    if m < 1 or (known["flat"] and m > 1) or (squares < 0).any() or (left < 0).any():
        raise FormatError(f"The model file says {m} responses and sums of squares that no regression can have.")
    last = axes.k - 1 if k else -1
    if (np.diff(picked) <= 0).any() or (k and (picked[0] < 0 or picked[-1] != last)) or (not k and axes.k != 1):
        raise FormatError("The model file uses components that it does not hold.")
    if not (axes.singular_values[picked] > 0).all():
        raise FormatError("The model file uses components without variance.")
    return RegressionFit(
        axes=axes,
        picked=picked,
        loads=array(arrays, "loads", (k, m)),
        y_mean=array(arrays, "y_mean", (m,)),
        squares=squares,
        residual_squares=left,
        rule=known["rule"],
        reason=known["reason"],
        validation=None if known["validation"] is None else _validation(known["validation"], arrays, m),
        p_values=None if known["tests"] is None else array(arrays, "p_values", (known["tests"],)),
        filler=None if known["filler"] is None else _filler(known["filler"], arrays, axes.n_columns),
        rivals=tuple(_unpacked_rival(one, m) for one in known["rivals"]),
        rivals_words=known["rivals_words"],
        targets=None if known["targets"] is None else _targets(known["targets"], m),
        flat=known["flat"],
        missing=known["missing"],
        groups=known["groups"],
        **{name: _told(arrays, name, (m, axes.n_columns + 1)) for name in ERRORS if name in arrays},
    )


def _checked(checked: Validation) -> dict[str, Any]:
    return {"most": len(checked.error) - 1} | {name: getattr(checked, name) for name in VALIDATION if name != "most"}


def _rival(one: Rival) -> dict[str, Any]:
    return {name: getattr(one, name) for name in RIVAL} | {"rmse": one.rmse.tolist(), "q2": one.q2.tolist()}


def _validation(given: Any, arrays: Mapping[str, NDArray[Any]], m: int) -> Validation:
    known = dict(facts(given, "validation", VALIDATION))
    most = known.pop("most")
    if max(known["best"], known["within"]) > most:
        raise FormatError(f"The validation of the model file chose more than the {most} components that it saw.")
    shapes = {"error": (most + 1,), "std_error": (most + 1,), "rmse": (most + 1, m), "press": (m,), "q2": (m,)}
    known |= {name: array(arrays, f"cv_{name}", shape) for name, shape in shapes.items()}
    return Validation(**known)


def _told(arrays: Mapping[str, NDArray[Any]], name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    found = array(arrays, name, shape)
    return np.where(found == UNTOLD, np.nan, found)


def _filler(given: Any, arrays: Mapping[str, NDArray[Any]], p: int) -> Any:
    inside = {name.removeprefix(FILLER): values for name, values in arrays.items() if name.startswith(FILLER)}
    found = unpack_latent(given, inside)
    if found.n_columns != p:
        raise FormatError(f"The model file fills {found.n_columns} columns, but it has {p}.")
    return found


def _unpacked_rival(given: Any, m: int) -> Rival:
    known = facts(given, "rivals", RIVAL)
    if len(known["rmse"]) != m or len(known["q2"]) != m:
        raise FormatError(f"A rival in the model file was not judged by {m} responses.")
    arrays = {name: np.array(known[name], dtype=np.float64) for name in ("rmse", "q2")}
    return Rival(**known | arrays)


def _targets(names: list[str], m: int) -> tuple[str, ...]:
    if len(names) != m:
        raise FormatError(f"The model file names {len(names)} responses, but it has {m}.")
    if len(set(names)) != m:
        raise FormatError("The model file has responses of the same name.")
    return tuple(names)
