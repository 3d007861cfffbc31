"""`lowdim denoise`: a picture without its noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from lowdim.cli import parsing
from lowdim.cli.data import prefix_errors, refuse_absent
from lowdim.cli.errors import say_line
from lowdim.cli.groups import takes_groups
from lowdim.cli.options import TalkOptions
from lowdim.cli.writing import Report, python_call, write_page
from lowdim.errors import BadParameter

if TYPE_CHECKING:
    from lowdim.recipes.pictures.picture import Restored

EXAMPLES = """
lowdim denoise noisy.png -o clean.png              # how strong is found
lowdim denoise noisy.png --sigma 25 -o clean.png   # ... or said
lowdim denoise noisy.tif -o clean.tif --sd sd.npy  # and how sure pixels are
lowdim denoise noisy.png -o clean.png --report noisy.html  # before, after
"""

Image = Annotated[str, typer.Argument(metavar="IMG", show_default=False, help="A picture: PNG, JPEG or TIFF.")]
Output = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="FILE", show_default=False, help="Where to write: png, jpg or tif."),
]
Sigma = Annotated[
    str, typer.Option(metavar="NUMBER", help="Standard deviation of the noise on the picture's scale, or auto.")
]
Method = Annotated[str, typer.Option(metavar="NAME", help="How: grouped, mixture, threshold or ppca.")]
Patch = Annotated[int, typer.Option(metavar="PIXELS", help="Width of the patches.")]
Clean = Annotated[
    str | None,
    typer.Option(metavar="FILE", show_default=False, help="The true picture, to say how near the result is."),
]
Sd = Annotated[
    str | None,
    typer.Option(metavar="FILE", show_default=False, help="Write the standard deviation of each pixel, as .npy."),
]


@takes_groups()
def denoise(
    context: typer.Context,
    image: Image,
    output: Output = None,
    sigma: Sigma = "auto",
    method: Method = "grouped",
    patch: Patch = 8,
    clean: Clean = None,
    sd: Sd = None,
    report: Report = None,
    *,
    talk: TalkOptions,
) -> int:
    """Take noise off a picture, by what its patches have in common.

    The result has the size, the channels and the depth of the picture. Noise is taken to be white, and as strong
    everywhere.
    """
    from lowdim.cli.writing import check_output, write_array

    if output is None:
        raise BadParameter(f"a picture is written to a file: say which, as in lowdim denoise {image} -o clean.png.")
    check_output(output, image, clean, picture=True)
    check_output(sd, image, clean, output, ending=".npy")
    check_output(report, image, clean, ending=".html")
    noise = parsing.parse_noise(sigma)
    for path in (image, clean):
        if path is not None:
            refuse_absent(path)
    from lowdim.recipes.pictures.denoise import denoise as restore
    from lowdim.sources.formats.pictures import read_picture
    from lowdim.views.files.pictures import check_picture

    with prefix_errors(image):
        pixels = read_picture(image)
        check_picture(output, pixels.dtype, pixels.shape)
        found = restore(pixels, noise, method=method, patch=patch, clean=clean)
    found.save(output)
    if sd is not None:
        write_array(sd, found.deviations)
    if report is not None:
        from lowdim.recipes.pictures.overview import restored_payload

        settings = {"method": method, "patch": patch, "clean": clean}
        made = python_call(restore, [image, *([] if noise is None else [noise])], settings)
        write_page(report, restored_payload, found, made, context.obj)
    if talk.json:
        from lowdim.cli.console import say_json

        say_json("denoise", picture_facts(image, output, found, report, found.deviations.mean()))
    elif not talk.quiet:
        say_line(_summarise(image, output, found, noise is None))
    return 0


def picture_facts(image: str, output: str | None, found: Restored, report: str | None, mean_sd: Any) -> dict[str, Any]:
    """What JSON says of a picture that was restored."""
    return {
        "data": image,
        "output": output,
        "report": report,
        "shape": found.picture.shape,
        "method": found.method,
        "noise_sd": found.noise_sd,
        "mean_sd": mean_sd,
        "psnr": found.psnr,
        "psnr_before": found.psnr_before,
    }


def _summarise(image: str, output: str, found: Restored, learnt: bool) -> str:
    if found.noise_sd == 0:
        return f"{output}: {image} as it is, without noise"
    noise = f"noise of standard deviation {found.noise_sd:.3g}{' (found)' if learnt else ''} taken off {image}"
    line = f"{output}: {noise}; pixels are sure to {found.deviations.mean():.2g} on average"
    if found.psnr is None:
        return line
    return f"{line}; {found.psnr:.2f} dB against the clean picture, {found.psnr_before:.2f} before"
