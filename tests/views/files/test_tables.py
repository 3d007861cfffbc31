"""Tables written batch by batch read back with the same numbers; texts are never formulas; failures leave no trace."""

from __future__ import annotations

import csv
import datetime
import io
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import lowdim
from lowdim.errors import BadInput, BadParameter, CannotWrite, LowdimError
from lowdim.views.files.tables import ENDINGS, Form, open_table

NAMES = ["kind", "pca0", "pca1", "größe, δ"]
RNG = np.random.default_rng(0)
# every size of number, and the ones whose shortest digits are hard to find
X = RNG.standard_normal((1000, 3)) * 10.0 ** RNG.integers(-300, 300, (1000, 3))
X[:4, 0] = [5e-324, 1.7976931348623157e308, 0.1 + 0.2, -0.0]
KINDS = np.array(["a", "b, c", 'say "d"', "e\r\nf", "日本"] * 200, dtype=object)
ENDINGS_READ = [one for one in ENDINGS if ENDINGS[one] not in ("npy", "markdown")]  # Markdown is for people
ENDINGS_WITH_TEXT = [*ENDINGS_READ, ".csv.gz", ".csv.zst", ".tsv.gz", ".jsonl.zst"]


def batch(rows: slice = slice(None), dtype: str = "float64") -> dict[str, Any]:
    with np.errstate(over="ignore"):
        return dict(zip(NAMES, [KINDS[rows], *X[rows].astype(dtype).T], strict=True))


def written(path: Path, *batches: dict[str, Any], **settings: Any) -> Path:
    with open_table(path, list(batches[0]), Form(**settings)) as table:
        for one in batches:
            table.write(one)
    return path


def in_pieces(path: Path) -> Path:
    return written(path, batch(slice(0, 1)), batch(slice(1, 700)), batch(slice(700, 1000)))


def rows_of(path: Path) -> np.ndarray:
    return np.concatenate([np.asarray(block.rows) for block in lowdim.open(path).blocks()])


def cells(path: Path, **settings: Any) -> list[list[str]]:
    return list(csv.reader(io.StringIO(path.read_bytes().decode(), newline=""), **settings))


@pytest.mark.parametrize("ending", ENDINGS_WITH_TEXT)
def test_lowdim_reads_back_every_bit(ending: str, tmp_path: Path) -> None:
    path = in_pieces(tmp_path / f"table{ending}")
    np.testing.assert_array_equal(rows_of(path), X)
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
    if ending != ".npz":
        source = lowdim.open(path, label="kind")
        assert list(source.columns or ()) == NAMES[1:]
        np.testing.assert_array_equal(source.aside("kind"), KINDS)


PANDAS = {
    ".csv": lambda path: pd.read_csv(path),
    ".csv.gz": lambda path: pd.read_csv(path),
    ".tsv": lambda path: pd.read_csv(path, sep="\t"),
    ".jsonl": lambda path: pd.DataFrame(map(json.loads, path.read_text().splitlines())),
    ".parquet": pd.read_parquet,
    ".feather": pd.read_feather,
}
POLARS = {
    ".csv": pl.read_csv,
    ".csv.gz": pl.read_csv,
    ".csv.zst": pl.read_csv,
    ".tsv": lambda path: pl.read_csv(path, separator="\t"),
    ".ndjson": pl.read_ndjson,
    ".parquet": pl.read_parquet,
    ".arrow": pl.read_ipc,
}


@pytest.mark.parametrize("ending", PANDAS)
def test_pandas_reads_the_same(ending: str, tmp_path: Path) -> None:
    frame = PANDAS[ending](in_pieces(tmp_path / f"table{ending}"))
    assert list(frame.columns) == NAMES
    np.testing.assert_array_equal(frame[NAMES[1:]].to_numpy(), X)
    assert frame["kind"].tolist() == KINDS.tolist()


@pytest.mark.parametrize("ending", POLARS)
def test_polars_reads_the_same(ending: str, tmp_path: Path) -> None:
    frame = POLARS[ending](in_pieces(tmp_path / f"table{ending}"))
    assert frame.columns == NAMES
    np.testing.assert_array_equal(frame[NAMES[1:]].to_numpy(), X)
    assert frame["kind"].to_list() == KINDS.tolist()


