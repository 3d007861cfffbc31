"""A mixture of probabilistic PCAs on one screen, and as plain facts."""

from __future__ import annotations

from typing import Any

import numpy as np

from lowdim.models.ppca_mixture.record import MixtureFit
from lowdim.models.vector_quantizer.figures import clusters
from lowdim.results.certificate import counted
from lowdim.views.text.lines import Line, listed, percent, shortened, wrapped
from lowdim.views.text.screen import BAR, MOST_COMPONENTS, share_head


def mixture_model_lines(name: str, fit: MixtureFit, width: int = 80) -> list[Line]:
    """What a model file holds."""
    c, _, k = fit.loadings.shape
    kept = f"PPCAMixture, {counted(c, 'cluster')} of {counted(k, 'component')}"
    return [
        Line(shortened(name, max(8, width - len(kept) - 2)) + f": {kept}", "title"),
        Line(f"fitted on {counted(fit.n_rows, 'row')} × {counted(fit.n_columns, 'column')}"),
        Line(f"columns   {listed(_names(fit), width - 10)}"),
        Line(""),
        *_cluster_lines(fit, width),
        Line(""),
        Line(f"fit       log-likelihood {fit.loglik:,.6g}, BIC {fit.bic:,.6g}"),
        *wrapped("accuracy  ", mixture_standing(fit), width),
        Line("later     no rows can be added"),
    ]


def mixture_standing(fit: MixtureFit) -> str:
    """How the search ended."""
    how = "EM stood still" if fit.converged else "NOT reached: EM was stopped"
    return f"{how} after {counted(len(fit.path), 'step')}; other starts may end elsewhere"


def mixture_facts(fit: MixtureFit) -> dict[str, Any]:
    """The same as plain facts, for JSON."""
    found = clusters(fit)
    assert found.noise is not None
    each = zip(found.shares, found.noise, found.centres, strict=True)
    return {
        "rows": fit.n_rows,
        "columns": list(_names(fit)),
        "kept": {"clusters": len(fit.weights), "components": fit.loadings.shape[2]},
        "log_likelihood": fit.loglik,
        "bic": fit.bic,
        "clusters": [{"share_of_rows": float(s), "noise": float(noise), "mean": mean} for s, noise, mean in each],
        "certificate": {"reached": fit.converged, "sentence": mixture_standing(fit)},
    }


def _cluster_lines(fit: MixtureFit, width: int) -> list[Line]:
    """Clusters by the rows they stand for, with the columns in which they differ most from the mean of all rows."""
    found, names = clusters(fit), _names(fit)
    total = np.cumsum(found.shares)
    lines = [Line(f"cluster  rows    in all  {'':{BAR}}  far from the mean in", "faint")]
    for i, far in enumerate(found.offsets[:MOST_COMPONENTS]):
        head = share_head(f"{i + 1}", float(found.shares[i]), float(found.shares[0]), percent(float(total[i])))
        most = np.argsort(-np.abs(far), kind="stable")[:4]
        signs = [f"{'+' if far[j] > 0 else '−'} {names[j]}" for j in most if far[j] != 0]
        lines.append(Line(shortened(head + "  ".join(signs), width), "bar"))
    left = len(found.shares) - MOST_COMPONENTS
    if left > 0:
        rest = share_head("more", float(found.shares[MOST_COMPONENTS:].sum()))
        lines.append(Line(f"{rest}{counted(left, 'more cluster')}", "faint"))
    return lines


def _names(fit: MixtureFit) -> tuple[str, ...]:
    return fit.columns or tuple(f"x{j}" for j in range(fit.n_columns))
