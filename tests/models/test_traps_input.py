"""Traps 14 and 29–33 of research/field.md §D: shapes, constant columns, types, memory and holes."""

import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

import lowdim
from lowdim import PCA
from lowdim.errors import BadInput, BadParameter, ConstantColumns, LowdimError, MissingValues, NotNumeric
from lowdim.runtime import machine
from models.routes import announced, each_route, each_solver, exact, fitted, spread

# -- 14: shapes at the edge --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(2**33, 4), (60_000, 50_000), (2_000, 2_000_000)])
def test_14_no_block_reaches_the_limit_of_32_bit_lapack(shape):
    source = lowdim.open(np.broadcast_to(np.float32(1), shape))  # takes no memory
    assert next(iter(source.blocks())).rows.size < 2**31


@pytest.mark.parametrize("k", [10, 0.9, None])
def test_14_the_planner_never_decomposes_a_huge_array_in_one_call(k, monkeypatch):
    monkeypatch.setattr(machine, "free_bytes", lambda: 10**12)  # else all 50,000 components may be refused beforehand
    huge = np.broadcast_to(np.float32(1), (60_000, 50_000))
    assert "full SVD" not in PCA(k).explain(huge)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones(5), r"2D array, got 1D .*\(5,\).*reshape\(-1, 1\)"),
        (np.float64(3), r"2D array, got 0D"),
        (np.ones((2, 3, 4)), r"2D array, got 3D .*\(2, 3, 4\)"),
        (np.ones((5, 0)), r"0 feature\(s\) \(shape=\(5, 0\)\)"),
        (np.ones((0, 5)), r"0 sample\(s\) \(shape=\(0, 5\)\)"),
        ([], r"got 1D"),
        (scipy.sparse.csr_array((0, 5)), r"0 sample\(s\) \(shape=\(0, 5\)\)"),
        (scipy.sparse.csr_array((5, 0)), r"0 feature\(s\) \(shape=\(5, 0\)\)"),
        (pd.DataFrame({"a": []}), r"0 sample\(s\)"),
        (pl.DataFrame(), r"0 (sample|feature)\(s\)"),
        (iter([]), r"no rows: at least one"),
        (iter([np.ones(5)]), r"Block 0 has 1 dimension"),
        (iter([np.ones((5, 0))]), r"0 (feature|column)"),
        (iter([np.ones((5, 2)), np.ones((5, 3))]), r"Block 1 has 3 columns, .* 2"),
    ],
)
def test_14_shapes_that_cannot_be_used(X, message):
    with pytest.raises(LowdimError, match=message) as caught:
        PCA().fit(X)
    assert isinstance(caught.value, ValueError)


@each_route
def test_14_a_single_column(route):
    x = np.random.default_rng(14).standard_normal((30, 1)) - 4
    model = fitted(route, x)
    np.testing.assert_allclose(model.components_, [[1.0]], rtol=1e-15)  # a rounding
    np.testing.assert_allclose(model.explained_variance_, [x.var(ddof=1)], rtol=1e-12)  # 30 terms
    np.testing.assert_allclose(model.transform(x), x - x.mean(), atol=1e-14)  # a few roundings of values near 4
    assert model.noise_variance_ == 0


# -- 29: constant and nearly constant columns --------------------------------------------------------------------------


@each_route
@pytest.mark.parametrize("value", [14.62, 0.1, 0.0, -1e-30])
def test_29_a_constant_column_is_named_not_scaled_and_still_centred(route, value):
    X = np.random.default_rng(29).standard_normal((150 if route[0] == "gram" else 1000, 4)) + 5
    X[:, 2] = value
    with pytest.warns(ConstantColumns, match=r"1 of 4 columns .*constant.*column 2"):
        model = fitted(route, X, scale=True, n_components=3)
    assert model.scale_[2] == 1
    np.testing.assert_allclose(model.mean_[2], value, rtol=1e-15)  # a rounding
    rest = np.delete(X, 2, axis=1)
    np.testing.assert_allclose(model.explained_variance_, PCA(scale=True).fit(rest).explained_variance_, rtol=1e-10)
    np.testing.assert_allclose(model.transform(X), PCA(scale=True).fit_transform(rest), atol=1e-10)  # design.md


