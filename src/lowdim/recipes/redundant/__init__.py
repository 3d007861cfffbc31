"""Columns that say what others say already.

Its files, in reading order::

    redundant  Which columns say what others say already: by their correlations, and by the decimals that they have.
    result     The record of redundant columns, and what is said of it at the prompt.
"""
