"""Which columns say what others say already: by their correlations, and by the decimals that they have."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from lowdim.errors import MEND_BY_FILLING, BadInput, BadParameter, MissingValues, NeedsAnotherPass, Words
from lowdim.matrices.convert import as_matrix, spacing_of
from lowdim.matrices.matrix import RowBlocks
from lowdim.matrices.preparation import Preparation, piece_rows
from lowdim.matrices.products import add
from lowdim.matrices.scaling import Scaling
from lowdim.models.base.output import frame_kind, make_table
from lowdim.models.linear.fit import load_to_count
from lowdim.recipes.redundant.correlations import Alike, Terms, combinations, duplicates, near_null
from lowdim.recipes.redundant.near import near_duplicates
from lowdim.recipes.redundant.result import Direction, Redundancy, Relation
from lowdim.recipes.redundant.steps import value_steps
from lowdim.runtime.memory import refuse_beyond
from lowdim.runtime.threads import one_blas_thread
from lowdim.sources.open import open_source
from lowdim.sources.source import Block, Source
from lowdim.types import Floats, Places

LEAST_TOL = 1e-6
"""Squares of smaller residuals would drown in the rounding of the correlations."""

ARRAYS = 4
"""Of p × p numbers that are held at a time: sums of the rows, correlations, some of these, their factor."""

COPIES = 2
"""Of all rows that are held where they are no more than columns: as they came, and standardised."""

PIECE_BYTES = 2**22
"""Bytes of standardised rows that are made at a time."""

CHOOSE = Words("lowdim.open(X, columns=…)", "--columns or --drop")

COARSE = 0.05
"""Of a column's deviation: rounding that leaves more says little about a relation, as with marks from 1 to 5."""

SHOWN = 10
"""Columns of a direction that are named."""


