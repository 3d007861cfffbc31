"""Logistic PCA: principal components of yes and no, counts or numbers, by their exponential family.

Its files, in reading order::

    model     Logistic principal component analysis, and its sisters for counts and numbers.
    settings  Checking the parameters of a logistic PCA and its data: strings and numbers in, a task out.
    fit       How a logistic PCA is made: an overview of the rows → where to begin → the search → record. All in one
              place.
    rows      What a logistic PCA says of rows, block by block: their codes, their means, their deviance.
    record    The record of a logistic PCA: natural parameters as bias and axes; and how a model file keeps it.
    overview  A logistic PCA in words.
    report    The page of a logistic PCA.
    figures   Figures of a logistic PCA.
    solvers/  Exponential families, codes of rows, and the searches for loadings.
    prompt    Logistic PCA at the prompt.
"""

from lowdim.models.registry import class_of

__getattr__ = class_of(__name__)
