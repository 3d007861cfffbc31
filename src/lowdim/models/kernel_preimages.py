"""From scores of a kernel PCA back to rows: which way, by name, and what the user should hear of it."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadParameter, FarFromData
from lowdim.matrices.kernel_functions import Cosine, Kernel, Linear
from lowdim.models.kernel_settings import OWNER
from lowdim.results.kernel import KernelFit
from lowdim.solvers.kernel_features import features_of
from lowdim.solvers.preimage import Exact, Preimages, Way, preimages, usual_way
from lowdim.solvers.preimage_distances import Distances
from lowdim.solvers.preimage_fixed_point import FixedPoint
from lowdim.solvers.preimage_ridge import Ridge
from lowdim.solvers.projections import Projector

Floats = NDArray[np.float64]

PREIMAGES = ("auto", "fixed_point", "distances", "ridge")


@dataclass
class PreimageModel:
    """A fitted kernel PCA that is asked for rows. The regression and the projector are made once, when first needed."""

    fit: KernelFit
    kernel: Kernel
    alpha: float
    _projector: Projector | None = None
    _regression: Ridge | None = None

    def rows(self, scores: Floats, way: str, starts: Floats | None = None) -> Preimages:
        """Pre-images of scores (m, k) of axes of length one; `starts` are the rows (m, p) that they came from."""
        found = preimages(self.projector, scores, self.way(way), None if starts is None else self.fit.prepared(starts))
        far = 0 if isinstance(self.kernel, Linear) else int((~found.near).sum())  # planes have no curved rows to miss
        if far:
            warnings.warn(FarFromData(far, len(scores)), stacklevel=3)
        return replace(found, rows=self.fit.undone(found.rows))

    def way(self, name: str) -> Way:
        """The way behind a name."""
        if name == "fixed_point":
            return FixedPoint()
        if name == "distances":
            return Exact() if isinstance(self.kernel, Linear) else Distances()
        usual = None if name == "ridge" else usual_way(self.kernel)
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
            self._regression = Ridge.learnt(scores, found.basis, self.kernel, self.alpha, self._mean)
        return self._regression


def checked_way(given: Any, kernel: str) -> str:
    """A name that is one, and that suits the kernel."""
    if given not in PREIMAGES:
        raise BadParameter.of(OWNER, "preimage", given, f"one of {', '.join(map(repr, PREIMAGES))}")
    suited = {"fixed_point": ("rbf",), "distances": ("rbf", "linear")}.get(given, (kernel,))
    if kernel not in suited:
        fits = " and ".join(map(repr, suited))
        raise BadParameter(
            f"{OWNER}(preimage={given!r}) is for kernel={fits}, but the kernel is {kernel!r}: take 'ridge'."
        )
    return str(given)
