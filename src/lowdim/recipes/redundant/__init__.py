"""Columns that say what others say already.

Its files, in reading order::

    redundant     Which columns say what others say already: by their correlations, and by the decimals that they have.
    steps         To which decimal the values of each column were rounded, as their values tell.
    correlations  Columns that others determine, from their correlations: duplicates, sums of others, near-null
                  directions.
    near          Duplicates among many columns of few rows, without their correlations: pairs that may be alike are
                  found first.
    result        The record of redundant columns, and what is said of it at the prompt.
"""
