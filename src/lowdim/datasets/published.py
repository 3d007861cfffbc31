"""Tables of the five lectures that lowdim implements, and two that textbooks print their numbers for."""

from __future__ import annotations

import numpy as np

from lowdim.datasets.dataset import Dataset

# Tables typed from the five lectures that lowdim implements.

_COUNTRIES = ("England", "N Ireland", "Scotland", "Wales")
_FOODS = {
    "Alcoholic drinks": (375, 135, 458, 475),
    "Beverages": (57, 47, 53, 73),
    "Carcase meat": (245, 267, 242, 227),
    "Cereals": (1472, 1494, 1462, 1582),
    "Cheese": (105, 66, 103, 103),
    "Confectionery": (54, 41, 62, 64),
    "Fats and oils": (193, 209, 184, 235),
    "Fish": (147, 93, 122, 160),
    "Fresh fruit": (1102, 674, 957, 1137),
    "Fresh potatoes": (720, 1033, 566, 874),
    "Fresh Veg": (253, 143, 171, 265),
    "Other meat": (685, 586, 750, 803),
    "Other Veg": (488, 355, 418, 570),
    "Processed potatoes": (198, 187, 220, 203),
    "Processed Veg": (360, 334, 337, 365),
    "Soft drinks": (1374, 1506, 1572, 1256),
    "Sugars": (156, 139, 147, 175),
}


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
    return Dataset(
        values=np.array(list(_FOODS.values()), dtype=np.float64).T.copy(),  # rows in one piece
        columns=tuple(_FOODS),
        rows=_COUNTRIES,
        about="Average consumption of 17 foods in 4 countries of the UK. Source: DEFRA, printed in lecture 3.",
    )


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

_ARRESTS = {
    "Alabama": (13.2, 236, 58, 21.2),
    "Alaska": (10, 263, 48, 44.5),
    "Arizona": (8.1, 294, 80, 31),
    "Arkansas": (8.8, 190, 50, 19.5),
    "California": (9, 276, 91, 40.6),
    "Colorado": (7.9, 204, 78, 38.7),
    "Connecticut": (3.3, 110, 77, 11.1),
    "Delaware": (5.9, 238, 72, 15.8),
    "Florida": (15.4, 335, 80, 31.9),
    "Georgia": (17.4, 211, 60, 25.8),
    "Hawaii": (5.3, 46, 83, 20.2),
    "Idaho": (2.6, 120, 54, 14.2),
    "Illinois": (10.4, 249, 83, 24),
    "Indiana": (7.2, 113, 65, 21),
    "Iowa": (2.2, 56, 57, 11.3),
    "Kansas": (6, 115, 66, 18),
    "Kentucky": (9.7, 109, 52, 16.3),
    "Louisiana": (15.4, 249, 66, 22.2),
    "Maine": (2.1, 83, 51, 7.8),
    "Maryland": (11.3, 300, 67, 27.8),
    "Massachusetts": (4.4, 149, 85, 16.3),
    "Michigan": (12.1, 255, 74, 35.1),
    "Minnesota": (2.7, 72, 66, 14.9),
    "Mississippi": (16.1, 259, 44, 17.1),
    "Missouri": (9, 178, 70, 28.2),
    "Montana": (6, 109, 53, 16.4),
    "Nebraska": (4.3, 102, 62, 16.5),
    "Nevada": (12.2, 252, 81, 46),
    "New Hampshire": (2.1, 57, 56, 9.5),
    "New Jersey": (7.4, 159, 89, 18.8),
    "New Mexico": (11.4, 285, 70, 32.1),
    "New York": (11.1, 254, 86, 26.1),
    "North Carolina": (13, 337, 45, 16.1),
    "North Dakota": (0.8, 45, 44, 7.3),
    "Ohio": (7.3, 120, 75, 21.4),
    "Oklahoma": (6.6, 151, 68, 20),
    "Oregon": (4.9, 159, 67, 29.3),
    "Pennsylvania": (6.3, 106, 72, 14.9),
    "Rhode Island": (3.4, 174, 87, 8.3),
    "South Carolina": (14.4, 279, 48, 22.5),
    "South Dakota": (3.8, 86, 45, 12.8),
    "Tennessee": (13.2, 188, 59, 26.9),
    "Texas": (12.7, 201, 80, 25.5),
    "Utah": (3.2, 120, 80, 22.9),
    "Vermont": (2.2, 48, 32, 11.2),
    "Virginia": (8.5, 156, 63, 20.7),
    "Washington": (4, 145, 73, 26.2),
    "West Virginia": (5.7, 81, 39, 9.3),
    "Wisconsin": (2.6, 53, 66, 10.8),
    "Wyoming": (6.8, 161, 60, 15.6),
}

