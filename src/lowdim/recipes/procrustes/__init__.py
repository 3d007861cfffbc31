"""Scores turned onto a map.

At the prompt it is `lowdim map`, of the two first axes of genotypes.

Its files, in reading order::

    procrustes  Do genes mirror geography? Scores turned onto a map, with a permutation test of how well they meet it.
"""
