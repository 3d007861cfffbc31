"""Which columns say what others say already: by their correlations, and by the decimals that they have."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from lowdim.errors import MEND_BY_FILLING, BadInput, BadParameter, MissingValues, NeedsAnotherPass, TooLarge, Words
from lowdim.matrices.convert import as_matrix, spacing_of
from lowdim.matrices.matrix import RowBlocks
from lowdim.matrices.preparation import Preparation, dense
from lowdim.matrices.products import add
from lowdim.matrices.scaling import Scaling
from lowdim.models.base.output import frame_kind, make_table
from lowdim.recipes.redundant.result import Direction, Redundancy, Relation
from lowdim.runtime.memory import available_memory
from lowdim.runtime.threads import one_blas_thread
from lowdim.sources.open import open_source
from lowdim.sources.source import Block, Source
from lowdim.types import Floats

# To which decimal the values of each column were rounded, as their values tell.

STEPS = 10.0 ** np.arange(4, -7, -1)
"""Tens of thousands to millionths, coarsest first."""

ROUNDING = 2
"""Units in the last place that a rounded value may be off, as its decimals have no exact binary form."""

KNOWN = 0.05
"""Steps to which a number must be known: of fewer digits nothing can be said."""


def value_steps(source: Source, spacing: float) -> Floats:
    """(p,) the largest power of ten that all values of a column are multiples of; 0 where there is none.

    `spacing` is the relative distance of the numbers that the data can hold.
    """
    fine = source.reduce(partial(_multiples, spacing=spacing), np.logical_and)
    return np.where(fine.any(axis=0), STEPS[fine.argmax(axis=0)], 0.0)


def _multiples(block: Block, spacing: float) -> NDArray[np.bool_]:
    """(steps, p) whether all values of a column are multiples of a step."""
    rows = np.asarray(dense(block.rows), dtype=np.float64)
    found = np.zeros((len(STEPS), rows.shape[1]), dtype=bool)
    open_yet = np.ones(rows.shape[1], dtype=bool)
    for i, step in enumerate(STEPS):
        counts = rows[:, open_yet] / step if step >= 1 else rows[:, open_yet] * round(1 / step)
        allowed = ROUNDING * spacing * np.abs(counts)
        fine = ((np.abs(counts - np.rint(counts)) <= allowed) & (allowed < KNOWN)).all(axis=0)
        found[i:, np.flatnonzero(open_yet)[fine]] = True  # multiples of ten are multiples of one
        open_yet[open_yet] = ~fine
    return found


# Columns that others determine, from their correlation matrix: duplicates, sums of others, near-null directions.

Places = NDArray[np.intp]

MOST_DIRECTIONS = 20
"""Near-null directions that are given."""


def duplicates(
    R: Floats, among: Places, unexplained: float, rounded: Floats | None = None, coarse: float = 1.0
) -> dict[int, list[int]]:
    """Leader → columns that it determines, up to this share of their variance; leaders come first in the data.

    Or up to what rounding leaves, of which `rounded` (p,) is each column's share, and that up to `coarse`. Each is
    compared with its leader, not with others of its group, so that small differences do not add up.
    """
    free = np.zeros(len(R), dtype=bool)
    free[among] = True
    rounded = np.zeros(len(R)) if rounded is None else rounded
    groups: dict[int, list[int]] = {}
    for leader in among:
        if not free[leader]:
            continue
        free[leader] = False
        allowed = np.maximum(unexplained, np.minimum(rounded[leader] + rounded, coarse))
        alike = np.flatnonzero(free & (1.0 - R[leader] ** 2 <= allowed))
        if len(alike):
            groups[int(leader)] = alike.tolist()
            free[alike] = False
    return groups


def combinations(R: Floats, among: Places, unexplained: float) -> dict[int, tuple[Places, Floats]]:
    """Column → others that determine it, up to this share of its variance, and their coefficients (all standardised).

    Pivoted Cholesky takes the columns that say most that is new, one after the other, until none says more than that;
    the rest are sums of those (Higham 1990, "Analysis of the Cholesky decomposition of a semi-definite matrix").
    """
    factor, pivots, rank, _ = linalg.lapack.dpstrf(R[np.ix_(among, among)], tol=unexplained)
    order = among[pivots - 1]
    basis, rest = order[:rank], order[rank:]
    if not len(rest):
        return {}
    coefficients = linalg.solve_triangular(factor[:rank, :rank], factor[:rank, rank:])
    return {int(j): _sparse(R, int(j), basis, coefficients[:, i], unexplained) for i, j in enumerate(rest)}


def near_null(R: Floats, among: Places, variance: float) -> tuple[list[Floats], int]:
    """Unit vectors (p,) along which the standardised columns have no more variance than this, smallest first.

    No more than MOST_DIRECTIONS of them, and how many there are beyond.
    """
    inside = R[np.ix_(among, among)]
    most = min(MOST_DIRECTIONS, len(among))
    values, vectors = linalg.eigh(inside, subset_by_index=[0, most - 1])
    more = 0
    if most < len(among) and values[-1] <= variance:  # only then is it worth another decomposition
        more = len(linalg.eigvalsh(inside, subset_by_value=[-np.inf, variance])) - most
    found = []
    for vector in vectors.T[values <= variance]:
        whole = np.zeros(len(R))
        whole[among] = vector * np.sign(vector[np.abs(vector).argmax()])
        found.append(whole)
    return found, more


def _sparse(R: Floats, j: int, basis: Places, c: Floats, unexplained: float) -> tuple[Places, Floats]:
    """The relation with its small coefficients left out and the others fitted again, if it is as good; in the data's
    order, as that of the pivots is a matter of rounding."""
    large = np.abs(c) > np.sqrt(unexplained)
    few = basis[large]
    if 0 < len(few) < len(basis):
        again = np.linalg.solve(R[np.ix_(few, few)], R[few, j])
        if 1.0 - float(again @ R[few, j]) <= unexplained:
            basis, c = few, again
    order = np.argsort(basis)
    return basis[order], c[order]


# Which columns say what others say already.

Terms = dict[int, tuple[NDArray[np.intp], Floats]]

LEAST_TOL = 1e-6
"""Squares of smaller residuals would drown in the rounding of the correlations."""

ARRAYS = 3
"""Of p × p numbers that are in memory at a time: the correlations, those of columns that vary, and a factor of them."""

COARSE = 0.05
"""Of a column's deviation: rounding that leaves more says little about a relation, as with marks from 1 to 5."""

