"""Options that several verbs share, each described once. Importing this loads nothing but typer."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from lowdim.errors import BadParameter

Data = Annotated[
    str,
    typer.Argument(metavar="DATA", show_default=False, help="A table: file, folder, pattern, or - for standard input."),
]
ModelFile = Annotated[str, typer.Argument(metavar="MODEL", show_default=False, help="A .lowdim model file.")]

KEEP = "90%"
"""Components that are kept if nothing is said."""

CODEWORDS = 8
"""Codewords of a codebook if nothing is said."""

CODES = 2
"""Codes of an autoencoder or a logistic PCA if nothing is said: a plane, which can be looked at."""

AXES = 10
"""Axes of a PCA of genotypes if nothing is said, as smartpca gives them."""

Keep = Annotated[
    str,
    typer.Option(
        metavar="HOW",
        help="Components to keep: 90% of the variance, 12, all; pca: mle; ppca: 12, auto, bic, ard; kernel: auto too; "
        "nmf: 12, auto; vq, logistic and autoencoder: 12.",
    ),
]
Model = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Which model: pca, ppca where values are missing, kernel for curved shapes, nmf for parts that add up, "
        "vq for a codebook, logistic for yes and no or counts, genotypes for copies of an allele, autoencoder for a "
        "network.",
    ),
]
Kernel = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        show_default=False,
        help="Of --model kernel: rbf (unless said), laplacian, poly, linear, cosine, sigmoid.",
    ),
]
Gamma = Annotated[
    str | None,
    typer.Option(
        metavar="HOW",
        show_default=False,
        help="Its width: median (unless said; of the distances between rows), auto, or a number.",
    ),
]
Loss = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        show_default=False,
        help="Of --model nmf: frobenius (unless said), kl for counts, itakura-saito, or a number β; of autoencoder: "
        "bce for numbers from 0 to 1, mse.",
    ),
]
Hidden = Annotated[
    str | None,
    typer.Option(
        metavar="A,B",
        show_default=False,
        help="Of --model autoencoder: units of its hidden layers, the first next to the columns, or none.",
    ),
]
Family = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        show_default=False,
        help="Of --model logistic: bernoulli (unless said) for values from 0 to 1, poisson for counts, gaussian.",
    ),
]
Autosomes = Annotated[
    str | None,
    typer.Option(
        metavar="N",
        show_default=False,
        help="Of genotypes: leave out SNPs on chromosomes beyond this, and X, Y, MT: 22 (unless said), all.",
    ),
]
Epochs = Annotated[
    str | None, typer.Option(metavar="N", show_default=False, help="Its epochs, at most: times that it sees all rows.")
]
Scale = Annotated[bool, typer.Option("--scale", help="Give every column variance 1 first.")]
Memory = Annotated[
    str | None,
    typer.Option(metavar="SIZE", show_default=False, help="Most memory the process may take, as 512MB or 1GB."),
]

Columns = Annotated[str | None, typer.Option(metavar="A,B", show_default=False, help="Only these columns, by name.")]
Drop = Annotated[str | None, typer.Option(metavar="A,B", show_default=False, help="All columns but these.")]
Label = Annotated[
    str | None, typer.Option(metavar="A", show_default=False, help="A column that is kept aside, to name the rows.")
]
Weight = Annotated[
    str | None, typer.Option(metavar="A", show_default=False, help="A column of row weights: 2 counts a row twice.")
]
Encode = Annotated[bool, typer.Option("--encode", help="Turn columns of text into columns of 0 and 1.")]
Table = Annotated[
    str | None,
    typer.Option(metavar="NAME", show_default=False, help="Which sheet, table or array of the file."),
]
Sql = Annotated[
    str | None, typer.Option(metavar="QUERY", show_default=False, help="Read what a query gives; the table is `data`.")
]

Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        show_default=False,
        help="Where to write, by its ending: csv, tsv, parquet, feather, jsonl, npy, npz; - is standard output.",
    ),
]
Raw = Annotated[
    bool, typer.Option("--raw", help="Write text as it stands, also where a spreadsheet would take it for a formula.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would be read and needed; fits nothing.")]


def names_of(text: str | None) -> list[str] | None:
    """Names in a list such as a,b; those with commas in them stand in double quotes."""
    if text is None:
        return None
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]


def setting_of(text: str, elsewhere: Mapping[str, str] | None = None) -> tuple[str, Any]:
    """A setting as it is typed: numbers, lists of them such as 3,7, true and false, or a text.

    `elsewhere`: those that are none of these, and what stands for them at the prompt.
    """
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise BadParameter(f"--set {text}: a setting is typed as NAME=VALUE, such as level=0.99.")
    if elsewhere and name in elsewhere:
        raise BadParameter(f"--set {text}: {elsewhere[name]}.")
    if value.lower() in ("true", "false"):
        return name, value.lower() == "true"
    for kind in (int, float):
        try:
            listed = [kind(part) for part in value.split(",")]
        except ValueError:
            continue
        return name, listed if len(listed) > 1 else listed[0]
    return name, value


def noise_of(sigma: str) -> float | None:
    """What --sigma means: a standard deviation, or None where it is to be found."""
    if sigma == "auto":
        return None
    try:
        return float(sigma)
    except ValueError:
        raise BadParameter(f"--sigma {sigma}: the noise must be a number from 0, or auto.") from None
