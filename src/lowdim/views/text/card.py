"""What a fitted model shows of itself at a glance, in a terminal, a notebook, and of a model file."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import numpy as np

from lowdim.models.autoencoder import overview as network
from lowdim.models.autoencoder.figures import learning_curve
from lowdim.models.autoencoder.overview import network_model_lines
from lowdim.models.autoencoder.record import NetworkFit
from lowdim.models.genotype_pca import overview as genotypes
from lowdim.models.genotype_pca.overview import genotype_model_lines
from lowdim.models.genotype_pca.record import GenotypeFit
from lowdim.models.kernel_pca import overview as kernel
from lowdim.models.kernel_pca.overview import captured_in_words, kernel_model_lines, kernel_swamping
from lowdim.models.kernel_pca.record import KernelFit
from lowdim.models.linear.overview import model_lines
from lowdim.models.logistic_pca import overview as logistic
from lowdim.models.logistic_pca.overview import logistic_model_lines
from lowdim.models.logistic_pca.record import LogisticFit
from lowdim.models.nmf import overview as nmf
from lowdim.models.nmf.overview import nmf_model_lines
from lowdim.models.nmf.record import NonNegativeFit
from lowdim.models.pc_regression import overview as regression
from lowdim.models.pc_regression.overview import regression_model_lines
from lowdim.models.pc_regression.record import RegressionFit
from lowdim.models.ppca_mixture.overview import mixture_model_lines, mixture_standing
from lowdim.models.ppca_mixture.record import MixtureFit
from lowdim.models.probabilistic_pca.record import LatentFit
from lowdim.models.recogniser import overview as recogniser
from lowdim.models.recogniser.overview import recogniser_model_lines
from lowdim.models.recogniser.record import RecogniserFit
from lowdim.models.vector_quantizer import overview
from lowdim.models.vector_quantizer.overview import codebook_model_lines
from lowdim.models.vector_quantizer.record import CodebookFit
from lowdim.results.certificate import counted
from lowdim.results.record import LinearFit
from lowdim.types import Floats
from lowdim.views.text.lines import Line, percent, shortened, wrapped
from lowdim.views.text.screen import accuracy, swamped_in_words, swamping
from lowdim.words import BLOCKS

# What a fitted model shows of itself at a glance: facts of its record, in the words of the screens.

REMEDY = "scale=True gives all columns the same weight"


@dataclass(frozen=True)
class Glance:
    """A small picture: heights in a row, of which the first stand for what is kept."""

    heights: Floats
    """(m,) from 0 to 1."""
    kept: int
    of: str
    """What the heights are."""
    falls: bool = False
    """Whether it is a curve over time, not a bar for each component."""


@dataclass(frozen=True)
class Card:
    """What is said of a fit at a glance."""

    rows: int
    columns: int
    missing: int
    kept: str
    """How many components there are, and what they keep."""
    word: str
    """How far the numbers can be trusted, in a word …"""
    sentence: str
    """… and in a sentence."""
    reached: bool
    facts: tuple[tuple[str, str], ...] = ()
    """Names, and what is said of them: noise, steps."""
    glance: Glance | None = None
    notes: tuple[str, ...] = ()
    """What the user should know before using it."""

    @property
    def data(self) -> str:
        """Rows, columns, and values missing, if any."""
        holes = f", {counted(self.missing, 'value')} missing" if self.missing else ""
        return f"{counted(self.rows, 'row')} × {counted(self.columns, 'column')}{holes}"


def card_of(fit: Any) -> Card:
    """The card of a record of any kind."""
    return next(make for kind, make in CARDS.items() if isinstance(fit, kind))(fit)


def trust(fit: Any) -> str:
    """The certificate in one word.

    "certified": errors are bounded; "planes": so they are, but some axes are only defined together; "reached": a search
    ended where it was to end; "untrusted": neither.
    """
    if isinstance(fit, (RegressionFit, RecogniserFit)):
        return trust(fit.axes if isinstance(fit, RegressionFit) else fit.space)
    if isinstance(fit, LinearFit) and not (isinstance(fit, LatentFit) and fit.ascent is not None):
        return fit.certificate.word
    if isinstance(fit, KernelFit) and fit.reached:
        return "certified"
    reached = fit.converged if isinstance(fit, MixtureFit) else fit.reached
    return "reached" if reached else "untrusted"


def shares_glance(shares: Floats, kept: int, of: str) -> Glance | None:
    """Bars as high as shares are beside the largest; none where nothing has any."""
    known = np.nan_to_num(np.maximum(np.asarray(shares, dtype=np.float64), 0.0))
    largest = float(known.max(initial=0.0))
    return Glance(known / largest, kept, of) if largest > 0 else None


def _fall(losses: Floats, best: int) -> Glance | None:
    """A curve from the largest loss to the smallest; none where nothing was learnt or numbers were left."""
    low, high = float(losses.min()), float(losses.max())
    if not (np.isfinite(losses).all() and low < high):
        return None
    return Glance((losses - low) / (high - low), best, f"loss by epoch, {best} kept", falls=True)


def _blank(fit: Any, kept: str, sentence: str, missing: int = 0) -> Card:
    reached = fit.converged if isinstance(fit, MixtureFit) else fit.reached
    return Card(fit.n_rows, fit.n_columns, missing, kept, trust(fit), sentence, reached)


def _linear(fit: LinearFit) -> Card:
    if fit.total_variance <= 0:
        kept = "no column varies"
    else:
        kept = f"{counted(fit.k, 'component')} that keep{'s' * (fit.k == 1)} {percent(float(fit.shares.sum()))}"
    spectrum = fit.variances if fit.spectrum is None or len(fit.spectrum) < fit.k else fit.spectrum
    missing, made = 0, fit.provenance
    scaled = not bool((fit.scale == 1).all())
    facts = [("noise", _noise(fit.noise_variance, fit.noise_variance, scaled))] if fit.noise_variance > 0 else []
    notes = _swamped(swamping(fit), "the variance") if not scaled else ()
    if isinstance(fit, LatentFit):
        missing = fit.missing
        if fit.ascent is not None:
            facts.append(("steps", _steps(len(fit.ascent.logpost) + fit.ascent.refused, fit.ascent.converged)))
        if fit.unseen:
            notes = (*notes, f"nothing was observed of {counted(len(fit.unseen), 'column')}")
    if not fit.certificate.blank:
        facts.append(("solver", f"{made.solver}, {counted(made.passes, 'pass', 'es')}"))
    return replace(
        _blank(fit, kept, accuracy(fit), missing),
        facts=tuple(facts),
        glance=shares_glance(spectrum, fit.k, "variance by component"),
        notes=notes,
    )


def _genotypes(fit: GenotypeFit) -> Card:
    facts = (("SNPs", genotypes.snps_in_words(fit)), ("tested", genotypes.tests_in_words(fit)))
    return replace(_linear(fit), missing=fit.missing, facts=facts, notes=())


def _kernel(fit: KernelFit) -> Card:
    kept = f"{counted(fit.k, 'component')} that keep{'s' * (fit.k == 1)} {captured_in_words(fit)}"
    return replace(
        _blank(fit, kept, kernel.accuracy_in_words(fit)),
        facts=(("kernel", fit.kernel.formula), ("width", kernel.width_in_words(fit))),
        glance=shares_glance(fit.shares, fit.k, "variance by component"),
        notes=_swamped(kernel_swamping(fit), "the squared distances between rows"),
    )


def _nmf(fit: NonNegativeFit) -> Card:
    kept = f"{counted(fit.k, 'part')} that explain{'s' * (fit.k == 1)} {percent(fit.explained)}"
    return replace(
        _blank(fit, kept, nmf.descent_in_words(fit), fit.missing),
        facts=(("loss", nmf.loss_in_words(fit)), ("steps", _steps(fit.descent.steps, fit.reached))),
        glance=shares_glance(fit.masses, fit.k, "share by part"),
    )


def _logistic(fit: LogisticFit) -> Card:
    kept = f"{counted(fit.k, 'component')} that explain{'s' * (fit.k == 1)} {percent(fit.explained)}"
    return replace(
        _blank(fit, kept, logistic.descent_in_words(fit), fit.missing),
        facts=(("family", logistic.FAMILIES[fit.family]), ("steps", _steps(fit.descent.passes, fit.reached))),
        glance=shares_glance(fit.spreads, fit.k, "spread by component"),
    )


def _codebook(fit: CodebookFit) -> Card:
    kept = f"{counted(fit.k, 'codeword')} that keep{'s' * (fit.k == 1)} {percent(fit.kept)}"
    unused = f"{counted(fit.unused, 'codeword')} stand{'s' * (fit.unused == 1)} for no row"
    return replace(
        _blank(fit, kept, overview.standing(fit)),
        facts=(("usage", overview.usage_in_words(fit)), ("steps", _steps(fit.steps, fit.converged))),
        glance=shares_glance(np.sort(fit.usage)[::-1], fit.k, "rows by codeword"),
        notes=(unused,) if fit.unused else (),
    )


def _network(fit: NetworkFit) -> Card:
    curve = learning_curve(fit)
    judged, epochs = (curve.learnt if curve.aside is None else curve.aside), len(curve.epochs)
    facts = [("network", network.network_in_words(fit))]
    if epochs:
        facts.append(("epochs", _steps(epochs, fit.reached)))
    return replace(
        _blank(fit, network.headline(fit), network.standing(fit), fit.missing),
        facts=tuple(facts),
        glance=_fall(judged, curve.best) if epochs else None,
    )


def _regression(fit: RegressionFit) -> Card:
    kept = f"{shortened(', '.join(fit.names), 40)} from {regression.which(fit)}"
    held = "nothing was held out" if fit.validation is None else f"Q² {regression.numbers(fit.validation.q2)}"
    facts = (("fit", f"R² {regression.numbers(fit.r2)} in the rows fitted"), ("held out", held))
    notes = () if fit.k else ("no component helps to predict: the model is the mean",)
    return replace(
        _blank(fit, kept, accuracy(fit.axes), fit.missing),
        facts=facts,
        glance=shares_glance(regression.said_of_responses(fit), fit.k, "explained of y, by component"),
        notes=notes,
    )


def _recogniser(fit: RecogniserFit) -> Card:
    kept = f"{recogniser.identities(fit)}, {recogniser.space_in_words(fit)}"
    facts = (("compared", recogniser.compared_in_words(fit)), ("somebody?", recogniser.somebody_in_words(fit)))
    return replace(
        _blank(fit, kept, accuracy(fit.space)),
        facts=facts,
        glance=_linear(fit.space).glance,
    )


def _mixture(fit: MixtureFit) -> Card:
    c, _, k = fit.loadings.shape
    noise = _noise(float(fit.noise.min()), float(fit.noise.max()), not bool((fit.scale == 1).all()))
    return replace(
        _blank(fit, f"{counted(c, 'cluster')} of {counted(k, 'component')}, BIC {fit.bic:.6g}", mixture_standing(fit)),
        facts=(
            ("noise", noise),
            ("steps", _steps(len(fit.path), fit.converged)),
        ),
        glance=shares_glance(np.sort(fit.weights)[::-1], c, "rows by cluster"),
    )


CARDS: dict[type, Callable[[Any], Card]] = {
    GenotypeFit: _genotypes,
    LinearFit: _linear,
    KernelFit: _kernel,
    NonNegativeFit: _nmf,
    LogisticFit: _logistic,
    CodebookFit: _codebook,
    NetworkFit: _network,
    RegressionFit: _regression,
    RecogniserFit: _recogniser,
    MixtureFit: _mixture,
}
"""Kind of record → its card; the first that a record is of."""


def _noise(least: float, most: float, scaled: bool) -> str:
    ends = dict.fromkeys(f"{math.sqrt(end):.4g}" for end in (least, most))
    return f"standard deviation {' to '.join(ends)} in every {'scaled ' * scaled}column"


def _steps(count: int, converged: bool) -> str:
    return f"{count:,}, {'converged' if converged else 'NOT converged'}"


def _swamped(found: list[tuple[str, float]], of: str) -> tuple[str, ...]:
    return (f"{swamped_in_words(found, of)}: {REMEDY}",) if found else ()


# The card of a model in a terminal: a few lines behind its repr, and the same in `lowdim info`.

MOST_TEXT_BARS = 24

WIDTH = 88
"""Characters of a line; that of scikit-learn's own representations is about the same."""


