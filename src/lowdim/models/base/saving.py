"""Models to files and back: an estimator's settings and record as one document.

What settings a file may hold, the model's constructor declares (`base/parameters.py`). The model's folder says in
`record.py` what else there is: `RECORD`, the class of its record, and, where settings and record must agree,
`check_settings(settings, record)`.
"""

from __future__ import annotations

import os
import reprlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, TypeVar, overload

import numpy as np

from lowdim.errors import BadInput, FormatError, Words
from lowdim.matrices.moments import Moments
from lowdim.models.base.parameters import Parameter, Saved, parameters_of
from lowdim.models.registry import FOLDERS, USUAL, model_class, part_of, prompt_name
from lowdim.results import codec
from lowdim.results.codec import ArrayReader, Reading
from lowdim.results.container import MOST_BYTES, Document, open_document, read_document, write_document
from lowdim.results.fields import UNSHOWN, AddedLater, Holds, NonNegative, OneOf, Positive
from lowdim.results.first_bytes import begins_as_model
from lowdim.results.meaning import LEAST, ROUNDED, refuse
from lowdim.results.passes import PASSES, tell_passes
from lowdim.results.record import LinearFit
from lowdim.runtime.memory import bytes_of, left_memory
from lowdim.sources.kinds import ENDINGS, ending_of
from lowdim.types import Floats

Estimator = TypeVar("Estimator")
"""A class of models."""

CHECKPOINT = " checkpoint"
"""What follows the name of a model in the kind of a file that holds a fit of it under way."""

ENTRIES = ("params", "fit", "moments", "seen")
"""Of the facts of a model."""

FRAMES = ("pandas", "polars", "pyarrow", "modin", "cudf")

EARLIER = 1e-5
"""Relative error of moments in files that do not tell it: they may be sums of 4,096 rows in float32."""


@dataclass(frozen=True)
class Seen:
    """What the data were like that a model was fitted on."""

    frame: Annotated[str | None, OneOf(FRAMES)]
    itemsize: Annotated[int, OneOf((1, 2, 4, 8, 16))]
    spacing: Annotated[float, Holds("from 0 to below 1", lambda share: 0 <= share < 1)]
    named: bool


