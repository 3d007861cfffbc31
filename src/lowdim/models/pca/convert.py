"""Fitted scikit-learn models as ours."""

from __future__ import annotations

from typing import Any

import numpy as np
import sklearn
from sklearn import decomposition
from sklearn.utils.validation import check_is_fitted

from lowdim import __version__
from lowdim.errors import BadInput
from lowdim.models.pca.model import PCA
from lowdim.results.certificate import blank_certificate
from lowdim.results.record import LinearFit, Provenance

NOTE = "converted, so nothing is certified: fit the data with lowdim for that"


def convert(model: Any) -> PCA:
    """A fitted scikit-learn PCA or IncrementalPCA as a lowdim PCA: the same numbers, to transform, save and look at.

    Its certificate says that nothing is certified: how exact the numbers are, only a fit with lowdim can tell.

    Parameters
    ----------
    model : PCA or IncrementalPCA of scikit-learn
        Fitted.

    Returns
    -------
    PCA
        A model of this library's; the first one stays as it is.

    Examples
    --------
    >>> import lowdim
    >>> from sklearn.decomposition import PCA
    >>> X = lowdim.datasets.iris().values
    >>> theirs = PCA(2).fit(X)
    >>> ours = lowdim.convert(theirs)
    >>> bool(abs(ours.transform(X) - theirs.transform(X)).max() < 1e-12)
    True
    """
    if not isinstance(model, (decomposition.PCA, decomposition.IncrementalPCA)):
        raise BadInput(
            f"A {type(model).__module__}.{type(model).__name__} cannot be converted: pass a fitted PCA or "
            "IncrementalPCA of scikit-learn."
        )
    check_is_fitted(model)
    ours = PCA(
        n_components=int(model.n_components_),
        whiten=bool(model.whiten),
        svd_solver=getattr(model, "svd_solver", "auto"),
    )
    ours._record = _record(model)
    ours._moments = None
    ours._frame_kind, ours._itemsize = None, int(model.components_.dtype.itemsize)
    ours._data_spacing = float(np.finfo(float).eps)
    ours._columns = ours._record.columns
    ours.n_features_in_ = model.n_features_in_
    if hasattr(model, "feature_names_in_"):
        ours.feature_names_in_ = model.feature_names_in_
    return ours


def _record(model: Any) -> LinearFit:
    components = model.components_.astype(np.float64)
    variances = np.maximum(model.explained_variance_.astype(np.float64), 0.0)
    p = components.shape[1]
    ratios = model.explained_variance_ratio_
    total = float(variances.sum() / ratios.sum()) if ratios.sum() > 0 else float(variances.sum())
    n = int(model.n_samples_seen_ if isinstance(model, decomposition.IncrementalPCA) else model.n_samples_)
    made_by = f"scikit-learn {sklearn.__version__} {type(model).__name__}"
    columns = getattr(model, "feature_names_in_", None)
    return LinearFit(
        mean=model.mean_.astype(np.float64),
        scale=np.ones(p),
        column_weight=None,
        components=components,
        variances=variances,
        singular_values=model.singular_values_.astype(np.float64),
        total_variance=max(total, float(variances.sum())),
        n_rows=n,
        weight=float(n),
        ddof=1,
        certificate=blank_certificate(components, variances, total, made_by, NOTE),
        provenance=Provenance("unknown data", made_by, "converted", 0, 0, "unknown", (("lowdim", __version__),)),
        columns=None if columns is None else tuple(map(str, columns)),
    )
