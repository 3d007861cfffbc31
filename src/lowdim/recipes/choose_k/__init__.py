"""How many dimensions: every rule, side by side."""
