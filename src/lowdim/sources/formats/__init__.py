"""Readers of files, one format a file, each loaded only when a file of its kind is opened.

Its files, in reading order::

    table        What a reader of tables must do (`TableReader`), and the source made of any of them.
    stored       Arrays on disk, read block by block, and the checks that all of them share.
    csv_dialect  Encoding, delimiter, decimal mark and header of a text table, from its first lines.
    arrow        CSV, TSV, Feather and JSON lines, through pyarrow.
    parquet      Parquet files, row group by row group.
    excel        Workbooks.
    sqlite       SQLite databases.
    duckdb       DuckDB databases, and `sql=` over any table.
    numpy        `.npy` and `.npz` files.
    long_reads   Long reads of large files, past the page cache where that pays.
    hdf5         HDF5 files.
    h5ad         Single-cell tables, AnnData.
    zarr         Zarr stores.
    pictures     Pictures of one size, each a row.
    texts        Texts: documents, and counts of their words.
    stdin        Standard input and other pipes, copied to a private file.

An optional package is imported in one file. An error names the file, what is wrong with it and what to do. A new format
is a subclass of `TableReader` and a line in `sources/kinds.py` (docs/contributing/add-a-format.md).
"""
