"""Threads for block work: rows are split over threads, and BLAS runs on one thread inside each.

Splitting rows is faster than letting BLAS split each small product, and far less disturbed when another program
takes a core. The number of threads never changes a result: the caller receives the results in the order of the tasks.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, TypeVar

from lowdim.errors import BadParameter
from lowdim.runtime.machine import is_lack
from lowdim.runtime.progress import hear_of, stop_if_asked, watched_here
from lowdim.types import is_whole

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Section:
    """A stretch of a program in which BLAS runs on one thread and block work on several."""

    threads: int
    """1 inside a worker, and where only one thread is allowed: the work is then done on the spot."""


_current = threading.local()


def in_order(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Run `work` on each item in threads and give the results in the order of the items.

    At most one task more than there are threads is under way, so memory stays bounded for long streams. Between two
    of them whoever watches is asked whether to stop.
    """
    with one_blas_thread() as section:
        items = iter(items)
        ahead = list(islice(items, 2 if section.threads > 1 else 0))
        if len(ahead) < 2:  # a thread costs as much as all the work on a small block
            for item in chain(ahead, items):
                stop_if_asked()
                yield work(item)
            return
        pending: deque[Future[Result]] = deque()
        watched, pool, alone = watched_here(), _pool(section.threads), False
        try:
            for item in chain(ahead, items):
                stop_if_asked()
                try:
                    if not alone:
                        pending.append(pool.submit(_as_worker, work, item, watched))
                except RuntimeError as error:
                    if not is_lack(error):
                        raise
                    alone = True  # no thread can be started: this one does the rest
                if alone:
                    while pending:
                        yield pending.popleft().result()
                    yield work(item)
                elif len(pending) > section.threads:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()


@contextmanager
def one_blas_thread() -> Iterator[Section]:
    """Limit BLAS to one thread and give the threads that block work may use instead.

    A solver opens such a section around its whole loop, because OpenBLAS threads go on spinning after a call and
    would take the cores from the block threads. A section inside it is the same one, and costs nothing.
    """
    section = getattr(_current, "section", None)
    if section is not None:
        yield section
        return
    _current.section = Section(_limit.enter())
    try:
        yield _current.section
    finally:
        _current.section = None
        _limit.leave()


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """The threads of this process, which wait for work; begun with the first work that is worth them."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(threads, thread_name_prefix="lowdim")


if hasattr(os, "register_at_fork"):  # a fork has none of the threads
    os.register_at_fork(after_in_child=_pool.cache_clear)


@contextmanager
def single_threaded() -> Iterator[None]:
    """BLAS on one thread, and no worker threads: for a task that runs in another scheduler's threads (Dask's)."""
    before = getattr(_current, "section", None)
    _limit.enter()
    _current.section = Section(1)
    try:
        yield
    finally:
        _current.section = before
        _limit.leave()


@contextmanager
def all_blas_threads() -> Iterator[None]:
    """Give BLAS its threads back inside a section, for LAPACK on one large matrix."""
    section = getattr(_current, "section", None)
    if section is None or section.threads == 1:
        yield
        return
    _limit.lift()
    try:
        yield
    finally:
        _limit.lower()


@contextmanager
def at_most_threads(owner: str, n_jobs: Any) -> Iterator[None]:
    """So many threads at most, as scikit-learn's n_jobs says it: None for all that are allowed, −1 for all cores."""
    if n_jobs is None or n_jobs == -1:
        yield
        return
    if not is_whole(n_jobs) or int(n_jobs) < 1:
        raise BadParameter.of(owner, "n_jobs", n_jobs, "a whole number from 1, -1 for all cores, or None")
    with _controller().limit(limits=min(int(n_jobs), os.cpu_count() or 1), user_api="blas"):
        yield


def _as_worker(work: Callable[[Item], Result], item: Item, watched: Any) -> Result:
    _current.section = Section(1)  # work that splits itself again must not start threads of its own
    hear_of(watched)
    return work(item)


class _BlasLimit:
    """BLAS on one thread while any section is open: the limit is one for the process, sections are one a thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open = 0
        self._threads = 1
        self._before: list[tuple[Any, int]] = []
        """Libraries that were limited, and the threads that each had."""

    def enter(self) -> int:
        """Open a section; gives the threads that BLAS was allowed before the first one."""
        with self._lock:
            if self._open == 0:
                self._threads = self._limit()
            self._open += 1
            return self._threads

    def leave(self) -> None:
        """Close a section; the last one gives BLAS its threads back."""
        with self._lock:
            self._open -= 1
            if self._open == 0:
                self._restore()

    def lift(self) -> None:
        """Give BLAS its threads for a while, unless another section needs it to be alone on a core."""
        with self._lock:
            if self._open == 1:
                self._restore()

    def lower(self) -> None:
        """Limit BLAS again, if a section is still open."""
        with self._lock:
            if self._open and not self._before:
                self._limit()

    def _limit(self) -> int:
        """Limit each library; gives the threads that all of them were allowed."""
        found = [(library, int(library.num_threads)) for library in _blas_libraries()]
        self._before = [(library, threads) for library, threads in found if threads != 1]
        for library, _ in self._before:
            library.set_num_threads(1)
        return max(1, min([_cores(), *(threads for _, threads in found)]))

    def _restore(self) -> None:
        if self._before:
            _anyone_may_limit()
            for library, threads in self._before:
                library.set_num_threads(threads)
            _anyone_may_limit()
            self._before = []


_limit = _BlasLimit()


def _anyone_may_limit() -> None:
    """Let go of OpenBLAS: threadpoolctl takes orders only from the thread that gave the first one, here the first to
    open a section, which need not be the last to close one."""
    import threadpoolctl

    clear = getattr(getattr(threadpoolctl, "OpenBLASController", None), "clear_controlling_thread", None)
    if clear is not None:  # older versions take orders from all
        clear(force=True)


def allowed_threads() -> int:
    """As many threads as BLAS may use now, so that every usual way of limiting it is honoured."""
    return max(1, min([_cores(), *(int(library.num_threads) for library in _blas_libraries())]))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


@cache
def _blas_libraries() -> list[Any]:
    """What threadpoolctl calls their controllers. Asked one by one: its own sections take ten times as long."""
    return [library for library in _controller().lib_controllers if library.user_api == "blas"]


@cache
def _controller() -> Any:
    import scipy.linalg  # noqa: F401  its OpenBLAS must be loaded before the controller looks for libraries
    import threadpoolctl

    return threadpoolctl.ThreadpoolController()
