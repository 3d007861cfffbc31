"""Readers of files, one format a file, each loaded only when a file of its kind is opened.

Its files, in reading order::

    packed         Bytes of files, unpacked where they are packed.
    stored         Arrays on disk, read block by block, and the checks that all of them share.
    text_tables    CSV, TSV and others: how they are written, and their lines as cells.
    json_tables    JSON: one record a line, or a document.
    excel          Workbooks.
    arrow_columns  Columns of Arrow tables as NumPy has them; lists and records taken apart.
    arrow          Large text tables, and Feather files.
    arrow_json     Many lines of JSON.
    parquet        Parquet files, row group by row group.
    sqlite         SQLite databases.
    duckdb         DuckDB databases, and `sql=` over any table.
    numpy          `.npy` and `.npz` files.
    long_reads     Long reads of large files, past the page cache where that pays.
    hdf5           HDF5 files.
    h5ad           Single-cell tables, AnnData.
    zarr           Zarr stores.
    pictures       Pictures of one size, each a row.
    texts          Texts: documents, and counts of their words.
    stdin          Standard input and other pipes, copied to a private file.

An optional package is imported in few files. An error names the file, what is wrong with it and what to do. A new
format is a subclass of `TableReader` (`sources/tables/table.py`) and a line in `sources/kinds.py`
(docs/contributing/add-a-format.md).
"""
