"""Models that other programs can run: `transform` as an ONNX graph, alone or in a pipeline."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, cast

from sklearn.utils.validation import check_is_fitted

from lowdim.models.base.parameters import FloatType


class Exported:
    """A model whose `transform` is a few operations."""

    def export_onnx(self, path: str | os.PathLike[str], *, inverse: bool = False, dtype: FloatType = "float32") -> None:
        """Write `transform` (or `inverse_transform`) as an ONNX graph, which runs where Python is not.

        It takes any number of rows without holes, and of an autoencoder gives codes without refinement. Needs the
        package onnx. Pipelines with such a model are converted by skl2onnx itself.

        Parameters
        ----------
        path : path
            Of the file, which is replaced whole, or not at all.
        inverse : bool
            Write `inverse_transform` instead.
        dtype : {"float32", "float64"}
            Of the numbers that the graph takes and gives.
        """
        from lowdim.views.files.onnx import write_graph

        check_is_fitted(self)
        self._refuse_graph(inverse)
        write_graph(path, self._fit, whiten=self._whitens, inverse=inverse, dtype=dtype)

    # -- what skl2onnx asks of a model in a pipeline ------------------------------------------------------------------

    def onnx_parser(self) -> Callable[..., list[str]]:
        """What skl2onnx asks first: a function that names what comes out."""
        from lowdim.views.files.onnx_graphs import parse

        return parse

    def onnx_shape_calculator(self) -> Callable[[Any], None]:
        """What skl2onnx asks then: a function that sets the shape of what comes out."""
        from lowdim.views.files.onnx_graphs import set_shape

        check_is_fitted(self)
        return lambda operator: set_shape(operator, self._fit.k)

    def onnx_converter(self) -> Callable[[Any, Any, Any], None]:
        """What skl2onnx asks last: a function that adds the operations of `transform` to its graph."""
        from lowdim.views.files.onnx_graphs import add_graph, float_type, graph_of

        self._refuse_graph(inverse=False)

        def convert(scope: Any, operator: Any, container: Any) -> None:
            graph = graph_of(self._fit, self._whitens, False, float_type(operator))
            add_graph(graph, scope, operator, container)

        return convert

    # -- inside ---------------------------------------------------------------------------------------------------

    @property
    def _fit(self) -> Any:
        return cast("Any", self).fit_

    @property
    def _whitens(self) -> bool:
        return bool(getattr(self, "whiten", False))

    def _refuse_graph(self, inverse: bool) -> None:
        """Raise an error if this fit has no such graph."""
