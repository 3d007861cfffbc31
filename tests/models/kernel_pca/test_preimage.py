"""Pre-images: exact where they exist, nearest where they do not, and never silently far away."""

import tracemalloc

import numpy as np
import pytest
from sklearn.decomposition import PCA, KernelPCA

from lowdim.errors import BadParameter
from lowdim.models.kernel_pca.kernels import Cosine, Gaussian, Kernel, Laplacian, Linear, Polynomial, Sigmoid
from lowdim.models.kernel_pca.record import KernelAxes
from lowdim.models.kernel_pca.solvers import projections as projections_module
from lowdim.models.kernel_pca.solvers.preimage import (
    Distances,
    Exact,
    FixedPoint,
    Preimages,
    Ridge,
    Way,
    choose_way,
    find_preimages,
    find_second_starts,
    trilaterate,
)
from lowdim.models.kernel_pca.solvers.projections import Projections, Projector
from models.kernel_pca.dense_kernel import dense_axes, landmark_axes, scores

GAUSSIAN = Gaussian(gamma=0.15, factor=2.0)


def curved(n: int, seed: int = 0, noise: float = 0.1) -> np.ndarray:
    """Rows about a spiral in space, whose mean is 5."""
    rng = np.random.default_rng(seed)
    t = rng.uniform(0, 5, n)
    middle = np.array([2.5, np.sin(5) / 5, (1 - np.cos(5)) / 5])  # integrals over t
    rows = 1.5 * (np.column_stack([t, np.cos(t), np.sin(t)]) - middle) + 5
    return np.asarray(rows + noise * rng.standard_normal(rows.shape))


def found_for(kernel: Kernel, rows: np.ndarray, k: int, new: np.ndarray) -> tuple[Projector, Projections]:
    found = dense_axes(kernel, rows, k)
    projector = Projector.of(found, kernel)
    return projector, projector.projections(scores(found, kernel, new))


def denoised(
    found: KernelAxes, kernel: Kernel, new: np.ndarray, way: Way, starts: np.ndarray | None = None
) -> Preimages:
    return find_preimages(Projector.of(found, kernel), scores(found, kernel, new), way, starts)


# What a projection is


@pytest.mark.parametrize("kernel", [GAUSSIAN, Laplacian(0.3), Polynomial(0.1, 1.0, 2), Linear(), Cosine()], ids=repr)
@pytest.mark.parametrize("centred", [True, False])
def test_distances_are_those_of_explicit_features(kernel: Kernel, centred: bool) -> None:
    """With features from a square root of the kernel matrix of all rows, P is a vector that can be written down."""
    rows, new, others = curved(30), curved(6, 1), curved(6, 2)
    everyone = np.concatenate([rows, new, others])
    values, vectors = np.linalg.eigh(kernel.between(everyone, everyone))
    features = vectors * np.sqrt(np.maximum(values, 0.0))
    phi, phi_new, phi_others = features[:30], features[30:36], features[36:]
    mean = phi.mean(axis=0) if centred else np.zeros(features.shape[1])
    axes = np.linalg.svd(phi - mean, full_matrices=False)[2][:3]
    P = mean + (phi_new - mean) @ axes.T @ axes
    found = dense_axes(kernel, rows, 3, centred)
    projections = Projector.of(found, kernel).projections(scores(found, kernel, new))
    expected = ((phi_others - P) ** 2).sum(axis=1)
    size = float(kernel.diagonal(everyone).max())  # square roots of eigenvalues lose half of eps of the largest
    np.testing.assert_allclose(projections.distances(others), expected, atol=1e-7 * size)
    np.testing.assert_allclose(projections.squared_length, (P**2).sum(axis=1), atol=1e-7 * size)
    np.testing.assert_allclose(projections.products, P @ phi.T, atol=1e-7 * size)


