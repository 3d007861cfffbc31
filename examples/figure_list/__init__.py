"""The figures of the gallery, some a file. Each file has `FIGURES`, name → function that draws, and `DARK`."""
