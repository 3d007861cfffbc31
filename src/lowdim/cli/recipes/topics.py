"""`lowdim topics`: what a collection of texts is about."""

from __future__ import annotations

import os
import shlex
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lowdim.cli import options, parsing
from lowdim.cli.data import prefix_errors, refuse_absent
from lowdim.cli.groups import takes_groups
from lowdim.cli.options import OutputOptions, TalkOptions
from lowdim.cli.writing import Code, Report, python_call, write_page
from lowdim.errors import BadFile, BadParameter

if TYPE_CHECKING:
    from lowdim.recipes.topics.result import Topics

EXAMPLES = """
lowdim topics letters/ --keep 10                     # a folder of .txt files
lowdim topics news.jsonl --keep 5 --label desk --compare
lowdim topics news.jsonl --keep 5 -o shares.csv --words words.csv
lowdim topics news.jsonl --keep 5 --json > topics.json
lowdim topics news.jsonl --keep 5 --report topics.html   # to look at, to send
"""

FINDING = (
    *("loss", "text", "label", "min_df", "max_df"),
    *("stop_words", "starts", "held_out", "seed"),
)
"""Options that decide which topics are found."""

HELD_OUT_NEEDED = "a share of the texts such as 10% or 0.1 is needed; 0: none"

Texts = Annotated[
    str,
    typer.Argument(
        metavar="FOLDER|JSONL",
        show_default=False,
        help="A folder of .txt files, whose subfolders are known classes, or JSON lines, CSV or Parquet.",
    ),
]
Keep = Annotated[
    int | None, typer.Option("--keep", "-k", metavar="NUMBER", show_default=False, help="How many topics.")
]
Loss = Annotated[str, typer.Option(metavar="NAME", help="kl: likeliest topics of counts; frobenius: of tf-idf.")]
TextField = Annotated[
    str | None, typer.Option(metavar="A", show_default=False, help="Field that holds the texts; text, unless said.")
]
LabelField = Annotated[
    str | None, typer.Option(metavar="A", show_default=False, help="Field of known classes, to compare topics with.")
]
MinDf = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        show_default=False,
        help="Texts a word must be in; unless said 2, from 300 texts on n / 100, up to 5.",
    ),
]
MaxDf = Annotated[float, typer.Option(metavar="SHARE", help="Share of the texts that a word may be in.")]
StopWords = Annotated[
    str, typer.Option(metavar="WHICH", help="Words to leave out: english, none, or a file with one a line.")
]
Starts = Annotated[int, typer.Option(metavar="N", help="Starts: the best is kept, others say how stable it is.")]
HeldOut = Annotated[str, typer.Option(metavar="SHARE", help="Texts held out for the perplexity, 10% or 0.1; 0: none.")]
Compare = Annotated[bool, typer.Option("--compare", help="Fit scikit-learn's LDA, too: one start, 50 passes.")]
Seed = Annotated[int, typer.Option(metavar="N", help="For random starts and what is held out.")]
Shares = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        show_default=False,
        help="Write the shares of topics of each text: csv, tsv, jsonl, parquet, …",
    ),
]
Words = Annotated[
    str | None,
    typer.Option(metavar="FILE", show_default=False, help="Write the top words of each topic, likewise."),
]