def test_the_centring_is_in_the_distance() -> None:
    """|φ(x) − P|² of a row and its own projection is k_c(x, x) − |β|², with k_c from centred kernel matrices."""
    rows, new = curved(40), curved(7, 1)
    found = dense_axes(GAUSSIAN, rows, 5)
    K, K_new = GAUSSIAN.between(rows, rows), GAUSSIAN.between(new, rows)
    centred = GAUSSIAN.diagonal(new) - 2 * K_new.mean(axis=1) + K.mean()
    beta = (K_new - K_new.mean(axis=1)[:, None] - K.mean(axis=0) + K.mean()) @ found.axes
    projections = Projector.of(found, GAUSSIAN).projections(beta)
    # one subtraction of numbers about 2, and sums of 40 products
    np.testing.assert_allclose(projections.distances(new), centred - (beta**2).sum(axis=1), atol=1e-12)


def test_landmarks_give_the_same_projections_as_all_rows_when_they_are_all_rows() -> None:
    rows, new = curved(25), curved(5, 1)
    exact, landmarks = dense_axes(GAUSSIAN, rows, 4), landmark_axes(GAUSSIAN, rows, rows[::-1], 4)
    one = Projector.of(exact, GAUSSIAN).projections(scores(exact, GAUSSIAN, new))
    other = Projector.of(landmarks, GAUSSIAN).projections(scores(landmarks, GAUSSIAN, new))
    z = curved(5, 2)
    np.testing.assert_allclose(other.distances(z), one.distances(z), atol=1e-7)  # the triangle's condition is 1e8
    np.testing.assert_allclose(other.squared_length, one.squared_length, atol=1e-7)


def test_distances_are_not_negative_but_for_rounding() -> None:
    rows = curved(60)
    _, projections = found_for(GAUSSIAN, rows, 60, rows)
    assert projections.distances(rows).min() > -1e-12  # lengths are 2, weights sum to a few units


# Where pre-images exist


@pytest.mark.parametrize("way", [FixedPoint(), Distances()], ids=repr)
@pytest.mark.parametrize("gamma", [0.15, 3.0, 100.0])
def test_all_components_give_the_training_rows_back(way: Way, gamma: float) -> None:
    kernel, rows = Gaussian(gamma), curved(50, noise=0.3)
    back = denoised(dense_axes(kernel, rows, 50), kernel, rows, way)
    np.testing.assert_allclose(back.rows, rows, atol=1e-10)  # no eigenvalue is dropped: weights are unit vectors
    assert back.near.all()
    assert back.distance.max() < 1e-13


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_linear_kernel_gives_what_pca_gives(k: int) -> None:
    rows, new = curved(40), curved(6, 1)
    pca = PCA(k).fit(rows)
    back = denoised(dense_axes(Linear(), rows, k), Linear(), new, Exact())
    np.testing.assert_allclose(back.rows, pca.inverse_transform(pca.transform(new)), atol=1e-10)
    assert back.near.all()


def test_the_linear_kernel_gives_the_mean_back() -> None:
    """scikit-learn's inverse gives 0 here (its issue 16654)."""
    rows = curved(40)
    back = find_preimages(Projector.of(dense_axes(Linear(), rows, 2), Linear()), np.zeros((1, 2)), Exact())
    np.testing.assert_allclose(back.rows, np.full((1, 3), 5.0), atol=1.0)
    np.testing.assert_allclose(back.rows[0], rows.mean(axis=0), rtol=1e-12)


def test_cosines_give_directions_back_with_the_usual_length() -> None:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((30, 3)) * rng.uniform(1, 9, (30, 1))
    back = denoised(dense_axes(Cosine(), rows, 3), Cosine(), rows, Exact())  # three axes: nothing is lost but lengths
    lengths = np.linalg.norm(rows, axis=1)
    np.testing.assert_allclose(back.rows, rows / lengths[:, None] * lengths.mean(), atol=1e-10)
    assert back.distance.max() < 1e-12


def test_trilateration_finds_the_point_with_these_distances() -> None:
    rng = np.random.default_rng(0)
    rows, point = rng.standard_normal((4, 10, 3)) + 100, rng.standard_normal((4, 3)) + 100
    squares = ((rows - point[:, None]) ** 2).sum(axis=2)
    used = np.ones((4, 10), dtype=bool)
    used[0, 5:] = False
    squares[0, 5:] = 1e9  # what is not used is not looked at
    squares[1] += 7.0  # and what is common to all does not matter
    np.testing.assert_allclose(trilaterate(rows, squares, used), point, atol=1e-10)


