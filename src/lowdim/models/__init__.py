"""Promises to the user: scikit-learn estimators, one model a file."""
