"""docs/command-line.md prints what the commands print. `python tests/cli/test_docs.py` writes it anew."""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

from lowdim.cli.errors import EXITS
from lowdim.cli.main import VERBS, main

PAGE = Path(__file__).resolve().parents[2] / "docs" / "command-line.md"
BLOCK = re.compile(r"(?<=```console\n).*?(?=```)", re.DOTALL)


def answered(block: str) -> str:
    """A block of commands with what they print, run one after the other where we are."""
    said: list[str] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            said += [line, *printed(line[2:])]
    return "".join(f"{line.rstrip()}\n" for line in said)


def printed(command: str) -> list[str]:
    """Lines of a command; ours are run in this process, which spares the start of Python, and feed a pipe's rest."""
    given, said = b"", []
    while command.startswith("lowdim"):
        ours, _, command = command.partition(" | ")
        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
        with redirect_stdout(out), redirect_stderr(err), piped(given):
            main(shlex.split(ours)[1:])
        given = out.buffer.getvalue()
        said += err.buffer.getvalue().decode().splitlines()
    if command:
        ended = subprocess.run(["bash", "-c", command], input=given, capture_output=True, check=False)
        given = ended.stdout
        said += ended.stderr.decode().splitlines()
    return [*given.decode().splitlines(), *said]


@contextmanager
def piped(given: bytes) -> Iterator[None]:
    """Standard input holds this."""
    before, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(given))
    try:
        yield
    finally:
        sys.stdin = before


def rewritten(page: str) -> str:
    """The page with what commands print now; a block that differs only by the machine stays as it is."""

    def now(found: re.Match[str]) -> str:
        said = answered(found[0])
        return found[0] if about(said) == about(found[0]) else said

    return BLOCK.sub(now, page)


def about(page: str) -> str:
    """A page without what differs between machines: last digits, versions, memory."""
    for pattern in (
        r"\d\.\d+e-\d+",
        r"\de-\d+",
        r"to \d+ digits",
        r"(numpy|scipy) [\d.]+",
        r"about [\d.]+ \wB",
        r"\d+\.\d{9,}",
    ):
        page = re.sub(pattern, "#", page)
    return page


def test_the_page_prints_what_the_commands_print(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("lowdim.runtime.memory.resident_bytes", lambda: 10**8)  # whatever tests before have left
    page = PAGE.read_text()
    assert about(rewritten(page)) == about(page)


def test_the_page_has_every_exit_code_and_every_verb():
    page = PAGE.read_text()
    codes = set(map(int, re.findall(r"^\| (\d+) \|", page, flags=re.MULTILINE)))
    assert codes == {0, 1, 2, 3, 4, 5, 6, 130} >= {code for _, code in EXITS}
    assert all(f"$ lowdim {verb} " in page or f"$ lowdim {verb}\n" in page for verb in VERBS if verb != "describe")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        PAGE.write_text(rewritten(PAGE.read_text()))