SHOWN = 10
"""Columns of a direction that are named."""


def redundant(X: Any, tol: float = 0.01, *, sample_weight: Any = None) -> Redundancy:
    """Find columns that are constant, that are another column in other units, or that are sums of others.

    The rows are read three times: for the p × p correlations, for the decimals to which values are rounded, and to
    measure every relation that the correlations suggest, which is what its residual says. Memory is three p × p arrays,
    time grows as p³.

    A relation counts if it leaves no more than `tol`, or no more than the rounding of its values explains: columns of
    values that are all multiples of a power of ten, a step s, are off by up to s/2 and by s/√12 on average, and a
    relation between them, y = a + Σ b x, by √(s_y² + Σ b² s_x²)/√12. So speeds in whole miles and whole kilometres are
    found to be one. What is left over may be so much and three standard errors more, and 5 % of the column's deviation
    at the most.

    Parameters
    ----------
    X : array, frame, path or source
        (n, p) rows without holes. Sums of columns are looked for only where n is larger than p.
    tol : float
        Largest standard deviation of what a relation leaves over, of that of its column, beyond what rounding leaves.
    sample_weight : array of shape (n,) or None
        2 counts a row twice.

    Returns
    -------
    Redundancy
        `constant`, `duplicates`, `combinations`, near-null `directions` (the 20 smallest; `more_directions` counts the
        others); `kept` names the columns that are left. Which column of a sum is named the sum is a matter of choice:
        any of them would do. `table("relations")` and `table("directions")` are frames of X's kind.

    References
    ----------
    Jolliffe 2002, "Principal component analysis", §3.4 and §6.3: components of hardly any variance are relations
    between columns.

    Examples
    --------
    >>> import numpy as np
    >>> import lowdim
    >>> mph = np.random.default_rng(0).normal(60, 10, 100)
    >>> weight = np.random.default_rng(1).normal(size=100)
    >>> found = lowdim.redundant(np.column_stack([mph, weight, 1.609344 * mph]))
    >>> found.groups
    (('x0', 'x2'),)
    >>> round(found.duplicates[0].coefficients[0], 6)
    1.609344
    """
    if isinstance(tol, bool) or not isinstance(tol, (int, float, np.number)) or not LEAST_TOL <= tol < 1:
        raise BadParameter.of("redundant", "tol", tol, f"from {LEAST_TOL:g}, and below 1, such as 0.01")
    source = open_source(X)
    if not source.repeatable:
        raise NeedsAnotherPass(
            "Relations are measured on the rows again, but these can be read only once: pass an array, or the path of "
            "a file."
        )
    _refuse_large(source.n_columns)
    scaling = Scaling(True, True, None, 0, spacing_of(source.dtype))
    try:
        with one_blas_thread():
            found = _find_relations(as_matrix(source, scaling, sample_weight), source, float(tol))
    except MissingValues as error:
        raise error.advising(MEND_BY_FILLING) from None
    return replace(found, make=partial(make_table, frame_kind(X)))