def test_numpy_reads_the_same(tmp_path: Path) -> None:
    numbers = {name: column for name, column in batch().items() if name != "kind"}
    np.testing.assert_array_equal(np.load(written(tmp_path / "t.npy", numbers)), X)
    assert lowdim.open(tmp_path / "t.npy").n_rows == 1000
    with np.load(in_pieces(tmp_path / "t.npz"), allow_pickle=False) as arrays:
        np.testing.assert_array_equal(arrays["values"], X)
        assert arrays["columns"].tolist() == NAMES[1:]
        assert arrays["kind"].tolist() == KINDS.tolist()


@pytest.mark.parametrize("ending", [*ENDINGS_WITH_TEXT, ".npy"])
def test_float32_stays_float32(ending: str, tmp_path: Path) -> None:
    values = RNG.standard_normal((50, 2)).astype(np.float32) * np.float32(10) ** RNG.integers(-30, 30, (50, 2))
    values = values.astype(np.float32)
    path = written(tmp_path / f"t{ending}", {"a": values[:, 0], "b": values[:, 1]})
    found = rows_of(path)
    np.testing.assert_array_equal(found.astype(np.float32), values)
    if ENDINGS["." + ending.split(".")[1]] in ("parquet", "feather", "npy", "npz"):
        assert found.dtype == np.float32


def test_text_has_the_fewest_digits(tmp_path: Path) -> None:
    columns = {"a": np.array([0.1, 1e22]), "b": np.array([0.1, 2e-5], dtype="f4"), "c": np.array([-3, 2**62])}
    assert written(tmp_path / "t.csv", columns).read_text() == "a,b,c\n0.1,0.1,-3\n1e+22,0.00002,4611686018427387904\n"
    whole = {"a": np.array([59.0, -0.0, 2.0**53]), "b": np.array([59.0, 2.0**24, 1e-7], dtype="f4")}
    assert written(tmp_path / "t.csv", whole).read_text() == "a,b\n59,59\n-0,16777216\n9007199254740992,1e-7\n"


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".parquet", ".feather", ".npz", ".xlsx"])
def test_missing_values_come_back_missing(ending: str, tmp_path: Path) -> None:
    path = written(tmp_path / f"t{ending}", {"a": np.array([1.0, np.nan, 3.0])})
    np.testing.assert_array_equal(rows_of(path)[:, 0], [1, np.nan, 3])
    if ending != ".npz":
        path = written(tmp_path / f"u{ending}", {"t": ["x", None, float("nan"), pd.NA], "a": np.arange(4.0)})
        assert pd.isna(lowdim.open(path, label="t").aside("t")).tolist() == [False, True, True, True]


def test_labels_may_be_flags_counts_dates_or_numbers_as_objects(tmp_path: Path) -> None:
    columns = {
        "flag": np.array([True, False]),
        "count": np.array([7, -8], dtype=">i4"),
        "day": np.array(["2026-01-02", "NaT"], dtype="M8[D]"),
        "mixed": np.array([-1.5, 10**30], dtype=object),
    }
    text = written(tmp_path / "t.csv", columns).read_text()
    assert text.splitlines()[1:] == ["true,7,2026-01-02,-1.5", f"false,-8,,{10**30}"]
    found = pl.read_parquet(written(tmp_path / "t.parquet", columns))
    assert found["flag"].to_list() == [True, False]
    assert found["count"].to_list() == [7, -8]
    assert found["day"].to_list() == [datetime.date(2026, 1, 2), None]


def test_whole_numbers_with_a_hole_further_down_stay_whole(tmp_path: Path) -> None:
    path = written(tmp_path / "t.parquet", {"id": np.array([1, 2])}, {"id": np.array([3.0, np.nan])})
    assert pl.read_parquet(path)["id"].to_list() == [1, 2, 3, None]


