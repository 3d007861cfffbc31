"""Tables typed from the five lectures that lowdim implements."""

from __future__ import annotations

import numpy as np

from lowdim.datasets.dataset import Dataset

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
