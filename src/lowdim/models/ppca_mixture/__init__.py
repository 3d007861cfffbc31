"""Mixtures of probabilistic PCAs: groups of rows, each with a few directions of its own.

Its files, in reading order::

    model                  Mixtures of probabilistic PCAs.
    fit                    How a mixture fit is made: rows in memory → several starts by k-means → EM from each → the
                           likeliest → record.
    compiled_conditionals  Compiled: what the observed entries of a row say about its hidden ones, if rows are Gaussian
                           with a known covariance.
    record                 The record of a mixture of probabilistic PCAs.
    overview               What card, screen, JSON and page show of a mixture.
    figures                Figures of a mixture: its clusters as groups of rows.
    solvers                Mixtures of probabilistic PCAs by exact EM, and Gaussian rows of which some entries are
                           hidden.
"""

from lowdim.models.registry import class_of

__getattr__ = class_of(__name__)
