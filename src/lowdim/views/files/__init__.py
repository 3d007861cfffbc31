"""Results as files.

In reading order::

    tables         Tables in the format that the ending of a path asks for.
    table_writers  Writers of tables that need nothing but NumPy: CSV, JSON lines, .npy, .npz.
    pictures       Pictures as files.
    onnx_graphs    Fits as graphs of a few operations, by ONNX's names.
    onnx           These graphs as ONNX files. The only file that imports onnx.
"""
