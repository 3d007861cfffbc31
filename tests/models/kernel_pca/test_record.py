"""Files of kernel PCAs: what was saved comes back to the bit, and what is wrong with a file is one kind of error."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics.pairwise import rbf_kernel

import lowdim
from lowdim import KernelPCA
from lowdim.errors import BadInput, FormatError
from lowdim.models.base.saving import pack, unpack
from lowdim.results.container import from_bytes, to_bytes

X = np.random.default_rng(0).standard_normal((40, 5)) * np.arange(1, 6) + 3
NEW = X[:7] + 0.1

MODELS: dict[str, dict[str, Any]] = {
    "rbf": {"kernel": "rbf", "gamma": 0.05},
    "rbf, by rules": {"n_components": "auto", "kernel": "rbf", "gamma": "auto", "random_state": 4},
    "rbf, by Lanczos": {"n_components": 2, "kernel": "rbf", "sigma": 3.0, "eigen_solver": "lanczos"},
    "scaled": {"n_components": 0.9, "kernel": "rbf", "gamma": "median", "scale": True},
    "laplacian": {"n_components": 3, "kernel": "laplacian", "c": 9.0, "scale_factor": 2.0},
    "poly": {"n_components": 3, "kernel": "poly", "degree": 2, "coef0": 0.5},
    "linear": {"n_components": 3},
    "sigmoid, clipped": {"n_components": 3, "kernel": "sigmoid", "gamma": 1e-3, "not_positive": "clip"},
    "not centred": {"n_components": 3, "kernel": "rbf", "gamma": 0.05, "centered": False, "scaling": "lecture1"},
    "landmarks": {"n_components": 3, "kernel": "rbf", "gamma": 0.05, "eigen_solver": "landmarks", "n_landmarks": 12},
    "regression": {"n_components": 3, "kernel": "rbf", "gamma": 0.05, "fit_inverse_transform": True},
    "random features": {
        "n_components": 3,
        "kernel": "rbf",
        "gamma": 0.05,
        "eigen_solver": "random_features",
        "n_landmarks": 30,
    },
    "precomputed": {"n_components": 3, "kernel": "precomputed"},
}

NO_WAY_BACK = ("random features", "precomputed")


def fitted(name: str) -> tuple[KernelPCA, np.ndarray]:
    """A model, and new rows for it."""
    given = MODELS[name].get("kernel") == "precomputed"
    model = KernelPCA(**MODELS[name]).fit(rbf_kernel(X, gamma=0.05) if given else X)
    return model, rbf_kernel(NEW, X, gamma=0.05) if given else NEW


@pytest.mark.filterwarnings("ignore::lowdim.errors.FarFromData")
@pytest.mark.parametrize("name", MODELS)
def test_everything_comes_back(name: str, tmp_path: Path) -> None:
    model, new = fitted(name)
    model.save(tmp_path / "m.lowdim")
    back = lowdim.load(tmp_path / "m.lowdim")
    assert isinstance(back, KernelPCA)
    for attribute in ("eigenvalues_", "eigenvalue_intervals_", "explained_variance_ratio_", "X_fit_"):
        np.testing.assert_array_equal(getattr(back, attribute), getattr(model, attribute))
    np.testing.assert_array_equal(back.transform(new), model.transform(new))
    if name not in NO_WAY_BACK:
        scores = model.transform(new)
        np.testing.assert_array_equal(back.inverse_transform(scores), model.inverse_transform(scores))
    if name != "precomputed":
        np.testing.assert_array_equal(back.novelty(new), model.novelty(new))
    assert back.explain() == model.explain()
    assert back.get_params() == {**model.get_params(), "memory": None}
    assert to_bytes(pack(back)) == to_bytes(pack(model))


def test_names_of_columns_come_back(tmp_path: Path) -> None:
    frame = pd.DataFrame(X, columns=["a", "ü", "=1+1", "", "雪"])
    KernelPCA(2, kernel="rbf").fit(frame).save(tmp_path / "m.lowdim")
    back = lowdim.load(tmp_path / "m.lowdim")
    assert list(back.feature_names_in_) == list(frame) == list(back.fit_.columns)
    with pytest.raises(ValueError, match="feature names"):
        back.transform(frame.rename(columns={"a": "b"}))


def test_functions_are_code_and_are_not_kept(tmp_path: Path) -> None:
    model = KernelPCA(2, kernel=lambda x, y: float(x @ y)).fit(X)
    with pytest.raises(BadInput, match="is code, which model files never hold"):
        model.save(tmp_path / "m.lowdim")
    assert not list(tmp_path.iterdir())


# -- files that lie ---------------------------------------------------------------------------------------------------


def split(data: bytes) -> tuple[dict[str, Any], bytes]:
    length = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + length]), data[8 + length :]


def with_facts(data: bytes, facts: Any) -> bytes:
    """The same file with other facts, and right sums."""
    header, arrays = split(data)
    text = json.dumps({**json.loads(header["__metadata__"]["lowdim"]), "facts": facts})
    header["__metadata__"] = {"lowdim": text, "sha256": hashlib.sha256(text.encode()).hexdigest()}
    made = json.dumps(header).encode()
    return len(made).to_bytes(8, "little") + made + arrays


def facts_of(data: bytes) -> Any:
    return json.loads(split(data)[0]["__metadata__"]["lowdim"])["facts"]


LIES: list[tuple[str, tuple[str, ...], Any]] = [
    ("rbf", ("fit", "n_components"), 3),
    ("rbf", ("fit", "n_components"), 41),
    ("rbf", ("fit", "n_rows"), 0),
    ("rbf", ("fit", "n_basis"), 39),
    ("rbf", ("fit", "n_features"), 80),
    ("rbf", ("fit", "n_columns"), 4),
    ("rbf", ("fit", "total"), -1.0),
    ("rbf", ("fit", "slack"), "much"),
    ("rbf", ("fit", "shifted"), False),
    ("rbf", ("fit", "scaled"), True),
    ("rbf", ("fit", "waves"), True),
    ("rbf", ("fit", "certified"), "yes"),
    ("rbf", ("fit", "triangle"), True),
    ("rbf", ("fit", "kernel", "name"), "custom"),
    ("rbf", ("fit", "kernel", "name"), "precomputed"),
    ("rbf", ("fit", "kernel", "gamma"), "wide"),
    ("rbf", ("fit", "kernel", "factor"), 0),
    ("rbf", ("fit", "provenance", "data"), 3),
    ("rbf", ("params", "kernel"), None),
    ("rbf", ("params", "scale"), "yes"),
    ("rbf", ("params", "kernel_params"), {"a": 1}),
    ("rbf", ("params", "scaling"), "other"),
    ("rbf", ("seen", "itemsize"), 3),
    ("scaled", ("fit", "scaled"), False),
    ("landmarks", ("fit", "triangle"), False),
    ("random features", ("fit", "waves"), False),
    ("precomputed", ("fit", "kernel", "name"), "rbf"),
    ("precomputed", ("fit", "n_rows"), 41),
]


@pytest.mark.parametrize(("name", "path", "value"), LIES)
def test_facts_that_no_fit_can_have_are_refused(name: str, path: tuple[str, ...], value: Any) -> None:
    good = to_bytes(pack(fitted(name)[0]))
    facts = facts_of(good)
    place = facts
    for key in path[:-1]:
        place = place[key]
    assert place[path[-1]] != value
    place[path[-1]] = value
    with pytest.raises(FormatError):
        unpack(from_bytes(with_facts(good, facts)))


@pytest.mark.parametrize(("name", "array"), [("scaled", "scale"), ("landmarks", "triangle")])
def test_what_is_divided_by_must_be_above_zero(name: str, array: str) -> None:
    document = pack(fitted(name)[0])
    document.arrays[array] = np.zeros_like(document.arrays[array])
    with pytest.raises(FormatError):
        unpack(from_bytes(to_bytes(document)))


STRANGE = [None, True, -1, 0, 3, 2**63, 1e-320, 1e307, "", "auto", "x" * 10_000, [], [0], {}, {"a": 1}]


def scrambled(value: Any, rng: np.random.Generator) -> Any:
    """Facts with one leaf or branch replaced by something strange."""
    if isinstance(value, dict) and value and rng.random() < 0.95:
        key = str(rng.choice(sorted(value)))
        return {**value, key: scrambled(value[key], rng)}
    return STRANGE[rng.integers(len(STRANGE))]


@pytest.mark.parametrize("name", ["rbf", "scaled", "landmarks", "random features", "precomputed", "poly"])
def test_facts_of_a_liar_with_right_sums_give_no_other_error(name: str) -> None:
    model, new = fitted(name)
    good = to_bytes(pack(model))
    facts, rng, refused = facts_of(good), np.random.default_rng(2), 0
    for _ in range(400):
        try:
            back = unpack(from_bytes(with_facts(good, scrambled(facts, rng))))
        except FormatError:
            refused += 1
            continue
        with np.errstate(all="ignore"):  # a width of 1e307 is a number
            assert back.transform(new).shape == (7, model.n_components_)
    assert refused > 200


@pytest.mark.parametrize("name", ["rbf", "landmarks"])
def test_a_byte_that_changed_is_seen(name: str) -> None:
    good = to_bytes(pack(fitted(name)[0]))
    rng = np.random.default_rng(0)
    for place in rng.integers(0, len(good), 300):
        changed = bytearray(good)
        changed[place] ^= 1 << int(rng.integers(8))
        with pytest.raises(FormatError):
            unpack(from_bytes(bytes(changed)))
    for length in rng.integers(0, len(good), 50):
        with pytest.raises(FormatError):
            unpack(from_bytes(good[:length]))
