"""Orthogonal Procrustes: the rotation that brings one set of axes nearest to another."""

from __future__ import annotations

import numpy as np

from lowdim.types import Floats


def rotation_onto(W: Floats, before: Floats) -> Floats:
    """(k, k) the rotation that best aligns loadings W (p, k) with those before (Schönemann 1966).

    Rotating the latent space changes no likelihood.
    """
    U, _, Vt = np.linalg.svd(W.T @ before)
    return np.asarray(U @ Vt)
