"""Figures of a PCA, and of a PCA of rows with holes."""

from __future__ import annotations

from lowdim.models.base.picture_plots import gallery, holes, reconstruction, traversal
from lowdim.models.linear.column_figures import PICTURES, compression
from lowdim.models.linear.row_figures import LinearPlots


class PCAPlots(LinearPlots):
    """What can be drawn of a PCA, whose rows may be pictures."""

    compression = compression
    gallery = gallery
    reconstruction = reconstruction
    traversal = traversal
    _pictures = PICTURES


class HoledPlots(LinearPlots):
    """What can be drawn of a PCA of rows with holes."""

    compression = compression
    gallery = gallery
    reconstruction = reconstruction
    traversal = traversal
    holes = holes
    _pictures = PICTURES
