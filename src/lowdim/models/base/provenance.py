"""What a result was made with."""

from __future__ import annotations

import numpy as np


def versions() -> tuple[tuple[str, str], ...]:
    """Of the packages that a result depends on."""
    import scipy

    from lowdim import __version__

    return (("lowdim", __version__), ("numpy", np.__version__), ("scipy", scipy.__version__))
