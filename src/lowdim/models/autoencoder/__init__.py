"""Autoencoders: a network that squeezes rows through a few codes, and back.

Its files, in reading order::

    model       Autoencoders: a network that squeezes rows through a few codes, and back.
    settings    Checking an autoencoder's parameters, and what follows from them and from what was observed.
    plan        How an autoencoder will be trained: the first look over the rows, loss, solver, batches, and the memory
                it takes.
    fit         How an autoencoder is trained: what was observed → how rows enter → epochs → record.
    checkpoint  The state of training in a file, written after every epoch: a fit that was killed goes on to the same
                bits.
    record      What an autoencoder learnt: two stacks of layers, how they were trained, and what codes look like.
    overview    What card, screen, JSON and page show of an autoencoder.
    tables      Tables of an autoencoder.
    figures     Figures of an autoencoder: how its loss fell, and pictures that it makes.
    onnx        A trained network as a graph of ONNX's operations.
    solvers/    Networks: layers, rows in batches, gradients, training.
"""

from lowdim.models.registry import class_of

__getattr__ = class_of(__name__)
