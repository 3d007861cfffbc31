"""`lowdim transform`: rows to scores, by a model that was kept."""

from __future__ import annotations

from dataclasses import replace

from lowdim.cli import options
from lowdim.cli.data import OF_MODEL, load_model, open_for_model, prefix_errors, refuse_swapped
from lowdim.cli.errors import say_line
from lowdim.cli.groups import ROWS_ONLY, takes_groups
from lowdim.cli.options import DataOptions, OutputOptions, TalkOptions

EXAMPLES = """
lowdim transform wine.lowdim new.csv -o scores.parquet  # to a file
lowdim transform wine.lowdim new.csv > scores.csv       # as CSV
cat new.csv | lowdim transform wine.lowdim - --label kind
"""


@takes_groups(**OF_MODEL, **ROWS_ONLY)
def transform(
    model: options.ModelFile,
    data: options.Data,
    unseen: options.Unseen = None,
    *,
    wish: DataOptions,
    out: OutputOptions,
    talk: TalkOptions,
) -> int:
    """Give the scores of rows, along the components of a model.

    The columns of the model are found by their names, in any order, among others; SNPs of genotypes with their alleles.
    """
    from lowdim.cli.writing import check_table, write_scores
    from lowdim.words import plural

    refuse_swapped(model, data[0], "transform")
    wish, estimator = replace(wish.of(*data), unseen=unseen), load_model(model)
    check_table(out, *data, model)
    with prefix_errors(wish.name):
        source = open_for_model(wish, estimator, model)
        count = write_scores(source, estimator, out)
    match = getattr(source, "match", None)
    if match is not None and match.in_words() and not talk.quiet:
        say_line(f"{wish.name}: {match.in_words()}")
    talk.note(
        out.output, f"{plural(count, 'row')} × {plural(estimator.n_components_, 'component')}{out.taken_over(source)}"
    )
    return 0
