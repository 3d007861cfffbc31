"""`lowdim transform`: rows to scores, by a model that was kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lowdim.cli import options
from lowdim.cli.errors import say_line
from lowdim.cli.options import Wish, is_model, load_model, naming
from lowdim.errors import BadParameter, NotNumeric, WrongColumns

if TYPE_CHECKING:
    from lowdim.models.base.estimator import Model
    from lowdim.sources.source import Source

EXAMPLES = """
lowdim transform wine.lowdim new.csv -o scores.parquet  # to a file
lowdim transform wine.lowdim new.csv > scores.csv       # as CSV
cat new.csv | lowdim transform wine.lowdim - --label kind
"""


def transform(
    model: options.ModelFile,
    data: options.Data,
    label: options.Label = None,
    table: options.Table = None,
    sql: options.Sql = None,
    output: options.Output = None,
    raw: options.Raw = False,
    quiet: options.Quiet = False,
) -> int:
    """Give the scores of rows, along the components of a model.

    The columns of the model are found by their names, in any order, among others; SNPs of genotypes with their alleles.
    """
    from lowdim.cli.console import shown
    from lowdim.cli.writing import check_output, write_scores

    check_output(output, data, model)
    refuse_swapped(model, data, "transform")
    estimator = load_model(model)
    wish = Wish(data, label=label, table=table, sql=sql)
    with naming(wish.name):
        source = agreeing(wish, estimator, model)
        with shown(quiet, data):
            count = write_scores(source, estimator, output, label, raw)
    match = getattr(source, "match", None)
    if match is not None and match.in_words() and not quiet:
        say_line(f"{wish.name}: {match.in_words()}")
    if output not in (None, "-") and not quiet:
        from lowdim.results.certificate import counted

        say_line(f"{output}: {counted(count, 'row')} × {counted(estimator.n_components_, 'component')}")
    return 0


def agreeing(wish: Wish, estimator: Model, model: str) -> Source:
    """The data, with the columns that the model was fitted on."""
    from lowdim.models.genotype_pca.model import GenotypePCA
    from lowdim.sources.genotypes.plink import PLINK

    names = estimator.fit_.columns
    if isinstance(estimator, GenotypePCA) and estimator.fit_.alleles is not None and wish.data.lower().endswith(PLINK):
        return estimator.matched(wish.open())
    try:
        source = wish.open(None if names is None else list(names))
    except (BadParameter, NotNumeric) as error:
        if wish.label is not None and repr(wish.label) in str(error):
            raise
        raise WrongColumns(f"{error} The model {model} needs that column.") from error
    if source.n_columns != estimator.n_features_in_:
        raise WrongColumns(
            f"{wish.name}: has {source.n_columns} columns of numbers, but the model {model} was fitted on "
            f"{estimator.n_features_in_}; pass data of the same kind."
        )
    return source


def refuse_swapped(model: str, data: str, verb: str) -> None:
    """Say so if the model stands where the data should."""
    if is_model(data) and not is_model(model):
        raise BadParameter(f"{model}: the model comes first: lowdim {verb} {data} {model}.")
