"""Names and values from strangers reach no terminal as they are: what it would obey, or hide, is written as `\\x1b`.

Every verb is run on a pseudo-terminal and without one, on data whose columns, rows, classes, file and folder are
called so; every read-out of every model is looked at, fitted here and loaded from a file.
"""

from __future__ import annotations

import csv
import json
import os
import pty
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_classifier, is_regressor

import lowdim
from lowdim.errors import BadInput, LowdimError
from lowdim.models.registry import FOLDERS, model_class
from lowdim.results.table import Table
from lowdim.words import HIDDEN, shown, shown_in_json, shown_lines

TITLE = "\x1b]0;pwned\x07"
HOSTILE = [
    f"a{TITLE}",
    "b\x1b[2J\x1b[31mred",
    "c\u202eevil\u2066",
    "d\x9b31m\x7f",
    "e\rover\x08\x08",
    "f\u200b\ufeff\u2028\U000e0041",
]
SETTINGS: dict[str, dict[str, Any]] = {
    "Autoencoder": {"hidden": (8,), "max_iter": 3},
    "GenotypePCA": {"n_components": 2},
}
ROWS = np.random.default_rng(3).integers(0, 3, size=(40, 6)).astype(float)
OURS = re.compile(r"\x1b\[[0-9;]*m|\x1b\[\?25[lh]|\x1b\[2K|\x1b\[1A|\r")
"""What rich writes to a terminal: colours, the cursor and the lines of a bar."""


def harm(text: str) -> list[str]:
    """What a terminal would obey or hide; ends of lines are none."""
    return HIDDEN.findall(text.replace("\n", ""))


def frame_of(values: np.ndarray = ROWS) -> pd.DataFrame:
    return pd.DataFrame(values, columns=HOSTILE)


def test_texts_are_shown_letter_by_letter():
    assert shown("plain, ±½ λ नमस्ते می‌خواهم 👩‍👩‍👧") == "plain, ±½ λ नमस्ते می‌خواهم 👩‍👩‍👧"
    assert shown(TITLE) == "\\x1b]0;pwned\\x07"
    assert shown("a\nb\tc\u202e\udcff") == "a\\nb\\tc\\u202e\\udcff"
    assert shown_lines("a\nb\tc") == "a\nb\\tc"
    for name in HOSTILE:
        assert not harm(shown(name))
        assert shown(shown(name)) == shown(name)
        told = shown_in_json(json.dumps({name: name}, ensure_ascii=False))
        assert not harm(told)
        assert json.loads(told) == {name: name}


def test_errors_and_warnings_are_shown_so():
    error = BadInput(f"no column {HOSTILE[0]}")
    assert str(error) == "no column a\\x1b]0;pwned\\x07"
    assert not harm(str(error.said_of(HOSTILE[1])))
    table = frame_of()
    table[HOSTILE[2]] = table[HOSTILE[2]].astype(str) + HOSTILE[3]
    table.loc[3, HOSTILE[0]] = np.nan
    for wrong in (table, table.drop(columns=HOSTILE[2]), frame_of().rename(columns={HOSTILE[0]: HOSTILE[1]})):
        with pytest.raises(LowdimError) as told:
            lowdim.PCA(2).fit(wrong)
        assert not harm(str(told.value))
    with pytest.raises(LowdimError) as told:
        lowdim.PCA(2).fit(frame_of()).transform(frame_of()[HOSTILE[::-1]])
    assert not harm(str(told.value))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        lowdim.PCA(1, scale=True).fit(frame_of(np.column_stack([np.ones(40), ROWS[:, 1:]])))
    assert caught
    assert not any(harm(str(one.message)) for one in caught)


