"""Compiled exponentials and columns of kernel matrices, against NumPy's and the plain kernels."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim.matrices.compiled_exponentials import powers_of_sums
from lowdim.models.kernel_pca.kernels import Cosine, Gaussian, KernelColumns, Laplacian, Linear, Polynomial


def test_powers_are_right_to_the_last_bit_but_one(each_library):
    x = -np.concatenate([[0.0, 1e-300, 1e-17, 1e-9], np.geomspace(1e-8, 1019, 5000)])
    values = np.zeros((3, len(x)))
    powers_of_sums(values, np.array([0.0, -0.25, -1.0]), x, 2.0)
    exact = 2 * np.exp2((x + np.array([[0.0], [-0.25], [-1.0]])).astype(np.longdouble))
    normal = exact > 1e-307
    assert np.abs(values / exact - 1)[normal].max() < 2 * np.finfo(float).eps


def test_what_underflows_is_nothing_and_what_is_positive_is_one(each_library):
    values = np.array([[-1075.0, -1e5, -1e300, 1e-13, 3.0]])
    powers_of_sums(values, np.zeros(1), np.zeros(5), 1.0)
    assert (values[0, :3] < 1e-300).all()
    assert (values[0, :3] >= 0).all()
    assert (values[0, 3:] == 1.0).all()


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("shape", [(200, 30), (1, 1), (0, 5), (3, 65)])
@pytest.mark.parametrize(
    "kernel", [Gaussian(0.3), Gaussian(0.01, 2.5), Laplacian(0.2), Linear(), Cosine(), Polynomial(0.1, 1.0, 2)], ids=str
)
def test_columns_are_those_of_the_kernel(kernel, shape, offset, each_library):
    rng = np.random.default_rng(0)
    X, basis = (rng.standard_normal((count, 4)) + offset for count in shape)
    values = KernelColumns(kernel, basis).of(X)
    assert values.flags.c_contiguous
    assert np.allclose(values, kernel.between(X, basis), rtol=0, atol=3e-13 * np.abs(values).max(initial=0))


def test_far_rows_keep_their_digits():
    """Two groups so far apart that squares lose the distances inside one: differences are taken instead."""
    rng = np.random.default_rng(0)
    near = rng.standard_normal((20, 3))
    basis = np.concatenate([near, near + 1e7])
    values = KernelColumns(Gaussian(0.5), basis).of(basis)
    assert np.allclose(values[20:, 20:], np.exp(-0.5 * ((basis[20:, None] - basis[20:]) ** 2).sum(axis=2)), rtol=1e-12)
