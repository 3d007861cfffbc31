"""Pipelines that skl2onnx converts, run by onnxruntime, give what the pipelines give; nothing is registered before."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import onnxruntime
import pytest
import skl2onnx
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import StandardScaler

import lowdim
from lowdim.errors import BadInput

WINE = lowdim.datasets.wine()
X, Y = WINE.values, np.unique(WINE.labels, return_inverse=True)[1]


def run(graph, rows):
    session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    given = session.get_inputs()
    fed = {given[0].name: rows} if len(given) == 1 else {one.name: rows[:, [j]] for j, one in enumerate(given)}
    return session.run(None, fed)


# float32 keeps 6e-8 of each number; sums over 13 columns of centred, scaled rows stay within 1e-5
ROUNDING = {np.float32: 1e-5, np.float64: 1e-10}

STEPS = {
    "PCA": lowdim.PCA(3),
    "whitened": lowdim.PCA(3, whiten=True),
    "scaled": lowdim.PCA(0.8, scale=True),
    "not centred": lowdim.PCA(3, center=False),
    "ProbabilisticPCA": lowdim.ProbabilisticPCA(3),
    "Autoencoder": lowdim.Autoencoder(2, hidden=(5,), max_iter=5, loss="mse", random_state=0),
}


@pytest.mark.parametrize("dtype", ROUNDING)
@pytest.mark.parametrize("name", STEPS)
def test_a_pipeline_of_transformers(name, dtype):
    pipeline = make_pipeline(StandardScaler(), STEPS[name]).fit(X.astype(dtype))
    rows = X.astype(dtype)
    graph = skl2onnx.to_onnx(pipeline, rows[:1])
    (scores,) = run(graph, rows)
    expected = pipeline.transform(rows.astype(np.float64))
    assert scores.dtype == dtype
    rounding = ROUNDING[np.float32 if name == "Autoencoder" else dtype]  # transform of a network computes in float32
    np.testing.assert_allclose(scores, expected, rtol=0, atol=rounding * np.abs(expected).max())


def test_a_pipeline_that_ends_in_a_classifier():
    pipeline = make_pipeline(StandardScaler(), lowdim.PCA(3), LogisticRegression()).fit(X, Y)
    graph = skl2onnx.to_onnx(pipeline, X[:1].astype(np.float32), options={"zipmap": False})
    labels, chances = run(graph, X.astype(np.float32))
    np.testing.assert_array_equal(labels, pipeline.predict(X))
    np.testing.assert_allclose(
        chances, pipeline.predict_proba(X), atol=1e-4
    )  # float32 scores, times weights of about 3


def test_alone():
    model = lowdim.PCA(3).fit(X)
    (scores,) = run(skl2onnx.to_onnx(model, X[:1]), X)
    np.testing.assert_allclose(scores, model.transform(X), rtol=1e-9, atol=1e-9)


def test_two_of_them_side_by_side():
    union = FeatureUnion([("few", lowdim.PCA(2)), ("white", lowdim.PCA(3, whiten=True))]).fit(X)
    (scores,) = run(skl2onnx.to_onnx(union, X[:1]), X)
    np.testing.assert_allclose(scores, union.transform(X), rtol=1e-9, atol=1e-9)


def test_of_some_columns():
    chosen = ColumnTransformer([("pca", lowdim.PCA(2), [0, 2, 5]), ("rest", "passthrough", [1])]).fit(X)
    (scores,) = run(skl2onnx.to_onnx(chosen, X[:1]), X)
    np.testing.assert_allclose(scores, chosen.transform(X), rtol=1e-9, atol=1e-9)


def test_of_whole_numbers():
    counts = np.random.default_rng(0).integers(0, 9, size=(30, 4))
    model = lowdim.PCA(2).fit(counts)
    (scores,) = run(skl2onnx.to_onnx(model, counts[:1]), counts)
    np.testing.assert_allclose(scores, model.transform(counts), atol=1e-5)  # skl2onnx takes them for float32


def test_columns_that_come_one_by_one():
    model = lowdim.PCA(2).fit(X[:, :3])
    columns = [(name, skl2onnx.common.data_types.DoubleTensorType([None, 1])) for name in "abc"]
    (scores,) = run(skl2onnx.convert_sklearn(model, initial_types=columns), X[:, :3])
    np.testing.assert_allclose(scores, model.transform(X[:, :3]), rtol=1e-9, atol=1e-9)


def test_a_fit_without_a_graph_says_why():
    model = lowdim.ProbabilisticPCA("ard").fit(X)
    with pytest.raises(BadInput, match="uncertain loadings"):
        skl2onnx.to_onnx(model, X[:1])


def test_skl2onnx_is_never_loaded_by_us():
    program = (
        "import sys, numpy, lowdim; model = lowdim.PCA(1).fit(numpy.eye(3)); model.onnx_converter(); "
        "print({'skl2onnx', 'onnx'} & set(sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout.strip() == "set()"
