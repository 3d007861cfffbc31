"""What was learnt: frozen records that can be read, saved and looked at. NumPy only."""
