"""A trained network as a graph of ONNX's operations."""

from __future__ import annotations

import numpy as np

from lowdim.errors import BadParameter
from lowdim.models.autoencoder.record import LEAK, Layer, NetworkFit
from lowdim.views.files.onnx_graphs import Graph, Node, narrowed


def network_graph(fit: NetworkFit, inverse: bool, dtype: str) -> Graph:
    """Rows "X" to codes, "scores", or back with `inverse`."""
    return _decoder(fit, dtype) if inverse else _encoder(fit, dtype)


def _encoder(fit: NetworkFit, dtype: str) -> Graph:
    """Centred, scaled, 0 where nothing was known, then the layers."""
    center = narrowed(fit.center, dtype, "means")
    weights = {
        "center": center,
        "center_rest": (fit.center - center).astype(dtype),  # what rounding took: rows may be far from zero
        "scale": narrowed(fit.scale, dtype, "scales"),
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
    graph.weights["scale"] = narrowed(fit.scale, dtype, "scales")
    graph.weights["center"] = narrowed(fit.center, dtype, "means")
    graph.nodes += [Node("Mul", ("sums", "scale"), "spread"), Node("Add", ("spread", "center"), "X")]
    return graph


def _with_layers(
    graph: Graph, layers: tuple[Layer, ...], activation: str, given: str, wanted: str, dtype: str
) -> Graph:
    for i, layer in enumerate(layers):
        last = i == len(layers) - 1
        graph.weights[f"weights{i}"] = narrowed(layer.weights, dtype, "weights")
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