def test_trilateration_stays_in_the_middle_of_what_neighbours_do_not_tell() -> None:
    """Neighbours in a plane: of the point above it, they know the foot."""
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.standard_normal((1, 10, 2)), np.ones((1, 10, 1))], axis=2)
    squares = ((rows - np.array([0.3, 0.2, 4.0])) ** 2).sum(axis=2)
    np.testing.assert_allclose(trilaterate(rows, squares, np.ones((1, 10), bool)), [[0.3, 0.2, 1.0]], atol=1e-12)


def test_distances_of_a_shortened_projection_are_those_of_the_whole() -> None:
    """Where P is a share of some φ(z), z is its pre-image exactly, and what distances tell must not depend on it."""
    rows, z = curved(40), curved(3, 1)
    whole = dense_axes(GAUSSIAN, np.concatenate([rows, z]), 43, centred=False)
    beta = scores(whole, GAUSSIAN, z)
    projector = Projector.of(whole, GAUSSIAN)
    full, half = (Distances().rows(projector.projections(part * beta)) for part in (1.0, 0.5))
    np.testing.assert_allclose(half, full, atol=1e-6)  # dropped eigenvalues: 1e-7
    np.testing.assert_allclose(full, z, atol=1e-4)  # and logarithms of them


# Where they do not


def test_the_fixed_point_never_moves_away_and_ends_where_the_slope_is_zero() -> None:
    rows, new = curved(80), curved(20, 1, noise=0.5)
    _, projections = found_for(GAUSSIAN, rows, 4, new)
    end = FixedPoint(tol=1e-10, most=1000).rows(projections, new)
    reached = projections.distances(end)
    assert (reached <= projections.distances(new)).all()
    elsewhere = projections.distances(FixedPoint().rows(projections))
    assert (elsewhere <= projections.distances(find_second_starts(projections)) + 1e-13).all()  # and rounding
    assert (elsewhere <= projections.distances(rows[projections.nearest]) + 1e-13).all()
    step = 1e-4
    for j in range(3):
        ahead, behind = (projections.distances(end + sign * step * np.eye(3)[j]) for sign in (1, -1))
        # differences of numbers about 2 are known to 1e-15, which the step divides; curvature cancels
        np.testing.assert_allclose((ahead - behind) / (2 * step), 0.0, atol=1e-8)
        assert (ahead + behind > 2 * reached).all()  # and it is a valley


