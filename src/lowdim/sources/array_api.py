"""Arrays of other libraries (torch, jax, array-api-strict, …): read where they lie, and made of answers.

By what they say of themselves, DLPack and the Array API standard, so that none of these libraries is ever imported: an
array of theirs is there only if its user has loaded it.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from lowdim.errors import BadInput

IN_MAIN_MEMORY = {1, 3, 11}
"""DLPack's numbers of the kinds of memory that NumPy can read: a machine's own, also where CUDA or ROCm pinned it."""


def is_other_array(data: Any) -> bool:
    """Whether this is an array, but none of NumPy's, whose library can also make one of NumPy's."""
    kind = type(data)
    if issubclass(kind, (np.ndarray, np.generic)) or not hasattr(kind, "__dlpack__"):
        return False
    return hasattr(kind, "__array_namespace__") or _library(data) == "torch"


def as_numpy(data: Any) -> Any:
    """The same numbers as a NumPy array, in the same memory; what is no array of another library, as it is."""
    if not is_other_array(data):
        return data
    if _memory(data) not in IN_MAIN_MEMORY:
        raise BadInput(
            f"The {_library(data)} array lies on the device {str(getattr(data, 'device', '?'))!r}, but rows are read "
            "from main memory: pass X.cpu() (torch), cupy.asnumpy(X) or jax.device_get(X)."
        )
    try:
        return np.from_dlpack(data)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise BadInput(
            f"The {_library(data)} array of {getattr(data, 'dtype', 'unknown type')} cannot be read where it lies "
            f"({error}): of torch pass X.detach() if it has a gradient, X.float() if its numbers are bfloat16, "
            "X.to_dense() if it is sparse; of another library a NumPy array."
        ) from error


def kind_of(data: Any) -> Any:
    """An empty array of the same library on the same device, of the float type in which rows of `data` are computed."""
    name = as_numpy(data).dtype.name
    library = _namespace(data)
    floating = getattr(library, name if name in ("float32", "float64") else "float64")
    return library.zeros((0,), dtype=floating, device=data.device)


def in_kind(answer: Any, kind: Any, floats: bool = False) -> Any:
    """A NumPy array of numbers, or each of a tuple, as an array of the library and device of `kind`; all else as it is.

    With `floats`, real numbers have the type of `kind` too, as libraries that do not mix types need it. The memory is
    shared where it may be written.
    """
    if isinstance(answer, tuple) and type(answer) is tuple:
        return tuple(in_kind(part, kind, floats) for part in answer)
    if type(answer) is not np.ndarray or answer.dtype.kind not in "biuf":
        return answer
    type_of_kind = {"dtype": kind.dtype} if floats and answer.dtype.kind == "f" else {}
    return _namespace(kind).asarray(np.require(answer, requirements=["C", "W"]), device=kind.device, **type_of_kind)


def _namespace(data: Any) -> Any:
    """The module whose functions make such arrays; torch has them, but no `__array_namespace__`."""
    return data.__array_namespace__() if hasattr(data, "__array_namespace__") else sys.modules["torch"]


def _library(data: Any) -> str:
    return type(data).__module__.partition(".")[0]


def _memory(data: Any) -> int | None:
    """DLPack's number of the kind of memory; None of a device that it does not know, such as torch's "meta"."""
    try:
        return int(data.__dlpack_device__()[0])
    except (ValueError, RuntimeError, TypeError, BufferError):
        return None
