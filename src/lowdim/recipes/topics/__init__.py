"""Topics of a collection of texts."""
