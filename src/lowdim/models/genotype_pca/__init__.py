"""Principal components of genotypes: individuals × SNPs, scaled by what chance alone would give.

Its files, in reading order::

    model     Principal components of genotypes.
    settings  Checking the settings of GenotypePCA: what came in, what a fit is to do out.
    fit       How a PCA of genotypes is made: counts → pruning by linkage → Gram matrix → components → tests →
              shrinkage.
    matrix    Genotypes, individuals × SNPs, worked on SNP block by SNP block: no float copy of them is ever whole.
    record    The record of a PCA of genotypes: a linear fit that also knows its SNPs, its individuals and their tests.
    overview  What card, screen, JSON and page show of a PCA of genotypes.
    figures   Figures of a genotype PCA: which axes are more than noise.
"""

from lowdim.models.registry import class_of

__getattr__ = class_of(__name__)
