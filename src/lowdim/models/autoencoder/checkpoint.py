"""The state of training in a file, written after every epoch: a fit that was killed goes on to the same bits."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from lowdim.errors import CannotMerge, CannotWrite, FormatError
from lowdim.models.autoencoder.plan import CheckpointKey
from lowdim.models.autoencoder.record import SINGLE_OR_DOUBLE
from lowdim.models.autoencoder.solvers.training import State
from lowdim.models.base.saving import CHECKPOINT, open_checkpoint_of
from lowdim.results.codec import pack, unpack
from lowdim.results.container import Document, write_document
from lowdim.results.fields import INLINE, Name, size
from lowdim.results.meaning import Squarable
from lowdim.types import Array, Floats
from lowdim.words import plural

OWNER = "Autoencoder"
KIND = OWNER + CHECKPOINT

ANEW = "delete it, or name another file, to begin anew"


@dataclass(frozen=True)
class Checkpoint:
    """A state of training, and of what."""

    DERIVED: ClassVar[Mapping[str, Any]] = {
        "weights": size("current"),
        "adam": lambda begun: len(begun.first) > 0,
        "judged": lambda begun: begun.curve.shape[1] == 2,
        "epochs": size("curve"),
    }

    kept: Annotated[CheckpointKey, INLINE]
    current: Annotated[Array, "weights", SINGLE_OR_DOUBLE, Squarable]
    first: Annotated[Array, "moments", SINGLE_OR_DOUBLE, Squarable]
    second: Annotated[Array, "moments", SINGLE_OR_DOUBLE]
    best_weights: Annotated[Array, "weights", SINGLE_OR_DOUBLE, Squarable, Name("best")]
    curve: Annotated[Floats, "epochs losses"]  # (epochs, 1) or, with rows set aside, (epochs, 2)
    steps: int
    looks: int
    best: int
    still: bool

    def check(self) -> None:
        """Refuse what no file can say."""
        if self.curve.shape[1] not in (1, 2):
            raise FormatError(f"The checkpoint tells {self.curve.shape[1]} losses of an epoch: there are one or two.")

    def state(self, first: State) -> State:
        """How far it had come; `first` is where it began."""
        pairs = ((self.current, first.weights), (self.first, first.first), (self.second, first.second))
        same = all(one.shape == other.shape and one.dtype == other.dtype for one, other in pairs)
        losses = self.curve if first.judged else np.column_stack([self.curve, np.full(len(self.curve), math.nan)])
        if not same or losses.shape[1] != 2 or not self.best < len(losses):
            raise FormatError("The state in the checkpoint does not fit its settings.")
        return State(
            weights=self.current,
            first=self.first,
            second=self.second,
            patience=first.patience,
            judged=first.judged,
            steps=self.steps,
            looks=self.looks,
            curve=tuple((float(loss), float(aside)) for loss, aside in losses),
            best=self.best,
            best_weights=self.best_weights,
            still=self.still,
        )


def write_checkpoint(path: str, kept: CheckpointKey, state: State) -> None:
    """Keep how far training has come, atomically. A state without any best epoch is not kept."""
    if state.best_weights is None or state.diverged:
        return
    curve = np.array(state.curve)
    begun = Checkpoint(
        kept=kept,
        current=state.weights,
        first=state.first,
        second=state.second,
        best_weights=state.best_weights,
        curve=curve if state.judged else curve[:, :1],
        steps=state.steps,
        looks=state.looks,
        best=state.best,
        still=state.still,
    )
    write_document(path, Document(KIND, *pack(begun)))


def open_checkpoint(path: str, kept: CheckpointKey) -> Checkpoint:
    """What `write_checkpoint` kept, if it was a fit of these rows with these settings."""
    begun = _read(path)
    shapes = [f"{one.n_rows:,} × {one.n_columns:,}" for one in (begun.kept, kept)]
    if shapes[0] != shapes[1] or begun.kept.mark != kept.mark:
        raise CannotMerge(
            f"{path}: the checkpoint is of {shapes[0]} other values, another order of rows or other weights than these "
            f"data, {shapes[1]}: {ANEW}."
        )
    if begun.kept.settings != kept.settings:
        raise CannotMerge(
            f"{path}: the checkpoint is of a fit with other settings ({begun.kept.settings[:300]}), not "
            f"{kept.settings}: {ANEW}."
        )
    return begun


def _read(path: str) -> Checkpoint:
    with open_checkpoint_of(OWNER, path) as document:
        return unpack(Checkpoint, document.facts, document.arrays, "checkpoint")


def refuse_unwritable(path: str) -> None:
    """Raise an error, before any work, if the file could not be written."""
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(path):
        raise CannotWrite.file(path, "it is a folder")
    if not os.path.isdir(folder):
        raise CannotWrite.file(path, "its folder is not there")
    if not os.access(folder, os.W_OK):
        raise CannotWrite.file(path, "its folder may not be written to")


def write_part(path: str, part: Any) -> str:
    """Keep what an interrupted fit has learnt; gives back how far it came, in words."""
    write_checkpoint(path, *part.begun_)
    return plural(len(part.begun_[1].curve), "epoch")


def tell_part(path: str) -> str:
    """How far the training came that is kept in a file, in words."""
    return plural(len(_read(path).curve), "epoch")


def resume_fit(estimator: Any, path: str, source: Any) -> Any:
    """The fit of a source, carried on from a checkpoint, which goes on being written."""
    return estimator.set_params(checkpoint=path).fit(source)
