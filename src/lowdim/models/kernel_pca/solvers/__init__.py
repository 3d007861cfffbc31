"""How axes in the feature space are found, and rows from their projections.

Its files, in reading order::

    exact        Kernel PCA with all rows as its basis: dense, by explicit features, or by Lanczos from a Nyström start.
    lanczos      Leading eigenpairs of a kernel matrix by its products alone: most of the way in float32, the last of it
                 in float64.
    features     Features f(x) whose inner products stand for the kernel, and kernel PCA as PCA of them, in one pass
                 over the rows.
    landmarks    Kernel PCA of many rows by landmarks: randomly pivoted Cholesky, or uniform draws (Nyström), with an
                 error bound.
    projections  Projections of kernel PCA in the space of features: what scores stand for, told by kernels with known
                 rows.
    preimage     Pre-images: rows whose features lie nearest to given projections, by fixed point, distances or ridge.
"""
