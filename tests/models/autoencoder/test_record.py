"""Files of autoencoders: what was kept comes back to the bit, and what no network can be is refused."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from lowdim.errors import BadInput, FormatError
from lowdim.models.autoencoder.model import Autoencoder
from lowdim.models.autoencoder.record import MOST_LAYERS, NetworkFit, check_settings
from lowdim.models.autoencoder.solvers.network import decode, encode
from lowdim.models.base.parameters import parameters_of
from lowdim.models.base.saving import _plain, _settings
from lowdim.results.codec import ArrayReader, pack, unpack
from lowdim.results.container import Document, from_bytes, to_bytes
from models.autoencoder.networks import made_network

CASES: dict[str, dict[str, Any]] = {
    "squares": {},
    "chances": {"loss": "bce", "activation": "gelu"},
    "linear, in float64": {"widths": (8, 3), "dtype": "float64"},
    "no rows set aside": {"validated": False, "stopped": False},
    "named": {"columns": tuple("abcdefgh")},
    "more codes than columns": {"widths": (2, 4, 5)},
}


def through_a_file(fit: NetworkFit) -> NetworkFit:
    document = from_bytes(to_bytes(Document("Autoencoder", *pack(fit))))
    return unpack(NetworkFit, document.facts, document.arrays)


def same(one: Any, other: Any) -> bool:
    """Equal to the bit, types and NaN too."""
    if dataclasses.is_dataclass(one):
        return type(one) is type(other) and all(
            same(getattr(one, field.name), getattr(other, field.name)) for field in dataclasses.fields(one)
        )
    if isinstance(one, tuple):
        return isinstance(other, tuple) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=True)
    return type(one) is type(other) and bool(one == other)


@pytest.mark.parametrize("name", CASES)
def test_everything_comes_back(name: str) -> None:
    fit = made_network(**CASES[name])
    back = through_a_file(fit)
    assert same(back, fit)
    X = np.random.default_rng(5).random((7, fit.n_columns))
    np.testing.assert_array_equal(decode(encode(X, back), back), decode(encode(X, fit), fit))


def test_a_training_without_epochs_comes_back() -> None:
    fit = made_network((8, 3), dtype="float64")
    fit = dataclasses.replace(fit, training=dataclasses.replace(fit.training, curve=np.zeros((0, 2)), best=0))
    assert same(through_a_file(fit), fit)


def test_the_deepest_network_comes_back_and_a_deeper_one_is_refused() -> None:
    deepest = made_network((3, *[2] * MOST_LAYERS), columns=("a", "b", "c"))
    assert same(through_a_file(deepest), deepest)
    with pytest.raises(BadInput, match="at most 12 hidden layers there and as many back, and this one has 13"):
        pack(made_network((3, *[2] * (MOST_LAYERS + 1))))


LIES: list[tuple[tuple[str, ...], Any]] = [
    (("n_rows",), 0),
    (("n_columns",), 7),
    (("n_columns",), 0),
    (("n_components",), 4),
    (("n_components",), 0),
    (("encoder",), []),
    (("encoder",), [6, 5, 4]),
    (("encoder",), [6, 4, 3]),
    (("encoder",), [6, 3]),
    (("encoder",), [6, 0, 3]),
    (("encoder",), [5, 6, 3]),
    (("decoder",), [5, 6, 7]),
    (("decoder",), [5, 6.5, 8]),
    (("decoder",), [1] * 60 + [8]),
    (("precision",), "float64"),
    (("precision",), "float16"),
    (("activation",), "sine"),
    (("loss",), "hinge"),
    (("missing",), 200 * 8 + 1),
    (("named",), True),
    (("training", "epochs"), 11),
    (("training", "epochs"), 0),
    (("training", "validated"), False),
    (("training", "best"), 12),
    (("training", "best"), -1),
    (("training", "stopped"), "yes"),
    (("training", "diverged"), True),
    (("training", "optimizer"), "sgd"),
    (("training", "learning_rate"), -1e-3),
    (("training", "l2"), -1.0),
    (("training", "weight_decay"), -1.0),
    (("training", "n_train"), 0),
    (("training", "n_train"), 181),
    (("training", "n_validation"), 21),
    (("training", "device"), None),
    (("training", "more"), 1),
    (("provenance", "data"), 3),
]


@pytest.mark.parametrize(("path", "value"), LIES)
def test_facts_that_no_network_has_are_refused(path: tuple[str, ...], value: Any) -> None:
    known, arrays = pack(made_network())
    unpack(NetworkFit, known, arrays)
    place = known
    for key in path[:-1]:
        place[key] = dict(place[key])
        place = place[key]
    assert place.get(path[-1]) != value
    place[path[-1]] = value
    with pytest.raises(FormatError):
        unpack(NetworkFit, known, arrays)


def broken(array: np.ndarray, value: float) -> np.ndarray:
    other = array.copy()
    other.flat[1] = value
    return other


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize(
    "name", ["center", "scale", "code_mean", "code_covariance", "curve", "encoder_1_weights", "decoder_2_bias"]
)
def test_numbers_that_are_none_are_refused(name: str, value: float) -> None:
    known, arrays = pack(made_network())
    with pytest.raises(FormatError, match="not finite"):
        unpack(NetworkFit, known, arrays | {name: broken(arrays[name], value)})


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("scale", lambda scale: broken(scale, 0.0)),
        ("scale", lambda scale: -scale),
        ("code_covariance", lambda spread: -spread),
        ("code_covariance", lambda spread: broken(spread, 99.0)),
        ("encoder_0_weights", lambda weights: weights.T),
        ("encoder_0_weights", lambda weights: weights.astype(np.float64)),
        ("decoder_0_bias", lambda bias: bias[:-1]),
        ("curve", lambda curve: curve[:, :1]),
    ],
)
def test_arrays_that_no_network_has_are_refused(name: str, change: Any) -> None:
    known, arrays = pack(made_network())
    with pytest.raises(FormatError):
        unpack(NetworkFit, known, arrays | {name: change(arrays[name])})


@pytest.mark.parametrize(
    "other", [{"n_components": 2}, {"hidden": (6,)}, {"hidden": 6}, {"activation": "relu"}, {"loss": "bce"}]
)
def test_settings_of_another_network_are_refused(other: dict[str, Any]) -> None:
    check_settings(GIVEN, made_network())
    with pytest.raises(FormatError, match="settings are of a network with"):
        check_settings(GIVEN | other, made_network())


GIVEN = {
    "n_components": 3,
    "hidden": (np.int64(6), 5),
    "loss": "auto",
    "activation": "silu",
    "scale": False,
    "solver": "auto",
    "learning_rate": 1e-3,
    "batch_size": 128,
    "max_iter": 30,
    "l2": 0.0,
    "weight_decay": 0.3,
    "validation": 0.1,
    "patience": 5,
    "refine": 0,
    "device": "auto",
    "random_state": None,
}


def test_settings_become_json_and_come_back() -> None:
    declared = parameters_of(Autoencoder)
    plain = {name: _plain(declared[name], given) for name, given in GIVEN.items()}
    assert plain["hidden"] == [6, 5]
    back = _settings(plain, Autoencoder, ArrayReader({}), {"p": 8, "k": 3})
    assert back == GIVEN
    assert isinstance(back["hidden"], tuple)
    with pytest.raises(BadInput, match="cannot be kept in a model file"):
        _plain(declared["hidden"], (6, 2.5))
    with pytest.raises(FormatError):
        _settings(plain | {"hidden": [6, "5"]}, Autoencoder, ArrayReader({}), {"p": 8, "k": 3})
