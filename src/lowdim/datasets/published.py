"""Published tables: of the five lectures that lowdim implements, of two textbooks, and those of scikit-learn.

The first two are in `tables/`, a CSV file each; of scikit-learn's lowdim ships no copy.
"""

from __future__ import annotations

import csv
from dataclasses import replace
from importlib.resources import files
from typing import Any

import numpy as np

from lowdim.datasets.dataset import Dataset

# Tables typed from the five lectures that lowdim implements.


def uk_foods() -> Dataset:
    """Average consumption of 17 foods in the four countries of the United Kingdom.

    Countries are the rows and foods the columns, since countries are the samples; the lecture prints it the
    other way round and without the countries' names. Northern Ireland stands apart on the first component.

    Returns
    -------
    Dataset
        values of shape (4, 17).

    References
    ----------
    Statistics of DEFRA, the United Kingdom's food ministry, as printed in lecture 3: CSCI567 Machine
    Learning, S. Rambhatla, University of Southern California, 31 March 2021.

    Examples
    --------
    >>> from lowdim.datasets import uk_foods
    >>> foods = uk_foods()
    >>> foods.rows
    ('England', 'N Ireland', 'Scotland', 'Wales')
    >>> foods.values[1, foods.columns.index("Fresh potatoes")]
    np.float64(1033.0)
    """
    about = "Average consumption of 17 foods in 4 countries of the UK. Source: DEFRA, printed in lecture 3."
    return _read_table("uk_foods", about)


def eight_by_two() -> Dataset:
    """Eight points in the plane, the worked example of lecture 5.

    The mean is (24.125, 53.75); the covariance over n − 1 is [[85.8393, 121.3214], [121.3214, 551.0714]],
    with eigenvalues 580.8084 and 56.1023. The slides' own covariance divides by n, and their eigenvalues
    (560.2 and 51.8), eigenvectors and scores belong to neither: compare with the numbers here.

    Returns
    -------
    Dataset
        values of shape (8, 2).

    References
    ----------
    Lecture 5: ITCS 6156/8156 Machine Learning, H. Xue, UNC Charlotte, autumn 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from lowdim.datasets import eight_by_two
    >>> table = eight_by_two().values
    >>> table.mean(axis=0)
    array([24.125, 53.75 ])
    >>> np.linalg.eigvalsh(np.cov(table.T)).round(4)
    array([ 56.1023, 580.8084])
    """
    points = [(19, 63), (39, 74), (30, 87), (30, 23), (15, 35), (15, 43), (15, 32), (30, 73)]
    return Dataset(
        values=np.array(points, dtype=np.float64),
        columns=("X1", "X2"),
        about="Eight points in the plane with known mean and covariance. Source: worked example of lecture 5.",
    )


def rank_one_toy() -> Dataset:
    """Six points on one line in space: 1, 2, 4, 3, 5 and 6 times (1, 2, 3).

    The mean is (3.5, 7, 10.5), the only axis (1, 2, 3)/√14, and its variance over n − 1 is 49: eighteen
    numbers kept as nine.

    Returns
    -------
    Dataset
        values of shape (6, 3); truth: direction (3,), factors (6,), so that values = factors ⊗ direction.

    References
    ----------
    Lecture 5: ITCS 6156/8156 Machine Learning, H. Xue, UNC Charlotte, autumn 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from lowdim.datasets import rank_one_toy
    >>> toy = rank_one_toy()
    >>> toy.values.mean(axis=0)
    array([ 3.5,  7. , 10.5])
    >>> int(np.linalg.matrix_rank(toy.values))
    1
    """
    factors = np.array([1.0, 2.0, 4.0, 3.0, 5.0, 6.0])  # in the lecture's order
    direction = np.array([1.0, 2.0, 3.0])
    return Dataset(
        values=np.outer(factors, direction),
        columns=("x", "y", "z"),
        about="Six multiples of (1, 2, 3), a line through the origin. Source: the toy example of lecture 5.",
        truth={"direction": direction, "factors": factors},
    )


# Two tables that textbooks of multivariate statistics print their numbers for.


_AT_DECASTAR = 13
"""The first rows are of the Décastar, the others of the Olympic Games."""


def us_arrests() -> Dataset:
    """Arrests per 100,000 people in the 50 states of the USA in 1973, and the share of people in towns.

    Standardised, its components have standard deviations 1.5749, 0.9949, 0.5971 and 0.4164.

    Returns
    -------
    Dataset
        values of shape (50, 4): arrests for murder, assault and rape per 100,000, and the urban population in %.

    References
    ----------
    World Almanac and Book of Facts 1975 (arrests) and Statistical Abstracts of the United States 1975 (urban
    population), as in D. R. McNeil, Interactive Data Analysis (Wiley 1977) and R's USArrests.

    Examples
    --------
    >>> import lowdim
    >>> states = lowdim.datasets.us_arrests()
    >>> model = lowdim.PCA(scale=True).fit(states.values)
    >>> (model.explained_variance_ ** 0.5).round(4)
    array([1.5749, 0.9949, 0.5971, 0.4164])
    """
    about = "Arrests per 100,000 people in 50 states of the USA, 1973. Source: World Almanac 1975, McNeil 1977."
    return _read_table("us_arrests", about)


def decathlon() -> Dataset:
    """Results of 41 decathlons at two meetings of 2004, with the rank and the points that they earned.

    The first ten columns are the events: seconds for the runs, metres for the rest. Rank and points follow from them,
    so they are usually left out of a fit and looked at afterwards.

    Returns
    -------
    Dataset
        values of shape (41, 12); labels of shape (41,) name the meeting, "Decastar" or "OlympicG".

    References
    ----------
    Results of the Décastar in Talence and of the Olympic Games in Athens, 2004, as in F. Husson, S. Lê & J. Pagès,
    Exploratory Multivariate Analysis by Example Using R (CRC Press 2011) and the R package FactoMineR.

    Examples
    --------
    >>> import lowdim
    >>> athletes = lowdim.datasets.decathlon()
    >>> model = lowdim.PCA(scale=True).fit(athletes.values[:, :10])
    >>> model.explained_variance_ratio_[:2].round(4)
    array([0.3272, 0.1737])
    """
    about = "Events, rank and points of 41 decathlons at 2 meetings of 2004. Source: Husson, Lê & Pagès 2011."
    table = _read_table("decathlon", about)
    return replace(table, labels=np.where(np.arange(len(table.values)) < _AT_DECASTAR, "Decastar", "OlympicG"))


# Tables that scikit-learn carries.


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


def _read_table(name: str, about: str) -> Dataset:
    """A table of the folder `tables`: the first line names the columns, the first column the rows."""
    text = (files("lowdim.datasets") / "tables" / f"{name}.csv").read_text(encoding="utf-8")
    (_, *columns), *rows = csv.reader(text.splitlines())
    values = np.array([row[1:] for row in rows], dtype=np.float64)
    return Dataset(values, tuple(columns), about, rows=tuple(row[0] for row in rows))
