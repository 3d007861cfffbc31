"""Adversarial matrices, their decomposition in extended precision, and what a certificate must say of them.

The truth is a one-sided Jacobi decomposition in `numpy.longdouble` (64 bits on x86-64, 113 elsewhere), for many
matrices of one shape at a time (Demmel & Veselić 1992: it keeps the digits of small singular values).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.special

EXTENDED = np.longdouble
EXACT = float(np.finfo(EXTENDED).eps)
SHAPES = ((30, 12), (12, 30), (40, 5), (9, 9), (150, 7))
DTYPES = ("float64", "float64", "float32", "float16", "int64")
SOLVERS = ("auto", "full", "covariance_eigh", "arpack", "gram", "tsqr")
VARIANTS = ("plain", "plain", "plain", "weights", "scale", "sparse", "batches", "blocks", "uncentered", "column_weight")

Matrix = np.ndarray[Any, Any]
Family = Callable[[np.random.Generator, int, int], Matrix]
FAMILIES: dict[str, Family] = {}


@dataclass(frozen=True)
class Case:
    """One matrix and one way to fit it."""

    family: str
    seed: int
    X: Matrix
    k: int
    solver: str
    variant: str
    weight: Matrix | None = None
    column_weight: Matrix | None = None

    def __str__(self) -> str:
        n, p = self.X.shape
        return f"{self.family} seed {self.seed}, {n} × {p} {self.X.dtype}, k={self.k}, {self.solver}, {self.variant}"


@dataclass(frozen=True)
class Truth:
    """Variances and axes to more digits than float64 has."""

    variances: Matrix
    axes: Matrix
    total: Any
    slack: Any = field(default=0.0)
    """What the truth itself may be wrong by."""


# -- families ------------------------------------------------------------------------------------------------------


def family(make: Family) -> Family:
    FAMILIES[make.__name__] = make
    return make


def with_spectrum(rng: np.random.Generator, n: int, p: int, sizes: Matrix) -> Matrix:
    """Rows of mean (nearly) zero with these singular values."""
    r = min(len(sizes), n - 1, p)
    U = np.linalg.qr(np.column_stack([np.ones(n), rng.standard_normal((n, r))]))[0][:, 1:]
    V = np.linalg.qr(rng.standard_normal((p, r)))[0]
    return np.asarray((U * sizes[:r]) @ V.T)


def _sizes(n: int, p: int) -> int:
    return min(n - 1, p)


@family
def normal(rng, n, p):
    return rng.standard_normal((n, p))


@family
def two_tied(rng, n, p):
    return with_spectrum(rng, n, p, np.r_[1, 1, np.linspace(0.7, 0.1, _sizes(n, p) - 2)])


@family
def two_nearly_tied(rng, n, p):
    gap = 10.0 ** -rng.integers(2, 15)
    return with_spectrum(rng, n, p, np.r_[1, 1 - gap, np.linspace(0.7, 0.1, _sizes(n, p) - 2)])


@family
def four_nearly_tied(rng, n, p):
    gap = 10.0 ** -rng.integers(3, 15)
    return with_spectrum(rng, n, p, np.r_[1 - gap * np.arange(4), np.linspace(0.7, 0.1, max(0, _sizes(n, p) - 4))])


@family
def flat(rng, n, p):
    return with_spectrum(rng, n, p, np.ones(_sizes(n, p)))


@family
def nearly_flat(rng, n, p):
    return with_spectrum(rng, n, p, 1 + 10.0 ** -rng.integers(3, 14) * rng.standard_normal(_sizes(n, p)))


@family
def clusters(rng, n, p):
    r = _sizes(n, p)
    return with_spectrum(rng, n, p, 0.5 ** (np.arange(r) // 3) * (1 + 1e-7 * rng.standard_normal(r)))


@family
def tight_clusters(rng, n, p):
    r = _sizes(n, p)
    return with_spectrum(rng, n, p, 0.1 ** (np.arange(r) // 3) * (1 + 1e-12 * rng.standard_normal(r)))


@family
def graded_to_1e4(rng, n, p):
    return with_spectrum(rng, n, p, np.geomspace(1, 1e-4, _sizes(n, p)))


@family
def graded_to_1e8(rng, n, p):
    return with_spectrum(rng, n, p, np.geomspace(1, 1e-8, _sizes(n, p)))


@family
def graded_to_1e12(rng, n, p):
    return with_spectrum(rng, n, p, np.geomspace(1, 1e-12, _sizes(n, p)))


@family
def graded_to_1e15(rng, n, p):
    return with_spectrum(rng, n, p, np.geomspace(1, 1e-15, _sizes(n, p)))


@family
def one_tiny(rng, n, p):
    return with_spectrum(rng, n, p, np.r_[np.ones(_sizes(n, p) - 1), 10.0 ** -rng.integers(4, 16)])


@family
def one_large(rng, n, p):
    return with_spectrum(rng, n, p, np.r_[10.0 ** rng.integers(4, 12), np.linspace(1, 0.5, _sizes(n, p) - 1)])


@family
def graded_columns(rng, n, p):
    return rng.standard_normal((n, p)) * np.geomspace(1, 10.0 ** -rng.integers(3, 12), p)


@family
def graded_rows(rng, n, p):
    return rng.standard_normal((n, p)) * np.geomspace(1, 10.0 ** -rng.integers(3, 12), n)[:, None]


@family
def graded_both(rng, n, p):
    X = rng.standard_normal((n, p)) * np.geomspace(1, 1e-6, n)[:, None] * np.geomspace(1e-6, 1, p)
    return X + 1e-9 * rng.standard_normal((n, p))


@family
def low_rank(rng, n, p):
    r = int(rng.integers(1, _sizes(n, p)))
    return rng.standard_normal((n, r)) @ rng.standard_normal((r, p))


@family
def low_rank_and_noise(rng, n, p):
    return low_rank(rng, n, p) + 10.0 ** -rng.integers(6, 14) * rng.standard_normal((n, p))


@family
def huge_row(rng, n, p):
    X = rng.standard_normal((n, p))
    X[rng.integers(n)] *= 10.0 ** rng.integers(3, 13)
    return X


@family
def two_huge_rows(rng, n, p):
    X = rng.standard_normal((n, p))
    big = 10.0 ** rng.integers(3, 13) * rng.standard_normal(p)
    X[0], X[-1] = big, -big + rng.standard_normal(p)
    return X


@family
def huge_column(rng, n, p):
    X = rng.standard_normal((n, p))
    X[:, rng.integers(p)] *= 10.0 ** rng.integers(3, 13)
    return X


@family
def huge_entry(rng, n, p):
    X = rng.standard_normal((n, p))
    X[rng.integers(n), rng.integers(p)] = 10.0 ** rng.integers(3, 14)
    return X


@family
def arrow(rng, n, p):
    X = np.zeros((n, p))
    X[np.arange(min(n, p)), np.arange(min(n, p))] = rng.standard_normal(min(n, p)) * 10.0 ** rng.uniform(-6, 0)
    X[0] = rng.standard_normal(p)
    X[:, 0] = rng.standard_normal(n)
    return X


@family
def lauchli(rng, n, p):
    X = np.zeros((n, p))
    X[0] = 1
    tiny = 10.0 ** -rng.integers(3, 14)
    X[1 + np.arange(min(n - 1, p)), np.arange(min(n - 1, p))] = tiny
    return X


@family
def kahan(rng, n, p):
    s = rng.uniform(0.3, 0.9)
    r = min(n, p)
    R = np.zeros((n, p))
    R[:r] = np.triu(np.where(np.eye(r, p, dtype=bool), 1.0, -np.sqrt(1 - s * s)))
    R[:r] *= (s ** np.arange(r))[:, None]
    return R


@family
def hilbert(rng, n, p):
    start = int(rng.integers(1, 6))
    return 1.0 / (start + np.add.outer(np.arange(n), np.arange(p)))


@family
def vandermonde(rng, n, p):
    return np.vander(np.sort(rng.uniform(-1.2, 1.2, n)), p)


@family
def binomials(rng, n, p):
    return scipy.special.comb(np.add.outer(np.arange(n), np.arange(p)), np.arange(p))


@family
def wilkinson(rng, n, p):
    r = min(n, p)
    W = np.diag(np.abs(np.arange(r) - (r - 1) / 2)) + np.eye(r, k=1) + np.eye(r, k=-1)
    X = np.zeros((n, p))
    X[:r, :r] = W
    return X


@family
def hadamard(rng, n, p):
    H = scipy.linalg.hadamard(1 << int(np.ceil(np.log2(max(n, p)))))
    return H[:n, rng.permutation(H.shape[1])[:p]].astype(float)


@family
def circulant(rng, n, p):
    r = max(n, p)
    return scipy.linalg.circulant(rng.integers(-4, 5, r).astype(float))[:n, :p]


@family
def equal_blocks(rng, n, p):
    B = rng.integers(-3, 4, (max(1, n // 3), max(1, p // 3))).astype(float)
    X = np.zeros((n, p))
    X[: 3 * len(B), : 3 * B.shape[1]] = np.kron(np.eye(3), B)
    return X


@family
def binary(rng, n, p):
    return (rng.random((n, p)) < rng.uniform(0.1, 0.9)).astype(float)


@family
def binary_thirds(rng, n, p):
    return binary(rng, n, p) / 3 + rng.integers(0, 4)


@family
def tenths(rng, n, p):
    return rng.integers(0, 11, (n, p)) / 10 + 5


@family
def sevenths_in_order(rng, n, p):
    return np.sort(rng.integers(0, 17, (n, p)) / 7, axis=0)


@family
def counts(rng, n, p):
    return rng.poisson(rng.uniform(0.2, 20), (n, p)).astype(float)


@family
def constant_columns(rng, n, p):
    X = rng.standard_normal((n, p))
    X[:, : max(1, p // 3)] = rng.choice([0.1, 1 / 3, 290.15, 1e8 / 7, -1e-9], max(1, p // 3))
    return X


@family
def all_constant(rng, n, p):
    return np.tile(rng.choice([0.0, 0.1, 1 / 3, 1e8 / 7], p), (n, 1))


@family
def last_digits(rng, n, p):
    X = np.full((n, p), rng.choice([0.1, 1 / 3, 290.15, 1e8 / 7]))
    moved = rng.random((n, p)) < 0.3
    X[moved] = np.nextafter(X[moved], np.inf)
    return X


@family
def last_digits_beside(rng, n, p):
    X = rng.standard_normal((n, p))
    X[:, : p // 2] = last_digits(rng, n, p // 2)
    return X


@family
def duplicates(rng, n, p):
    X = rng.standard_normal((n, p))
    X[:, p // 2 : 2 * (p // 2)] = X[:, : p // 2]
    return X


@family
def near_duplicates(rng, n, p):
    X = rng.standard_normal((n, p))
    half = p // 2
    X[:, half : 2 * half] = X[:, :half] + 10.0 ** -rng.integers(6, 12) * rng.standard_normal((n, half))
    return X + rng.choice([0.0, 1e3, 1e7])


@family
def offset(rng, n, p):
    return rng.standard_normal((n, p)) + 10.0 ** rng.integers(1, 15)


@family
def offsets(rng, n, p):
    return rng.standard_normal((n, p)) + 10.0 ** rng.integers(-2, 15, p) * rng.choice([-1, 1], p)


@family
def graded_offset(rng, n, p):
    return with_spectrum(rng, n, p, np.geomspace(1, 10.0 ** -rng.integers(3, 11), _sizes(n, p))) + 10.0 ** rng.integers(
        1, 9
    )


@family
def tied_offset(rng, n, p):
    return two_nearly_tied(rng, n, p) + 10.0 ** rng.integers(1, 12)


@family
def kelvin(rng, n, p):
    return 290 + rng.standard_normal((n, p))


@family
def two_groups(rng, n, p):
    return rng.standard_normal((n, p)) * 1e-6 + np.where(np.arange(n) < n // 2, -1.0, 1.0)[
        :, None
    ] * 10.0 ** rng.integers(0, 9)


@family
def far_first_row(rng, n, p):
    X = rng.standard_normal((n, p))
    X[0] += 10.0 ** rng.integers(3, 14)
    return X


@family
def mixed_magnitudes(rng, n, p):
    return rng.standard_normal((n, p)) * 10.0 ** rng.uniform(-8, 8, (n, p))


@family
def cauchy(rng, n, p):
    return rng.standard_cauchy((n, p))


@family
def mostly_zero(rng, n, p):
    return rng.standard_normal((n, p)) * (rng.random((n, p)) < 0.15)


@family
def autoregressive(rng, n, p):
    X = rng.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] += 0.95 * X[:, j - 1]
    return X


@family
def alternating(rng, n, p):
    return np.where(np.add.outer(np.arange(n), np.arange(p)) % 2, 1.0, -1.0) + 1e-9 * rng.standard_normal((n, p))


@family
def tiny_values(rng, n, p):
    return rng.standard_normal((n, p)) * 10.0 ** -rng.integers(60, 160)


@family
def subnormal(rng, n, p):
    return rng.standard_normal((n, p)) * 10.0 ** -rng.integers(290, 312)


@family
def huge_values(rng, n, p):
    return rng.standard_normal((n, p)) * 10.0 ** rng.integers(60, 150)


@family
def one_row_apart(rng, n, p):
    X = np.zeros((n, p))
    X[rng.integers(n)] = rng.standard_normal(p)
    return X + rng.choice([0.0, 1 / 3, 1e6 / 7])


# -- cases ---------------------------------------------------------------------------------------------------------


def cast(X: Matrix, dtype: str) -> Matrix:
    """The same numbers in another type, scaled to fit where they would leave its range."""
    if dtype == "float64":
        return X
    largest = float(np.abs(X).max())
    if dtype == "int64":
        return np.rint(X / largest * 1000 if largest > 0 else X).astype(np.int64)
    limit = float(np.finfo(dtype).max) / 16
    if largest > limit or 0 < largest < 1e-3:
        X = X / largest
    return X.astype(dtype)


def cases(count: int, first: int = 0) -> Iterator[Case]:
    """`count` cases, every family, type, solver and variant among them; the same ones every time."""
    names = list(FAMILIES)
    for seed in range(first, first + count):
        rng = np.random.default_rng([20261118, seed])
        name = names[seed % len(names)]
        n, p = SHAPES[int(rng.integers(len(SHAPES)))]
        X = cast(FAMILIES[name](rng, n, p), DTYPES[int(rng.integers(len(DTYPES)))])
        variant = VARIANTS[int(rng.integers(len(VARIANTS)))]
        solver = SOLVERS[int(rng.integers(len(SOLVERS)))]
        if variant in ("batches", "blocks"):
            solver = "auto"
        weight = rng.integers(1, 5, n) / 4 + (rng.random() < 0.5) if variant == "weights" else None
        column_weight = rng.integers(1, 9, p) / 4.0 if variant == "column_weight" else None
        k = int(rng.integers(1, min(n, p) + 1))
        yield Case(name, seed, X, k, solver, variant, weight, column_weight)


# -- truth ---------------------------------------------------------------------------------------------------------


def prepared(case: Case) -> tuple[Matrix, Any, Any]:
    """√w (X − mean) · gain in extended precision, the sum of weights less one, and what the variances' unit is.

    Values are brought near one by a power of two first, and rows are taken about the first one before their mean is
    taken off: the difference of two float64 is a pair of them, exactly.
    """
    X = case.X.astype(EXTENDED)  # exact: an integer here has ten bits, a float at most 53
    largest = np.abs(X).max()
    power = EXTENDED(2) ** (-np.frexp(largest)[1] if largest > 0 else 0)
    X = X * power
    w = np.ones(len(X), dtype=EXTENDED) if case.weight is None else case.weight.astype(EXTENDED)
    if case.variant == "uncentered":
        Y = X
    else:
        apart, rest = _difference(X, X[:1])
        mean = (w @ apart + w @ rest) / w.sum()
        Y = (apart - mean) + rest
    if case.variant == "scale":
        deviation = np.sqrt((w @ (Y * Y)) / (w.sum() - 1))
        Y = Y / np.where(deviation > 0, deviation, 1)
        power = EXTENDED(1)
    if case.column_weight is not None:
        Y = Y * np.sqrt(case.column_weight.astype(EXTENDED))
    return np.sqrt(w)[:, None] * Y, w.sum() - 1, power


def _difference(X: Matrix, Y: Matrix) -> tuple[Matrix, Matrix]:
    """X − Y as a pair of numbers, exactly (Knuth's two-sum)."""
    total = X - Y
    part = total - X
    return total, (X - (total - part)) + (-Y - part)


def truths(known: list[Case]) -> list[Truth]:
    """The decomposition of each case, many at a time."""
    found: list[Truth | None] = [None] * len(known)
    for shape in SHAPES:
        places = [i for i, case in enumerate(known) if case.X.shape == shape]
        for part in (places[i : i + 250] for i in range(0, len(places), 250)):
            ready = [prepared(known[i]) for i in part]
            sizes, axes = jacobi(np.stack([Y for Y, _, _ in ready]))
            for i, (Y, denominator, power), s, V in zip(part, ready, sizes, axes, strict=True):
                variances = (s / power) ** 2 / denominator
                total = ((Y / power) ** 2).sum() / denominator
                # of Jacobi's rotations and of the centring: a few hundred units of its own last place
                found[i] = Truth(variances, V, total, 400 * EXACT)
    return [truth for truth in found if truth is not None]


def jacobi(Y: Matrix) -> tuple[Matrix, Matrix]:
    """Singular values (m, r), descending, and right vectors in rows (m, r, p) of a stack (m, n, p)."""
    m, n, p = Y.shape
    A = Y.copy() if n >= p else Y.transpose(0, 2, 1).copy()
    r = A.shape[2]
    W = np.broadcast_to(np.eye(r, dtype=EXTENDED), (m, r, r)).copy()
    for _ in range(60):
        worst = 0.0
        for i in range(r - 1):
            for j in range(i + 1, r):
                a, b = A[:, :, i], A[:, :, j]
                alpha, beta, gamma = (a * a).sum(1), (b * b).sum(1), (a * b).sum(1)
                size = np.sqrt(alpha * beta)
                turn = (np.abs(gamma) > EXACT * size) & (size > 0)
                if not turn.any():
                    continue
                worst = max(worst, float((np.abs(gamma[turn]) / size[turn]).max()))
                zeta = np.where(turn, (beta - alpha) / np.where(turn, 2 * gamma, 1), 0)
                t = np.where(turn, np.where(zeta >= 0, 1, -1) / (np.abs(zeta) + np.sqrt(1 + zeta * zeta)), 0)
                c = 1 / np.sqrt(1 + t * t)
                s = c * t
                for M in (A, W):
                    one, two = M[:, :, i].copy(), M[:, :, j].copy()
                    M[:, :, i] = c[:, None] * one - s[:, None] * two
                    M[:, :, j] = s[:, None] * one + c[:, None] * two
        if worst < 1e3 * EXACT:
            break
    sizes = np.sqrt((A * A).sum(1))
    order = np.argsort(-sizes, axis=1)
    sizes = np.take_along_axis(sizes, order, 1)
    if n >= p:
        vectors = np.take_along_axis(W, order[:, None, :], 2)
    else:
        lengths = np.sqrt((A * A).sum(1))
        unit = A / np.where(lengths > 0, lengths, 1)[:, None, :]
        vectors = np.take_along_axis(unit, order[:, None, :], 2)
    return sizes, vectors.transpose(0, 2, 1)


# -- what a certificate must say -----------------------------------------------------------------------------------


def fitted(case: Case) -> Any:
    """The model of a case."""
    import lowdim

    settings: dict[str, Any] = {"svd_solver": case.solver}
    if case.variant == "scale":
        settings["scale"] = True
    if case.variant == "uncentered":
        settings["center"] = False
    if case.variant == "column_weight":
        settings["column_weight"] = case.column_weight
    model = lowdim.PCA(case.k, **settings)
    X: Any = case.X
    if case.variant == "batches":
        for rows in np.array_split(X, 3):
            model.partial_fit(rows)
        return model
    if case.variant == "blocks":
        return model.fit(iter(np.array_split(X, 4)))
    if case.variant == "sparse":
        X = scipy.sparse.csr_array(X if X.dtype != np.float16 else X.astype(np.float32))
    return model.fit(X, sample_weight=case.weight)


def broken_promises(case: Case, model: Any, truth: Truth) -> list[str]:
    """What the certificate says that is not so; empty for a certificate that holds."""
    certificate = model.certificate_
    k, false = case.k, []
    values = truth.variances[:k]
    slack = truth.slack * np.sqrt(values * truth.variances[0])
    for i in range(k):
        if not certificate.lower[i] - slack[i] <= values[i] <= certificate.upper[i] + slack[i]:
            half = (certificate.upper[i] - certificate.lower[i]) / 2
            off = abs(float(values[i] - model.explained_variance_[i]))
            false.append(f"variance {i + 1} is {float(values[i]):.17g}: off by {off:.2e}, allowed {half:.2e}")
    V = model.components_.astype(EXTENDED)
    for i in np.flatnonzero(certificate.angles < 1.57):
        if (sine := _sine(V[i : i + 1], truth.axes[i : i + 1])) > np.sin(certificate.angles[i]):
            false += [f"axis {i + 1} is off by {sine:.2e}, allowed {certificate.angles[i]:.2e}"]
    real = k - len(certificate.null)
    sine = _sine(V[:real], truth.axes[:real]) if real else 0.0
    if certificate.subspace_angle < 1.57 and sine > np.sin(certificate.subspace_angle) + truth.slack:
        false.append(f"the span is off by {sine:.2e}, allowed {certificate.subspace_angle:.2e}")
    if truth.total > 0:
        share = float(values.sum() / truth.total)
        if not certificate.captured[0] - 1e-18 <= share <= certificate.captured[1] + 1e-18:
            false.append(f"the share is {share:.17g}, not in {certificate.captured}")
    return false


def _sine(V: Matrix, W: Matrix) -> float:
    """Sine of the largest angle between the spans of orthonormal rows; the rounding of V itself does not count."""
    V = np.stack([v / np.sqrt((v * v).sum()) for v in V])
    apart = V - (V @ W.T) @ W
    return float(np.linalg.norm(apart.astype(float), 2))
