"""What a person at the prompt meets: help, guesses, one screen, colours, pipes, exit codes of a real process."""

from __future__ import annotations

import functools
import json
import os
import pty
import re
import shlex
import subprocess
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest

import lowdim
from lowdim.cli import progress
from lowdim.cli.main import VERBS, main

HEAVY = {"numpy", "scipy", "sklearn", "pyarrow", "numba", "pandas", "rich", "onnx", "duckdb"}

PROBE = """
import json, sys
from lowdim.cli.main import main
for argv in json.loads(sys.argv[1]):
    main(argv)
    print(json.dumps([argv, sorted({name.split(".")[0] for name in sys.modules})]), file=sys.stderr)
"""


RUN = "import sys; from lowdim.cli.main import main; sys.exit(main(sys.argv[1:]))"
"""The command line in a process of its own, whatever its name."""


# -- help ---------------------------------------------------------------------------------------------------------


def test_nothing_heavy_is_loaded_for_help():
    light = [["--help"], ["--version"], ["fit", "--help"], [], ["fti"], ["fit", "--kep", "3"]]
    command = [sys.executable, "-c", PROBE, json.dumps(light)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    told = [json.loads(line) for line in answer.stderr.splitlines() if line.startswith("[")]
    assert [argv for argv, _ in told] == light
    assert [(argv, HEAVY & set(loaded)) for argv, loaded in told if HEAVY & set(loaded)] == []


def cpu_seconds(*argv):
    """What a command takes of the processor, the start of Python included."""
    code = "import resource, subprocess, sys; subprocess.run(sys.argv[1:], capture_output=True, check=True); "
    code += "used = resource.getrusage(resource.RUSAGE_CHILDREN); print(used.ru_utime + used.ru_stime)"
    words = [sys.executable, "-c", code, sys.executable, "-m", "lowdim.cli.main", *argv]
    return float(subprocess.run(words, capture_output=True, text=True, check=True).stdout)


def test_help_appears_within_three_tenths_of_a_second():
    # a promise of the documentation, not a benchmark: one of five keeps a busy machine out of it
    assert any(cpu_seconds("--help") < 0.3 for _ in range(5))


@pytest.mark.slow
def test_a_small_table_takes_under_three_seconds_from_a_cold_start(wine):
    lines = (wine / "wine.csv").read_text().splitlines(keepends=True)
    (wine / "ten.csv").write_text("".join(lines[:11]))
    assert min(cpu_seconds("fit", "ten.csv") for _ in range(3)) < 3.0  # a promise likewise; nearly all are imports


@pytest.mark.parametrize("verb", [None, *VERBS])
def test_help_starts_with_examples(verb, run):
    text = run(*filter(None, [verb]), "--help").out
    assert text.index("Examples:") < text.index("Usage:") < text.index("Options:")
    examples = re.findall(r"^  (?:\S+ \S+ \| |\S+ \S+ \S+ \S+ \| )?lowdim .*$", text, flags=re.MULTILINE)
    assert examples
    assert max(map(len, text.splitlines())) <= 80


def test_every_example_is_a_command_that_parses(run):
    help_of = functools.cache(lambda verb: run(verb, "--help").out)
    for verb, module in VERBS.items():
        for line in module.EXAMPLES.strip().splitlines():
            for command in line.partition("#")[0].split("|"):
                words = command.partition(">")[0].split()
                if words[0] == "lowdim" and words[1] in VERBS:
                    assert words[1] == verb or verb in ("describe", "inverse", "datasets")
                    options = [word for word in words if word.startswith("--")]
                    text = help_of(words[1])
                    assert all(f"{option} " in text or f"{option}\n" in text for option in options), line


def test_without_anything_the_help_is_shown(run):
    assert run().out == run("--help").out


def test_version(run):
    assert run("--version").out == f"lowdim {lowdim.__version__}\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_the_verbs(shell):
    words = {"COMP_WORDS": "lowdim tr", "COMP_CWORD": "1", "_TYPER_COMPLETE_ARGS": "lowdim tr"}
    words["_TYPER_COMPLETE_FISH_ACTION"] = "get-args"
    answer = subprocess.run(
        [sys.executable, "-c", RUN],
        env={**os.environ, "_LOWDIM_COMPLETE": f"complete_{shell}", **words},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "transform" in answer.stdout


# -- guesses ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argv", "code", "said"),
    [
        (["fti", "wine.csv"], 2, "did you mean fit?"),
        (["transfrom", "m", "d"], 2, "did you mean transform?"),
        (["frobnicate"], 2, "the verbs are info, choose"),
        (["wine"], 3, "did you mean wine.csv?"),
        (["wnie.csv"], 3, "did you mean wine.csv?"),
        (["fit", "wine.cvs"], 3, "did you mean wine.csv?"),
        (["fit", "Wine.CSV"], 3, "did you mean wine.csv?"),
        (["fit", "wine.csv", "--kepe", "3"], 2, "did you mean --keep?"),
        (["fit", "wine.csv", "--sacle"], 2, "did you mean --scale"),
        (["fit"], 2, "missing argument 'DATA'"),
        (["fit", "wine.csv", "more.csv"], 3, "more.csv: no such file; did you mean wine.csv?"),
        (["wine.lowdim", "wine.csv"], 2, "is a model, and stands alone"),
        (["--hepl"], 2, "did you mean --help? See lowdim --help."),
        (["hlep"], 2, "did you mean help?"),
        (["wine.csv", "--table", "x", "--keep"], 2, "'--keep' requires an argument"),
        (["info", "nothing-like-it.parquet"], 3, "check the path"),
        (["transform", "wine.lwodim", "wine.csv"], 4, "no such file"),
    ],
)
def test_did_you_mean(argv, code, said, run, wine):
    ended = run(*argv)
    assert ended.code == code, ended.err
    assert said.lower() in ended.err.lower()
    assert ended.out == ""
    assert len(ended.err.splitlines()) <= 3


# -- one screen ---------------------------------------------------------------------------------------------------

SETS = ["popres_pca_novembre2008", "uk_foods", "ozone_missing", "gasoline_nir", "metabolite_missing", "tobamovirus"]


@pytest.mark.parametrize("name", SETS)
def test_real_tables_fit_one_screen(name, run, shared_data, monkeypatch):
    path = shared_data(f"{name}.csv")
    monkeypatch.chdir(path.parent)
    for argv in (path.name,), (path.name, "--scale"), (path,):
        ended = run(*argv)
        lines = ended.out.splitlines()
        assert ended.code == 0
        assert len(lines) <= 24
        assert max(map(len, lines)) <= 80
        assert str(path.name)[-12:] in lines[0]
        assert ended.err == ""


@pytest.mark.parametrize("name", ["ozone_missing", "metabolite_missing"])
def test_missing_values_are_counted_and_refused_by_fit_alone(name, run, shared_data):
    path = shared_data(f"{name}.csv")
    described = run(path)
    assert described.code == 0
    missing = int(pd.read_csv(path).select_dtypes("number").isna().sum().sum())
    assert f"missing   {missing:,} of" in described.out
    assert "PCA needs every value" in described.out
    refused = run("fit", path)
    assert refused.code == 3
    assert path.name in refused.err


def test_a_column_that_swamps_the_others_is_named(run, shared_data):
    ended = run(shared_data("popres_pca_novembre2008.csv"))
    assert "ID alone holds 99.999 % of the variance" in ended.out
    assert "--drop ID" in ended.out
    assert "alone holds" not in run(shared_data("popres_pca_novembre2008.csv"), "--scale").out
    assert "octane alone holds" in run(shared_data("gasoline_nir.csv")).out
    assert "alone holds" not in run(shared_data("uk_foods.csv")).out


def test_what_is_left_out_is_named(run, shared_data):
    assert "left out  plabels (text), alabels (text)" in run(shared_data("popres_pca_novembre2008.csv")).out


def test_nothing_is_written_without_a_verb(run, wine):
    before = sorted(wine.iterdir())
    assert run("wine.csv").code == 0
    assert sorted(wine.iterdir()) == before


@pytest.mark.parametrize("options", [[], ["--scale", "--keep", "3", "--drop", "hue,ash", "--label", "kind"]])
def test_the_steps_it_suggests_can_be_run(options, run, wine):
    def run_all(text):
        for line in text[text.index("\nnext\n") :].replace("\\\n", " ").splitlines()[2:]:
            words = shlex.split(line, comments=True)
            assert words[0] == "lowdim"
            ended = run(*words[1:])
            assert ended.code == 0, line
            yield ended.out

    said = list(run_all(run("wine.csv", *options).out))
    assert (wine / "scores.csv").exists()
    model = lowdim.load("wine.lowdim")
    if options:
        assert (model.n_components_, model.n_features_in_) == (3, 11)
    list(run_all(next(text for text in said if "wine.lowdim" in text)))
    (wine / "holes.csv").write_text("a,b,c\n1,2,3\n2,,5\n3,5,8\n4,,9\n5,6,1\n")
    assert len(list(run_all(run("holes.csv").out))) == 3


def test_extreme_tables_fit_one_screen(run, wine):
    rng = np.random.default_rng(0)
    names = [f"a very long name of a column, number {j} of very many" for j in range(300)]
    table = pd.DataFrame(rng.standard_normal((40, 300)) * 10.0 ** rng.integers(-100, 70, 300), columns=names)
    table.assign(**{f"text column {j} with a long name": "x" for j in range(50)}).to_csv("long.csv", index=False)
    np.save("flat.npy", np.ones((10, 3)))
    np.save("two.npy", np.array([[1.0, 2], [3, 4]]))
    np.save("narrow.npy", rng.standard_normal((30, 1)))
    for name in ("long.csv", "flat.npy", "two.npy", "narrow.npy"):
        for more in ([], ["--scale"], ["--keep", "all"]):
            ended = run(name, *more)
            lines = ended.out.splitlines()
            assert ended.code == 0, ended.err
            assert len(lines) <= 24, ended.out
            assert max(map(len, lines)) <= 80, ended.out


# -- streams ------------------------------------------------------------------------------------------------------


def test_exit_codes_and_streams_of_a_real_process(child, run, wine):
    text = (wine / "wine.csv").read_text()
    scores = child("fit", "-", "--save", "wine.lowdim", "-q", "-o", "-", given=text)
    assert (scores.code, scores.err) == (0, "")
    assert scores.out == run("transform", "wine.lowdim", "wine.csv").out
    absent = child("fit", "nothing.csv")
    assert (absent.code, absent.out) == (3, "")
    assert child("fit").code == 2
    assert run("transform", "wine.csv", "wine.csv").code == 4


def test_a_reader_that_leaves_early_is_no_error(wine):
    np.save("long.npy", np.random.default_rng(0).standard_normal((50_000, 3)))
    command = f"{sys.executable} -m lowdim.cli.main fit long.npy --keep all -q -o - | head -1; echo ${{PIPESTATUS[0]}}"
    answer = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert answer.stdout == "PC1,PC2,PC3\n0\n"
    assert answer.stderr == ""


def test_tables_are_piped_in_and_out(run, wine):
    text = (wine / "wine.csv").read_text()
    fitted = run("fit", "-", "--scale", "--keep", "2", "--save", "wine.lowdim", "-q", given=text)
    assert (fitted.code, fitted.out, fitted.err) == (0, "", "")
    scores = run("transform", "wine.lowdim", "-", "--label", "kind", given=text)
    assert (scores.code, scores.err) == (0, "")
    rows = run("inverse", "wine.lowdim", "-", given=scores.out)
    assert rows.out.splitlines()[0] == ",".join(["kind", *lowdim.datasets.wine().columns])
    assert len(rows.out.splitlines()) == 179
    assert run("-", given=text).out.startswith("standard input: 178 rows")


@pytest.mark.parametrize(
    ("given", "said"), [("", "empty"), ("a,b\nx,y\n", "holds numbers"), ("a,b\n1,\n2,3\n", "b: 1")]
)
def test_bad_tables_that_are_piped_in(given, said, run):
    ended = run("fit", "-", given=given)
    assert ended.code == 3
    assert ended.err.startswith("error: standard input: ")
    assert said in ended.err
    assert ended.err.count("standard") == 1
    assert len(ended.err.splitlines()) == 1


def test_unexpected_errors_are_one_line_unless_debugging(run, wine, monkeypatch):
    from lowdim.models.pca.model import PCA

    def broken(self, X):
        raise RuntimeError("something\nodd")

    monkeypatch.setattr(PCA, "fit", broken)
    ended = run("fit", "wine.csv")
    assert ended.code == 1
    assert ended.err.splitlines() == [
        "error: unexpected: RuntimeError: something odd (set LOWDIM_DEBUG=1 to see where)"
    ]
    monkeypatch.setenv("LOWDIM_DEBUG", "1")
    assert "Traceback" in run("fit", "wine.csv").err


def test_a_package_that_is_not_there_is_named_with_its_remedy(wine):
    code = "import sys; sys.modules['pyarrow'] = None\nfrom lowdim.cli.main import main\nsys.exit(main(sys.argv[1:]))"
    pd.read_csv("wine.csv").to_parquet("wine.parquet")
    answer = subprocess.run(
        [sys.executable, "-c", code, "fit", "wine.parquet"], capture_output=True, text=True, check=False
    )
    assert answer.returncode == 1
    assert 'pip install "lowdim[files]"' in answer.stderr
    assert len(answer.stderr.splitlines()) == 1


@pytest.fixture
def on_a_terminal(monkeypatch):
    """What a command prints where stdin, stdout and stderr are a terminal."""

    def command(*argv, **environment):
        leader, follower = pty.openpty()
        said = bytearray()

        def listen():  # a terminal takes few bytes before somebody must read them
            while part := os.read(leader, 4096):
                said.extend(part)
                if said.endswith(END):
                    return

        listener = threading.Thread(target=listen)
        listener.start()
        with monkeypatch.context() as patched:
            for name in ("NO_COLOR", "FORCE_COLOR"):
                patched.delenv(name, raising=False)
            for name, value in ({"TERM": "xterm-256color", "COLUMNS": "80"} | environment).items():
                patched.setenv(name, value)
            for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
                stream = open(follower, mode, closefd=False)  # noqa: SIM115  closed with the terminal
                patched.setattr(sys, name, stream)
            main(argv)
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
        os.write(follower, END)
        listener.join(timeout=60)
        for end in (leader, follower):
            os.close(end)
        return said.removesuffix(END).decode()

    return command


END = b"\x04"
"""What no command prints: a terminal that is open says not when all was read."""


def test_colours_on_a_terminal_unless_NO_COLOR(wine, on_a_terminal):  # noqa: N802  the variable's own name
    assert "\x1b[" in on_a_terminal("wine.csv")
    assert "\x1b[" not in on_a_terminal("wine.csv", NO_COLOR="1")


def test_standard_input_that_is_a_terminal_is_explained(wine, on_a_terminal):
    assert "none comes" in on_a_terminal("fit", "-")


def test_a_bar_with_the_time_left_on_a_terminal_alone(wine, run, on_a_terminal, monkeypatch):
    np.save("long.npy", np.random.default_rng(0).standard_normal((15_000, 250)))
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(lowdim.sources.source, "BLOCK_BYTES", 2**20)  # ten blocks
    move = progress.Reporter.move

    def slowly(self, now):
        time.sleep(1.5 * progress.REFRESH)  # so that every turn is in a picture of the bar
        return move(self, now)

    monkeypatch.setattr(progress.Reporter, "move", slowly)
    terminal = on_a_terminal("fit", "long.npy", "--keep", "2")
    assert "rows" in terminal
    assert re.search(r"about \d+ (s|min) left", terminal)
    quiet = on_a_terminal("fit", "long.npy", "--keep", "2", "-q")
    assert quiet == ""
    assert run("fit", "long.npy", "--keep", "2").err == ""


def test_main_gives_a_code_and_does_not_exit(wine):
    assert main(["--version"]) == 0
