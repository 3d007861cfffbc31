"""Methods that several models share, one algorithm a file.

Its files, in reading order::

    solver             What a solver is and gives; completing, rotating and signing axes.
    keep               Rules for the number of components, asked while a solver runs.
    choose             Which solver for which data, and why.
    svd                The SVD of the rows, and its out-of-core form (TSQR).
    covariance         The p × p covariance in one pass, then its eigenvectors.
    sample_gram        The n × n Gram matrix, for fewer rows than columns.
    lanczos            Block Lanczos: a few components of a large matrix.
    krylov             The Krylov space that it grows.
    compiled_basis     What a basis holds of a few vectors, taken off them: loops in C.
    certify            Bounds on the errors of eigenvalues and axes; lost digits restored.
    iterate            The loop of every iterative solver, and Anderson's acceleration.
    lbfgs              L-BFGS, a quasi-Newton method.
    rank/              How many components.
    resampling/        How sure components are.

A fast solver has a plain one that tests hold it against: `svd` for all of PCA. A solver returns its residuals; nothing
is called converged without them. Kernels in C include `side_by_side.h`, eight
small symmetric matrices at a time, and `cholesky.h`, one of any size.
"""
