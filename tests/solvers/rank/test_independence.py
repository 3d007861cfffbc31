"""What is left beyond components: independent noise of any size passes, whatever the components look like."""

import numpy as np
import pytest

from lowdim.solvers.rank.noise import compare_row_sizes, correlate_columns, correlate_rows, subtract_components


def remembering(n: int, p: int, by: float, rng: np.random.Generator) -> np.ndarray:
    """Columns of variance 1, each entry of which is correlated by `by` with the one above it."""
    E = rng.standard_normal((n, p))
    for i in range(1, n):
        E[i] = by * E[i - 1] + np.sqrt(1 - by**2) * E[i]
    return E


def planted(n: int, p: int, rng: np.random.Generator, noise: np.ndarray, smooth: float = 0.0) -> np.ndarray:
    """Three strong components, whose scores and axes may be smooth."""
    scores, axes = remembering(n, 3, smooth, rng), remembering(p, 3, smooth, rng)
    X = 5 * scores @ axes.T + noise
    return X - X.mean(axis=0)


def drawn(n: int, p: int, law: str, rng: np.random.Generator) -> np.ndarray:
    E = rng.standard_normal((n, p))
    if law == "unequal columns":
        return E * np.exp(rng.normal(0, 0.7, p))
    if law == "heavy rows":
        return E / np.sqrt(rng.chisquare(3, (n, 1)) / 3)
    return rng.standard_t(3, (n, p)) if law == "heavy entries" else E


@pytest.mark.parametrize(("n", "p"), [(200, 20), (60, 60), (40, 200)])
@pytest.mark.parametrize("law", ["normal", "unequal columns", "heavy entries", "heavy rows"])
@pytest.mark.parametrize("smooth", [0.0, 0.9])
def test_neighbours_of_independent_noise_leave_nothing(n, p, law, smooth):
    """Also behind smooth scores and axes, with which a tenth of the noise is taken off.

    z of a sum of squares is skew: 3 is passed by one in fifty. Of twenty draws four or more would happen once in a
    thousand times.
    """
    rng = np.random.default_rng(0)
    found = [subtract_components(planted(n, p, rng, drawn(n, p, law, rng), smooth), 3) for _ in range(20)]
    assert sum(correlate_rows(one, np.arange(n)).z > 3 for one in found) <= 3
    assert sum(correlate_columns(one).z > 3 for one in found) <= 3


def test_memory_is_measured():
    rng = np.random.default_rng(0)
    Y = planted(1000, 30, rng, remembering(1000, 30, 0.6, rng))
    rows = correlate_rows(subtract_components(Y, 3), np.arange(1000))
    # standard errors are 1/√(1000 · 27), and a mean over 1,000 rows takes a little of the memory off
    np.testing.assert_allclose(rows.correlations, 0.6 ** np.arange(1, 6), atol=0.03)
    assert rows.unequal == pytest.approx(2 * (0.6 ** (2 * np.arange(1, 6))).sum(), abs=0.06)
    assert rows.z > 100
    columns = correlate_columns(subtract_components(planted(30, 1000, rng, remembering(1000, 30, 0.6, rng).T), 3))
    np.testing.assert_allclose(columns.correlations, 0.6 ** np.arange(1, 6), atol=0.03)


def test_copies_and_gaps_are_no_neighbours():
    rng = np.random.default_rng(0)
    Y = rng.standard_normal((150, 10))
    copied = np.repeat(Y - Y.mean(axis=0), 2, axis=0)
    assert correlate_rows(subtract_components(copied, 0), np.repeat(np.arange(150), 2)).z < 3
    assert correlate_rows(subtract_components(copied, 0), np.arange(300)).z > 10
    walk = np.cumsum(rng.standard_normal((150, 10)), axis=0)
    walk -= walk.mean(axis=0)
    apart = 100 * np.arange(150)  # of which no two were next to each other
    assert correlate_rows(subtract_components(walk, 0), apart).z == 0
    assert correlate_rows(subtract_components(walk, 0), np.arange(150)).z > 10


@pytest.mark.parametrize(("n", "p"), [(200, 20), (60, 60), (40, 200)])
@pytest.mark.parametrize("law", ["normal", "unequal columns", "heavy entries"])
def test_rows_of_independent_entries_are_of_one_size(n, p, law):
    """z is above 3 once in a hundred times or less; three of twenty would happen once in a thousand."""
    rng = np.random.default_rng(1)
    found = [compare_row_sizes(subtract_components(planted(n, p, rng, drawn(n, p, law, rng)), 3)) for _ in range(20)]
    assert sum(one.z > 3 and one.unequal > 0.25 for one in found) <= 2


def test_sizes_of_rows_are_measured():
    rng = np.random.default_rng(0)
    sizes = np.linspace(0.5, 1.5, 2000)[:, None]
    found = compare_row_sizes(subtract_components(planted(2000, 40, rng, sizes * rng.standard_normal((2000, 40))), 3))
    # the larger rows mix a little into the smaller ones by way of the components
    assert found.unequal == pytest.approx(np.var(sizes**2) / np.mean(sizes**2) ** 2, rel=0.15)
    assert found.z > 10


def test_nothing_is_said_of_too_little():
    for found in (subtract_components(np.eye(4), 3), subtract_components(np.zeros((9, 6)), 1)):
        n = len(found.rest)
        assert correlate_rows(found, np.arange(n)).z == correlate_columns(found).z == compare_row_sizes(found).z == 0
