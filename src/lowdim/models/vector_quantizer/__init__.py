"""Vector quantisation: each row stands for the nearest of k codewords, found by k-means.

Its files, in reading order::

    model     Vector quantisation: each row becomes the nearest of k codewords.
    fit       How a codebook is made: rows → scikit-learn's k-means → Lloyd's steps over rows that no array holds →
              record.
    record    The record of a vector quantiser: its codebook, how it is used and what it loses; and how a model file
              keeps it.
    overview  A vector quantiser in words.
    report    The page of a codebook: groups of rows.
    figures   Figures of a codebook, and of a mixture: groups of rows, how large and about where.
    solvers   Rows and the nearest of k codewords: which it is, and what Lloyd's step needs to know of all rows at once.
    prompt    A codebook at the prompt.
"""

from lowdim.models.registry import class_of

__getattr__ = class_of(__name__)
