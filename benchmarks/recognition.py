"""Recognition of real faces: who, whether anybody, whether a face. Accuracies, so the machine need not be idle.

`LOWDIM_DATA=… python benchmarks/run.py recognition` writes the section; OpenCV's peer runs where
opencv-contrib-python-headless is installed.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import zoom
from sklearn import decomposition
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import lowdim
from face_detection import detection_table

NAME = "recognition of faces"
HEAD = """
Faces, by `Recogniser` and by scikit-learn's classifiers after `PCA`. Nothing below was chosen by looking at test
rows.
"""
CLOSED = """
**Who?** 5 pictures of each of 40 people are the gallery, the other 5 of each are probes, in 10 random splits (seeds 0
to 9); share of probes whose nearest neighbour is the same person, mean ± standard deviation over the splits.
"scikit-learn" is its PCA and 1-nearest-neighbour classifier, "OpenCV" its EigenFaceRecognizer, both Euclid's, on the
same splits.
"""
OPEN = """
**Anybody?** 20 people of Olivetti, drawn anew in each of 10 splits, 5 pictures of each are the gallery; their other 5
and all 10 of the other 20 people, who are strangers, are probes. K = 40. "identified at 1 %": probes of enrolled
people that are nearest to themselves, within the distance that lets in 1 % of the strangers among the probes (which a
user does not know). "limit": the distance that `reject=0.05` took from the gallery alone, what it let in and whom it
identified. Means ± standard deviations over the splits.
"""
OUTSIDE = """
**A face at all?** The same galleries, made 19 × 19 and standardised picture by picture, with `reject_outside=0.05`,
also from the gallery alone: share turned away of the probes of enrolled people, of strangers (faces too) and of
CBCL's 4,548 training non-faces, treated alike; AUC of the log-likelihood of probes against non-faces. The two
collections frame faces differently and were digitised differently, so part of this is telling collections apart.
"""
SPLITS = 10
K = (40, 100, 150)
METRICS = ("euclid", "whitened", "cosine")

Floats = NDArray[np.float64]


def table() -> list[str]:
    lines = ["", f"## {NAME}", *HEAD.rstrip().splitlines(), *CLOSED.rstrip().splitlines(), ""]
    lines += ["| data | K | " + " | ".join([*METRICS, "scikit-learn", "OpenCV"]) + " |", "|---" * 7 + "|"]
    for name, title in (("olivetti", "Olivetti"), ("orl", "ORL")):
        X, y = faces(name)
        for k in K:
            lines.append(f"| {title}, {X.shape[1]:,} pixels | {k} | {' | '.join(closed_set(X, y, k))} |")
            print(lines[-1], flush=True)
    lines += [*OPEN.rstrip().splitlines(), ""]
    columns = ("closed set", "AUC", "equal error", "identified at 1 %", "at 5 %", "limit: let in", "limit: identified")
    lines += ["| metric | " + " | ".join(columns) + " |", "|---" * (1 + len(columns)) + "|"]
    for metric in METRICS:
        lines.append(f"| {metric} | {' | '.join(open_set(metric))} |")
        print(lines[-1], flush=True)
    lines += [*OUTSIDE.rstrip().splitlines(), ""]
    lines += ["| K | enrolled | strangers | non-faces | AUC |", "|---|---|---|---|---|"]
    for k in (10, 20, 40):
        lines.append(f"| {k} | {' | '.join(outside(k))} |")
        print(lines[-1], flush=True)
    return lines + detection_table()


def closed_set(X: Floats, y: NDArray[np.int64], k: int) -> list[str]:
    found: dict[str, list[float]] = {name: [] for name in (*METRICS, "scikit-learn", "OpenCV")}
    for seed in range(SPLITS):
        known, new = split(y, np.unique(y), np.random.default_rng(seed))
        for metric in METRICS:
            model = lowdim.Recogniser(k, metric=metric).fit(X[known], y[known])
            found[metric].append(model.score(X[new], y[new]))
        peer = make_pipeline(decomposition.PCA(k, svd_solver="full"), KNeighborsClassifier(1))
        found["scikit-learn"].append(peer.fit(X[known], y[known]).score(X[new], y[new]))
        said = eigenfaces(X[known], y[known], X[new], k)
        if said is not None:
            found["OpenCV"].append(float((said == y[new]).mean()))
    return [spread(values) for values in found.values()]


def eigenfaces(X: Floats, y: NDArray[np.int64], probes: Floats, k: int) -> NDArray[np.int64] | None:
    """What OpenCV's recogniser says; None if it is not installed."""
    try:
        import cv2
    except ImportError:
        return None
    peer = cv2.face.EigenFaceRecognizer_create(k)
    peer.train([row.astype(np.uint8).reshape(1, -1) for row in X], y.astype(np.int32))
    return np.array([peer.predict(row.astype(np.uint8).reshape(1, -1))[0] for row in probes])


