"""A fit can be watched, stopped between blocks, and carried on from there to the same result."""

from __future__ import annotations

import numpy as np
import pytest

import lowdim
from lowdim import PCA
from lowdim.errors import BadInput, Interrupted
from lowdim.runtime.progress import Progress, watching
from lowdim.sources.open import open_source

X = np.random.default_rng(0).standard_normal((40_000, 150)) * np.linspace(3, 1, 150) + 7


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    here = tmp_path_factory.mktemp("rows") / "rows.npy"
    np.save(here, X)
    return here


def test_a_watcher_sees_every_row(path):
    seen: list[Progress] = []
    with watching(seen.append):
        PCA(2, svd_solver="covariance_eigh").fit(path)
    assert [progress.rows for progress in seen] == sorted(progress.rows for progress in seen)
    assert len(seen) > 1
    assert (seen[-1].rows, seen[-1].share, seen[-1].passes) == (len(X), 1.0, 1)


def test_passes_are_counted(path):
    seen: list[Progress] = []
    with watching(seen.append):
        model = PCA(2, svd_solver="tsqr").fit(path)
    assert {progress.passes for progress in seen} == set(range(1, model.certificate_.passes + 1))


def test_watching_ends_with_its_block(path):
    seen: list[Progress] = []
    with watching(seen.append):
        pass
    PCA(2).fit(path)
    assert not seen


@pytest.mark.parametrize("where", [1, 20_000])
def test_an_interrupted_fit_goes_on_to_the_same_result(path, where, tmp_path):
    with pytest.raises(Interrupted) as stop, watching(lambda progress: progress.rows >= where):
        PCA(4, svd_solver="covariance_eigh", scale=True).fit(path)
    part, rows = stop.value.model, stop.value.rows
    assert 0 < rows < len(X)
    assert part.n_samples_ == rows
    part.save(tmp_path / "part.lowdim")
    model = lowdim.load(tmp_path / "part.lowdim").partial_fit(open_source(path).after(rows))
    whole = PCA(4, svd_solver="covariance_eigh", scale=True).fit(path)
    assert model.n_samples_ == len(X)
    # other blocks are merged, in float64: a few roundings
    np.testing.assert_allclose(model.explained_variance_, whole.explained_variance_, rtol=1e-12)
    np.testing.assert_allclose(model.components_, whole.components_, atol=1e-10)


def test_an_interrupted_iteration_leaves_no_model(path):
    with pytest.raises(Interrupted) as stop, watching(lambda progress: progress.passes == 3):
        PCA(2, svd_solver="lanczos").fit(path)
    assert stop.value.model is None


def test_a_watcher_that_answers_nothing_stops_nothing(path):
    with watching(lambda progress: None):
        assert PCA(2).fit(path).n_samples_ == len(X)


@pytest.mark.parametrize("kind", ["npy", "parquet", "array"])
@pytest.mark.parametrize("skip", [1, 12_345, 39_999])
def test_later_rows_are_the_later_rows(path, tmp_path, kind, skip):
    data = {"npy": path, "array": X}.get(kind)
    if data is None:
        import pandas as pd

        data = tmp_path / "rows.parquet"
        pd.DataFrame(X).rename(columns=str).to_parquet(data, row_group_size=7_000)
    source = open_source(data).after(skip)
    blocks = list(source.blocks())
    assert source.n_rows == len(X) - skip
    assert [block.start for block in blocks] == np.cumsum([0, *(len(block.rows) for block in blocks[:-1])]).tolist()
    np.testing.assert_array_equal(np.concatenate([block.rows for block in blocks]), X[skip:])


def test_nothing_is_left_to_go_on_with(path):
    with pytest.raises(BadInput, match="40,000 of them were read before"):
        open_source(path).after(len(X))
