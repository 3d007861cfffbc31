"""A sparse matrix whose arrays were written into is refused before compiled code, SciPy's or ours, follows them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import lowdim
from lowdim.errors import BadInput
from lowdim.models.nmf.model import NMF
from lowdim.sources.compiled_structure import lie_within

SOUND = scipy.sparse.random(40, 6, density=0.4, format="csr", random_state=0) + scipy.sparse.eye(40, 6, format="csr")
KINDS = ("csr_matrix", "csr_array", "csc_matrix", "csc_array", "bsr_array")


def put(name: str, place: int, value: int) -> Callable[[Any], None]:
    def change(matrix: Any) -> None:
        setattr(matrix, name, getattr(matrix, name).copy())
        getattr(matrix, name)[place] = value

    return change


def replace(name: str, make: Callable[[Any], Any]) -> Callable[[Any], None]:
    return lambda matrix: setattr(matrix, name, make(getattr(matrix, name)))


DAMAGES: dict[str, Callable[[Any], None]] = {
    "a pointer far out": put("indptr", 2, 10**6),
    "a negative pointer": put("indptr", 2, -3),
    "pointers that begin late": put("indptr", 0, 1),
    "a last pointer beyond the entries": put("indptr", -1, 10**6),
    "pointers that go back": replace("indptr", lambda it: it[[0, 2, 1, *range(3, len(it))]]),
    "too few pointers": replace("indptr", lambda it: it[:-2]),
    "too many pointers": replace("indptr", lambda it: np.append(it, it[-1])),
    "pointers of floats": replace("indptr", lambda it: it.astype(float)),
    "pointers on two axes": replace("indptr", lambda it: it.reshape(1, -1)),
    "a place far out": put("indices", 3, 10**6),
    "a place one beyond": put("indices", 3, 40),
    "a negative place": put("indices", 3, -1),
    "the least place there is": put("indices", 3, -(2**31)),
    "too few places": replace("indices", lambda it: it[:5]),
    "places of floats": replace("indices", lambda it: it.astype(float)),
    "too few values": replace("data", lambda it: it[:5]),
    "values that are no array": replace("data", lambda it: None),
}

DAMAGES_OF_COO: dict[str, Callable[[Any], None]] = {
    "a row far out": lambda it: setattr(it, "row", np.where(it.row == 3, 10**6, it.row)),
    "a negative row": lambda it: setattr(it, "row", np.where(it.row == 3, -1, it.row)),
    "a column one beyond": lambda it: setattr(it, "col", np.where(it.col == 3, 6, it.col)),
    "too few columns": lambda it: setattr(it, "col", it.col[:5]),
    "too few values": lambda it: setattr(it, "data", it.data[:5]),
}


def damaged(kind: str, damage: Callable[[Any], None], index: type = np.int32) -> Any:
    matrix = getattr(scipy.sparse, kind)(SOUND, copy=True)
    if hasattr(matrix, "indptr"):
        matrix.indptr, matrix.indices = matrix.indptr.astype(index), matrix.indices.astype(index)
    damage(matrix)
    return matrix


WAYS: dict[str, Callable[[Any], Any]] = {
    "PCA": lambda X: lowdim.PCA(2).fit(X),
    "NMF": lambda X: NMF(2).fit(X),
    "a stream": lambda X: lowdim.PCA(2).fit(iter([X])),
    "weights of entries": lambda X: NMF(2).fit(abs(SOUND).toarray(), entry_weight=X),
    "rows of a fitted model": lambda X: lowdim.PCA(2).fit(SOUND).transform(X),
}


@pytest.mark.parametrize("way", WAYS)
def test_wrong_pointers_and_places_are_refused(way, tally):
    tried = 0
    for kind in KINDS:
        for name, damage in DAMAGES.items():
            for index in (np.int32, np.int64):
                with pytest.raises(BadInput, match=r"malformed: .+; make it anew"):
                    pytest.fail(f"{kind}, {name}: {WAYS[way](damaged(kind, damage, index))}")
                tried += 1
    for kind in ("coo_matrix", "coo_array"):
        for name, damage in DAMAGES_OF_COO.items():
            with pytest.raises(BadInput, match=r"malformed: .+; make it anew"):
                pytest.fail(f"{kind}, {name}: {WAYS[way](damaged(kind, damage))}")
            tried += 1
    tally(4, tried, "malformed sparse matrices")


def test_sound_ones_of_every_format_are_one_matrix():
    expected = lowdim.PCA(2).fit(SOUND).components_
    for kind in (*KINDS, "coo_array", "lil_array", "dok_array", "dia_array"):
        made = getattr(scipy.sparse, kind)(SOUND)
        np.testing.assert_array_equal(lowdim.PCA(2).fit(made).components_, expected, err_msg=kind)


def test_unsorted_and_repeated_entries_mixed_types_and_spare_room_are_no_damage():
    expected = lowdim.PCA(2).fit(SOUND)
    loose = SOUND.copy()
    for i in range(40):  # each row the other way round
        row = slice(loose.indptr[i], loose.indptr[i + 1])
        loose.indices[row], loose.data[row] = loose.indices[row][::-1].copy(), loose.data[row][::-1].copy()
    loose.has_sorted_indices = loose.has_canonical_format = False
    coo = SOUND.tocoo()
    halves = scipy.sparse.coo_array(
        (np.tile(coo.data / 2, 2), (np.tile(coo.row, 2), np.tile(coo.col, 2))), shape=coo.shape
    )
    mixed = SOUND.copy()
    mixed.indptr = mixed.indptr.astype(np.int64)
    spare = SOUND.copy()
    spare.data, spare.indices = np.append(spare.data, 7.0), np.append(spare.indices, 99).astype(np.int32)
    for matrix in (loose, halves, mixed, spare):
        found = lowdim.PCA(2).fit(matrix)
        np.testing.assert_allclose(found.explained_variance_, expected.explained_variance_, rtol=1e-12)


@pytest.mark.parametrize("kind", [np.int8, np.int32, np.int64, np.uint32])
@pytest.mark.usefixtures("each_route")
def test_the_compiled_pass_finds_what_numpy_finds(kind):
    rng = np.random.default_rng(0)
    for count in (0, 1, 7, 64, 1000):
        places = rng.integers(0, 90, count).astype(kind)
        assert lie_within(places, 90)
        assert lie_within(places[::2], 90)
        if count:
            wrong = places.copy()
            wrong[count // 2] = 90
            assert not lie_within(wrong, 90)
            assert lie_within(wrong, 91)
            if np.issubdtype(kind, np.signedinteger):
                wrong[count // 2] = -1
                assert not lie_within(wrong, 90)
                wrong[count // 2] = np.iinfo(kind).min
                assert not lie_within(wrong, 90)
