"""Results as files.

In reading order::

    tables         Tables in the format that is asked for, or that the ending of a path names.
    columns        Columns on their way to a file: NumPy's, or Arrow's.
    table_writers  What every writer of tables does; .npy and .npz.
    spelling       Cells of text files.
    line_writers   CSV, TSV, Markdown and JSON lines ...
    arrow_lines    ... made by Arrow, to the same byte.
    workbooks      Workbooks (.xlsx).
    arrow_tables   Parquet and Feather.
    pictures       Pictures as files.
    onnx_graphs    Fits as graphs of a few operations, by ONNX's names.
    onnx           These graphs as ONNX files. The only file that imports onnx.
"""
