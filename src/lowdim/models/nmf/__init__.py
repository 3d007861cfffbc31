"""Non-negative matrix factorisation: rows as sums of a few parts, with no negative number anywhere.

Its files, in reading order::

    model         Non-negative matrix factorisation.
    settings      Checking the parameters of an NMF: strings and numbers in, a task out.
    plan          Where the rows of a factorisation will lie, decided before anything is computed.
    fit           How a non-negative factorisation is made: rows in memory → starts → solver → normal form → record; and
                  a record of parts that somebody assigned.
    fit_streamed  How a non-negative factorisation is made of rows that stay on disk or on a cluster, or come in
                  batches.
    rows          How rows become a problem: what is known of them, how much each counts, what is penalised.
    count         How many parts: as many as predict entries best that were hidden from the fit.
    k_rules       How many parts: by entries that were hidden, and blocks left out.
    observed      Which entries are known, and how much each counts.
    loss          The losses as values: divergence, gradient, which solvers minimise each, what each refuses.
    record        The record of a non-negative factorisation: parts that rows are made of, sparseness; and its model
                  file.
    overview      What card, screen, JSON and page show of a non-negative factorisation.
    figures       Figures of a non-negative factorisation: the columns, or words, that its parts are made of.
    tables        Tables of a non-negative factorisation.
    uncertainty   How sure the parts of a non-negative factorisation are: by factorisations of resampled rows, part for
                  part.
    solvers/      Starts and algorithms of non-negative factors; compiled loops begin with `compiled_`.
"""

from lowdim.models.registry import class_of

__getattr__ = class_of(__name__)
