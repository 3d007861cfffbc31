"""Genotypes: files of PLINK, SNPs, and what calls mean."""
