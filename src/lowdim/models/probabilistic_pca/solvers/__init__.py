"""EM with missing values: its steps, its start, what they cost in information, and held-out likelihoods."""