def open_set(metric: str) -> list[str]:
    X, y = faces("olivetti")
    rows = []
    for seed in range(SPLITS):
        known, new, _ = enrolled(y, seed)
        found = lowdim.recognise(
            X[known], y[known], X[new], y[new], n_components=40, metric=metric, reject=0.05, n_draws=1
        )
        curve, counts, opened = found.verification, found.counts, found.open_set
        rows.append(
            [
                found.closed_set.value,
                curve.auc.value,
                curve.equal_error.value,
                opened.at[0.01].value,
                opened.at[0.05].value,
                counts.strangers_in / counts.strangers,
                counts.identified / counts.known,
            ]
        )
    return [spread(column) for column in zip(*rows, strict=True)]


def outside(k: int) -> list[str]:
    X, y = faces("olivetti")
    X = standardised(np.array([zoom(row.reshape(64, 64), 19 / 64, order=1).ravel() for row in X]))
    with np.load(Path(os.environ["LOWDIM_DATA"]) / "cbcl_faces.npz") as file:
        others = standardised(file["x_train"][file["y_train"] == 0].reshape(-1, 361).astype(float))
    rows = []
    for seed in range(SPLITS):
        known, new, people = enrolled(y, seed)
        model = lowdim.Recogniser(k, reject_outside=0.05).fit(X[known], y[known])
        least = model.least_log_likelihood_
        ours, theirs = model.score_samples(X[new]), model.score_samples(others)
        own = np.isin(y[new], people)
        above = np.searchsorted(np.sort(theirs), ours, side="left").mean() / len(theirs)
        rows.append([(ours[own] < least).mean(), (ours[~own] < least).mean(), (theirs < least).mean(), above])
    return [spread(column) for column in zip(*rows, strict=True)]


def faces(name: str) -> tuple[Floats, NDArray[np.int64]]:
    with np.load(Path(os.environ["LOWDIM_DATA"]) / f"{name}_faces.npz") as file:
        return file["images"].reshape(400, -1).astype(float), file["subject"].astype(np.int64)


def split(y: NDArray[np.int64], people: NDArray[np.int64], rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Five rows of each of these people, and all other rows."""
    known = np.concatenate([rng.permutation(np.flatnonzero(y == person))[:5] for person in people])
    return known, np.setdiff1d(np.arange(len(y)), known)


def enrolled(y: NDArray[np.int64], seed: int) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Gallery rows of 20 people, all other rows, and these people."""
    rng = np.random.default_rng(seed)
    people = rng.permutation(np.unique(y))[:20]
    return *split(y, people, rng), people


def standardised(X: Floats) -> Floats:
    """Each row with mean 0 and standard deviation 1; constant ones 0."""
    centred = X - X.mean(axis=1, keepdims=True)
    spread_of_each = centred.std(axis=1, keepdims=True)
    return np.divide(centred, spread_of_each, out=np.zeros_like(centred), where=spread_of_each > 0)


def spread(values: list[float]) -> str:
    return f"{np.mean(values):.3f} ± {np.std(values):.3f}" if len(values) else "not installed"
