"""DuckDB databases and sql over any table: the same numbers, nothing read beside the data, nothing written at all."""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import openpyxl
import pandas as pd
import pytest

import lowdim
from lowdim import PCA
from lowdim.errors import BadFile, BadParameter, LowdimError
from lowdim.sources.source import Source

NAMES = ["alpha", 'be"ta', "gamma, δ"]
X = np.random.default_rng(0).standard_normal((500, 3)) * [1, 10, 100] + [0, 5, -3]
FRAME = pd.DataFrame(X, columns=NAMES).assign(kind=["a", "b"] * 250)


def rows_of(source: Source) -> np.ndarray:
    return np.concatenate([np.asarray(block.rows) for block in source.blocks()])


def write_duckdb(path: Path, name: str = "measured") -> None:
    with duckdb.connect(str(path)) as connection:
        connection.register("incoming", FRAME)
        connection.execute(f'CREATE TABLE "{name}" AS SELECT * FROM incoming')


def write_sqlite(path: Path) -> None:
    connection = sqlite3.connect(path)
    FRAME.to_sql("measured", connection, index=False)
    connection.close()


def write_xlsx(path: Path) -> None:
    book = openpyxl.Workbook()
    for row in [list(FRAME.columns), *FRAME.to_numpy().tolist()]:
        book.active.append(row)
    book.save(path)


TABLES: dict[str, Callable[[Path], Any]] = {
    "t.parquet": FRAME.to_parquet,
    "t.csv": lambda path: FRAME.to_csv(path, index=False),
    "decimal-comma.csv": lambda path: FRAME.to_csv(path, index=False, sep=";", decimal=","),
    "t.tsv.gz": lambda path: FRAME.to_csv(path, index=False, sep="\t"),
    "t.feather": FRAME.to_feather,
    "t.jsonl": lambda path: FRAME.to_json(path, orient="records", lines=True, double_precision=15),
    "t.xlsx": write_xlsx,
    "t.sqlite": write_sqlite,
    "t.duckdb": write_duckdb,
}


def test_a_database_gives_the_same_numbers(tmp_path: Path) -> None:
    path = tmp_path / "it's.duckdb"
    write_duckdb(path)
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    source = lowdim.open(path, label="kind")
    assert source.n_rows == 500
    assert source.columns == tuple(NAMES)
    assert "measured" in source.describe()
    np.testing.assert_array_equal(rows_of(source), X)
    np.testing.assert_array_equal(rows_of(source), X)  # and once more
    assert list(source.aside("kind")[:2]) == ["a", "b"]
    model, known = PCA(2).fit(path), PCA(2).fit(X)
    np.testing.assert_allclose(model.explained_variance_, known.explained_variance_, rtol=1e-10)
    np.testing.assert_allclose(model.transform(path), known.transform(X), atol=1e-9)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before
    assert {file.name for file in tmp_path.iterdir()} == {path.name}


