"""Logistic PCA: principal components of yes and no, counts or numbers, by their exponential family.

Its files, in reading order::

    model     Logistic principal component analysis, and its sisters for counts and numbers.
    settings  Checking the parameters of a logistic PCA and its data: strings and numbers in, a task out.
    fit       How a logistic PCA is made: an overview of the rows → where to begin → the search → record.
    rows      What a logistic PCA says of rows, block by block: their codes, their means, their deviance.
    record    The record of a logistic PCA: natural parameters as bias and axes.
    overview  What card, screen, JSON and page show of a logistic PCA.
    tables    Tables of a logistic PCA.
    figures   Figures of a logistic PCA.
    solvers/  Exponential families, codes of rows, and the searches for loadings.
"""

from lowdim.models.registry import class_of

__getattr__ = class_of(__name__)
