"""Graphs of networks, run by onnxruntime, give what NumPy's forward pass gives."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

from lowdim.errors import BadInput, BadParameter
from lowdim.models.autoencoder.onnx import network_graph
from lowdim.models.autoencoder.record import ACTIVATIONS, LOSSES, NetworkFit
from lowdim.models.autoencoder.solvers.network import decode, encode
from lowdim.views.files.onnx import make_model, write_graph
from models.autoencoder.networks import made_network


def make_graph(fit: NetworkFit, inverse: bool = False, dtype: str = "float32") -> Any:
    return make_model(fit, network_graph(fit, inverse, dtype), dtype)


def run(graph: Any, rows: np.ndarray) -> np.ndarray:
    session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    (answer,) = session.run(None, {session.get_inputs()[0].name: rows})
    return answer


def agree(fit: NetworkFit, X: np.ndarray, dtype: str, tolerance: float) -> None:
    """Both graphs against the forward pass, within a share of the largest of what comes out."""
    rows = X.astype(dtype)
    codes = encode(rows, fit)
    there = run(make_graph(fit, dtype=dtype), rows)
    assert there.dtype == dtype
    np.testing.assert_allclose(there, codes, rtol=0, atol=tolerance * np.abs(codes).max())
    back = decode(codes, fit)
    given = run(make_graph(fit, inverse=True, dtype=dtype), codes.astype(dtype))
    np.testing.assert_allclose(given, back, rtol=0, atol=tolerance * np.abs(back).max())


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_graphs_agree_with_numpy(loss: str, activation: str) -> None:
    X = np.random.default_rng(6).random((500, 40))
    fit = made_network((40, 60, 30, 5), loss=loss, activation=activation)
    agree(fit, X, "float32", 1e-5)
    wide = made_network((40, 60, 30, 5), loss=loss, activation=activation, dtype="float64")
    if activation != "gelu":
        agree(wide, X, "float64", 1e-13)


def test_without_hidden_layers_too() -> None:
    agree(made_network((8, 3), dtype="float64"), np.random.default_rng(7).random((50, 8)), "float64", 1e-14)


def test_missing_entries_enter_as_zero() -> None:
    fit = made_network()
    X = np.random.default_rng(8).random((30, 8)).astype(np.float32)
    X[X < 0.3] = np.nan
    codes = encode(X, fit)
    assert np.isfinite(codes).all()
    np.testing.assert_allclose(run(make_graph(fit), X), codes, rtol=0, atol=1e-5 * np.abs(codes).max())


def test_rows_far_from_zero_lose_nothing() -> None:
    fit = made_network()
    far = dataclasses.replace(fit, center=fit.center + 1e4 * (1 + np.arange(8) / 3))
    # the graph is given rows of float32, so NumPy is asked about the very same
    X = (far.center + np.random.default_rng(9).standard_normal((30, 8))).astype(np.float32)
    X[3, 4] = np.nan
    codes = encode(X, far)
    np.testing.assert_allclose(run(make_graph(far), X), codes, rtol=0, atol=1e-5 * np.abs(codes).max())


def test_a_graph_says_what_it_is(tmp_path: Any) -> None:
    fit = made_network(columns=tuple("abcdefgh"))
    write_graph(tmp_path / "m.onnx", fit, network_graph(fit, False, "float32"), "float32")
    model = onnx.load(tmp_path / "m.onnx")
    assert (model.opset_import[0].version, model.ir_version) == (13, 7)
    about = {one.key: one.value for one in model.metadata_props}
    assert about["columns"] == '["a", "b", "c", "d", "e", "f", "g", "h"]'
    assert [(end.name, end.type.tensor_type.shape.dim[1].dim_value) for end in model.graph.input] == [("X", 8)]
    assert [(end.name, end.type.tensor_type.shape.dim[1].dim_value) for end in model.graph.output] == [("scores", 3)]
    assert model.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "n"
    assert [node.op_type for node in model.graph.node].count("Gemm") == 3


def test_what_runtimes_do_not_have_is_refused() -> None:
    with pytest.raises(BadParameter, match="'float32' for activation='gelu'"):
        make_graph(made_network(activation="gelu"), dtype="float64")
    fit = made_network()
    with pytest.raises(BadInput, match="scales of this model leave the range of float32"):
        make_graph(dataclasses.replace(fit, scale=np.full(8, 1e-60)))
