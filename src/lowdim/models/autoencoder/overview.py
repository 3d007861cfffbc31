"""What card, screen, JSON and page show of an autoencoder."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from lowdim.models.autoencoder.figures import LearningCurve, learning_curve
from lowdim.models.autoencoder.record import NetworkFit
from lowdim.models.base.report import PageRequest, ReportRows
from lowdim.sources.arrays import ArraySource
from lowdim.types import Floats
from lowdim.views import overview as view
from lowdim.views.overview import BLANK, Bar, Bars, Block, Fact, Glance, Number, Overview
from lowdim.views.report.page import page_of
from lowdim.views.report.payload import Payload, Section
from lowdim.views.report.sections import MOST_PICTURES, curves_section, drawn_row, table_section
from lowdim.views.text.lines import size
from lowdim.words import column_names, plural

MOST_EPOCHS = 6
"""Epochs that are shown one by one, beside the one whose weights were kept."""

LOSS = {
    "bce": "cross-entropy: the outputs are chances from 0 to 1",
    "mse": "mean squared error of the columns as they enter, centred and scaled",
}

MEANING = (
    "A network has no certificate. It was trained until more epochs no longer paid, or as long as was asked. Rows that "
    "were set aside say how well it does on new ones; another seed gives another network."
)


def overview(fit: NetworkFit) -> Overview:
    """What is said of a network."""
    curve, network = learning_curve(fit), network_in_words(fit)
    epochs = len(curve.epochs)
    kept = Number("loss per entry", f"{curve.kept:.4g}", LOSS[fit.loss]) if epochs else Number("loss", "exact")
    return Overview(
        fit=fit,
        model="Autoencoder",
        trust=view.search_trust(fit.reached, training_in_words(fit), MEANING),
        kept=headline(fit),
        finding=headline(fit),
        lead=f"A network of {plural(fit.n_weights, 'weight')} that turns {plural(fit.n_columns, 'column')} into "
        f"{plural(fit.k, 'code')} and back.",
        axes=view.number_names("code ", fit.k),
        glance=_fall(curve.judged, curve.best) if epochs else None,
        facts=(
            Fact("network", network),
            *((Fact("epochs", view.steps_in_words(epochs, fit.reached)),) if epochs else ()),
        ),
        screen=partial(_screen, fit),
        story=partial(_story, fit),
        numbers=(Number("codes", f"{fit.k:,}", network), kept),
        details=partial(_details, fit),
    )


def headline(fit: NetworkFit) -> str:
    """How many codes, and what they lose."""
    found = learning_curve(fit).kept
    loss = "" if math.isnan(found) else f", a loss of {found:.4g} per entry"
    return f"{plural(fit.k, 'code')} for {plural(fit.n_columns, 'column')}{loss}"


def network_in_words(fit: NetworkFit) -> str:
    """784–1000–500–250–30–250–500–1000–784, and what its units do."""
    units = f"{fit.activation} units" if len(fit.widths) > 3 else "no hidden units"
    return f"{'–'.join(map(str, fit.widths))}, {units}, linear codes"


def training_in_words(fit: NetworkFit) -> str:
    """How the training ended."""
    how, curve = fit.training, learning_curve(fit)
    epochs = len(curve.epochs)
    if not epochs:
        return "solved exactly: no epochs were needed"
    judged = f"{plural(how.n_validation, 'row')} set aside" if curve.aside is not None else "the rows learnt from"
    kept = f"the weights of epoch {how.best + 1} are kept, with a loss of {curve.kept:.4g} per entry on {judged}"
    if how.diverged:
        return f"NOT reached: epoch {epochs + 1} left the range of numbers, and a lower learning rate is needed; {kept}"
    if how.stopped:
        return f"stopped after {plural(epochs, 'epoch')}, as more no longer paid; {kept}"
    if how.by_batches:
        return f"the {plural(epochs, 'epoch')} asked for were made, the last ones by ever smaller steps; {kept}"
    return f"NOT reached: training ended with the {plural(epochs, 'epoch')} allowed, and more may pay; {kept}"


def _fall(losses: Floats, best: int) -> Glance | None:
    """A curve from the largest loss to the smallest; none where nothing was learnt or numbers were left."""
    low, high = float(losses.min()), float(losses.max())
    if not (np.isfinite(losses).all() and low < high):
        return None
    return Glance((losses - low) / (high - low), best, f"loss by epoch, {best} kept", falls=True)


def _screen(fit: NetworkFit) -> tuple[Block, ...]:
    return (
        *_epochs(learning_curve(fit)),
        Fact("network", f"{network_in_words(fit)}: {plural(fit.n_weights, 'weight')}"),
        Fact("loss", LOSS[fit.loss]),
        Fact("accuracy", training_in_words(fit)),
    )


def _epochs(curve: LearningCurve) -> tuple[Block, ...]:
    """The learning curve in a few lines; bars are of what is judged by."""
    if not len(curve.epochs):
        return ()
    chosen = sorted({curve.best, *np.geomspace(1, len(curve.epochs), MOST_EPOCHS).round().astype(int).tolist()})
    losses = [curve.learnt] if curve.aside is None else [curve.learnt, curve.aside]
    lines = tuple(
        Bar(
            (f"{epoch}", *(f"{loss[epoch - 1]:.4g}" for loss in losses)),
            float(curve.judged[epoch - 1]),
            text="  kept" * (epoch == curve.best),
        )
        for epoch in chosen
    )
    title, aside = ("epoch  learnt from", "") if curve.aside is None else ("epoch  learnt from  set aside", "{:<9}  ")
    return Bars(title, lines, "{:>5}  {:<11}  " + aside + "{bar:14}"), BLANK


def _story(fit: NetworkFit) -> tuple[Fact, ...]:
    made, how = fit.provenance, fit.training
    aside = f", {plural(how.n_validation, 'row')} set aside to judge" if how.n_validation else ", none set aside"
    rows = Fact("rows", f"{plural(how.n_train, 'row')} learnt from{aside}")
    return (
        Fact("data", made.data),
        *view.missing_in_words(fit),
        Fact("network", network_in_words(fit)),
        Fact("loss", LOSS[fit.loss]),
        *view.solved_in_words(made, "the data and the result", "the rows", *_steps(fit), rows),
        Fact("kept", f"{plural(fit.k, 'code')}: {plural(fit.n_weights, 'weight')}, {_bytes(fit)}"),
        Fact("accuracy", training_in_words(fit)),
    )


def _details(fit: NetworkFit) -> dict[str, Any]:
    how, curve = fit.training, learning_curve(fit)
    return {
        "missing": fit.missing,
        "network": {"widths": list(fit.widths), "activation": fit.activation, "weights": fit.n_weights},
        "loss": {"name": fit.loss, "value": None if math.isnan(curve.kept) else curve.kept},
        "kept": {"components": fit.k},
        "components": view.component_facts(
            name=view.number_names("code", fit.k), mean=fit.code_mean, variance=np.diag(fit.code_covariance)
        ),
        "training": {
            "epochs": len(curve.epochs),
            "best": how.best + 1,
            "stopped_early": how.stopped,
            "optimizer": how.optimizer,
            "batch": how.batch,
            "learning_rate": how.learning_rate,
            "l2": how.l2,
            "weight_decay": how.weight_decay,
            "learnt_from": how.n_train,
            "set_aside": how.n_validation,
            "device": how.device,
            "loss_learnt_from": curve.learnt,
            "loss_set_aside": curve.aside,
        },
    }


def _steps(fit: NetworkFit) -> list[Fact]:
    how = fit.training
    if not len(how.curve):
        return []
    penalty = f", l2 {how.l2:g}" if how.l2 else ""
    penalty += f", weight decay {how.weight_decay:g}" if how.weight_decay else ""
    each = (
        f"{plural(how.batch, 'row')} each, learning rate {how.learning_rate:g}" if how.by_batches else "all rows each"
    )
    return [Fact("steps", f"{each}{penalty}, on {how.device}")]


def _bytes(fit: NetworkFit) -> str:
    return size(fit.n_weights * fit.encoder[0].weights.itemsize)


# The page.

MOST_REBUILT = 2_000
"""Rows that are sent through a network and back."""


def page(model: Any, asked: PageRequest) -> Payload:
    """The page of a network; its codes belong to no column alone."""
    fit, seen = model.fit_, overview(model.fit_)
    curve = learning_curve(fit)
    learnt = (learning_section(curve, fit.reached, seen.trust.sentence),) if len(curve.epochs) else ()
    rebuilt = () if asked.read is None else _from_codes(model, asked.read, asked.context.picture)
    return page_of(seen, asked.scores(model), asked.with_sections(*rebuilt), *learnt)


def _from_codes(model: Any, rows: ReportRows, picture: tuple[int, ...] | None) -> tuple[Section, ...]:
    """What a network makes of rows: some as pictures, or how much of each column comes back."""
    values = rows.values[:MOST_REBUILT]
    if np.isnan(values).any():
        return ()
    told = np.asarray(model.inverse_transform(model.transform(ArraySource(values, rows.source.columns))))
    if picture is not None:
        return (rebuilt_section(values, told, picture, int(model.fit_.k)),)
    left, all_ = ((values - told) ** 2).sum(axis=0), ((values - values.mean(axis=0)) ** 2).sum(axis=0)
    kept = 1 - left / np.where(all_ > 0, all_, np.nan)
    order = np.argsort(-np.nan_to_num(kept, nan=-np.inf), kind="stable")
    names = column_names(model.fit_)
    listed = {"column": [names[j] for j in order], "share of its variance that comes back": kept[order].tolist()}
    note = f"Of {len(values):,} rows through the network and back; 1 is all of it, below 0 is worse than the mean."
    return (table_section("What comes back from the codes", listed, note),)


def rebuilt_section(rows: Floats, told: Floats, shape: tuple[int, ...], k: int) -> Section:
    """Rows (n, p) that are pictures, and what k codes make of them; the error is |X − X̂| / |X| of all."""
    error = float(np.linalg.norm(rows - told) / max(float(np.linalg.norm(rows)), 1e-300))
    model = {
        "name": f"from {k:,} {'code' if k == 1 else 'codes'}",
        "error": error,
        "pictures": [
            drawn_row(back, row, shape) for back, row in zip(told[:MOST_PICTURES], rows[:MOST_PICTURES], strict=True)
        ],
        "basis": [],
        "k": k,
    }
    shown = [drawn_row(row, row, shape) for row in rows[:MOST_PICTURES]]
    return Section("gallery", "Pictures from the codes", {"originals": shown, "models": [model]})


def learning_section(found: LearningCurve, good: bool, sentence: str) -> Section:
    """Loss of a network after every epoch, of rows it learns from and of rows set aside."""
    curves = {"rows learnt from": found.learnt} | ({} if found.aside is None else {"rows set aside": found.aside})
    word = "training is done" if good else "training was cut short"
    ended = {"best": found.best, "rises": False, "good": good, "word": word, "sentence": sentence}
    return curves_section("How the network learnt", "loss per entry", "epoch", curves, **ended)
