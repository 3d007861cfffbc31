"""How many components: rules that need no model of their own."""
