"""Arrays in JSON: what is decoded is what was encoded."""

import base64
import json

import numpy as np
import pytest

from lowdim.views.report import encode

TYPES = {"f4": "<f4", "u1": "u1", "u2": "<u2", "u4": "<u4"}


def decoded(blob):
    """As `numbers` of frontend/src/payload.ts does it."""
    codes = np.frombuffer(base64.b64decode(blob["data"]), dtype=TYPES[blob["type"]]).reshape(blob["shape"])
    if "lo" not in blob:
        return codes.astype(np.float64)
    low, high = np.array(blob["lo"]), np.array(blob["hi"])
    share = codes / (encode.MISSING - 1)
    return np.where(codes == encode.MISSING, np.nan, low * (1 - share) + high * share)


def test_float32_keeps_seven_digits_and_nan():
    values = np.array([[1.23456789e-30, -7.0], [np.nan, 1e300]])
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(decoded(encode.float32(values)), values.astype(np.float32))


def test_steps_are_within_half_a_step():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(1000, 3)) * [1e-8, 1.0, 1e8]
    # half a step of each column's range, and what float64 rounds on the way
    half = np.ptp(values, axis=0) / (encode.MISSING - 1) / 2 * (1 + 1e-9)
    assert (np.abs(decoded(encode.uint16(values)) - values) <= half).all()


def test_steps_of_awkward_columns():
    values = np.array([[3.0, np.nan, 1e308, np.nan], [3.0, 5.0, -1e308, np.nan]])
    found = decoded(encode.uint16(values))
    np.testing.assert_array_equal(np.isnan(found), np.isnan(values))
    np.testing.assert_allclose(found[:, :3], values[:, :3], rtol=1e-12)  # ends of a range are steps themselves


def test_no_rows_at_all():
    assert encode.uint16(np.zeros((0, 2)))["shape"] == [0, 2]
    assert encode.table(np.zeros((0, 2)))["type"] == "f4"


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (np.array([[0, 255]], dtype=np.uint8), "u1"),
        (np.array([[0.0, 17.0]]), "u1"),
        (np.array([[0.0, 256.0]]), "f4"),
        (np.array([[-1.0, 5.0]]), "f4"),
        (np.array([[0.5, 1.0]]), "f4"),
        (np.array([[np.nan, 1.0]]), "f4"),
        (np.full((2_000_001, 1), 0.5), "u2"),
    ],
)
def test_the_fewest_bytes_that_a_screen_does_not_show(values, kind):
    assert encode.table(values)["type"] == kind


def test_scalars_are_never_nan():
    assert [encode.number(one) for one in (1.5, float("nan"), float("inf"), None)] == [1.5, None, None, None]


def test_blobs_are_json():
    json.dumps(encode.uint16(np.array([[np.nan, np.inf], [1.0, 2.0]])), allow_nan=False)
