"""`lowdim export`: a model as an ONNX graph, for programs in other languages."""

from __future__ import annotations

from typing import Annotated

import typer

from lowdim.cli import options
from lowdim.cli.exits import say_line
from lowdim.cli.opening import load_model
from lowdim.errors import BadParameter

EXAMPLES = """
lowdim export wine.lowdim -o wine.onnx    # rows in, scores out, for any ONNX runtime
"""

Onnx = Annotated[
    str, typer.Option("--output", "-o", metavar="FILE", show_default=False, help="Where to write: a .onnx file.")
]


def export(model: options.ModelFile, output: Onnx, quiet: options.Quiet = False) -> int:
    """Write a model as an ONNX graph: rows in, scores out."""
    from lowdim.cli.writing import check_output

    if output == "-":
        raise BadParameter("-o -: an ONNX graph is written to a file; give its name, as in -o model.onnx.")
    check_output(output, model, ending=".onnx")
    estimator = load_model(model)
    from lowdim.views.onnx import write_onnx

    write_onnx(estimator.fit_, output, whiten=estimator.whiten)
    if not quiet:
        say_line(f"{output}: {estimator.n_features_in_:,} columns in, {estimator.n_components_:,} scores out")
    return 0
