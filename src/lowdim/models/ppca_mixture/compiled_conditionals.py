"""Compiled: what the observed entries of a row say about its hidden ones, if rows are Gaussian with a known covariance.

Two ways lead there. Few observed entries O: through the Cholesky factor L of cov[O, O], with B = L⁻¹ cov[O, :], the
mean is mean + Bᵀ L⁻¹ (x − mean)[O] and the covariance cov − Bᵀ B. Few hidden entries H: through the precision P, whose
block P[H, H] is the precision of what is hidden. Each row goes the way of its smaller system (Anderson, "An
introduction to multivariate statistical analysis", section 2.5). Imported only where it is used.
"""

from __future__ import annotations

import numba
import numpy as np

from lowdim.types import Floats, Indices

ANY_ORDER = {"reassoc", "contract", "nsz"}
"""Sums may be taken in the order that vector units like; NaN must stay what they are."""

LEAST_PIVOT = 1e-14
"""Share of a diagonal entry below which a pivot of Cholesky is rounding alone."""


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def likelihoods(X: Floats, mean: Floats, cov: Floats, precision: Floats, logdet: float, loglik: Floats) -> None:
    """Log density (n,) of the observed entries of rows (n, p); NaN is hidden."""
    n, p = X.shape
    seen, hidden = np.empty(p, np.int64), np.empty(p, np.int64)
    L, v, apart = np.empty((p, p)), np.empty(p), np.empty(p)
    for i in range(n):
        m = split(X[i], seen, hidden)
        if 2 * m <= p:
            loglik[i] = _solve_seen(X[i], mean, cov, seen, m, L, v)
        else:
            loglik[i] = _solve_hidden(X[i], mean, precision, logdet, hidden, p - m, L, v, apart)


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def expectations(
    X: Floats,
    mean: Floats,
    cov: Floats,
    precision: Floats,
    logdet: float,
    weight: Floats,
    loglik: Floats,
    means: Floats,
    variances: Floats,
    spread: Floats,
) -> None:
    """Log densities (n,), means (n, p) and variances (n, p) of rows given what was observed of them.

    spread += Σ weight_i cov(row i | observed), where it is (p, p); an empty one spares the work.
    """
    n, p = X.shape
    seen, hidden = np.empty(p, np.int64), np.empty(p, np.int64)
    L, B, v, apart = np.empty((p, p)), np.empty((p, p)), np.empty(p), np.empty(p)
    whole = 0.0
    for i in range(n):
        m = split(X[i], seen, hidden)
        if 2 * m <= p:
            loglik[i] = expect_from_seen(X[i], mean, cov, seen, m, L, B, v, means[i], variances[i])
            if len(spread):
                whole += weight[i]
                C = np.sqrt(weight[i]) * B[:m]
                spread -= C.T @ C
        else:
            u = p - m
            loglik[i] = expect_hidden(X[i], mean, precision, logdet, hidden, u, L, B, v, apart, means[i], variances[i])
            if len(spread):
                _add_inverse(B, u, hidden, weight[i], spread)
    if len(spread):
        spread += whole * cov


