"""The ground of the linear models: one fit, one page, tables and figures that all of them share.

Its files, in reading order::

    model               What every linear model offers once it is fitted: scores and back, tables, reconstructions,
                        densities.
    fit                 How a linear fit is planned and made: where rows lie, solver → matrix → factors → certificate →
                        record.
    fit_small           Fits of small arrays in a straight line: what `fit` does of any data, of those that need no
                        thought.
    compiled_fit_small  Compiled: all arithmetic of a fit of a small array, in one call: mean and scatter, eigenpairs
                        and their errors.
    gaussian            The Gaussian density that a linear fit stands for, and log-densities of rows by it.
    control_limits      Limits for Hotelling's T² and for Q, and both distances of rows that components were found
                        without.
    record              What a model file holds of a linear model, unless its own folder says otherwise.
    assigned            The record of a linear model whose attributes were assigned.
    uncertainty         How sure a linear model is: what resamples of its rows, and the law of large samples, say of its
                        components.
    overview            A linear fit in words: PCA, and what stands on it.
    row_figures         Figures of the rows of a linear model: biplot, outliers, contributions; and all that every such
                        model has.
    column_figures      Figures of the columns of a linear model: circle, map, bars, and the error of compression; and
                        its pictures.
    tables/             `model.table(name)` of linear models, a subject a file.
"""
