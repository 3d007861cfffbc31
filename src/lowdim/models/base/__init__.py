"""What every model has, and no model is named: the ground under all folders of `models`.

Its files, in reading order::

    estimator      The classes that models stand on: a record, shown, saved and reported; rows to scores; plans.
    fitting        Fits as work that is watched, by scikit-learn's callbacks too; `fit_transform`.
    scikit_learn   What models have of scikit-learn, from the moment that it is loaded; tags; errors in its words.
    input          Data as a model takes them: opened, and checked against those of the fit; shapes of pictures.
    describe       What data hold, without any model: kinds, ranges and holes of their columns.
    output         What models give: frames and arrays of the user's own library, tables by name, ONNX graphs.
    parameters     Parameters, declared once by the hints of constructors: checked, kept in files, said in errors.
    prompt         The same at the prompt: options, and what was typed for them.
    passes         Fits of any model that can be carried on: their passes over rows in a file.
    saving         Model files: from a fitted model to bytes, and back.
    uncertainty    `model.uncertainty`: what is asked of a bootstrap or a posterior.
    related        What columns that took no part in a fit have to do with its components.
    plots          `model.plot`: what the figures of every model stand on.
    picture_plots  Figures of rows that are pictures.
    report         `model.report`: the page of a model, and the rows that it shows.
"""
