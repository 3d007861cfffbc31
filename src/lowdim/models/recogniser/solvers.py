"""Rows beside a gallery: coordinates in which Euclid's distance is the metric's, and the nearest in them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.spatial.distance import cdist

from lowdim.models.recogniser.record import COSINE, EUCLID
from lowdim.types import Floats, Indices

MOST_NUMBERS = 2**22
"""Distances that are held at a time."""


def coordinates(scores: Floats, whitening: Floats, metric: str, drop_first: int) -> Floats:
    """(n, k − drop_first) coordinates of rows with these scores (n, k); whitening (k,) is 1 / standard deviation.

    Euclid's distance between them is that between the scores ("euclid"), the whitened scores ("whitened"), or the
    whitened scores made as long as 1, d² / 2 = 1 − cosine ("cosine"). A row at the mean has no direction and stays 0.
    """
    kept: Floats = scores[:, drop_first:]
    if metric == EUCLID:
        return np.ascontiguousarray(kept)
    white = kept * whitening[drop_first:]
    if metric != COSINE:
        return np.asarray(white)
    largest = np.abs(white).max(axis=1, initial=0.0, keepdims=True)
    scaled = np.divide(white, largest, out=np.zeros_like(white), where=largest > 0)  # squares stay in range
    length = np.linalg.norm(scaled, axis=1, keepdims=True)
    return np.asarray(np.divide(scaled, length, out=np.zeros_like(scaled), where=length > 0))


def distances_between(codes: Floats, gallery: Floats, metric: str) -> Iterator[tuple[slice, Floats]]:
    """Give (rows, n) distances between rows and gallery, some rows at a time, from differences: 0 is 0."""
    step = max(1, MOST_NUMBERS // max(1, len(gallery)))
    for start in range(0, len(codes), step):
        some = slice(start, start + step)
        yield some, _cosine(codes[some], gallery) if metric == COSINE else cdist(codes[some], gallery)


def _cosine(codes: Floats, gallery: Floats) -> Floats:
    """(m, n) 1 − cosine of rows of length 1; those without a direction are at 1 from all that have one."""
    distances = 0.5 * cdist(codes, gallery, "sqeuclidean")
    distances += 0.5 * np.not_equal.outer(np.any(codes, axis=1), np.any(gallery, axis=1))
    return np.asarray(distances)


def nearest_rows(codes: Floats, gallery: Floats, metric: str, count: int) -> tuple[Floats, Indices]:
    """Distances (m, count) to the nearest rows of the gallery, nearest first, and which (m, count) these are."""
    found, places = np.empty((len(codes), count)), np.empty((len(codes), count), dtype=np.int64)
    for some, distances in distances_between(codes, gallery, metric):
        if count == 1:
            order = np.argmin(distances, axis=1)[:, None]
        else:
            few = np.sort(np.argpartition(distances, count - 1, axis=1)[:, :count], axis=1)
            by_distance = np.argsort(np.take_along_axis(distances, few, axis=1), axis=1, kind="stable")
            order = np.take_along_axis(few, by_distance, axis=1)
        places[some] = order
        found[some] = np.take_along_axis(distances, order, axis=1)
    return found, places


def nearest_of_each(codes: Floats, gallery: Floats, metric: str, classes: Indices, n_classes: int) -> Floats:
    """(m, n_classes) distance to the nearest row of each class; every class has a row."""
    order = np.argsort(classes, kind="stable")
    starts = np.searchsorted(classes[order], np.arange(n_classes))
    found = np.empty((len(codes), n_classes))
    for some, distances in distances_between(codes, gallery[order], metric):
        found[some] = np.minimum.reduceat(distances, starts, axis=1)
    return found


def preferences(neighbours: Indices, distances: Floats) -> Floats:
    """(m, n_classes) how much each class is preferred: votes of the nearest rows, of equals the one that is nearest.

    `neighbours` (m, count) are classes of the nearest rows, `distances` (m, n_classes) those to the nearest row of each
    class. One neighbour has the only vote, so that minus the distance says it all.
    """
    if neighbours.shape[1] == 1:
        return -distances
    votes = np.zeros(distances.shape)
    for column in neighbours.T:
        votes[np.arange(len(votes)), column] += 1
    return np.asarray(votes - distances / (1 + distances))  # from 0 to 1, so never as much as a vote