def _refuse_large(p: int) -> None:
    """An error, before anything is read, if correlations of p columns would not fit into memory."""
    needed, free = ARRAYS * 8 * p**2, available_memory()
    if needed > free:
        raise TooLarge(
            f"Relations between {p:,} columns take {needed / 1e9:,.1f} GB ({ARRAYS} arrays of p × p numbers), but "
            f"{free / 1e9:,.1f} GB are left: look at up to {int((free / ARRAYS / 8) ** 0.5):,} columns at a time, by ",
            Words("lowdim.open(X, columns=…).", "--columns or --drop."),
        )


def _find_relations(matrix: RowBlocks, source: Source, tol: float) -> Redundancy:
    R = matrix.scatter()
    moments = matrix.moments
    R = R / moments.weight
    constant = matrix.scaling.constant(moments)
    if moments.n_rows < 3:
        raise BadInput(f"{moments.n_rows} rows lie on a line whatever they are: at least 3 are needed.")
    varying = np.flatnonzero(~constant)
    suggested = max(tol**2, 16 * matrix.scaling.scale_error(moments))  # what is measured afterwards decides
    rounded = _round(matrix, source, varying)
    groups = duplicates(R, varying, suggested, rounded, COARSE**2)
    same: Terms = {
        j: (np.array([leader]), np.array([R[leader, j]])) for leader, members in groups.items() for j in members
    }
    leaders = np.setdiff1d(varying, np.array(sorted(same), dtype=np.intp))
    enough = moments.n_rows > len(leaders) + 1
    sums: Terms = {}
    nulls: list[Floats] = []
    more = 0
    if enough and len(leaders) > 1:
        coarse = min(len(leaders) * float(rounded[leaders].max()), COARSE**2)
        if coarse > suggested:  # sums that are sums but for rounding; those that are found without it stay as they are
            sums = combinations(R, leaders, coarse)
        sums |= combinations(R, leaders, suggested)
    if enough and len(varying) > 1:
        nulls, more = near_null(R, varying, max(suggested, min(float(rounded[varying].max()), COARSE**2)))
    residuals = _measure(matrix, _directions(same | sums, nulls, len(R)))
    names = source.columns or tuple(f"x{j}" for j in range(len(R)))
    relations = _relations(matrix, same | sums, residuals, names, tol, rounded)
    return Redundancy(
        moments.n_rows,
        tuple(names),
        tol,
        tuple(names[j] for j in np.flatnonzero(constant)),
        tuple(one for j, one in relations.items() if j in same),
        tuple(one for j, one in relations.items() if j in sums) if enough else None,
        _near_null(nulls, residuals[len(same) + len(sums) :], names, tol, rounded) if enough else None,
        more,
    )


