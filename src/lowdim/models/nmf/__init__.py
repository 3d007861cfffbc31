"""Non-negative matrix factorisation: rows as sums of a few parts, with no negative number anywhere.

Its files, in reading order::

    model         Non-negative matrix factorisation.
    settings      Checking the parameters of an NMF: strings and numbers in, a task out.
    plan          Where the rows of a factorisation will lie, decided before anything is computed.
    fit           How a non-negative factorisation is made: rows in memory → starts → solver → normal form → record.
    fit_streamed  How a non-negative factorisation is made of rows that stay on disk or on a cluster, or come in
                  batches.
    problem       How rows become a problem: what is known of them, how much each counts, what is penalised.
    count         How many parts: as many as predict entries best that were hidden from the fit.
    assigned      Parts that somebody assigned to an NMF: a record made of them, so that rows get codes by them.
    record        The record of a non-negative factorisation: parts that rows are made of, sparseness; and its model
                  file.
    overview      A non-negative factorisation in words.
    report        The page of a non-negative factorisation.
    figures       Figures of a non-negative factorisation: the columns, or words, that its parts are made of.
    tables        Tables of a non-negative factorisation.
    uncertainty   How sure the parts of a non-negative factorisation are: by factorisations of resampled rows, part for
                  part.
    solvers/      Algorithms of non-negative factors, one a file; compiled loops begin with `compiled_`.
    prompt        NMF at the prompt.
"""

from lowdim.models.registry import class_of

__getattr__ = class_of(__name__)
