"""Algorithms of non-negative factors, one a file; compiled loops begin with `compiled_`."""
