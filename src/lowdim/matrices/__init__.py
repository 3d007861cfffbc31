"""What a solver sees: Y = √w · (X − center) · gain, as products and folds. X is never changed and never copied whole.

Its files, in reading order::

    matrix                 The ladder of matrices: Matrix (products) < RowBlocks (folds over rows) < InMemory (the
                           array).
    convert                From a source to such a matrix; what a memory limit leaves for a fit.
    scaling                How the user wants columns centred, scaled and weighted.
    preparation            Centring, scaling and weighting a block of rows.
    moments                Count, mean and scatter of rows, which merge without losing digits.
    products               What one block adds to a product, a factorisation or distances; scores of rows, and rows from
                           scores.
    missing                Missing values: counted, refused, and means and variances of what was observed.
    empty_rows             Rows of which nothing was observed: found, and told of.
    rounding               What rounding errors in a matrix do to its eigenvalues and axes.
    sample                 Rows drawn at random, to start from.
    packed                 Symmetric matrices as their upper triangles.
    sample_side            Y Yᵀ of sparse rows: the shorter side of a matrix with more columns than rows.
    compiled_products      Products and sums of dense rows in compiled code.
    compiled_sparse        Products and sums of sparse rows in compiled code.
    compiled_exponentials  Exponentials in compiled code.

Every fold has a pure function of a block and an associative merge, so it streams and runs in threads. Sums are kept
short and errors are bounded as they arise: certificates rest on them.
"""
