"""Blocks give all rows once and in order; a fold over them does not know how many threads there are."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from threadpoolctl import threadpool_limits

from catalogue import ENGINES, Engine, blocks_of, case
from lowdim.errors import BadInput, NeedsAnotherPass, WrongShape
from lowdim.runtime.threads import in_order
from lowdim.sources.open import open_source
from lowdim.sources.source import Block, WeightedSource
from lowdim.sources.wrapped import check_weights

SOURCES = [engine for engine in ENGINES if not engine.batches]

every_source = pytest.mark.parametrize("engine", SOURCES, ids=str)


def dense(rows: Any) -> np.ndarray:
    return rows if isinstance(rows, np.ndarray) else rows.toarray()


def total(block: Block) -> np.ndarray:
    return dense(block.rows).sum(axis=0)


def span(block: Block) -> list[tuple[int, int]]:
    return [(block.start, block.rows.shape[0])]


@every_source
@pytest.mark.parametrize("name", ["tall", "very tall", "wide", "one column", "two rows", "uint8"])
def test_blocks_give_every_row_once_and_in_order(name: str, engine: Engine, tmp_path: Path) -> None:
    X = case(name).dense
    source = open_source(engine.give(X, tmp_path))
    assert source.n_columns == X.shape[1]
    assert source.n_rows in (len(X), None)
    blocks = list(source.blocks())
    np.testing.assert_array_equal(np.concatenate([dense(block.rows) for block in blocks]), X)
    assert [block.start for block in blocks] == np.cumsum([0, *(b.rows.shape[0] for b in blocks)])[:-1].tolist()


@every_source
def test_the_fold_runs_in_block_order(engine: Engine, tmp_path: Path) -> None:
    source = open_source(engine.give(case("very tall").dense, tmp_path))
    spans = source.reduce(span, list.__add__)
    starts = [start for start, _ in spans]
    assert starts == sorted(starts)
    assert sum(length for _, length in spans) == 1200


@every_source
def test_the_fold_gives_the_same_bits_on_any_number_of_threads(engine: Engine, tmp_path: Path) -> None:
    X = case("very tall").dense
    totals = []
    for threads in (1, 2, 2):
        with threadpool_limits(limits=threads):
            totals.append(open_source(engine.give(X, tmp_path)).reduce(total, np.add))
    np.testing.assert_array_equal(totals[1], totals[0])
    np.testing.assert_array_equal(totals[2], totals[0])
    np.testing.assert_allclose(totals[0], X.sum(axis=0), rtol=1e-12)  # 1,200 numbers in another order


def test_blocks_of_an_array_are_views_of_it() -> None:
    X = case("tall").data
    assert all(np.shares_memory(block.rows, X) for block in open_source(X).blocks())


def test_blocks_of_a_csr_matrix_share_its_numbers() -> None:
    X = case("csr").data
    assert all(np.shares_memory(block.rows.data, X.data) for block in open_source(X).blocks() if block.rows.nnz)


def test_a_wish_for_more_rows_makes_fewer_blocks() -> None:
    source = open_source(np.zeros((1200, 600)))
    sizes = {least: [len(block.rows) for block in source.blocks(least_rows=least)] for least in (200, 500, 700)}
    assert sizes == {200: [200] * 6, 500: [600, 600], 700: [1200]}
    assert len(list(source.blocks())) > 6


def test_small_tables_are_not_cut() -> None:
    assert len(list(open_source(np.zeros((1200, 50))).blocks())) == 1


@pytest.mark.parametrize("stored", [0, 1, 5], ids=["nothing stored", "one entry", "one full row"])
def test_nearly_empty_sparse_matrices_are_cut_too(stored: int) -> None:
    X = np.zeros((40, 5))
    X[17, :stored] = 1.0
    blocks = list(open_source(scipy.sparse.csr_array(X)).blocks())
    np.testing.assert_array_equal(np.concatenate([dense(block.rows) for block in blocks]), X)


# -- threads --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2])
def test_work_is_not_started_far_ahead(threads: int) -> None:
    taken = 0

    def items() -> Iterator[int]:
        nonlocal taken
        for item in range(30):
            taken += 1
            yield item

    with threadpool_limits(limits=threads):
        for done, result in enumerate(in_order(abs, items())):
            assert result == done
            assert taken - done <= threads + 1  # one more than there are threads, so memory stays bounded


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_in_the_work_reaches_the_caller(threads: int) -> None:
    with threadpool_limits(limits=threads), pytest.raises(ZeroDivisionError):
        list(in_order(partial(divmod, 1), [1, 1, 0, 1]))


def test_work_may_split_itself_again() -> None:
    def work(item: int) -> list[int]:
        return list(in_order(abs, [item, -item]))

    assert list(in_order(work, range(6))) == [[i, i] for i in range(6)]


# -- rows that come once --------------------------------------------------------------------------------------------


def test_a_stream_is_read_once() -> None:
    source = open_source(blocks_of(case("tall").data, 50))
    assert len(list(source.blocks())) == 4
    with pytest.raises(NeedsAnotherPass, match=r"lowdim\.open"):
        list(source.blocks())


def test_empty_blocks_are_passed_over() -> None:
    X = case("tall").data
    source = open_source(iter([X[:0], X[:3], X[3:3], X[3:]]))
    assert [block.start for block in source.blocks()] == [0, 3]


def test_blocks_of_another_width_are_refused() -> None:
    with pytest.raises(WrongShape, match="Block 1 has 3 columns"):
        list(open_source(iter([np.ones((2, 4)), np.ones((2, 3))])).blocks())


def test_a_stream_of_nothing_is_refused() -> None:
    with pytest.raises(BadInput, match="no rows"):
        open_source(iter([]))


# -- weights --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["tall", "csr"])
def test_rows_of_weight_zero_are_left_out(name: str) -> None:
    X = case(name).data
    weight = np.arange(X.shape[0]) % 4 * 1.0
    blocks = list(WeightedSource(open_source(X), weight).blocks())
    used = weight > 0
    np.testing.assert_array_equal(np.concatenate([dense(block.rows) for block in blocks]), dense(X)[used])
    np.testing.assert_array_equal(np.concatenate([block.weight for block in blocks]), weight[used])


@pytest.mark.parametrize(
    "bad", [[1.0, 2.0], [1.0, -1.0, 1.0], [1.0, np.nan, 1.0], [0.0, 0.0, 0.0], [[1.0], [1.0], [1.0]]]
)
def test_weights_that_make_no_sense_are_refused(bad: Any) -> None:
    with pytest.raises(BadInput, match="weight"):
        check_weights(bad, 3)
