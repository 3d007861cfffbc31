"""A recogniser: whose rows are these, by the nearest in the space of a gallery's components.

Its files, in reading order::

    model     Recognition: whose row is this, is it anybody of the gallery, is it a row of that kind at all.
    fit       How a recogniser is fitted: labels, the gallery in the space of its components, limits of acceptance,
              neighbours.
    record    The record of a recogniser: its space, its gallery, its rates with intervals.
    overview  What card, screen, JSON and page show of a recogniser.
    tables    Tables of a recogniser.
    figures   Figures of a recogniser: how far people of a gallery are from themselves, and from each other.
"""

from lowdim.models.registry import class_of

__getattr__ = class_of(__name__)
