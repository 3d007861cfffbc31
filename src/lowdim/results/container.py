"""The `.lowdim` file: safetensors with one JSON text, read strictly: what it claims first, then array by array."""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import IO, Any

import numpy as np

from lowdim.errors import FormatError, TooLarge, Words
from lowdim.runtime.files import atomic_write
from lowdim.types import Array

#     8 bytes   length of the header
#     header    JSON: name → dtype, shape, place of each array; under "__metadata__" the text and its SHA-256
#     arrays    one after the other, nothing before, between or after them
#
# The text holds the format number, the kind of record, its facts, and a SHA-256 for every array. Nothing in the file
# is ever executed. Anything that is not exactly as written here is refused with `FormatError`.
#
# A file is refused by its first bytes, then by its header, which must agree with the file's size and stay within a
# limit, before any array is read. Arrays are read one by one, each when it is asked for, and hashed on the way.

FORMAT = 1
"""Raised when a reader of this version could no longer understand the file."""

MAX_HEADER_BYTES = 1_000_000
MAX_ARRAYS = 64
MAX_BYTES = 2**48
"""Of places and shapes: numbers beyond are none."""

MOST_BYTES = 2_000_000_000
"""What the arrays of a file may take in memory unless the caller allows more: a file of a few bytes on a disk can claim
any number of zeros."""

TEXT_FACTOR = 16
"""Bytes of texts count so often, as Python holds a text of two letters, five bytes of JSON, in 51 bytes and a place of
eight in two lists."""

PIECE = 2**20
"""Bytes that are read, and hashed, at a time."""

DTYPES: dict[str, np.dtype[Any]] = {
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "I64": np.dtype("<i8"),
    "U8": np.dtype("u1"),
}


@dataclass(frozen=True)
class Document:
    """What a model file holds: the kind of record, facts that JSON can say, and named arrays."""

    kind: str
    facts: Mapping[str, Any]
    arrays: Mapping[str, Array | Stored]
    """Of a file that is open they are not read yet."""


@dataclass
class Allowance:
    """What arrays of a file may still take of memory."""

    name: str
    """What the file is called."""
    most: int
    taken: int = 0

    def take(self, needed: int) -> None:
        """Count what is about to be read; an error where it is too much."""
        self.taken += needed
        if self.taken > self.most:
            raise TooLarge(
                f"{self.name}: the arrays that it says to hold would take {self.taken / 1e9:,.1f} GB of memory, and "
                f"{self.most / 1e9:,.1f} GB are allowed: if you trust the file, ",
                LARGER,
                ".",
            )


LARGER = Words(
    'name what it may take: lowdim.load(path, memory="8GB")', "load it in Python, with lowdim.load(path, memory=…)"
)


