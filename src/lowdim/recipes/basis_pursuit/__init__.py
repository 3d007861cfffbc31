"""Sparse solutions of Ay = b: by linear programming, by the lasso, and by trying."""
