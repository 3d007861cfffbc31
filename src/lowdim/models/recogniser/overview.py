"""What card, screen, JSON and page show of a recogniser."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from lowdim.models.base.output import overview_of
from lowdim.models.base.report import PageRequest
from lowdim.models.linear.overview import linear_payload, row_limits
from lowdim.models.recogniser.record import COSINE, EUCLID, Rate, RecogniserFit
from lowdim.views.overview import Block, Fact, Listed, Number, Overview
from lowdim.views.report.page import replace_head, sentence
from lowdim.views.report.payload import Payload, Section, colour_column
from lowdim.views.report.sections import table_section
from lowdim.views.text.lines import percent
from lowdim.words import plural


def overview(fit: RecogniserFit) -> Overview:
    """What is said of a gallery, how rows are compared, and which are turned away; trusted as far as its space."""
    space = overview_of(fit.space)
    compared, somebody = compared_in_words(fit), rejection_in_words(fit)
    return Overview(
        fit=fit,
        model="Recogniser",
        trust=space.trust,
        kept=f"{identities(fit)}, {space_in_words(fit)}",
        finding=identities(fit),
        lead=f"{plural(len(fit.classes), 'label')} told apart {compared}.",
        in_file=f"recogniser of {identities(fit)}",
        axes=space.axes,
        glance=space.glance,
        facts=(Fact("compared", compared), Fact("somebody?", somebody)),
        screen=partial(_screen, fit, space.trust.sentence),
        grows=None,
        story=partial(_story, fit, space.trust.sentence),
        numbers=(Number("labels", f"{len(fit.classes):,}"), Number("coordinates", f"{fit.k:,}")),
        scaling=space.scaling,
        details=partial(_details, fit),
    )


def _story(fit: RecogniserFit, accuracy: str) -> tuple[Fact, ...]:
    tried = "\n".join(_tried(fit))
    return (
        Fact("data", fit.provenance.data),
        Fact("gallery", _gallery(fit)),
        Fact("space", space_in_words(fit)),
        Fact("compared", compared_in_words(fit)),
        Fact("somebody?", rejection_in_words(fit)),
        Fact("one such?", space_limit_in_words(fit)),
        *((Fact("tried", tried),) if tried else ()),
        Fact("accuracy", accuracy),
    )


def _screen(fit: RecogniserFit, accuracy: str) -> tuple[Block, ...]:
    return (
        Fact("gallery", _gallery(fit)),
        Listed("known", tuple(str(label) for label in fit.classes)),
        Fact("space", space_in_words(fit)),
        Fact("compared", compared_in_words(fit)),
        Fact("somebody?", rejection_in_words(fit)),
        Fact("one such?", space_limit_in_words(fit)),
        *(Fact("" if i else "tried", text) for i, text in enumerate(_tried(fit))),
        Fact("accuracy", accuracy),
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


def rejection_in_words(fit: RecogniserFit) -> str:
    """When a row is rejected as unknown."""
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


def space_limit_in_words(fit: RecogniserFit) -> str:
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
    return f"{plural(fit.n_rows, 'row')} of {identities(fit)}, {each} of each"


def identities(fit: RecogniserFit) -> str:
    """How many there are."""
    return "1 identity" if len(fit.classes) == 1 else f"{len(fit.classes):,} identities"


def space_in_words(fit: RecogniserFit) -> str:
    """What rows are compared in."""
    return f"{plural(fit.space.k, 'component')} that keep {percent(float(fit.space.shares.sum()))} of the variance"


def _tried(fit: RecogniserFit) -> list[str]:
    return [f"{name}: {interval(rate)} of {rate.of:,}" for name, rate in fit.trial_rates().items() if rate.of]


# The page.


def page(model: Any, asked: PageRequest) -> Payload:
    """The page of the space of the gallery, with scores of rows in it, and of its own trial."""
    fit, rows, context = model.fit_, asked.rows, asked.context
    context = replace(context, sections=(_gallery_section(fit), *_trial_section(fit), *context.sections))
    if rows is None:
        return replace_head(overview(fit), linear_payload(fit.space, None, context))
    limits, why = row_limits(model.space_, rows, may_miss=False)
    found = colour_column("recognised as", [str(one) for one in model.predict(rows.source)])
    context = replace(context, colours=(*rows.colours, found), limits=limits, no_limits=why)
    scores = np.asarray(model.space_._scores(rows.source))
    return replace_head(overview(fit), linear_payload(fit.space, scores, context))


def _gallery_section(fit: RecogniserFit) -> Section:
    listed = {"label": [str(one) for one in fit.classes], "rows": fit.rows_of_each.tolist()}
    return table_section("The gallery", listed, sentence(rejection_in_words(fit)))


def _trial_section(fit: RecogniserFit) -> tuple[Section, ...]:
    rates = fit.trial_rates()
    if not rates:
        return ()
    listed: dict[str, list[Any]] = {
        "what": list(rates),
        "share": [one.value for one in rates.values()],
        "lower": [one.low for one in rates.values()],
        "upper": [one.high for one in rates.values()],
        "of": [one.of for one in rates.values()],
    }
    note = "Each row was tried as if it were new, with components of the other rows alone; intervals of 95 %."
    return (table_section("How often it would be wrong", listed, note),)
