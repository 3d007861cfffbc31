"""Exponential families, codes of rows, and the searches for loadings."""
