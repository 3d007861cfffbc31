"""EM with missing values, the Gaussian model that it fits, and its compiled loops.

Its files, in reading order::

    latent       A Gaussian model with hidden columns: their posterior given the observed entries, and Fisher's
                 information.
    em           Probabilistic PCA of rows with missing values by exact EM: expected sums, the start, priors of
                 loadings, steps.
    compiled_em  Compiled loops over the k × k systems of probabilistic PCA.
"""
