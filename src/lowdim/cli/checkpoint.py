"""Fits that Ctrl-C stopped: what was learnt is kept in a file, and a later command goes on from there.

A checkpoint is a model file of the rows read so far. It is never deleted here: the command that completes the fit says
that it can be.
"""

from __future__ import annotations

import os
import shlex
import sys
import warnings
from typing import TYPE_CHECKING, Any, cast

from lowdim.cli.errors import INTERRUPTED, say_line
from lowdim.cli.options import load_model, refuse_no_model
from lowdim.errors import CannotMerge, WrongColumns

if TYPE_CHECKING:
    from lowdim.models.base.estimator import Model
    from lowdim.sources.source import Source


def keep_part(stop: KeyboardInterrupt, argv: list[str], save: str | None) -> int:
    """Write a checkpoint, if there is anything to keep, and say how to go on."""
    from lowdim.models.autoencoder.record import NetworkFit
    from lowdim.results.certificate import counted

    model: Any = getattr(stop, "model", None)
    if model is None:
        say_line("interrupted; nothing was kept, as this fit can only be begun anew")
        return INTERRUPTED
    begun = getattr(model, "begun_", None)
    path = f"{os.path.splitext(save)[0] if save else 'lowdim'}.part.lowdim"
    record = getattr(model, "_record", None)  # PCA's fit_ would find components now, of too few rows perhaps
    if isinstance(record, NetworkFit):
        from lowdim.models.autoencoder import checkpoint

        checkpoint.write_checkpoint(path, *model.begun_)
        come = counted(len(record.training.curve), "epoch")
    elif begun is not None:
        from lowdim.models.probabilistic_pca.checkpoint import write_checkpoint

        write_checkpoint(path, begun)
        come = f"{model.n_iter_:,} steps of EM"
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about components, which a checkpoint is not for
            model.set_params(n_components=1).save(path)
        come = f"{model.n_samples_:,} rows"
    say_line(f"interrupted after {come}, which {path} keeps; go on with")
    print(f"  {shlex.join(['lowdim', *without_resume(argv), '--resume', path])}", flush=True, file=sys.stderr)
    return INTERRUPTED


def carried_on(estimator: Model, source: Source, path: str, quiet: bool, data: str) -> Model:
    """The fit of all rows of the source, from a checkpoint; the settings are the estimator's."""
    from lowdim.cli.console import shown
    from lowdim.models.pca.model import PCA, carry_on

    refuse_no_model(path)
    try:
        with shown(quiet, data):
            if not isinstance(estimator, PCA):  # these keep a state of their own, and go on keeping it
                return cast("Model", estimator.set_params(checkpoint=path).fit(source))
            part = load_model(path)
            if not isinstance(part, PCA):
                raise CannotMerge("keeps another model than --model pca.")
            whole = carry_on(estimator, part, source)
            whole.fit_  # noqa: B018  components are computed when they are first asked for
    except (CannotMerge, WrongColumns) as error:
        if not str(error).startswith(path):
            error.said_of(path)
        raise
    return whole


def without_resume(argv: list[str]) -> list[str]:
    """A command line without its --resume."""
    kept: list[str] = []
    skip = False
    for word in argv:
        if skip:
            skip = False
        elif word == "--resume":
            skip = True
        elif not word.startswith("--resume="):
            kept.append(word)
    return kept
