"""Principal component analysis of rows that come in batches, by scikit-learn's name for it."""

from __future__ import annotations

from typing import Any

from lowdim.models.base.parameters import Components, Count
from lowdim.models.pca.model import PCA


class IncrementalPCA(PCA):
    """PCA of rows that come batch by batch: exactly what all rows at once give, whatever the batches and their order.

    scikit-learn's parameters and attributes, on `PCA.partial_fit`: instead of a sketch of the rows seen so far, which
    forgets what did not fit into it, it keeps their p × p scatter. Everything that `PCA` offers is here too.

    Parameters
    ----------
    n_components : int, float, "mle" or None
        A number of components; a share of the variance that they must reach (0.9); Minka's choice; or all.
    whiten : bool
        Divide the scores by their standard deviations.
    copy : bool
        Accepted for scikit-learn's sake: the data are never changed.
    batch_size : int or None
        Rows that `fit` reads at a time from a file or another source that is not in memory; None: 5 p. The result does
        not depend on it.

    References
    ----------
    Chan, Golub & LeVeque 1983, "Algorithms for computing the sample variance", for merging the moments of batches.

    Examples
    --------
    >>> import numpy as np
    >>> import lowdim
    >>> X = lowdim.datasets.iris().values
    >>> model = lowdim.IncrementalPCA(2)
    >>> for batch in np.array_split(X, 7):
    ...     model = model.partial_fit(batch)
    >>> model.n_samples_seen_
    150
    >>> bool(abs(model.components_ - lowdim.PCA(2).fit(X).components_).max() < 1e-12)
    True
    """

    # the settings of PCA that scikit-learn's IncrementalPCA does not have
    svd_solver = "covariance_eigh"
    tol: float = 0.0
    iterated_power: Any = "auto"
    n_oversamples = 10
    power_iteration_normalizer = "auto"
    random_state: Any = None
    center = True
    scale: Any = False
    ddof = 1
    column_weight: Any = None
    missing = "error"
    memory: Any = None

    def __init__(
        self,
        n_components: Components = None,
        *,
        whiten: bool = False,
        copy: bool = True,
        batch_size: Count | None = None,
    ):
        self.n_components = n_components
        self.whiten = whiten
        self.copy = copy
        self.batch_size = batch_size

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> IncrementalPCA:
        """Find the components of the rows of X, (n, p), read in batches; rows of earlier calls are forgotten.

        Parameters
        ----------
        X : whatever `PCA.fit` takes
            Rows, (n, p).
        y : ignored
        sample_weight : array of shape (n,) or None
            How often each row counts: 2 means twice.

        Returns
        -------
        IncrementalPCA
            The model itself.
        """
        source = self._opened(X, reset=True)
        a_row = source.n_columns * source.dtype.itemsize
        super().fit(source.limited(self.batch_size_ * a_row), y, sample_weight)
        self._remember(X, source)
        return self

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None, check_input: bool = True) -> IncrementalPCA:
        """Add rows; `check_input` is accepted for scikit-learn's sake, and data are checked anyway.

        Parameters
        ----------
        X : whatever `PCA.fit` takes
            Rows, (n, p).
        y : ignored
        sample_weight : array of shape (n,) or None
            How often each row counts: 2 means twice.
        check_input : bool
            Accepted; data are always checked.

        Returns
        -------
        IncrementalPCA
            The model itself.
        """
        super().partial_fit(X, y, sample_weight)
        return self

    @property
    def batch_size_(self) -> int:
        """Rows that `fit` reads at a time."""
        return 5 * int(self.n_features_in_) if self.batch_size is None else int(self.batch_size)
