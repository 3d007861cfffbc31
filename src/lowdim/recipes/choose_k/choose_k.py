"""How many dimensions: every rule, its reason, what contradicts what it needs, and what to make of all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lowdim.errors import BadInput, BadParameter, LowdimError, MissingValues, Words
from lowdim.matrices.convert import read_weights
from lowdim.matrices.missing import refuse_missing
from lowdim.models.base.estimator import Estimator
from lowdim.models.base.fitting import FIT
from lowdim.models.base.parameters import settings_of
from lowdim.models.linear.overview import swamping
from lowdim.models.pca.model import PCA
from lowdim.models.probabilistic_pca.k_rules import answers_with_holes
from lowdim.models.registry import PROMPTS, model_class, part_of
from lowdim.recipes.choose_k import rules as k_rules
from lowdim.recipes.choose_k.evidence import linear_evidence, refuse_other_rows, rows_as_counts, spectrum_of
from lowdim.results.k_choice import KChoice
from lowdim.runtime.progress import stage, track
from lowdim.sources.open import open_source
from lowdim.sources.source import Source
from lowdim.sources.wrapped import UnstoredMissing
from lowdim.types import is_number, is_whole
from lowdim.words import listed

OWNER = "choose_k"

QUICK = (
    *("tracy-widom", "gavish-donoho", "bai-ng", "minka", "bic"),
    *("kaiser", "broken-stick", "share-80", "share-90", "share-95"),
)
"""Rules that need neither fits of their own nor resamples: they come with a page and a scree."""

GENOTYPES = (
    "genotypes have a test of their own (Patterson, Price & Reich 2006): ",
    Words(
        "fit GenotypePCA, whose n_significant_ is the number of axes beyond noise, and whose tracy_widom_ tests each.",
        "lowdim fit --model genotypes says how many axes are beyond noise, and tests each.",
    ),
)
"""Rules here know neither allele frequencies nor SNPs that are inherited together."""


class Chosen(KChoice):
    """What `choose_k` gives back: `k`, `verdict`, `table()`, `explain()`, `plot()`, and each answer by its name."""

    def plot(self, ax: Any = None) -> Any:
        """Draw the scree with every rule's answer beneath; needs the package matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, or None for a new figure

        Returns
        -------
        matplotlib Axes
        """
        from lowdim.views.plots.canvas import shown_figure
        from lowdim.views.plots.k_choice import draw_k_choice, k_choice_height

        return draw_k_choice(self, shown_figure(7.0, k_choice_height(self)).subplots() if ax is None else ax)


def choose_k(
    data: Any,
    X: Any = None,
    *,
    rules: str | Sequence[str] | None = None,
    scale: Any = False,
    sample_weight: Any = None,
    noise: float | None = None,
    n_resamples: int = 100,
    most: int | None = None,
    random_state: int = 0,
) -> Chosen:
    """Say how many dimensions to keep, by every published rule that applies, and how far each can be believed.

    Parameters
    ----------
    data : array (n, p), whatever `lowdim.open` takes, or an estimator
        Rows, also sparse, with missing values, in files. Or a PCA, ProbabilisticPCA, NMF or KernelPCA: fitted, or with
        the settings that are meant (`choose_k(NMF(beta_loss="poisson"), X)`). A fitted PCA with all its variances
        answers without rows, but for rules that resample them.
    X : array or whatever `lowdim.open` takes, or None
        The rows, where `data` is an estimator; of a fitted PCA or ProbabilisticPCA those that it was fitted on.
    rules : names, or None for all that apply
        "parallel-analysis", "tracy-widom", "gavish-donoho", "gavish-donoho-known", "bai-ng", "minka", "bic",
        "bi-cross-validation", "held-out", "kaiser", "broken-stick", "share-80", "share-90", "share-95".
    scale : bool or array (p,)
        Divide columns by their standard deviations (or by these numbers) first. An estimator has its own setting.
    sample_weight : array (n,) or None
        Counts rows: 2 means twice. Weights that add up to less than the rows are scaled up to them. Where rows are
        left out, all copies of a row are.
    noise : float or None
        Standard deviation of the noise in every entry, if it is known.
    n_resamples : int
        Shuffles, or draws of signs, of parallel analysis.
    most : int or None
        Components that rules consider, at most; None: all but one, and at least two rows for each. Shares and rules of
        thumb see all.
    random_state : int
        For shuffles, and rows, columns and entries that are left out.

    Returns
    -------
    Chosen
        `k`: the median of the rules about signal and noise that no check contradicts; None if what all need is
        contradicted (rows or columns next to each other go together beyond components), or if each rule is and they
        disagree. `verdict`: the same in words, and who says what where rules disagree; `range` and `wide`: how far.
        `table()`, `explain()`, `plot()`; `chosen["minka"]` is one rule's `Answer` with `k`, `why`, `checks`, `sound`
        (no check contradicts it, which is not to say that all it needs is so), and the `curve` behind it.

    References
    ----------
    Horn 1965; Hong, Sheng & Dobriban 2020; Patterson, Price & Reich 2006; Gavish & Donoho 2014; Bai & Ng 2002;
    Minka 2000; Tipping & Bishop 1999; Owen & Perry 2009; Jackson 1993; Jolliffe 2002, §6.1.
    docs/how-many.md says which asks what.

    Examples
    --------
    >>> import numpy as np
    >>> from lowdim import choose_k
    >>> rng = np.random.default_rng(0)
    >>> X = 3 * rng.standard_normal((200, 2)) @ rng.standard_normal((2, 12)) + rng.standard_normal((200, 12))
    >>> found = choose_k(X, rules=["parallel-analysis", "minka", "share-90"])
    >>> found.k
    2
    >>> found["minka"].why
    'largest Bayesian evidence'
    """
    seed, times = _whole("random_state", random_state, 0), _whole("n_resamples", n_resamples, 19)
    most = None if most is None else _whole("most", most, 1)
    noise = _noise(noise)
    model, rows = _model_and_rows(data, X, scale)
    if not has_linear_rules(model):
        if sample_weight is not None or noise is not None:
            python = f"{OWNER}: sample_weight and noise are for linear components; leave them out."
            raise BadParameter(Words(python, "--noise is of --model pca; leave it out."))
        with stage("choice", parts=[(FIT, 1.0), ("number of parts", 5.0), ("number of components", 5.0)]):
            return _choose_by_own_rules(model, rows, rules, seed)
    names = checked_rules(rules, k_rules.RULES)
    if rules is None and noise is None:
        names.remove("gavish-donoho-known")
    with stage("choice", parts=[(FIT, 1.0), ("rule", 5.0)]):
        return _choose_linear(model, rows, sample_weight, names, {"most": most, "noise": noise}, seed, times)


def checked_rules(rules: str | Sequence[str] | None, known: Mapping[str, Any]) -> list[str]:
    """Names of rules that are known, in the order in which answers are told."""
    if rules is None:
        return list(known)
    asked = [rules] if isinstance(rules, str) else list(rules)
    plain = [str(name).strip().lower().replace("_", "-").replace(" ", "-") for name in asked]
    for given, name in zip(asked, plain, strict=True):
        if name not in known:
            raise BadParameter.of(OWNER, "rules", given, f"among {', '.join(known)}")
    return [name for name in known if name in plain]


# -- linear components --------------------------------------------------------------------------------------------


def _choose_linear(
    model: Any,
    rows: Source | None,
    sample_weight: Any,
    names: list[str],
    asked: dict[str, Any],
    seed: int,
    times: int,
) -> Chosen:
    if rows is None and sample_weight is not None:
        raise BadParameter(f"{OWNER}(sample_weight=…): the model is fitted already; pass the rows too.")
    if rows is not None and sample_weight is not None:
        rows = rows.with_weights(read_weights(rows, sample_weight))
    if rows is not None and model.__sklearn_is_fitted__():
        refuse_other_rows(model, rows)
    counted = None if rows is None else rows_as_counts(rows)
    try:
        if counted is not None and model.__sklearn_is_fitted__() and counted.repeatable:
            refuse_missing(counted)  # a fit that knows all variances does not read them
        fitted = _with_all_variances(model, counted)
    except MissingValues:
        assert counted is not None
        known = {name: k_rules.RULES[name] for name in names}
        answers, swamped = answers_with_holes(counted, model.scale, known, asked["most"], seed)
        return Chosen(
            tuple(answers), *_describe(counted), scaled=model.scale is not False, shares=np.zeros(0), swamped=swamped
        )
    evidence = linear_evidence(fitted, counted, asked, seed, times)
    answers = [k_rules.answer(evidence, name) for name in track(names, "rule")]
    shares = evidence.squares / evidence.squares.sum()
    fit = fitted.fit_
    return Chosen(
        answers=tuple(answers),
        data=fit.provenance.data,
        n_rows=fit.n_rows,
        n_columns=len(fit.mean),
        scaled=evidence.scaled,
        shares=shares,
        swamped=() if evidence.scaled else tuple(swamping(fit)),
    )


def _with_all_variances(model: Any, rows: Source | None) -> PCA:
    """A PCA of the rows that knows all variances: the one that is there, or one with the same settings."""
    if isinstance(model, PCA) and model.__sklearn_is_fitted__():
        try:
            spectrum_of(model.fit_, bool(model.center))
            return model
        except BadInput:
            if rows is None:
                raise
    if rows is None:
        raise BadInput(f"{OWNER}({type(model).__name__}): the model does not know all variances; pass the rows too.")
    if isinstance(model, PCA):
        twin = PCA(**{**settings_of(model), "n_components": None, "whiten": False, "missing": "error"})
    else:
        twin = PCA(scale=model.scale, memory=model.memory)
    return twin.fit(rows)


def _describe(rows: Source) -> tuple[str, int, int]:
    return rows.describe(), rows.count_rows() or 0, rows.n_columns


def _describe_fit(fit: Any) -> tuple[str, int, int]:
    return fit.provenance.data, fit.n_rows, fit.n_columns


# -- other models -------------------------------------------------------------------------------------------------


def rules_of(model: Any) -> Any:
    """What has the rules of a model, or of the public class of this name: a module with RULES; None: there are none."""
    return k_rules if has_linear_rules(model) else part_of(model, "k_rules")


def has_linear_rules(model: Any) -> bool:
    """Whether the rules about variances are for this model (or the public class of this name)."""
    return bool(getattr(model_class(model) if isinstance(model, str) else model, "_has_linear_rules", False))


def _choose_by_own_rules(model: Any, rows: Source | None, rules: Any, seed: int) -> Chosen:
    """By the rules in the folder of the model."""
    own = rules_of(model)
    answers, shares = own.answer_rules(model, rows, checked_rules(rules, own.RULES), seed)
    about = _describe(rows) if rows is not None else _describe_fit(model.fit_)
    scaled = bool(getattr(model, "scale", False))
    return Chosen(tuple(answers), *about, own.KIND, scaled, shares, noun=own.NOUN)


MOST_VARIANCES = 2_000
"""Rows or columns up to which all variances are found for quick rules, where the fit did not."""


def choose_quickly(model: Any, rows: Source) -> Chosen | None:
    """What the rules say that need only the variances; None where those would have to be found first."""
    if not isinstance(model, PCA) or rows.weighted:
        return None
    fit = model.fit_
    if fit.spectrum is None and min(fit.n_rows, fit.n_columns) > MOST_VARIANCES:
        return None
    try:
        refuse_missing(rows)
        return choose_k(model, rows, rules=list(QUICK))
    except LowdimError:  # holes, or rows that can be read only once: the fit alone says what it can
        return None


# -- what came ----------------------------------------------------------------------------------------------------


def _model_and_rows(data: Any, X: Any, scale: Any) -> tuple[Any, Source | None]:
    """The model that is meant, and the rows, if there are any."""
    if not isinstance(data, Estimator) and not hasattr(data, "get_params"):
        if X is not None:
            raise BadParameter(f"{OWNER}(data, X): X is for an estimator, but data is a {type(data).__name__}.")
        return PCA(scale=scale), _table(data)
    if getattr(data, "_takes_genotypes", False):
        raise BadParameter(Words(f"{OWNER}({type(data).__name__}): "), *GENOTYPES)
    if rules_of(data) is None:
        known = [name for name in PROMPTS.values() if rules_of(name) is not None]
        kinds = f"a {listed(known, 'or')} of lowdim, or rows"
        raise BadParameter.of(OWNER, "data", data, f"{kinds}; lowdim.convert takes scikit-learn's PCA")
    if scale is not False:
        raise BadParameter(f"{OWNER}(scale=…): the estimator has its own setting, {type(data).__name__}(scale=…).")
    rows = None if X is None else _table(X)
    if rows is not None and rows.sparse and has_linear_rules(data) and getattr(data, "unstored", "") == "missing":
        rows = UnstoredMissing(rows)
    return data, rows


def _table(data: Any) -> Source:
    rows = open_source(data)
    if rows.genotypes:
        raise BadParameter(Words(f"{OWNER}({rows.describe()}): "), *GENOTYPES)
    return rows


def _whole(name: str, given: Any, least: int) -> int:
    if not is_whole(given) or int(given) < least:
        raise BadParameter.of(OWNER, name, given, f"a whole number from {least}")
    return int(given)


def _noise(given: Any) -> float | None:
    if given is None:
        return None
    if not is_number(given) or not 0 < float(given) < np.inf:
        raise BadParameter.of(OWNER, "noise", given, "a standard deviation above 0, or None")
    return float(given)
