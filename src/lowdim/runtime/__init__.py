"""How work is run: threads, memory, progress, and files that are replaced whole.

Its files, in reading order::

    threads   Threads for blocks of rows, with BLAS on one thread inside each.
    memory    The memory limit of a fit: `memory="2GB"` as a budget, and how much of it is left.
    machine   What differs between systems: how much memory there is, and reading a file at a place.
    native    Kernels in C: which library this machine runs, and how arrays are handed to it.
    progress  How far work has come, told to whoever watches, who can ask it to stop.
    passes    Passes over rows that are kept, so that a fit that was killed goes on.
    warn      Warnings at the line of the user's that called lowdim.
    files     Atomic writes: a file is the old one or the new one, whole.

The number of threads never changes a result: results are merged in the order of the tasks. A memory limit is one of the
whole process, measured, not of single arrays. Nothing here knows what is computed.
"""