@takes_groups()
def topics(
    context: typer.Context,
    texts: Texts,
    keep: Keep = None,
    loss: Loss = "kl",
    text: TextField = None,
    label: LabelField = None,
    min_df: MinDf = None,
    max_df: MaxDf = 0.5,
    stop_words: StopWords = "english",
    starts: Starts = 5,
    held_out: HeldOut = "0.1",
    compare: Compare = False,
    seed: Seed = 0,
    output: Shares = None,
    words: Words = None,
    report: Report = None,
    *,
    raw: options.Raw = False,
    talk: TalkOptions,
) -> int:
    """Find topics in texts: words that go together, and how much of each text they make up.

    Counts of words are split into topics by non-negative matrix factorisation. Beside each topic stand its coherence
    (NPMI), and how alike it comes out of other starts.
    """
    from lowdim.cli.writing import check_output, check_table

    if keep is None:
        raise BadParameter(f"say how many topics there should be, as in lowdim topics {shlex.quote(texts)} --keep 10.")
    for path in (output, words):
        check_table(OutputOptions(path, raw=raw), texts, stop_words, optional=True)
    check_output(report, texts, stop_words, ending=".html")
    _refuse_one_place(output, words)
    if "-" in (output, words) and talk.json:
        raise BadParameter("a table and --json cannot both go to standard output; name a file for one of them.")
    refuse_absent(texts)
    from lowdim.recipes.topics.topics import topics as find

    settings: dict[str, Any] = {
        "loss": loss,
        "text": text,
        "label": label,
        "min_df": min_df,
        "max_df": max_df,
        "starts": starts,
        "held_out": parsing.parse_share("--held-out", held_out, HELD_OUT_NEEDED),
        "compare": compare,
        "seed": seed,
    }
    with prefix_errors(texts):
        found = find(texts, keep, stop_words=_read_stop_words(stop_words), **settings)
    for path, name in ((output, "documents"), (words, "words")):
        if path is not None:
            OutputOptions(path, raw=raw).write(found.table(name))
    if report is not None:
        from lowdim.recipes.topics.overview import topics_payload

        made = python_call(find, [texts, keep], {**settings, "stop_words": _stop_words_in_python(stop_words)})
        write_page(report, topics_payload, found, made, context.obj)
    again = f"lowdim topics {shlex.quote(texts)} --keep {keep}{_type_again(context)}"
    _say(texts, found, [path for path in (output, words, report) if path is not None], again, talk)
    return 0


def _type_again(context: typer.Context) -> str:
    """The options that were typed and decide which topics are found, to be typed once more."""
    typed = ""
    for name in FINDING:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            typed += f" --{name.replace('_', '-')} {shlex.quote(str(context.params[name]))}"
    return typed


def _refuse_one_place(output: str | None, words: str | None) -> None:
    """An error if both tables would go to the same file, or to standard output."""
    if output is None or words is None:
        return
    if output == words == "-":
        raise BadParameter("-o and --words cannot both go to standard output; name a file for one of them.")
    if "-" not in (output, words) and os.path.realpath(output) == os.path.realpath(words):
        raise BadParameter(f"{words}: -o and --words would write over each other; choose another name for one of them.")


def _read_stop_words(wish: str) -> Any:
    if wish in ("english", "none"):
        return None if wish == "none" else wish
    refuse_absent(wish)
    try:
        with open(wish, encoding="utf-8") as file:
            return file.read().split()
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile(f"{wish}: cannot be read as stop words, one a line in UTF-8 ({error}).") from error


def _stop_words_in_python(wish: str) -> Any:
    if wish in ("english", "none"):
        return None if wish == "none" else wish
    return Code(f"open({wish!r}, encoding='utf-8').read().split()")


def _say(name: str, found: Topics, written: list[str], again: str, talk: TalkOptions) -> None:
    from lowdim.recipes.topics.overview import topic_facts, topic_lines
    from lowdim.views.text.lines import Line
    from lowdim.views.text.screen import next_steps

    def lines(width: int) -> list[Line]:
        files = [Line(""), Line(f"written   {', '.join(written)}")] if written else []
        return [*topic_lines(name, found, width), *files, *next_steps(tuple(_next(again, found, written)), width)]

    to = sys.stderr if "-" in written else sys.stdout
    talk.say("topics", lambda: {"data": name, "written": written, **topic_facts(found)}, lines, to)


def _next(again: str, found: Topics, written: list[str]) -> list[tuple[str, str]]:
    """Command lines to go on with."""
    steps = [] if len(found.scores) > 1 else [(f"{again} --compare", "LDA beside it")]
    return steps if written else [*steps, (f"{again} -o shares.csv", "topics of each text")]
