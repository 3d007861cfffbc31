"""Tables about the columns of a linear fit: correlations, contributions, compression, supplementary columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadParameter, Words, WrongShape
from lowdim.matrices.convert import as_matrix
from lowdim.matrices.scaling import Scaling
from lowdim.models.base import parameters
from lowdim.models.base.output import frame_kind, make_table, named_columns
from lowdim.models.linear.tables.rows import PIECE, Rows, opened, read_rows, refuse_one_pass
from lowdim.results.record import LinearFit
from lowdim.sources.source import Block
from lowdim.types import Floats
from lowdim.words import column_names

if TYPE_CHECKING:
    from lowdim.models.linear.model import LinearModel


# What a linear fit says about its columns: correlations with the components, contributions, and what drives them.
#
# Y is the centred, scaled and weighted data, λ the variances along its axes v: cov(y_j, t_k) = λ_k v_jk.


def prepared_variances(fit: LinearFit) -> Floats:
    """(p,) variances of the columns as the components see them: centred, scaled, weighted.

    Those of a model of missing values are the model's; those of records without them (files of earlier versions,
    converted models) are known if all components were kept.
    """
    held = np.asarray(fit.variances @ fit.components**2)
    if fit.found_by_em:
        return np.asarray(held + fit.noise_variance * (1.0 - (fit.components**2).sum(axis=0)))
    if fit.column_variances is not None:
        return fit.column_variances * fit.gain**2
    if fit.noise_variance == 0.0:
        return held
    raise BadInput(
        f"This record does not know the standard deviations of its {fit.n_columns:,} columns (it was converted, or "
        "written by an earlier version): pass the rows of the fit, table(name, X), or fit again."
    )


def column_correlations(fit: LinearFit, variances: Floats) -> Floats:
    """(p, k) of columns, whose prepared variances are given, with scores; 0 for columns that do not vary."""
    covariances = fit.components.T * np.sqrt(fit.variances)
    deviations = np.sqrt(variances)[:, None]
    return np.divide(covariances, deviations, out=np.zeros_like(covariances), where=deviations > 0)


def contributions(fit: LinearFit) -> Floats:
    """(p, k) share of each column in the variance along each axis: v², which adds up to one over the columns."""
    return np.asarray(fit.components.T**2)


def leading_columns(fit: LinearFit, axes: list[str], top: int) -> dict[str, Any]:
    """The columns with the largest contributions to each component, largest first."""
    shares, listed = contributions(fit), column_names(fit)
    order = np.argsort(-shares, axis=0, kind="stable")[:top]
    axis = np.repeat(np.arange(fit.k), len(order))
    which = order.T.ravel()
    return {
        "component": [axes[k] for k in axis],
        "rank": np.tile(np.arange(1, len(order) + 1), fit.k),
        "column": [listed[j] for j in which],
        "weight": fit.components[axis, which],
        "loading": fit.components[axis, which] * fit.strengths[axis],
        "contribution": shares[which, axis],
        "times_average": shares[which, axis] * fit.n_columns,
    }


# Tables about the columns of a linear fit, and its components.


def eigenvalues(model: LinearModel, X: Any) -> Any:
    """Variance of each component, its share, and shares added up."""
    fit = model.fit_
    shares = {"share": fit.shares, "cumulative": np.cumsum(fit.shares)}
    return make_table(model._frame_kind, {"component": model._axes, "variance": fit.variances, **shares})


def components(model: LinearModel, X: Any) -> Any:
    """The axes: unit vectors."""
    return by_column(model, model.fit_.components.T)


def loadings(model: LinearModel, X: Any) -> Any:
    """The axes times the standard deviation along them."""
    return by_column(model, model.fit_.components.T * model.fit_.strengths)


def compression(model: LinearModel, X: Any) -> Any:
    """What k components cost and lose."""
    return make_table(model._frame_kind, dict(model.compression()))


def correlations(model: LinearModel, X: Any, sample_weight: Any = None) -> Any:
    """Correlations of columns with components."""
    return by_column(model, correlation_values(model, X, sample_weight))


def correlation_values(model: LinearModel, X: Any, sample_weight: Any = None) -> Floats:
    """(p, k) of columns with components; an error without centring."""
    if not model.center:
        raise BadParameter(
            "table('correlations') is about means, which center=False leaves out: take 'column_cos2', which is about "
            "zero, or fit with center=True."
        )
    return column_correlations(model.fit_, _variances(model, X, sample_weight))


def column_contributions(model: LinearModel, X: Any) -> Any:
    """Share of each column in the variance of each component; over the columns they add up to one."""
    fit = model.fit_
    average = np.full(fit.n_columns, 1 / fit.n_columns)
    return by_column(model, contributions(fit), average=average)


def column_cos2(model: LinearModel, X: Any, sample_weight: Any = None) -> Any:
    """Share of each column's variance that lies along each component; over all components they add up to one."""
    return by_column(model, cos2_values(model, X, sample_weight))