@pytest.mark.parametrize("seed", range(5))
def test_every_step_goes_up_with_weights_of_both_signs(seed: int) -> None:
    """Plain steps of Mika's do not, with such weights."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((30, 2))
    projector = Projector.of(dense_axes(Gaussian(0.2), rows, 29), Gaussian(0.2))
    projections = projector.projections(3 * rng.standard_normal((50, len(projector.offset))))
    assert (projections.weights < 0).any(axis=1).all()
    starts = rows[projections.nearest]
    before = projections.distances(starts)
    for most in (1, 2, 5, 20):
        after = projections.distances(FixedPoint(most=most).climb(projections, starts)[0])
        assert (after <= before + 1e-13 * np.abs(projections.weights).sum(axis=1)).all()  # rounding of the sums
        before = after
    end, led = FixedPoint(tol=1e-12, most=1000).climb(projections, starts)
    assert led.mean() > 0.9  # a few of these hills are below zero wherever there are rows
    size, step = np.abs(projections.weights).sum(axis=1), 1e-4
    for axis in np.eye(2):
        slope = (projections.distances(end + step * axis) - projections.distances(end - step * axis)) / (2 * step)
        assert (np.abs(slope) < 1e-7 * size)[led].all()  # third derivatives times step², of terms that are about 1


def test_denoising_brings_rows_nearer_to_the_curve() -> None:
    clean, new = curved(150, noise=0.0), curved(40, 1, noise=0.0)
    noisy = new + 0.3 * np.random.default_rng(2).standard_normal(new.shape)
    back = denoised(dense_axes(GAUSSIAN, clean, 8), GAUSSIAN, noisy, FixedPoint(), noisy)
    assert ((back.rows - new) ** 2).sum() < 0.6 * ((noisy - new) ** 2).sum()  # one of three directions is the curve's
    assert back.near.all()


def test_denoising_stays_with_the_cluster_of_the_row() -> None:
    """Two axes cannot tell twelve clusters apart, and the nearest features of all belong to some of them; but a row
    that is denoised goes to the top of the hill that it stands on (Mika's Table 1 depends on it by a factor of 1e4)."""
    rng = np.random.default_rng(0)
    centres = 10 * rng.standard_normal((12, 3))
    kernel, rows = Gaussian(0.5), np.repeat(centres, 20, axis=0) + rng.normal(0, 0.5, (240, 3))
    noisy = centres + rng.normal(0, 0.5, centres.shape)
    back = denoised(dense_axes(kernel, rows, 2), kernel, noisy, FixedPoint(), noisy)
    middles = rows.reshape(12, 20, 3).mean(axis=1)
    assert np.linalg.norm(back.rows - middles, axis=1).max() < 0.5  # tops of twenty bells: their mean errs by 0.2
    assert back.near.all()
    elsewhere = denoised(dense_axes(kernel, rows, 2), kernel, noisy, FixedPoint())
    assert np.linalg.norm(elsewhere.rows - middles, axis=1).max() > 5


def test_rows_with_no_way_up_start_elsewhere() -> None:
    """So far away that all kernels are zero."""
    kernel, rows = Gaussian(1.0), curved(40)
    found = dense_axes(kernel, rows, 5)
    beta = scores(found, kernel, rows[:3])
    back = find_preimages(Projector.of(found, kernel), beta, FixedPoint(), rows[:3] + 1e4)
    np.testing.assert_allclose(back.rows, find_preimages(Projector.of(found, kernel), beta, FixedPoint()).rows)
    assert back.near.all()


def test_training_rows_are_near() -> None:
    for k in (1, 3, 20):
        rows = curved(60)
        assert denoised(dense_axes(GAUSSIAN, rows, k), GAUSSIAN, rows, FixedPoint()).near.all()


@pytest.mark.parametrize("way", ["fixed point", "distances", "ridge"])
def test_far_scores_get_training_rows_and_are_flagged(way: str) -> None:
    kernel, rows = Gaussian(1.0), curved(60)
    found = dense_axes(kernel, rows, 20)
    ways: dict[str, Way] = {
        "fixed point": FixedPoint(),
        "distances": Distances(),
        "ridge": Ridge.learn(scores(found, kernel, rows), rows, kernel),
    }
    far = np.concatenate([1e3 * scores(found, kernel, rows[:2]), scores(found, kernel, rows[:2] + 1e3)])
    for starts in (None, rows[[0, 1, 0, 1]] + 1e3):
        back = find_preimages(Projector.of(found, kernel), far, ways[way], starts)
        assert not back.near.any()
        nearest = np.linalg.norm(back.rows[:, None] - rows, axis=2).min(axis=1)
        assert (nearest < 1.0).all()  # among the data, which lie about 5: no zeros
        best = Projector.of(found, kernel).projections(far)
        assert (back.distance <= best.distances(rows[best.nearest]) + 1e-9).all()


def test_long_projections_are_flagged_whatever_the_kernel() -> None:
    kernel, rows = Polynomial(0.1, 1.0, 3), curved(40)
    found = dense_axes(kernel, rows, 3)
    ridge = Ridge.learn(scores(found, kernel, rows), rows, kernel, alpha=1e-3)
    back = find_preimages(Projector.of(found, kernel), np.full((1, 3), 1e6), ridge)
    assert np.isfinite(back.rows).all()
    assert not back.near.any()


@pytest.mark.parametrize("kernel", [Gaussian(1.0), Polynomial(0.1, 1.0, 3)], ids=repr)
def test_scores_beyond_all_measure_are_answered_and_flagged(kernel: Kernel) -> None:
    rows = curved(40)
    found = dense_axes(kernel, rows, 3)
    ways: list[Way] = [Ridge.learn(scores(found, kernel, rows), rows, kernel, alpha=1e-3)]
    ways += [FixedPoint(), Distances()] if isinstance(kernel, Gaussian) else []
    for way in ways:
        back = find_preimages(Projector.of(found, kernel), np.array([[1e200, 0.0, 0.0], [0.0, -1e120, 1e80]]), way)
        assert np.isfinite(back.rows).all()
        assert not back.near.any()


def test_nothing_is_answered_by_a_training_row() -> None:
    """Without centring, scores of zero stand for no features at all."""
    rows = curved(30)
    found = dense_axes(GAUSSIAN, rows, 10, centred=False)
    for way in (FixedPoint(), Distances()):
        back = find_preimages(Projector.of(found, GAUSSIAN), np.zeros((1, 10)), way)
        assert (back.rows == rows).all(axis=1).any()
        assert not back.near.any()


# Learnt pre-images


@pytest.mark.parametrize("alpha", [1e-3, 1.0])
def test_ridge_is_scikit_learns_plus_the_mean(alpha: float) -> None:
    rows, new = curved(50), curved(8, 1)
    theirs = KernelPCA(3, kernel="rbf", gamma=0.15, alpha=alpha, fit_inverse_transform=True).fit(rows)
    middle = rows.mean(axis=0)
    centred = KernelPCA(3, kernel="rbf", gamma=0.15, alpha=alpha, fit_inverse_transform=True).fit(rows - middle)
    kernel = Gaussian(0.15)
    found = dense_axes(kernel, rows, 3)
    flips = np.sign((scores(found, kernel, rows) * theirs.transform(rows)).sum(axis=0))
    ridge = Ridge.learn(flips * scores(found, kernel, rows), rows, kernel, alpha)
    np.testing.assert_allclose(ridge.dual, centred.dual_coef_, atol=1e-8 / alpha)  # (K + alpha I)⁻¹ of rounding
    _, projections = found_for(kernel, rows, 3, new)
    flipped = Projections(
        flips * projections.scores,
        projections.weights,
        projections.squared_length,
        rows,
        kernel,
        projections.candidates,
    )
    expected = centred.inverse_transform(centred.transform(new - middle)) + middle
    np.testing.assert_allclose(ridge.rows(flipped), expected, atol=1e-8 / alpha)


@pytest.mark.parametrize("kernel", [Polynomial(0.05, 1.0, 2), Laplacian(0.1), GAUSSIAN, Linear()], ids=repr)
def test_ridge_learns_any_kernel(kernel: Kernel) -> None:
    rows, new = curved(80, noise=0.0), curved(20, 1, noise=0.0)
    found = dense_axes(kernel, rows, 6)
    ridge = Ridge.learn(scores(found, kernel, rows), rows, kernel, alpha=1e-6)
    back = denoised(found, kernel, new, ridge)
    assert ((back.rows - new) ** 2).mean() < 0.02 * new.var()


def test_ridge_without_a_penalty_goes_through_repeated_rows_and_kernels_that_are_not_positive() -> None:
    rows = np.repeat(curved(10), 2, axis=0)
    for kernel in (GAUSSIAN, Sigmoid(0.01, 0.0)):
        found = dense_axes(kernel, rows, 3)
        ridge = Ridge.learn(scores(found, kernel, rows), rows, kernel, alpha=0.0)
        assert np.isfinite(ridge.dual).all()


def test_ridge_refuses_a_negative_penalty() -> None:
    with pytest.raises(BadParameter, match=r"alpha=-1.*must be a number not below 0"):
        Ridge.learn(np.zeros((2, 1)), np.zeros((2, 3)), Linear(), alpha=-1)


# Shapes and sizes


@pytest.mark.parametrize("way", [FixedPoint(), Distances()], ids=repr)
def test_one_training_row_is_the_answer_to_everything(way: Way) -> None:
    row = np.array([[3.0, 4.0]])
    found = KernelAxes(np.zeros(0), row, None, np.zeros((1, 0)), np.zeros(0), np.ones(1), 1.0, 0.0, 0.0, 1)
    back = find_preimages(Projector.of(found, Gaussian(1.0)), np.zeros((2, 0)), way, np.array([[9.0, 9.0], [3.0, 4.0]]))
    np.testing.assert_allclose(back.rows, np.repeat(row, 2, axis=0))
    assert back.near.all()


@pytest.mark.parametrize("way", [FixedPoint(), Distances()], ids=repr)
def test_repeated_rows_change_nothing_but_their_weight(way: Way) -> None:
    rows = np.repeat(curved(15), 4, axis=0)
    back = denoised(dense_axes(GAUSSIAN, rows, 60), GAUSSIAN, rows, way)
    np.testing.assert_allclose(back.rows, rows, atol=1e-6 if isinstance(way, FixedPoint) else 1e-3)
    same = np.ones((20, 3))
    found = KernelAxes(np.zeros(0), same, None, np.zeros((20, 0)), np.zeros(0), np.full(20, 0.05), 2.0, 0.0, 0.0, 20)
    np.testing.assert_allclose(find_preimages(Projector.of(found, GAUSSIAN), np.zeros((1, 0)), way).rows, same[:1])


def test_single_and_no_rows() -> None:
    rows = curved(30)
    found = dense_axes(GAUSSIAN, rows, 3)
    together = denoised(found, GAUSSIAN, rows[:4], FixedPoint())
    alone = denoised(found, GAUSSIAN, rows[2:3], FixedPoint())
    np.testing.assert_allclose(alone.rows[0], together.rows[2], atol=1e-6)  # stops at 1e-6 of the spread
    assert find_preimages(Projector.of(found, GAUSSIAN), np.zeros((0, 3)), FixedPoint()).rows.shape == (0, 3)


def test_pieces_make_no_difference_and_bound_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, new = curved(200), curved(2000, 1)
    found = dense_axes(GAUSSIAN, rows, 5)
    projector, beta = Projector.of(found, GAUSSIAN), scores(found, GAUSSIAN, new)
    whole = find_preimages(projector, beta, FixedPoint(), new)
    monkeypatch.setattr(projections_module, "PIECE_ENTRIES", 10_000)
    tracemalloc.start()
    pieces = find_preimages(projector, beta, FixedPoint(), new)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_allclose(pieces.rows, whole.rows, atol=1e-9)
    assert peak < 2_000_000  # whole (m, N) matrices are 3.2 MB each; pieces of 0.08 MB, and the answer of 0.05 MB


def test_large_offsets_keep_their_digits() -> None:
    rows, new = curved(50), curved(5, 1)
    near, far = (
        denoised(dense_axes(GAUSSIAN, rows + offset, 4), GAUSSIAN, new + offset, FixedPoint(), new + offset).rows
        for offset in (0.0, 1e6)
    )
    np.testing.assert_allclose(far - 1e6, near, atol=1e-6)  # tol of the climb; eps · 1e6 is 2e-10


def test_ways_refuse_kernels_that_they_do_not_know() -> None:
    rows = curved(20)
    kernel = Polynomial(1.0, 1.0, 2)
    projector, projections = found_for(kernel, rows, 2, rows[:2])
    with pytest.raises(BadParameter, match="needs a Gaussian kernel, but the kernel is Polynomial"):
        find_preimages(projector, projections.scores, FixedPoint())
    with pytest.raises(BadParameter, match="linear and cosine kernels only, but the kernel is Polynomial"):
        find_preimages(projector, projections.scores, Exact())


def test_each_kernel_has_its_usual_way() -> None:
    assert choose_way(Linear()) == choose_way(Cosine()) == Exact()
    assert choose_way(GAUSSIAN) == FixedPoint()
    assert choose_way(Laplacian(1.0)) is None
