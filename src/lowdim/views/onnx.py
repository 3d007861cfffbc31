"""A linear fit as an ONNX graph of one or two nodes. The only file that loads onnx."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadParameter, NeedsExtra
from lowdim.results.atomic import atomic_write
from lowdim.results.linear import LinearFit

try:
    import onnx
    from onnx import helper, numpy_helper
except ImportError as error:
    raise NeedsExtra.package("onnx", "Writing ONNX graphs", "onnx") from error

OPSET, IR = 13, 7
"""Of 2020: all that two nodes need, and read by every runtime since (onnxruntime 1.6)."""

MOST_BYTES = 2**31 - 2**20
"""What one protobuf message holds, less room for the rest of the graph."""

Weights = dict[str, NDArray[Any]]


def write_graph(
    path: str | os.PathLike[str], fit: LinearFit, *, whiten: bool, inverse: bool = False, dtype: str = "float32"
) -> None:
    """Check the graph of a fit and write it, atomically."""
    graph = make_graph(fit, whiten=whiten, inverse=inverse, dtype=dtype)
    data = graph.SerializeToString(deterministic=True)
    with atomic_write(path) as file:
        file.write(data)


def make_graph(fit: LinearFit, *, whiten: bool, inverse: bool = False, dtype: str = "float32") -> Any:
    """The checked ONNX model: rows "X" (n, p) to "scores" (n, k), or back with `inverse`; n is free."""
    if dtype not in ("float32", "float64"):
        raise BadParameter.of("export_onnx", "dtype", dtype, "'float32' or 'float64'")
    given, wanted = ("scores", "X") if inverse else ("X", "scores")
    width = {"X": len(fit.mean), "scores": fit.k}
    weights = _back_weights(fit, whiten, dtype) if inverse else _score_weights(fit, whiten, dtype)
    centred = "centred" if "mean" in weights else given
    nodes = [helper.make_node("Gemm", [centred, "axes", "shift"], [wanted])]
    if "mean" in weights:
        nodes.insert(0, helper.make_node("Sub", [given, "mean"], [centred]))
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    model = helper.make_model(
        helper.make_graph(
            nodes,
            "inverse_transform" if inverse else "transform",
            [helper.make_tensor_value_info(given, kind, ["n", width[given]])],
            [helper.make_tensor_value_info(wanted, kind, ["n", width[wanted]])],
            [numpy_helper.from_array(np.ascontiguousarray(array), name) for name, array in weights.items()],
        ),
        producer_name="lowdim",
        producer_version=dict(fit.provenance.versions).get("lowdim", ""),
        ir_version=IR,
        opset_imports=[helper.make_opsetid("", OPSET)],
    )
    helper.set_model_props(model, _about(fit, given))
    onnx.checker.check_model(model, full_check=True)
    return model


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


def _narrowed(array: NDArray[Any], dtype: str, what: str, unit: NDArray[Any] | float = 1.0) -> NDArray[Any]:
    """The array in the graph's type; an error if entries that matter to their row, in these units, leave its range."""
    if array.size * np.dtype(dtype).itemsize > MOST_BYTES:
        raise BadInput(f"An ONNX file holds at most 2 GiB, but the {what} need more; keep fewer components.")
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        narrow = array.astype(dtype)
        lost, all_of_it = np.abs((narrow - array) * unit).max(-1), np.abs(array * unit).max(-1)
    if not (lost <= 1e-6 * all_of_it).all():  # also where infinities made it NaN
        raise BadInput(f"The {what} of this model leave the range of {dtype}; write the graph with dtype='float64'.")
    return narrow


def _about(fit: LinearFit, given: str) -> dict[str, str]:
    columns = fit.columns or tuple(f"x{j}" for j in range(len(fit.mean)))
    return {
        "lowdim": dict(fit.provenance.versions).get("lowdim", ""),
        "input": given,
        "columns": json.dumps(columns, ensure_ascii=False),
        "solver": fit.provenance.solver,
    }
