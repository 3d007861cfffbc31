"""What a fitted kernel PCA says about rows, block by block; and from scores back to rows by pre-images."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from lowdim.errors import BadInput, FarFromData
from lowdim.matrices.missing import refuse_missing_in_block
from lowdim.matrices.preparation import dense
from lowdim.models.kernel_pca.kernel_matrix import refuse_overflow
from lowdim.models.kernel_pca.kernels import Cosine, Kernel, Linear
from lowdim.models.kernel_pca.record import KernelFit
from lowdim.models.kernel_pca.solvers.features import Features, features_of, scores_of
from lowdim.models.kernel_pca.solvers.preimage import (
    Distances,
    Exact,
    FixedPoint,
    Preimages,
    Ridge,
    Way,
    choose_way,
    find_preimages,
)
from lowdim.models.kernel_pca.solvers.projections import Projector
from lowdim.runtime.warn import warn_user
from lowdim.sources.source import Block
from lowdim.types import Floats


@dataclass
class PreimageModel:
    """A fitted kernel PCA that is asked for rows. The regression and the projector are made once, when first needed."""

    fit: KernelFit
    kernel: Kernel
    alpha: float
    _projector: Projector | None = None
    _regression: Ridge | None = None

    @classmethod
    def of(cls, fit: KernelFit, kernel: Kernel | None, alpha: float) -> PreimageModel:
        """The same; an error where only a kernel matrix is known."""
        if kernel is None:
            raise BadInput(
                "A precomputed kernel matrix does not tell the rows that it was made from, so scores cannot become "
                "rows: pass the rows and a kernel by name or as a function."
            )
        return cls(fit, kernel, alpha)

    def rows(self, scores: Floats, way: str, starts: Floats | None = None) -> Preimages:
        """Pre-images of scores (m, k) of axes of length one; `starts` are the rows (m, p) that they came from."""
        found = find_preimages(
            self.projector, scores, self.way(way), None if starts is None else self.fit.prepared(starts)
        )
        far = 0 if isinstance(self.kernel, Linear) else int((~found.near).sum())  # planes have no curved rows to miss
        if far:
            warn_user(FarFromData(far, len(scores)))
        return replace(found, rows=self.fit.undone(found.rows))

    def way(self, name: str) -> Way:
        """The way behind a name."""
        if name == "fixed_point":
            return FixedPoint()
        if name == "distances":
            return Exact() if isinstance(self.kernel, Linear) else Distances()
        usual = None if name == "ridge" else choose_way(self.kernel)
        return self.regression if usual is None else usual

    @property
    def projector(self) -> Projector:
        """Scores to points of the feature space."""
        if self._projector is None:
            if self.fit.keeps_no_rows and isinstance(self.kernel, Cosine):
                raise BadInput(
                    f"Cosines tell directions, and this fit of {self.fit.n_rows:,} rows keeps none of them to tell "
                    "their lengths: fit with eigen_solver='lanczos' for pre-images."
                )
            if self.fit.found.waves:
                raise BadInput(
                    "Random features do not tell how points of the feature space are made of rows, so there are no "
                    "pre-images: fit with eigen_solver='landmarks' for them."
                )
            self._projector = Projector.of(self.fit.found, self.kernel)
        return self._projector

    @property
    def _mean(self) -> Floats | None:
        """Of the training rows as the kernel takes them, where it is known: zero, if they were moved to it."""
        return None if self.fit.shift is None else np.zeros(self.fit.n_columns)

    @property
    def regression(self) -> Ridge:
        """Scores to rows, learnt from the basis."""
        if self._regression is None:
            found = self.fit.found
            if self.fit.keeps_no_rows:
                raise BadInput(
                    f"This fit by {self.fit.provenance.solver} keeps no rows that a regression could be learnt from: "
                    "fit with eigen_solver='lanczos' or 'landmarks' for preimage='ridge'."
                )
            scores = features_of(self.kernel, found).of(found.basis) @ found.axes - found.offset
            self._regression = Ridge.learn(scores, found.basis, self.kernel, self.alpha, self._mean)
        return self._regression


# What a fitted kernel PCA says about rows, block by block.
#
# Functions here turn a block of rows into an array; they are handed to `Source.map_rows`, so they work on arrays,
# files and clusters alike.

PIECE_BYTES = 16 * 2**20
"""Numbers that describe new rows, f(x), are made so many bytes at a time."""


@dataclass(frozen=True)
class RowKernel:
    """A fitted model that is asked about rows."""

    fit: KernelFit
    kernel: Kernel | None
    features: Features | None  # how rows become f(x); None: they come as rows of a kernel matrix
    weights: Floats  # (m, k) scores are f(x) times these, less the offset

    @classmethod
    def for_scores(cls, fit: KernelFit, kernel: Kernel | None) -> RowKernel:
        """The cheapest features that scores can be made of: the kernel with the basis itself."""
        if kernel is None:
            return cls(fit, None, None, fit.found.axes)
        scores = scores_of(kernel, fit.found)
        return cls(fit, kernel, scores.features, scores.weights)

    @classmethod
    def for_distances(cls, fit: KernelFit, kernel: Kernel | None) -> RowKernel:
        """Features that lengths can be made of too."""
        features = None if kernel is None else features_of(kernel, fit.found)
        return cls(fit, kernel, features, fit.found.axes)

    def pieces(self, block: Block) -> Iterator[tuple[Floats, Floats]]:
        """Rows of a block as the kernel takes them, and f of each, (m, basis); a piece at a time."""
        step = max(1, PIECE_BYTES // (8 * max(1, len(self.fit.found.axes))))
        refuse_missing_in_block(block, self.fit.columns)
        for start in range(0, block.rows.shape[0], step):
            rows = dense(block.rows[start : start + step]).astype(np.float64)
            rows = self.fit.prepared(rows)
            with np.errstate(over="ignore", invalid="ignore"):
                f = rows if self.features is None else self.features.of(rows)
            refuse_overflow(f)
            yield rows, f

    def own(self, rows: Floats) -> Floats:
        """(m,) k(x, x) of each row."""
        if self.kernel is None:
            raise BadInput(
                "How far a row lies from the plane depends on k(x, x), which rows of a precomputed kernel matrix do "
                "not tell: pass the kernel as a function instead of its matrix."
            )
        return self.kernel.diagonal(rows)


def scores(block: Block, model: RowKernel) -> Floats:
    """(n, k) coordinates along the axes."""
    return np.concatenate([f @ model.weights - model.fit.found.offset for _, f in model.pieces(block)])


def distances(block: Block, model: RowKernel) -> Floats:
    """(n, 1) squared distance of each row's image from the plane of the axes (Hoffmann 2007, eq. 6)."""
    found = model.fit.found
    parts = []
    for rows, f in model.pieces(block):
        along = f @ model.weights - found.offset
        whole = found.from_mean(model.own(rows), f)
        parts.append(np.maximum(whole - np.einsum("ij,ij->i", along, along), 0.0))
    return np.concatenate(parts)[:, None]
