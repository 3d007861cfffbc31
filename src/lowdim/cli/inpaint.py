"""`lowdim inpaint`: the missing pixels of a picture, filled with what the rest of it says about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from lowdim.cli import options
from lowdim.cli.exits import say_line
from lowdim.errors import BadParameter

if TYPE_CHECKING:
    from lowdim.recipes.restored import Restored

EXAMPLES = """
lowdim inpaint hole.png --mask mask.png -o filled.png    # white in the mask is missing
lowdim inpaint cut.png --missing alpha -o filled.png     # transparent pixels are
lowdim inpaint map.png --missing "#ff00ff" -o filled.png --sd sure.npy
"""

File = Annotated[str, typer.Argument(metavar="IMG", show_default=False, help="A grey or colour picture.")]
Mask = Annotated[
    str | None,
    typer.Option(metavar="FILE", show_default=False, help="A picture of its size: white is missing, black is known."),
]
Missing = Annotated[
    str | None, typer.Option(metavar="WHAT", show_default=False, help="Or what marks them: alpha, or a #rrggbb.")
]
Method = Annotated[str, typer.Option(metavar="NAME", help="How: grouped (the best), mixture, or ppca.")]
Sigma = Annotated[
    float | None,
    typer.Option(metavar="SD", show_default=False, help="Noise of the known pixels; it is learnt if not given."),
]
Patch = Annotated[int, typer.Option(metavar="PIXELS", help="Side of the patches.")]
Clean = Annotated[
    str | None, typer.Option(metavar="FILE", show_default=False, help="The true picture, to say how near it came.")
]
Sd = Annotated[
    str | None,
    typer.Option(metavar="FILE", show_default=False, help="Standard deviations: .npy, or a picture that rounds them."),
]
Output = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="FILE", show_default=False, help="Where to write: .png, .jpg or .tif."),
]


def inpaint(
    picture: File,
    output: Output = None,
    mask: Mask = None,
    missing: Missing = None,
    method: Method = "grouped",
    sigma: Sigma = None,
    patch: Patch = 8,
    clean: Clean = None,
    sd: Sd = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Fill the missing pixels of a picture from its other pixels.

    Overlapping patches are filled with what the Gaussian of similar patches expects of them; known pixels stay as
    they are. With --missing alpha the picture that is written is opaque where it was filled.
    """
    from lowdim.cli.progress import shown
    from lowdim.recipes.inpaint import inpaint as fill

    _check(picture, output, mask, missing, sd)
    with shown(quiet):
        filled = fill(picture, mask, method=method, missing=missing, sigma=sigma, patch=patch, clean=clean)
    if output is not None:
        filled.save(output)
    if sd is not None:
        _write_deviations(filled, sd)
    holes = int((filled.deviations > 0).sum())
    if json:
        _say_json(picture, filled, holes, output)
    elif not quiet:
        say_line(_said(picture, filled, holes, output))
    return 0


def _check(picture: str, output: str | None, mask: str | None, missing: str | None, sd: str | None) -> None:
    from lowdim.cli.writing import check_output
    from lowdim.views.picture_files import picture_kind

    if mask is None and missing is None:
        raise BadParameter("say which pixels are missing: --mask mask.png (white is missing), or --missing alpha.")
    if output is None and sd is None:
        raise BadParameter("say where to write the picture, as in -o filled.png.")
    for path in (output, sd):
        if path is not None:
            if not (path is sd and path.lower().endswith(".npy")):
                picture_kind(path)
            check_output(path, picture, mask, ending="." + path.rsplit(".", 1)[-1].lower())


def _write_deviations(filled: Restored, path: str) -> None:
    import numpy as np

    if path.lower().endswith(".npy"):
        from lowdim.results.atomic import atomic_write

        with atomic_write(path) as file:
            np.save(file, filled.deviations)
        return
    from lowdim.views.picture_files import write_picture

    write_picture(path, np.clip(np.rint(filled.deviations), 0, 255).astype(np.uint8))


def _said(name: str, filled: Restored, holes: int, output: str | None) -> str:
    where = "" if output is None else f"{output}: "
    if not holes:
        return f"{where}no pixel of {name} was missing"
    sure = filled.deviations[filled.deviations > 0]
    line = (
        f"{where}{holes:,} of {filled.deviations.size:,} values of {name} filled, to about ± {1.96 * sure.mean():.1f}"
    )
    return line if filled.psnr is None else f"{line}; {filled.psnr:.2f} dB from the true picture"


def _say_json(name: str, filled: Restored, holes: int, output: str | None) -> None:
    from lowdim.cli.talk import say_json

    sure = filled.deviations[filled.deviations > 0]
    say_json(
        "inpaint",
        {
            "picture": name,
            "output": output,
            "method": filled.method,
            "missing": holes,
            "values": filled.deviations.size,
            "noise_sd": filled.noise_sd,
            "mean_sd": float(sure.mean()) if holes else 0.0,
            "psnr": filled.psnr,
        },
    )
