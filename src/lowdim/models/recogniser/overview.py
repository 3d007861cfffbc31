"""A recogniser in words."""

from __future__ import annotations

from functools import partial
from typing import Any

from lowdim.models.base.overview import overview_of
from lowdim.models.recogniser.record import COSINE, EUCLID, Rate, RecogniserFit
from lowdim.results.certificate import counted
from lowdim.views.overview import Block, Fact, Listed, Overview, Said
from lowdim.views.text.lines import percent


def overview(fit: RecogniserFit) -> Overview:
    """What is said of a gallery, how rows are compared, and which are turned away; trusted as far as its space."""
    space = overview_of(fit.space)
    compared, somebody = compared_in_words(fit), somebody_in_words(fit)
    return Overview(
        fit=fit,
        model="Recogniser",
        trust=space.trust,
        kept=f"{identities(fit)}, {space_in_words(fit)}",
        finding=identities(fit),
        lead=f"{counted(len(fit.classes), 'label')} told apart {compared}.",
        in_file=f"recogniser of {identities(fit)}",
        axes=space.axes,
        glance=space.glance,
        facts=(Said("compared", compared), Said("somebody?", somebody)),
        screen=partial(_screen, fit, space.trust.sentence),
        grows=None,
        story=partial(_story, fit, space.trust.sentence),
        numbers=(Fact("labels", f"{len(fit.classes):,}"), Fact("coordinates", f"{fit.k:,}")),
        scaling=space.scaling,
        details=partial(_details, fit),
    )


def _story(fit: RecogniserFit, accuracy: str) -> tuple[Said, ...]:
    tried = "\n".join(_tried(fit))
    return (
        Said("data", fit.provenance.data),
        Said("gallery", _gallery(fit)),
        Said("space", space_in_words(fit)),
        Said("compared", compared_in_words(fit)),
        Said("somebody?", somebody_in_words(fit)),
        Said("one such?", inside_in_words(fit)),
        *((Said("tried", tried),) if tried else ()),
        Said("accuracy", accuracy),
    )


def _screen(fit: RecogniserFit, accuracy: str) -> tuple[Block, ...]:
    return (
        Said("gallery", _gallery(fit)),
        Listed("known", tuple(str(label) for label in fit.classes)),
        Said("space", space_in_words(fit)),
        Said("compared", compared_in_words(fit)),
        Said("somebody?", somebody_in_words(fit)),
        Said("one such?", inside_in_words(fit)),
        *(Said("" if i else "tried", text) for i, text in enumerate(_tried(fit))),
        Said("accuracy", accuracy),
    )


def _details(fit: RecogniserFit) -> dict[str, Any]:
    return {
        "identities": fit.classes.tolist(),
        "kept": {"components": fit.space.k, "share": float(fit.space.shares.sum()), "dropped": fit.drop_first},
        "metric": fit.metric,
        "n_neighbors": fit.n_neighbors,
        "unknown": fit.unknown,
        "max_distance": fit.max_distance,
        "least_log_likelihood": fit.least_density,
        "trial": {name: rate_facts(rate) for name, rate in fit.trial_rates().items()},
    }


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
