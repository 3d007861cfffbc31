"""Fits as graphs of a few operations, by ONNX's names, and as parts of a pipeline that skl2onnx converts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadParameter
from lowdim.models.autoencoder.record import LEAK, Layer, NetworkFit
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


def graph_of(fit: LinearFit | NetworkFit, whiten: bool, inverse: bool, dtype: str) -> Graph:
    """Rows "X" to "scores", or back with `inverse`."""
    if isinstance(fit, NetworkFit):
        return _decoder(fit, dtype) if inverse else _encoder(fit, dtype)
    if inverse:
        return Graph([Node("Gemm", ("scores", "axes", "shift"), "X")], _back_weights(fit, whiten, dtype))
    nodes = [Node("Sub", ("X", "mean"), "centred"), Node("Gemm", ("centred", "axes", "shift"), "scores")]
    return Graph(nodes, _score_weights(fit, whiten, dtype))


# -- linear fits --------------------------------------------------------------------------------------------------


def _score_weights(fit: LinearFit, whiten: bool, dtype: str) -> Weights:
    """(X − mean) axes + shift: what rounding takes from the mean is given back in the shift.

    The difference of near numbers is exact (Sterbenz 1974), so rows far from zero lose nothing more by it.
    """
    axes = fit.gain[:, None] * fit.components.T
    if whiten:
        axes = axes * fit.whitening
    mean = _narrowed(fit.mean, dtype, "means")
    shift = ((mean - fit.mean) @ axes).astype(dtype)
    return {"mean": mean, "axes": _narrowed(axes.T, dtype, "axes", fit.undo_gain).T, "shift": shift}


def _back_weights(fit: LinearFit, whiten: bool, dtype: str) -> Weights:
    """Scores times axes, plus the mean."""
    axes = _narrowed(fit.axes(whiten), dtype, "axes", fit.gain)
    return {"axes": axes, "shift": _narrowed(fit.mean, dtype, "means")}


# -- networks -----------------------------------------------------------------------------------------------------


def _encoder(fit: NetworkFit, dtype: str) -> Graph:
    """Centred, scaled, 0 where nothing was known, then the layers."""
    center = _narrowed(fit.center, dtype, "means")
    weights = {
        "center": center,
        "center_rest": (fit.center - center).astype(dtype),  # what rounding took: rows may be far from zero
        "scale": _narrowed(fit.scale, dtype, "scales"),
        "zero": np.zeros((), dtype),
    }
    nodes = [
        Node("Sub", ("X", "center"), "near"),
        Node("Sub", ("near", "center_rest"), "centred"),
        Node("Div", ("centred", "scale"), "scaled"),
        Node("IsNaN", ("scaled",), "missing"),
        Node("Where", ("missing", "zero", "scaled"), "entering"),
    ]
    return _with_layers(Graph(nodes, weights), fit.encoder, fit.activation, "entering", "scores", dtype)


def _decoder(fit: NetworkFit, dtype: str) -> Graph:
    """The layers, and from sums to chances or to rows."""
    graph = _with_layers(Graph([], {}), fit.decoder, fit.activation, "scores", "sums", dtype)
    if fit.loss == "bce":
        graph.nodes.append(Node("Sigmoid", ("sums",), "X"))
        return graph
    graph.weights["scale"] = _narrowed(fit.scale, dtype, "scales")
    graph.weights["center"] = _narrowed(fit.center, dtype, "means")
    graph.nodes += [Node("Mul", ("sums", "scale"), "spread"), Node("Add", ("spread", "center"), "X")]
    return graph


def _with_layers(
    graph: Graph, layers: tuple[Layer, ...], activation: str, given: str, wanted: str, dtype: str
) -> Graph:
    for i, layer in enumerate(layers):
        last = i == len(layers) - 1
        graph.weights[f"weights{i}"] = _narrowed(layer.weights, dtype, "weights")
        graph.weights[f"bias{i}"] = layer.bias.astype(dtype)
        sums = wanted if last else f"sums{i}"
        graph.nodes.append(Node("Gemm", (given, f"weights{i}", f"bias{i}"), sums, {"transB": 1}))
        if not last:
            given = f"units{i}"
            _activate(graph, activation, sums, given, dtype)
    return graph


def _activate(graph: Graph, activation: str, a: str, made: str, dtype: str) -> None:
    """Operations of 2020 that every runtime has in this type."""
    alone = {"relu": "Relu", "tanh": "Tanh", "logistic": "Sigmoid"}.get(activation)
    if alone is not None:
        graph.nodes.append(Node(alone, (a,), made))
    elif activation == "silu":
        graph.nodes += [Node("Sigmoid", (a,), f"{made}_rise"), Node("Mul", (a, f"{made}_rise"), made)]
    elif activation == "leaky_relu":  # LeakyRelu itself is not there in float64
        graph.weights["leak"] = np.array(LEAK, dtype)
        graph.nodes += [Node("Mul", (a, "leak"), f"{made}_leak"), Node("Max", (a, f"{made}_leak"), made)]
    else:
        _activate_gelu(graph, a, made, dtype)


def _activate_gelu(graph: Graph, a: str, made: str, dtype: str) -> None:
    """½ a (1 + erf(a / √2))."""
    if dtype == "float64":
        raise BadParameter.of(
            "export_onnx", "dtype", dtype, "'float32' for activation='gelu', as runtimes have erf in float32 only"
        )
    graph.weights |= {"root_half": np.array(np.sqrt(0.5), dtype), "one": np.ones((), dtype)}
    graph.weights["half"] = np.array(0.5, dtype)
    graph.nodes += [
        Node("Mul", (a, "root_half"), f"{made}_narrow"),
        Node("Erf", (f"{made}_narrow",), f"{made}_erf"),
        Node("Add", (f"{made}_erf", "one"), f"{made}_rise"),
        Node("Mul", (a, f"{made}_rise"), f"{made}_twice"),
        Node("Mul", (f"{made}_twice", "half"), made),
    ]


def _narrowed(array: NDArray[Any], dtype: str, what: str, unit: NDArray[Any] | float = 1.0) -> NDArray[Any]:
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
