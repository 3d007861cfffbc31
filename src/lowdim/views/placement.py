"""Scores on a map, in words."""

from __future__ import annotations

import numpy as np

from lowdim.results.placement import Placement


def explain_placement(found: Placement) -> str:
    """What was fitted, and how sure it is."""
    mirror = "mirrored and " if found.mirrored else ""
    turn = f"turned by {found.angle:.0f} degrees, " if np.isfinite(found.angle) else "turned, "
    drawn = "Gall–Peters, equal areas" if found.projection == "gall-peters" else "coordinates as given"
    lines = [
        f"map        {len(found.positions):,} individuals, {found.positions.shape[1]} axes; {drawn}",
        f"fit        {mirror}{turn}scaled by {found.scale:.4g}",
        f"met        correlation {found.correlation:.3f} (D = {found.disparity:.3f} of the map's squares are not met)",
        f"chance     {_chance(found)}",
    ]
    return "\n".join(lines)


def _chance(found: Placement) -> str:
    if not found.n_permutations:
        return "not asked (n_permutations=0)"
    least = "<=" if found.p_value <= 1 / (1 + found.n_permutations) else "="
    asks = {
        "individuals": "do individuals lie otherwise than at random? Those of one population are alike wherever it is",
        "groups": "do whole populations lie otherwise than at random?",
    }[found.permuted]
    maps = f"{found.n_permutations:,} maps with the places of {found.permuted} given out at random"
    return f"p {least} {found.p_value:.2g} from {maps}: {asks}"
