"""memory= counts what a child holds."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.harness import Tally

PROGRAM = """
import gc, json, resource, sys
import lowdim
path, memory = sys.argv[1:]
try:
    said = lowdim.PCA(3, memory=memory).fit(path).explained_variance_.tolist()
except lowdim.errors.TooLarge as error:
    said = str(error)
gc.collect()  # which ends the child, whose peak is known then
with open("/proc/self/status") as lines:
    own = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
child = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(json.dumps([said, 1024 * own, 1024 * child]))
"""


def write_lines(path: Path, X: np.ndarray) -> None:
    with open(path, "w") as file:
        file.writelines(json.dumps({f"x{j}": x for j, x in enumerate(row)}) + "\n" for row in X.tolist())


def write_hdf5(path: Path, X: np.ndarray) -> None:
    with pytest.importorskip("h5py").File(path, "w") as file:
        file.create_dataset("x", data=np.tile(X, (4, 1)), chunks=(1000, X.shape[1]))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="peaks are read from /proc")
@pytest.mark.parametrize(("name", "memory"), [("t.jsonl", 420), ("t.h5", 300), ("t.h5", 400)])
def test_a_budget_holds_with_the_child(name: str, memory: int, tmp_path: Path, tally: Tally) -> None:
    X = np.random.default_rng(0).normal(size=(150_000, 30)) * np.linspace(3, 1, 30)
    (write_lines if name == "t.jsonl" else write_hdf5)(tmp_path / name, X)
    asked = [sys.executable, "-c", PROGRAM, str(tmp_path / name), f"{memory}MB"]
    answer = subprocess.run(asked, capture_output=True, text=True, check=False)
    said, own, child = json.loads(answer.stdout)
    assert child > 2**24
    assert own + child <= memory * 10**6
    expected = np.linalg.eigvalsh(np.cov(X.T))[::-1][:3]
    np.testing.assert_allclose(said, expected, rtol=1e-4)  # n − 1 of four times as many rows
    tally(9, f"{own / 1e6:.0f} + {child / 1e6:.0f} of {memory} MB", f"peak of PCA and its child, {name}")
