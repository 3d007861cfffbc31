"""Small data sets that scikit-learn carries, as the same record. lowdim ships no copy of them."""

from __future__ import annotations

from typing import Any

from lowdim.datasets.dataset import Dataset


def iris() -> Dataset:
    """Four lengths of 150 iris flowers of three species.

    Returns
    -------
    Dataset
        values of shape (150, 4) in cm; labels of shape (150,) name the species.

    References
    ----------
    R. A. Fisher, The use of multiple measurements in taxonomic problems, Annals
    of Eugenics 7 (1936), 179–188.

    Examples
    --------
    >>> from lowdim.datasets import iris
    >>> flowers = iris()
    >>> flowers.columns[2], flowers.values.shape
    ('petal length (cm)', (150, 4))
    >>> str(flowers.labels[0])
    'setosa'
    """
    from sklearn.datasets import load_iris

    return _record(load_iris(), "Four lengths of 150 iris flowers of 3 species. Source: Fisher 1936.")


def wine() -> Dataset:
    """Thirteen chemical measurements of 178 wines from three growers in one region of Italy.

    The columns differ in scale by three orders of magnitude: without scaling, PCA sees proline alone.

    Returns
    -------
    Dataset
        values of shape (178, 13); labels of shape (178,) name the grower.

    References
    ----------
    S. Aeberhard & M. Forina, Wine, UCI Machine Learning Repository (1992), doi:10.24432/C5PC7J.

    Examples
    --------
    >>> from lowdim.datasets import wine
    >>> wine().values.shape
    (178, 13)
    >>> wine().columns[-1]
    'proline'
    """
    from sklearn.datasets import load_wine

    return _record(
        load_wine(),
        "13 chemical measurements of 178 wines of 3 growers. Source: Aeberhard & Forina 1992, UCI.",
    )


def digits() -> Dataset:
    """Pictures of 1,797 handwritten digits, 8 × 8 pixels with values from 0 to 16.

    Three pixels are 0 in every picture: constant columns, which scaling must survive.

    Returns
    -------
    Dataset
        values of shape (1797, 64), a picture a row, its pixel rows one after another;
        labels of shape (1797,).

    References
    ----------
    E. Alpaydin & C. Kaynak, Optical Recognition of Handwritten Digits, UCI Machine Learning Repository
    (1998), doi:10.24432/C50P49.

    Examples
    --------
    >>> from lowdim.datasets import digits
    >>> numbers = digits()
    >>> numbers.labels[:4]
    array([0, 1, 2, 3])
    >>> numbers.values[0].reshape(8, 8)[0]
    array([ 0.,  0.,  5., 13.,  9.,  1.,  0.,  0.])
    """
    from sklearn.datasets import load_digits

    return _record(
        load_digits(),
        "1,797 handwritten digits of 8 × 8 pixels, 0 to 16. Source: Alpaydin & Kaynak 1998, UCI.",
    )


def breast_cancer() -> Dataset:
    """Thirty measurements of cell nuclei in 569 breast tumours, malignant or benign.

    Returns
    -------
    Dataset
        values of shape (569, 30); labels of shape (569,) are "malignant" or "benign".

    References
    ----------
    W. Wolberg, O. Mangasarian, N. Street & W. Street, Breast Cancer Wisconsin (Diagnostic), UCI Machine
    Learning Repository (1995), doi:10.24432/C5DW2B.

    Examples
    --------
    >>> from lowdim.datasets import breast_cancer
    >>> tumours = breast_cancer()
    >>> tumours.values.shape
    (569, 30)
    >>> int((tumours.labels == "benign").sum())
    357
    """
    from sklearn.datasets import load_breast_cancer

    return _record(
        load_breast_cancer(),
        "30 measurements of cell nuclei in 569 breast tumours. Source: Wolberg et al. 1995, UCI.",
    )


def _record(bunch: Any, about: str) -> Dataset:
    return Dataset(
        values=bunch.data,
        columns=tuple(str(name) for name in bunch.feature_names),
        labels=bunch.target_names[bunch.target],  # names are easier to read in a legend than codes
        about=about,
    )
