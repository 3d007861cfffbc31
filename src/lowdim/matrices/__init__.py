"""What a solver sees: shapes, products and block reductions of a centred, scaled, weighted matrix. Never files."""
