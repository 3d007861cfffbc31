"""The page of a linear fit, and how far the numbers of a search can be trusted, in plain words."""

from __future__ import annotations

import numpy as np

from lowdim.errors import BadInput
from lowdim.models.genotype_pca.record import GenotypeFit
from lowdim.models.linear.tables.columns import column_correlations, prepared_variances
from lowdim.models.probabilistic_pca.record import LatentFit
from lowdim.results.certificate import counted
from lowdim.results.k_choice import KChoice
from lowdim.results.record import LinearFit, Provenance
from lowdim.types import Floats
from lowdim.views.report.payload import Beside, Columns, Fact, MadeBy, Payload, Proof, Spectrum, shown_rows
from lowdim.views.text.card import trust
from lowdim.views.text.lines import percent
from lowdim.views.text.screen import accuracy, swamped_in_words, swamping
from lowdim.words import column_names

# The page of a linear fit: PCA, probabilistic PCA, PCA of genotypes.

MOST_LEFT_OUT = 30
"""Components beyond those kept whose shares a page shows."""

P_VALUE = 0.05
"""Below it an axis of genotypes stands out."""

MEANINGS = {
    "certified": "Each component was checked after it was found. The error that the computer may have made in it has a "
    "proven bound, and every bound is within what was asked. This is about arithmetic only: whether other rows would "
    "give the same components is a question of how many rows there are.",
    "planes": "The variances are proven to be right. Some of them are nearly equal, though, and then no single axis is "
    "fixed: any turn within their common plane describes the data as well. Read those components together, never one "
    "by one.",
    "reached": "The model was found step by step, each step making the observed values more probable, until the last "
    "steps changed nothing any more. That is what this says; it is no proof that no better model exists.",
    "untrusted": "Not every number has been proven to be as accurate as was asked. The picture may still be right, but "
    "nothing here guarantees it: fit again with more iterations or another solver before relying on it.",
}


def linear_payload(fit: LinearFit, scores: Floats | None, beside: Beside) -> Payload:
    """All that a page shows of a fit, with scores (n, k) of its rows along the orthonormal axes, or without any rows.

    Whitened scores and hidden values have to be multiplied by `fit.strengths` first.
    """
    if scores is not None and scores.shape[1] != fit.k:
        raise BadInput(f"The fit has {fit.k} components, but the scores have {scores.shape[1]}: pass its own scores.")
    return Payload(
        title=beside.title,
        model=_model(fit),
        lead=_lead(fit, beside.choice),
        axes=tuple(f"PC{i + 1}" for i in range(fit.k)),
        facts=_facts(fit),
        proof=_proof(fit),
        made=made_by(fit.provenance, beside),
        spectrum=Spectrum(_shares(fit, beside.choice), "variance", beside.choice),
        rows=None if scores is None else shown_rows(scores, beside),
        columns=_columns(fit),
        picture=beside.picture,
        warnings=(*beside.warnings, *_swamped(fit)),
        sections=beside.sections,
    )


def sentence(text: str) -> str:
    """A capital letter and a full stop."""
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def made_by(made: Provenance, beside: Beside) -> MadeBy:
    """How the same page is made again."""
    facts = (("data", made.data), ("solver", made.solver), ("why this solver", made.reason), ("seed", made.seed))
    known = tuple((name, text) for name, text in facts if text not in ("", "None"))
    return MadeBy(beside.python, beside.cli, known + made.versions)


def _model(fit: LinearFit) -> str:
    if isinstance(fit, GenotypeFit):
        return "PCA of genotypes"
    return "Probabilistic PCA" if isinstance(fit, LatentFit) else "Principal component analysis"


def _lead(fit: LinearFit, choice: KChoice | None) -> str:
    """What was found: of more components than rules advise, how much the advised ones hold."""
    if fit.total_variance <= 0:
        return "No column varies: there is no direction to find."
    k, why = _worth_reading(fit, choice)
    keeps = "dimension keeps" if k == 1 else "dimensions keep"
    share = percent(float(fit.shares[:k].sum()))
    return f"{k:,} {keeps} {share} of the variance of {counted(fit.n_columns, 'column')}{why}."