@pytest.mark.parametrize(
    "ending", [".csv", ".tsv.gz", ".md", ".jsonl", ".xlsx", ".parquet", ".feather", ".npz", ".npy"]
)
def test_a_table_without_rows_is_a_table(ending: str, tmp_path: Path) -> None:
    with open_table(tmp_path / f"t{ending}", ["a", "b"]):
        pass
    assert (tmp_path / f"t{ending}").exists()
    if ending == ".npy":
        assert np.load(tmp_path / "t.npy").shape == (0, 2)
    if ending == ".parquet":
        assert pl.read_parquet(tmp_path / "t.parquet").shape == (0, 2)


def test_the_same_table_gives_the_same_bytes(tmp_path: Path) -> None:
    for ending in (".csv.gz", ".csv.zst", ".parquet", ".feather", ".npz", ".xlsx"):
        one, two = in_pieces(tmp_path / f"one{ending}"), in_pieces(tmp_path / f"two{ending}")
        assert one.read_bytes() == two.read_bytes()


def test_standard_output_is_csv(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    for target in ("-", None, Path("-")):
        with open_table(target, NAMES) as table:
            table.write(batch())
            assert table.n_rows == 1000
        assert capsysbinary.readouterr().out == in_pieces(tmp_path / "t.csv").read_bytes()


# -- formulas -----------------------------------------------------------------------------------------------------

WIDE = "\uff1d\uff0b\uff0d\uff20"  # full-width forms of = + - @
STARTS = [*"=+-@\t\r\n\0", *WIDE, " =", "  @", "\ufeff="]
ENDS = [
    *("", "1+1", "cmd|' /C calc'!A0", 'HYPERLINK("http://x","y")', "SUM(A1:A9);2", "ünï\u2028🙂", '"\n=1', "1.5"),
    *(
        "WEBSERVICE(A1)",
        "IMPORTXML(CONCAT(A1),A2)",
        "DDE(A1;A2)",
        "MSEXCEL|'\\\\x'!''",
        "A1",
        "-A1",
        "=A1",
        " 1",
        "\t1",
    ),
    *("1e5", "+1", "'x", '""', ",x", ";x", "|x", "\r\n=1", "x\x1b[31m", "\u202ex", "%0A", "{1}", "INDIRECT(A1)", "@x"),
    *("RTD(A1)", "CALL(A1)", "EXEC(A1)", "REGISTER(A1)", "cmd.exe|'/k'!x"),
]
DANGEROUS = [start + end for start in STARTS for end in ENDS]
HARMLESS = ["", "a=1", "1-2", "'=1", "a\n=1", "x;=1+1", "é", "日本", "🙂", " a", "#N", '"=1"', "(1)", "a|=1", "a\t=1"]


def runs(cell: str) -> bool:
    """Whether a spreadsheet may take a cell for a formula."""
    return cell.lstrip(" \ufeff")[:1] in tuple("=+-@\t\r\n\0" + WIDE)


@pytest.mark.parametrize(("ending", "delimiter"), [(".csv", ","), (".tsv", "\t")])
def test_no_label_is_a_formula(ending: str, delimiter: str, tmp_path: Path, tally: Any) -> None:
    assert len(DANGEROUS) >= 500
    tally(19, len(DANGEROUS), f"labels in {ending}")
    labels = DANGEROUS + HARMLESS
    values = -np.arange(1.0, len(labels) + 1)
    path = written(tmp_path / f"t{ending}", {"label": labels, "value": values})
    rows = cells(path, delimiter=delimiter)[1:]
    assert [row[0] for row in rows] == [f"'{one}" for one in DANGEROUS] + HARMLESS
    assert not any(runs(row[0]) for row in rows if row[0])
    assert [float(row[1]) for row in rows] == values.tolist()  # numbers are left alone


def test_no_header_is_a_formula(tmp_path: Path, tally: Any) -> None:
    tally(19, len(DANGEROUS), "names of columns")
    assert "-1.5" in DANGEROUS
    columns = {name: np.array([-1.5]) for name in DANGEROUS}
    header, row = cells(written(tmp_path / "t.csv", columns))
    assert header == [f"'{name}" for name in DANGEROUS]
    assert set(row) == {"-1.5"}


def test_a_sheet_that_cuts_at_other_delimiters_finds_no_formula(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", {"label": ["x;=1+1", "x|=1", "x\t=1"], "value": np.ones(3)})
    for delimiter in ";|\t":
        assert not any(runs(cell) for row in cells(path, delimiter=delimiter) for cell in row)


def test_raw_texts_and_other_kinds_are_left_as_they_are(tmp_path: Path) -> None:
    columns = {"=a": DANGEROUS, "b": np.arange(float(len(DANGEROUS)))}
    header, *rows = cells(written(tmp_path / "t.csv", columns, raw=True))
    assert header == ["=a", "b"]
    assert [row[0] for row in rows] == DANGEROUS
    assert pl.read_parquet(written(tmp_path / "t.parquet", columns))["=a"].to_list() == DANGEROUS
    lines = written(tmp_path / "t.jsonl", columns).read_bytes().decode().split("\n")[:-1]
    assert [json.loads(line)["=a"] for line in lines] == DANGEROUS


# -- failures -----------------------------------------------------------------------------------------------------

EVERY = [".csv", ".csv.gz", ".csv.zst", ".tsv", ".md", ".jsonl", ".xlsx", ".parquet", ".feather", ".npy", ".npz"]


class Stop(Exception):
    pass


def numbers(seed: int) -> dict[str, np.ndarray]:
    rows = np.random.default_rng(seed).standard_normal((2000, 2))
    return {"a": rows[:, 0], "b": rows[:, 1]}


@pytest.mark.parametrize("ending", EVERY)
@pytest.mark.parametrize("batches", [0, 1, 3])
@pytest.mark.parametrize("error", [Stop, KeyboardInterrupt])
def test_an_error_between_batches_leaves_the_old_file(
    ending: str, batches: int, error: type[BaseException], tmp_path: Path
) -> None:
    path = written(tmp_path / f"t{ending}", numbers(0))
    before = path.read_bytes()
    with pytest.raises(error), open_table(path, ["a", "b"]) as table:  # noqa: PT012  the error must come inside
        for seed in range(batches):
            table.write(numbers(seed))
        raise error
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Let the system refuse to make any file larger than so many bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("ending", EVERY)
@pytest.mark.parametrize("size", [0, 100, 9_000, 40_000])
def test_a_disk_that_takes_no_more_leaves_the_old_file(ending: str, size: int, tmp_path: Path) -> None:
    path = written(tmp_path / f"t{ending}", numbers(0))
    before = path.read_bytes()
    with (
        largest_file(size),
        pytest.raises(CannotWrite, match=rf"t{re.escape(ending)}: cannot be written \(File too large\); check"),
    ):
        written(path, *map(numbers, range(1, 4)))
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("ending", EVERY)
@pytest.mark.parametrize("step", ["fsync", "replace", "fchmod"])
def test_a_failure_at_the_last_steps_leaves_the_old_file(
    ending: str, step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / f"t{ending}", numbers(0))
    before = path.read_bytes()

    def failing(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, failing)
    with pytest.raises(CannotWrite, match="No space left on device"):
        written(path, numbers(1))
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_places_that_cannot_be_written_end_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    os.mkfifo(tmp_path / "pipe.csv")
    for place in ("nowhere/t.csv", "folder.csv", "pipe.csv", "a" * 300 + ".csv", "folder.csv/../nowhere/t.npz"):
        with pytest.raises(CannotWrite) as caught:
            written(tmp_path / place, numbers(0))
        assert len(str(caught.value).splitlines()) == 1
        assert str(tmp_path / place) in str(caught.value)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["folder.csv", "pipe.csv"]


def test_a_folder_for_reading_only_is_named() -> None:
    code = (
        "import os\n"
        "from lowdim.views.files.tables import open_table\n"
        "with open_table('-', ['a']): pass\n"  # loads what it needs while it may
        "os.geteuid() == 0 and os.seteuid(65534)\n"  # root may write everywhere
        "with open_table('t.csv', ['a']) as table: table.write({'a': [1.0]})"
    )
    with tempfile.TemporaryDirectory() as folder:  # pytest's own folders are hidden from everybody else
        os.chmod(folder, 0o555)
        answer = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False)
    assert "CannotWrite: t.csv: cannot be written (Permission denied); check" in answer.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    "name", ["t.xls", "t.xyz", "table", ".csv", "t.parquet.gz", "t.gz", "t.csv.bz2", "t.txt", "t.npy.zst", "t.lowdim"]
)
def test_unknown_endings_name_the_known_ones(name: str, tmp_path: Path) -> None:
    with pytest.raises(BadParameter, match=r"are not written; \.csv, .*\.npz are \(text files also with"):
        written(tmp_path / name, numbers(0))
    assert not list(tmp_path.iterdir())


