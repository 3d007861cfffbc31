"""Dask arrays and frames: the same answers, lazily where rows go in and out, whatever becomes of the workers."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import dask
import dask.array as da
import dask.bag
import dask.dataframe as dd
import distributed
import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import lowdim
from lowdim.errors import BadInput, ClusterFailed, Interrupted, MissingValues, NotNumeric, WrongShape
from lowdim.runtime.progress import Progress, watching
from lowdim.sources import dask as module
from lowdim.sources.dask import MAX_BLOCKS_MERGED, DaskSource, group_spans
from lowdim.sources.source import Block

NO_PORT = "127.0.0.1:0"
"""Any free port: two test processes would quarrel about dask's own, and None means that one."""

NAMES = [f"c{j}" for j in range(12)]


def table(n: int = 600, p: int = 12) -> np.ndarray:
    """Rows with well separated variances, and means that are not zero."""
    rng = np.random.default_rng(5)
    return rng.standard_normal((n, p)) * 1.3 ** np.arange(p) + 5.0


X = table()
WIDE = table(20, 50)
WEIGHT = (np.arange(len(X)) % 4).astype(float)


def frame(npartitions: int = 5) -> Any:
    return dd.from_pandas(pd.DataFrame(X, columns=NAMES), npartitions=npartitions)


def holed() -> np.ndarray:
    Y = X.copy()
    Y[[3, 500], 2] = np.nan
    return Y


def late(part: pd.DataFrame) -> pd.DataFrame:
    return part[part.index > 250]


LARGE = X[:, 0] > 6.5
IN_BOTH = da.from_array(X, chunks=(70, 5))

KINDS: dict[str, tuple[Any, np.ndarray]] = {
    "rows": (da.from_array(X, chunks=(70, -1)), X),
    "rows and columns": (IN_BOTH, X),
    "one chunk": (da.from_array(X, chunks=-1), X),
    "one row a chunk": (da.from_array(X[:40], chunks=(1, 12)), X[:40]),
    "empty chunks": (da.concatenate([da.from_array(part) for part in (X[:0], X[:90], X[90:90], X[90:], X[:0])]), X),
    "unknown rows": (frame().to_dask_array(), X),
    "unknown rows, few left": (da.from_array(X, chunks=(15, 12))[da.from_array(LARGE, chunks=15)], X[LARGE]),
    "frame": (frame(), X),
    "frame with an empty part": (frame().map_partitions(late), X[251:]),
    "float32": (da.from_array(X.astype(np.float32), chunks=(70, 5)), X.astype(np.float32)),
    "integers": (da.from_array((10 * X).astype(np.int32), chunks=(70, 12)), (10 * X).astype(np.int32)),
    "short and fat": (da.from_array(WIDE, chunks=(6, 20)), WIDE),
    "short and fat, one chunk": (da.from_array(WIDE, chunks=(20, 20)), WIDE),
    "derived from all rows": (IN_BOTH - IN_BOTH.mean(axis=0), X - X.mean(axis=0)),
}

