"""Rows that are pictures: what models are made of, what they make of rows, what lies between rows."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import lowdim
from figure_list.data import stored

FACE, DIGIT = (19, 19), (28, 28)


@cache
def faces() -> Any:
    """(2429, 361) faces of the MIT CBCL set, as light and as varied as Lee & Seung made them."""
    with np.load(stored("cbcl_faces.npz")) as data:
        X = data["x_train"][data["y_train"] == 1].reshape(-1, 361).astype(float)
    X = 0.25 + 0.25 * (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, keepdims=True)
    return np.clip(X, 0.0, 1.0)


@cache
def digits(many: int = 10_000) -> tuple[Any, Any]:
    """(many, 784) MNIST digits from 0 to 1, and which they are."""
    with np.load(stored("mnist.npz")) as data:
        return data["x_train"][:many].reshape(-1, 784) / 255.0, data["y_train"][:many]


@cache
def eigenfaces() -> lowdim.PCA:
    """PCA of the faces."""
    return lowdim.PCA(100).fit(faces())


def gallery() -> Any:
    """Eigenfaces."""
    return eigenfaces().plot.gallery(picture_shape=FACE, most=17)


def gallery_parts() -> Any:
    """Lee & Seung's parts of faces."""
    model = lowdim.NMF(24, beta_loss="kullback-leibler", max_iter=600, tol=5e-3).fit(faces())
    return model.plot.gallery(picture_shape=FACE, most=24)


def gallery_codewords() -> Any:
    """Prototypes of digits."""
    model = lowdim.VectorQuantizer(24, random_state=0).fit(digits()[0])
    return model.plot.gallery(picture_shape=DIGIT, most=24)


def reconstruction() -> Any:
    """Faces from more and more components."""
    rows = faces()[[3, 700, 1400]]
    return eigenfaces().plot.reconstruction(rows, picture_shape=FACE, counts=[1, 5, 20, 50, 100])


def reconstruction_logistic() -> Any:
    """Digits from logistic PCA, whose grey values never leave the range from black to white."""
    X, which = digits(3000)
    model = lowdim.LogisticPCA(20).fit(X)
    return model.plot.reconstruction(X[[np.flatnonzero(which == d)[0] for d in (3, 5, 8)]], picture_shape=DIGIT)


def traversal() -> Any:
    """What lies between threes: slant and width."""
    X, which = digits()
    return lowdim.PCA(10).fit(X[which == 3]).plot.traversal(picture_shape=DIGIT)


def traversal_network() -> Any:
    """The two codes of a small autoencoder of digits."""
    X, _ = digits()
    model = lowdim.Autoencoder(2, hidden=(128, 64), max_iter=12).fit(X)
    return model.plot.traversal(picture_shape=DIGIT)


def learning() -> Any:
    """The loss of the same network, epoch by epoch."""
    X, _ = digits(4000)
    return lowdim.Autoencoder(2, hidden=(128, 64), max_iter=20).fit(X).plot.learning()


def usage() -> Any:
    """How many digits each codeword stands for."""
    return lowdim.VectorQuantizer(24, random_state=0).fit(digits()[0]).plot.usage()


def comparison() -> Any:
    """Lee & Seung's figure: what three models make a face of."""
    found = lowdim.compare(faces()[:800], ["pca", "nmf", "vq"], 25, picture_shape=FACE)
    return found.plot().axes[0]


FIGURES = {
    "gallery": gallery,
    "gallery-parts": gallery_parts,
    "gallery-codewords": gallery_codewords,
    "reconstruction": reconstruction,
    "reconstruction-logistic": reconstruction_logistic,
    "traversal": traversal,
    "traversal-network": traversal_network,
    "learning": learning,
    "usage": usage,
    "comparison": comparison,
}
DARK = {"gallery", "gallery-parts", "comparison"}