@dataclass(frozen=True)
class Stored:
    """An array of a file that is open: type and shape are those that the header says; `read` reads and checks it."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    sha256: str
    start: int
    file: IO[bytes]
    allowance: Allowance

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def nbytes(self) -> int:
        """Bytes in the file."""
        return math.prod(self.shape) * self.dtype.itemsize

    @property
    def needed(self) -> int:
        """Bytes that it may take in memory."""
        return self.nbytes * (TEXT_FACTOR if self.dtype == np.uint8 else 1)

    def read(self) -> Array:
        """The array itself, if it is the one that was written."""
        self.allowance.take(self.needed)
        found = np.empty(self.shape, self.dtype)
        left, sums = found.reshape(-1).view(np.uint8).data, hashlib.sha256()
        self.file.seek(self.start)
        while len(left):
            count = self.file.readinto(left[:PIECE])  # type: ignore[attr-defined]  # of all files that are open here
            if not count:
                raise _distrusted(
                    self.allowance.name, f"array {self.name!r} is cut off: the file was changed while it was read"
                )
            sums.update(left[:count])
            left = left[count:]
        if sums.hexdigest() != self.sha256:
            raise _distrusted(
                self.allowance.name,
                f"array {self.name!r} has another SHA-256 than when it was written: the file is damaged",
            )
        return found


def write_document(path: str | os.PathLike[str], document: Document) -> None:
    """Write a model file, atomically."""
    parts = _parts_of(document)
    with atomic_write(path) as file:
        for part in parts:
            file.write(part)


def to_bytes(document: Document) -> bytes:
    """The whole file as bytes, always the same for the same document."""
    return b"".join(_parts_of(document))


def _parts_of(document: Document) -> list[bytes | memoryview]:
    """Length and header, then the bytes of every array, which are not copied where they lie in the order of files."""
    arrays = {
        name: np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).reshape(array.shape)
        for name, array in sorted(document.arrays.items())
    }
    parts = {name: array.reshape(-1).view(np.uint8).data for name, array in arrays.items()}
    text = json.dumps(
        {
            "format": FORMAT,
            "kind": document.kind,
            "facts": document.facts,
            "sha256": {name: _sha256(part) for name, part in parts.items()},
        },
        allow_nan=False,
        sort_keys=True,
    )
    header: dict[str, Any] = {"__metadata__": {"lowdim": text, "sha256": _sha256(text.encode())}}
    names = {dtype: name for name, dtype in DTYPES.items()}
    begin = 0
    for name, array in arrays.items():
        end = begin + array.nbytes
        header[name] = {"dtype": names[array.dtype], "shape": list(array.shape), "data_offsets": [begin, end]}
        begin = end
    packed = json.dumps(header).encode()
    packed += b" " * (-len(packed) % 8)  # so that the arrays start at a multiple of eight bytes
    return [len(packed).to_bytes(8, "little"), packed, *parts.values()]


@contextmanager
def open_document(path: str | os.PathLike[str], most: int = MOST_BYTES, whole: bool = True) -> Iterator[Document]:
    """What a model file holds, with arrays that are read when they are asked for, as long as the block lasts.

    A file whose arrays would take more than `most` bytes is refused before any is read, unless only some are to be:
    then as soon as these take more. One that was changed meanwhile is refused in the end.
    """
    name = os.fspath(path)
    with _open_file(name) as file:
        before = os.fstat(file.fileno())
        if not stat.S_ISREG(before.st_mode):
            raise FormatError(f"{name}: not a file that can be read as a whole; a .lowdim model file was expected.")
        yield _read_document(file, before.st_size, Allowance(name, most), whole)
        if _identity(os.fstat(file.fileno())) != _identity(before):
            raise _distrusted(name, "it was changed while it was read")


def read_document(path: str | os.PathLike[str], most: int = MOST_BYTES) -> Document:
    """A model file, every byte of it checked."""
    with open_document(path, most) as document:
        return _read_arrays(document)


def from_bytes(data: bytes, name: str = "model file") -> Document:
    """Check every byte of a model file and give what it holds."""
    return _read_arrays(_read_document(io.BytesIO(data), len(data), Allowance(name, MOST_BYTES), True))


def _read_arrays(document: Document) -> Document:
    arrays = {name: one.read() if isinstance(one, Stored) else one for name, one in document.arrays.items()}
    return replace(document, arrays=arrays)


def _open_file(name: str) -> IO[bytes]:
    try:
        # a pipe that nobody writes to would be waited for
        return open(name, "rb", opener=lambda one, flags: os.open(one, flags | getattr(os, "O_NONBLOCK", 0)))
    except OSError as error:
        raise FormatError(f"{name}: cannot be read ({error.strerror or error}); check the path.") from error
    except ValueError as error:  # a NUL
        raise FormatError(f"{name!r}: no file can have that name ({error}); check the path.") from error


def _identity(about: os.stat_result) -> tuple[int, ...]:
    return about.st_size, about.st_mtime_ns


def _distrusted(where: str, why: object) -> FormatError:
    return FormatError(f"{where}: not a .lowdim model file that can be trusted: {why}.")


def _read_document(file: IO[bytes], size: int, allowance: Allowance, whole: bool) -> Document:
    try:
        header, start = _read_header(file, size)
        metadata = _read_metadata(header.pop("__metadata__", None))
        if len(header) > MAX_ARRAYS:
            raise FormatError(f"{len(header):,} arrays, at most {MAX_ARRAYS} are allowed")
        arrays = _read_places(header, metadata["sha256"], file, start, size, allowance)
    except FormatError as error:
        raise _distrusted(allowance.name, error) from None
    if whole:
        replace(allowance).take(sum(one.needed for one in arrays.values()))  # or an error, before any is read
    return Document(metadata["kind"], metadata["facts"], arrays)


def _read_header(file: IO[bytes], size: int) -> tuple[dict[str, Any], int]:
    if size < 10:
        raise FormatError(f"only {size} bytes")
    length = int.from_bytes(file.read(8), "little")
    if length > MAX_HEADER_BYTES or 8 + length > size:
        raise FormatError(f"a header of {length:,} bytes in a file of {size:,}")
    return _parse_json(file.read(length), "header"), 8 + length


def _read_metadata(given: Any) -> dict[str, Any]:
    if not isinstance(given, dict) or set(given) != {"lowdim", "sha256"} or not isinstance(given["lowdim"], str):
        raise FormatError("no text by lowdim in it")
    if _sha256(given["lowdim"].encode("utf-8", "surrogatepass")) != given["sha256"]:
        raise FormatError("its text has another SHA-256 than when it was written: the file is damaged")
    text = _parse_json(given["lowdim"].encode("utf-8", "surrogatepass"), "text")
    number = text.get("format")
    if number != FORMAT or isinstance(number, bool):
        raise FormatError(f"format {number!r}, and this version of lowdim reads format {FORMAT}: update lowdim")
    shapes = {"kind": str, "facts": dict, "sha256": dict}
    if set(text) != {*shapes, "format"} or any(not isinstance(text[key], kind) for key, kind in shapes.items()):
        raise FormatError("its text lacks what a text of format 1 has")
    return text


def _read_places(
    header: dict[str, Any], sums: dict[str, Any], file: IO[bytes], start: int, size: int, allowance: Allowance
) -> dict[str, Stored]:
    """Where the arrays are, which must fill the rest of the file in the order of their places."""
    if set(sums) != set(header):
        raise FormatError("its text and its arrays do not name the same arrays")
    arrays: dict[str, Stored] = {}
    at = 0
    for name, place in sorted(header.items(), key=lambda item: _offset_of(item[1])):
        dtype, shape, (begin, end) = _check_place(name, place)
        if begin != at or end - begin != math.prod(shape) * dtype.itemsize or start + end > size:
            raise FormatError(f"array {name!r} does not lie where it should")
        arrays[name] = Stored(name, dtype, shape, sums[name], start + begin, file, allowance)
        at = end
    if start + at != size:
        raise FormatError(f"{size - start - at:,} bytes after the last array")
    return arrays


def _offset_of(place: Any) -> int:
    offsets = place.get("data_offsets") if isinstance(place, dict) else None
    return offsets[0] if isinstance(offsets, list) and offsets and _is_offset(offsets[0]) else -1


def _check_place(name: str, place: Any) -> tuple[np.dtype[Any], tuple[int, ...], tuple[int, int]]:
    if not isinstance(place, dict) or set(place) != {"dtype", "shape", "data_offsets"}:
        raise FormatError(f"array {name!r} is not described as it must be")
    kind, shape, offsets = place["dtype"], place["shape"], place["data_offsets"]
    if not isinstance(kind, str) or kind not in DTYPES:
        raise FormatError(f"array {name!r} has a type that a model file cannot have")
    if not isinstance(shape, list) or len(shape) > 2 or not all(map(_is_offset, shape)):
        raise FormatError(f"array {name!r} has a shape that a model file cannot have")
    if not isinstance(offsets, list) or len(offsets) != 2 or not all(map(_is_offset, offsets)):
        raise FormatError(f"array {name!r} has no place")
    return DTYPES[kind], tuple(shape), (offsets[0], offsets[1])


def _is_offset(number: Any) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and 0 <= number <= MAX_BYTES


def _parse_json(data: bytes, what: str) -> dict[str, Any]:
    try:
        value = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_refuse_repeats,
            parse_constant=_refuse_number,
            parse_float=_parse_finite,
        )
    except (ValueError, RecursionError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"its {what} is not the JSON it should be") from None
    if not isinstance(value, dict):
        raise FormatError(f"its {what} is not the JSON it should be")
    return value


def _refuse_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise FormatError("a name stands twice in its JSON")
    return found


def _parse_finite(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else _refuse_number(digits)


def _refuse_number(digits: str) -> Any:
    raise FormatError(f"its JSON holds {digits[:20]}, which is no number")


def _sha256(data: bytes | memoryview) -> str:
    return hashlib.sha256(data).hexdigest()
