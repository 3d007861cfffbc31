"""Probabilistic PCA: PCA as a Gaussian model, of rows that may have missing values.

Its files, in reading order::

    model        Probabilistic principal component analysis.
    fit          How a probabilistic fit is made: closed form, or EM from what was observed → how many components →
                 record.
    rows         What a Gaussian model with hidden columns says about rows with missing values, block by block.
    count        How many components a probabilistic fit gets: as many as were asked for, or as one of the rules finds.
    k_rules      How many components rows with missing values have: by what was observed of them.
    checkpoint   The state of EM in a file, written after every step: a fit that was killed resumes there, to the same
                 bits.
    record       The record of a probabilistic fit: a linear one that also knows its noise, its likelihood and how it
                 was found.
    figures      Figures of a probabilistic PCA: how sure the hidden values of rows are.
    overview     What card, screen, JSON and page show of a probabilistic PCA.
    uncertainty  How sure a probabilistic PCA is, or a PCA with missing values: by resamples, by the posterior, by large
                 samples.
    solvers/     EM with missing values, the Gaussian model that it fits, and its compiled loops.
"""

from lowdim.models.registry import class_of

__getattr__ = class_of(__name__)
