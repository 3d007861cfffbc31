"""The same rows give the same answer through every door, in every batch size, on any number of threads."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from threadpoolctl import threadpool_limits

import lowdim
from catalogue import (
    ENGINES,
    SOLVERS,
    Case,
    Engine,
    Fitted,
    accuracy,
    blocks_of,
    cuts,
    fingerprint,
    fit_quietly,
    fitted,
    sine,
    truth,
)
from catalogue import case as named
from laws import for_each
from lowdim.errors import AccuracyWarning, BadParameter, NeedsAnotherPass
from lowdim.sources.source import Source

every_engine = pytest.mark.parametrize("engine", ENGINES, ids=str)
every_table = for_each(
    "case",
    [
        named(name)
        for name in (
            *("tall", "very tall", "wide", "one column", "graded to 1e-4", "graded to 1e-7", "repeated", "zeros"),
            *("equal rows", "rank 4 of 12", "constant columns", "offset 1e8", "units from 1e-6 to 1e6"),
            *("float32", "float32, offset 1e4", "int64", "uint8", "bool", "Fortran order", "negative strides"),
        )
    ],
)

SINGLE = float(np.finfo(np.float32).eps)


_FITS: dict[tuple[str, str], Fitted] = {}


def whole(case: Case, engine: Engine, folder: Path) -> Fitted:
    """All components through this engine; kept, as several laws ask for them."""
    key = (case.name, engine.name)
    if key not in _FITS:
        _FITS[key] = engine.fit(lowdim.PCA(), case.dense, folder)
    return _FITS[key]


def error_of(case: Case, engine: Engine) -> float:
    """1e-10 of the largest variance is promised; products of float32 do not reach it, a list has no float32."""
    return 1e-10 if engine.name == "list" else accuracy(case, "auto")


@every_engine
@every_table
def test_every_engine_gives_the_true_answer(case: Case, engine: Engine, tmp_path: Path, tally: Any) -> None:
    tally(3, 1, "fits: matrices × engines")
    right = truth(case.name)
    model = whole(case, engine, tmp_path).model
    values = right.values[: model.n_components_].astype(float)
    allowed = error_of(case, engine) * values[0] + right.blur
    assert model.n_components_ == min(case.data.shape)
    assert model.n_samples_ == case.data.shape[0]
    assert np.abs(model.explained_variance_ - values).max() <= allowed
    below = np.append(right.values[1:].astype(float), 0.0)
    for j in cuts(right.values.astype(float), model.n_components_, least=100 * allowed):
        # Davis & Kahan: such an error in the covariance turns a span by no more than this
        assert sine(model.components_[:j], right.vectors[:j]) <= allowed / (values[j - 1] - below[j - 1])


@every_engine
@every_table
def test_every_engine_agrees_with_the_array(case: Case, engine: Engine, tmp_path: Path) -> None:
    usual = fitted(case.name, "auto", None).model
    model = whole(case, engine, tmp_path).model
    first = float(usual.explained_variance_[0])
    right = truth(case.name)
    error = max(accuracy(case, "auto"), 1e-10)
    allowed = error * first + right.blur
    assert np.abs(model.explained_variance_ - usual.explained_variance_).max() <= allowed
    assert abs(model.total_variance_ - usual.total_variance_) <= error * usual.total_variance_ + right.blur
    largest = float(np.abs(case.dense.astype(float)).max())
    # sums of the same numbers in another order; float32 rows are added up in float32 by the piece
    summed = 8 * np.finfo(np.float32).eps if case.data.dtype == np.float32 else 1e-14
    assert np.abs(model.mean_ - usual.mean_).max() <= summed * largest
    values = right.values.astype(float)
    fall = cuts(values, model.n_components_, least=1e-3 * values[0])
    for j in fall:
        if j == 1 or j - 1 in fall:  # this axis is defined: the same numbers with the same signs
            gap = min([values[j - 1] - values[j] if j < len(values) else np.inf, *np.diff(values[j - 1 : j - 3 : -1])])
            turned = 2 * allowed / min(gap, values[j - 1])
            assert np.abs(model.components_[j - 1] - usual.components_[j - 1]).max() <= turned


@every_engine
@every_table
def test_certificates_hold_in_every_engine(case: Case, engine: Engine, tmp_path: Path) -> None:
    right = truth(case.name)
    fit = whole(case, engine, tmp_path)
    certificate, k = fit.model.certificate_, fit.model.n_components_
    allowed = right.unsure[:k] + right.blur
    assert (certificate.lower <= right.values[:k] + allowed).all()
    assert (certificate.upper >= right.values[:k] - allowed).all()
    assert (AccuracyWarning in fit.said) == bool(certificate.untrusted)
    # ten times what variances may be wrong by: bounds that hold whatever happens would say nothing
    wide = 10 * error_of(case, engine) * float(right.values[0]) + 10 * right.blur
    assert ((certificate.upper - certificate.lower) / 2 <= wide).all()


@every_engine
@pytest.mark.parametrize("name", ["graded to 1e-4", "graded to 1e-7", "units from 1e-6 to 1e6"])
def test_lost_digits_are_restored_or_announced(name: str, engine: Engine, tmp_path: Path) -> None:
    right = truth(name)
    fit = engine.fit(lowdim.PCA(), named(name).dense, tmp_path)
    values = right.values.astype(float)
    wrong = np.flatnonzero(np.abs(fit.model.explained_variance_ - values) > 1e-8 * values)
    if engine.once:  # rows that are gone cannot be multiplied again
        assert set(wrong.tolist()) <= set(fit.model.certificate_.untrusted)
    else:
        assert not len(wrong)
        assert fit.said == ()


@every_engine
@pytest.mark.parametrize("name", ["tall", "very tall", "uint8", "bool", "offset 1e8", "float32", "float32, offset 1e4"])
def test_ordinary_rows_raise_no_warning(name: str, engine: Engine, tmp_path: Path) -> None:
    if engine.once and ("float32" in name or "offset" in name):
        pytest.skip("rows that are gone cannot be multiplied in float64, nor about a better mean: it may say so")
    assert engine.fit(lowdim.PCA(), named(name).dense, tmp_path).said == ()


@pytest.mark.parametrize("engine", [engine for engine in ENGINES if engine.once], ids=str)
@pytest.mark.parametrize("name", ["graded to 1e-7", "graded to 1e-12", "units from 1e-6 to 1e6"])
def test_digits_that_were_not_lost_are_not_given_up(name: str, engine: Engine, tmp_path: Path) -> None:
    values = truth(name).values.astype(float)
    certificate = engine.fit(lowdim.PCA(), named(name).dense, tmp_path).model.certificate_
    # squaring leaves eps λ₁, a thousandth of what is asked for here
    kept = set(np.flatnonzero(values > 1e-2 * values[0]).tolist())
    assert not kept & set(certificate.untrusted)


@every_engine
@pytest.mark.parametrize("name", ["tall", "wide", "float32", "uint8", "bool"])
def test_scores_are_the_same_from_every_engine(name: str, engine: Engine, tmp_path: Path) -> None:
    usual = fitted(name, "auto", 3).model
    X = named(name).dense
    scores = usual.transform(X)
    if engine.batches:
        found = np.concatenate([usual.transform(rows) for rows in engine.give(X, tmp_path)])
    else:
        data = engine.give(X, tmp_path)
        if hasattr(data, "columns") or hasattr(data, "column_names"):
            usual = fit_quietly(lambda: lowdim.PCA(3).fit(data)).model  # names in, so that names may come again
        found = np.asarray(usual.transform(data))
    # rounding over the gaps, which are at least 1e-2 of λ₁; float32 data have float32 scores (a list's are float64)
    unit = 64 * SINGLE if named(name).single else 1e-12
    assert np.abs(found - scores).max() <= unit * np.abs(scores).max()


@every_engine
@pytest.mark.parametrize("name", ["tall", "float32", "uint8", "Fortran order", "read-only"])
def test_no_engine_changes_its_rows(name: str, engine: Engine, tmp_path: Path) -> None:
    X = named(name).make()
    data = list(engine.give(X, tmp_path)) if engine.batches or engine.once else engine.give(X, tmp_path)
    if isinstance(data, Source):
        data = tmp_path / "rows.npy"
    before = [fingerprint(rows) for rows in data] if engine.once else fingerprint(data)
    model = lowdim.PCA(2, svd_solver="covariance_eigh")
    if engine.batches:
        for rows in data:
            model.partial_fit(rows)
        _ = model.components_
    else:
        fit_quietly(lambda: model.fit(iter(data) if engine.once else data))
    after = [fingerprint(rows) for rows in data] if engine.once else fingerprint(data)
    assert after == before


@pytest.mark.parametrize("name", ["tall", "graded to 1e-4", "offset 1e8", "uint8", "float32"])
@pytest.mark.parametrize("rows", [1, 2, 3, 17, 64, 200])
def test_batch_size_does_not_matter(name: str, rows: int) -> None:
    case = named(name)
    X, right = case.dense, truth(name)

    def streamed() -> lowdim.PCA:
        return lowdim.PCA(3).fit(blocks_of(X, rows))

    def batched() -> lowdim.PCA:
        model = lowdim.PCA(3)
        for part in blocks_of(X, rows):
            model.partial_fit(part)
        return model

    for fit in (streamed, batched):
        found = fit_quietly(fit).model.explained_variance_
        assert np.abs(found - right.values[:3]).max() <= accuracy(case, "auto") * float(right.values[0]) + right.blur


@pytest.mark.parametrize("engine", [engine for engine in ENGINES if not engine.batches], ids=str)
@pytest.mark.parametrize("name", ["tall", "wide", "offset 1e8", "uint8"])
def test_thread_counts_agree_in_every_engine(name: str, engine: Engine, tmp_path: Path) -> None:
    models = []
    for threads in (1, 2):
        with threadpool_limits(limits=threads):
            models.append(engine.fit(lowdim.PCA(3), named(name).dense, tmp_path).model)
    one, two = models
    # what the design promises across thread counts
    np.testing.assert_allclose(two.explained_variance_, one.explained_variance_, rtol=1e-10)
    np.testing.assert_allclose(two.components_, one.components_, atol=1e-10)


@every_engine
@pytest.mark.parametrize("name", ["tall", "float32", "int64"])
def test_the_same_engine_gives_the_same_bits(name: str, engine: Engine, tmp_path: Path) -> None:
    one, two = (engine.fit(lowdim.PCA(3), named(name).dense, tmp_path).model for _ in range(2))
    for what in ("components_", "explained_variance_", "mean_", "total_variance_"):
        np.testing.assert_array_equal(getattr(one, what), getattr(two, what))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("engine", [engine for engine in ENGINES if engine.once and not engine.batches], ids=str)
def test_rows_that_come_once_are_refused_by_solvers_that_read_twice(
    engine: Engine, solver: str, tmp_path: Path
) -> None:
    X = named("tall").data
    model = lowdim.PCA(2, svd_solver=solver)
    if solver in ("auto", "covariance_eigh"):
        found = model.fit(engine.give(X, tmp_path)).explained_variance_
        np.testing.assert_allclose(found, truth("tall").values[:2].astype(float), rtol=1e-10)
    else:
        with pytest.raises(ValueError, match=r"once|row blocks") as caught:
            model.fit(engine.give(X, tmp_path))
        assert isinstance(caught.value, (NeedsAnotherPass, BadParameter))


@pytest.mark.parametrize(
    "engine", [engine for engine in ENGINES if engine.name in ("pandas", "polars", "Arrow")], ids=str
)
def test_frames_keep_their_names(engine: Engine, tmp_path: Path) -> None:
    X = named("tall").data
    frame: Any = engine.give(X, tmp_path)
    model = lowdim.PCA(2).fit(frame)
    names = [f"c{j}" for j in range(X.shape[1])]
    assert model.fit_.columns == tuple(names)
    loadings = model.table("components")
    assert type(loadings).__module__.partition(".")[0] == type(frame).__module__.partition(".")[0]
    scores = model.table("scores", frame)
    assert type(scores) is type(frame)
    assert scores.shape == (len(X), 2)


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")  # DIA with many diagonals, on purpose
@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
@pytest.mark.parametrize("make", ["array", "matrix"])
def test_every_sparse_format_is_read(kind: str, make: str) -> None:
    X = named("csr").data
    data = getattr(scipy.sparse, f"{kind}_{make}")(X)
    model = lowdim.PCA(4).fit(data)
    right = truth("csr")
    np.testing.assert_allclose(model.explained_variance_, right.values[:4].astype(float), rtol=1e-10)
    # the same products in another order
    np.testing.assert_allclose(model.transform(data), model.transform(X.toarray()), atol=1e-12)


def test_sparse_indices_of_64_bits_and_stored_zeros_are_read() -> None:
    X = named("csr").data.copy()
    X.data[::5] = 0.0
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    model, dense = lowdim.PCA(4).fit(X), lowdim.PCA(4).fit(X.toarray())
    np.testing.assert_allclose(model.explained_variance_, dense.explained_variance_, rtol=1e-10)
    np.testing.assert_allclose(model.components_, dense.components_, atol=1e-9)  # 1e-10 over gaps of 0.1


def test_repeated_entries_of_a_coo_matrix_are_summed() -> None:
    rows, columns = np.array([0, 0, 1, 2, 3, 3]), np.array([0, 0, 1, 0, 1, 1])
    X = scipy.sparse.coo_array((np.arange(1.0, 7.0), (rows, columns)), shape=(4, 2))
    np.testing.assert_allclose(
        lowdim.PCA().fit(X).explained_variance_, lowdim.PCA().fit(X.toarray()).explained_variance_, rtol=1e-12
    )
