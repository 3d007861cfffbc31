"""Autoencoders: a network that squeezes rows through a few codes, and back.

Its files, in reading order::

    model       Autoencoders: a network that squeezes rows through a few codes, and back.
    settings    Checking an autoencoder's parameters, and what follows from them and from what was observed.
    plan        How an autoencoder will be trained: the first look over the rows, loss, solver, batches, and the memory
                it takes.
    fit         How an autoencoder is trained: what was observed → how rows enter → epochs → record. The story in one
                place.
    rows        Rows of a block to codes and back, some at a time: hidden layers may be far wider than the rows.
    checkpoint  The state of training in a file, written after every epoch: a fit that was killed goes on to the same
                bits.
    record      What an autoencoder learnt: two stacks of layers, how they were trained; and how a model file keeps it.
    overview    An autoencoder in words.
    report      The page of an autoencoder.
    figures     Figures of an autoencoder: how its loss fell, and pictures that it makes.
    solvers/    How networks are trained: shapes, rows in batches, gradients, epochs.
    prompt      An autoencoder at the prompt.
"""

from lowdim.models.registry import class_of

__getattr__ = class_of(__name__)
