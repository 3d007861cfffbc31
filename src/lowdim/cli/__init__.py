"""lowdim at the prompt: one verb a file; no arithmetic."""
