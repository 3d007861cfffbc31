"""Ctrl-C leaves a checkpoint, and the command that it prints gives what an uninterrupted fit would have given."""

from __future__ import annotations

import shlex
import signal
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import pytest

import lowdim
from conftest import HEARING
from lowdim import PCA
from lowdim.cli.models.fit import keep_part, without_resume
from lowdim.cli.progress import Reporter
from lowdim.errors import FormatError, Interrupted, NotConverged
from lowdim.models.base.saving import load_checkpoint, save_checkpoint
from lowdim.runtime.progress import watching
from lowdim.sources import source

SLOW = """
import sys, time
import lowdim.cli.progress as progress, lowdim.sources.source as source
move = progress.Reporter.move
source.BLOCK_BYTES = 2**22
def slowly(self, now):
    if now.stages[-1].name == "row":
        print("block", flush=True)
        time.sleep(0.2)
    return move(self, now)
progress.Reporter.move = slowly
from lowdim.cli.main import main
sys.exit(main(sys.argv[1:]))
"""
"""The command line with a pause after each block, so that a signal meets it in the middle."""


def killed(*argv: str, blocks: int = 2) -> tuple[int, str]:
    """Exit code and stderr of a process that gets Ctrl-C after its second block, or another."""
    process = subprocess.Popen(
        [sys.executable, "-c", HEARING + SLOW, *argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    for _ in range(blocks):
        assert process.stdout.readline() == "block\n"
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    return process.returncode, said


@pytest.fixture
def interrupted(monkeypatch, run):
    """Exit code and stderr of a command that gets Ctrl-C in its second block; it is run in this process."""

    def command(*argv):
        move, blocks = Reporter.move, []

        def counted(self, now):
            if now.stages[-1].name == "row":
                blocks.append(now.rows)
            if len(blocks) == 2:
                signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            return move(self, now)

        with monkeypatch.context() as patched:
            patched.setattr(source, "BLOCK_BYTES", 2**22)
            patched.setattr(Reporter, "move", counted)
            before = signal.signal(signal.SIGINT, signal.default_int_handler)  # workers of pytest ignore it
            try:
                ended = run(*argv)
            finally:
                signal.signal(signal.SIGINT, before)
        return ended.code, ended.err

    return command


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A table of about ten blocks, by the name of its file."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    np.save("big.npy", rng.standard_normal((200_000, 40)) * np.arange(1, 41) + 7)
    return "big.npy"


@pytest.mark.slow
def test_em_goes_on_where_it_stopped(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 3)) @ rng.standard_normal((3, 12)) + rng.standard_normal((400, 12))
    np.save("holes.npy", np.where(rng.random(X.shape) < 0.4, np.nan, X))
    # so few rows are one block: three passes begin, and EM is then in its third step
    code, said = killed("fit", "holes.npy", "--model", "ppca", "--keep", "3", "--save", "m.lowdim", blocks=6)
    assert code == 130, said
    first, command = said.splitlines()
    assert "steps of EM, which m.part.lowdim keeps; go on with" in first
    words = shlex.split(command)
    ended = run(*words[1:])
    assert ended.code == 0, ended.err
    whole, resumed = lowdim.ProbabilisticPCA(3).fit("holes.npy"), lowdim.load("m.lowdim")
    np.testing.assert_array_equal(resumed.components_, whole.components_)  # to the same bits
    assert run("fit", "holes.npy", "--keep", "2", "--resume", "m.part.lowdim").code == 4  # a state of another model


@pytest.mark.parametrize("options", [["--keep", "5"], ["--keep", "90%", "--scale", "--save", "m.lowdim"]])
def test_an_interrupted_fit_goes_on_where_it_stopped(options, table, run, interrupted):
    code, said = (interrupted if "--save" in options else killed)("fit", table, *options)
    assert code == 130, said
    first, command = said.splitlines()
    words = shlex.split(command)
    assert words[0] == "lowdim"
    assert words[-2] == "--resume"
    part = load_checkpoint(words[-1], "PCA")
    assert f"{part.n_samples_:,} rows" in first
    assert 0 < part.n_samples_ < 200_000
    ended = run(*words[1:], *([] if "--save" in options else ["--save", "m.lowdim"]))
    assert ended.code == 0, ended.err
    assert f"{words[-1]} can be deleted" in ended.err
    whole = PCA(5 if "5" in options else 0.9, scale="--scale" in options).fit(table)
    resumed = lowdim.load("m.lowdim")
    assert resumed.n_samples_ == 200_000
    # merged moments agree with those of all rows to 1e-10
    np.testing.assert_allclose(resumed.explained_variance_, whole.explained_variance_, rtol=1e-10)
    np.testing.assert_allclose(resumed.mean_, whole.mean_, rtol=1e-10)
    np.testing.assert_allclose(resumed.components_, whole.components_, atol=1e-8)  # 1e-10 over a gap of 1 %


def test_fewer_rows_than_components_are_kept_all_the_same(tmp_path, monkeypatch, capsys, run):
    """PCA finds components when they are asked for: of five rows there are no twenty."""
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).standard_normal((40, 25))
    np.save("x.npy", X)
    with pytest.raises(Interrupted) as told, watching(lambda _: True):
        PCA(20).fit(iter(np.split(X, 8)))
    assert keep_part(told.value, ["fit", "x.npy", "--keep", "20", "--save", "m.lowdim"], "m.lowdim") == 130
    first, command = capsys.readouterr().err.splitlines()
    assert "interrupted after 5 rows" in first
    assert run(*shlex.split(command)[1:]).code == 0
    # merged moments agree with those of all rows to 1e-10
    np.testing.assert_allclose(
        lowdim.load("m.lowdim").explained_variance_, PCA(20).fit(X).explained_variance_, rtol=1e-10
    )


