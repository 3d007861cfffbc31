"""A report as one HTML file that can be e-mailed: its parts, its sections, and the file."""
