"""Principal component regression: responses predicted from the leading components of the columns.

Its files, in reading order::

    model        Principal component regression.
    settings     Settings of a regression on principal components, checked.
    fit          How a regression on components is made: folds → choice → certified axes → record. The whole story in
                 one place.
    folds        Cross-validation of a regression on components: how rows are split, and what each fold predicts.
    sample       The rows of a regression with their responses: a sample of them, and whether they are the training
                 data.
    rivals       Ordinary least squares, ridge and partial least squares beside principal component regression, on the
                 same folds.
    record       The record of a regression on principal components, and how a model file keeps it.
    overview     A regression on components in words, with least squares, ridge and PLS beside it.
    report       The page of a regression on components: coefficients, predictions of held-out rows, and other methods.
    figures      Figures of a regression: coefficients, predictions of held-out rows, and error by components.
    tables       Tables of a regression on components.
    uncertainty  Bootstrap of a regression on components: rows are drawn with their responses, and everything is done
                 anew.
    solvers      Least squares on principal components, and how sure its coefficients are when axes come from the same
                 rows.
"""

from lowdim.models.registry import class_of

__getattr__ = class_of(__name__)
