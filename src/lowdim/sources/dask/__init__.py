"""Dask arrays and frames: row blocks are computed where the data are."""
