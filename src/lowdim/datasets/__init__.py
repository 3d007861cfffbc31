"""Small data to try things on: tables of the lectures, planted truths, and scikit-learn's own small sets.

Importing this room loads numpy alone; scikit-learn is imported by the functions that read it.
"""

from lowdim.datasets.bundled import breast_cancer, digits, iris, wine
from lowdim.datasets.dataset import Dataset
from lowdim.datasets.generators import circles, planted, stepping_stone, swiss_roll
from lowdim.datasets.published import decathlon, eight_by_two, rank_one_toy, uk_foods, us_arrests

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
