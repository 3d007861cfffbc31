"""Vector quantisation: each row stands for the nearest of k codewords, found by k-means.

Its files, in reading order::

    model     Vector quantisation: each row becomes the nearest of k codewords.
    fit       How a codebook is made: rows → scikit-learn's k-means → Lloyd's steps over rows that no array holds →
              record.
    record    The record of a vector quantiser: its codebook, how it is used and what it loses.
    overview  What card, screen, JSON and page show of a codebook.
    tables    Tables of a codebook.
    figures   Figures of a codebook: groups of rows, how large and about where.
"""

from lowdim.models.registry import class_of

__getattr__ = class_of(__name__)
