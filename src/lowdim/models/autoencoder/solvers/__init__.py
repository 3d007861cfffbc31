"""How networks are trained: shapes, rows in batches, gradients, epochs."""
