"""Principal component analysis: the few orthogonal directions that keep most of the variance.

Its files, in reading order::

    model        Principal component analysis.
    fit          PCA that is not one pass over complete rows: with missing values, and with rows that are added later.
    checkpoint   A fit that was stopped after some rows: kept in a file, and carried on.
    convert      Fitted scikit-learn models as ours.
    uncertainty  How sure a PCA is: by resamples of its rows, or by the law of large samples.
"""

from lowdim.models.registry import class_of

__getattr__ = class_of(__name__)
