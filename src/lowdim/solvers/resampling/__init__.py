"""How sure components are: bootstrap, influence of rows, and laws of large samples.

Its files, in reading order::

    bootstrap     The bootstrap of a PCA, exact, in the space of the rows.
    axes          Axes of resamples aligned with those of all rows, and intervals of their entries.
    influence     Standard errors from what one row changes, without a law of the rows.
    large_sample  Variances and axes of Gaussian rows in large samples, corrected for many columns.

A resample depends on the seed and its number alone, not on the order of threads. Where an interval cannot be given, the
result says why (`Intervals.basis`).
"""
