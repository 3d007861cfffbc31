"""lowdim at the prompt: one verb a file; no arithmetic.

In reading order: `main` finds the verb, `options` has the groups of options, `data` opens what they name, `writing`
writes, `console` and `errors` talk. Verbs about models are in models/, jobs in recipes/; `describe` is what happens
without a verb.
"""
