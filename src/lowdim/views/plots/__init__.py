"""Figures with matplotlib: each function takes Axes and gives them back."""
