"""Exponential families, codes of rows, and the searches for loadings.

Its files, in reading order::

    families           Exponential families in their natural parameter θ: density ∝ exp(x θ − A(θ)), mean A′(θ),
                       variance A″(θ).
    codes              Codes of rows under given loadings: damped Newton for all rows at once, and the terms that it
                       needs.
    compiled_newton    Compiled loops of logistic PCA: one sweep over the entries, and one small system for each row.
    column_statistics  What one reading of the rows tells of the columns of an exponential family, and how a model
                       misses them.
    search             Loadings of logistic PCA: passes over the rows, each a Newton step from sums that add up over
                       blocks.
    linear_encoder     PCA of an exponential family with a linear encoder: θ = b + Vᵀ E (x − center), E, V and b at
                       once; or a projection.
"""
