"""Intervals of eigenvalues and shares: they hold the exact ones, and cannot be tightened."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lowdim.models.kernel_pca.record import cumulative_intervals, share_intervals, value_intervals
from lowdim.models.kernel_pca.solvers.landmarks import Landmarks, find_landmark_axes
from lowdim.solvers.keep import KeepCount
from lowdim.sources.arrays import ArraySource
from models.kernel_pca.kernels import KERNELS, exact_values, rows


def found(kernel, X, count, seed=0, centered=True):
    rng = np.random.default_rng(seed)
    return find_landmark_axes(kernel, ArraySource(X), KeepCount(5), rng, Landmarks(count=count), centered=centered)


def holds(intervals: np.ndarray, exact: np.ndarray) -> bool:
    return bool(((intervals[:, 0] <= exact) & (exact <= intervals[:, 1])).all())


@pytest.mark.parametrize("centered", [True, False])
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_the_exact_ones_lie_inside(kernel, centered):
    X = rows(500)
    exact = exact_values(kernel, X, centered)
    shares = exact / exact.sum()
    for seed, count in enumerate([6, 20, 60, 200]):
        axes = found(kernel, X, count, seed, centered)
        k = len(axes.values)
        assert holds(value_intervals(axes), exact[:k])
        assert holds(share_intervals(axes), shares[:k])
        assert holds(cumulative_intervals(axes), np.minimum(np.cumsum(shares), 1.0)[:k])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_the_exact_ones_of_many_rows_lie_inside(kernel, seed):
    X = np.concatenate([rows(1800, seed=seed), 10 + rows(200, seed=seed + 10)])
    exact = exact_values(kernel, X)
    for count in (10, 50, 400):
        axes = found(kernel, X, count, seed)
        assert holds(value_intervals(axes), exact[: len(axes.values)])


def test_they_are_never_wider_than_the_slack_and_narrower_where_values_are_close():
    axes = replace(found(KERNELS[0], rows(300), 30), values=np.array([10.0, 9.9, 9.8, 1.0]), slack=3.0, total=30.0)
    highest = value_intervals(axes)[:, 1]
    assert np.allclose(highest, [13.0, (10 + 9.9 + 3) / 2, (10 + 9.9 + 9.8 + 3) / 3, 4.0])
    assert (highest <= axes.values + axes.slack + 1e-10).all()  # and what rounding adds


def test_each_upper_end_is_reached_by_some_rest():
    """Diagonal matrices: what is left over, put where the water is, gives the upper ends of value and share."""
    values, slack = np.array([5.0, 4.0, 2.0, 1.0]), 3.0
    axes = replace(found(KERNELS[0], rows(300), 30), values=values, slack=slack, total=float(values.sum()))
    for k, (high, share) in enumerate(zip(value_intervals(axes)[:, 1], share_intervals(axes)[:, 1], strict=True)):
        rest = np.maximum(high - values[: k + 1], 0.0)
        assert rest.sum() == pytest.approx(slack, rel=1e-9)
        raised = np.sort(np.append(values[: k + 1] + rest, values[k + 1 :]))[::-1]
        assert raised[k] == pytest.approx(high, rel=1e-9)
        assert raised[k] / raised.sum() == pytest.approx(share, rel=1e-9)


def test_no_rest_has_a_larger_share():
    """Ten thousand random rests with traces up to the slack, rotated at random."""
    rng = np.random.default_rng(0)
    values = np.array([5.0, 4.5, 2.0, 1.0])
    axes = replace(found(KERNELS[0], rows(300), 30), values=values, slack=2.0, total=float(values.sum()))
    spread = rng.standard_normal((10_000, 4, 4)) * rng.exponential(size=(10_000, 1, 4))
    rest = spread @ spread.transpose(0, 2, 1)
    rest *= (2.0 * rng.random(10_000) / np.trace(rest, axis1=1, axis2=2))[:, None, None]
    exact = np.linalg.eigvalsh(np.diag(values) + rest)[:, ::-1]
    shares = exact / exact.sum(axis=1, keepdims=True)
    for intervals, seen in [
        (value_intervals(axes), exact),
        (share_intervals(axes), shares),
        (cumulative_intervals(axes), np.minimum(np.cumsum(shares, axis=1), 1.0)),
    ]:
        assert (intervals[:, 0] <= seen.min(axis=0)).all()
        assert (seen.max(axis=0) <= intervals[:, 1]).all()


def test_nothing_is_said_where_nothing_is_known():
    axes = replace(found(KERNELS[0], rows(300), 30), slack=np.nan)
    assert np.isnan(value_intervals(axes)[:, 1]).all()
    assert np.isnan(share_intervals(axes)).all()
