"""What a fit did or would do, in words."""

from __future__ import annotations

from lowdim.results.certificate import counted
from lowdim.results.linear import LinearFit


def explain_fit(fit: LinearFit) -> str:
    """The story of a fit."""
    made = fit.provenance
    share = fit.shares.sum()
    return "\n".join(
        [
            f"data       {made.data}",
            f"solver     {made.solver}",
            f"because    {made.reason}",
            f"read       {counted(made.passes, 'pass', 'es')} over the rows{_bytes_read(fit.certificate.bytes_read)}",
            f"memory     about {size(made.memory)} beside the data and the result",
            f"kept       {fit.k} components, {share:.4%} of the variance",
            f"accuracy   {fit.certificate}".replace("\n", "\n           "),
        ]
    )


def explain_plan(data: str, solver: str, reason: str, passes: str, memory: int, keep: str, tol: float) -> str:
    """The story of a fit that has not been made yet."""
    return "\n".join(
        [
            f"data       {data}",
            f"keep       {keep}",
            f"solver     {solver}",
            f"because    {reason}",
            f"will read  {passes} over the rows",
            f"memory     about {size(memory)} beside the data and the result",
            f"accuracy   every variance to a relative {tol:.0e}, or a warning",
        ]
    )


def size(count: float) -> str:
    """Bytes as a person says them."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.3g} {unit}"
        count /= 1000
    raise AssertionError


def _bytes_read(count: int | None) -> str:
    return "" if count is None else f", {size(count)}"