def test_weights_and_columns_of_files_go_on_too(tmp_path, monkeypatch, run, interrupted):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    names = [f"c{j}" for j in range(20)]
    table = pd.DataFrame(rng.standard_normal((150_000, 20)), columns=names).assign(w=rng.integers(0, 3, 150_000))
    table.to_parquet("big.parquet", row_group_size=20_000)
    argv = ("fit", "big.parquet", "--weight", "w", "--keep", "3", "--save", "m.lowdim")
    code, said = interrupted(*argv)
    assert code == 130, said
    assert load_checkpoint("m.part.lowdim", "PCA").n_samples_ < (table["w"] > 0).sum()
    assert run(*shlex.split(said.splitlines()[1])[1:], "-q").code == 0
    whole = PCA(3).fit(table[names].to_numpy(), sample_weight=table["w"])
    np.testing.assert_allclose(lowdim.load("m.lowdim").explained_variance_, whole.explained_variance_, rtol=1e-10)


def test_twice_interrupted_is_not_twice_counted(table, run, interrupted):
    _, said = interrupted("fit", table, "--keep", "3", "--save", "m.lowdim")
    words = shlex.split(said.splitlines()[1])
    before = load_checkpoint("m.part.lowdim", "PCA").n_samples_
    code, said = interrupted(*words[1:])
    assert code == 130
    assert said.count("--resume") == 1
    assert load_checkpoint("m.part.lowdim", "PCA").n_samples_ > before
    assert run(*words[1:], "-q").code == 0
    np.testing.assert_allclose(
        lowdim.load("m.lowdim").explained_variance_, PCA(3).fit(table).explained_variance_, rtol=1e-10
    )


@pytest.mark.parametrize("options", [["--model", "svd"]])
def test_other_models_go_on_from_their_passes(options, table, run, interrupted):
    argv = ("fit", table, *options, "--keep", "2", "--save", "m.lowdim")
    code, said = interrupted(*argv)
    assert code == 130, said
    first, command = said.splitlines()
    assert "of the next, which m.part.lowdim keeps" in first or "over the rows, which m.part.lowdim keeps" in first
    told = run("info", "m.part.lowdim")
    assert "over the rows" in told.out
    assert run(*shlex.split(command)[1:], "-q").code == 0
    resumed = lowdim.load("m.lowdim")
    assert run(*argv[:-1], "whole.lowdim", "-q").code == 0
    # the blocks were smaller before: the same sums to rounding
    np.testing.assert_allclose(resumed.explained_variance_, lowdim.load("whole.lowdim").explained_variance_, rtol=1e-8)
    assert run("fit", table, *options, "--keep", "3", "--resume", "m.part.lowdim").code == 4


def test_a_checkpoint_is_kept_while_a_fit_runs(table, run, monkeypatch):
    monkeypatch.setattr("lowdim.models.base.passes.SECONDS", 0.0)
    argv = ("fit", table, "--model", "svd", "--keep", "2", "--checkpoint", "kept.lowdim", "-q")
    assert run(*argv).code == 0
    assert "over the rows" in run("info", "kept.lowdim").out
    assert run("fit", table, "--model", "genotypes", "--checkpoint", "kept.lowdim").code == 2
    assert run("fit", table, "--checkpoint", "kept.csv").code == 2


