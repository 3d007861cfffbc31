"""Traps 40 and 41 of research/field.md §D: random numbers, threads and processes that are not ours to disturb."""

import multiprocessing
import os
import random
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from lowdim import PCA
from lowdim.errors import LowdimError
from models.routes import each_solver, spread

# -- 40: random numbers ------------------------------------------------------------------------------------------------


@each_solver
def test_40_random_state_is_honoured_and_the_global_one_untouched(solver):
    X = np.random.default_rng(40).standard_normal((60, 50))
    state, python = np.random.mtrand._rand.get_state(), random.getstate()
    fits = {
        seed: PCA(5, svd_solver=solver, random_state=make()).fit(X).components_
        for seed, make in {
            "none": lambda: None,
            "again": lambda: None,
            "0": lambda: 0,
            "7": lambda: 7,
            "state": lambda: np.random.RandomState(3),
            "same state": lambda: np.random.RandomState(3),
            "generator": lambda: np.random.default_rng(3),
        }.items()
    }
    after = np.random.mtrand._rand.get_state()  # the global generator
    np.testing.assert_array_equal(after[1], state[1])
    assert after[2] == state[2]
    assert random.getstate() == python
    np.testing.assert_array_equal(fits["none"], fits["again"])
    np.testing.assert_array_equal(fits["state"], fits["same state"])
    for components in fits.values():
        np.testing.assert_allclose(components, fits["none"], atol=1e-8)  # tol 1e-10 in values, over gaps of a few %


@pytest.mark.filterwarnings("ignore::lowdim.errors.AccuracyWarning")  # one step is not enough, and says so
def test_40_the_seed_reaches_the_solver():
    X = np.random.default_rng(40).standard_normal((60, 50))
    one, other = (
        PCA(5, svd_solver="randomized", iterated_power=1, tol=0.9, random_state=seed).fit(X).components_
        for seed in (0, 1)
    )
    assert np.abs(one - other).max() > 1e-6  # one step from another start ends elsewhere


# -- 41: threads and processes -----------------------------------------------------------------------------------------


def blas_threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


@each_solver
@pytest.mark.parametrize("shape", [(3000, 20), (60, 900)], ids=["tall", "wide"])
def test_41_the_number_of_threads_does_not_change_the_answer(solver, shape):
    if solver == "gram" and shape[0] == 3000:
        shape = (300, 20)
    X = np.random.default_rng(41).standard_normal(shape) * np.linspace(3, 1, shape[1])
    results = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            results.append(PCA(4, svd_solver=solver).fit(X))
    # design.md; axes are determined to tol = 1e-10 over gaps of a few per cent
    np.testing.assert_allclose(results[0].explained_variance_, results[1].explained_variance_, rtol=1e-10)
    np.testing.assert_allclose(results[0].components_, results[1].components_, atol=1e-8)


def test_41_a_limit_of_one_thread_is_respected():
    counts = []

    def stream():
        for rows in np.array_split(spread(200), 20):
            counts.append(threading.active_count())
            yield rows

    before = threading.active_count()
    with threadpool_limits(1, user_api="blas"):
        PCA().fit(stream())
    assert max(counts) == before


def test_41_blas_has_its_threads_back_after_a_fit_that_failed():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with pytest.raises(LowdimError):
            PCA(svd_solver="lanczos").fit(np.full((20, 3), np.nan))
        assert blas_threads() == before


def test_41_fits_that_overlap_give_blas_its_threads_back():
    X = spread(40)
    inside = [threading.Event(), threading.Event()]
    leave = [threading.Event(), threading.Event()]

    def stream(i):
        yield X[:20]
        inside[i].set()
        assert leave[i].wait(30)
        yield X[20:]

    before = blas_threads()
    with ThreadPoolExecutor(2) as pool:
        fits = []
        for i in (0, 1):
            fits.append(pool.submit(PCA().fit, stream(i)))
            assert inside[i].wait(30)
        for i in (0, 1):  # the first to begin is the first to end
            leave[i].set()
            fits[i].result(30)
    after = blas_threads()
    threadpool_limits(max(before), user_api="blas")  # for the tests that follow, whatever happened here
    assert after == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # Python 3.12 warns about just this
@pytest.mark.parametrize("solver", ["covariance_eigh", "lanczos", "gram"])
def test_41_a_forked_process_does_not_hang(solver):
    X = np.random.default_rng(41).standard_normal((200, 40))
    here = PCA(3, svd_solver=solver).fit(X).explained_variance_
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=lambda: queue.put(PCA(3, svd_solver=solver).fit(X).explained_variance_))
    child.start()
    child.join(60)
    alive = child.is_alive()
    if alive:
        child.kill()
    assert not alive
    np.testing.assert_allclose(queue.get(), here, rtol=1e-10)  # design.md
