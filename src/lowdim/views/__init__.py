"""Looking at results. What stands here knows records and numbers, and no model.

In reading order::

    overview   What is said of a fit, whatever model made it: the record that `overview.py` of a model's folder fills.
    text/      The card of a model, screens, facts for JSON, the lines of `explain`.
    report/    A report as one HTML file: its parts, its sections, and the file.
    plots/     What figures are made of: axes and colours, points with names, mosaics of pictures.
    files/     Tables, pictures and ONNX graphs as files.

Figures themselves are functions in `figures.py` of a model's folder, or in `models/base/plots.py`.
"""
