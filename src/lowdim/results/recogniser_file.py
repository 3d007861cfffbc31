"""A recogniser as facts and arrays of a model file, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, FormatError
from lowdim.results.linear_file import Arrays, pack_linear, pack_names, unpack_linear, unpack_names
from lowdim.results.recogniser import METRICS, RecogniserFit, Trial
from lowdim.results.strict import Check, array, facts, flag, mapping, number, one_of, optional, pair, text, whole

NUMBERS = ("bool", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)), "float32", "float64")
"""Types of labels that are kept as numbers; texts are kept as texts."""

FIT: dict[str, Check] = {
    "space": mapping,
    "metric": one_of(*METRICS),
    "drop_first": whole,
    "n_neighbors": whole,
    "n_classes": whole,
    "labels": one_of("str", "object", *NUMBERS),
    "unknown": lambda value: value is None or text(value) or number(value),
    "max_distance": optional(number),
    "least_density": optional(number),
    "reject": optional(number),
    "reject_outside": optional(number),
    "trial": optional(mapping),
}

TRIAL = {"seen": whole, "folds": pair(whole), "dense": flag}


def pack_recogniser(fit: RecogniserFit) -> tuple[dict[str, Any], Arrays]:
    """Facts and arrays of a fit."""
    space, arrays = pack_linear(fit.space)
    arrays |= {"codes": fit.codes, "places": fit.places, "classes": _packed(fit.classes)}
    if fit.names is not None:
        arrays["names"] = pack_names(fit.names)
    trial = None
    if fit.trial is not None:
        tried = fit.trial
        arrays |= {"strangers": tried.strangers, "nearest": tried.nearest, "right": tried.right.astype(np.int64)}
        if tried.densities is not None:
            arrays["densities"] = tried.densities
        trial = {"seen": len(tried.nearest), "folds": list(tried.folds), "dense": tried.densities is not None}
    unknown = fit.unknown.item() if isinstance(fit.unknown, np.generic) else fit.unknown
    known = {
        "space": space,
        "metric": fit.metric,
        "drop_first": fit.drop_first,
        "n_neighbors": fit.n_neighbors,
        "n_classes": len(fit.classes),
        "labels": "str" if fit.classes.dtype.kind == "U" else fit.classes.dtype.name,
        "unknown": unknown,
        "max_distance": fit.max_distance,
        "least_density": fit.least_density,
        "reject": fit.reject,
        "reject_outside": fit.reject_outside,
        "trial": trial,
    }
    return known, arrays


def unpack_recogniser(given: Any, arrays: Mapping[str, NDArray[Any]]) -> RecogniserFit:
    """The fit that `pack_recogniser` took apart."""
    known = facts(given, "fit", FIT)
    space = unpack_linear(known["space"], arrays)
    n, c, drop = space.n_rows, known["n_classes"], known["drop_first"]
    if drop >= space.k or not 1 <= c <= n or not 1 <= known["n_neighbors"] <= n:
        raise FormatError(f"The model file says {c} identities, {n} rows and {space.k} components, which do not agree.")
    places = array(arrays, "places", (n,), np.int64)
    if not np.array_equal(np.unique(places), np.arange(c)):
        raise FormatError(f"The rows of the model file are not those of its {c} identities.")
    return RecogniserFit(
        space=space,
        metric=known["metric"],
        drop_first=drop,
        n_neighbors=known["n_neighbors"],
        codes=array(arrays, "codes", (n, space.k - drop)),
        places=places,
        classes=_unpacked(known["labels"], arrays, c),
        unknown=known["unknown"],
        max_distance=_real(known["max_distance"]),
        least_density=_real(known["least_density"]),
        reject=_real(known["reject"]),
        reject_outside=_real(known["reject_outside"]),
        trial=None if known["trial"] is None else _trial(known["trial"], arrays, n),
        # only pictures and texts have them, and not in files of earlier versions
        names=unpack_names({"columns": arrays["names"]}, n) if "names" in arrays else None,
    )


def _trial(given: Any, arrays: Mapping[str, NDArray[Any]], n: int) -> Trial:
    known = facts(given, "trial", TRIAL)
    seen = known["seen"]
    return Trial(
        strangers=array(arrays, "strangers", (n,)),
        densities=array(arrays, "densities", (n,)) if known["dense"] else None,
        nearest=array(arrays, "nearest", (seen,)),
        right=array(arrays, "right", (seen,), np.int64).astype(bool),
        folds=(known["folds"][0], known["folds"][1]),
    )


def _packed(classes: NDArray[Any]) -> NDArray[Any]:
    if classes.dtype.kind in "UO":
        if not all(isinstance(label, str) for label in classes.tolist()):
            raise BadInput("Labels must be texts or numbers to be kept in a model file, but some are neither.")
        return pack_names(tuple(classes.tolist()))
    if classes.dtype.name not in NUMBERS:
        raise BadInput(f"Labels of type {classes.dtype} cannot be kept in a model file; make them texts or numbers.")
    return classes.astype(np.float64 if classes.dtype.kind == "f" else np.int64)


def _unpacked(kind: str, arrays: Mapping[str, NDArray[Any]], c: int) -> NDArray[Any]:
    if kind in ("str", "object"):
        names = unpack_names({"columns": arrays.get("classes", np.zeros(0))}, c)
        classes = np.array(names, dtype=np.str_ if kind == "str" else object)
    else:
        stored = array(arrays, "classes", (c,), np.float64 if kind.startswith("float") else np.int64)
        classes = stored.astype(kind)
    if len(np.unique(classes)) != c or not np.array_equal(np.sort(classes), classes):
        raise FormatError("The labels of the model file are not sorted, each once.")
    return classes


def _real(value: Any) -> float | None:
    return None if value is None else float(value)
