"""What settings may be, as types: a word that is misspelt is an error of the type checker's too.

The words are those that each setting is checked against when a model is fitted; tests hold the two together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np

Whole: TypeAlias = int | np.integer[Any]
Number: TypeAlias = float | np.floating[Any] | np.integer[Any]
Seed: TypeAlias = Whole | np.random.Generator | np.random.RandomState | None
Bytes: TypeAlias = Whole | str | None

SvdSolver: TypeAlias = Literal["auto", "full", "covariance_eigh", "arpack", "randomized", "lanczos", "gram", "tsqr"]
Normalizer: TypeAlias = Literal["auto", "QR", "LU", "none"]
Missing: TypeAlias = Literal["error", "ppca"]
FloatType: TypeAlias = Literal["float32", "float64"]
Unstored: TypeAlias = Literal["zero", "missing"]

LatentSolver: TypeAlias = Literal["auto", "closed", "em", "lecture"]

Kernel: TypeAlias = (
    Literal["linear", "poly", "rbf", "laplacian", "cosine", "sigmoid", "precomputed"] | Callable[..., Any]
)
Scaling: TypeAlias = Literal["unit_axis", "lecture1"]
Preimage: TypeAlias = Literal["auto", "fixed_point", "distances", "ridge"]
EigenSolver: TypeAlias = Literal[
    "auto", "dense", "lanczos", "arpack", "randomized", "landmarks", "nystroem", "random_features"
]
NotPositive: TypeAlias = Literal["error", "clip"]

NmfInit: TypeAlias = Literal["random", "nndsvd", "nndsvda", "nndsvdar", "custom"]
NmfSolver: TypeAlias = Literal["auto", "cd", "hals", "newton", "mu"]
NmfLoss: TypeAlias = Literal["frobenius", "kullback-leibler", "poisson", "itakura-saito"]

Family: TypeAlias = Literal["bernoulli", "poisson", "gaussian"]
Encoder: TypeAlias = Literal["optimal", "linear", "projection"]

NetworkLoss: TypeAlias = Literal["auto", "bce", "mse"]
Activation: TypeAlias = Literal["silu", "gelu", "relu", "leaky_relu", "tanh", "logistic"]
NetworkSolver: TypeAlias = Literal["auto", "adam", "lbfgs", "als"]

Rule: TypeAlias = Literal["one_se", "best"]
Metric: TypeAlias = Literal["cosine", "euclid", "whitened"]
Normalisation: TypeAlias = Literal["patterson", "price", "center"]
