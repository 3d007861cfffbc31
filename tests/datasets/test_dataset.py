import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

from lowdim import datasets
from lowdim.datasets import Dataset
from lowdim.errors import NeedsExtra, WrongShape

EVERY = {
    "uk_foods": (datasets.uk_foods, (4, 17)),
    "eight_by_two": (datasets.eight_by_two, (8, 2)),
    "rank_one_toy": (datasets.rank_one_toy, (6, 3)),
    "planted": (lambda: datasets.planted(30, 5, 2), (30, 5)),
    "circles": (lambda: datasets.circles(21), (21, 2)),
    "swiss_roll": (lambda: datasets.swiss_roll(20), (20, 3)),
    "stepping_stone": (lambda: datasets.stepping_stone(3, 2, 40), (18, 40)),
    "us_arrests": (datasets.us_arrests, (50, 4)),
    "decathlon": (datasets.decathlon, (41, 12)),
    "iris": (datasets.iris, (150, 4)),
    "wine": (datasets.wine, (178, 13)),
    "digits": (datasets.digits, (1797, 64)),
    "breast_cancer": (datasets.breast_cancer, (569, 30)),
}


@pytest.fixture(params=EVERY)
def case(request):
    make, shape = EVERY[request.param]
    return make(), shape


def arrays(data):
    held = [data.values, *(data.truth or {}).values()]
    return held if data.labels is None else [*held, data.labels]


def test_every_public_function_is_tried_here():
    assert set(datasets.__all__) == {"Dataset", *EVERY}


def test_shapes_and_names_agree(case):
    data, shape = case
    assert data.values.shape == shape
    assert len(data.columns) == len(set(data.columns)) == shape[1]
    assert all(type(name) is str for name in data.columns)
    assert data.rows is None or len(data.rows) == shape[0]
    assert data.labels is None or data.labels.shape == (shape[0],)


def test_the_source_is_given(case):
    assert "Source: " in case[0].about


def test_nothing_can_be_written_to(case):
    data, _ = case
    for array in arrays(data):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    with pytest.raises(AttributeError):
        data.values = data.values
    if data.truth is not None:
        with pytest.raises(TypeError):
            data.truth["more"] = data.values


def test_it_prints_in_two_lines_with_its_shape(case):
    data, (n, p) = case
    lines = repr(data).splitlines()
    assert len(lines) == 2
    assert f"{n:,} rows × {p:,} columns" in lines[0]


@pytest.mark.parametrize("again", [copy.deepcopy, lambda data: pickle.loads(pickle.dumps(data))])
def test_copies_are_whole_and_read_only(case, again):
    data, _ = case
    other = again(data)
    for old, new in zip(arrays(data), arrays(other), strict=True):
        np.testing.assert_array_equal(old, new)
        assert not new.flags.writeable
    assert (other.columns, other.rows, other.about) == (data.columns, data.rows, data.about)


def test_frames_hold_the_same_numbers_and_names(case):
    data, _ = case
    pandas, polars = data.to_pandas(), data.to_polars()
    for frame in (pandas, polars):
        assert tuple(frame.columns) == data.columns
        np.testing.assert_array_equal(frame.to_numpy(), data.values)
        assert frame.to_numpy().dtype == data.values.dtype
    if data.rows is not None:
        assert tuple(pandas.index) == data.rows


def test_a_square_table_is_not_turned_in_polars():
    data = Dataset(np.array([[1.0, 2.0], [3.0, 4.0]]), columns=("a", "b"), about="")
    assert data.to_polars()["a"].to_list() == [1.0, 3.0]


@pytest.mark.parametrize(("package", "method"), [("pandas", "to_pandas"), ("polars", "to_polars")])
def test_an_absent_package_is_named(monkeypatch, package, method):
    monkeypatch.setitem(sys.modules, package, None)  # what Python does to block an import
    with pytest.raises(NeedsExtra, match=f"Dataset.{method} needs {package}.*pip install"):
        getattr(datasets.eight_by_two(), method)()


def test_the_array_that_was_given_stays_writeable():
    mine = np.zeros((2, 2))
    Dataset(mine, columns=("a", "b"), about="")
    mine[0, 0] = 1.0
    assert mine.flags.writeable


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"values": np.zeros(3)}, r"2 dimensions.*\(3,\)"),
        ({"columns": ("a",)}, "need 2 columns, but 1 came"),
        ({"rows": ("r",)}, "need 3 rows, but 1 came"),
        ({"labels": np.zeros(2)}, "need 3 labels, but 2 came"),
    ],
)
def test_names_that_do_not_fit_are_refused(fields, message):
    with pytest.raises(WrongShape, match=message):
        Dataset(**{"values": np.zeros((3, 2)), "columns": ("a", "b"), "about": "", **fields})


def test_importing_the_room_loads_numpy_alone():
    heavy = ["sklearn", "scipy", "pandas", "polars", "narwhals", "matplotlib"]
    code = f"import sys, lowdim.datasets; print([name for name in {heavy} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