@numba.njit(nogil=True, cache=True)
def split(x: Floats, seen: Indices, hidden: Indices) -> int:
    """Places of the observed and of the hidden entries of a row; gives how many were observed."""
    m = u = 0
    for j in range(len(x)):
        if np.isfinite(x[j]):
            seen[m] = j
            m += 1
        else:
            hidden[u] = j
            u += 1
    return m


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def expect_from_seen(
    x: Floats,
    mean: Floats,
    cov: Floats,
    seen: Indices,
    m: int,
    L: Floats,
    B: Floats,
    v: Floats,
    mu: Floats,
    var: Floats,
) -> float:
    """Mean (p,) and variance (p,) of a row with m observed entries; leaves B = L⁻¹ cov[O, :] in its first rows."""
    p = len(x)
    loglik = _solve_seen(x, mean, cov, seen, m, L, v)
    for j in range(p):
        mu[j] = mean[j]
        var[j] = cov[j, j]
    for i in range(m):
        b, row = B[i], cov[seen[i]]
        for j in range(p):
            b[j] = row[j]
        for q in range(i):
            factor, other = L[i, q], B[q]
            for j in range(p):
                b[j] -= factor * other[j]
        factor, value = 1.0 / L[i, i], v[i]
        for j in range(p):
            b[j] *= factor
            mu[j] += value * b[j]
            var[j] -= b[j] * b[j]
    for i in range(m):  # exactly, whatever rounding has left
        mu[seen[i]], var[seen[i]] = x[seen[i]], 0.0
    for j in range(p):
        var[j] = max(var[j], 0.0)
    return loglik


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def expect_hidden(
    x: Floats,
    mean: Floats,
    precision: Floats,
    logdet: float,
    hidden: Indices,
    u: int,
    L: Floats,
    B: Floats,
    v: Floats,
    apart: Floats,
    mu: Floats,
    var: Floats,
) -> float:
    """Mean (p,) and variance (p,) of a row with u hidden entries; leaves L⁻¹ of their precision in B."""
    loglik = _solve_hidden(x, mean, precision, logdet, hidden, u, L, v, apart)
    for j in range(len(x)):
        mu[j] = mean[j] + apart[j]
        var[j] = 0.0
    for c in range(u):
        B[c, c] = 1.0 / L[c, c]
        for i in range(c + 1, u):
            total = 0.0
            for q in range(c, i):
                total -= L[i, q] * B[q, c]
            B[i, c] = total / L[i, i]
    for c in range(u):
        total = 0.0
        for i in range(c, u):
            total += B[i, c] * B[i, c]
        var[hidden[c]] = total
    return loglik


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def _solve_seen(x: Floats, mean: Floats, cov: Floats, seen: Indices, m: int, L: Floats, v: Floats) -> float:
    """L of cov[O, O], v = L⁻¹ (x − mean)[O], and the log density of x[O]."""
    for i in range(m):
        row = cov[seen[i]]
        for j in range(i + 1):
            L[i, j] = row[seen[j]]
        v[i] = x[seen[i]] - mean[seen[i]]
    logdet = _cholesky(L, m)
    square = _forward(L, m, v)
    loglik: float = -0.5 * (m * np.log(2 * np.pi) + logdet + square)
    return loglik


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def _solve_hidden(
    x: Floats,
    mean: Floats,
    precision: Floats,
    logdet: float,
    hidden: Indices,
    u: int,
    L: Floats,
    v: Floats,
    apart: Floats,
) -> float:
    """L of P[H, H], the row as it is expected minus the mean, and the log density of what was observed.

    det cov[O, O] = det cov · det P[H, H], and completing a row by its expectation leaves its square as it was.
    """
    p = len(x)
    for j in range(p):
        apart[j] = x[j] - mean[j]
    for i in range(u):
        apart[hidden[i]] = 0.0
    for i in range(u):
        row, total = precision[hidden[i]], 0.0
        for j in range(i + 1):
            L[i, j] = row[hidden[j]]
        for j in range(p):
            total += row[j] * apart[j]
        v[i] = -total
    own = _cholesky(L, u)
    _forward(L, u, v)
    for i in range(u - 1, -1, -1):
        total = v[i]
        for q in range(i + 1, u):
            total -= L[q, i] * v[q]
        v[i] = total / L[i, i]
    for i in range(u):
        apart[hidden[i]] = v[i]
    square = 0.0
    for i in range(p):
        row, total = precision[i], 0.0
        for j in range(p):
            total += row[j] * apart[j]
        square += total * apart[i]
    loglik: float = -0.5 * ((p - u) * np.log(2 * np.pi) + logdet + own + square)
    return loglik


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def _cholesky(A: Floats, m: int) -> float:
    """Cholesky factor in the lower triangle of the first m rows; gives the log determinant."""
    logdet = 0.0
    for j in range(m):
        column, least = A[j], LEAST_PIVOT * A[j, j]
        total = column[j]
        for q in range(j):
            total -= column[q] * column[q]
        root = np.sqrt(max(total, least))
        column[j] = root
        logdet += np.log(root)
        factor = 1.0 / root
        for i in range(j + 1, m):
            row = A[i]
            total = row[j]
            for q in range(j):
                total -= row[q] * column[q]
            row[j] = total * factor
    return 2.0 * logdet


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def _forward(L: Floats, m: int, v: Floats) -> float:
    """v = L⁻¹ v, and its square."""
    square = 0.0
    for i in range(m):
        row, total = L[i], v[i]
        for q in range(i):
            total -= row[q] * v[q]
        v[i] = total / row[i]
        square += v[i] * v[i]
    return square


@numba.njit(nogil=True, cache=True, fastmath=ANY_ORDER)
def _add_inverse(B: Floats, u: int, hidden: Indices, weight: float, spread: Floats) -> None:
    """spread[H, H] += weight BᵀB for the lower triangle B of u rows."""
    for c in range(u):
        for e in range(c + 1):
            total = 0.0
            for i in range(c, u):
                total += B[i, c] * B[i, e]
            total *= weight
            spread[hidden[c], hidden[e]] += total
            if e != c:
                spread[hidden[e], hidden[c]] += total
