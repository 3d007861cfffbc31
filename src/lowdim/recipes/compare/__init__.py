"""The same rows through several models, judged by rows that none has seen.

Models are named as at the prompt (`models/registry.py`), or passed as estimators.

Its files, in reading order::

    compare    The same rows through several models: what each loses, how sparse it is, what it takes, and how it
               looks.
    represent  One model of the rows, chosen by name: fitted, judged by rows that it has not seen, and measured.
    result     The same rows through several models: what each loses, row by row and on average; frozen, numbers only.
    overview   Several models of the same rows: the figures of two lectures, and the page.
"""
