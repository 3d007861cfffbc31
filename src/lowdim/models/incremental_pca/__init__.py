"""Principal component analysis of rows that come in batches, by scikit-learn's name for it.

Its files, in reading order::

    model   Principal component analysis of rows that come in batches, by scikit-learn's name for it.
"""

from lowdim.models.registry import class_of

__getattr__ = class_of(__name__)
