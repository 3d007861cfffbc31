"""Principal component regression: responses predicted from the leading components of the columns.

Its files, in reading order::

    model        Principal component regression.
    settings     Settings of a regression on principal components, checked.
    fit          How a regression on components is made: rows and responses, checked → folds → choice → certified axes →
                 record.
    folds        Cross-validation of a regression on components: how rows are split, and what each fold predicts.
    rivals       Ordinary least squares, ridge and partial least squares beside principal component regression, on the
                 same folds.
    record       The record of a regression on principal components: axes, what each says of responses, how well it
                 predicts.
    overview     What card, screen, JSON and page show of a regression on components.
    figures      Figures of a regression: coefficients, predictions of held-out rows, and error by components.
    tables       Tables of a regression on components.
    uncertainty  Bootstrap of a regression on components: rows are drawn with their responses, and all is fitted again.
    solvers      Least squares on principal components, and how sure its coefficients are when axes come from the same
                 rows.
"""

from lowdim.models.registry import class_of

__getattr__ = class_of(__name__)