@dataclass(frozen=True)
class SavedMoments:
    """Moments of rows as files keep them: of each column."""

    n_rows: Annotated[int, Positive]
    weight: Annotated[float, Positive]
    mean: Annotated[Floats, "p"]
    scatter: Annotated[Floats, "p p", UNSHOWN]
    low: Annotated[Floats, "p"]
    error: Annotated[Floats | None, "p", NonNegative]
    """None: files of earlier versions do not tell."""

    def check(self) -> None:
        """Refuse what no fit can be: `low` is what float64 leaves over of a mean of numbers that vary as these do."""
        spread = np.sqrt(np.abs(self.scatter.diagonal()))
        refuse((np.abs(self.low) > ROUNDED * (np.abs(self.mean) + spread) + LEAST).any(), "a mean and another rest")


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a `.lowdim` file, atomically. Nothing of it is code, so anyone can open it safely.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import lowdim
    >>> model = lowdim.PCA(2).fit(lowdim.datasets.uk_foods().values)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "foods.lowdim"
    >>> model.save(path)
    >>> bool((lowdim.load(path).components_ == model.components_).all())
    True
    """
    document = pack(model)
    try:
        unpack(document, "trial")
    except FormatError as error:  # nobody should learn that when the model is needed
        raise BadInput(
            f"The {type(model).__name__} would make a file that could not be opened again. {error}"
        ) from error
    write_document(path, document)


@overload
def load(path: str | os.PathLike[str], *, memory: int | str | None = None) -> Any: ...


@overload
def load(path: str | os.PathLike[str], kind: type[Estimator], *, memory: int | str | None = None) -> Estimator: ...


def load(path: str | os.PathLike[str], kind: type[Any] | None = None, *, memory: int | str | None = None) -> Any:
    """Open a model file that `save` wrote.

    Every byte is checked before it is used, and nothing in the file is ever executed. A file that is damaged, not by
    lowdim, of a later format, or holds what no fit can have found raises `lowdim.errors.FormatError`.

    Parameters
    ----------
    path : path
        Of a `.lowdim` file.
    kind : class of models, or None
        What the file must hold, such as `PCA`: another model is refused, and type checkers know what came. None: any.
    memory : int, str or None
        What its arrays may take, in bytes or as "8GB": a file that says to hold more is refused with
        `lowdim.errors.TooLarge` before any is read. None: 2 GB.

    Returns
    -------
    PCA, KernelPCA, NMF or whichever model was saved
        Ready to transform, merge and go on.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import lowdim
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "foods.lowdim"
    >>> lowdim.PCA(2).fit(lowdim.datasets.uk_foods().values).save(path)
    >>> lowdim.load(path, lowdim.PCA).components_.shape
    (2, 17)
    """
    _refuse_table(Path(path))
    with open_document(path, MOST_BYTES if memory is None else bytes_of("load", memory)) as document:
        found = unpack(document)
    if kind is not None and not isinstance(found, kind):
        raise FormatError(
            f"{path}: holds a {type(found).__name__}, not a {kind.__name__}: load it as what it is, or without a kind."
        )
    return found


def load_shown(path: str | os.PathLike[str]) -> Any:
    """What is enough of a model for its overview: large arrays that are not shown are not read, and hold NaN."""
    _refuse_table(Path(path))
    with open_document(path, whole=False) as document:
        return unpack(document, "shown")


def _refuse_table(path: Path) -> None:
    """An error that helps if a file is named as data are, and does not begin as a model does."""
    if ending_of(path) in ENDINGS and path.is_file() and not begins_as_model(path):
        raise FormatError(
            f"{path}: a table, not a .lowdim model file: ",
            Words(
                "lowdim.open reads it, and the fit of a model, such as PCA().fit, takes it.",
                "lowdim fit makes a model of it, and --save keeps that.",
            ),
        )


def pack(model: Any) -> Document:
    """A fitted model as a document."""
    name = type(model).__name__
    _part(name)  # or an error
    fit, arrays = codec.pack(model.fit_)
    params: dict[str, Any] = {}
    for param, declared in _saved_parameters(type(model)).items():
        value = getattr(model, param)
        if declared.shape and not isinstance(value, (bool, np.bool_, str, type(None))):
            arrays[f"param_{param}"] = _array(model, declared, value)
            value = "array"
        params[param] = _plain(declared, value)
    moments = None
    if getattr(model, "_moments", None) is not None:
        moments, inside = codec.pack(_saved(model._moments))
        arrays |= {f"moments_{key}": values for key, values in inside.items()}
    names = getattr(model, "feature_names_in_", None)
    if names is not None and tuple(names) != model.fit_.columns:  # else they are in the record
        arrays["feature_names"] = codec.pack_texts(tuple(map(str, names)))
    frame = model._frame_kind if model._frame_kind in FRAMES else None
    seen, _ = codec.pack(Seen(frame, model._itemsize, model._data_spacing, names is not None))
    return Document(name, {"params": params, "fit": fit, "moments": moments, "seen": seen}, arrays)


def unpack(document: Document, how: Reading = "whole") -> Any:
    """The model that `pack` took apart, if the document is exactly what `pack` makes."""
    _refuse_unknown(document.kind)
    part, facts, kind = _part(document.kind), document.facts, model_class(document.kind)
    if set(facts) != set(ENTRIES):
        raise FormatError(f"The model file has other entries than it must have, {', '.join(ENTRIES)}.")
    reading = ArrayReader(document.arrays, how)
    seen = reading.record(Seen, facts["seen"], "data description")
    fit: Any = reading.record(part.RECORD, facts["fit"], "fit")
    p = fit.n_columns
    settings = _settings(facts["params"], kind, reading, _sizes(fit))
    if hasattr(part, "check_settings"):
        part.check_settings(settings, fit)
    moments = _moments(facts["moments"], reading, p)
    if moments is not None and isinstance(fit, LinearFit) and not reading.shown:
        with np.errstate(all="ignore"):  # what overflows is refused
            fit.check_moments(moments)
    model = kind(**settings)
    model.__dict__.update(_record=fit, _moments=moments)
    model._frame_kind, model._itemsize, model._data_spacing = seen.frame, seen.itemsize, seen.spacing
    model._columns = fit.columns
    model.n_features_in_ = p
    if seen.named:
        # earlier versions wrote names of their own even where the record has them
        own = fit.columns is None or "feature_names" in reading
        model.feature_names_in_ = np.array(
            reading.texts("feature_names", "p", {"p": p}) if own else fit.columns, dtype=object
        )
    reading.end()
    return model


def save_checkpoint(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a model of the rows so far, as the checkpoint of a fit: nobody can take it for a model of all rows."""
    document = pack(model)
    write_document(path, replace(document, kind=document.kind + CHECKPOINT))


def load_checkpoint(path: str | os.PathLike[str], owner: str, reading: Reading = "whole") -> Any:
    """The model of the rows so far that `save_checkpoint` wrote."""
    with open_checkpoint_of(owner, path) as document:
        return unpack(replace(document, kind=owner), reading)


@contextmanager
def open_checkpoint_of(owner: str, path: str | os.PathLike[str]) -> Iterator[Document]:
    """The document in a file, if it is the checkpoint of a fit of this model, as long as the block lasts."""
    with open_document(path, left_memory()) as document:
        _refuse_other_kind(path, document, owner)
        yield document


def _refuse_other_kind(path: str | os.PathLike[str], document: Document, owner: str) -> None:
    if document.kind == owner + CHECKPOINT:
        return
    found = document.kind.removesuffix(CHECKPOINT)
    if found not in FOLDERS:
        raise FormatError(f"{path}: holds a {document.kind[:40]!r}, not the checkpoint of a fit of {owner}.")
    if found == document.kind:
        raise FormatError(
            f"{path}: holds a finished model, {found}, but a fit goes on from a checkpoint: ",
            Words("name another file", "leave --resume out, or name the file that Ctrl-C left"),
            ".",
        )
    raise FormatError(
        f"{path}: holds the checkpoint of a fit of {found}, not of {owner}: go on with ",
        Words(found, f"--model {prompt_name(found)}"),
        ".",
    )


