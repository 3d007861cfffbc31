"""Results as text.

In reading order::

    lines    Lines of text with a style each; bars, lists and names that fit a width.
    card     What a fitted model shows of itself at a glance: in a terminal, and as HTML in a notebook.
    screen   A fit, a model file, a table and an uncertainty on one screen each.
    facts    A fit as plain facts for JSON, and as the lines of `explain`.
"""