@each_solver
def test_29_a_large_constant_is_still_constant(solver):
    X = np.random.default_rng(29).standard_normal((300, 3))
    X[:, 1] = 1e12 / 3  # its spacing, 6e-5, is far above the rounding of the other columns
    with pytest.warns(ConstantColumns, match=r"1 of 3 columns .*constant.*column 1"):
        model = PCA(2, scale=True, svd_solver=solver).fit(X)
    assert model.scale_[1] == 1
    # the mean may be a spacing off, the variance of the column the square of that
    np.testing.assert_allclose(model.explained_variance_.sum(), 2, atol=1e-8)


@each_route
@pytest.mark.parametrize(("size", "offset"), [(1e-20, 0), (1e-100, 0), (1e-3, 1e8), (1e-9, 1)])
def test_29_small_variation_is_not_taken_for_none(route, size, offset):
    X = np.random.default_rng(29).standard_normal((200, 3))
    X[:, 1] = X[:, 1] * size + offset
    model, _ = announced(route, X, scale=True)
    deviation = np.sqrt(exact(X[:, 1:2])[0][0])
    np.testing.assert_allclose(model.scale_[1], deviation, rtol=1e-5)  # a spacing of the data: 1.5e-8 of 1e-3
    np.testing.assert_allclose(model.explained_variance_.sum(), 3, rtol=1e-6)  # three columns of variance one


def test_29_float32_columns_are_judged_by_their_own_spacing():
    X = np.random.default_rng(29).standard_normal((500, 3)).astype(np.float32)
    X[:, 1] = 14.62
    with pytest.warns(ConstantColumns, match="column 1"):
        PCA(scale=True, svd_solver="full").fit(X)
    X[:, 1] = 14.62 + 1e-3 * X[:, 0]  # a thousand spacings
    model = PCA(scale=True, svd_solver="full").fit(X)
    np.testing.assert_allclose(model.scale_[1], X[:, 1].astype(float).std(ddof=1), rtol=1e-6)  # the values are exact


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_29_constant_columns_are_named_as_in_the_frame(frame):
    columns = {name: np.full(20, 1.5) for name in "abcdefg"} | {"mass": np.arange(20.0), "age": np.arange(20.0) ** 2}
    with pytest.warns(ConstantColumns, match=r"7 of 9 columns .*: a, b, c, d, e and 2 more"):
        PCA(1, scale=True).fit(frame(columns))


# -- 30: types ---------------------------------------------------------------------------------------------------------

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("kind", ["array", "csr", "stream", "batches"])
def test_30_integers_do_not_overflow(dtype, kind):
    info = np.iinfo(dtype)
    X = np.random.default_rng(30).integers(info.min, info.max, (300, 4), dtype=dtype, endpoint=True)
    X[0], X[1] = info.max, info.min
    model = fitted(("auto", kind), X)
    np.testing.assert_allclose(model.explained_variance_, exact(X.astype(float))[0], rtol=1e-10)  # design.md
    np.testing.assert_allclose(model.mean_, X.astype(float).mean(axis=0), rtol=1e-10, atol=1e-13 * info.max)
    scores = (X.astype(float) - model.mean_) @ model.components_.T
    np.testing.assert_allclose(model.transform(X), scores, rtol=1e-10, atol=1e-13 * info.max)
    assert model.transform(X).dtype == np.float64


@each_solver
@pytest.mark.parametrize("dtype", ["bool", "float16", "longdouble", "object", ">f8", ">i4", "<f4"])
def test_30_other_types_of_real_numbers(solver, dtype):
    X = np.random.default_rng(30).integers(0, 2, (60, 5))
    model, _ = announced((solver, "array"), X.astype(dtype))
    variances, _ = exact(X.astype(dtype).astype(float))
    # whole numbers are exact in each type; products of float32 are rounded to 1.2e-7 of the largest
    tolerance = 1e-6 if dtype == "<f4" else 1e-10
    np.testing.assert_allclose(model.explained_variance_, variances, rtol=tolerance)
    assert model.transform(X.astype(dtype)).dtype == (np.float32 if dtype == "<f4" else np.float64)


