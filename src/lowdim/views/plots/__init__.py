"""Figures: the numbers that they draw, and the drawing with matplotlib, in one file each."""
