"""How many components: one rule a file, each from its paper.

Its files, in reading order::

    spectrum_rules       Rules from the variances alone: shares, Kaiser, broken stick, BIC, Bai & Ng, Gavish & Donoho.
    minka                Minka's evidence.
    parallel_analysis    Parallel analysis: shuffled columns or flipped signs.
    bi_cross_validation  Bi-cross-validation: blocks of rows and columns held out; and random folds.
    tracy_widom          The Tracy–Widom law of the largest eigenvalue of noise, and tests by it.
    noise                Whether what components leave is independent noise of equal variance.

A rule is a function of numbers and knows no model. What it assumes is said in its file and checked by `noise`.
"""