def test_30_float16_is_summed_in_a_wider_type():
    X = (np.random.default_rng(30).standard_normal((500, 3)) * 300 + 30_000).astype(np.float16)  # the limit is 65,504
    np.testing.assert_allclose(PCA().fit(X).explained_variance_, exact(X)[0], rtol=1e-10)  # design.md


def test_30_decimals_are_numbers():
    X = [[decimal.Decimal(i * i), decimal.Decimal(i)] for i in range(5)]
    np.testing.assert_allclose(PCA().fit(X).explained_variance_, exact(np.array(X, dtype=float))[0], rtol=1e-10)


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (np.ones((4, 2), dtype=complex), BadInput, "(?i)complex.*complex128.*real"),
        (scipy.sparse.csr_array(np.ones((4, 2), dtype=complex)), BadInput, "(?i)complex.*complex128.*real"),
        (iter([np.ones((4, 2), dtype=complex)]), BadInput, "(?i)complex"),
        (np.array([["a", "b"], ["c", "d"]]), NotNumeric, "could not convert.*real numbers"),
        (iter([np.array([["a", "b"], ["c", "d"]])]), NotNumeric, "(?i)number"),
        (np.array([[1, "b"], [2, 3]], dtype=object), NotNumeric, "'b'"),
        (np.array([[1, None], [2, 3]], dtype=object), LowdimError, "(?i)none|missing|not a number"),
        (np.zeros((3, 2), dtype="M8[s]"), NotNumeric, "datetime64"),
        (np.zeros(3, dtype=[("a", float), ("b", float)]), LowdimError, "."),
        (pd.DataFrame({"x": [1.0, 2], "city": ["a", "b"]}), NotNumeric, r"1 column .*city"),
        (pl.DataFrame({"x": [1.0, 2], "city": ["a", "b"]}), NotNumeric, r"1 column .*city \(String\)"),
        (pa.table({"x": [1.0, 2], "city": ["a", "b"]}), NotNumeric, r"1 column .*city"),
        (pd.DataFrame({"x": [1.0, 2], "kind": pd.Categorical(["a", "b"])}), NotNumeric, "kind"),
        (pd.DataFrame({"when": pd.to_datetime(["2020", "2021"]), "x": [1, 2]}), NotNumeric, "when"),
    ],
)
def test_30_what_holds_no_real_numbers(X, error, message):
    with pytest.raises(error, match=message) as caught:
        PCA().fit(X)
    assert isinstance(caught.value, ValueError)


def test_30_masked_arrays():
    X = np.ma.array(spread(20), mask=np.zeros((20, 5)))
    np.testing.assert_allclose(PCA().fit(X).explained_variance_, exact(X.data)[0], rtol=1e-10)  # design.md
    X.mask[3, 1] = X.mask[7, 1] = X.mask[7, 4] = True
    with pytest.raises(MissingValues, match=r"3 values are missing .*column 1:? 2, column 4:? 1.* 20 rows"):
        PCA().fit(X)


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "float64", "int64[pyarrow]", "double[pyarrow]", "Float32"])
def test_30_pandas_nullable_and_arrow_columns(dtype):
    values = np.random.default_rng(30).integers(0, 9, (30, 2)).astype(float)
    frame = pd.DataFrame({"a": values[:, 0], "b": values[:, 1]}).astype(dtype)
    model, _ = announced(("auto", "array"), frame)
    # design.md; products of float32 are rounded to 1.2e-7
    np.testing.assert_allclose(model.explained_variance_, exact(values)[0], rtol=1e-6 if dtype == "Float32" else 1e-10)
    frame.loc[3, "b"] = None
    with pytest.raises(MissingValues, match=r"1 value is missing .*b:? 1\), in 30 rows"):
        PCA().fit(frame)


@pytest.mark.parametrize("frame", [pl.DataFrame, pa.table])
def test_30_nulls_of_other_frames(frame):
    with pytest.raises(MissingValues, match=r"1 value is missing .*b:? 1\), in 3 rows"):
        PCA().fit(frame({"a": [1.0, 2, 4], "b": [1.0, None, 3]}))
    with pytest.raises(MissingValues, match=r"1 value is missing .*b:? 1\), in 3 rows"):
        PCA().fit(frame({"a": [1, 2, 4], "b": [1, None, 3]}))