every_kind = pytest.mark.parametrize("kind", KINDS)
every_route = pytest.mark.parametrize("solver", ["covariance_eigh", "lanczos", "tsqr"])


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small tables would be one block: make it some."""
    monkeypatch.setattr("lowdim.sources.source.BLOCK_BYTES", 4096)


@pytest.fixture(scope="module")
def client() -> Iterator[distributed.Client]:
    """Two workers in this process: a real scheduler, quickly started."""
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=False,
            dashboard_address=NO_PORT,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


def fit(rows: Any, solver: str = "auto", weight: Any = None, **settings: Any) -> lowdim.PCA:
    return lowdim.PCA(3, svd_solver=solver, **settings).fit(rows, sample_weight=weight)


def same(model: lowdim.PCA, usual: lowdim.PCA, error: float = 1e-10) -> None:
    np.testing.assert_allclose(model.explained_variance_, usual.explained_variance_, rtol=error)
    np.testing.assert_allclose(model.components_, usual.components_, atol=100 * error)  # variances 1.7 times apart
    np.testing.assert_allclose(model.mean_, usual.mean_, rtol=error, atol=error)
    assert model.n_samples_ == usual.n_samples_


def same_fit(kind: str, solver: str) -> None:
    lazy, rows = KINDS[kind]
    # products of float32 differ by its rounding where blocks are cut elsewhere
    same(fit(lazy, solver), fit(rows, solver), 1e-5 if kind == "float32" else 1e-10)


# -- the same answers -------------------------------------------------------------------------------------------------


@every_route
@every_kind
def test_threads_give_the_answer_of_the_array(kind: str, solver: str) -> None:
    same_fit(kind, solver)


@every_kind
def test_a_cluster_gives_the_answer_of_the_array(kind: str, client: distributed.Client) -> None:
    with client.as_current():
        same_fit(kind, "covariance_eigh")


@every_route
@pytest.mark.parametrize("kind", ["rows and columns", "frame", "short and fat"])
def test_every_route_runs_on_a_cluster(kind: str, solver: str, client: distributed.Client) -> None:
    with client.as_current():
        same_fit(kind, solver)


@pytest.mark.parametrize("kind", ["rows and columns", "unknown rows", "frame", "empty chunks"])
def test_weights_count_rows(kind: str, client: distributed.Client) -> None:
    lazy, rows = KINDS[kind]
    usual = fit(rows, weight=WEIGHT)
    same(fit(lazy, weight=WEIGHT), usual)
    with client.as_current():
        same(fit(lazy, weight=WEIGHT), usual)
    with pytest.raises(BadInput, match="600 rows"):
        fit(lazy, weight=WEIGHT[:-1])


def test_partial_fit_and_merge_take_them() -> None:
    first, second = da.from_array(X[:350], chunks=(100, 5)), dd.from_pandas(pd.DataFrame(X[350:]), npartitions=3)
    usual = fit(X, "covariance_eigh")
    same(lowdim.PCA(3).partial_fit(first).partial_fit(second.to_dask_array()), usual)
    same(fit(first, "covariance_eigh").merge(fit(second.to_dask_array(), "covariance_eigh")), usual)


def test_data_kept_on_workers_are_used_there(client: distributed.Client) -> None:
    with client.as_current():
        kept = KINDS["rows and columns"][0].persist()
        same(fit(kept, "lanczos"), fit(X, "lanczos"))


def test_a_cluster_gives_the_same_bits_again(client: distributed.Client) -> None:
    with client.as_current():
        fits = [fit(KINDS["rows and columns"][0], "lanczos") for _ in range(3)]
    for model in fits[1:]:
        np.testing.assert_array_equal(model.components_, fits[0].components_)
        np.testing.assert_array_equal(model.explained_variance_, fits[0].explained_variance_)


def test_no_solver_that_needs_the_array_is_chosen() -> None:
    assert "covariance" in lowdim.PCA(3).explain(KINDS["short and fat"][0])
    with pytest.raises(ValueError, match="row blocks"):
        fit(KINDS["rows"][0], "full")


# -- rows in, rows out ------------------------------------------------------------------------------------------------


@every_kind
def test_scores_are_lazy_and_the_same(kind: str) -> None:
    lazy, rows = KINDS[kind]
    model = fit(np.asarray(rows))
    scores = model.transform(lazy if isinstance(lazy, da.Array) else lazy.rename(columns=str).to_dask_array())
    assert isinstance(scores, da.Array)
    np.testing.assert_allclose(scores.compute(), model.transform(rows), rtol=1e-10, atol=1e-10)  # other blocks
    if isinstance(lazy, da.Array):
        np.testing.assert_array_equal(scores.chunks[0], lazy.chunks[0])  # NaN where sizes are not known
        assert scores.dtype == model.transform(rows).dtype


def test_scores_of_a_frame_are_an_array_or_a_frame_on_request() -> None:
    model = fit(frame())
    assert model.feature_names_in_.tolist() == NAMES
    scores = model.transform(frame())
    assert isinstance(scores, da.Array)
    np.testing.assert_allclose(scores.compute(), model.transform(pd.DataFrame(X, columns=NAMES)), atol=1e-10)
    named = model.set_output(transform="same").transform(frame())
    assert isinstance(named, dd.DataFrame)
    assert list(named.columns) == ["pca0", "pca1", "pca2"]
    np.testing.assert_array_equal(named.compute().index, np.arange(len(X)))
    np.testing.assert_array_equal(named.compute().to_numpy(), scores.compute())
    assert isinstance(model.table("eigenvalues"), pd.DataFrame)


def test_a_frame_with_other_columns_is_refused() -> None:
    with pytest.raises(ValueError, match="c11"):
        fit(frame()).transform(frame()[NAMES[:-1]])


@pytest.mark.parametrize("kind", ["rows and columns", "unknown rows"])
@pytest.mark.parametrize("whiten", [False, True])
def test_the_way_back_and_densities_are_lazy_too(kind: str, whiten: bool) -> None:
    lazy, model = KINDS[kind][0], fit(X, whiten=whiten)
    scores = model.transform(X)
    for made, right in (
        (model.inverse_transform(model.transform(lazy)), model.inverse_transform(scores)),
        (model.score_samples(lazy), model.score_samples(X)),
        (model.fit_transform(lazy), scores),
    ):
        assert isinstance(made, da.Array)
        np.testing.assert_allclose(made.compute(), right, rtol=1e-10, atol=1e-10)  # sums in other blocks
    assert model.score(lazy) == pytest.approx(model.score(X), rel=1e-12)
    Y, Z = model.low_rank(lazy)
    np.testing.assert_allclose(Y @ Z.T, model.inverse_transform(scores), atol=1e-10)


def test_a_cluster_maps_rows(client: distributed.Client) -> None:
    model = fit(X)
    with client.as_current():
        made = model.transform(frame().rename(columns=str).to_dask_array()).compute()
    np.testing.assert_allclose(made, model.transform(X), atol=1e-10)


def test_blocks_come_here_one_after_the_other() -> None:
    for lazy, rows in (KINDS["rows and columns"], KINDS["frame with an empty part"]):
        blocks = list(DaskSource(lazy).blocks())
        np.testing.assert_array_equal(np.concatenate([block.rows for block in blocks]), rows)
        assert [b.start for b in blocks] == np.cumsum([0, *(len(b.rows) for b in blocks)])[:-1].tolist()
        assert len(blocks) > 1


@pytest.mark.parametrize("made", ["array", "unknown rows", "frame"])
def test_em_on_a_cluster_is_em_in_memory(client: distributed.Client, made: str) -> None:
    rng = np.random.default_rng(7)
    rows = rng.standard_normal((600, 3)) @ rng.standard_normal((3, 12)) + 0.3 * rng.standard_normal((600, 12)) + 2.0
    rows[rng.random(rows.shape) < 0.15] = np.nan
    table = dd.from_pandas(pd.DataFrame(rows, columns=NAMES), npartitions=4)
    lazy = {"array": da.from_array(rows, chunks=(70, 5)), "unknown rows": table.to_dask_array(), "frame": table}[made]
    here = lowdim.ProbabilisticPCA(3, scale=True).fit(rows)
    with client.as_current():
        there = lowdim.ProbabilisticPCA(3, scale=True).fit(lazy)
        filled = np.asarray(there.impute(lazy))
        likely = np.asarray(there.score_samples(lazy))
    # the same steps over sums in another order
    assert there.n_iter_ == here.n_iter_
    assert there.loglik_ == pytest.approx(here.loglik_, rel=1e-12)
    np.testing.assert_allclose(there.components_, here.components_, atol=1e-9)
    np.testing.assert_allclose(there.mean_, here.mean_, atol=1e-9)
    np.testing.assert_allclose(filled, here.impute(rows), atol=1e-8)
    np.testing.assert_allclose(likely, here.score_samples(rows), atol=1e-8)


# -- what cannot be used ----------------------------------------------------------------------------------------------


def test_holes_are_counted_by_column_name() -> None:
    lazy = dd.from_pandas(pd.DataFrame(holed(), columns=NAMES), npartitions=4)
    with pytest.raises(MissingValues, match=r"c2: 2\), in 600 rows"):
        fit(lazy)
    scores = fit(frame()).transform(lazy)  # nothing is read yet
    with pytest.raises(MissingValues, match="c2: 1"):
        scores.compute()


def test_columns_without_numbers_are_named() -> None:
    lazy = frame()
    lazy["name"] = lazy.c0.astype(str) + "th"  # what a text holds is known when it is read
    with pytest.raises(NotNumeric, match="name"):
        lowdim.PCA().fit(lazy)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (da.ones(5), "2D"),
        (da.ones((2, 2, 2)), "2D"),
        (frame().c0, "2D"),
        (da.ones((0, 3)), "0 sample"),
        (da.ones((3, 0)), "0 feature"),
        (da.ones((3, 3), dtype=complex), "Complex"),
        (da.from_array(np.array([["a", "b"]])), "dtype"),
        (da.ones((4, 4), chunks=2).map_blocks(scipy.sparse.csr_array), "chunks of the dask array"),
        (dask.bag.from_sequence([1, 2]), "dask Bag"),
    ],
)
def test_other_things_are_refused(data: Any, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        lowdim.open(data)


def test_frames_without_rows_are_refused_when_that_is_seen(client: distributed.Client) -> None:
    nothing = frame()[frame().c0 > 1e9]
    with pytest.raises(WrongShape, match="0 sample"):
        fit(nothing)
    with client.as_current(), pytest.raises(WrongShape, match="0 sample"):
        fit(nothing)


# -- how a fold runs --------------------------------------------------------------------------------------------------


def span_of(block: Block) -> list[tuple[int, int]]:
    return [(block.start, len(block.rows))]


def sent_home(source: DaskSource, least_rows: int) -> list[int]:
    """Blocks behind each statistic that comes home."""
    return [len(group) for group in group_spans(source._spans(least_rows), least_rows)]


def test_a_fold_runs_in_block_order_and_joins_small_chunks(client: distributed.Client) -> None:
    source = DaskSource(da.from_array(X, chunks=(6, 5)))
    with client.as_current():
        spans = source.reduce(span_of, list.__add__)
    assert spans == source.reduce(span_of, list.__add__)
    assert [start for start, _ in spans] == np.cumsum([0, *(rows for _, rows in spans)])[:-1].tolist()
    assert {rows for _, rows in spans} == {
        12
    }  # a block of 4 kB is 42 rows: two chunks of six are more than a quarter of it


def test_large_statistics_are_merged_before_they_come_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lowdim.sources.source.BLOCK_BYTES", 32 * 2**20)
    source = DaskSource(da.zeros((10**9, 1000), chunks=(32_768, 1000), dtype=np.float32))
    assert set(sent_home(source, least_rows=1)) == {1}  # b or p numbers: as many statistics as blocks
    groups = sent_home(source, least_rows=2000)  # p × p numbers
    assert set(groups[:-1]) == {8}
    assert sum(groups) == len(source._sizes)
    wide = DaskSource(da.zeros((10**6, 20_000), chunks=(1000, 20_000)))
    assert max(sent_home(wide, least_rows=40_000)) == MAX_BLOCKS_MERGED


def test_progress_is_told_and_a_fit_can_be_stopped_and_carried_on(client: distributed.Client) -> None:
    told: list[Progress] = []

    def stop(progress: Progress) -> bool:
        told.append(progress)
        return progress.rows >= 200

    usual = fit(X, "covariance_eigh")
    for kind in ("rows and columns", "unknown rows"):
        source = lowdim.open(KINDS[kind][0])
        with watching(stop), pytest.raises(Interrupted) as caught:
            fit(source, "covariance_eigh")
        assert 200 <= caught.value.rows < 600
        assert told[-1].rows == caught.value.rows
        same(caught.value.model.partial_fit(source.after(caught.value.rows)), usual)
    told.clear()
    with client.as_current(), watching(lambda progress: told.append(progress)):
        fit(KINDS["one row a chunk"][0], "covariance_eigh")
    assert told[-1].rows == 40


def test_few_graphs_are_under_way_and_nothing_stays_on_the_workers(client: distributed.Client) -> None:
    most = 0

    def watch(progress: Progress) -> None:
        nonlocal most
        most = max(most, len(client.futures))

    source = DaskSource(da.from_array(np.tile(X, (20, 1)), chunks=(150, 12)))
    with client.as_current(), watching(watch):
        source.reduce(span_of, list.__add__)
    assert 2 <= most <= 6  # of 80 graphs of one block: two for each of two threads, and two to spare
    scheduler, deadline = client.cluster.scheduler, time.monotonic() + 10
    while scheduler.tasks and time.monotonic() < deadline:  # it hears of releases a little later
        time.sleep(0.02)
    assert not scheduler.tasks


def boom(block: Block) -> None:
    raise ZeroDivisionError(f"at {block.start}")


def test_an_error_in_a_task_reaches_the_caller(client: distributed.Client) -> None:
    source = DaskSource(KINDS["rows"][0])
    for place in (client.as_current(), dask.config.set(scheduler="threads")):
        with place, pytest.raises(ZeroDivisionError, match=r"at \d+"):
            source.reduce(boom, max)


def test_a_scheduler_that_forgets_the_work_is_said(client: distributed.Client) -> None:
    def forget(progress: Progress) -> None:
        client.cancel([distributed.Future(key, client) for key in list(client.futures)], force=True)

    rows = da.from_array(np.tile(X, (4, 1)), chunks=(50, 12))
    with client.as_current(), watching(forget), pytest.raises(ClusterFailed, match=r"part \d+ of 16 of the rows"):
        DaskSource(rows).reduce(span_of, list.__add__)


def test_a_configured_scheduler_is_preferred_to_a_cluster(client: distributed.Client) -> None:
    with client.as_current():
        assert module._active_client() is client
        with dask.config.set(scheduler="threads"):
            assert module._active_client() is None


# -- workers that die -------------------------------------------------------------------------------------------------


def slow(rows: np.ndarray, seconds: float) -> np.ndarray:
    time.sleep(seconds)
    return rows


def fatal(rows: np.ndarray) -> np.ndarray:
    os.kill(os.getpid(), signal.SIGKILL)
    return rows


@contextmanager
def processes(restarts: int) -> Iterator[Any]:
    """Two workers that can be killed, and are gone in the end; the scheduler itself restarts a task so many times."""
    settings = {
        "distributed.scheduler.allowed-failures": restarts,
        # a LocalCluster closes for good a worker that is just being restarted so long after some earlier loss
        "distributed.deploy.lost-worker-timeout": "1 hour",
    }
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=NO_PORT, silence_logs=logging.CRITICAL
        ) as cluster,
        distributed.Client(cluster, set_as_default=False),
    ):
        yield cluster


@contextmanager
def killing(cluster: Any, times: int, every: float) -> Iterator[list[int]]:
    """Kill a worker that is up, so many times, so many seconds apart at least."""
    killed: list[int] = []
    stop = threading.Event()

    def kill() -> None:
        while len(killed) < times and not stop.wait(every):
            up = [w.process.pid for w in cluster.workers.values() if w.worker_address in cluster.scheduler.workers]
            if up:
                os.kill(up[len(killed) % len(up)], signal.SIGKILL)
                killed.append(up[len(killed) % len(up)])

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        stop.set()
        thread.join()


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def kill_test(blocks: int, seconds: float, times: int, every: float, restarts: int) -> None:
    rows = da.from_array(np.tile(X, (blocks // 12, 1)), chunks=(50, 12))
    slowly = rows.map_blocks(partial(slow, seconds=seconds), dtype=float, meta=np.empty((0, 0)))
    here = fit(rows, "lanczos")
    with processes(restarts) as cluster, cluster.get_client() as client, client.as_current():
        pids = list(client.run(os.getpid).values())
        calm = fit(rows, "lanczos")
        with killing(cluster, times, every) as killed:
            model = fit(slowly, "lanczos")
        pids += [worker.process.pid for worker in cluster.workers.values() if worker.process]
    assert len(killed) == times
    same(model, here)
    np.testing.assert_array_equal(model.components_, calm.components_)
    np.testing.assert_array_equal(model.explained_variance_, calm.explained_variance_)
    np.testing.assert_array_equal(model.mean_, calm.mean_)
    assert all(gone(pid) for pid in pids + killed)


@pytest.mark.parametrize("times", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_workers_that_are_killed_change_nothing(times: int) -> None:
    kill_test(blocks=24, seconds=0.05, times=times, every=0.5, restarts=0)  # so lowdim submits again after each


@pytest.mark.slow
def test_ten_workers_killed_one_after_the_other_change_nothing() -> None:
    kill_test(blocks=96, seconds=0.1, times=10, every=1.5, restarts=3)  # dask's own number


@pytest.mark.slow
def test_a_chunk_that_kills_every_worker_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_SUBMISSIONS", 2)
    rows = da.from_array(X, chunks=(300, 12)).map_blocks(fatal, dtype=float, meta=np.empty((0, 0)))
    with (
        processes(restarts=0) as cluster,
        cluster.get_client() as client,
        client.as_current(),
        pytest.raises(ClusterFailed, match="given to the cluster 2 times"),
    ):
        fit(rows)
