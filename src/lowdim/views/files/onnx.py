"""Fits as ONNX files. The only file that loads onnx."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from lowdim.errors import BadInput, NeedsExtra
from lowdim.runtime.files import atomic_write
from lowdim.views.files.onnx_graphs import Graph
from lowdim.words import column_names

try:
    import onnx
    from onnx import helper, numpy_helper
except ImportError as error:
    raise NeedsExtra.package("onnx", "Writing ONNX graphs", "onnx") from error

OPSET, IR = 13, 7
"""Of 2020: all that these nodes need, and read by every runtime since (onnxruntime 1.6)."""

MOST_BYTES = 2**31 - 2**20
"""What one protobuf message holds, less room for the rest of the graph."""


def write_graph(path: str | os.PathLike[str], fit: Any, graph: Graph, dtype: str) -> None:
    """Check the graph of a fit, from rows "X" to "scores" or back, and write it, atomically."""
    data = make_model(fit, graph, dtype).SerializeToString(deterministic=True)
    with atomic_write(path) as file:
        file.write(data)


def make_model(fit: Any, graph: Graph, dtype: str) -> Any:
    """The checked ONNX model: rows "X" (n, p) to "scores" (n, k), or back if the graph ends in rows; n is free."""
    inverse = graph.nodes[-1].output == "X"
    given, wanted = ("scores", "X") if inverse else ("X", "scores")
    width = {"X": fit.n_columns, "scores": fit.k}
    needed = sum(array.nbytes for array in graph.weights.values())
    if needed > MOST_BYTES:
        raise BadInput(f"An ONNX file holds at most 2 GiB, but this model needs {needed:,} bytes; make it smaller.")
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    model = helper.make_model(
        helper.make_graph(
            [helper.make_node(node.operation, node.inputs, [node.output], **node.settings) for node in graph.nodes],
            "inverse_transform" if inverse else "transform",
            [helper.make_tensor_value_info(given, kind, ["n", width[given]])],
            [helper.make_tensor_value_info(wanted, kind, ["n", width[wanted]])],
            [numpy_helper.from_array(np.ascontiguousarray(array), name) for name, array in graph.weights.items()],
        ),
        producer_name="lowdim",
        producer_version=dict(fit.provenance.versions).get("lowdim", ""),
        ir_version=IR,
        opset_imports=[helper.make_opsetid("", OPSET)],
    )
    helper.set_model_props(model, _about(fit, given))
    onnx.checker.check_model(model, full_check=True)
    return model


def _about(fit: Any, given: str) -> dict[str, str]:
    columns = column_names(fit)
    return {
        "lowdim": dict(fit.provenance.versions).get("lowdim", ""),
        "input": given,
        "columns": json.dumps(columns, ensure_ascii=False),
        "solver": fit.provenance.solver,
    }
