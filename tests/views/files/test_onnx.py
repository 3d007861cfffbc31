"""ONNX graphs, run by onnxruntime, give what `transform` and `inverse_transform` give."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import lowdim
from harness import Tally
from lowdim import PCA
from lowdim.errors import BadInput, BadParameter, CannotWrite
from lowdim.models.base.output import Exported
from lowdim.models.registry import FOLDERS, model_class


def made(offset: float = 0.0) -> np.ndarray:
    """(1000, 20) rows with spreads from 1 to 1/20 along the axes, in mixed units, about an offset in spreads."""
    rng = np.random.default_rng(3)
    turn = np.linalg.qr(rng.standard_normal((20, 20)))[0]
    rows = rng.standard_normal((1000, 20)) / np.arange(1, 21) @ turn
    return rows + offset * rows.std(axis=0) * rng.uniform(-1, 1, 20)


WEIGHT = np.linspace(0, 3, 20)  # the first column does not count at all
CASES: dict[str, tuple[dict[str, Any], np.ndarray]] = {
    "plain": ({}, made(3)),
    "not centred": ({"center": False}, made(3)),
    "scaled": ({"scale": True}, made(3) * np.logspace(-3, 3, 20)),
    "whitened": ({"whiten": True}, made(3)),
    "scaled and whitened": ({"scale": True, "whiten": True}, made(3) * np.logspace(-3, 3, 20)),
    "weighted": ({"column_weight": WEIGHT}, made(3)),
    "far from zero": ({}, made(1e4)),
    "far from zero, scaled and whitened": ({"scale": True, "whiten": True}, made(1e4)),
}


def run(path: Path, rows: np.ndarray) -> np.ndarray:
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    (answer,) = session.run(None, {session.get_inputs()[0].name: rows})
    return answer


def agree(model: PCA, X: np.ndarray, tmp_path: Path) -> None:
    """Both graphs in both types against the float64 answer to the very numbers that the graph is given."""
    # float32 keeps 6e-8 of each number; sums of thousands of them stay within 1e-5 of the spread of what comes out
    for dtype, tolerance in (("float32", 1e-5), ("float64", 1e-12)):
        rows = X.astype(dtype)
        scores = model.transform(rows.astype(np.float64))
        model.export_onnx(tmp_path / "to.onnx", dtype=dtype)
        model.export_onnx(tmp_path / "back.onnx", inverse=True, dtype=dtype)
        there = run(tmp_path / "to.onnx", rows)
        assert there.dtype == dtype
        spread = np.sqrt((scores**2).mean(axis=0).max())
        np.testing.assert_allclose(there, scores, rtol=0, atol=tolerance * spread)
        back = model.inverse_transform(there.astype(np.float64))
        # what comes out is rounded at its own size: a mean of 1e4 spreads takes four digits of float32
        rounding = 2 * np.finfo(dtype).eps * np.abs(back).max(axis=0)
        given = run(tmp_path / "back.onnx", there)
        assert (np.abs(given - back) <= rounding + tolerance * np.abs(back - model.mean_).max(axis=0)).all()


@pytest.mark.parametrize("name", CASES)
def test_graphs_agree_with_the_model(name: str, tmp_path: Path, tally: Tally) -> None:
    settings, X = CASES[name]
    agree(PCA(4, **settings).fit(X), X, tmp_path)
    tally(22, 4 * len(X), "rows through ONNX graphs")  # there and back, float32 and float64


EXPORTING = {name for name in FOLDERS if issubclass(model_class(name), Exported)}


@pytest.mark.parametrize("name", sorted(EXPORTING - {"Autoencoder", "GenotypePCA"}))
def test_graphs_of_every_model_that_has_one_agree(name: str, tmp_path: Path, tally: Tally) -> None:
    X = made(3)
    agree(model_class(name)(4).fit(X), X, tmp_path)
    tally(22, 4 * len(X), "rows through ONNX graphs")


def test_every_model_that_has_a_graph_is_known_here() -> None:
    # those of autoencoders are tested with their model, of genotypes below
    assert {"PCA", "Autoencoder", "GenotypePCA", "ProbabilisticPCA"} <= EXPORTING


def test_graphs_of_genotypes_agree(tmp_path: Path, tally: Tally) -> None:
    X = np.random.default_rng(0).integers(0, 3, (1000, 20)).astype(float)
    agree(lowdim.GenotypePCA(4).fit(X), X, tmp_path)
    tally(22, 4 * len(X), "rows through ONNX graphs")


@pytest.mark.parametrize("settings", [{}, {"scale": True}, {"whiten": True}], ids=str)
@pytest.mark.parametrize(("file", "array"), [("usps.npz", "x_train"), ("olivetti_faces.npz", "images")])
def test_graphs_of_real_pictures_agree(
    file: str, array: str, settings: dict[str, Any], tmp_path: Path, shared_data: Callable[[str], Path]
) -> None:
    X = np.load(shared_data(file))[array][:1000]
    X = X.reshape(len(X), -1).astype(float)
    agree(PCA(10, **settings).fit(X), X, tmp_path)


def test_any_number_of_rows_goes_in(tmp_path: Path) -> None:
    X = made()
    PCA(3).fit(X).export_onnx(tmp_path / "m.onnx", dtype="float64")
    whole = run(tmp_path / "m.onnx", X)
    for count in (1, 7, 999):
        # sums of 20 products may be taken in another order
        np.testing.assert_allclose(run(tmp_path / "m.onnx", X[:count]), whole[:count], rtol=0, atol=1e-14)


def test_directions_without_variance_are_whitened_to_zero(tmp_path: Path) -> None:
    X = np.outer(np.arange(10.0), [1.0, 2.0, 3.0])
    with pytest.warns(lowdim.errors.RankWarning):
        model = PCA(2, whiten=True).fit(X)
    model.export_onnx(tmp_path / "m.onnx", dtype="float64")
    np.testing.assert_array_equal(run(tmp_path / "m.onnx", X)[:, 1], 0)


def test_the_graph_is_small_and_says_what_it_is(tmp_path: Path) -> None:
    names = [f"größe {j}" for j in range(20)]
    PCA(4).fit(pd.DataFrame(made(), columns=names)).export_onnx(tmp_path / "m.onnx")
    model = onnx.load(tmp_path / "m.onnx")
    about = {one.key: one.value for one in model.metadata_props}
    assert json.loads(about["columns"]) == names
    assert about["lowdim"] == model.producer_version == lowdim.__version__
    assert about["input"] == model.graph.input[0].name == "X"
    assert model.graph.output[0].name == "scores"
    assert [node.op_type for node in model.graph.node] == ["Sub", "Gemm"]
    assert model.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "n"
    assert (model.opset_import[0].version, model.ir_version) == (13, 7)
    # 4 x 20 + 20 + 4 numbers of 4 bytes are 416; names and graph take the rest
    assert (tmp_path / "m.onnx").stat().st_size < 416 + 700


def test_the_same_model_gives_the_same_bytes(tmp_path: Path) -> None:
    model = PCA(4).fit(made())
    model.save(tmp_path / "m.lowdim")
    model.export_onnx(tmp_path / "one.onnx")
    lowdim.load(tmp_path / "m.lowdim").export_onnx(tmp_path / "two.onnx")
    assert (tmp_path / "one.onnx").read_bytes() == (tmp_path / "two.onnx").read_bytes()


@pytest.mark.parametrize("unit", [1e-42, 1e42])
def test_numbers_beyond_float32_are_refused_and_float64_takes_them(unit: float, tmp_path: Path) -> None:
    X = made() * np.r_[unit, np.ones(19)]
    model = PCA(2, scale=True).fit(X)
    with pytest.raises(BadInput, match="range of float32; write the graph with dtype='float64'"):
        model.export_onnx(tmp_path / "m.onnx")
    assert not list(tmp_path.iterdir())
    model.export_onnx(tmp_path / "m.onnx", dtype="float64")
    np.testing.assert_allclose(run(tmp_path / "m.onnx", X), model.transform(X), rtol=0, atol=1e-12)


def test_what_cannot_be_written_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = PCA(2).fit(made())
    with pytest.raises(BadParameter, match="'float32' or 'float64'"):
        model.export_onnx(tmp_path / "m.onnx", dtype="float16")
    with pytest.raises(NotFittedError):
        PCA(2).export_onnx(tmp_path / "m.onnx")
    with pytest.raises(CannotWrite, match=r"nowhere/m\.onnx: cannot be written \(No such file"):
        model.export_onnx(tmp_path / "nowhere" / "m.onnx")
    model.export_onnx(tmp_path / "m.onnx")
    before = (tmp_path / "m.onnx").read_bytes()
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(CannotWrite, match="No space left"):
        model.export_onnx(tmp_path / "m.onnx", inverse=True)
    assert (tmp_path / "m.onnx").read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["m.onnx"]


def test_without_onnx_the_remedy_is_named(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['onnx'] = None\n"
        "import numpy, lowdim\n"
        f"lowdim.PCA(1).fit(numpy.eye(3)).export_onnx({str(tmp_path / 'm.onnx')!r})"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert answer.stderr.splitlines()[-1].endswith('is not installed: pip install "lowdim[onnx]".')
