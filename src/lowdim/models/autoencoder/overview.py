"""An autoencoder in words, on one screen, and as plain facts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lowdim.models.autoencoder.figures import learning_curve
from lowdim.models.autoencoder.record import NetworkFit
from lowdim.results.certificate import counted
from lowdim.views.text.explain import size
from lowdim.views.text.lines import Line, bar, shortened, wrapped
from lowdim.views.text.screen import BAR, About, fit_screen, model_screen
from lowdim.words import column_names

MOST_EPOCHS = 6
"""Epochs that are shown one by one, beside the one whose weights were kept."""

LOSS = {
    "bce": "cross-entropy: the outputs are chances from 0 to 1",
    "mse": "mean squared error of the columns as they enter, centred and scaled",
}


def explain_network(fit: NetworkFit) -> str:
    """The story of a fit."""
    made, how = fit.provenance, fit.training
    aside = f", {counted(how.n_validation, 'row')} set aside to judge" if how.n_validation else ", none set aside"
    lines = [f"data       {made.data}"]
    if fit.missing:
        lines.append(f"missing    {fit.missing:,} of {fit.n_rows * fit.n_columns:,} values")
    lines += [
        f"network    {network_in_words(fit)}",
        f"loss       {LOSS[fit.loss]}",
        f"solver     {made.solver}",
        f"because    {made.reason}",
        f"read       {counted(made.passes, 'pass', 'es')} over the rows",
        *_steps(fit),
        f"rows       {counted(how.n_train, 'row')} learnt from{aside}",
        f"memory     about {size(made.memory)} beside the data and the result",
        f"kept       {counted(fit.k, 'code')}: {counted(fit.n_weights, 'weight')}, {_bytes(fit)}",
        f"accuracy   {standing(fit)}",
    ]
    return "\n".join(lines)


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


def network_summary(fit: NetworkFit, about: About, width: int = 80) -> list[Line]:
    """At most 24 lines of at most `width` characters."""
    return fit_screen(fit, about, headline(fit), _body(fit, width), width)


def network_model_lines(name: str, fit: NetworkFit, width: int = 80) -> list[Line]:
    """What a model file holds."""
    kept = f"Autoencoder, {headline(fit)}"
    return model_screen(name, fit, kept, _body(fit, width), width, later="no rows can be added")


def network_facts(fit: NetworkFit) -> dict[str, Any]:
    """The same as plain facts, for JSON."""
    made, how, curve = fit.provenance, fit.training, learning_curve(fit)
    return {
        "rows": fit.n_rows,
        "columns": list(column_names(fit)),
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
        "certificate": {"reached": fit.reached, "sentence": standing(fit)},
        "made_by": {"solver": made.solver, "reason": made.reason, "passes": made.passes, **dict(made.versions)},
    }


def headline(fit: NetworkFit) -> str:
    """How many codes, and what they lose."""
    found = learning_curve(fit).kept
    loss = "" if math.isnan(found) else f", a loss of {found:.4g} per entry"
    return f"{counted(fit.k, 'code')} for {counted(fit.n_columns, 'column')}{loss}"


def _body(fit: NetworkFit, width: int) -> list[Line]:
    return [
        *_epochs(fit, width),
        *wrapped("network   ", f"{network_in_words(fit)}: {counted(fit.n_weights, 'weight')}", width),
        *wrapped("loss      ", LOSS[fit.loss], width),
        *wrapped("accuracy  ", standing(fit), width),
    ]


def _epochs(fit: NetworkFit, width: int) -> list[Line]:
    """The learning curve in a few lines; bars are of what is judged by."""
    curve = learning_curve(fit)
    last = len(curve.epochs)
    if not last:
        return []
    chosen = sorted({curve.best, *np.geomspace(1, last, MOST_EPOCHS).round().astype(int).tolist()})
    judged = curve.learnt if curve.aside is None else curve.aside
    largest = float(judged.max())
    lines = [Line(f"epoch  learnt from{'' if curve.aside is None else '  set aside'}", "faint")]
    for epoch in chosen:
        aside = "" if curve.aside is None else f"{f'{curve.aside[epoch - 1]:.4g}':<9}  "
        long = bar(float(judged[epoch - 1]) / largest if largest > 0 else 0.0, BAR)
        mark = "  kept" if epoch == curve.best else ""
        text = f"{epoch:>5}  {f'{curve.learnt[epoch - 1]:.4g}':<11}  {aside}{long:<{BAR}}{mark}"
        lines.append(Line(shortened(text.rstrip(), width), "bar"))
    return [*lines, Line("")]


def _steps(fit: NetworkFit) -> list[str]:
    how = fit.training
    if not len(how.curve):
        return []
    penalty = f", l2 {how.l2:g}" if how.l2 else ""
    penalty += f", weight decay {how.weight_decay:g}" if how.weight_decay else ""
    each = (
        f"{counted(how.batch, 'row')} each, learning rate {how.learning_rate:g}" if how.by_batches else "all rows each"
    )
    return [f"steps      {each}{penalty}, on {how.device}"]


def _bytes(fit: NetworkFit) -> str:
    return size(fit.n_weights * fit.encoder[0].weights.itemsize)