def _worth_reading(fit: LinearFit, choice: KChoice | None) -> tuple[int, str]:
    """The number that the first sentence is about, and who says so."""
    if isinstance(fit, GenotypeFit) and len(fit.p_values):
        above = int(np.argmax(np.append(fit.p_values[: fit.k] >= P_VALUE, True)))
        what = "it stands" if above == 1 else "they stand"
        return (above, f"; {what} out from chance") if above else (fit.k, "; none stands out from chance")
    advising = choice is not None and any(one.asks != "keeps" for one in choice.answers)
    if choice is None or not advising or choice.k is None or not 0 < choice.k < fit.k:
        return fit.k, ""
    return choice.k, f": as many as the rules advise, of {fit.k:,} fitted"


def _facts(fit: LinearFit) -> tuple[Fact, ...]:
    missing, possible = getattr(fit, "missing", 0), min(fit.n_rows - 1, fit.n_columns)
    holes = (
        (Fact("missing values", f"{missing:,}", percent(missing / (fit.n_rows * fit.n_columns))),) if missing else ()
    )
    return (
        Fact("rows", f"{fit.n_rows:,}"),
        Fact("columns", f"{fit.n_columns:,}", _scaling(fit)),
        *holes,
        Fact(
            "components", f"{fit.k:,}", f"of {possible:,} possible" if fit.k <= possible else f"only {possible:,} vary"
        ),
        Fact("variance kept", percent(float(fit.shares.sum()))),
    )


def _scaling(fit: LinearFit) -> str:
    if not (fit.scale != 1).any():
        return "not scaled"
    return "scaled by allele frequency" if isinstance(fit, GenotypeFit) else "scaled to equal variance"


def _proof(fit: LinearFit) -> Proof:
    word = trust(fit)
    return Proof(word, fit.reached, sentence(accuracy(fit).removeprefix("certified: ")), MEANINGS[word])


def _shares(fit: LinearFit, choice: KChoice | None) -> Floats:
    """Of the components, and of some beyond them where the fit, or who chose their number, knows them."""
    if fit.total_variance <= 0:
        return fit.shares
    if fit.spectrum is None:
        agree = choice is not None and len(choice.shares) > fit.k and np.allclose(choice.shares[: fit.k], fit.shares)
        return choice.shares[: fit.k + MOST_LEFT_OUT] if choice is not None and agree else fit.shares
    possible = min(fit.n_rows - 1, fit.n_columns, fit.k + MOST_LEFT_OUT)
    return np.concatenate([fit.shares, np.maximum(fit.spectrum[fit.k : possible], 0.0) / fit.total_variance])


def _columns(fit: LinearFit) -> Columns:
    try:
        variances: Floats | None = prepared_variances(fit)
    except BadInput:  # a record that was converted does not know them
        variances = None
    deviations = None if variances is None else np.sqrt(np.maximum(variances, 0.0)) * fit.undo_gain
    known = None if variances is None else column_correlations(fit, variances).T
    return Columns(column_names(fit), fit.components, fit.mean, fit.gain, deviations, known)


def _swamped(fit: LinearFit) -> tuple[str, ...]:
    """That a few columns on a large scale hold nearly everything."""
    found = swamping(fit)
    if not found or (fit.scale != 1).any():
        return ()
    return (f"{swamped_in_words(found, 'the variance')}; scaling gives all columns the same weight.",)


# How far the numbers of a search can be trusted, for somebody who has never heard of it.

REACHED = (
    "The answer was sought step by step. It ended where the rule for a solution holds as closely as was asked. Other "
    "starts may end at other solutions: compare a few of them before you read much into one part."
)
CUT_SHORT = (
    "The answer was sought step by step, and the search ended before it stood still. What is shown here may change "
    "with more steps: fit again with more of them before relying on it."
)
TRAINED = (
    "A network has no certificate. It was trained until more epochs no longer paid, or as long as was asked. Rows that "
    "were set aside say how well it does on new ones; another seed gives another network."
)


def proof_of_search(good: bool, said: str, meaning: str = REACHED) -> Proof:
    """The proof of what was found step by step."""
    text = said.removeprefix("reached: ").removeprefix("NOT reached: ")
    return Proof("reached" if good else "not reached", good, sentence(text), meaning if good else CUT_SHORT)