def redundant(X: Any, tol: float = 0.01, *, sample_weight: Any = None) -> Redundancy:
    """Find columns that are constant, that are another column in other units, or that are sums of others.

    The rows are read three times: for the correlations, for the decimals to which values are rounded, and to measure
    every relation that the correlations suggest, which is what its residual says. Where there are more rows than
    columns, memory is three p × p arrays, and time grows as p³. Where there are not, the rows are held twice, and no
    correlations but those of pairs that may be duplicates are formed.

    A relation counts if it leaves no more than `tol`, or no more than the rounding of its values explains: columns of
    values that are all multiples of a power of ten, a step s, are off by up to s/2 and by s/√12 on average, and a
    relation between them, y = a + Σ b x, by √(s_y² + Σ b² s_x²)/√12. So speeds in whole miles and whole kilometres are
    found to be one. What is left over may be so much and three standard errors more, and 5 % of the column's deviation
    at the most.

    Parameters
    ----------
    X : array, frame, path or source
        (n, p) rows without holes. Sums of columns are looked for only where n is larger than the number of columns that
        are left when duplicates are taken out.
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
    source = load_to_count(source, None)
    _refuse_large(source)
    scaling = Scaling(True, True, None, 0, spacing_of(source.dtype))
    try:
        with one_blas_thread():
            found = _find_relations(as_matrix(source, scaling, sample_weight), source, float(tol))
    except MissingValues as error:
        raise error.advising(MEND_BY_FILLING) from None
    return replace(found, make=partial(make_table, frame_kind(X)))


def _refuse_large(source: Source) -> None:
    """An error, before the rows are worked on, if what is made of them would not fit into memory."""
    n, p = source.n_rows, source.n_columns
    if _is_wide(source):
        assert n is not None
        refuse_beyond(
            COPIES * 8 * n * p,
            f"Duplicates among {p:,} columns of {n:,} rows",
            lambda left: (f"look at up to {left // (COPIES * 8 * n):,} columns at a time, by ", CHOOSE),
        )
        return
    refuse_beyond(
        ARRAYS * 8 * p**2,
        f"Relations between {p:,} columns ({ARRAYS} arrays of p × p numbers)",
        lambda left: (f"look at up to {int((left / ARRAYS / 8) ** 0.5):,} columns at a time, by ", CHOOSE),
    )


def _is_wide(source: Source) -> bool:
    """Whether there are no more rows than columns."""
    return source.n_rows is not None and source.n_rows <= source.n_columns


def _find_relations(matrix: RowBlocks, source: Source, tol: float) -> Redundancy:
    wide = _is_wide(source)
    moments = matrix.learn(full=not wide)
    constant = matrix.scaling.constant(moments)
    if moments.n_rows < 3:
        raise BadInput(f"{moments.n_rows} rows lie on a line whatever they are: at least 3 are needed.")
    varying = np.flatnonzero(~constant)
    suggested = max(tol**2, 16 * matrix.scaling.scale_error(moments))  # what is measured afterwards decides
    rounded = _round(matrix, source, varying)
    alike = Alike(suggested, rounded[varying], COARSE**2)
    if wide:
        Z = _columns(matrix, varying)
        found = near_duplicates(Z, alike)
    else:
        R = matrix.scatter()[np.ix_(varying, varying)]
        R /= moments.weight
        found = duplicates(R, alike)
    leaders = np.setdiff1d(np.arange(len(varying)), np.array(sorted(found), dtype=np.intp))
    same = _placed(found, varying)
    enough = moments.n_rows > len(leaders) + 1
    looked = leaders if wide else np.arange(len(varying))  # of few rows, those between duplicates say nothing new
    sums: Terms = {}
    nulls: list[Floats] = []
    more = 0
    if enough and len(leaders):
        inside = Z[leaders] @ Z[leaders].T if wide else R[np.ix_(leaders, leaders)]
        coarse = min(len(leaders) * float(alike.rounded[leaders].max()), COARSE**2)
        if coarse > suggested:  # sums that are sums but for rounding; those that are found without it stay as they are
            sums = _placed(combinations(inside, coarse), varying[leaders])
        sums |= _placed(combinations(inside, suggested), varying[leaders])
        most = max(suggested, min(float(alike.rounded.max()), COARSE**2))
        nulls, more = near_null(inside if wide else R, most)
    residuals = _measure(matrix, _directions(same | sums, nulls, varying[looked], len(constant)))
    names = source.columns or tuple(f"x{j}" for j in range(len(constant)))
    relations = _relations(matrix, same | sums, residuals, names, tol, rounded)
    seen, called = alike.rounded[looked], [names[j] for j in varying[looked]]
    return Redundancy(
        moments.n_rows,
        tuple(names),
        tol,
        tuple(names[j] for j in np.flatnonzero(constant)),
        tuple(one for j, one in relations.items() if j in same),
        tuple(one for j, one in relations.items() if j in sums) if enough else None,
        _near_null(nulls, residuals[len(same) + len(sums) :], called, tol, seen) if enough else None,
        more,
    )


def _round(matrix: RowBlocks, source: Source, varying: Places) -> Floats:
    """(p,) variance that rounding adds, of that of the column, and three standard errors more; 0: not rounded."""
    steps = value_steps(source.unweighted(), spacing_of(source.dtype))
    deviations = matrix.scaling.scales(matrix.moments) / matrix.unit
    found = np.zeros(len(steps))
    # the mean of n squares of variance v varies by v √(2/n) where they are normal, and by less where they are bounded
    found[varying] = (steps[varying] / deviations[varying]) ** 2 / 12 * (1 + 3 * np.sqrt(2 / matrix.moments.n_rows))
    return found


def _columns(matrix: RowBlocks, varying: Places) -> Floats:
    """(v, n) the columns that vary, as vectors of length one."""
    columns = np.empty((len(varying), matrix.moments.n_rows))
    preparation, done = matrix.preparation, 0
    for block in matrix.source.blocks():
        for rows in preparation.pieces(block, np.float64, piece_rows(block.rows.shape[1], 8, PIECE_BYTES, 1, 1024)):
            columns[:, done : done + len(rows)] = rows[:, varying].T
            done += len(rows)
    columns /= np.sqrt(matrix.moments.weight)
    return columns


def _placed(terms: Terms, places: Places) -> Terms:
    """Relations between columns of which these are the places among all."""
    return {int(places[j]): (places[others], coefficients) for j, (others, coefficients) in terms.items()}


def _directions(terms: Terms, nulls: list[Floats], places: Places, p: int) -> Any:
    """(d, p) sparse: what is left over of each relation, and along each direction, is its row times a row of Y."""
    columns = [np.append(others, j) for j, (others, _) in terms.items()] + [places] * len(nulls)
    entries = [np.append(-coefficients, 1.0) for _, coefficients in terms.values()] + nulls
    ends = np.cumsum([0, *map(len, columns)])
    if not columns:
        return sparse.csr_matrix((0, p))
    return sparse.csr_matrix((np.concatenate(entries), np.concatenate(columns), ends), (len(columns), p))


def _measure(matrix: RowBlocks, directions: Any) -> Floats:
    """(d,) standard deviations of the standardised rows along these directions, by reading the rows again."""
    if not directions.shape[0]:
        return np.zeros(0)
    work = partial(_squares, preparation=matrix.preparation, directions=directions)
    return np.asarray(np.sqrt(matrix.source.reduce(work, add) / matrix.moments.weight))


def _squares(block: Block, preparation: Preparation, directions: Any) -> Floats:
    total = np.zeros(directions.shape[0])
    for rows in preparation.pieces(block, np.float64, piece_rows(sum(directions.shape), 8, PIECE_BYTES, 1, 1024)):
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
    nulls: list[Floats], deviations: Floats, names: list[str], tol: float, rounded: Floats
) -> tuple[Direction, ...]:
    """The directions that hardly vary, as measured, of columns with these names."""
    found = []
    for vector, deviation in zip(nulls, deviations, strict=True):
        order = np.argsort(-np.abs(vector), kind="stable")[:SHOWN]
        order = order[np.abs(vector[order]) > tol]
        if deviation <= max(tol, min(float(np.sqrt(vector**2 @ rounded)), COARSE)):
            shown = tuple(names[j] for j in order), tuple(map(float, vector[order]))
            found.append(Direction(float(deviation), *shown))
    return tuple(found)