def card_text(shown: str, card: Card, width: int = WIDTH) -> str:
    """What a model is, as scikit-learn writes it, and below it what it learnt."""
    room = width - 2
    lines = [
        *wrapped("", f"{card.data} → {card.kept}", room),
        *glance_lines(card, room),
        *wrapped("accuracy  ", certificate_in_words(card), room),
        *fact_lines(card, room),
    ]
    return "\n".join([shown, *(f"  {line.text}" for line in lines)])


def glance_lines(card: Card, width: int) -> list[Line]:
    """The small picture, if there is one."""
    if card.glance is None:
        return []
    name = "curve" if card.glance.falls else "scree"
    return [Line(shortened(f"{name:<10}{sparks(card.glance)}  {card.glance.of}", width), "bar")]


def certificate_in_words(card: Card) -> str:
    """The word, and what it stands on."""
    said = card.sentence.removeprefix("NOT reached: ")
    return said if said.startswith(card.word) else f"{card.word}: {said}"


def fact_lines(card: Card, width: int) -> list[Line]:
    """Noise, steps, and what else the model knows of itself; notes last."""
    lines = [line for name, said in card.facts for line in wrapped(f"{name:<10}", said, width)]
    return [*lines, *(line for note in card.notes for line in wrapped(f"{'note':<10}", note, width, "note"))]


