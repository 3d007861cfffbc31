"""How factors are found: matrices in, arrays out, one algorithm a file; the random generator is passed in."""
