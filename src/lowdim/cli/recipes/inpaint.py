"""`lowdim inpaint`: the missing pixels of a picture, filled with what the rest of it says about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from lowdim.cli import options
from lowdim.cli.errors import say_line
from lowdim.cli.options import naming, refuse_absent
from lowdim.cli.writing import Report, call, write_page
from lowdim.errors import BadParameter

if TYPE_CHECKING:
    from lowdim.recipes.pictures.result import Restored

EXAMPLES = """
lowdim inpaint hole.png --mask mask.png -o filled.png  # white is missing
lowdim inpaint cut.png --missing alpha -o filled.png   # transparent is
lowdim inpaint map.png --missing "#ff00ff" -o filled.png --sd sure.npy
lowdim inpaint hole.png --mask mask.png --report hole.html  # before, after
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
Sigma = Annotated[str, typer.Option(metavar="NUMBER", help="Standard deviation of the noise of known pixels, or auto.")]
Patch = Annotated[int, typer.Option(metavar="PIXELS", help="Side of the patches.")]
Clean = Annotated[
    str | None, typer.Option(metavar="FILE", show_default=False, help="The true picture, to say how near it came.")
]
Sd = Annotated[
    str | None,
    typer.Option(metavar="FILE", show_default=False, help="Write the standard deviation of each pixel, as .npy."),
]
Output = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="FILE", show_default=False, help="Where to write: .png, .jpg or .tif."),
]


def inpaint(
    context: typer.Context,
    picture: File,
    output: Output = None,
    mask: Mask = None,
    missing: Missing = None,
    method: Method = "grouped",
    sigma: Sigma = "auto",
    patch: Patch = 8,
    clean: Clean = None,
    sd: Sd = None,
    report: Report = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> int:
    """Fill the missing pixels of a picture from its other pixels.

    Overlapping patches are filled with what the Gaussian of similar patches expects of them; known pixels stay as
    they are. With --missing alpha the picture that is written is opaque where it was filled.
    """
    from lowdim.cli.console import shown

    noise = options.noise_of(sigma)
    _check(picture, output, mask, missing, clean, sd, report)
    from lowdim.recipes.pictures.inpaint import inpaint as fill
    from lowdim.sources.formats.pictures import read_picture
    from lowdim.views.files.pictures import check_picture

    with naming(picture):
        pixels = read_picture(picture)
        if output is not None:
            check_picture(output, pixels.dtype, pixels.shape)
        with shown(quiet or json):
            filled = fill(pixels, mask, method=method, missing=missing, sigma=noise, patch=patch, clean=clean)
    if output is not None:
        filled.save(output)
    if sd is not None:
        from lowdim.cli.writing import write_array

        write_array(sd, filled.deviations)
    if report is not None:
        from lowdim.recipes.pictures.overview import restored_payload

        settings = {
            "method": (method, "grouped"),
            "missing": (missing, None),
            "sigma": (noise, None),
            "patch": (patch, 8),
            "clean": (clean, None),
        }
        made = call("inpaint", [picture, *([] if mask is None else [mask])], settings)
        write_page(report, restored_payload, filled, made, context.obj)
    holes = int((filled.deviations > 0).sum())
    if json:
        _say_json(picture, filled, holes, output, report)
    elif not quiet:
        say_line(_said(picture, filled, holes, output or report))
    return 0


def _check(
    picture: str,
    output: str | None,
    mask: str | None,
    missing: str | None,
    clean: str | None,
    sd: str | None,
    report: str | None,
) -> None:
    """Refuse, before any work, what could not be read or written."""
    from lowdim.cli.writing import check_output

    if mask is None and missing is None:
        raise BadParameter("say which pixels are missing: --mask mask.png (white is missing), or --missing alpha.")
    if output is None and sd is None and report is None:
        raise BadParameter(f"say where to write the picture, as in lowdim inpaint {picture} -o filled.png.")
    check_output(output, picture, mask, clean, picture=True)
    check_output(sd, picture, mask, clean, output, ending=".npy")
    check_output(report, picture, mask, clean, ending=".html")
    for path in (picture, mask, clean):
        if path is not None:
            refuse_absent(path)


def _said(name: str, filled: Restored, holes: int, output: str | None) -> str:
    where = "" if output is None else f"{output}: "
    if not holes:
        return f"{where}no pixel of {name} was missing"
    sure = filled.deviations[filled.deviations > 0]
    line = (
        f"{where}{holes:,} of {filled.deviations.size:,} values of {name} filled, to about ± {1.96 * sure.mean():.1f}"
    )
    return line if filled.psnr is None else f"{line}; {filled.psnr:.2f} dB from the true picture"


def _say_json(name: str, filled: Restored, holes: int, output: str | None, report: str | None) -> None:
    from lowdim.cli.console import say_json

    sure = filled.deviations[filled.deviations > 0]
    say_json(
        "inpaint",
        {
            "data": name,
            "output": output,
            "report": report,
            "method": filled.method,
            "shape": filled.picture.shape,
            "missing": holes,
            "noise_sd": filled.noise_sd,
            "mean_sd": float(sure.mean()) if holes else 0.0,
            "psnr": filled.psnr,
            "psnr_before": filled.psnr_before,
        },
    )