def sparks(glance: Glance, most: int = MOST_TEXT_BARS) -> str:
    """Heights as blocks of eighths; a rule stands between what is kept and what is not."""
    heights = thinned(glance, most)
    blocks = [BLOCKS[min(7, int(height * 8))] for height in heights]
    if glance.falls or glance.kept >= len(heights):
        return "".join(blocks) + "…" * (not glance.falls and len(heights) < len(glance.heights))
    return "".join([*blocks[: glance.kept], "│", *blocks[glance.kept :]])


def thinned(glance: Glance, most: int) -> list[float]:
    """The first heights; of a curve some from its whole length."""
    heights = glance.heights
    if len(heights) > most and glance.falls:
        heights = heights[np.linspace(0, len(heights) - 1, most).round().astype(int)]
    return [float(height) for height in heights[:most]]


# The card of a model in a notebook: HTML without script and without a network, for light and dark pages.

MOST_HTML_BARS = 32

WIDE, HIGH = 200, 44
"""Of the small picture, in pixels."""

STYLE = """
.lowdim-card{--ink:var(--jp-content-font-color1,var(--vscode-editor-foreground,#1f2328));
--soft:var(--jp-content-font-color2,var(--vscode-descriptionForeground,#656d76));
--line:var(--jp-border-color2,var(--vscode-widget-border,#d7dce2));
--paper:var(--jp-layout-color1,var(--vscode-editor-background,#fff));--bar:#0072b2;--good:#0b7a5b;--bad:#b3470a;
font:13px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif;color:var(--ink);background:var(--paper);
border:1px solid var(--line);border-radius:10px;padding:14px 18px;max-width:660px;box-sizing:border-box;margin:4px 0}
@media(prefers-color-scheme:dark){.lowdim-card{--ink:var(--jp-content-font-color1,var(--vscode-editor-foreground,#e6e8eb));
--soft:var(--jp-content-font-color2,var(--vscode-descriptionForeground,#9aa3ad));
--line:var(--jp-border-color2,var(--vscode-widget-border,#3a4048));
--paper:var(--jp-layout-color1,var(--vscode-editor-background,#16181d));--bar:#56b4e9;--good:#2bc49a;--bad:#ff8a3d}}
body[data-jp-theme-light="true"] .lowdim-card,.vscode-light .lowdim-card{--bar:#0072b2;--good:#0b7a5b;--bad:#b3470a}
body[data-jp-theme-light="false"] .lowdim-card,.vscode-dark .lowdim-card{--bar:#56b4e9;--good:#2bc49a;--bad:#ff8a3d}
.lowdim-card>header{display:flex;gap:16px;align-items:baseline;justify-content:space-between}
.lowdim-card>header>code{font:600 13px/1.4 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;color:var(--ink);
background:none;padding:0;white-space:pre-wrap;overflow-wrap:anywhere}
.lowdim-card b{font-weight:600;color:var(--good);border:1px solid;border-radius:99px;padding:0 9px;font-size:12px;
cursor:help;white-space:nowrap}
.lowdim-card b.bad{color:var(--bad)}
.lowdim-card>section{display:flex;gap:20px;align-items:center;justify-content:space-between;margin-top:8px;flex-wrap:wrap}
.lowdim-card strong{display:block;font-size:16px;font-weight:600;line-height:1.35}
.lowdim-card small,.lowdim-card dt{color:var(--soft);font-size:12px;font-weight:400}
.lowdim-card section>div{flex:1 1 300px;min-width:0}
.lowdim-card figure{margin:0;flex:0 0 200px;line-height:1.2}
.lowdim-card svg{display:block;overflow:visible;margin-bottom:4px}
.lowdim-card dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:2px 14px;margin:10px 0 0;
padding-top:10px;border-top:1px solid var(--line)}
.lowdim-card dd{margin:0;overflow-wrap:anywhere}
.lowdim-card p{margin:10px 0 0;padding-left:10px;border-left:3px solid var(--bad);overflow-wrap:anywhere}
"""
"""Colours of the page where JupyterLab and VS Code tell them; else as the browser prefers."""