def test_a_checkpoint_of_other_data_is_refused(run, wine):
    save_checkpoint(PCA(2).fit("wine.csv"), "whole.lowdim")
    pd.read_csv("wine.csv")[:100].to_csv("less.csv", index=False)
    np.save("less.npy", np.zeros((100, 13)))
    pd.read_csv("wine.csv").rename(columns={"hue": "tint"}).to_csv("other.csv", index=False)
    for argv, said in (
        (("wine.csv", "--drop", "hue"), "begun on 13 columns, the data have 12"),
        (("less.csv",), "the data have only 100"),
        (("less.npy",), "the data have only 100"),
        (("other.csv",), "they lack 'hue'"),
    ):
        ended = run("fit", *argv, "--resume", "whole.lowdim")
        assert ended.code == 4, ended.err
        assert said in ended.err
        assert "whole.lowdim" in ended.err
    assert run("fit", "wine.csv", "--resume", "nothing.lowdim").code == 4
    assert run("fit", "wine.csv", "--resume", "wine.csv").code == 4


@pytest.mark.parametrize("name", ["wine.csv", "wine.npy"])
def test_a_checkpoint_of_all_rows_is_complete(name, run, wine):
    X = pd.read_csv("wine.csv").select_dtypes("number").to_numpy()
    np.save("wine.npy", X)
    save_checkpoint(PCA(1).partial_fit(lowdim.open(name)), "all.part.lowdim")
    facts = run("fit", name, "--keep", "2", "--resume", "all.part.lowdim", "--json").json
    assert facts["rows"] == 178
    assert facts["components"][1]["variance"] == pytest.approx(PCA(2).fit(X).explained_variance_[1], rel=1e-10)


@pytest.mark.parametrize("options", [[], ["--scale"], ["--model", "ppca"], ["--model", "autoencoder"]])
def test_a_finished_model_is_no_checkpoint(options, run, wine):
    PCA(2).fit("wine.csv").save("wine.lowdim")
    ended = run("fit", "wine.csv", *options, "--resume", "wine.lowdim")
    assert ended.code == 4
    assert "wine.lowdim: holds a finished model, PCA" in ended.err
    assert "leave --resume out" in ended.err
    assert "deleted" not in ended.err


def test_a_checkpoint_is_told_and_is_no_model(run, wine):
    begun = {
        "PCA": (PCA(1).partial_fit("wine.csv"), "lowdim fit DATA --resume begun.part.lowdim", "178 rows so far"),
        "ProbabilisticPCA": (
            lowdim.ProbabilisticPCA(1, checkpoint="begun.part.lowdim", max_iter=7, tol=1e-15),
            "lowdim fit DATA --model ppca --resume begun.part.lowdim",
            "7 steps of EM so far",
        ),
    }
    holes = np.where(np.random.default_rng(0).random((60, 5)) < 0.2, np.nan, np.random.default_rng(1).random((60, 5)))
    for owner, (model, command, so_far) in begun.items():
        (wine / "begun.part.lowdim").unlink(missing_ok=True)
        if owner == "PCA":
            save_checkpoint(model, "begun.part.lowdim")
        else:
            with pytest.warns(NotConverged):
                model.fit(holes)
        for verb in (["info"], []):
            told = run(*verb, "begun.part.lowdim")
            assert told.code == 0, told.err
            assert f"a checkpoint of {owner}, {so_far}" in told.out
            assert command in told.out
            assert "certified" not in told.out
        facts = run("info", "begun.part.lowdim", "--json").json
        assert (facts["checkpoint"], facts["so_far"] + " so far") == (True, so_far)
        with pytest.raises(FormatError, match=r"the checkpoint of a fit that was not completed, and no model"):
            lowdim.load("begun.part.lowdim")
        ended = run("transform", "begun.part.lowdim", "wine.csv")
        assert ended.code == 4
        assert command.removesuffix(" begun.part.lowdim") in ended.err


def test_checkpoints_of_different_models_are_told_apart(run, wine):
    save_checkpoint(PCA(1).partial_fit("wine.csv"), "begun.part.lowdim")
    ended = run("fit", "wine.csv", "--model", "ppca", "--resume", "begun.part.lowdim")
    assert ended.code == 4
    assert "the checkpoint of a fit of PCA, not of ProbabilisticPCA: go on with --model pca" in ended.err


def test_interrupting_other_verbs_says_so(wine, interrupted):
    np.save("big.npy", np.random.default_rng(0).standard_normal((100_000, 40)))
    PCA(2).fit("big.npy").save("m.lowdim")
    for argv in (
        ["info", "big.npy"],
        ["transform", "m.lowdim", "big.npy", "-o", "s.csv"],
        ["convert", "big.npy", "-o", "s.csv"],
    ):
        code, said = interrupted(*argv)
        assert code == 130
        assert said == "error: interrupted; no half-written file is left\n"
        assert sorted(path.name for path in wine.iterdir()) == ["big.npy", "m.lowdim", "wine.csv"]


def test_resume_is_taken_out_of_a_command_line():
    assert without_resume(["fit", "a", "--resume", "p", "--keep", "2"]) == ["fit", "a", "--keep", "2"]
    assert without_resume(["fit", "a", "--resume=p"]) == ["fit", "a"]
