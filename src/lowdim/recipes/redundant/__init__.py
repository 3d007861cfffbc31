"""Columns that say what others say already."""
