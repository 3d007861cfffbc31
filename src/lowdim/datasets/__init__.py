"""Small data that may be shipped."""
