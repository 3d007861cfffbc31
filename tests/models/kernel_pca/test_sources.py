"""Kernel PCA of files, frames, sparse matrices and clusters is that of the array."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose

import lowdim
from lowdim import KernelPCA
from lowdim.errors import NeedsAnotherPass, TooLarge

RNG = np.random.default_rng(11)
X = RNG.standard_normal((300, 3))

WAYS: list[dict[str, Any]] = [
    {"kernel": "rbf", "gamma": 0.3},
    {"kernel": "rbf", "gamma": 0.3, "eigen_solver": "landmarks", "n_landmarks": 60},
    {"kernel": "rbf", "gamma": 0.3, "eigen_solver": "nystroem", "n_landmarks": 60},
    {"kernel": "rbf", "gamma": 0.3, "eigen_solver": "random_features", "n_landmarks": 60},
    {"kernel": "cosine"},
]


def npy(folder: Path) -> Any:
    np.save(folder / "rows.npy", X)
    return folder / "rows.npy"


def csv(folder: Path) -> Any:
    np.savetxt(folder / "rows.csv", X, delimiter=",", header="a,b,c", comments="", fmt="%.17g")
    return folder / "rows.csv"


def frame(folder: Path) -> Any:
    import pandas as pd

    return pd.DataFrame(X, columns=["a", "b", "c"])


def sparse(folder: Path) -> Any:
    return scipy.sparse.csr_matrix(X)


def dask_array(folder: Path) -> Any:
    array = pytest.importorskip("dask.array")
    return array.from_array(X, chunks=(70, 3))


@pytest.mark.parametrize("given", [npy, csv, frame, sparse, dask_array])
@pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(map(str, way.values())))
def test_every_source_gives_the_same_model(given: Any, way: dict[str, Any], tmp_path: Path) -> None:
    data = given(tmp_path)
    plain, other = KernelPCA(3, **way).fit(X), KernelPCA(3, **way).fit(data)
    assert_allclose(other.eigenvalues_, plain.eigenvalues_, rtol=1e-10)
    assert_allclose(np.asarray(other.transform(data)), plain.transform(X), atol=1e-9)
    assert_allclose(np.asarray(other.novelty(data)), plain.novelty(X), atol=1e-9)


def test_rows_that_can_be_read_once_are_refused() -> None:
    with pytest.raises((NeedsAnotherPass, ValueError), match="read only once"):
        KernelPCA(2, kernel="rbf").fit(iter([X[:100], X[100:]]))


def test_frames_keep_their_names_and_kind() -> None:
    data = frame(Path())
    model = KernelPCA(2, kernel="rbf", gamma=0.3).fit(data)
    assert list(model.get_feature_names_out()) == ["kernelpca0", "kernelpca1"]
    assert list(model.denoise(data).columns) == ["a", "b", "c"]
    assert type(model.table("eigenvalues")).__name__ == "DataFrame"
    assert type(model.set_output(transform="same").transform(data)).__name__ == "DataFrame"


def test_single_precision_stays_single() -> None:
    model = KernelPCA(2, kernel="rbf", gamma=0.3).fit(X.astype(np.float32))
    assert model.transform(X.astype(np.float32)).dtype == np.float32
    assert_allclose(model.eigenvalues_, KernelPCA(2, kernel="rbf", gamma=0.3).fit(X).eigenvalues_, rtol=1e-5)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(map(str, way.values())))
def test_a_saved_model_does_the_same(way: dict[str, Any], tmp_path: Path) -> None:
    model = KernelPCA(3, **way).fit(X)
    model.save(tmp_path / "model.lowdim")
    back = lowdim.load(tmp_path / "model.lowdim")
    assert isinstance(back, KernelPCA)
    assert (back.transform(X) == model.transform(X)).all()
    assert (back.novelty(X) == model.novelty(X)).all()
    assert back.explain() == model.explain()
    assert back.get_params() == model.get_params()


def test_a_function_is_not_saved(tmp_path: Path) -> None:
    model = KernelPCA(2, kernel=lambda x, y: float(x @ y)).fit(X[:20])
    with pytest.raises(ValueError, match="is code"):
        model.save(tmp_path / "model.lowdim")
    assert not list(tmp_path.iterdir())


def test_the_plan_is_told_before_and_kept_within_memory() -> None:
    plan = KernelPCA(3, kernel="rbf", gamma=0.3).explain(X)
    assert "all pairs of 300 rows" in plan
    many = np.zeros((400_000, 3))
    assert "landmarks" in KernelPCA(3, kernel="rbf").explain(many)
    assert "explicit features" in KernelPCA(3).explain(many)
    with pytest.raises(TooLarge, match=r"takes 9,601 MB for the solver .* allow 1[\d,]+ MB"):
        KernelPCA(3, kernel="rbf", eigen_solver="dense", memory="300MB").fit(np.zeros((20_000, 3)))


def test_threads_change_nothing() -> None:
    one, two = (KernelPCA(3, kernel="rbf", gamma=0.3, n_jobs=jobs).fit(X) for jobs in (1, 2))
    assert_allclose(one.eigenvalues_, two.eigenvalues_, rtol=1e-12)
    with pytest.raises(ValueError, match="n_jobs"):
        KernelPCA(3, n_jobs=0).fit(X)
