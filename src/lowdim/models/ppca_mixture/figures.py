"""Figures of a mixture: its clusters as groups of rows."""

from __future__ import annotations

from functools import partial

import numpy as np

from lowdim.models.base.picture_plots import Pictures, gallery, holes
from lowdim.models.base.plots import Plots, path
from lowdim.models.ppca_mixture.record import MixtureFit
from lowdim.models.vector_quantizer.figures import Clusters, centres_basis, clusters_by_size


def clusters(fit: MixtureFit) -> Clusters:
    """The clusters, the commonest first, with means in the data's units."""
    return clusters_by_size(fit.weights, fit.center + fit.scale * fit.means, np.sqrt(fit.noise))


class MixturePlots(Plots):
    """What can be drawn of a mixture: its gallery are the means of clusters, the commonest first."""

    gallery = gallery
    holes = holes
    path = path
    _pictures = Pictures(partial(centres_basis, find=clusters, caption="how common it is"), "cluster")
