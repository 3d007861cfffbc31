"""A fit as plain facts, for JSON: what a summary says, in numbers."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from lowdim.models.autoencoder.overview import network_facts
from lowdim.models.autoencoder.record import NetworkFit
from lowdim.models.genotype_pca.overview import genotype_facts
from lowdim.models.genotype_pca.record import GenotypeFit
from lowdim.models.kernel_pca.overview import accuracy_in_words, kernel_swamping
from lowdim.models.kernel_pca.record import KernelFit
from lowdim.models.logistic_pca.overview import logistic_facts
from lowdim.models.logistic_pca.record import LogisticFit
from lowdim.models.nmf.overview import descent_in_words, made_of
from lowdim.models.nmf.record import NonNegativeFit
from lowdim.models.pc_regression.overview import regression_facts
from lowdim.models.pc_regression.record import RegressionFit
from lowdim.models.ppca_mixture.overview import mixture_facts
from lowdim.models.ppca_mixture.record import MixtureFit
from lowdim.models.probabilistic_pca.record import LatentFit
from lowdim.models.recogniser.overview import recogniser_facts
from lowdim.models.recogniser.record import RecogniserFit
from lowdim.models.vector_quantizer.overview import codebook_facts
from lowdim.models.vector_quantizer.record import CodebookFit
from lowdim.results.record import LinearFit, Provenance
from lowdim.results.table import Description
from lowdim.views.text.card import trust
from lowdim.views.text.screen import Fit, accuracy, drivers, swamping
from lowdim.words import column_names


def fit_facts(fit: Fit | MixtureFit) -> dict[str, Any]:
    """Rows, columns, components and certificate of a fit."""
    facts = _facts(fit)
    return facts | {"certificate": {"word": trust(fit), **facts["certificate"]}}


def _facts(fit: Fit | MixtureFit) -> dict[str, Any]:
    if isinstance(fit, KernelFit):
        return _kernel_facts(fit)
    if isinstance(fit, NonNegativeFit):
        return _nmf_facts(fit)
    if isinstance(fit, CodebookFit):
        return codebook_facts(fit)
    if isinstance(fit, MixtureFit):
        return mixture_facts(fit)
    if isinstance(fit, LogisticFit):
        return logistic_facts(fit) | {"made_by": _made_by(fit.provenance)}
    if isinstance(fit, NetworkFit):
        return network_facts(fit)
    if isinstance(fit, RegressionFit):
        return regression_facts(fit) | {"made_by": _made_by(fit.provenance)}
    if isinstance(fit, RecogniserFit):
        return recogniser_facts(fit) | {"made_by": _made_by(fit.provenance)}
    certificate = fit.certificate
    total = np.cumsum(fit.shares)
    return {
        "rows": fit.n_rows,
        **_latent_facts(fit),
        **(genotype_facts(fit) if isinstance(fit, GenotypeFit) else {}),
        "columns": list(column_names(fit)),
        "kept": {"components": fit.k, "share": float(fit.shares.sum())},
        "total_variance": fit.total_variance,
        "components": [
            {
                "name": f"PC{i + 1}",
                "variance": float(fit.variances[i]),
                "share": float(fit.shares[i]),
                "cumulative": float(total[i]),
                "driven_by": [{"column": name, "entry": entry} for name, entry in drivers(fit, i)],
            }
            for i in range(fit.k)
        ],
        "swamped_by": [{"column": name, "share": share} for name, share in swamping(fit)],
        "certificate": {
            "reached": fit.reached,
            "sentence": accuracy(fit),
            "relative_error": certificate.relative_error,
            "angle": certificate.axis_angle,
            "tol": certificate.tol,
            "tol_of_total": certificate.floor,
            "data_rounding": certificate.relative_data_rounding,
        },
        "made_by": _made_by(fit.provenance),
    }


def _kernel_facts(fit: KernelFit) -> dict[str, Any]:
    """The same of a kernel PCA; intervals hold the exact numbers."""
    total = np.cumsum(fit.shares)
    return {
        "rows": fit.n_rows,
        "columns": list(column_names(fit)),
        "kernel": {"formula": fit.kernel.formula, **asdict(fit.kernel)},
        "effective_rank": fit.effective_rank,
        "kept": {"components": fit.k, "share": float(fit.shares.sum()), "share_interval": fit.captured},
        "total_variance": fit.total_variance,
        "components": [
            {
                "name": f"PC{i + 1}",
                "variance": float(fit.variances[i]),
                "share": float(fit.shares[i]),
                "cumulative": float(total[i]),
                "share_interval": fit.share_intervals[i],
                "eigenvalue": float(fit.values[i]),
                "eigenvalue_interval": fit.value_intervals[i],
            }
            for i in range(fit.k)
        ],
        "swamped_by": [{"column": name, "share": share} for name, share in kernel_swamping(fit)],
        "certificate": {
            "reached": fit.reached,
            "sentence": accuracy_in_words(fit),
            "sine": fit.sine,
            "trace_residual": fit.found.slack,
            "tol": fit.tol,
        },
        "made_by": _made_by(fit.provenance),
    }


def _nmf_facts(fit: NonNegativeFit) -> dict[str, Any]:
    """The same of a non-negative factorisation."""
    down, stability = fit.descent, fit.stability
    return {
        "rows": fit.n_rows,
        "columns": list(column_names(fit)),
        "missing": fit.missing,
        "loss": {"name": fit.loss_name, "beta": fit.beta, "value": fit.loss, "without_parts": fit.null_loss},
        "kept": {"components": fit.k, "explained_deviance": fit.explained},
        "consensus": fit.consensus,
        "components": [
            {
                "name": f"part{i + 1}",
                "share": float(fit.masses[i]),
                "sparseness": float(fit.sparseness[i]),
                "code_sparseness": float(fit.codes.sparseness[i]),
                "stability": None if stability is None else float(stability[i]),
                "made_of": [{"column": name, "share": share} for name, share in made_of(fit, i)],
            }
            for i in range(fit.k)
        ],
        "certificate": {
            "reached": fit.reached,
            "sentence": descent_in_words(fit),
            "kkt_residual": down.residual,
            "tol": down.tol,
            "steps": down.steps,
        },
        "made_by": _made_by(fit.provenance),
    }


def _made_by(made: Provenance) -> dict[str, Any]:
    return {"solver": made.solver, "reason": made.reason, "passes": made.passes, **dict(made.versions)}


def _latent_facts(fit: LinearFit) -> dict[str, Any]:
    """What only a probabilistic fit knows."""
    if not isinstance(fit, LatentFit):
        return {}
    known = {"missing": fit.missing, "noise_variance": fit.noise, "loglik": fit.loglik, "bic": fit.bic}
    return known | ({} if fit.ascent is None else {"steps": len(fit.ascent.loglik) + fit.ascent.refused})


def description_facts(found: Description) -> dict[str, Any]:
    """Rows, and of each column what is missing and its range."""
    return {
        "rows": found.n_rows,
        "complete_rows": found.complete_rows,
        "columns": [
            {"name": name, "missing": missing, "infinite": infinite, "smallest": least, "largest": most}
            for name, missing, infinite, least, most in zip(
                found.columns,
                found.missing.tolist(),
                found.infinite.tolist(),
                found.least.tolist(),
                found.most.tolist(),
                strict=True,
            )
        ],
    }
