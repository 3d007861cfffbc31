"""`table(name)` of every linear model: which tables there are, and who makes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar, cast

from lowdim.errors import BadParameter
from lowdim.models.linear.tables import columns, outliers, rotated, rows
from lowdim.models.linear.tables.columns import supplementary
from lowdim.models.linear.tables.rotated import Rotation
from lowdim.views.plots.rows import Biplot

if TYPE_CHECKING:
    from lowdim.models.linear.model import LinearModel

TABLES: dict[str, Callable[..., Any]] = {
    "eigenvalues": columns.eigenvalues,
    "components": columns.components,
    "loadings": columns.loadings,
    "compression": columns.compression,
    "correlations": columns.correlations,
    "column_contributions": columns.column_contributions,
    "column_cos2": columns.column_cos2,
    "drivers": columns.drivers,
    "scores": rows.scores,
    "row_contributions": rows.row_contributions,
    "row_cos2": rows.row_cos2,
    "supplementary": supplementary,
    "outliers": outliers.outliers,
    "limits": outliers.limits,
    "outlier_columns": outliers.outlier_columns,
    "biplot": rows.biplot_table,
    "rotated": rotated.rotated,
    "rotated_shares": rotated.rotated_shares,
    "rotated_scores": rotated.rotated_scores,
}
"""Name → what makes the table of a model, rows and settings."""

OF_ROWS = ("sample_weight", "extra", "reference", "reference_weight")
"""Settings that are a value for each row, which nobody types."""


class Tables:
    """The read-outs of a linear model that are tables, and the records behind two of them."""

    _frame_kind: str | None
    _tables: ClassVar[Mapping[str, Callable[..., Any]]] = TABLES
    """Subclasses add their own."""

    def table(self, name: str, X: Any = None, **settings: Any) -> Any:
        """A table by name, as a frame of the kind the model was fitted on (a plain Table for arrays).

        Tables about rows need them as X, are frames of X's own kind, and keep the index of a pandas frame. Shares add
        up to one, not to 100. Of a fit with row weights, tables about its rows need these again as `sample_weight`.

        Parameters
        ----------
        name : str
            Of the components: "eigenvalues", "compression". Of the columns: "components" (unit vectors), "loadings"
            (times the standard deviation along them), "correlations", "column_contributions", "column_cos2", "drivers"
            (the columns that contribute most to each component; `top=5`).

            Of rows: "scores" and "row_cos2" of any rows, "row_contributions" of those of the fit; "outliers" (T², Q,
            their limits and p-values), "limits" (which laws they come from), "outlier_columns" (what each column adds
            to T² and Q of the rows at the places `row`). For the limits rows are taken for normal; `level=0.95`;
            `training` says whether the rows are those of the fit, None finds out; `q_law` is "box", "jackson" or "rows"
            (from Q of the rows of the fit, which are X or `reference`, with `reference_weight` if they were weighted),
            "auto" the first or the last of these.

            Of both: "biplot" (`k=2`, `alpha=0.5`: rows U Sᵃ, columns V S¹⁻ᵃ; `convention="prcomp"` or "prcomp_pc" as
            R's biplot of a prcomp with scale = 1 − alpha). Of other columns: "supplementary" with `extra=frame`.

            Rotated: "rotated" (loadings), "rotated_shares", "rotated_scores", with the settings of `rotated`.

        Returns
        -------
        frame, or Table
            A frame of the kind that X is, or that the model was fitted on; a Table for arrays.

        References
        ----------
        Lebart, Morineau & Piron 1995; Husson, Lê & Pagès 2011 (contributions, cos², supplementary columns); Jackson
        1991, "A user's guide to principal components" (T² and Q).

        Examples
        --------
        >>> import lowdim
        >>> foods = lowdim.datasets.uk_foods().to_pandas()
        >>> model = lowdim.PCA(2).fit(foods)
        >>> model.table("row_contributions", foods)["PC1"].round(3).to_dict()
        {'England': 0.067, 'N Ireland': 0.723, 'Scotland': 0.027, 'Wales': 0.184}
        >>> model.table("drivers", top=2)["column"].to_list()
        ['Fresh fruit', 'Alcoholic drinks', 'Fresh potatoes', 'Soft drinks']
        """
        make = self._tables.get(name) if isinstance(name, str) else None
        if make is None:
            raise BadParameter.no_table(type(self).__name__, name, f"one of {', '.join(map(repr, self._tables))}")
        known = list(signature(make).parameters)[2:]
        unknown = [setting for setting in settings if setting not in known]
        if unknown:
            typed = [setting for setting in known if setting not in OF_ROWS]
            raise BadParameter.no_setting("table", name, unknown[0], known, typed)
        return make(self, X, **settings)

    def rotated(
        self, k: int | None = None, method: str = "varimax", *, normalize: bool = True, power: float = 4.0
    ) -> Rotation:
        """The first k components turned within their space, so that each column belongs to few of them.

        Parameters
        ----------
        k : int or None
            How many; None: all. Rotation mixes what it is given, so keep those that matter.
        method : {"varimax", "promax"}
            Factors that are uncorrelated, or may correlate.
        normalize : bool
            Let every column count alike (Kaiser's normalisation, as R's varimax does).
        power : float
            Of promax: what loadings are raised to as its target.

        Returns
        -------
        Rotation
            loadings (p, k), matrix (k, k), correlations of the factors (k, k), communalities (p,), shares (k,).

        References
        ----------
        Kaiser 1958; Hendrickson & White 1964.

        Examples
        --------
        >>> import lowdim
        >>> model = lowdim.PCA(scale=True).fit(lowdim.datasets.us_arrests().values)
        >>> turned = model.rotated(2)
        >>> turned.shares.round(3)
        array([0.565, 0.302])
        """
        return rotated.rotate(cast("LinearModel", self), k, method, normalize, power)

    def biplot(self, X: Any, k: int = 2, *, alpha: float = 0.5, convention: str = "singular") -> Biplot:
        """Points of rows (n, k) and columns (p, k) for one picture, and in words how they are scaled; see `table`.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).
        k : int
            How many components.
        alpha : float
            Rows are U Sᵃ, columns V S¹⁻ᵃ; 0.5 shares the singular values.
        convention : {"singular", "prcomp", "prcomp_pc"}
            Singular values, or as R's biplot of a prcomp.

        Returns
        -------
        Biplot
            rows (n, k), columns (p, k), and in words how they are scaled.
        """
        return rows.biplot_record(cast("LinearModel", self), X, k, alpha, convention)

    @property
    def _kind(self) -> str | None:
        """The library of the frame that the model was fitted on."""
        return getattr(self, "_frame_kind", None)
