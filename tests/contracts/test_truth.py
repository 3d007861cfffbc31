"""The answers that everything is held against are right themselves."""

import mpmath
import numpy as np
import pytest

from catalogue import EPS, LONG, LONG_EPS, MATRICES, Case, jacobi, plain, truth
from catalogue import case as named


@pytest.mark.parametrize("case", MATRICES, ids=str)
def test_extended_and_plain_route_agree(case: Case) -> None:
    right = truth(case.name)
    values, _ = plain(case.dense.astype(float) if case.dense.dtype == LONG else case.dense)
    # LAPACK: a singular value errs by a small multiple of eps σ₁, so a variance by 2 σ eps σ₁ + (eps σ₁)²; the mean
    # is rounded once more in the plain route
    first = float(right.values[0])
    allowed = 32 * EPS * np.sqrt(right.values.astype(float)) * np.sqrt(first) + (32 * EPS) ** 2 * first + right.blur
    assert (np.abs(values - right.values) <= allowed).all()


@pytest.mark.parametrize("case", MATRICES, ids=str)
def test_factors_give_the_matrix_back(case: Case) -> None:
    A = case.dense.astype(LONG)
    A = A / max(float(np.abs(A).max()), 1e-300)
    Y = A - A.mean(axis=0)
    sizes, vectors = jacobi(Y)
    real = sizes > 1e-9 * sizes[0]  # what is left out by this is allowed for below
    V = vectors[real]
    # rounding of the higher precision; for n < p the axes are Yᵀ U / σ, whose error is up to 1e9 times larger
    growth = float(sizes[0] / sizes[real][-1]) if real.any() and Y.shape[0] < Y.shape[1] else 1.0
    assert np.abs(V @ V.T - np.eye(len(V))).max(initial=0) <= 1e3 * LONG_EPS * growth
    left = float(sizes[~real].max(initial=0))
    assert float(np.abs(Y - (Y @ V.T) @ V).max()) <= left + 1e3 * LONG_EPS * growth * float(sizes[0])


@pytest.mark.parametrize("name", ["two by two", "Hilbert", "graded to 1e-12", "rank one", "graded wide"])
def test_extended_precision_agrees_with_50_digits(name: str) -> None:
    X = named(name).dense
    with mpmath.workdps(50):
        A = mpmath.matrix(X.tolist())
        n, p = X.shape
        for j in range(p):
            mean = mpmath.fsum(A[i, j] for i in range(n)) / n
            for i in range(n):
                A[i, j] -= mean
        gram = A.T * A if p <= n else A * A.T  # squaring costs 24 of the 50 digits
        values = sorted(mpmath.eigsy(gram, eigvals_only=True), reverse=True)
        exact = np.array([LONG(mpmath.nstr(value / (n - 1), 25)) for value in values])
    right = truth(name)
    assert (np.abs(right.values - exact) <= right.unsure + LONG(1e-45)).all()
