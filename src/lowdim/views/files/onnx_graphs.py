"""Graphs of a few operations by ONNX's names: that of a linear fit, and as parts of a pipeline that skl2onnx converts.

A model of another kind makes its graph itself (`models/autoencoder/onnx.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput
from lowdim.results.record import LinearFit

# Fits as graphs of a few operations, by ONNX's names for them, and the numbers that these need.

Weights = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Node:
    """One operation."""

    operation: str
    inputs: tuple[str, ...]
    output: str
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass
class Graph:
    """Operations in their order, and the constants they name; it grows as it is built."""

    nodes: list[Node]
    weights: Weights


def linear_graph(fit: LinearFit, whiten: bool, inverse: bool, dtype: str) -> Graph:
    """Rows "X" to "scores" of a linear fit, or back with `inverse`."""
    if inverse:
        return Graph([Node("Gemm", ("scores", "axes", "shift"), "X")], _back_weights(fit, whiten, dtype))
    nodes = [Node("Sub", ("X", "mean"), "centred"), Node("Gemm", ("centred", "axes", "shift"), "scores")]
    return Graph(nodes, _score_weights(fit, whiten, dtype))


def _score_weights(fit: LinearFit, whiten: bool, dtype: str) -> Weights:
    """(X − mean) axes + shift: what rounding takes from the mean is given back in the shift.

    The difference of near numbers is exact (Sterbenz 1974), so rows far from zero lose nothing more by it.
    """
    axes = fit.gain[:, None] * fit.components.T
    if whiten:
        axes = axes * fit.whitening
    mean = narrowed(fit.mean, dtype, "means")
    shift = ((mean - fit.mean) @ axes).astype(dtype)
    return {"mean": mean, "axes": narrowed(axes.T, dtype, "axes", fit.undo_gain).T, "shift": shift}


def _back_weights(fit: LinearFit, whiten: bool, dtype: str) -> Weights:
    """Scores times axes, plus the mean."""
    axes = narrowed(fit.axes(whiten), dtype, "axes", fit.gain)
    return {"axes": axes, "shift": narrowed(fit.mean, dtype, "means")}


def narrowed(array: NDArray[Any], dtype: str, what: str, unit: NDArray[Any] | float = 1.0) -> NDArray[Any]:
    """The array in the graph's type; an error if entries that matter to their row, in these units, leave its range."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        narrow = array.astype(dtype)
        lost, all_of_it = np.abs((narrow - array) * unit).max(-1), np.abs(array * unit).max(-1)
    if not (lost <= 1e-6 * all_of_it).all():  # also where infinities made it NaN
        raise BadInput(f"The {what} of this model leave the range of {dtype}; write the graph with dtype='float64'.")
    return narrow


# Fits as parts of a pipeline that skl2onnx converts. It calls these; nothing of it is imported.
#
# A model with `onnx_parser`, `onnx_shape_calculator` and `onnx_converter` is asked for them, so that none has to be
# registered (skl2onnx, "Write your own converter").

TENSORS = {"float32": 1, "float64": 11}
"""Type → its number in ONNX (TensorProto.DataType)."""


def parse(scope: Any = None, inputs: Any = None) -> list[str]:
    """Names of what comes out: one array, whose type is that of what goes in."""
    return ["scores"]


def float_type(operator: Any) -> str:
    """The type that scores are computed in: "float64" of double tensors, "float32" of all others."""
    return "float64" if type(operator.outputs[0].type).__name__ == "DoubleTensorType" else "float32"


def set_shape(operator: Any, k: int) -> None:
    """Say that (n, k) scores come out."""
    scores = operator.outputs[0]
    scores.type = type(scores.type)([operator.inputs[0].type.shape[0], k])


def add_graph(graph: Graph, scope: Any, operator: Any, container: Any) -> None:
    """Put the operations of a fit, from rows "X" to "scores", into the graph of a pipeline, under names of its own."""
    dtype = float_type(operator)
    names = {"X": _rows(scope, operator, container, dtype), "scores": operator.outputs[0].full_name}
    for name, array in graph.weights.items():
        names[name] = scope.get_unique_variable_name(name)
        container.add_initializer(names[name], TENSORS[dtype], list(array.shape), array.ravel().tolist())
    for node in graph.nodes:
        made = names.setdefault(node.output, "")
        names[node.output] = made or scope.get_unique_variable_name(node.output)
        given = [names[name] for name in node.inputs]
        title = scope.get_unique_operator_name(node.operation)
        container.add_node(node.operation, given, [names[node.output]], name=title, **node.settings)


def _rows(scope: Any, operator: Any, container: Any, dtype: str) -> str:
    """The name of the rows as one array of floats: columns that come one by one are put together."""
    wanted = "DoubleTensorType" if dtype == "float64" else "FloatTensorType"
    names = []
    for column in operator.inputs:
        name = column.full_name
        if type(column.type).__name__ != wanted:
            cast = scope.get_unique_variable_name("floats")
            title = scope.get_unique_operator_name("Cast")
            container.add_node("Cast", [name], [cast], name=title, to=TENSORS[dtype])
            name = cast
        names.append(name)
    if len(names) == 1:
        return str(names[0])
    rows = scope.get_unique_variable_name("rows")
    container.add_node("Concat", names, [rows], name=scope.get_unique_operator_name("Concat"), axis=1)
    return str(rows)
