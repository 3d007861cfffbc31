"""How work is run: threads, memory, progress, and files that are replaced whole."""
