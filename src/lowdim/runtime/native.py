"""Compiled kernels: which library this machine runs, and how arrays are handed to it.

A kernel is a function of a `compiled_*.c` beside the `compiled_*.py` that declares it; every one has a plain twin. What
a declaration says of arrays is checked before each call, because a wrong pointer is a crash and no exception: type,
shape, strides, and whether they may be written to. `tests/runtime/test_native.py` holds declarations against the C.

A call takes the GIL off, so that threads run kernels side by side. A kernel allocates nothing: what it needs to work in
is handed to it (`scratch`).
"""

from __future__ import annotations

import ctypes
import math
import os
import sys
from collections.abc import Callable, Sequence
from functools import cache
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from lowdim.errors import BadParameter
from lowdim.runtime.warn import warn_user
from lowdim.types import Array

LIBRARIES = Path(__file__).parents[1] / "_libs"
"""Where `hatch_build.py` puts what it compiles."""

ENDING: Final = {"win32": "dll", "darwin": "dylib"}.get(sys.platform, "so")

LEVELS: Final = ("v4", "v3", "v2", "any")
"""Libraries for levels of x86-64, as its psABI numbers them, and for any other machine."""

ALIGNMENT: Final = 64
"""Bytes of a line of the cache."""


@cache
def level() -> str | None:
    """The level of the library that is used; None: there is none, and plain routes are taken."""
    there = [name for name in LEVELS if _file(name).exists()]
    asked = os.environ.get("LOWDIM_CPU", "")
    if asked not in ("", "none", *LEVELS):
        raise BadParameter(f"LOWDIM_CPU={asked}: it must be one of none, {', '.join(LEVELS)}, or not be set.")
    if asked == "none" or not there:
        return None
    if "any" in there:
        return "any"
    best = _level_of_machine()
    if asked in there:
        best = min(best, int(asked[1]))
    return next((name for name in there if int(name[1]) <= best), None)


@cache
def library() -> ctypes.CDLL | None:
    """The library, loaded once in a process; None as for `level`, and, with a warning, where it cannot be loaded."""
    try:
        name = level()
        return None if name is None else ctypes.CDLL(str(_file(name)))
    except OSError as error:  # a file system from which nothing may be run, or a library of another system
        warn_user(
            f"The compiled kernels cannot be loaded ({error}); slower routes are taken: install lowdim where programs "
            "may be run, or set LOWDIM_CPU=none, which spares this warning.",
            RuntimeWarning,
        )
        return None


def is_compiled() -> bool:
    """Whether there are compiled kernels. Where not, whoever has one takes its plain twin."""
    return library() is not None


def _file(name: str) -> Path:
    return LIBRARIES / f"kernels-{name}.{ENDING}"


def _level_of_machine() -> int:
    """What the processor and the system can do, from 1 to 4; told by code that every x86-64 runs."""
    return int(ctypes.CDLL(str(_file("cpu"))).lowdim_cpu_level())


def scratch(*shape: int, dtype: Any = np.float64) -> Array:
    """Memory for a kernel to work in, not filled, that begins with a line of the cache.

    NumPy's own begins at 16 bytes, which costs vector units up to an eighth of their speed.
    """
    count, item = math.prod(shape), np.dtype(dtype).itemsize
    raw = np.empty(count * item + ALIGNMENT, np.uint8)
    start = -_address(raw) % ALIGNMENT
    made: Array = raw[start : start + count * item].view(dtype).reshape(shape)
    return made


def scratches(*shapes: tuple[int, ...]) -> list[Array]:
    """Arrays of float64 for a kernel to work in, as `scratch` makes one, all in one piece of memory."""
    sizes = [math.prod(shape) for shape in shapes]
    line = ALIGNMENT // 8
    whole, at, made = scratch(sum(sizes) + line * len(sizes)), 0, []
    for shape, size in zip(shapes, sizes, strict=True):
        made.append(whole[at : at + size].reshape(shape))
        at += -(-size // line) * line
    return made


@cache
def blas_function(name: str) -> Any:
    """A function of SciPy's BLAS that lets other threads run meanwhile; None where its integers are not C's `int`.

    SciPy's own wrappers keep Python's lock, so that products in several threads would wait for each other. What it
    hands to Cython has a signature for a name.
    """
    from scipy.linalg import cython_blas

    capsule = cython_blas.__pyx_capi__.get(name)
    if capsule is None:
        return None
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype, api.PyCapsule_GetName.argtypes = ctypes.c_char_p, [ctypes.py_object]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    signature = api.PyCapsule_GetName(capsule)
    arguments = signature.decode().partition("(")[2].rstrip(")").split(", ")
    kinds = {"char *": "c", "int *": "i"}
    if "".join(kinds.get(one, "d" if one.endswith("_d *") else "?") for one in arguments) != SIGNATURES[name]:
        return None
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(arguments))(api.PyCapsule_GetPointer(capsule, signature))


