"""A memory budget holds for training a network: rows, those set aside, buffers, weights and what PyTorch loads."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lowdim.models.autoencoder.plan import estimate_memory
from lowdim.models.autoencoder.solvers.network import Shape

CHILD = """
import json, sys
from lowdim.models.autoencoder.model import Autoencoder
model = Autoencoder(2, hidden=(16,), max_iter=1, batch_size=2048, memory=int(sys.argv[2])).fit(sys.argv[1])
with open("/proc/self/status") as lines:
    peak = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
print(json.dumps([peak, model.fit_.provenance.reason]))
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peaks are read from /proc")
def test_training_on_a_file_stays_within_the_budget(tmp_path):
    """240 MB as float32, 480 MB with their holes; Python and PyTorch alone are about 500 MB."""
    path, limit = tmp_path / "x.npy", 700_000_000
    rows = np.lib.format.open_memmap(path, "w+", np.float32, (150_000, 400))
    rows[:] = np.random.default_rng(0).random(rows.shape, dtype=np.float32)
    rows[::7, 3] = np.nan
    rows.flush()
    given = [str(path), str(limit)]
    answer = subprocess.run([sys.executable, "-c", CHILD, *given], capture_output=True, text=True, timeout=200)
    assert answer.returncode == 0, answer.stderr
    peak, reason = json.loads(answer.stdout)
    assert "within a buffer" in reason
    assert peak <= limit


def test_the_pairs_of_lbfgs_are_counted():
    """Twenty pairs of float64 vectors, against ten vectors of float32."""
    shape = Shape(50, (40,), 3, "silu", "mse")
    least = 2 * 20 * 8 * shape.n_weights
    assert estimate_memory(shape, 0, "lbfgs") - estimate_memory(shape, 0, "adam") > least - 10 * 4 * shape.n_weights
