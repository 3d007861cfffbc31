"""How many dimensions: every rule, its reason, what contradicts what it needs, and what to make of all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lowdim.errors import BadInput, BadParameter, MissingValues, Words
from lowdim.matrices.convert import row_weights
from lowdim.models.genotype_pca.model import GenotypePCA
from lowdim.models.kernel_pca.model import KernelPCA
from lowdim.models.linear.overview import swamping
from lowdim.models.nmf.model import NMF
from lowdim.models.pca.model import PCA
from lowdim.models.probabilistic_pca.model import ProbabilisticPCA
from lowdim.recipes.choose_k import kernel, nmf
from lowdim.recipes.choose_k import rules as k_rules
from lowdim.recipes.choose_k.evidence import linear_evidence, refuse_other_rows, rows_as_counts, spectrum_of
from lowdim.recipes.choose_k.missing import answers_with_holes
from lowdim.results.k_choice import Answer, KChoice
from lowdim.sources.genotypes.plink import PlinkSource
from lowdim.sources.open import open_source
from lowdim.sources.source import Source
from lowdim.sources.views_of_rows import UnstoredMissing
from lowdim.types import is_number, is_whole

OWNER = "choose_k"

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
        """Draw the scree with every rule's answer beneath; gives back matplotlib Axes. Needs the package matplotlib."""
        from lowdim.views.plots.canvas import shown_figure
        from lowdim.views.plots.spectrum import draw_k_choice, k_choice_height

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
    if isinstance(model, (NMF, KernelPCA)) and (sample_weight is not None or noise is not None):
        said = f"{OWNER}: sample_weight and noise are for linear components; leave them out."
        raise BadParameter(Words(said, "--noise is of --model pca; leave it out."))
    if isinstance(model, NMF):
        return _of_parts(model, rows, rules, seed)
    if isinstance(model, KernelPCA):
        return _of_kernel(model, rows, rules)
    names = checked_rules(rules, k_rules.RULES)
    if rules is None and noise is None:
        names.remove("gavish-donoho-known")
    return _of_linear(model, rows, sample_weight, names, {"most": most, "noise": noise}, seed, times)


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


def _of_linear(
    model: PCA | ProbabilisticPCA,
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
        rows = rows.with_weights(row_weights(rows, sample_weight))
    if rows is not None and model.__sklearn_is_fitted__():
        refuse_other_rows(model, rows)
    counted = None if rows is None else rows_as_counts(rows)
    try:
        fitted = _with_all_variances(model, counted)
    except MissingValues:
        assert counted is not None
        answers, swamped = answers_with_holes(counted, model.scale, names, asked["most"], seed)
        return _chosen(answers, counted, model.scale is not False, np.zeros(0), swamped=swamped)
    evidence = linear_evidence(fitted, counted, asked, seed, times)
    answers = [k_rules.answer(evidence, name) for name in names]
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


def _with_all_variances(model: PCA | ProbabilisticPCA, rows: Source | None) -> PCA:
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
        twin = PCA(**{**model.get_params(), "n_components": None, "whiten": False, "missing": "error"})
    else:
        twin = PCA(scale=model.scale, memory=model.memory)
    return twin.fit(rows)


def _chosen(answers: Sequence[Answer], rows: Source, scaled: bool, shares: Any, **more: Any) -> Chosen:
    return Chosen(
        answers=tuple(answers),
        data=rows.describe(),
        n_rows=rows.count_rows() or 0,
        n_columns=rows.n_columns,
        scaled=scaled,
        shares=shares,
        **more,
    )


# -- other models -------------------------------------------------------------------------------------------------


def _of_parts(model: NMF, rows: Source | None, rules: Any, seed: int) -> Chosen:
    names = checked_rules(rules, nmf.RULES)
    if rows is None:
        raise BadInput(f"{OWNER}(NMF): the rules leave some of the data out; pass the rows too, choose_k(model, X).")
    answers = nmf.answers_of_parts(model, rows, names, seed)
    return _chosen(answers, rows, False, np.zeros(0), model="NMF", noun="part")


def _of_kernel(model: KernelPCA, rows: Source | None, rules: Any) -> Chosen:
    names = checked_rules(rules, kernel.RULES)
    if rows is not None:
        answers, shares = kernel.answers_of_kernel(model, rows, names)
        return _chosen(answers, rows, bool(model.scale), shares, model="kernel PCA")
    if not model.__sklearn_is_fitted__():
        raise BadInput(f"{OWNER}(KernelPCA): the model is not fitted; pass the rows too, choose_k(model, X).")
    answers, shares = kernel.answers_of_fitted_kernel(model, names)
    fit = model.fit_
    about = (fit.provenance.data, fit.n_rows, fit.n_columns)
    return Chosen(tuple(answers), *about, "kernel PCA", bool(model.scale), shares)


# -- what came ----------------------------------------------------------------------------------------------------


def _model_and_rows(data: Any, X: Any, scale: Any) -> tuple[Any, Source | None]:
    """The model that is meant, and the rows, if there are any."""
    if not hasattr(data, "get_params"):
        if X is not None:
            raise BadParameter(f"{OWNER}(data, X): X is for an estimator, but data is a {type(data).__name__}.")
        return PCA(scale=scale), _table(data)
    if isinstance(data, GenotypePCA):
        raise BadParameter(Words(f"{OWNER}(GenotypePCA): "), *GENOTYPES)
    if not isinstance(data, (PCA, ProbabilisticPCA, NMF, KernelPCA)):
        kinds = "a PCA, ProbabilisticPCA, NMF or KernelPCA of lowdim, or rows"
        raise BadParameter.of(OWNER, "data", data, f"{kinds}; lowdim.convert takes scikit-learn's PCA")
    if scale is not False:
        raise BadParameter(f"{OWNER}(scale=…): the estimator has its own setting, {type(data).__name__}(scale=…).")
    rows = None if X is None else _table(X)
    if rows is not None and rows.sparse and isinstance(data, ProbabilisticPCA) and data.unstored == "missing":
        rows = UnstoredMissing(rows)
    return data, rows


def _table(data: Any) -> Source:
    rows = open_source(data)
    if isinstance(rows, PlinkSource):
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
