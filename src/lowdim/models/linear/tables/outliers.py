"""Tables that find rows unlike the others: Hotelling's T², Q, their limits, and the columns behind them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadParameter, Setting, Words
from lowdim.models.base import parameters
from lowdim.models.base.output import frame_kind, make_table, row_labels
from lowdim.models.linear.control_limits import (
    MOST_ORDER,
    Limit,
    box_limit,
    held_out_distances,
    held_out_limits,
    jackson_limit,
    q_limit,
    q_limit_of_moments,
    spectrum_limits,
    t2_limit,
)
from lowdim.models.linear.tables import rows
from lowdim.models.linear.tables.rows import (
    COUNTED,
    Rows,
    are_those_of_the_fit,
    prepared_rows,
    read_rows,
    refuse_one_pass,
)
from lowdim.results.record import LinearFit
from lowdim.types import Floats
from lowdim.views.plots.rows import OutlierMap
from lowdim.words import column_names

if TYPE_CHECKING:
    from lowdim.models.linear.model import LinearModel


Q_LAWS = ("auto", "box", "jackson", "rows")


@dataclass(frozen=True)
class Judged:
    """Both statistics of rows, with their limits."""

    t2: Floats
    t2_limit: Limit
    q: Floats
    q_limit: Limit
    training: bool

    def map(self, level: float) -> OutlierMap:
        """The same as figures show it, with limits of this level."""
        return OutlierMap(self.t2, self.q, self.t2_limit.value, self.q_limit.value, level)


def outliers(
    model: LinearModel,
    X: Any,
    level: float = 0.95,
    training: bool | None = None,
    sample_weight: Any = None,
    q_law: str = "auto",
    reference: Any = None,
    reference_weight: Any = None,
) -> Any:
    """T² and Q of each row, with limits, p-values, and which limit it is beyond."""
    found = judge(model, "outliers", X, level, training, sample_weight, q_law, reference, reference_weight)
    beyond_t2, beyond_q = found.t2 > found.t2_limit.value, found.q > found.q_limit.value
    words = np.array(["", "T2", "Q", "T2 and Q"], dtype=object)
    named = {
        "T2": found.t2,
        "T2_limit": np.full(len(found.t2), found.t2_limit.value),
        "T2_p": found.t2_limit.p_values,
        "Q": found.q,
        "Q_limit": np.full(len(found.q), found.q_limit.value),
        "Q_p": found.q_limit.p_values,
        "beyond": words[beyond_t2 + 2 * beyond_q].tolist(),
    }
    return make_table(frame_kind(X) or model._frame_kind, named, like=X)


def limits(
    model: LinearModel,
    X: Any,
    level: float = 0.95,
    training: bool | None = None,
    sample_weight: Any = None,
    q_law: str = "auto",
    reference: Any = None,
    reference_weight: Any = None,
) -> Any:
    """The two limits, and which laws they come from."""
    found = judge(model, "limits", X, level, training, sample_weight, q_law, reference, reference_weight)
    both = (found.t2_limit, found.q_limit)
    named = {
        "statistic": ["T2", "Q"],
        "level": np.full(2, level),
        "limit": np.array([one.value for one in both]),
        "beyond": np.array([int((found.t2 > both[0].value).sum()), int((found.q > both[1].value).sum())]),
        "rows": np.full(2, len(found.q)),
        "law": [one.law for one in both],
    }
    return make_table(model._frame_kind, named)


def outlier_columns(model: LinearModel, X: Any, row: Any = None, top: int = 10) -> Any:
    """What each column adds to T² and Q of some rows, by their places; the `top` columns of each, largest share first.

    (Σₖ v tₖ/√λₖ)² and (y − ŷ)², which are not negative and add up to T² and Q (Alcala & Qin 2009, "Reconstruction-based
    contribution for process monitoring", call them complete decompositions).
    """
    parameters.whole("table", "top", top, 1, None)
    refuse_one_pass(model, "outlier_columns", X)
    rows_found = read_rows(model, "outlier_columns", X)
    places = _places(row, len(rows_found.scores))
    fit = model.fit_
    real, variances = _real(fit)
    prepared = prepared_rows(model, "outlier_columns", X, places)
    scores = rows_found.scores[places]
    within = ((scores[:, real] / np.sqrt(variances)) @ fit.components[real]) ** 2
    residual = prepared - scores @ fit.components
    share = np.maximum(_shares(within), _shares(residual**2))
    order = np.argsort(-share, axis=1, kind="stable")[:, : int(top)]
    i = np.repeat(np.arange(len(places)), order.shape[1])
    j = order.ravel()
    labels, listed = row_labels(X, len(rows_found.scores)), column_names(fit)
    named = {
        "row": [labels[places[one]] for one in i],
        "column": [listed[one] for one in j],
        "T2": within[i, j],
        "T2_share": _shares(within)[i, j],
        "Q": residual[i, j] ** 2,
        "Q_share": _shares(residual**2)[i, j],
        "deviation": prepared[i, j] * fit.undo_gain[j],
        "residual": residual[i, j] * fit.undo_gain[j],
    }
    return make_table(frame_kind(X) or model._frame_kind, named)


def judge(
    model: LinearModel,
    table: str,
    X: Any,
    level: float,
    training: bool | None,
    sample_weight: Any,
    q_law: str,
    reference: Any,
    reference_weight: Any,
) -> Judged:
    """T² and Q of rows, which are those of the fit or new ones."""
    _check(model, level, q_law, training)
    if reference is None and reference_weight is not None:
        raise BadParameter("reference_weight counts the rows of reference, but none were given: pass reference=rows.")
    found = read_rows(model, table, X, sample_weight)
    fit = model.fit_
    if training is None or training:
        _refuse_other_weights(model, found)
    own = are_those_of_the_fit(model, found) if training is None else bool(training)
    real, variances = _real(fit)
    t2 = rows.t_squared(found.scores[:, real], variances)
    q = rows.squared_residuals(found.scores, found.lengths)
    if own:
        within = t2_limit(t2, int(real.sum()), fit.weight, level, training=True)
        return Judged(t2, within, q, _own_q_limit(model, table, X, found, q, level, q_law), own)
    within, beside = _new_limits(model, table, t2, q, level, q_law, (reference, reference_weight))
    return Judged(t2, within, q, beside, own)


def _real(fit: LinearFit) -> tuple[NDArray[np.bool_], Floats]:
    """(k,) which components have variance, and their variances with divisor n − 1, as T² needs them."""
    real = fit.whitening > 0
    return real, fit.variances[real] * ((fit.weight - fit.ddof) / (fit.weight - 1))


def _refuse_other_weights(model: LinearModel, found: Rows) -> None:
    """An error if there are as many rows as the fit had, but they count otherwise: weights were forgotten."""
    fit, together = model.fit_, float(found.weights.sum())
    if found.used == fit.n_rows and not np.isclose(together, fit.weight, rtol=COUNTED):
        raise BadInput(
            f"These {found.used:,} rows count {together:g} together, but the {fit.n_rows:,} of the fit count "
            f"{fit.weight:g}: ",
            Words("pass the sample_weight of", "give --weight as in"),
            " the fit, or ",
            Setting("training", False),
            " if these are new rows.",
        )


def _own_q_limit(model: LinearModel, table: str, X: Any, found: Rows, q: Floats, level: float, law: str) -> Limit:
    """Of the rows of the fit."""
    fit = model.fit_
    if law in ("box", "jackson"):
        return _by_known_axes(fit, q, level, law)
    theirs, weight = q, found.weights
    mean = float(weight @ theirs / weight.sum())
    variance = float(weight @ (theirs - mean) ** 2 / weight.sum())
    if law == "rows":
        return box_limit(q, mean, variance / 2, level, f"from Q of {len(theirs):,} rows of the fit")
    n, unit = fit.weight, (fit.weight - fit.ddof) / (fit.weight - 1)
    if fit.spectrum is not None:
        return q_limit(q, fit.spectrum[fit.k :] * unit, n, level, "from the whole spectrum")
    first = mean * n / (n - 1)
    if min(found.used, fit.n_columns) > MOST_ORDER:  # the variance of Q over the rows, turned round
        unit, m = (n - 1) ** 2 / n, n - 1
        second = (variance * m * m * (m + 2) / (2 * unit**2) + first**2) / m
        return q_limit_of_moments(q, first, second, n, level, f"from Q of {len(theirs):,} rows")
    left = _left_of_rows(model, table, X, found)
    return q_limit(q, left, n, level, f"from {len(theirs):,} rows")


def _left_of_rows(model: LinearModel, table: str, X: Any, found: Rows) -> Floats:
    """Variances of what the components leave of the rows, largest first, divisor n − 1."""
    V, weight = model.fit_.components, found.weights
    rest = prepared_rows(model, table, X, np.arange(len(weight))) - found.scores @ V
    rest = (rest * np.sqrt(weight)[:, None])[weight > 0]
    products = rest @ rest.T if len(rest) < rest.shape[1] else rest.T @ rest
    values = np.linalg.eigvalsh(products)[::-1] / (float(weight.sum()) - 1)
    most = max(min(len(rest) - 1, rest.shape[1]) - len(V), 0)
    return np.asarray(np.maximum(values[:most], 0.0))


def _new_limits(
    model: LinearModel, table: str, t2: Floats, q: Floats, level: float, law: str, reference: tuple[Any, Any]
) -> tuple[Limit, Limit]:
    """Of new rows: from rows of the fit that are held out, or from its spectrum."""
    fit = model.fit_
    real, _ = _real(fit)
    k = int(real.sum())
    held = None
    if reference[0] is not None:
        known = _of_the_fit(model, table, *reference)
        if not fit.found_by_em:  # EM of other rows would be another fit
            Y = prepared_rows(model, table, reference[0], np.arange(len(known.scores)))
            held = held_out_distances(
                Y, known.weights, k, isinstance(model.scale, (bool, np.bool_)) and bool(model.scale)
            )
    if held is not None:
        within, beside = held_out_limits(t2, q, held, fit.weight, level)
    else:
        values = all_variances(fit)
        if values is None:
            raise (
                _needs_all(fit, law)
                if law in ("box", "jackson")
                else BadInput(
                    f"The limit of Q needs the variances beyond the {fit.k} of this fit, or its rows: ",
                    Words(
                        f"pass these as table({table!r}, X, reference=rows), or fit with svd_solver='full'.",
                        "name the rows of the fit as the data, without --set training=false.",
                    ),
                )
            )
        values = values * ((fit.weight - fit.ddof) / (fit.weight - 1))
        within, beside = spectrum_limits(t2, q, values, k, fit.weight, level)
    return within, _by_known_axes(fit, q, level, law) if law in ("box", "jackson") else beside


def _by_known_axes(fit: LinearFit, q: Floats, level: float, law: str) -> Limit:
    """Box's limit, or Jackson and Mudholkar's, which take the axes for known."""
    left = left_out(fit)
    if left is None:
        raise _needs_all(fit, law)
    if law == "box":
        source = "from the noise of the model" if fit.PROBABILISTIC else "from the whole spectrum"
        return box_limit(q, float(left.sum()), float((left**2).sum()), level, f"{source}, axes taken for known")
    try:
        return jackson_limit(q, left, level)
    except ValueError as error:
        raise BadInput(
            f"Jackson and Mudholkar's power of Q is {error} for the variances left out, so their limit does not "
            "exist: take ",
            Setting("q_law", "box"),
            ".",
        ) from None


def _needs_all(fit: LinearFit, law: str) -> BadInput:
    return BadInput(
        Setting("q_law", law),
        f" needs all variances, but this fit has found the first {fit.k} alone: ",
        Words(
            "take q_law='rows' with the rows of the fit, or fit with svd_solver='full'.",
            "name the rows of the fit, and take --set q_law=rows.",
        ),
    )


def all_variances(fit: LinearFit) -> Floats | None:
    """Every variance of the rows, if the fit knows them; of a probabilistic model all that are left out alike."""
    if fit.spectrum is not None:
        return fit.spectrum
    left = left_out(fit)
    if left is None:
        return None
    more = int(max(min(fit.weight - 1, fit.n_columns) - fit.k, 0))
    return np.append(fit.variances, np.full(more, left.sum() / more) if more else [])


def _of_the_fit(model: LinearModel, table: str, reference: Any, weight: Any) -> Rows:
    """The rows of the fit, read again; an error if these are others.

    EM, or another library, leaves variances that the scores do not add up to: nothing tells rows apart there.
    """
    found, fit = read_rows(model, table, reference, weight), model.fit_
    if not fit.certificate.blank and not are_those_of_the_fit(model, found):
        raise BadInput(
            f"The {len(found.scores):,} rows of reference, which count {found.weights.sum():g} together, are not the "
            f"{fit.n_rows:,} of the fit, which count {fit.weight:g}: Q of other rows says nothing about its limit; "
            "pass the rows of the fit, with their weights as reference_weight."
        )
    return found


def left_out(fit: LinearFit) -> Floats | None:
    """All variances beyond the components, if they are known: of a probabilistic model p − k times its noise."""
    if fit.PROBABILISTIC:
        return np.full(fit.n_columns - fit.k, fit.noise_variance)
    if fit.spectrum is not None:
        return fit.spectrum[fit.k :]
    return np.zeros(0) if fit.noise_variance == 0.0 else None


def _places(row: Any, n: int) -> NDArray[np.intp]:
    given = np.atleast_1d(np.asarray([] if row is None else row))
    whole = given.ndim == 1 and len(given) and np.issubdtype(given.dtype, np.integer)
    if not whole or (given < 0).any() or (given >= n).any():
        places = f"places of rows, from 0 to {n - 1:,}"
        error = BadParameter.of("table", "row", row, (f"{places}, such as ", Words("3 or [3, 7]", "3 or 3,7")))
        asks = f"the table outlier_columns needs {places}: --set row=3, or --set row=3,7."
        raise error if row is not None else BadParameter(Words(str(error), asks))
    return given.astype(np.intp)


def _shares(values: Floats) -> Floats:
    """(m, p) of the sums of the rows; zero where those are."""
    total = values.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(values, total, out=np.zeros_like(values), where=total > 0))


TRAINING = Words("True, False, or None, which finds out", "true or false; without it that is found out")


def _check(model: LinearModel, level: float, q_law: str, training: bool | None) -> None:
    parameters.real("table", "level", level, 0.0)
    if not 0 < level < 1:
        raise BadParameter.of("table", "level", level, "a number between 0 and 1, such as 0.95")
    if q_law not in Q_LAWS:
        raise BadParameter.of("table", "q_law", q_law, f"one of {', '.join(map(repr, Q_LAWS))}")
    if not (training is None or isinstance(training, (bool, np.bool_))):
        raise BadParameter.of("table", "training", training, TRAINING)
    if not model.center:
        raise BadParameter("T² and Q are distances from the mean, which center=False leaves out: fit with center=True.")
    if model.fit_.weight <= 1:
        raise BadInput(f"The weights of the fit add up to {model.fit_.weight:g}, but limits need them to count rows.")
