"""Genotypes: copies of an allele, individuals × SNPs.

Its files, in reading order::

    plink  PLINK's `.bed`, `.bim` and `.fam` files.
    snps   Which numbers are calls or missing, and which SNPs of a file are those of a model.

A missing call is −1 where genotypes are whole numbers and NaN where they are not. SNPs are matched by name and alleles,
as files may count the other allele or read the other strand.
"""
