"""Fits as parts of a pipeline that skl2onnx converts. It calls these; nothing of it is imported.

A model with `onnx_parser`, `onnx_shape_calculator` and `onnx_converter` is asked for them, so that none has to be
registered (skl2onnx, "Write your own converter").
"""

from __future__ import annotations

from typing import Any

from lowdim.views.graphs import Graph

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
