"""Changing the import is enough: programs give the same numbers with `sklearn.decomposition` and with lowdim."""

from __future__ import annotations

import warnings

import more_programs
import numpy as np
import pytest
import sklearn.decomposition
from programs import PROGRAMS
from sklearn.exceptions import ConvergenceWarning

import lowdim
from lowdim.errors import NotConverged

assert more_programs  # it puts its programs on the list

EXACT = 1e-9
"""Of the largest number: both libraries' axes are right to nearly all digits, and most programs agree to 1e-13."""

LOOSE = {
    "faces_as_vectors": (1e-4, "scikit-learn's randomised solver makes few iterations"),
    "single_precision": (1e-5, "float32 keeps 6e-8 of numbers up to 1,680"),
    "parts_of_digits": (1e-5, "factors are found by other steps, to tol=1e-5"),
    "users_and_films": (1e-5, "likewise, to tol=1e-7, in rows of very different sizes"),
    "a_start_of_my_own": (1e-3, "likewise, to tol=1e-6, where the loss is flat"),
    "parts_and_codes": (1e-3, "likewise"),
    "sparse_parts": (5e-3, "another local solution: the loss of ours is 0.1 % lower"),
    "parts_by_poisson": (1e-6, "small problems are solved to tol/100, where scikit-learn's ends at tol: 9e-8 lower"),
    "codes_of_new_rows": (1e-5, "both stop where a step changes the loss by 1e-6 of what the first one did"),
}
"""Program → relative tolerance, of the largest number, and why it is no smaller."""


def outcome(program, library):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", NotConverged)
        return program(library)


def test_there_are_eighty_of_them():
    assert len(PROGRAMS) >= 80
    assert set(LOOSE) <= set(PROGRAMS)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_numbers_are_the_same(name):
    theirs, ours = outcome(PROGRAMS[name], sklearn.decomposition), outcome(PROGRAMS[name], lowdim)
    assert set(theirs) == set(ours)
    tolerance = LOOSE.get(name, (EXACT,))[0]
    for part, expected in theirs.items():
        found = ours[part]
        if np.asarray(expected).dtype.kind in "UOb":  # texts, names, yes and no
            assert found == expected, part
            continue
        expected, found = np.asarray(expected, dtype=float), np.asarray(found, dtype=float)
        assert expected.shape == found.shape, part
        np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * np.abs(expected).max(), err_msg=part)