BATCHES: dict[str, tuple[str, list[dict[str, Any]], str]] = {
    "another column": ("t.csv", [{"a": [1.0]}, {"b": [1.0]}], r"odd ones: \['a', 'b'\]"),
    "unequal lengths": ("t.csv", [{"a": [1.0], "b": [1.0, 2.0]}], r"equal lengths, but there are \[1, 2\]"),
    "two axes": ("t.csv", [{"a": np.ones((2, 2))}], "one axis"),
    "text in npy": ("t.npy", [{"kind": ["x"], "a": [1.0]}], "'kind' is text; leave it out, or write .npz"),
    "a text called values": ("t.npz", [{"values": ["x"], "a": [1.0]}], "cannot be called 'values'"),
    "text only in npz": ("t.npz", [{"kind": ["x"]}], "needs a column of numbers"),
    "text after numbers": ("t.parquet", [{"a": [1.0]}, {"a": ["x"]}], "another kind of values than the first"),
    "text after numbers, npz": ("t.npz", [{"a": [1.0]}, {"a": ["x"]}], "'a' is text"),
    "infinite": ("t.jsonl", [{"a": [np.inf]}], "column 'a' holds infinite numbers, which JSON has not; write CSV"),
    "no Unicode": ("t.csv", [{"kind": ["x\udc80"], "a": [1.0]}], "not valid Unicode"),
    "no Unicode in Arrow": ("t.parquet", [{"kind": ["x\udc80"], "a": [1.0]}], "not valid Unicode"),
}