def _round(matrix: RowBlocks, source: Source, varying: NDArray[np.intp]) -> Floats:
    """(p,) variance that rounding adds, of that of the column, and three standard errors more; 0: not rounded."""
    steps = value_steps(source.unweighted(), spacing_of(source.dtype))
    deviations = matrix.scaling.scales(matrix.moments) / matrix.unit
    found = np.zeros(len(steps))
    # the mean of n squares of variance v varies by v √(2/n) where they are normal, and by less where they are bounded
    found[varying] = (steps[varying] / deviations[varying]) ** 2 / 12 * (1 + 3 * np.sqrt(2 / matrix.moments.n_rows))
    return found


def _directions(terms: Terms, nulls: list[Floats], p: int) -> Any:
    """(d, p) sparse: what is left over of each relation, and along each direction, is its row times a row of Y."""
    made = [sparse.csr_matrix(vector[None, :]) for vector in nulls]
    for j, (others, coefficients) in terms.items():
        entries = np.append(-coefficients, 1.0)
        made.append(sparse.csr_matrix((entries, (np.zeros(len(entries), dtype=int), np.append(others, j))), (1, p)))
    made = made[len(nulls) :] + made[: len(nulls)]
    return sparse.vstack(made, format="csr") if made else sparse.csr_matrix((0, p))


def _measure(matrix: RowBlocks, directions: Any) -> Floats:
    """(d,) standard deviations of the standardised rows along these directions, by reading the rows again."""
    if not directions.shape[0]:
        return np.zeros(0)
    work = partial(_squares, preparation=matrix.preparation, directions=directions)
    return np.asarray(np.sqrt(matrix.source.reduce(work, add) / matrix.moments.weight))


def _squares(block: Block, preparation: Preparation, directions: Any) -> Floats:
    total = np.zeros(directions.shape[0])
    for rows in preparation.pieces(block, np.float64, 1024):
        total += ((directions @ rows.T) ** 2).sum(axis=1)
    return total


def _relations(
    matrix: RowBlocks, terms: Terms, residuals: Floats, names: tuple[str, ...], tol: float, rounded: Floats
) -> dict[int, Relation]:
    """Column → its relation in the data's units, if what it leaves over is as small as asked."""
    moments = matrix.moments
    mean = moments.mean / matrix.unit
    deviations = matrix.scaling.scales(moments) / matrix.unit
    found = {}
    for (j, (others, standardized)), residual in zip(terms.items(), residuals[: len(terms)], strict=True):
        rounding = float(np.sqrt(rounded[j] + standardized**2 @ rounded[others]))
        if residual <= max(tol, min(rounding, COARSE)):
            b = standardized * deviations[j] / deviations[others]
            found[j] = Relation(
                names[j],
                tuple(names[i] for i in others),
                tuple(map(float, b)),
                float(mean[j] - b @ mean[others]),
                float(residual),
                float(residual * deviations[j]),
                bool(residual > tol),
            )
    return found


def _near_null(
    nulls: list[Floats], deviations: Floats, names: tuple[str, ...], tol: float, rounded: Floats
) -> tuple[Direction, ...]:
    found = []
    for vector, deviation in zip(nulls, deviations, strict=True):
        order = np.argsort(-np.abs(vector), kind="stable")[:SHOWN]
        order = order[np.abs(vector[order]) > tol]
        if deviation <= max(tol, min(float(np.sqrt(vector**2 @ rounded)), COARSE)):
            shown = tuple(names[j] for j in order), tuple(map(float, vector[order]))
            found.append(Direction(float(deviation), *shown))
    return tuple(found)
