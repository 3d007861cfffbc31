"""Passes over rows in a file: statistics of any model, as trees of numbers and arrays."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lowdim.errors import CannotMerge, FormatError
from lowdim.results.container import DTYPES, Document, read_document, write_document
from lowdim.runtime.passes import Pass
from lowdim.types import Array
from lowdim.words import plural

PASSES = " passes"
"""After the name of a model: what such a file holds."""

# A tree is JSON: numbers, texts and null as they are, lists; {"array": [type, shape, name]}, whose numbers stand one
# after the other in an array of the file; {"number": …} of NumPy; {"tuple": […]}, {"dict": [[key, value], …]},
# {"record": [class, {field: value}]}. A class is one of lowdim's dataclasses that is loaded already: a file loads
# nothing, and no code of a class is run.

PACKAGE = "lowdim."


def pack_passes(kept: list[Pass]) -> tuple[Array, dict[str, Array]]:
    """Passes as the bytes of a text, and arrays by the names of their types; as many as can be said so."""
    parts: dict[str, list[Array]] = {}
    tree = []
    for one in kept:
        mine: dict[str, list[Array]] = {}
        try:
            tree.append([one.name, one.rows, _pack(one.statistic, mine), one.whole])
        except TypeError:  # the rest of the fit is made again
            break
        for name, some in mine.items():
            parts.setdefault(name, []).extend(some)
    arrays = {name: np.concatenate(some) for name, some in parts.items()}
    return np.frombuffer(json.dumps(tree).encode(), np.uint8), arrays


def _pack(value: Any, parts: dict[str, list[Array]]) -> Any:
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return float(value)
    if isinstance(value, np.generic):
        value = np.asarray(value)
        return {"number": _pack(value, parts)}
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        return {"array": [value.dtype.str, list(value.shape), _add(value, parts)]}
    if isinstance(value, list):
        return [_pack(one, parts) for one in value]
    if isinstance(value, tuple) and type(value) is tuple:
        return {"tuple": [_pack(one, parts) for one in value]}
    if isinstance(value, dict):
        return {"dict": [[_pack(key, parts), _pack(one, parts)] for key, one in value.items()]}
    if dataclasses.is_dataclass(value) and type(value).__module__.startswith(PACKAGE):
        fields = {one.name: _pack(getattr(value, one.name), parts) for one in dataclasses.fields(value)}
        return {"record": [f"{type(value).__module__}:{type(value).__qualname__}", fields]}
    raise TypeError(f"{type(value).__name__} cannot be kept")


def _add(value: Array, parts: dict[str, list[Array]]) -> str:
    """The numbers of an array, in one of the types that a file holds; gives its name."""
    order = np.ascontiguousarray(value).ravel()
    name = next((name for name, dtype in DTYPES.items() if dtype == order.dtype), "U8")
    parts.setdefault(name, []).append(order if DTYPES[name] == order.dtype else order.view(np.uint8))
    return name


def unpack_passes(text: Array, arrays: Mapping[str, Array]) -> tuple[Pass, ...]:
    """What `pack_passes` packed."""
    places = dict.fromkeys(arrays, 0)
    try:
        tree = json.loads(bytes(text))
        found = tuple(Pass(one, rows, _unpack(of, arrays, places), whole) for one, rows, of, whole in tree)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise FormatError(f"The passes in the checkpoint are not as they are written ({error}).") from error
    if any(places[name] != array.size for name, array in arrays.items()):
        raise FormatError("The checkpoint holds numbers that belong to no pass.")
    return found


def _unpack(tree: Any, arrays: Mapping[str, Array], places: dict[str, int]) -> Any:
    if isinstance(tree, list):
        return [_unpack(one, arrays, places) for one in tree]
    if not isinstance(tree, dict):
        return tree
    ((kind, of),) = tree.items()
    if kind == "array":
        dtype, shape = np.dtype(of[0]), tuple(int(side) for side in of[1])
        if dtype.kind not in "fiub" or any(side < 0 for side in shape):
            raise ValueError("no array of numbers")
        name, size = of[2], int(np.prod(shape, dtype=np.int64)) * dtype.itemsize // DTYPES[of[2]].itemsize
        start, places[name] = places[name], places[name] + size
        if places[name] > arrays[name].size:
            raise ValueError("too few numbers")
        return arrays[name][start : places[name]].copy().view(dtype).reshape(shape)
    if kind == "number":
        return _unpack(of, arrays, places)[()]
    if kind == "tuple":
        return tuple(_unpack(one, arrays, places) for one in of)
    if kind == "dict":
        return {_unpack(key, arrays, places): _unpack(one, arrays, places) for key, one in of}
    if kind == "record":
        return _make_record(of[0], {name: _unpack(one, arrays, places) for name, one in of[1].items()})
    raise ValueError(f"unknown kind {kind!r}")


def _make_record(name: str, fields: dict[str, Any]) -> Any:
    module, _, path = str(name).partition(":")
    owner: Any = sys.modules.get(module) if module.startswith(PACKAGE) else None
    kind = getattr(owner, path, None) if path.isidentifier() else None
    if not isinstance(kind, type) or not dataclasses.is_dataclass(kind) or kind.__module__ != module:
        raise ValueError(f"no statistic {name!r}")
    if {one.name for one in dataclasses.fields(kind)} != set(fields):
        raise ValueError(f"other fields of {name!r}")
    made = object.__new__(kind)
    for field, value in fields.items():
        object.__setattr__(made, field, value)
    return made


# The file.


def write_passes(path: str | os.PathLike[str], owner: str, fit: str, kept: list[Pass]) -> None:
    """Keep the passes of a fit, which `fit` says all of that decides them; atomically."""
    text, arrays = pack_passes(kept)
    write_document(path, Document(owner + PASSES, {"fit": fit}, {"passes": text, **arrays}))


def read_passes(path: str | os.PathLike[str], owner: str, fit: str) -> tuple[Pass, ...]:
    """The passes in a file, if they are those of this fit."""
    document = read_document(path)
    if document.kind != owner + PASSES:
        raise FormatError(f"{path}: holds a {document.kind[:40]!r}, not the passes of a fit of {owner}.")
    if document.facts.get("fit") != fit:
        raise CannotMerge(
            f"{path}: was begun with other data or settings ({str(document.facts.get('fit'))[:300]}) than {fit[:300]}: "
            "use the same, or begin anew."
        )
    return _passes_in(document)


def tell_passes(document: Document) -> str:
    """How far the fit came whose passes a file holds, in words."""
    return describe_passes(_passes_in(document))


def _passes_in(document: Document) -> tuple[Pass, ...]:
    arrays = {name: np.asarray(array) for name, array in document.arrays.items()}
    return unpack_passes(arrays.pop("passes", np.zeros(0, np.uint8)), arrays)


def describe_passes(kept: Sequence[Pass]) -> str:
    """How many passes there are, in words."""
    whole = sum(one.whole for one in kept)
    more = [f" and {plural(one.rows, 'row')} of the next" for one in kept if not one.whole]
    return f"{plural(whole, 'pass', 'es')} over the rows{''.join(more)}"
