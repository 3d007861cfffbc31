"""Every fit says how far it is and can be stopped; scikit-learn's callbacks hear of it."""

from __future__ import annotations

import sys
import warnings
from itertools import pairwise

import numpy as np
import pytest
import sklearn

import lowdim
from lowdim.errors import Interrupted, LowdimWarning, NeedsExtra, NotConverged
from lowdim.models.registry import FOLDERS
from lowdim.runtime.progress import Progress, watching

rng = np.random.default_rng(0)
X = rng.standard_normal((400, 4)) @ rng.standard_normal((4, 20)) + rng.standard_normal((400, 20))
HOLES = np.where(rng.random(X.shape) < 0.1, np.nan, X)
PARTS = np.abs(X)
PEOPLE = np.repeat(np.arange(20), 20)
PICTURE = np.round(128 + 60 * np.sin(np.add.outer(np.arange(40) / 3, np.arange(40) / 5)))
TORN = np.where(rng.random(PICTURE.shape) < 0.1, np.nan, PICTURE)

FITS = {
    "PCA": lambda: lowdim.PCA(3).fit(X),
    "PCA, block Lanczos": lambda: lowdim.PCA(3, svd_solver="lanczos").fit(X),
    "PCA, with holes": lambda: lowdim.PCA(3, missing="ppca").fit(HOLES),
    "IncrementalPCA": lambda: lowdim.IncrementalPCA(3).fit(X),
    "TruncatedSVD": lambda: lowdim.TruncatedSVD(3).fit(X),
    "ProbabilisticPCA": lambda: lowdim.ProbabilisticPCA(3).fit(HOLES),
    "ProbabilisticPCA, auto": lambda: lowdim.ProbabilisticPCA("auto").fit(HOLES),
    "PPCAMixture": lambda: lowdim.PPCAMixture(2, 3).fit(HOLES),
    "KernelPCA": lambda: lowdim.KernelPCA(3, kernel="rbf", eigen_solver="lanczos").fit(X),
    "KernelPCA, landmarks": lambda: lowdim.KernelPCA(3, kernel="rbf", eigen_solver="landmarks").fit(X),
    "NMF": lambda: lowdim.NMF(3, n_init=2).fit(PARTS),
    "NMF, counted": lambda: lowdim.NMF("held_out").fit(PARTS[:60]),
    "NMF, penalties": lambda: lowdim.NMF(3, alpha_W=0.1).fit(PARTS),
    "LogisticPCA": lambda: lowdim.LogisticPCA(2).fit((X > 0).astype(float)),
    "VectorQuantizer": lambda: lowdim.VectorQuantizer(4).fit(X),
    "Autoencoder": lambda: lowdim.Autoencoder(2, max_iter=4).fit(X),
    "PCRegression": lambda: lowdim.PCRegression(compare=True).fit(X, X[:, 0]),
    "Recogniser": lambda: lowdim.Recogniser().fit(X, PEOPLE),
    "GenotypePCA": lambda: lowdim.GenotypePCA(2).fit(rng.integers(0, 3, (40, 300)).astype(np.int8)),
    "choose_k": lambda: lowdim.choose_k(X),
    "compare": lambda: lowdim.compare(PARTS, ["pca", "nmf"], 3),
    "uncertainty": lambda: lowdim.PCA(3).fit(X).uncertainty(X, n_resamples=50),
    "denoise": lambda: lowdim.denoise(PICTURE + rng.standard_normal(PICTURE.shape), 5.0),
    "inpaint": lambda: lowdim.inpaint(TORN),
    "topics": lambda: lowdim.topics(["red green blue", "red red green", "blue sky", "sky and sea", "sea blue"] * 8, 2),
    "redundant": lambda: lowdim.redundant(X),
}


def run(name, watcher):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LowdimWarning)
        with watching(watcher):
            FITS[name]()


@pytest.mark.parametrize("name", FITS)
def test_its_share_rises(name):
    seen: list[Progress] = []
    run(name, seen.append)
    shares = [one.share for one in seen if one.share is not None]
    assert shares, "nothing was said"
    assert all(0 <= share <= 1 for share in shares)
    # one that falls is of another whole, which has just begun
    assert all(later >= before or later < 0.5 for before, later in pairwise(shares))


