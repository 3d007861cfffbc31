"""Kernel PCA: principal components in a space of features that only its inner products describe.

Its files, in reading order::

    model                   Kernel principal component analysis.
    settings                A kernel PCA's parameters: names and numbers in, kernels and widths out.
    plan                    From the settings of a KernelPCA and its data to a task and a route: kernel width,
                            components, solver, memory.
    fit                     How a kernel PCA is made: rows → kernel → route → axes → record.
    rows                    What a fitted kernel PCA says about rows, block by block; and from scores back to rows by
                            pre-images.
    k_rules                 How many components: by held-out rows, and by shares of the trace.
    kernel_matrix           The kernel matrix as solvers see it: centred or not, known by its products, its trace and
                            its means.
    kernels                 Kernels: what stands for the inner product of two rows in a space of features that is never
                            written down.
    compiled_kernel_matrix  Compiled products with a kernel matrix that is never there: tiles of it are made, used, and
                            overwritten.
    record                  The record of a kernel PCA: axes in the feature space, and intervals of their eigenvalues.
    overview                What card, screen, JSON and page show of a kernel PCA.
    figures                 Figures of a kernel PCA: similarity by distance, and what the width of the kernel does.
    tables                  Tables of a kernel PCA.
    solvers/                How axes in the feature space are found, and rows from their projections; held-out rows
                            that tell how many there are.
"""

from lowdim.models.registry import class_of

__getattr__ = class_of(__name__)
