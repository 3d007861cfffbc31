"""Whose rows are these, by a gallery of rows that are known?

The gallery and its space are those of the model Recogniser.

Its files, in reading order::

    recognise  Whose rows are these? A gallery with labels, probes without or with, and how well the one tells the
               other.
    result     How well a gallery recognises probes: whose each is, how often that is right, and what a threshold
               trades.
    overview   What a gallery makes of probes: on one screen, as plain facts, and drawn.
"""