def find_checkpoint(path: str | os.PathLike[str]) -> tuple[str, str] | None:
    """Whose checkpoint a file holds, and how far that fit came, in words; None of a model."""
    with open_document(path, whole=False) as document:
        kind = document.kind
    if kind.removesuffix(PASSES) in FOLDERS and kind.endswith(PASSES):
        return kind.removesuffix(PASSES), tell_passes(read_document(path))
    owner = kind.removesuffix(CHECKPOINT)
    part = part_of(owner, "checkpoint") if owner in FOLDERS and owner != kind else None
    return None if part is None else (owner, part.tell_part(os.fspath(path)))


def _part(name: str) -> ModuleType:
    """What a model's folder says of its files."""
    part = part_of(name, "record") if name in FOLDERS else None
    if part is None:
        raise BadInput(
            f"{name} cannot be kept in a model file, but only models of lowdim itself can: save one of these."
        )
    return part


def _refuse_unknown(kind: str) -> None:
    if kind in FOLDERS:
        return
    owner = kind.removesuffix(PASSES if kind.endswith(PASSES) else CHECKPOINT)
    if owner in FOLDERS:
        option = f"--model {prompt}" if (prompt := prompt_name(owner)) not in (None, USUAL) else ""
        typed = " ".join(filter(None, ["lowdim fit DATA", option, "--resume"]))
        python = (
            f"{owner}(checkpoint=path).fit(X)"
            if "checkpoint" in parameters_of(model_class(owner)) and not kind.endswith(PASSES)
            else typed
        )
        raise FormatError(
            "The file holds the checkpoint of a fit that was not completed, and no model: go on with ",
            Words(python, f"{typed} and this file"),
            ", and the settings and rows that it was begun with.",
        )
    raise FormatError(f"The model file holds a {kind[:40]!r}, which this version of lowdim does not know.")


def _saved_parameters(kind: type) -> Mapping[str, Parameter]:
    """Parameters that model files keep, by name."""
    return {name: declared for name, declared in parameters_of(kind).items() if declared.place is not None}


def _settings(given: Any, kind: type, reading: ArrayReader, sizes: dict[str, int]) -> dict[str, Any]:
    saved = _saved_parameters(kind)
    earlier = {name: later.default for name, declared in saved.items() if (later := declared.mark(AddedLater))}
    if not isinstance(given, dict) or set(earlier | given) != set(saved):
        raise FormatError("The settings of the model file have other entries than they must have.")
    settings = earlier | given
    for name, declared in saved.items():
        value = settings[name]
        if not declared.from_file(value):
            raise FormatError(f"The settings of the model file have no valid {name!r}: {reprlib.repr(value)}.")
        if value == "array" and declared.shape:
            settings[name] = reading.array(f"param_{name}", declared.shape, (np.float64,), sizes)
        elif isinstance(value, list):
            settings[name] = tuple(value)
    return settings


def _saved(kept: Moments) -> SavedMoments:
    low, error = (np.broadcast_to(np.asarray(part, dtype=float), kept.mean.shape) for part in (kept.low, kept.error))
    return SavedMoments(kept.n_rows, kept.weight, kept.mean, kept.scatter, low, error)


def _moments(given: Any, reading: ArrayReader, p: int) -> Moments | None:
    if given is None:
        return None
    if isinstance(given, dict):  # earlier versions said more
        given = {name: value for name, value in given.items() if name != "rounding"}
    kept = reading.record(SavedMoments, given, "moments", "moments_", {"p": p})
    error = np.abs(kept.scatter.diagonal()) * EARLIER if kept.error is None else kept.error
    return Moments(kept.n_rows, kept.weight, kept.mean, kept.scatter, low=kept.low, error=error)


def _array(model: Any, declared: Parameter, value: Any) -> Floats:
    """A setting that is an array, if it is one of the fit; it may have been set since."""
    sizes = _sizes(model.fit_)
    needed = tuple(sizes[letter] for letter in declared.shape)
    values = np.asarray(value, dtype=np.float64)
    if values.shape != needed:
        raise BadInput(
            f"{declared.name} has the shape {values.shape}, but the fit is of {needed}, so the file could not be "
            "opened again: fit with it first."
        )
    return values


def _sizes(fit: Any) -> dict[str, int]:
    """Letters of shapes of settings → how many there are."""
    return {"p": fit.n_columns, "k": int(getattr(fit, "k", 0))}


def _plain(declared: Parameter, value: Any) -> Any:
    """A setting as JSON says it."""
    value, mark = codec.to_plain(value), declared.mark(Saved)
    if declared.from_file(value):
        return value
    if mark is not None and mark.or_none and not isinstance(value, int):
        return None
    raise BadInput(f"{declared.name}={value!r} cannot be kept in a model file.")
