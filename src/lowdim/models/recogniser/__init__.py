"""A recogniser: whose rows are these, by the nearest in the space of a gallery's components.

Its files, in reading order::

    model     Recognition: whose row is this, is it anybody of the gallery, is it a row of that kind at all.
    fit       How a recogniser is made: labels of rows, the gallery in the space of its components, and limits of
              acceptance.
    record    The record of a recogniser: its space, its gallery, its rates with intervals; and how a model file keeps
              it.
    overview  A recogniser in words.
    report    The page of a recogniser: the space of its gallery, and how often it would be wrong.
    figures   Figures of a recogniser: how far people of a gallery are from themselves, and from each other.
    solvers   Rows beside a gallery: coordinates in which Euclid's distance is the metric's, and the nearest in them.
"""

from lowdim.models.registry import class_of

__getattr__ = class_of(__name__)
