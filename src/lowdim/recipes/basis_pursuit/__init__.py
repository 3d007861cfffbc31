"""Sparse solutions of Ay = b: by linear programming, by the lasso, and by trying.

Its files, in reading order::

    basis_pursuit   Sparse solutions of systems with more unknowns than equations.
    linear_program  The solution of Ay = b with the smallest sum of absolute values, by linear programming, and a
                    proof of it.
    lasso           The least |y|₁ among those y with |Ay − b|₂ ≤ ε: basis pursuit denoising (Chen, Donoho & Saunders
                    1998).
    sparsest        The sparsest solution: by all subsets, by matching pursuit, and when basis pursuit finds it.
"""
