"""The state of EM in a file, written after every step: a fit that was killed resumes there, to the same bits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from lowdim.errors import FormatError
from lowdim.matrices.missing import Observed
from lowdim.models.base.saving import CHECKPOINT, open_checkpoint_of
from lowdim.models.probabilistic_pca.fit import Progress
from lowdim.models.probabilistic_pca.solvers.em import Prior, Search, Settings
from lowdim.models.probabilistic_pca.solvers.latent import Latent
from lowdim.results.codec import pack, unpack
from lowdim.results.container import Document, write_document
from lowdim.results.fields import INLINE, NonNegative, OwnSizes, Prefix, StandsFor, has, size
from lowdim.results.meaning import ROUNDED, Invertible, Squarable, Weight, refuse
from lowdim.solvers.iterate import History
from lowdim.types import Floats, Indices
from lowdim.words import plural

OWNER = "ProbabilisticPCA"

LARGEST = 1e145
"""Roots of sums of squares beyond this are of rows that no fit takes: EM multiplies squares by the number of rows."""

KIND = OWNER + CHECKPOINT


@dataclass(frozen=True)
class KeptModel:
    """A model that EM looked at. One that was accepted before components were dropped has more of them."""

    W: Annotated[Floats, "p own", Squarable]
    mean: Annotated[Floats, "p", Squarable]
    noise: Annotated[Floats, "1", Invertible]
    spread: Annotated[Floats | None, "p triangle", Squarable]

    @classmethod
    def of(cls, model: Latent | None) -> KeptModel | None:
        """What is kept of a model."""
        if model is None:
            return None
        return cls(model.W, np.nan_to_num(model.mean), np.array([model.noise]), model.spread)

    def model(self) -> Latent:
        """The model itself."""
        return Latent(self.mean, self.W, float(self.noise[0]), self.spread)


@dataclass(frozen=True)
class Checkpoint:
    """A fit under way."""

    DERIVED: ClassVar[Mapping[str, Any]] = {
        "n_columns": size("seen"),
        "n_components": lambda begun: begun.model.W.shape[1],
        "steps": size("loglik"),
        "remembered": size("points"),
        "uncertain": lambda begun: begun.model.spread is not None,
        "sure": has("sure"),
        "best": has("best"),
    }

    n_rows: int
    weight: Annotated[float, Weight]
    seen: Annotated[Floats, "p", Weight]
    count: Annotated[Indices, "p", NonNegative]
    mean: Annotated[Floats, "p", Squarable]
    squares: Annotated[Floats, "p", NonNegative]
    scale: Annotated[Floats, "p", Invertible]
    reason: str
    alpha: Annotated[float, NonNegative]
    noise: Annotated[float | None, Invertible]
    model: Annotated[KeptModel, INLINE, Prefix("model_"), OwnSizes("p")]
    sure: Annotated[KeptModel | None, INLINE, Prefix("sure_"), OwnSizes("p")]
    best: Annotated[KeptModel | None, INLINE, Prefix("best_"), OwnSizes("p")]
    points: Annotated[Floats, "remembered numbers", Squarable]
    moves: Annotated[Floats, "remembered numbers", Squarable]
    loglik: Annotated[tuple[float, ...], "steps"]
    logpost: Annotated[tuple[float, ...], "steps"]
    change: Annotated[float, NonNegative, StandsFor(np.inf, -1.0)]
    rows: Annotated[float, NonNegative]
    refused: int

    def check(self) -> None:
        """Refuse what no file can say."""
        p, k = self.model.W.shape
        refuse((self.count > self.n_rows).any(), f"more entries than its {self.n_rows} rows have")
        refuse(
            (self.seen > self.weight * (1 + ROUNDED)).any(), f"more entries than rows of weight {self.weight:g} have"
        )
        refuse((np.sqrt(self.squares) > LARGEST).any(), "sums of squares that EM cannot work with")
        if p < 1 or k < 1 or self.points.shape[1] != p * k + p + 1:
            raise FormatError(f"The checkpoint says {p} columns and {k} components, which its steps do not have.")
        for one in (self.model, self.sure, self.best):
            if one is None:
                continue
            own, told = one.W.shape[1], None if one.spread is None else one.spread.shape[1]
            if own < k or told != (None if self.model.spread is None else (own + 1) * (own + 2) // 2):
                raise FormatError(f"The checkpoint holds a model of {own} components that does not go with its {k}.")


def write_checkpoint(path: str, begun: Progress) -> None:
    """Keep how far a fit has come, atomically."""
    seen, state = begun.observed, begun.search
    model = KeptModel.of(state.model)
    assert model is not None
    numbers = model.W.size + len(model.mean) + 1
    kept = Checkpoint(
        n_rows=seen.n_rows,
        weight=seen.weight,
        seen=seen.seen,
        count=seen.count,
        mean=seen.mean,
        squares=seen.squares,
        scale=begun.scale,
        reason=begun.reason,
        alpha=state.settings.prior.alpha,
        noise=state.settings.noise,
        model=model,
        sure=KeptModel.of(state.sure),
        best=KeptModel.of(state.best),
        points=np.array(state.history.points).reshape(-1, numbers),
        moves=np.array(state.history.moves).reshape(-1, numbers),
        loglik=state.loglik,
        logpost=state.logpost,
        change=state.change,
        rows=state.rows,
        refused=state.refused,
    )
    write_document(path, Document(KIND, *pack(kept)))


def read_checkpoint(path: str) -> Progress:
    """What `write_checkpoint` kept; what EM is asked for is not part of it."""
    with open_checkpoint_of(OWNER, path) as document:
        kept = unpack(Checkpoint, document.facts, document.arrays, "checkpoint")
    none = np.zeros_like(kept.count)
    seen = Observed(kept.n_rows, kept.weight, kept.seen, kept.count, kept.mean, kept.squares, none)
    state = Search(
        settings=Settings(Prior(kept.alpha, kept.model.spread is not None), kept.noise),
        model=kept.model.model(),
        sure=None if kept.sure is None else kept.sure.model(),
        history=History(tuple(kept.points), tuple(kept.moves)),
        loglik=kept.loglik,
        logpost=kept.logpost,
        best=None if kept.best is None else kept.best.model(),
        change=kept.change,
        rows=kept.rows,
        refused=kept.refused,
    )
    return Progress(seen, kept.scale, state, kept.reason)


def write_part(path: str, part: Any) -> str:
    """Keep what an interrupted fit has learnt; gives back how far it came, in words."""
    write_checkpoint(path, part.begun_)
    return _steps_in_words(part.n_iter_)


def tell_part(path: str) -> str:
    """How far the fit came that is kept in a file, in words."""
    search = read_checkpoint(path).search
    return _steps_in_words(len(search.loglik) + search.refused)


def _steps_in_words(steps: int) -> str:
    return f"{plural(steps, 'step')} of EM"


def resume_fit(estimator: Any, path: str, source: Any) -> Any:
    """The fit of a source, carried on from a checkpoint, which goes on being written."""
    return estimator.set_params(checkpoint=path).fit(source)
