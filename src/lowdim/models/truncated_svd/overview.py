"""What card, screen, JSON and page show of a truncated SVD: what they show of any linear fit, about squares."""

from __future__ import annotations

from dataclasses import replace

from lowdim.models.linear import overview as linear
from lowdim.models.truncated_svd.record import TruncatedSVDFit
from lowdim.views.overview import Overview, Swamped

page = linear.page


def overview(fit: TruncatedSVDFit) -> Overview:
    """What is said of a truncated SVD."""
    seen = linear.overview(fit)
    # columns of large numbers rule it by what it is: no scaling would be advice
    return replace(seen, model="Truncated singular value decomposition", swamped=Swamped(()), prepared=False, grows="")