_EVENTS = (
    "100 m",
    "Long jump",
    "Shot put",
    "High jump",
    "400 m",
    "110 m hurdles",
    "Discus",
    "Pole vault",
    "Javelin",
    "1500 m",
    "Rank",
    "Points",
)
_ATHLETES = (
    ("SEBRLE", 11.04, 7.58, 14.83, 2.07, 49.81, 14.69, 43.75, 5.02, 63.19, 291.7, 1, 8217),
    ("CLAY", 10.76, 7.4, 14.26, 1.86, 49.37, 14.05, 50.72, 4.92, 60.15, 301.5, 2, 8122),
    ("KARPOV", 11.02, 7.3, 14.77, 2.04, 48.37, 14.09, 48.95, 4.92, 50.31, 300.2, 3, 8099),
    ("BERNARD", 11.02, 7.23, 14.25, 1.92, 48.93, 14.99, 40.87, 5.32, 62.77, 280.1, 4, 8067),
    ("YURKOV", 11.34, 7.09, 15.19, 2.1, 50.42, 15.31, 46.26, 4.72, 63.44, 276.4, 5, 8036),
    ("WARNERS", 11.11, 7.6, 14.31, 1.98, 48.68, 14.23, 41.1, 4.92, 51.77, 278.1, 6, 8030),
    ("ZSIVOCZKY", 11.13, 7.3, 13.48, 2.01, 48.62, 14.17, 45.67, 4.42, 55.37, 268, 7, 8004),
    ("McMULLEN", 10.83, 7.31, 13.76, 2.13, 49.91, 14.38, 44.41, 4.42, 56.37, 285.1, 8, 7995),
    ("MARTINEAU", 11.64, 6.81, 14.57, 1.95, 50.14, 14.93, 47.6, 4.92, 52.33, 262.1, 9, 7802),
    ("HERNU", 11.37, 7.56, 14.41, 1.86, 51.1, 15.06, 44.99, 4.82, 57.19, 285.1, 10, 7733),
    ("BARRAS", 11.33, 6.97, 14.09, 1.95, 49.48, 14.48, 42.1, 4.72, 55.4, 282, 11, 7708),
    ("NOOL", 11.33, 7.27, 12.68, 1.98, 49.2, 15.29, 37.92, 4.62, 57.44, 266.6, 12, 7651),
    ("BOURGUIGNON", 11.36, 6.8, 13.46, 1.86, 51.16, 15.67, 40.49, 5.02, 54.68, 291.7, 13, 7313),
    ("Sebrle", 10.85, 7.84, 16.36, 2.12, 48.36, 14.05, 48.72, 5, 70.52, 280.01, 1, 8893),
    ("Clay", 10.44, 7.96, 15.23, 2.06, 49.19, 14.13, 50.11, 4.9, 69.71, 282, 2, 8820),
    ("Karpov", 10.5, 7.81, 15.93, 2.09, 46.81, 13.97, 51.65, 4.6, 55.54, 278.11, 3, 8725),
    ("Macey", 10.89, 7.47, 15.73, 2.15, 48.97, 14.56, 48.34, 4.4, 58.46, 265.42, 4, 8414),
    ("Warners", 10.62, 7.74, 14.48, 1.97, 47.97, 14.01, 43.73, 4.9, 55.39, 278.05, 5, 8343),
    ("Zsivoczky", 10.91, 7.14, 15.31, 2.12, 49.4, 14.95, 45.62, 4.7, 63.45, 269.54, 6, 8287),
    ("Hernu", 10.97, 7.19, 14.65, 2.03, 48.73, 14.25, 44.72, 4.8, 57.76, 264.35, 7, 8237),
    ("Nool", 10.8, 7.53, 14.26, 1.88, 48.81, 14.8, 42.05, 5.4, 61.33, 276.33, 8, 8235),
    ("Bernard", 10.69, 7.48, 14.8, 2.12, 49.13, 14.17, 44.75, 4.4, 55.27, 276.31, 9, 8225),
    ("Schwarzl", 10.98, 7.49, 14.01, 1.94, 49.76, 14.25, 42.43, 5.1, 56.32, 273.56, 10, 8102),
    ("Pogorelov", 10.95, 7.31, 15.1, 2.06, 50.79, 14.21, 44.6, 5, 53.45, 287.63, 11, 8084),
    ("Schoenbeck", 10.9, 7.3, 14.77, 1.88, 50.3, 14.34, 44.41, 5, 60.89, 278.82, 12, 8077),
    ("Barras", 11.14, 6.99, 14.91, 1.94, 49.41, 14.37, 44.83, 4.6, 64.55, 267.09, 13, 8067),
    ("Smith", 10.85, 6.81, 15.24, 1.91, 49.27, 14.01, 49.02, 4.2, 61.52, 272.74, 14, 8023),
    ("Averyanov", 10.55, 7.34, 14.44, 1.94, 49.72, 14.39, 39.88, 4.8, 54.51, 271.02, 15, 8021),
    ("Ojaniemi", 10.68, 7.5, 14.97, 1.94, 49.12, 15.01, 40.35, 4.6, 59.26, 275.71, 16, 8006),
    ("Smirnov", 10.89, 7.07, 13.88, 1.94, 49.11, 14.77, 42.47, 4.7, 60.88, 263.31, 17, 7993),
    ("Qi", 11.06, 7.34, 13.55, 1.97, 49.65, 14.78, 45.13, 4.5, 60.79, 272.63, 18, 7934),
    ("Drews", 10.87, 7.38, 13.07, 1.88, 48.51, 14.01, 40.11, 5, 51.53, 274.21, 19, 7926),
    ("Parkhomenko", 11.14, 6.61, 15.69, 2.03, 51.04, 14.88, 41.9, 4.8, 65.82, 277.94, 20, 7918),
    ("Terek", 10.92, 6.94, 15.15, 1.94, 49.56, 15.12, 45.62, 5.3, 50.62, 290.36, 21, 7893),
    ("Gomez", 11.08, 7.26, 14.57, 1.85, 48.61, 14.41, 40.95, 4.4, 60.71, 269.7, 22, 7865),
    ("Turi", 11.08, 6.91, 13.62, 2.03, 51.67, 14.26, 39.83, 4.8, 59.34, 290.01, 23, 7708),
    ("Lorenzo", 11.1, 7.03, 13.22, 1.85, 49.34, 15.38, 40.22, 4.5, 58.36, 263.08, 24, 7592),
    ("Karlivans", 11.33, 7.26, 13.3, 1.97, 50.54, 14.98, 43.34, 4.5, 52.92, 278.67, 25, 7583),
    ("Korkizoglou", 10.86, 7.07, 14.81, 1.94, 51.16, 14.96, 46.07, 4.7, 53.05, 317, 26, 7573),
    ("Uldal", 11.23, 6.99, 13.53, 1.85, 50.95, 15.09, 43.01, 4.5, 60, 281.7, 27, 7495),
    ("Casarsa", 11.36, 6.68, 14.92, 1.94, 53.2, 15.39, 48.66, 4.4, 58.62, 296.12, 28, 7404),
)
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
    return Dataset(
        values=np.array(list(_ARRESTS.values()), dtype=np.float64),
        columns=("Murder", "Assault", "UrbanPop", "Rape"),
        rows=tuple(_ARRESTS),
        about="Arrests per 100,000 people in 50 states of the USA, 1973. Source: World Almanac 1975, McNeil 1977.",
    )


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
    meetings = np.where(np.arange(len(_ATHLETES)) < _AT_DECASTAR, "Decastar", "OlympicG")
    return Dataset(
        values=np.array([results[1:] for results in _ATHLETES], dtype=np.float64),
        columns=_EVENTS,
        rows=tuple(str(results[0]) for results in _ATHLETES),
        labels=meetings,
        about="Events, rank and points of 41 decathlons at 2 meetings of 2004. Source: Husson, Lê & Pagès 2011.",
    )