@each_solver
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_30_frames_of_several_types_go_through_every_solver(solver, frame):
    X = np.random.default_rng(30).integers(0, 9, (30, 3))
    data = frame({"a": X[:, 0].astype(np.int8), "b": X[:, 1].astype(float), "c": X[:, 2]})
    model = PCA(2, svd_solver=solver).fit(data)
    np.testing.assert_allclose(model.explained_variance_, exact(X)[0][:2], rtol=1e-10)  # design.md


# -- 31: sums in float32 -----------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::lowdim.errors.AccuracyWarning")
@pytest.mark.parametrize("solver", ["auto", "covariance_eigh", "tsqr", "lanczos"])
def test_31_bright_pixels_do_not_saturate_a_float32_sum(solver):
    X = np.random.default_rng(31).standard_normal((2_000_000, 2), dtype=np.float32) + np.float32(200)
    model = PCA(svd_solver=solver).fit(X)
    # a float32 sum of 4e8 has a spacing of 32, and misses the mean in the third digit; float64 sums have 1e-10 to spare
    np.testing.assert_allclose(model.mean_, X.mean(axis=0, dtype=float), rtol=1e-9)
    # each product is rounded to 1.2e-7, and 2e6 of them average out
    np.testing.assert_allclose(model.total_variance_, X.astype(float).var(axis=0, ddof=1).sum(), rtol=1e-7)
    assert model.explained_variance_ratio_.sum() <= 1 + 1e-15  # principal variance cannot exceed total variance


# -- 32: memory that is not ours ---------------------------------------------------------------------------------------


def layouts(folder):
    X = spread(90)
    np.save(folder / "rows.npy", X)
    padded = np.zeros((180, 15))
    padded[::2, ::3] = X
    read_only = X.copy()
    read_only.flags.writeable = False
    return X, {
        "Fortran": np.asfortranarray(X),
        "negative": X[::-1, ::-1].copy()[::-1, ::-1],
        "strided": padded[::2, ::3],
        "read-only": read_only,
        "memmap": np.load(folder / "rows.npy", mmap_mode="r"),
        "path": folder / "rows.npy",
        "string": str(folder / "rows.npy"),
        "opened": lowdim.open(folder / "rows.npy"),
        "list": X.tolist(),
    }


@each_solver
def test_32_memory_order_makes_no_difference(solver, tmp_path):
    X, given = layouts(tmp_path)
    expected = PCA(svd_solver="full").fit(X)
    for name, data in given.items():
        model = PCA(svd_solver=solver).fit(data)
        np.testing.assert_allclose(model.components_, expected.components_, atol=1e-10, err_msg=name)  # design.md
        np.testing.assert_allclose(model.transform(data), expected.transform(X), atol=1e-9, err_msg=name)


@each_solver
@pytest.mark.parametrize("settings", [{}, {"copy": False}, {"copy": False, "scale": True, "whiten": True}], ids=str)
def test_32_data_are_never_written_to(solver, settings, tmp_path):
    X, given = layouts(tmp_path)
    given["plain"] = X.copy()
    for name, data in given.items():
        PCA(svd_solver=solver, **settings).fit_transform(data)
        if isinstance(data, np.ndarray):
            np.testing.assert_array_equal(data, X, err_msg=name)
    np.testing.assert_array_equal(np.load(tmp_path / "rows.npy"), X)


def test_32_what_is_read_from_a_model_does_not_change_it():
    X = spread(50)
    model = PCA(2).fit(X)
    scores = model.transform(X)
    back = model.inverse_transform(scores)
    kept = back.copy()
    scores *= 2
    back += 1
    np.testing.assert_array_equal(model.inverse_transform(model.transform(X)), kept)


@pytest.mark.parametrize(("solver", "shape"), [("full", (70_000, 40_000)), ("tsqr", (70_000, 24_000))])
def test_arrays_beyond_lapacks_counting_are_refused_before_anything_is_read(
    solver: str, shape: tuple[int, int]
) -> None:
    X = np.broadcast_to(np.float64(0), shape)  # one number, shown everywhere
    with pytest.raises(BadParameter, match=r"LAPACK .* counts to 2,147,483,647"):
        PCA(2, svd_solver=solver).fit(X)