def cos2_values(model: LinearModel, X: Any, sample_weight: Any = None) -> Floats:
    """(p, k) squared correlations, about zero without centring."""
    return np.asarray(column_correlations(model.fit_, _variances(model, X, sample_weight)) ** 2)


def drivers(model: LinearModel, X: Any, top: int = 5) -> Any:
    """The columns that contribute most to each component."""
    parameters.whole("table", "top", top, 1, None)
    return make_table(model._frame_kind, leading_columns(model.fit_, model._axes, int(top)))


def by_column(model: LinearModel, values: Floats, **more: Floats) -> Any:
    """A table with a row for each column of the data, from values (p, k)."""
    axes = model._axes[: values.shape[1]]
    named = {"column": list(column_names(model.fit_)), **dict(zip(axes, values.T, strict=True))}
    return make_table(model._frame_kind, named | more)


def _variances(model: LinearModel, X: Any, sample_weight: Any) -> Floats:
    """(p,) of the prepared columns: what the fit knows, or what the rows say."""
    fit = model.fit_
    if X is None or fit.column_variances is not None:
        return prepared_variances(fit)
    source = opened(model, "correlations", X)
    matrix = as_matrix(source, Scaling(bool(model.center), ddof=fit.ddof), sample_weight)
    moments = matrix.moments
    return moments.variances / matrix.unit**2 / matrix.scaling.denominator(moments.weight) * fit.gain**2


# What keeping k components costs and loses: numbers and bytes against the original, error for each k.


def compute_compression(fit: LinearFit, itemsize: int, centered: bool, scaled: bool) -> dict[str, NDArray[Any]]:
    """Columns of the table, one row for each k = 1 … K.

    k components of n × p numbers need n k scores, k p axes, and the p means (and p scales) if there are any: lecture
    5's six points on a line through the origin are 6 + 3 = 9 numbers in place of 18.
    """
    n, p = fit.n_rows, len(fit.mean)
    k = np.arange(1, fit.k + 1)
    numbers = k * (n + p) + p * (centered + scaled)
    left = np.maximum(fit.total_variance - np.cumsum(fit.variances), 0.0)
    relative = np.sqrt(left / fit.total_variance) if fit.total_variance > 0 else np.zeros(fit.k)
    return {
        "k": k,
        "numbers": numbers,
        "bytes": numbers * itemsize,
        "of_original": numbers / (n * p),
        "squared_error": left * (fit.weight - fit.ddof),
        "relative_error": relative,
    }


# Columns that took no part in a fit, beside its components: correlations of numbers, barycentres of categories.
#
# All is about the mean and with the variances (dividing by n) of the rows that are given (Lebart, Morineau & Piron
# 1995, "Statistique exploratoire multidimensionnelle", §1.1 and §2.2; FactoMineR prints the same numbers).


def supplementary_correlations(values: Floats, scores: Floats, weight: Floats) -> Floats:
    """(k,) of a column (n,) with scores (n, k), over the rows where it is known."""
    known = np.isfinite(values)
    share = weight[known] / weight[known].sum()
    x = values[known] - share @ values[known]
    t = scores[known] - share @ scores[known]
    spread = np.sqrt((share @ x**2) * (share @ t**2))
    covariance = (share * x) @ t
    return np.asarray(np.divide(covariance, spread, out=np.zeros_like(covariance), where=spread > 0))


@dataclass(frozen=True)
class Categories:
    """One categorical column beside k components."""

    names: list[str]
    weight: Floats
    """(c,) of the rows in each category."""
    barycentres: Floats
    """(c, k) mean scores."""
    v_tests: Floats
    """(c, k) their distance from the mean of all rows in standard errors of a draw without return: beyond ±1.96 a
    category lies off the centre at 5 %, if it was drawn from these rows by chance."""
    cosines: Floats
    """(c, k) squared: the share of its squared distance from the centre that lies along each axis."""
    eta2: Floats
    """(k,) share of the variance of the scores that lies between the categories."""


def categories(names: list[str], codes: NDArray[np.intp], scores: Floats, weight: Floats, means: Floats) -> Categories:
    """The categories of rows with these codes, −1 where there is none; `means` (c,) are squared lengths of the
    barycentres in all dimensions."""
    known = codes >= 0
    member = codes[known]
    w, t = weight[known], scores[known]
    total = float(w.sum())
    centre = w @ t / total
    variances = w @ (t - centre) ** 2 / total
    inside = np.bincount(member, w, len(names)).astype(np.float64)
    sums = np.stack([np.bincount(member, w * column, len(names)) for column in t.T], axis=1)
    barycentres = sums / inside[:, None]
    apart = barycentres - centre
    error = np.sqrt(variances * ((total - inside) / ((total - 1) * inside))[:, None]) if total > 1 else 0 * apart
    between = inside @ apart**2 / total
    return Categories(
        names,
        inside,
        barycentres,
        np.divide(apart, error, out=np.full_like(apart, np.nan), where=error > 0),
        np.divide(barycentres**2, means[:, None], out=np.full_like(apart, np.nan), where=means[:, None] > 0),
        np.divide(between, variances, out=np.full_like(between, np.nan), where=variances > 0),
    )