def card_html(shown: str, card: Card) -> str:
    """The card of a model that scikit-learn writes as `shown`."""
    one_line = " ".join(shown.split())
    trusted = "" if card.reached else ' class="bad"'
    facts = "".join(f"<dt>{escape(name)}</dt><dd>{escape(said)}</dd>" for name, said in _listed(card))
    notes = "".join(f"<p>{escape(note)}</p>" for note in card.notes)
    return (
        f'<div class="lowdim-card"><style>{STYLE.replace(chr(10), "")}</style>'
        f"<header><code>{escape(one_line)}</code>"
        f'<b{trusted} title="{escape(card.sentence, quote=True)}">{escape(card.word)}</b></header>'
        f"<section><div><strong>{escape(card.kept)}</strong><small>{escape(card.data)}</small></div>"
        f"{'' if card.glance is None else _figure(card.glance)}</section>"
        f"<dl>{facts}</dl>{notes}</div>"
    )


def _listed(card: Card) -> tuple[tuple[str, str], ...]:
    """Facts, and the sentence of the certificate, as titles cannot be read everywhere."""
    return (*card.facts, ("accuracy", card.sentence))


def _figure(glance: Glance) -> str:
    drawn = _curve(glance) if glance.falls else _bars(glance)
    label = escape(glance.of, quote=True)
    return (
        f'<figure><svg width="{WIDE}" height="{HIGH}" viewBox="0 0 {WIDE} {HIGH}" role="img" aria-label="{label}">'
        f"{drawn}</svg><small>{label}</small></figure>"
    )


