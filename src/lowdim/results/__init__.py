"""What was learnt: frozen records that can be read, saved and looked at. NumPy only.

Its files, in reading order::

    record       The record of a linear fit: mean, scale, components, variances, and where they come from.
    certificate  Bounds on the numerical error of each component.
    uncertainty  Confidence intervals, and how stable components are.
    k_choice     What every rule for the number of components says, and whether it may be believed.
    sparseness   Hoyer's sparseness: how few of its entries a vector is made of.
    table        Small tables of named columns.
    fields       How a record says, by its type hints, what a model file holds of it.
    meaning      What holds of every honest record: marks for its fields, and what is refused.
    codec        Records to facts and arrays, and back, strictly.
    container    The `.lowdim` model file: its bytes.
    passes       What passes over rows gave, in a file: trees of numbers and arrays.
    first_bytes  Its beginning, by which it is told from data.

Records are frozen dataclasses; a changed array loses its certificate. A field is described once, by its
type hint; files of earlier versions stay readable (`AddedLater`). Nothing in a file is ever executed.
"""
