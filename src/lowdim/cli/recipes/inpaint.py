"""`lowdim inpaint`: the missing pixels of a picture, filled with what the rest of it says about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from lowdim.cli import parsing
from lowdim.cli.data import prefix_errors, refuse_absent
from lowdim.cli.errors import say_line
from lowdim.cli.groups import takes_groups
from lowdim.cli.options import TalkOptions
from lowdim.cli.recipes.denoise import Clean, Patch, Sd, picture_facts
from lowdim.cli.writing import Report, python_call, write_page
from lowdim.errors import BadParameter

if TYPE_CHECKING:
    from lowdim.recipes.pictures.picture import Restored

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
Output = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="FILE", show_default=False, help="Where to write: .png, .jpg or .tif."),
]


@takes_groups()
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
    *,
    talk: TalkOptions,
) -> int:
    """Fill the missing pixels of a picture from its other pixels.

    Overlapping patches are filled with what the Gaussian of similar patches expects of them; known pixels stay as
    they are. With --missing alpha the picture that is written is opaque where it was filled.
    """
    noise = parsing.parse_noise(sigma)
    _check(picture, output, mask, missing, clean, sd, report)
    from lowdim.recipes.pictures.inpaint import inpaint as fill
    from lowdim.sources.formats.pictures import read_picture
    from lowdim.views.files.pictures import check_picture

    settings: dict[str, Any] = {"method": method, "missing": missing, "sigma": noise, "patch": patch, "clean": clean}
    with prefix_errors(picture):
        pixels = read_picture(picture)
        if output is not None:
            check_picture(output, pixels.dtype, pixels.shape)
        filled = fill(pixels, mask, **settings)
    if output is not None:
        filled.save(output)
    if sd is not None:
        from lowdim.cli.writing import write_array

        write_array(sd, filled.deviations)
    if report is not None:
        from lowdim.recipes.pictures.overview import restored_payload

        made = python_call(fill, [picture, *([] if mask is None else [mask])], settings)
        write_page(report, restored_payload, filled, made, context.obj)
    holes = int((filled.deviations > 0).sum())
    if talk.json:
        from lowdim.cli.console import say_json

        sure = float(filled.deviations[filled.deviations > 0].mean()) if holes else 0.0
        say_json("inpaint", {**picture_facts(picture, output, filled, report, sure), "missing": holes})
    elif not talk.quiet:
        say_line(_summarise(picture, filled, holes, output or report))
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


def _summarise(name: str, filled: Restored, holes: int, output: str | None) -> str:
    where = "" if output is None else f"{output}: "
    if not holes:
        return f"{where}no pixel of {name} was missing"
    sure = filled.deviations[filled.deviations > 0]
    line = (
        f"{where}{holes:,} of {filled.deviations.size:,} values of {name} filled, to about ± {1.96 * sure.mean():.1f}"
    )
    return line if filled.psnr is None else f"{line}; {filled.psnr:.2f} dB from the true picture"