def _bars(glance: Glance) -> str:
    """What is kept in colour, the rest faint."""
    heights = thinned(glance, MOST_HTML_BARS)
    step = min(16.0, WIDE / len(heights))
    wide = max(1.5, step - 2.0)
    shapes = []
    for i, height in enumerate(heights):
        high = max(1.0, height * (HIGH - 2))
        faint = "" if i < glance.kept else ' opacity=".3"'
        shapes.append(
            f'<rect x="{i * step:.1f}" y="{HIGH - high:.1f}" width="{wide:.1f}" height="{high:.1f}" rx="1"{faint}/>'
        )
    return f'<g fill="var(--bar)">{"".join(shapes)}</g>'


def _curve(glance: Glance) -> str:
    """Falling, with a dot where it was kept."""
    heights = thinned(glance, MOST_HTML_BARS)
    step = (WIDE - 6) / max(1, len(heights) - 1)
    points = [(3 + i * step, HIGH - 3 - height * (HIGH - 6)) for i, height in enumerate(heights)]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    at = round((glance.kept - 1) / max(1, len(glance.heights) - 1) * (len(heights) - 1))
    return (
        f'<polyline points="{line}" fill="none" stroke="var(--bar)" stroke-width="1.8" stroke-linejoin="round"/>'
        f'<circle cx="{points[at][0]:.1f}" cy="{points[at][1]:.1f}" r="3" fill="var(--bar)"/>'
    )


