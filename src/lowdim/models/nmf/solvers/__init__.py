"""Starts and algorithms of non-negative factors, one a file.

In reading order::

    problem                 X ≈ W H with a loss and penalties, the state of a search, and when it has converged.
    parts                   Loss and gradient from one look at the fit.
    start                   Where a search begins.
    textbook                Multiplicative updates, for every loss; and plain steps that compiled ones are held against.
    hals                    Least squares: hierarchical alternating least squares, extrapolated.
    alternating             Half-steps of rows and of columns, extrapolated: what the next two share.
    newton                  Kullback–Leibler divergence: scalar Newton steps, extrapolated.
    weighted                Both, where entries are missing or have weights.
    choose                  Which of these solvers is taken, and why.
    codes                   W of new rows given H, each to its own tolerance.
    row_sums                Rows that come in blocks: what each says of H, added up.
    normal_form             Scale and order of parts, and how well several starts agree.
    compiled_least_squares  Compiled steps of least squares, and what both share.
    compiled_newton         Compiled Newton steps.
    compiled_losses         Compiled losses and ratios of numbers and their fits.
    plain_steps             Plain twins of both, where there is no library.
"""
