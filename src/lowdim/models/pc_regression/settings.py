"""Settings of a regression on principal components, checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadParameter
from lowdim.models.base import parameters
from lowdim.models.base.parameters import seed_of
from lowdim.models.pc_regression.solvers import ScoredAxes, find_significant, reach_share
from lowdim.types import Floats, is_whole

Picker = Callable[[ScoredAxes], NDArray[np.int64]]
OWNER = "PCRegression"


@dataclass(frozen=True)
class RegressionTask:
    """What is to be done, checked."""

    rule: str
    """One of `results.regression.RULES`."""
    count: int
    """Of the rule "count"."""
    share: float
    """Of the rule "share"."""
    alpha: float
    scale: bool | Floats
    cv: Any
    repeats: int
    one_se: bool
    fills: bool
    compare: bool
    seed: Any

    @property
    def pick(self) -> Picker | None:
        """The components that the rule takes of a decomposition; None: cross-validation must choose."""
        if self.rule == "cv":
            return None
        if self.rule == "t-test":
            return lambda found: find_significant(found, self.alpha)
        if self.rule == "share":
            return lambda found: reach_share(found, self.share)
        most = self.count if self.rule == "count" else None
        return lambda found: np.arange(found.rank if most is None else min(most, found.rank))


def task_of(model: Any, p: int) -> RegressionTask:
    """The settings of an estimator, checked."""
    scale = parameters.scaling_of(OWNER, True, model.scale, None, 1, p, 0.0).scale
    rule, count, share = _rule(model.n_components)
    cv = _cv(model.cv)
    if cv is None and rule == "cv":
        raise BadParameter.of(OWNER, "cv", None, "a number of folds or a splitter, as n_components='cv' needs it")
    return RegressionTask(
        rule=rule,
        count=count,
        share=share,
        alpha=float(model.alpha),
        scale=scale,
        cv=cv,
        repeats=int(model.repeats),
        one_se=model.rule == "one_se",
        fills=model.missing == "ppca",
        compare=bool(model.compare) and cv is not None,
        seed=seed_of(model.random_state),
    )


def _rule(given: Any) -> tuple[str, int, float]:
    if given is None:
        return "all", 0, 0.0
    if isinstance(given, str) and given in ("cv", "t-test"):
        return given, 0, 0.0
    if is_whole(given) and int(given) >= 1:
        return "count", int(given), 0.0
    if isinstance(given, Real) and not isinstance(given, (bool, Integral)) and 0 < float(given) <= 1:
        return "share", 0, float(given)
    needed = "'cv', 't-test', a whole number from 1, a share of the variance such as 0.9, or None"
    raise BadParameter.of(OWNER, "n_components", given, needed)


def _cv(given: Any) -> Any:
    if given is None or (hasattr(given, "split") and not isinstance(given, (str, bytes))):
        return given
    if is_whole(given):
        parameters.whole(OWNER, "cv", given, 2, None)
        return int(given)
    if isinstance(given, Iterable) and not isinstance(given, (str, bytes)):
        try:
            return [(np.asarray(train), np.asarray(test)) for train, test in given]
        except (TypeError, ValueError) as error:
            raise BadParameter.of(OWNER, "cv", given, "pairs (train, test) of places of rows") from error
    raise BadParameter.of(OWNER, "cv", given, "a number of folds from 2, a splitter of scikit-learn, splits, or None")