# What a model file holds, on one screen, whatever it was fitted by.

SCREENS: dict[type, Callable[[str, Any, int], list[Line]]] = {
    CodebookFit: codebook_model_lines,
    GenotypeFit: genotype_model_lines,
    LogisticFit: logistic_model_lines,
    MixtureFit: mixture_model_lines,
    NetworkFit: network_model_lines,
    NonNegativeFit: nmf_model_lines,
    RecogniserFit: recogniser_model_lines,
    RegressionFit: regression_model_lines,
}
"""Kind of record → what is said of it. The others also say how rows were prepared, which only the settings know."""

GLANCED = ("noise", "steps", "epochs")
"""Facts of a card that no screen has."""

AT_THE_PROMPT = "--scale gives all columns the same weight"
"""What the prompt says in place of `REMEDY`."""


def screen_of(
    file: str, estimator: str, fit: Any, settings: Mapping[str, Any], can_go_on: bool, width: int
) -> list[Line]:
    """The screen of a model of that name, with its record and settings; below its first lines what its card says."""
    first, second, *others = _lines(file, estimator, fit, settings, can_go_on, width)
    return [first, second, *_at_a_glance(card_of(fit), width), *others]


def _at_a_glance(card: Card, width: int) -> list[Line]:
    """Small picture, certificate in a word, noise, steps, notes: what the screens do not say otherwise."""
    some = replace(
        card,
        facts=tuple((name, said) for name, said in card.facts if name in GLANCED),
        notes=tuple(note.replace(REMEDY, AT_THE_PROMPT) for note in card.notes),
    )
    word = Line(f"{'trust':<10}{card.word}", "plain" if card.reached else "note")
    holes = [Line(f"{'missing':<10}{counted(card.missing, 'value')}")] if card.missing else []
    return [*holes, *glance_lines(card, width), word, *fact_lines(some, width)]


def _lines(file: str, estimator: str, fit: Any, settings: Mapping[str, Any], can_go_on: bool, width: int) -> list[Line]:
    if type(fit) in SCREENS:
        return SCREENS[type(fit)](file, fit, width)
    if isinstance(fit, KernelFit):
        return kernel_model_lines(file, fit, settings, width)
    return model_lines(file, estimator, fit, settings, can_go_on, width)
