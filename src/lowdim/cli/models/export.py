"""`lowdim export`: a model as an ONNX graph, for programs in other languages."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from lowdim.cli import options
from lowdim.cli.data import load_model
from lowdim.cli.groups import takes_groups
from lowdim.cli.options import TalkOptions
from lowdim.errors import BadParameter

EXAMPLES = """
lowdim export wine.lowdim -o wine.onnx              # rows in, scores out
lowdim export wine.lowdim -o back.onnx --inverse    # scores in, rows out
"""

Onnx = Annotated[
    str, typer.Option("--output", "-o", metavar="FILE", show_default=False, help="Where to write: a .onnx file.")
]
Inverse = Annotated[bool, typer.Option("--inverse", help="The way back: scores in, rows out.")]
Double = Annotated[bool, typer.Option("--double", help="Compute in float64 in place of float32.")]


@takes_groups(json="what is written is a graph; leave it out")
def export(
    model: options.ModelFile, output: Onnx, inverse: Inverse = False, double: Double = False, *, talk: TalkOptions
) -> int:
    """Write a model as an ONNX graph: rows in, scores out."""
    from lowdim.cli.writing import check_output

    check_output(output, model, ending=".onnx")
    estimator = load_model(model)
    write: Any = getattr(estimator, "export_onnx", None)
    if write is None:
        raise BadParameter(
            f"{model}: only models whose scores are sums over columns, and networks, become ONNX graphs, and "
            f"{type(estimator).__name__} is none; lowdim transform gives its scores."
        )
    write(output, inverse=inverse, dtype="float64" if double else "float32")
    ends = [f"{estimator.n_features_in_:,} columns", f"{estimator.n_components_:,} scores"]
    given, made = reversed(ends) if inverse else ends
    talk.note(output, f"{given} in, {made} out")
    return 0
