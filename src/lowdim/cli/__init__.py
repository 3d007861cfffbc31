"""lowdim at the prompt: one verb a file; no arithmetic. Verbs about models are in models/, jobs in recipes/."""
