"""Truncated singular value decomposition: the best approximation of a matrix by few dimensions, about zero.

Its files, in reading order::

    record    What was found: a linear fit about zero, and how much the scores vary.
    overview  What cards, screens and pages say of it.
    model     The estimator, with scikit-learn's parameters and attributes, and how it is fitted.
"""

from lowdim.models.registry import class_of

__getattr__ = class_of(__name__)
