"""How axes in the feature space are found, and rows from their projections."""
