"""A fit that is killed at any moment goes on from its checkpoint, and ends in the same bits."""

from __future__ import annotations

import random
import subprocess
import sys
import time

import numpy as np
import pytest

import lowdim

FIT = """
import sys, numpy as np, lowdim
model = lowdim.ProbabilisticPCA(4, checkpoint=sys.argv[2], tol=1e-10).fit(np.load(sys.argv[1]))
model.save(sys.argv[3])
"""


@pytest.mark.slow
def test_kills_lose_nothing(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 4)) @ rng.standard_normal((4, 30)) + rng.standard_normal((3000, 30))
    X[rng.random(X.shape) < 0.6] = np.nan
    np.save(tmp_path / "x.npy", X)
    paths = [str(tmp_path / name) for name in ("x.npy", "state.part.lowdim", "m.lowdim")]
    chance, kills, state = random.Random(0), 0, tmp_path / "state.part.lowdim"
    while True:
        before = state.stat().st_mtime_ns if state.exists() else 0
        process = subprocess.Popen([sys.executable, "-c", FIT, *paths])
        while process.poll() is None:
            if kills < 8 and state.exists() and state.stat().st_mtime_ns != before:
                time.sleep(chance.uniform(0.0, 0.03))  # somewhere in the next step, or while it is being written
                process.kill()
                break
            time.sleep(0.001)
        if process.wait() == 0:
            break
        assert process.returncode == -9
        kills += 1
    assert kills > 0
    again, whole = lowdim.load(paths[2]), lowdim.ProbabilisticPCA(4, tol=1e-10).fit(X)
    np.testing.assert_array_equal(again.components_, whole.components_)
    assert again.loglik_path_.tolist() == whole.loglik_path_.tolist()
