"""The record of a Procrustes fit: scores turned, mirrored and scaled onto a map."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

PROJECTIONS = ("plain", "gall-peters")


@dataclass(frozen=True)
class Placement:
    """Where each row falls on the map: positions = map_center + scale · (scores − score_center) rotation."""

    positions: Floats
    """(n, d) the rows' scores, on the map."""
    coordinates: Floats
    """(n, d) their places on the map, as given or projected."""
    rotation: Floats
    """(d, d) orthogonal; of determinant −1 where the picture is mirrored."""
    scale: float
    score_center: Floats
    map_center: Floats
    correlation: float
    """√(1 − D): 1 where the scores are the map, 0 where they have nothing to do with it."""
    p_value: float
    """How often places given out at random are met as well; NaN if none were."""
    n_permutations: int
    permuted: str
    """What was given out at random: "individuals" or "groups"."""
    projection: str = "plain"
    groups: NDArray[Any] | None = field(default=None, repr=False)
    """(n,) labels, if they were given."""

    @property
    def disparity(self) -> float:
        """D: share of the map's sum of squares that the scores do not meet (Procrustes statistic m²)."""
        return 1.0 - self.correlation**2

    @property
    def mirrored(self) -> bool:
        """Whether the picture had to be mirrored."""
        return float(np.linalg.det(self.rotation)) < 0

    @property
    def angle(self) -> float:
        """Degrees by which scores in a plane are turned, anticlockwise, after a mirrored second axis; else NaN."""
        if self.rotation.shape != (2, 2):
            return math.nan
        turn = np.diag([1.0, -1.0]) @ self.rotation if self.mirrored else self.rotation
        return math.degrees(math.atan2(turn[0, 1], turn[0, 0]))

    def place(self, scores: Any) -> Floats:
        """(m, d) where other scores, of the same axes, fall on the map."""
        given = np.asarray(scores, dtype=np.float64)[:, : len(self.score_center)]
        return np.asarray(self.map_center + self.scale * (given - self.score_center) @ self.rotation)
