"""How sure factors are: resampled, by influence of single rows, or in large samples."""
