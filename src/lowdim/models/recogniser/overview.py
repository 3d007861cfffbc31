"""A recogniser in words, and on one screen."""

from __future__ import annotations

from typing import Any

from lowdim.models.recogniser.record import COSINE, EUCLID, Rate, RecogniserFit
from lowdim.results.certificate import counted
from lowdim.views.text.lines import Line, listed, percent, wrapped
from lowdim.views.text.screen import accuracy, model_screen
from lowdim.words import column_names

HEAD = 11
"""Characters before what is said."""


def explain_recogniser(fit: RecogniserFit) -> str:
    """The gallery, how rows are compared, and which are turned away."""
    return "\n".join(
        [
            f"data       {fit.provenance.data}",
            f"gallery    {_gallery(fit)}",
            f"space      {space_in_words(fit)}",
            f"compared   {compared_in_words(fit)}",
            f"somebody?  {somebody_in_words(fit)}",
            f"one such?  {inside_in_words(fit)}",
            *(f"{'tried' if i == 0 else '':<{HEAD}}{text}" for i, text in enumerate(_tried(fit))),
            f"accuracy   {accuracy(fit.space)}",
        ]
    )


def compared_in_words(fit: RecogniserFit) -> str:
    """What the distance between two rows is."""
    how = {
        COSINE: "1 − the cosine of the angle between whitened scores",
        EUCLID: "the distance between scores",
    }.get(fit.metric, "the distance between whitened scores (Mahalanobis)")
    without = f", without the first {fit.drop_first}" if fit.drop_first else ""
    votes = f"; the {fit.n_neighbors} nearest rows vote" if fit.n_neighbors > 1 else ""
    return f"by {how}{without}{votes}"


def somebody_in_words(fit: RecogniserFit) -> str:
    """When a row is nobody's."""
    if fit.max_distance is None:
        return "every row is somebody of the gallery: no limit was asked for"
    far = f"further than {fit.max_distance:.4g} from all of the gallery is {fit.unknown!r}"
    if fit.reject is None:
        return f"{far} (as asked)"
    assert fit.trial is not None
    least = 1 / (len(fit.trial.strangers) + 1)  # what so many rows can promise
    few = f" (or {percent(least)}, as there are few rows)" if fit.reject < least else ""
    return (
        f"{far}: nearer are at most {percent(fit.reject)} of strangers{few}, by leaving people out in "
        f"{fit.trial.folds[0]} parts"
    )


def inside_in_words(fit: RecogniserFit) -> str:
    """When a row does not belong to the space."""
    if fit.least_density is None:
        return "every row belongs to the space: no limit was asked for"
    return (
        f"a log-likelihood below {fit.least_density:.4g} is {fit.unknown!r}: so unlikely are at "
        f"most {percent(fit.reject_outside or 0.0)} of the rows of people left out"
    )


def recogniser_model_lines(name: str, fit: RecogniserFit, width: int = 80) -> list[Line]:
    """What a model file holds."""
    kept = f"recogniser of {identities(fit)}"
    rates = [wrapped(f"{'tried' if i == 0 else '':<10}", text, width) for i, text in enumerate(_tried(fit))]
    body = [
        *wrapped("gallery   ", _gallery(fit), width),
        Line(f"known     {listed([str(label) for label in fit.classes], width - 10)}"),
        *wrapped("space     ", space_in_words(fit), width),
        *wrapped("compared  ", compared_in_words(fit), width),
        *wrapped("somebody? ", somebody_in_words(fit), width),
        *wrapped("one such? ", inside_in_words(fit), width),
        *(line for lines in rates for line in lines),
        *wrapped("accuracy  ", accuracy(fit.space), width),
    ]
    return model_screen(name, fit, kept, body, width)


def recogniser_facts(fit: RecogniserFit) -> dict[str, Any]:
    """The same as plain facts."""
    return {
        "rows": fit.n_rows,
        "columns": list(column_names(fit)),
        "identities": fit.classes.tolist(),
        "kept": {"components": fit.space.k, "share": float(fit.space.shares.sum()), "dropped": fit.drop_first},
        "metric": fit.metric,
        "n_neighbors": fit.n_neighbors,
        "unknown": fit.unknown,
        "max_distance": fit.max_distance,
        "least_log_likelihood": fit.least_density,
        "trial": {name: rate_facts(rate) for name, rate in fit.trial_rates().items()},
        "certificate": {"reached": fit.reached, "sentence": accuracy(fit.space)},
    }


def rate_facts(rate: Any) -> dict[str, Any]:
    """A share or a number with its interval."""
    counts = {"count": rate.count, "of": rate.of} if isinstance(rate, Rate) else {}
    return {"value": rate.value, "low": rate.low, "high": rate.high, **counts}


def interval(rate: Any) -> str:
    """A share with its interval, as a person says it."""
    return f"{100 * rate.value:.1f} % ({100 * rate.low:.1f} to {100 * rate.high:.1f})"


def _gallery(fit: RecogniserFit) -> str:
    rows = fit.rows_of_each
    each = f"{rows.min()}" if rows.min() == rows.max() else f"{rows.min()} to {rows.max()}"
    return f"{counted(fit.n_rows, 'row')} of {identities(fit)}, {each} of each"


def identities(fit: RecogniserFit) -> str:
    """How many there are."""
    return "1 identity" if len(fit.classes) == 1 else f"{len(fit.classes):,} identities"


def space_in_words(fit: RecogniserFit) -> str:
    """What rows are compared in."""
    return f"{counted(fit.space.k, 'component')} that keep {percent(float(fit.space.shares.sum()))} of the variance"


def _tried(fit: RecogniserFit) -> list[str]:
    return [f"{name}: {interval(rate)} of {rate.of:,}" for name, rate in fit.trial_rates().items() if rate.of]
