"""Autoencoders at the prompt: the library's numbers, one screen, and sentences for what cannot be."""

from __future__ import annotations

import shlex

import numpy as np
import pandas as pd
import pytest

import lowdim
from lowdim.cli.errors import INTERRUPTED
from lowdim.cli.models.fit import keep_part
from lowdim.cli.options import ModelOptions
from lowdim.errors import BadParameter, Interrupted
from lowdim.models.autoencoder.settings import read_hidden_units as hidden_units
from lowdim.models.registry import prompt_of
from lowdim.runtime.progress import watching

FIT = ("fit", "wine.csv", "--model", "autoencoder", "--label", "kind", "--scale", "--hidden", "9,5", "--epochs", "6")


@pytest.mark.parametrize(("text", "units"), [("100,50", (100, 50)), (" 7 , 3 ", (7, 3)), ("4", (4,)), ("none", ())])
def test_hidden_layers_are_listed(text, units):
    assert hidden_units(text) == units


@pytest.mark.parametrize("text", ["", "100,", "0,5", "-3", "ten", "2.5", "²"])
def test_what_is_no_list_of_layers_is_refused(text):
    with pytest.raises(BadParameter, match="whole numbers from 1 are needed, as in 100,50, or none"):
        hidden_units(text)


def test_codes_are_counted():
    prompt = prompt_of("autoencoder")
    assert [prompt.keep(ModelOptions(keep).keep_of(prompt)) for keep in ("90%", "12")] == [2, 12]
    with pytest.raises(BadParameter, match="a whole number of codes, from 1"):
        prompt.keep("50%")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--hidden 5", "--hidden 5: only --model autoencoder has that"),
        ("--epochs 5", "--epochs 5: only --model autoencoder has that"),
        ("--loss bce", "--loss bce: only --model nmf or autoencoder has that"),
        ("--model autoencoder --loss kl", "--loss kl: of an autoencoder it must be auto, bce or mse"),
        ("--model autoencoder --epochs 0", "--epochs 0: a whole number from 1 is needed"),
        ("--model autoencoder --hidden 5,x", "--hidden 5,x: whole numbers from 1 are needed"),
        ("--model autoencoder --keep all", "--keep all: an autoencoder needs a whole number of codes"),
        ("--model autoencoder --kernel rbf", "only --model kernel has that"),
    ],
)
def test_what_cannot_be_is_said(run, wine, options, said):
    ended = run("fit", "wine.csv", *shlex.split(options))
    assert ended.code == 2
    assert said in ended.err


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")  # the same numbers as an array
def test_an_interrupted_fit_goes_on_to_the_same_model(run, wine, capsys):
    argv = [*map(str, FIT), "--keep", "3", "--save", "m.lowdim"]
    source = lowdim.open("wine.csv", label="kind")
    model = ModelOptions("3", "autoencoder", scale=True, hidden="9,5", epochs="6").build()
    with pytest.raises(Interrupted) as told, watching(lambda progress: progress.passes == 4):
        model.fit(source)
    assert keep_part(told.value, argv, "m.lowdim") == INTERRUPTED
    first, command = capsys.readouterr().err.splitlines()
    assert "interrupted after 2 epochs, which m.part.lowdim keeps; go on with" in first
    ended = run(*shlex.split(command)[1:])
    assert ended.code == 0, ended.err
    assert "m.part.lowdim can be deleted" in ended.err
    resumed = lowdim.load("m.lowdim")
    rows = pd.read_csv("wine.csv").drop(columns="kind").to_numpy()
    whole = ModelOptions("3", "autoencoder", scale=True, hidden="9,5", epochs="6").build().fit(source)
    np.testing.assert_array_equal(resumed.transform(rows), whole.transform(rows))
    assert "a checkpoint of Autoencoder, 6 epochs so far" in run("info", "m.part.lowdim").out
    assert run(*argv, "--resume", "nothing.lowdim").code == 4
    other = run(*argv, "--drop", "hue", "--resume", "m.part.lowdim")
    assert other.code == 4
    assert other.err.count("m.part.lowdim") == 1


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")  # the same numbers as an array
def test_fit_keeps_the_model_and_the_codes(run, wine):
    ended = run(*FIT, "--keep", 3, "--save", "m.lowdim", "-o", "codes.csv")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("wine.csv: 178 rows × 13 columns")
    assert "3 codes for 13 columns" in ended.out
    assert "13–9–5–3–5–9–13" in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80
    assert len(ended.out.splitlines()) <= 24
    kept = lowdim.load("m.lowdim")
    rows = pd.read_csv("wine.csv").drop(columns="kind")
    codes = pd.read_csv("codes.csv")
    assert list(codes) == ["kind", *(f"{kept.score_name}{i}" for i in (1, 2, 3))]
    # as float32 in a text file, and sums in another order
    np.testing.assert_allclose(codes.drop(columns="kind"), kept.transform(rows.to_numpy()), rtol=1e-4, atol=1e-5)
    assert run("inverse", "m.lowdim", "codes.csv", "--label", "kind", "-o", "rows.csv").code == 0
    back = pd.read_csv("rows.csv").drop(columns="kind")
    expected = kept.inverse_transform(codes.drop(columns="kind").to_numpy())
    np.testing.assert_allclose(back, expected, rtol=1e-4, atol=1e-4)


def test_the_file_says_what_it_holds(run, wine):
    run(*FIT, "--keep", 3, "--save", "m.lowdim", "-q")
    assert "m.lowdim: Autoencoder, 3 codes for 13 columns" in run("info", "m.lowdim").out
    facts = run("info", "m.lowdim", "--json").json
    assert facts["model"] == "autoencoder"
    assert facts["network"]["widths"] == [13, 9, 5, 3, 5, 9, 13]
    assert len(facts["training"]["loss_learnt_from"]) == facts["training"]["epochs"]
    assert "network    13–9–5–3–5–9–13" in run("explain", "m.lowdim").out
    ended = run("export", "m.lowdim", "-o", "m.onnx")
    assert (ended.code, ended.out + ended.err) == (0, "m.onnx: 13 columns in, 3 scores out\n")


def test_two_codes_unless_said(run, wine):
    ended = run(*FIT)
    assert "2 codes for 13 columns" in ended.out
    assert "(--keep 2)" in ended.out
    again = "lowdim fit wine.csv --label kind --scale --model autoencoder --hidden 9,5 --epochs 6"
    assert again in " ".join(ended.out.replace("\\\n", " ").split())  # the prompt's own line, to type again
