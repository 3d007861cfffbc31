"""Probabilistic PCA: PCA as a Gaussian model, of rows that may have missing values.

Its files, in reading order::

    model         Probabilistic principal component analysis.
    fit           How a probabilistic fit is made: closed form, or EM from what was observed → how many components →
                  record.
    rows          What a Gaussian model with hidden columns says about rows with holes, block by block.
    count         How many components a probabilistic fit gets: as many as were asked for, or as one of the rules finds.
    checkpoint    The state of EM in a file, written after every step: a fit that was killed goes on from there, to the
                  same bits.
    record        The record of a probabilistic fit: a linear one that also knows its noise and likelihood; and its
                  model file.
    figures       Figures of a probabilistic PCA: how sure the hidden values of rows are.
    overview      A probabilistic PCA in words: what is said of any linear fit, and what EM did.
    report        The page of a probabilistic PCA: that of a linear fit, what was missing, and how EM went.
    uncertainty   How sure a probabilistic PCA is, and a PCA of rows with holes: by resamples, by its posterior, by
                  large samples.
    solvers/      EM with missing values: its steps, its start, what they cost in information, and held-out likelihoods.
    prompt        Probabilistic PCA at the prompt.
"""

from lowdim.models.registry import class_of

__getattr__ = class_of(__name__)