SIGNATURES: Final = {"dsyrk": "cciiddiddi"}
"""Function → what its arguments point to: letters, integers, float64."""


def add_syrk(piece: Array, scatter: Array) -> bool:
    """scatter (p, p) += pieceᵀ piece for rows (m, p) of float64, in its upper half; False where that cannot be done."""
    syrk = blas_function("dsyrk")
    by_rows = piece.flags.c_contiguous
    fits = (by_rows or piece.flags.f_contiguous) and scatter.flags.c_contiguous and scatter.flags.writeable
    if syrk is None or not fits or piece.dtype != np.float64 or scatter.dtype != np.float64 or not piece.size:
        return False
    rows, columns = piece.shape
    assert scatter.shape == (columns, columns)
    n, k, lda = ctypes.c_int(columns), ctypes.c_int(rows), ctypes.c_int(columns if by_rows else rows)
    one, at = ctypes.c_double(1.0), ctypes.byref
    # the upper half by rows is the lower one by columns, as Fortran has them
    half, turn = b"L", b"N" if by_rows else b"T"
    syrk(half, turn, at(n), at(k), at(one), _address(piece), at(lda), at(one), _address(scatter), at(n))
    return True


# Arrays to pointers.


def _address(array: Array) -> int:
    try:  # five times faster than the ways below, but for what is contiguous, not empty, and may be written to
        return ctypes.addressof(ctypes.c_char.from_buffer(array))  # type: ignore[arg-type]
    except (TypeError, ValueError, BufferError):
        return int(array.__array_interface__["data"][0])


class Argument:
    """What a kernel takes: one word of its declaration."""

    TYPES: Final = {
        "double": (np.dtype(np.float64),),
        "float": (np.dtype(np.float32),),
        "int64": (np.dtype(np.int64),),
        "int32": (np.dtype(np.int32),),
        "int16": (np.dtype(np.int16),),
        "bytes": (np.dtype(np.int8),),
        "real": (np.dtype(np.float64), np.dtype(np.float32)),
        "index": (np.dtype(np.int64), np.dtype(np.int32)),
        "small": (np.dtype(np.int8), np.dtype(np.uint8)),
    }
    """Word → the types that an array may have; two of them are two kernels."""

    def __init__(self, word: str):
        self.written = word.startswith("*")
        word, _, kind = word.lstrip("*").partition(":")
        self.name, bracket, inside = word.rstrip("]").partition("[")
        self.sizes: tuple[str, ...] = tuple(inside.split(",")) if bracket else ()
        """Of an array, what its sizes are called; a number is one that it must have."""
        self.kind = kind or "double"
        """One of TYPES; of a number also `int`."""
        self.types = self.TYPES.get(self.kind, ())
        self.has_step = len(self.sizes) == 2
        """Whether rows of an array may lie apart, as those of a slice; others lie one behind the other."""

    def c_types(self) -> list[Any]:
        """As ctypes has them."""
        if self.sizes:
            return [ctypes.c_void_p, ctypes.c_ssize_t] if self.has_step else [ctypes.c_void_p]
        return [ctypes.c_ssize_t if self.kind == "int" else ctypes.c_double]


MOST_CALLS = 256
"""Looks of arrays that a kernel remembers."""


class Call(NamedTuple):
    """How arrays of one look are told to C."""

    sizes: tuple[int, ...]
    steps: tuple[tuple[int, ...] | None, ...]
    """For each argument what follows its address; None: it is a number."""
    ending: str
    """Of the function's name."""