def read_outs(model: Any, rows: Any) -> dict[str, str]:
    """All texts that a model shows of itself."""
    texts = {"repr": repr(model), "html": model._repr_html_(), "explain": str(model.explain())}
    texts["certificate"] = str(getattr(model, "certificate_", ""))
    if hasattr(model, "table"):
        for name in ("columns", "loadings", "rows", "spectrum", "parts", "correlations"):
            try:
                texts[f"table {name}"] = repr(Table(dict(model.table(name))))  # a frame is shown by its own library
            except (LowdimError, TypeError):
                continue
    return texts


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
@pytest.mark.parametrize("name", FOLDERS)
def test_models_show_them_so(name, tmp_path, tally):
    model = model_class(name)(**SETTINGS.get(name, {}))
    rows = frame_of(ROWS if name == "GenotypePCA" else ROWS / 2)
    target = pd.Series(np.arange(40.0), name=HOSTILE[0]) if is_regressor(model) else None
    target = [HOSTILE[i % 2] for i in range(40)] if is_classifier(model) else target
    model = model.fit(rows) if target is None else model.fit(rows, target)
    path = tmp_path / f"m{HOSTILE[2]}.lowdim"
    model.save(path)
    for one in (model, lowdim.load(path)):
        for what, text in read_outs(one, rows).items():
            assert not harm(text), what
        tally(4, len(read_outs(one, rows)), "read-outs with hostile names")
    model.report(tmp_path / "page.html", rows, title=HOSTILE[1])
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    data = page.partition('id="data">')[2].partition("</script>")[0]
    assert not harm(page.partition("<style>")[0])
    assert not harm(data)
    assert not harm("".join(texts_in(json.loads(data))))


def texts_in(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for key, one in value.items() for text in (key, *texts_in(one))]
    return (
        [text for one in value for text in texts_in(one)]
        if isinstance(value, list)
        else [value] * isinstance(value, str)
    )


@pytest.mark.filterwarnings("ignore::lowdim.errors.LowdimWarning")
@pytest.mark.filterwarnings("ignore:Glyph")
def test_figures_show_them_so():
    pytest.importorskip("matplotlib")
    from matplotlib.text import Text

    rows = frame_of()
    model = lowdim.PCA(2).fit(rows)
    drawn = [
        model.plot.biplot(rows.set_index(pd.Index(HOSTILE * 6 + HOSTILE[:4]))),
        model.plot.loadings(),
        model.plot.scree(),
    ]
    for ax in drawn:
        figure = np.ravel(ax)[0].figure
        for text in figure.findobj(Text):
            assert not harm(text.get_text())


# -- at the prompt ---------------------------------------------------------------------------------------------------

TABLE = "t\x1b]0;pwned\x07\u202e.csv"
MODEL = "m\x1b[31m.lowdim"