def test_tables_are_chosen_by_name(tmp_path: Path) -> None:
    path = tmp_path / "d.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute('CREATE TABLE "two; DROP TABLE ""one""" AS SELECT 1.5 AS "x""y", \'p\' AS t')
        connection.execute('CREATE TABLE "a.b" AS SELECT 2.5 AS x')
        connection.execute('CREATE SCHEMA other; CREATE TABLE other."a.b" AS SELECT 3.5 AS x')
        connection.execute("CREATE VIEW outside AS SELECT * FROM glob('*')")
    with pytest.raises(BadFile, match=r'4 tables, a\.b, outside, two; DROP TABLE "one" and other\.a\.b; say which'):
        lowdim.open(path)
    with pytest.raises(BadFile, match=r"there is no table 'other.a.c'; did you mean 'other.a.b'\?$"):
        lowdim.open(path, table="other.a.c")
    for table, value in {'two; DROP TABLE "one"': 1.5, "a.b": 2.5, "other.a.b": 3.5}.items():
        np.testing.assert_array_equal(rows_of(lowdim.open(path, table=table)), [[value]])
    with pytest.raises(BadFile, match="disabled by configuration"):
        lowdim.open(path, table="outside")


@pytest.mark.parametrize("name", TABLES)
def test_sql_sees_every_kind_of_table_as_data(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    TABLES[name](path)
    before = hashlib.sha256(path.read_bytes()).hexdigest()
    # the data stand twice in it, so they must be readable twice
    sql = """select alpha, 2 * "be""ta" as twice, kind from data
             where kind = 'a' and alpha > (select avg(alpha) from data) order by alpha desc; -- no more"""
    source = lowdim.open(path, sql=sql, label="kind")
    assert source.columns == ("alpha", "twice")
    assert name in source.describe()
    some = FRAME[(FRAME["kind"] == "a") & (FRAME["alpha"] > FRAME["alpha"].mean())].sort_values(
        "alpha", ascending=False
    )
    expected = np.column_stack([some["alpha"], 2 * some['be"ta']])
    # text and JSON hold 15 to 17 digits
    np.testing.assert_allclose(rows_of(source), expected, rtol=1e-13)
    np.testing.assert_allclose(rows_of(source), expected, rtol=1e-13)
    assert set(source.aside("kind")) == {"a"}
    np.testing.assert_allclose(
        PCA(1).fit(source).explained_variance_, PCA(1).fit(expected).explained_variance_, rtol=1e-10
    )
    assert hashlib.sha256(path.read_bytes()).hexdigest() == before


def test_sql_reads_a_folder_of_parquet_and_joins_tables_of_a_database(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    for i in range(5):
        FRAME[100 * i : 100 * i + 100].to_parquet(tmp_path / "parts" / f"part-{i}.parquet")
    np.testing.assert_array_equal(rows_of(lowdim.open(tmp_path / "parts", sql="select alpha from data"))[:, 0], X[:, 0])
    some = lowdim.open(str(tmp_path / "parts" / "part-[01].parquet"), sql="select count(*) as n from data")
    np.testing.assert_array_equal(rows_of(some), [[200]])
    with duckdb.connect(str(tmp_path / "d.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE a AS SELECT range AS i FROM range(5); CREATE TABLE b AS SELECT 2 * i AS i FROM a"
        )
    joined = lowdim.open(tmp_path / "d.duckdb", sql="select a.i from a join b using (i) order by i")
    np.testing.assert_array_equal(rows_of(joined), [[0], [2], [4]])
    named = lowdim.open(tmp_path / "d.duckdb", sql="select sum(i) as s from data", table="b")
    np.testing.assert_array_equal(rows_of(named), [[20]])


def test_what_sql_counts_and_sums_are_numbers(tmp_path: Path) -> None:
    FRAME.to_parquet(tmp_path / "t.parquet")
    sql = "select sum(1) as whole, 1.25::decimal(9, 2) as money, true as flag, null as nothing, [1] as list from data"
    source = lowdim.open(tmp_path / "t.parquet", sql=sql)
    assert source.left_out == {"nothing": "empty"}
    assert source.columns == ("whole", "money", "flag", "list.0")
    np.testing.assert_array_equal(rows_of(source), [[500, 1.25, 1, 1]])


HARM = {
    "copy": "copy (select 1 as a) to '{other}'",
    "copy onto the input": "copy (select 1 as a) to '{path}' (use_tmp_file false)",
    "copy after a select": "select 1 as a; copy (select 1 as a) to '{path}' (use_tmp_file false)",
    "insert": "insert into data values (1, 2, 3, 'a')",
    "insert inside of a select": "with x as (insert into data values (1, 2, 3, 'a') returning 1 as a) select * from x",
    "delete": "delete from data",
    "drop": "drop view data",
    "create": "create table t as select 1 as a",
    "attach": "attach '{other}' as o",
    "install": "install httpfs",
    "load": "load httpfs",
    "set": "set enable_external_access = true",
    "pragma": "pragma enable_profiling",
    "export": "export database '{folder}/out'",
    "call": "call pragma_version()",
    "read a text": "select * from read_csv('{secret}')",
    "read by name": "select * from '{secret}'",
    "read bytes": "select * from read_blob('{secret}')",
    "list files": "select * from glob('{folder}/*')",
    "up and down": "select * from read_csv('{folder}/inner/../secret.csv')",
    "Python's variables": "select * from FRAME",
    "secrets": "select * from duckdb_secrets()",
    "read the network": "select * from 'https://example.org/t.parquet'",
    "read JSON": "select * from read_json('{secret}')",
    "read lines of a text": "select * from read_text('{secret}')",
    "sniff": "select * from sniff_csv('{secret}')",
    "read by a pattern": "select * from '{folder}/s*.csv'",
    "read Parquet by a pattern": "select * from read_parquet('{folder}/*.parquet', filename = true) ",
    "attach a database of SQLite's": "attach '{secret}' as s (type sqlite)",
    "attach in memory": "attach ':memory:' as m",
    "use": "use main",
    "detach": "detach main",
    "checkpoint": "checkpoint",
    "vacuum": "vacuum",
    "truncate": "truncate data",
    "update": "update data set alpha = 1",
    "alter": "alter table data rename to other",
    "prepare": "prepare p as select 1 as a",
    "transaction": "begin transaction",
    "describe after a select": "select 1 as a; describe data",
    "reset": "reset enable_external_access",
    "unlock": "set lock_configuration = false",
    "copy from": "copy data from '{secret}'",
    "import": "import database '{folder}'",
    "a macro": "create macro m() as table select * from '{secret}'",
    "a secret": "create secret s (type s3)",
    "nested": "select * from query('select * from read_csv(''{secret}'')')",
}


@pytest.mark.parametrize("name", ["t.parquet", "t.csv", "t.duckdb"])
@pytest.mark.parametrize("harm", HARM)
def test_sql_reads_the_data_and_nothing_else_and_writes_nothing(harm: str, name: str, tmp_path: Path, tally) -> None:
    tally(18, 1, "statements × kinds of files")
    path = tmp_path / name
    TABLES[name](path)
    (tmp_path / "secret.csv").write_text("a\n1\n")
    before = {file: file.read_bytes() for file in tmp_path.iterdir()}
    names = {"path": path, "other": tmp_path / "other", "folder": tmp_path, "secret": tmp_path / "secret.csv"}
    with pytest.raises(LowdimError) as caught:
        rows_of(lowdim.open(path, sql=HARM[harm].format(**names)))
    assert len(str(caught.value).splitlines()) == 1
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == before


WORDS = (
    "a",
    "data",
    "select",
    "x y",
    "ä",
    "日本",
    "🙂",
    "1",
    "-1",
    "0x1",
    "NULL",
    "*",
    "%",
    "_",
    "\\",
    "/",
    "..",
    "../x",
)
QUOTES = (
    "'",
    '"',
    "`",
    "''",
    '""',
    "';",
    '";',
    "--",
    "/*",
    "*/",
    "$$",
    "?",
    ":a",
    "$1",
    "{0}",
    "%s",
    "\t",
    "\x1b[2J",
    "\u202e",
)
ATTACKS = (
    *('"; DROP TABLE data; --', "'); DELETE FROM data; --", "\" FROM data; ATTACH 'x' AS y; --", "a, (SELECT 1)"),
    *("read_csv('secret.csv')", "\" UNION SELECT * FROM 'secret.csv' --", "x' OR '1'='1", "a; PRAGMA database_list"),
    *(
        "getenv('HOME')",
        "current_setting('x')",
        "rowid",
        "sqlite_master",
        "information_schema",
        "main.data",
        "a.b",
        "a::int",
    ),
    *("CAST(a AS int)", "EXCLUDE (a)", "COLUMNS('.*')", "lambda x: x", "[1]", "{'a': 1}", "x" * 300, " a ", "A"),
)
HOSTILE = [*WORDS, *QUOTES, *ATTACKS]


@pytest.mark.parametrize("every", [9, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["parquet", "duckdb", "sqlite"])
def test_names_are_names_and_never_sql(kind: str, every: int, tmp_path: Path, tally) -> None:
    assert len(HOSTILE) >= 60
    (tmp_path / "secret.csv").write_text("a\n1\n")
    for number, name in list(enumerate(HOSTILE))[::every]:
        quoted = '"' + name.replace('"', '""') + '"'
        legal = name.replace("/", "").replace("\\", "")[:60]
        path = tmp_path / f"{number}{legal}.{kind}"
        frame = pd.DataFrame({name: [1.5, 2.5, 4.0], "beside": [1.0, 0.0, 7.0]})
        if kind == "parquet":
            frame.to_parquet(path)
        else:
            connect = duckdb.connect if kind == "duckdb" else sqlite3.connect
            table = '"' + (name if not name.lower().startswith("sqlite_") else f"t{name}").replace('"', '""') + '"'
            with contextlib.closing(connect(str(path))) as connection:
                connection.execute(f"CREATE TABLE {table} ({quoted} DOUBLE, beside DOUBLE)")
                for row in frame.itertuples(index=False):
                    connection.execute(f"INSERT INTO {table} VALUES (?, ?)", tuple(row))
                connection.commit()
        before = path.read_bytes()
        for wish in ({}, {"where": "beside < 8"}, {"sql": f"SELECT {quoted}, beside FROM data"}, {"columns": [name]}):
            source = lowdim.open(path, **wish)
            assert source.columns[0] == name
            np.testing.assert_array_equal(rows_of(source)[:, 0], frame[name])
            tally(18, 1, "hostile names of columns, tables and files")
        assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("sql", "answer"),
    [
        ("", "one SELECT, but it is empty"),
        ("-- nothing", "one SELECT, but it is empty"),
        ("select 1; select 2", "SELECT and SELECT"),
        ("selec alpha from data", "syntax error"),
        ("select alhpa from data", "alhpa"),
        ("select alpha from dat", "dat"),
        ("select alpha, alpha from data", "more than once"),
        ("select kind from data", "none of its 1 columns holds numbers"),
        ("select alpha from data where alpha > 1e9", "no rows"),
    ],
)
def test_bad_sql_ends_in_one_sentence(sql: str, answer: str, tmp_path: Path) -> None:
    FRAME.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(LowdimError, match=answer) as caught:
        rows_of(lowdim.open(tmp_path / "t.parquet", sql=sql))
    assert len(str(caught.value).splitlines()) == 1


def test_sql_needs_a_file_with_columns(tmp_path: Path) -> None:
    np.save(tmp_path / "t.npy", X)
    with pytest.raises(BadParameter, match="names of columns"):
        lowdim.open(tmp_path / "t.npy", sql="select * from data")
    with pytest.raises(BadParameter, match="choose from a table"):
        lowdim.open(X, sql="select * from data")
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(BadParameter, match="table"):
        lowdim.open(tmp_path / "t.csv", sql="select * from data", table="kind")


def test_the_private_copy_of_a_table_is_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    source = lowdim.open(tmp_path / "t.csv", sql="select alpha from data")
    assert [folder.stat().st_mode & 0o777 for folder in (tmp_path / "temporary").iterdir()] == [0o700]
    del source
    assert not list((tmp_path / "temporary").iterdir())


@pytest.mark.parametrize(("name", "sql"), [("t.duckdb", None), ("t.parquet", "select * from data")])
def test_a_package_that_is_not_there_is_named_with_its_remedy(name: str, sql: str | None, tmp_path: Path) -> None:
    TABLES[name](tmp_path / name)
    code = (
        f"import sys; sys.modules['duckdb'] = None\nimport lowdim\nlowdim.open({str(tmp_path / name)!r}, sql={sql!r})"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert 'duckdb, which is not installed: pip install "lowdim[files]"' in answer.stderr.splitlines()[-1]


def cut(path: Path, share: float) -> None:
    write_duckdb(path)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])


BAD: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "text called duckdb": ("t.duckdb", lambda path: path.write_text("a,b\n1,2\n")),
    "empty duckdb": ("t.duckdb", lambda path: path.write_bytes(b"")),
    "duckdb without tables": ("t.duckdb", lambda path: duckdb.connect(str(path)).close()),
    "duckdb of zeros": ("t.duckdb", lambda path: path.write_bytes(bytes(8) + b"DUCK" + bytes(20_000))),
    "duckdb of text": (
        "t.duckdb",
        lambda path: duckdb.connect(str(path)).execute("CREATE TABLE t AS SELECT 'a' AS a").close(),
    ),
    "duckdb without rows": (
        "t.duckdb",
        lambda path: duckdb.connect(str(path)).execute("CREATE TABLE t (a DOUBLE)").close(),
    ),
    **{f"{share:.1%} of a duckdb": ("t.duckdb", lambda path, s=share: cut(path, s)) for share in (0.001, 0.1, 0.5)},
}


@pytest.mark.parametrize("name", BAD)
def test_bad_databases_end_in_one_sentence_that_names_them(name: str, tmp_path: Path) -> None:
    filename, write = BAD[name]
    path = tmp_path / filename
    write(path)
    with pytest.raises(LowdimError) as caught:
        PCA(1).fit(path)
    assert len(str(caught.value).splitlines()) == 1
    assert filename in str(caught.value)