@pytest.mark.parametrize("name", FITS)
def test_it_can_be_stopped(name):
    moves: list[Progress] = []

    def stop(progress):
        moves.append(progress)
        return len(moves) == 1

    with pytest.raises(Interrupted):
        run(name, stop)
    assert len(moves) == 1  # it was asked after one turn, and made no other


def test_every_model_is_here():
    assert {name.partition(",")[0] for name in FITS} >= set(FOLDERS)


@pytest.mark.parametrize(
    "fit",
    [
        lambda: lowdim.PCA(3, scale=True).fit(np.c_[X, np.ones(400)]),
        lambda: lowdim.NMF(3, max_iter=2).fit(PARTS),
        lambda: lowdim.ProbabilisticPCA(3, max_iter=2, tol=1e-15).fit(HOLES),
        lambda: lowdim.LogisticPCA(2, max_iter=2).fit((X > 0).astype(float)),
        lambda: lowdim.KernelPCA(3, kernel="rbf", eigen_solver="lanczos", max_iter=1, tol=1e-12).fit(X),
    ],
)
def test_warnings_of_a_fit_are_at_the_users_line(fit):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit()
    told = [one for one in caught if isinstance(one.message, (LowdimWarning, NotConverged))]
    assert told
    assert {one.filename for one in told} == {__file__}


# scikit-learn's callbacks


class Recording:
    """Keeps what it is told; may ask for no more steps."""

    def __init__(self, last_step=None):
        self.told, self.last_step, self.fitted = [], last_step, None

    def setup(self, estimator, context):
        self.told.append("setup")

    def teardown(self, estimator, context):
        self.told.append("teardown")

    def on_fit_task_begin(self, estimator, context, *, X=None):
        self.told.append(("begin", context.task_name, context.task_id, context.max_subtasks))

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self.told.append(("end", context.task_name, context.task_id))
        if fitted_estimator is not None:
            self.fitted = fitted_estimator
        return context.task_name == "step" and context.max_subtasks == 0 and context.task_id == self.last_step


newer = pytest.mark.skipif(
    tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 9), reason="callbacks came with scikit-learn 1.9"
)


@newer
def test_callbacks_hear_of_steps_and_can_end_them():
    callback = Recording(last_step=4)
    model = lowdim.NMF(3, tol=1e-12)
    assert model.set_callbacks(callback) is model
    with pytest.warns(NotConverged, match="stopped after 5 steps"):
        model.fit(PARTS)
    assert model.n_iter_ == 5
    assert callback.told[:3] == ["setup", ("begin", "fit", 0, None), ("begin", "start", 0, 1)]
    assert callback.told.count(("begin", "step", 0, 0)) == 1
    assert callback.told[-2:] == [("end", "fit", 0), "teardown"]
    begun = [one[1:3] for one in callback.told if one[0] == "begin"]
    ended = [one[1:3] for one in callback.told if one[0] == "end"]
    assert sorted(begun) == sorted(ended)
    assert callback.fitted.transform(PARTS).shape == (400, 3)
    callback.told.clear()
    model.set_callbacks().fit(PARTS[:50])
    assert not callback.told


@newer
@pytest.mark.parametrize("name", ["pca", "ppca", "mixture"])
def test_callbacks_in_pipelines_and_beside_watchers(name, capsys):
    from sklearn.callback import ProgressBar
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = {"pca": lowdim.PCA(3), "ppca": lowdim.ProbabilisticPCA(3), "mixture": lowdim.PPCAMixture(2, 2)}[name]
    seen: list[Progress] = []
    with watching(seen.append):
        make_pipeline(StandardScaler(), model).set_callbacks(ProgressBar(max_propagation_depth=None)).fit(X)
    assert seen
    assert type(model).__name__ in capsys.readouterr().out


@newer
def test_what_a_callback_raises_ends_the_fit_and_leaves_nothing_open():
    class Failing(Recording):
        def on_fit_task_end(self, estimator, context):
            raise ValueError("enough")

    callback = Failing()
    with pytest.raises(ValueError, match="enough"):
        lowdim.PCA(2).set_callbacks(callback).fit(X)
    assert callback.told[-1] == "teardown"
    seen: list[Progress] = []
    with watching(seen.append):
        lowdim.PCA(2).fit(X)
    assert seen[0].stages[0].name == "fit"


def test_without_callbacks_in_scikit_learn_it_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.callback", None)
    with pytest.raises(NeedsExtra, match=r"need scikit-learn 1\.9 or newer"):
        lowdim.PCA(2).set_callbacks(Recording())