VERBS: dict[str, list[str]] = {
    "describe": [TABLE],
    "fit": ["fit", TABLE, "--label", "kind\x9b", "--names", "who\x1b[A"],
    "fit json": ["fit", TABLE, "--label", "kind\x9b", "--json"],
    "fit dry-run": ["fit", TABLE, "--dry-run"],
    "fit debug": ["fit", TABLE, "--columns", HOSTILE[0] + "x"],
    "info": ["info", TABLE],
    "info of a model": ["info", MODEL],
    "info json": ["info", MODEL, "--json"],
    "choose": ["choose", TABLE],
    "transform to the screen": ["transform", MODEL, TABLE, "--names", "who\x1b[A"],
    "transform as markdown": ["transform", MODEL, TABLE, "--names", "who\x1b[A", "--format", "md"],
    "transform as JSON lines": ["transform", MODEL, TABLE, "--names", "who\x1b[A", "--format", "jsonl"],
    "table": ["table", MODEL, "loadings"],
    "explain": ["explain", MODEL],
    "explain data": ["explain", TABLE],
    "impute": ["impute", TABLE],
    "redundant": ["redundant", TABLE],
    "uncertainty": ["uncertainty", MODEL, TABLE, "--resamples", "20"],
    "regress": ["regress", TABLE, "--target", HOSTILE[0]],
    "compare": ["compare", TABLE],
    "topics": ["topics", TABLE, "--text", "who\x1b[A"],
    "map": ["map", TABLE, TABLE],
    "convert": ["convert", TABLE, "-o", "o\x1b[31m.csv"],
    "inverse": ["inverse", MODEL, TABLE],
    "predict": ["predict", MODEL, TABLE],
    "recognise": ["recognise", TABLE],
    "plot": ["plot", MODEL, "scree", "-o", "p\x1b[31m.png"],
    "report": ["report", MODEL, TABLE, "-o", "r\x1b[31m.html"],
    "export": ["export", MODEL, "-o", "x\x1b[31m.onnx"],
    "not there": ["info", "no\x1b[2Jfile.csv"],
    "no verb": ["fi\x1b[2Jt"],
    "no option": ["fit", TABLE, "--ke\x1b[2Jep", "3"],
    "no value": ["fit", TABLE, "--keep", "\x1b[2J"],
    "another table": ["info", "other\x1b[2J.csv"],
    "no workbook": ["info", "w\x1b[2J.xlsx"],
    "no Parquet": ["info", "w\x1b[2J.parquet"],
    "no model": ["transform", "n\x1b[2J.lowdim", TABLE],
    "no JSON": ["info", "w\x1b[2J.jsonl"],
    "no database": ["info", "w\x1b[2J.db"],
    "SQL": ["fit", TABLE, "--sql", 'SELECT "\x1b[2J" FROM data'],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables and a model with such names."""
    where = tmp_path_factory.mktemp("hostile")
    table = frame_of(np.random.default_rng(0).normal(size=(40, 6)).round(3) + 2)
    table.insert(0, "who\x1b[A", [f"{HOSTILE[i % 6]}{i}" for i in range(40)])
    table["kind\x9b"] = [HOSTILE[i % 2] for i in range(40)]
    table.to_csv(where / TABLE, index=False, quoting=csv.QUOTE_ALL)
    lowdim.PCA(2).fit(lowdim.open(where / TABLE)).save(where / MODEL)
    (where / "other\x1b[2J.csv").write_text("a\x1b[2J,b\n1\x1b[31m,2\n3,x\x9b\n")
    (where / "n\x1b[2J.lowdim").write_bytes((where / MODEL).read_bytes()[:200])
    for ending in ("xlsx", "parquet", "db"):
        (where / f"w\x1b[2J.{ending}").write_bytes(b"\x1b[2J\x1b]0;pwned\x07" * 50)
    (where / "w\x1b[2J.jsonl").write_text('{"\x1b[2J": 1, "a": \x1b]0;pwned\x07}\n')
    return where


@pytest.mark.parametrize("verb", VERBS)
def test_verbs_show_them_so(verb, run, folder, monkeypatch, tally):
    monkeypatch.chdir(folder)
    ended = run(*VERBS[verb])
    assert not harm(ended.err), ended.err
    assert "Traceback" not in ended.err
    if verb in ("transform to the screen", "table", "impute"):  # a pipe gets the data as they are
        assert HOSTILE[0] in ended.out
    elif not verb.startswith("transform"):
        assert not harm(ended.out), ended.out
    if verb.endswith("json"):
        assert "\x1b" in "".join(texts_in(json.loads(ended.out)))  # who reads it gets the name itself
    assert ended.out or ended.err or "plot" in verb or "convert" in verb
    tally(4, 1, "verbs with hostile names")


def on_a_terminal(argv: list[str], folder: Path) -> str:
    """All that a command writes to a terminal."""
    main, side = pty.openpty()
    env = {**os.environ, "TERM": "xterm-256color", "LOWDIM_DEBUG": "1", "COLUMNS": "100"}
    with subprocess.Popen(
        [sys.executable, "-m", "lowdim", *argv], cwd=folder, env=env, stdin=side, stdout=side, stderr=side
    ) as process:
        os.close(side)
        said = b""
        while True:
            try:
                part = os.read(main, 2**16)
            except OSError:  # the terminal is closed
                break
            if not part:
                break
            said += part
        process.wait()
    os.close(main)
    return said.decode(errors="backslashreplace")


QUICK = ["describe", "info of a model", "transform to the screen", "no workbook", "fit debug"]


@pytest.mark.parametrize(
    "verb", [*QUICK, *(pytest.param(one, marks=pytest.mark.slow) for one in VERBS if one not in QUICK)]
)
def test_a_terminal_gets_nothing_to_obey(verb, folder, tally):
    said = OURS.sub("", on_a_terminal(VERBS[verb], folder))
    assert said
    assert "\x1b]" not in said
    assert not harm(said), said
    tally(4, 1, "verbs on a terminal with hostile names")
