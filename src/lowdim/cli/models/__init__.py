"""Verbs that fit a model or use one that was kept."""
