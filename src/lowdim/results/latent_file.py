"""A probabilistic fit as facts and arrays of a model file, and back: a linear one, and what it knows beside that."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import FormatError
from lowdim.results.latent import Ascent, LatentFit
from lowdim.results.linear import LinearFit
from lowdim.results.linear_file import Arrays, pack_linear, unpack_linear
from lowdim.results.strict import array, facts, flag, mapping, number, optional, whole

FIT = {"linear": mapping, "noise": number, "loglik": number, "uncertain": flag, "ascent": optional(mapping)}
ASCENT = {"steps": whole, "converged": flag, "change": number, "refused": whole}


def pack_latent(fit: LatentFit) -> tuple[dict[str, Any], Arrays]:
    """Facts and arrays of a fit."""
    if fit.changed:  # EM did not lead here
        fit = replace(fit, ascent=None)
    linear, arrays = pack_linear(replace(fit, mean=np.nan_to_num(fit.mean)))  # NaN where nothing was observed
    arrays["observed"] = np.asarray(fit.observed, dtype=np.int64)
    uncertain = fit.spread is not None
    known: dict[str, Any] = {"linear": linear, "noise": fit.noise, "loglik": fit.loglik, "uncertain": uncertain}
    if fit.spread is not None:
        arrays["spread"] = fit.spread
    known["ascent"], ascent = None, fit.ascent
    if ascent is not None:
        arrays |= {"ascent_loglik": np.array(ascent.loglik), "ascent_logpost": np.array(ascent.logpost)}
        known["ascent"] = {
            "steps": len(ascent.loglik),
            "converged": ascent.converged,
            "change": ascent.change if math.isfinite(ascent.change) else -1.0,  # none was measured
            "refused": ascent.refused,
        }
    return known, arrays


def unpack_latent(given: Any, arrays: Mapping[str, NDArray[Any]]) -> LatentFit:
    """The fit that `pack_latent` took apart."""
    known = facts(given, "fit", FIT)
    linear = unpack_linear(known["linear"], arrays)
    observed = array(arrays, "observed", linear.mean.shape, np.int64)
    if known["noise"] <= 0 or (observed < 0).any() or (observed > linear.n_rows).any():
        raise FormatError("The model file holds a noise or numbers of observed entries that no fit can have.")
    k = linear.k
    plain = {field.name: getattr(linear, field.name) for field in fields(LinearFit)}
    plain["mean"] = np.where(observed > 0, linear.mean, np.nan)
    return LatentFit(
        **plain,
        noise=float(known["noise"]),
        loglik=float(known["loglik"]),
        observed=observed,
        spread=array(arrays, "spread", (len(observed), (k + 1) * (k + 2) // 2)) if known["uncertain"] else None,
        ascent=None if known["ascent"] is None else _ascent(known["ascent"], arrays),
    )


def _ascent(given: Any, arrays: Mapping[str, NDArray[Any]]) -> Ascent:
    known = facts(given, "ascent", ASCENT)
    return Ascent(
        loglik=tuple(array(arrays, "ascent_loglik", (known["steps"],)).tolist()),
        logpost=tuple(array(arrays, "ascent_logpost", (known["steps"],)).tolist()),
        converged=known["converged"],
        change=float(known["change"]) if known["change"] >= 0 else math.inf,
        refused=known["refused"],
    )
