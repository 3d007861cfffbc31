"""Files changed at random: each is read, or refused in lowdim's own words; none ends the process."""

from __future__ import annotations

import random
import re
import time
import warnings
from pathlib import Path

import pytest
from tests.harness import Tally, many
from tests.sources.mutations import WRITERS, seed_of

from lowdim.errors import BadFile, LowdimError
from lowdim.sources.files import Wish, open_paths, source_of
from lowdim.sources.isolated.process import Child
from lowdim.sources.isolated.tables import IsolatedReader, isolated_array
from lowdim.sources.kinds import ISOLATED, find_files
from lowdim.sources.tables.text_columns import TextColumnsReader

IN_PROCESS = ("npy", "npz", "plink")
"""Read by lowdim and Python alone: no parser of a foreign package sees them."""

LARGE = ("long.csv", "long.jsonl", "t.h5ad")
"""Those of which one takes as long as many others."""

MAX_SECONDS = 10
"""Of the processor, for one file."""


class Reading:
    """Files read one after the other by one child, so that thousands take no thousand children."""

    def __init__(self, folder: Path):
        self._folder, self._count = folder, 0
        self._child: Child | None = None
        self.deaths, self.reads = 0, 0

    def read(self, name: str, data: bytes) -> str:
        """What becomes of a file: "read", or the words in which it is refused."""
        path = self._folder / name
        path.write_bytes(data)
        self._count += 1
        if self._child is None or self._count % 500 == 0:
            self.end()
            anchor = self._folder / f"anchor-{name}"  # the child is for one file that stays as it is
            anchor.write_bytes(bytes(2**16))
            self._child = Child([anchor])
        try:
            found = find_files(str(path))
            if found.kind in IN_PROCESS:
                source = open_paths(path, Wish())
            elif found.kind in ("hdf5", "zarr", "h5ad", "pictures"):
                more = {"text": str(path), "selection": Wish().selection, "name": None, "size": None}
                source = isolated_array([path], self._child, kind=found.kind, **more)
            else:
                reader = IsolatedReader(self._child, found.kind, path, None, Wish().lines)
                source = source_of(TextColumnsReader(reader), Wish())
            for _ in source.blocks():
                pass
        except LowdimError as error:
            said, named = str(error), not isinstance(error, BadFile)
        else:
            self.reads += 1
            return "read"
        assert "seconds of the processor" not in said, said
        assert "after it was opened" not in said, said
        if "crashed" in said or "memory that a file" in said:
            self.deaths += 1
            self.end()
            assert found.kind in ISOLATED, said  # others would have ended this process
        assert named or name in said, said
        assert not re.search(r"cannot be read \(\w+: .*check what wrote it", said), said  # an error of a package
        return said

    def end(self) -> None:
        """End the child."""
        if self._child is not None:
            self._child.end()
        self._child = None


def try_files(name: str, folder: Path, count: int, seed: int) -> Reading:
    """So many files made of one."""
    data, change = seed_of(name, folder)
    reading, rng = Reading(folder), random.Random(seed)
    assert reading.read(name, data) == "read"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(count):
            made, began = change(data, rng), time.process_time()
            try:
                reading.read(name, made)
            except BaseException as error:
                kept = folder / f"{number}-{name}"
                kept.write_bytes(made)
                raise AssertionError(f"{kept}: {type(error).__name__}: {error}") from error
            assert time.process_time() - began < MAX_SECONDS
    reading.end()
    return reading


@pytest.mark.parametrize("name", WRITERS)
def test_changed_files_are_read_or_refused(name: str, tmp_path: Path, tally: Tally) -> None:
    count = 8 if name in LARGE else 30
    try_files(name, tmp_path, count, seed=0)
    tally(5, count, f"tables ({name.partition('.')[2]})")


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITERS)
def test_many_changed_files_are_read_or_refused(name: str, tmp_path: Path, tally: Tally) -> None:
    count = many(300 if name in LARGE else 2_000, 200_000 if name == "t.json" else 20_000)
    reading = try_files(name, tmp_path, count, seed=1)
    assert reading.reads > count / 200
    tally(5, count, f"tables ({name.partition('.')[2]})")
    tally(5, f"{reading.deaths} of {count:,}", f"children that {name} ended")
