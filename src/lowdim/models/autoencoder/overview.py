"""An autoencoder in words."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from lowdim.models.autoencoder.figures import LearningCurve, learning_curve
from lowdim.models.autoencoder.record import NetworkFit
from lowdim.results.certificate import counted
from lowdim.types import Floats
from lowdim.views.overview import (
    BLANK,
    Bar,
    Bars,
    Block,
    Fact,
    Glance,
    Overview,
    Said,
    missing_in_words,
    numbered,
    sought,
    steps_in_words,
)
from lowdim.views.text.lines import size

MOST_EPOCHS = 6
"""Epochs that are shown one by one, beside the one whose weights were kept."""

LOSS = {
    "bce": "cross-entropy: the outputs are chances from 0 to 1",
    "mse": "mean squared error of the columns as they enter, centred and scaled",
}


TRAINED = (
    "A network has no certificate. It was trained until more epochs no longer paid, or as long as was asked. Rows that "
    "were set aside say how well it does on new ones; another seed gives another network."
)


def overview(fit: NetworkFit) -> Overview:
    """What is said of a network."""
    curve, network = learning_curve(fit), network_in_words(fit)
    epochs = len(curve.epochs)
    kept = Fact("loss per entry", f"{curve.kept:.4g}", LOSS[fit.loss]) if epochs else Fact("loss", "exact")
    return Overview(
        fit=fit,
        model="Autoencoder",
        trust=sought(fit.reached, standing(fit), TRAINED),
        kept=headline(fit),
        finding=headline(fit),
        lead=f"A network of {counted(fit.n_weights, 'weight')} that turns {counted(fit.n_columns, 'column')} into "
        f"{counted(fit.k, 'code')} and back.",
        axes=numbered("code ", fit.k),
        glance=_fall(_judged(curve), curve.best) if epochs else None,
        facts=(
            Said("network", network),
            *((Said("epochs", steps_in_words(epochs, fit.reached)),) if epochs else ()),
        ),
        screen=partial(_screen, fit),
        story=partial(_story, fit),
        numbers=(Fact("codes", f"{fit.k:,}", network), kept),
        details=partial(_details, fit),
    )


def headline(fit: NetworkFit) -> str:
    """How many codes, and what they lose."""
    found = learning_curve(fit).kept
    loss = "" if math.isnan(found) else f", a loss of {found:.4g} per entry"
    return f"{counted(fit.k, 'code')} for {counted(fit.n_columns, 'column')}{loss}"


def network_in_words(fit: NetworkFit) -> str:
    """784–1000–500–250–30–250–500–1000–784, and what its units do."""
    units = f"{fit.activation} units" if len(fit.widths) > 3 else "no hidden units"
    return f"{'–'.join(map(str, fit.widths))}, {units}, linear codes"


def standing(fit: NetworkFit) -> str:
    """How the training ended."""
    how, curve = fit.training, learning_curve(fit)
    epochs = len(curve.epochs)
    if not epochs:
        return "solved exactly: no epochs were needed"
    judged = f"{counted(how.n_validation, 'row')} set aside" if curve.aside is not None else "the rows learnt from"
    kept = f"the weights of epoch {how.best + 1} are kept, with a loss of {curve.kept:.4g} per entry on {judged}"
    if how.diverged:
        return f"NOT reached: epoch {epochs + 1} left the range of numbers, and a lower learning rate is needed; {kept}"
    if how.stopped:
        return f"stopped after {counted(epochs, 'epoch')}, as more no longer paid; {kept}"
    if how.by_batches:
        return f"the {counted(epochs, 'epoch')} asked for were made, the last ones by ever smaller steps; {kept}"
    return f"NOT reached: training ended with the {counted(epochs, 'epoch')} allowed, and more may pay; {kept}"


def _judged(curve: LearningCurve) -> Floats:
    """(epochs,) losses that the weights are chosen by."""
    return curve.learnt if curve.aside is None else curve.aside


def _fall(losses: Floats, best: int) -> Glance | None:
    """A curve from the largest loss to the smallest; none where nothing was learnt or numbers were left."""
    low, high = float(losses.min()), float(losses.max())
    if not (np.isfinite(losses).all() and low < high):
        return None
    return Glance((losses - low) / (high - low), best, f"loss by epoch, {best} kept", falls=True)


def _screen(fit: NetworkFit) -> tuple[Block, ...]:
    return (
        *_epochs(learning_curve(fit)),
        Said("network", f"{network_in_words(fit)}: {counted(fit.n_weights, 'weight')}"),
        Said("loss", LOSS[fit.loss]),
        Said("accuracy", standing(fit)),
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
            float(_judged(curve)[epoch - 1]),
            text="  kept" * (epoch == curve.best),
        )
        for epoch in chosen
    )
    title, aside = ("epoch  learnt from", "") if curve.aside is None else ("epoch  learnt from  set aside", "{:<9}  ")
    return Bars(title, lines, "{:>5}  {:<11}  " + aside + "{bar:14}"), BLANK


def _story(fit: NetworkFit) -> tuple[Said, ...]:
    made, how = fit.provenance, fit.training
    aside = f", {counted(how.n_validation, 'row')} set aside to judge" if how.n_validation else ", none set aside"
    return (
        Said("data", made.data),
        *missing_in_words(fit),
        Said("network", network_in_words(fit)),
        Said("loss", LOSS[fit.loss]),
        Said("solver", made.solver),
        Said("because", made.reason),
        Said("read", f"{counted(made.passes, 'pass', 'es')} over the rows"),
        *_steps(fit),
        Said("rows", f"{counted(how.n_train, 'row')} learnt from{aside}"),
        Said("memory", f"about {size(made.memory)} beside the data and the result"),
        Said("kept", f"{counted(fit.k, 'code')}: {counted(fit.n_weights, 'weight')}, {_bytes(fit)}"),
        Said("accuracy", standing(fit)),
    )


def _details(fit: NetworkFit) -> dict[str, Any]:
    how, curve = fit.training, learning_curve(fit)
    return {
        "missing": fit.missing,
        "network": {"widths": list(fit.widths), "activation": fit.activation, "weights": fit.n_weights},
        "loss": {"name": fit.loss, "value": None if math.isnan(curve.kept) else curve.kept},
        "kept": {"components": fit.k},
        "components": [
            {"name": f"code{i + 1}", "mean": float(mean), "variance": float(variance)}
            for i, (mean, variance) in enumerate(zip(fit.code_mean, np.diag(fit.code_covariance), strict=True))
        ],
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


def _steps(fit: NetworkFit) -> list[Said]:
    how = fit.training
    if not len(how.curve):
        return []
    penalty = f", l2 {how.l2:g}" if how.l2 else ""
    penalty += f", weight decay {how.weight_decay:g}" if how.weight_decay else ""
    each = (
        f"{counted(how.batch, 'row')} each, learning rate {how.learning_rate:g}" if how.by_batches else "all rows each"
    )
    return [Said("steps", f"{each}{penalty}, on {how.device}")]


def _bytes(fit: NetworkFit) -> str:
    return size(fit.n_weights * fit.encoder[0].weights.itemsize)
