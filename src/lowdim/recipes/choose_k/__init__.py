"""How many dimensions: every rule, side by side.

Rules of models that are not linear stand in the folders of these models, as `k_rules.py`.

Its files, in reading order::

    choose_k  How many dimensions: every rule, its reason, what contradicts what it needs, and what to make of all of
              them.
    evidence  What rules for the number of components have to go by: the rows, their spectrum, and what they count.
    rules     The rules for the number of linear components, with the tests of noise that they assume.
    overview  Rules for the number of dimensions, on one screen and in one picture.
"""