class Kernel:
    """A compiled function, by its declaration.

    Parameters
    ----------
    name : str
        Of the function in C, where `lowdim_` stands before it.
    arguments : str
        Words such as `F[k,m]`, an array of float64 that is read; `*out[k,m]`, one that is written to;
        `x[p]:real`, float64 or float32, the same for all that say so (`_f64` or `_f32` ends the name in C);
        `starts[n1]:index`, int64 or int32 (`_i64` or `_i32`); `rows[n,p]:small`, int8 or uint8 (`_i8` or `_u8`);
        `l1`, a float; `sweeps:int`, a whole number. In C come first the sizes by their names, in the order in which
        they are met, then the arguments; after an array of two axes how many numbers its rows lie apart.
    gives : bool
        Whether it gives a float.
    """

    def __init__(self, name: str, arguments: str, *, gives: bool = False):
        self.name, self.gives = name, gives
        self.arguments = [Argument(word) for word in arguments.split()]
        self.sizes = list(dict.fromkeys(size for one in self.arguments for size in one.sizes if not size.isdigit()))
        """What is told in C before all arguments."""
        self._known: dict[str, Any] = {}
        self._calls: dict[Any, Call] = {}
        """What arrays look like → how they are told; of those that were seen."""
        self._numbers = [int if one.kind == "int" else float for one in self.arguments]
        places = [place for place, one in enumerate(self.arguments) if one.sizes]
        get = itemgetter(*places)
        self._arrays: Callable[[Sequence[Any]], Sequence[Any]] = (
            get if len(places) > 1 else lambda values: (get(values),)
        )

    @property
    def is_templated(self) -> Sequence[str]:
        """Those of TEMPLATES that arrays say: for each type there is a function in C."""
        return [word for word in TEMPLATES if any(one.kind == word for one in self.arguments)]

    def function(self, ending: str = "") -> Any:
        """The function of the library."""
        if ending not in self._known:
            found = getattr(library(), f"lowdim_{self.name}{ending}")
            found.restype = ctypes.c_double if self.gives else None
            types: list[Any] = [ctypes.c_ssize_t] * len(self.sizes)
            found.argtypes = sum((one.c_types() for one in self.arguments), types)
            self._known[ending] = found
        return self._known[ending]

    def __call__(self, *values: Any) -> Any:
        """Check the arguments, and call it."""
        if len(values) != len(self.arguments):
            raise TypeError(f"{self.name} takes {len(self.arguments)} arguments, not {len(values)}")
        # what arrays look like decides whether they fit, so that each look is checked once
        look = tuple([(value.dtype, value.shape, value.strides, value.flags.num) for value in self._arrays(values)])
        call = self._calls.get(look)
        if call is None:
            if len(self._calls) >= MOST_CALLS:
                self._calls.clear()
            call = self._calls[look] = self._check(values)
        told: list[Any] = list(call.sizes)
        for number, value, step in zip(self._numbers, values, call.steps, strict=True):
            if step is None:
                told.append(number(value))
            else:
                told.append(_address(value))
                told += step
        return self.function(call.ending)(*told)

    def _check(self, values: Sequence[Any]) -> Call:
        """How such arrays are told, if they fit the declaration."""
        sizes: dict[str, int] = {}
        chosen: dict[str, Any] = {}
        steps: list[tuple[int, ...] | None] = []
        for one, value in zip(self.arguments, values, strict=True):
            if not one.sizes:
                steps.append(None)
                continue
            dtype = chosen.setdefault(one.kind, value.dtype)
            if value.dtype != dtype or dtype not in one.types:
                self._refuse(one, value)
            shape, strides, item = value.shape, value.strides, dtype.itemsize
            if len(shape) != len(one.sizes):
                self._refuse(one, value)
            for name, size in zip(one.sizes, shape, strict=True):
                if (int(name) if name.isdigit() else sizes.setdefault(name, size)) != size:
                    self._refuse(one, value)
            if one.written and not value.flags.writeable:
                self._refuse(one, value)
            if one.has_step:
                step, rest = divmod(strides[0], item) if shape[0] > 1 else (shape[1], 0)
                # NumPy gives arrays without entries any strides
                if value.size and (rest or (shape[1] > 1 and strides[1] != item) or not value.flags.aligned):
                    self._refuse(one, value)
                steps.append((step,))
            else:
                if not (value.flags.c_contiguous and value.flags.aligned):
                    self._refuse(one, value)
                steps.append(())
        ending = "".join(f"_{chosen[word].kind}{8 * chosen[word].itemsize}" for word in TEMPLATES if word in chosen)
        return Call(tuple(sizes.values()), tuple(steps), ending)

    def _refuse(self, one: Argument, value: Array) -> None:
        wanted = " or ".join(str(dtype) for dtype in one.types)
        raise TypeError(
            f"{self.name}: {one.name} is {value.dtype} {value.shape} with strides {value.strides}, "
            f"{'' if value.flags.writeable else 'not '}to be written to, but it must be {wanted} "
            f"({', '.join(one.sizes)}){', to be written to' if one.written else ''}, its last axis without gaps"
            f"{'' if one.has_step else ', and no other either'}, sizes of one name alike"
        )


TEMPLATES: Final = ("real", "index", "small")
