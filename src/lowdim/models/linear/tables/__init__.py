"""Tables of every linear model: of its components and columns, of rows, of rotated components, of outliers.

Each is a function of the model, rows X (or None) and settings; `model.table(name, X)` finds it here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lowdim.models.base.output import scores
from lowdim.models.linear.tables import columns, outliers, rotated, rows

TABLES: dict[str, Callable[..., Any]] = {
    "eigenvalues": columns.eigenvalues,
    "components": columns.components,
    "loadings": columns.loadings,
    "compression": columns.compression,
    "correlations": columns.correlations,
    "column_contributions": columns.column_contributions,
    "column_cos2": columns.column_cos2,
    "drivers": columns.drivers,
    "scores": scores,
    "row_contributions": rows.row_contributions,
    "row_cos2": rows.row_cos2,
    "supplementary": columns.supplementary,
    "outliers": outliers.outliers,
    "limits": outliers.limits,
    "outlier_columns": outliers.outlier_columns,
    "biplot": rows.biplot_table,
    "rotated": rotated.rotated,
    "rotated_shares": rotated.rotated_shares,
    "rotated_scores": rotated.rotated_scores,
}
"""Name → what makes the table of a model, rows and settings."""
