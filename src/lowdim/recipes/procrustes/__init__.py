"""Scores turned onto a map."""
