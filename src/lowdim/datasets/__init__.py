"""Small data to try things on.

Its files, in reading order::

    dataset     The record that every function returns: values, names, source, truth.
    published   Published tables: the lectures', two textbooks' (CSV files in `tables/`), and scikit-learn's.
    generators  Data made from a known truth.

Importing this room loads NumPy alone; scikit-learn is imported by the functions that read it. The same seed gives the
same data. Every table names its source.
"""

from lowdim.datasets.dataset import Dataset
from lowdim.datasets.generators import circles, planted, stepping_stone, swiss_roll
from lowdim.datasets.published import (
    breast_cancer,
    decathlon,
    digits,
    eight_by_two,
    iris,
    rank_one_toy,
    uk_foods,
    us_arrests,
    wine,
)

__all__ = [
    "Dataset",
    "breast_cancer",
    "circles",
    "decathlon",
    "digits",
    "eight_by_two",
    "iris",
    "planted",
    "rank_one_toy",
    "stepping_stone",
    "swiss_roll",
    "uk_foods",
    "us_arrests",
    "wine",
]