# The table of columns that took no part in a fit.

MOST_CATEGORIES = 1000


def supplementary(model: LinearModel, X: Any, extra: Any = None, sample_weight: Any = None) -> Any:
    """Columns of `extra`, a frame or a mapping with a row for each row of X, beside the components.

    Numbers: "correlation" and "cos2", its square. Categories (texts, flags): "barycentre", "v_test" and "cos2" for
    each, and "eta2" for the column. Missing values are left out, which "weight", that of the rows used, shows.
    """
    if extra is None:
        raise BadParameter(
            Words("table('supplementary', X) needs", "the table supplementary needs data, and"),
            " columns ",
            Words("that", "of them that"),
            " took no part in the fit: ",
            Words(
                "extra=frame, with a row for each row of X; scores of supplementary rows are table('scores', X).",
                "--extra A,B.",
            ),
        )
    refuse_one_pass(model, "supplementary", X)
    found = read_rows(model, "supplementary", X, sample_weight)
    lines: list[tuple[str, str, float, str, Floats]] = []
    for name, values in named_columns(extra).items():
        if len(values) != len(found.scores):
            raise WrongShape(
                f"Column {name!r} of extra has {len(values):,} rows, but X has {len(found.scores):,}: they must be the "
                "same rows, in the same order."
            )
        numbers = values.dtype.kind == "f"
        lines += _of_numbers(name, values, found) if numbers else _of_texts(model, X, name, values, found)
    names, groups, weights, statistics, points = (list(part) for part in zip(*lines, strict=True))
    named = {"column": names, "category": groups, "weight": np.array(weights), "statistic": statistics}
    kind = frame_kind(extra) or frame_kind(X) or model._frame_kind
    return make_table(kind, named | dict(zip(model._axes, np.array(points).T, strict=True)))


def _of_numbers(name: str, values: Floats, found: Rows) -> list[tuple[str, str, float, str, Floats]]:
    known = np.isfinite(values)
    if not known.any():
        raise BadInput(f"Column {name!r} of extra holds no finite number: leave it out.")
    weight = float(found.weights[known].sum())
    r = supplementary_correlations(values, found.scores, found.weights)
    return [(name, "", weight, "correlation", r), (name, "", weight, "cos2", r**2)]


def _of_texts(
    model: LinearModel, X: Any, name: str, values: NDArray[Any], found: Rows
) -> list[tuple[str, str, float, str, Floats]]:
    known = np.array([value is not None and value == value for value in values])  # None and NaN are no categories
    listed, inside = np.unique(np.array([str(value) for value in values[known]]), return_inverse=True)
    if not 1 <= len(listed) <= MOST_CATEGORIES:
        raise BadInput(
            f"Column {name!r} of extra holds {len(listed):,} categories, but 1 to {MOST_CATEGORIES:,} can be shown: "
            "leave it out, or join some."
        )
    codes = np.full(len(values), -1, dtype=np.intp)
    codes[known] = inside
    codes[found.weights == 0] = -1
    used = np.bincount(codes[codes >= 0], minlength=len(listed)) > 0
    codes[codes >= 0] = (np.cumsum(used) - 1)[codes[codes >= 0]]
    names = [str(one) for one in listed[used]]
    made = categories(names, codes, found.scores, found.weights, _lengths(model, X, codes, found.weights, len(names)))
    statistics = (("barycentre", made.barycentres), ("v_test", made.v_tests), ("cos2", made.cosines))
    lines = [
        (name, group, float(made.weight[i]), statistic, numbers[i])
        for i, group in enumerate(names)
        for statistic, numbers in statistics
    ]
    return [*lines, (name, "", float(made.weight.sum()), "eta2", made.eta2)]


def _lengths(model: LinearModel, X: Any, codes: NDArray[np.intp], weight: Floats, count: int) -> Floats:
    """(count,) squared distances of the barycentres from the centre in all dimensions; reads the rows once more."""
    sums, inside = np.zeros((count, model.fit_.n_columns)), np.zeros(count)
    for block in opened(model, "supplementary", X).blocks():
        start = block.start
        for piece in model._preparation.pieces(Block(start, block.rows), np.float64, PIECE):
            here = slice(start, start + len(piece))
            known = np.flatnonzero(codes[here] >= 0)
            member = np.zeros((count, len(piece)))
            member[codes[here][known], known] = weight[here][known]
            sums += member @ piece
            inside += member.sum(axis=1)
            start += len(piece)
    return np.asarray(((sums / inside[:, None]) ** 2).sum(axis=1))
