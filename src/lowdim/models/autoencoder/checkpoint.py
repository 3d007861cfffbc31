"""The state of training in a file, written after every epoch: a fit that was killed goes on to the same bits."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import CannotMerge, CannotWrite, FormatError
from lowdim.models.autoencoder.solvers.training import State
from lowdim.results.container import Document, array, facts, flag, read_document, text, whole, write_document

KIND = "Autoencoder checkpoint"

ANEW = "delete it, or name another file, to begin anew"

FACTS = {
    "n_rows": whole,
    "n_columns": whole,
    "mark": text,
    "buffer": whole,
    "settings": text,
    "weights": whole,
    "adam": flag,
    "judged": flag,
    "steps": whole,
    "looks": whole,
    "epochs": whole,
    "best": whole,
    "still": flag,
}


@dataclass(frozen=True)
class Kept:
    """What a checkpoint is of."""

    settings: str
    """All that decides the path of training, in words."""
    n_rows: int
    n_columns: int
    mark: str
    """SHA-256 of the rows in their order, and of their weights."""
    buffer: int
    """Rows that are shuffled together; 0: all."""


@dataclass(frozen=True)
class Begun:
    """A checkpoint of these rows and settings."""

    path: str
    known: dict[str, Any]
    arrays: Mapping[str, NDArray[Any]]

    @property
    def buffer(self) -> int:
        """Rows that were shuffled together; 0: all."""
        return int(self.known["buffer"])

    def state(self, first: State) -> State:
        """How far it had come; `first` is where it began."""
        known, arrays, dtype = self.known, self.arrays, first.weights.dtype.type
        size, moments, epochs = len(first.weights), len(first.first), known["epochs"]
        same = (known["weights"], known["adam"], known["judged"]) == (size, moments > 0, first.judged)
        if not same or not known["best"] < epochs:
            raise FormatError(f"{self.path}: its state does not fit its settings.")
        curve = array(arrays, "curve", (epochs, 1 + first.judged))
        return State(
            weights=array(arrays, "current", (size,), dtype),
            first=array(arrays, "first", (moments,), dtype),
            second=array(arrays, "second", (moments,), dtype),
            patience=first.patience,
            judged=first.judged,
            steps=known["steps"],
            looks=known["looks"],
            curve=tuple((float(losses[0]), float(losses[1]) if first.judged else math.nan) for losses in curve),
            best=known["best"],
            best_weights=array(arrays, "best", (size,), dtype),
            still=known["still"],
        )


def write_checkpoint(path: str, kept: Kept, state: State) -> None:
    """Keep how far training has come, atomically. A state without any best epoch is not kept."""
    if state.best_weights is None or state.diverged:
        return
    curve = np.array(state.curve)
    arrays: dict[str, NDArray[Any]] = {
        "current": state.weights,
        "first": state.first,
        "second": state.second,
        "best": state.best_weights,
        "curve": curve if state.judged else curve[:, :1],
    }
    known = asdict(kept) | {
        "weights": len(state.weights),
        "adam": len(state.first) > 0,
        "judged": state.judged,
        "steps": state.steps,
        "looks": state.looks,
        "epochs": state.epochs,
        "best": state.best,
        "still": state.still,
    }
    write_document(path, Document(KIND, known, arrays))


def open_checkpoint(path: str, kept: Kept) -> Begun:
    """What `write_checkpoint` kept, if it was a fit of these rows with these settings."""
    document = read_document(path)
    if document.kind != KIND:
        raise FormatError(f"{path}: holds a {document.kind[:40]!r}, not the checkpoint of an Autoencoder.")
    known = facts(document.facts, "checkpoint", FACTS)
    shapes = [f"{n:,} × {p:,}" for n, p in ((known["n_rows"], known["n_columns"]), (kept.n_rows, kept.n_columns))]
    if shapes[0] != shapes[1] or known["mark"] != kept.mark:
        raise CannotMerge(
            f"{path}: the checkpoint is of {shapes[0]} other values, another order of rows or other weights than these "
            f"data, {shapes[1]}: {ANEW}."
        )
    if known["settings"] != kept.settings:
        raise CannotMerge(
            f"{path}: the checkpoint is of a fit with other settings ({known['settings'][:300]}), not "
            f"{kept.settings}: {ANEW}."
        )
    return Begun(path, known, document.arrays)


def refuse_unwritable(path: str) -> None:
    """Raise an error, before any work, if the file could not be written."""
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(path):
        raise CannotWrite.file(path, "it is a folder")
    if not os.path.isdir(folder):
        raise CannotWrite.file(path, "its folder is not there")
    if not os.access(folder, os.W_OK):
        raise CannotWrite.file(path, "its folder may not be written to")
