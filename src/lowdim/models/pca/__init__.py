"""Principal component analysis: the few orthogonal directions that keep most of the variance.

Its files, in reading order::

    record       What a model file holds of a PCA: the record of a linear fit, and settings.
    model        Principal component analysis.
    fit          PCA that is not one pass over complete rows: with missing values, and with rows that are added later.
    convert      Fitted scikit-learn models as ours.
    figures      Figures of a PCA, and of a PCA of rows with holes.
    uncertainty  How sure a PCA is: by resamples of its rows, or by the law of large samples.
    prompt       PCA at the prompt.
"""

from lowdim.models.registry import class_of

__getattr__ = class_of(__name__)