@pytest.mark.parametrize("name", BATCHES)
def test_batches_that_do_not_fit_end_in_one_sentence(name: str, tmp_path: Path) -> None:
    file, batches, message = BATCHES[name]
    with pytest.raises(LowdimError, match=message) as caught:
        written(tmp_path / file, *batches)
    assert len(str(caught.value).splitlines()) == 1
    assert file in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_names_that_stand_twice_are_refused(tmp_path: Path) -> None:
    with (
        pytest.raises(BadInput, match=r"t\.csv: the column name 'a' would stand 2 times"),
        open_table(tmp_path / "t.csv", ["a", "b", "a"]),
    ):
        pass
    assert not list(tmp_path.iterdir())


# -- without pyarrow ----------------------------------------------------------------------------------------------


def without_arrow(path: Path) -> subprocess.CompletedProcess[str]:
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from lowdim.views.files.tables import open_table\n"
        f"with open_table({str(path)!r}, ['k', 'a']) as table: table.write({{'k': ['=x'], 'a': [0.5]}})"
    )
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("ending", [".csv", ".tsv.gz", ".jsonl", ".npz", ".xlsx"])
def test_text_and_numpy_files_need_no_other_package(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"t{ending}"
    assert without_arrow(path).stderr == ""
    np.testing.assert_array_equal(rows_of(path), [[0.5]])


@pytest.mark.parametrize("ending", [".parquet", ".feather", ".csv.zst"])
def test_a_package_that_is_not_there_is_named_with_its_remedy(ending: str, tmp_path: Path) -> None:
    last = without_arrow(tmp_path / f"t{ending}").stderr.splitlines()[-1]
    assert 'needs pyarrow, which is not installed: pip install "lowdim[files]"' in last
    assert not list(tmp_path.iterdir())
