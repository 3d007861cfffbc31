"""Which room may import which, and which file alone may import an optional package. `test_rooms.py` reads it."""

ROOMS = {
    "errors": set(),
    "sources": {"errors"},
    "matrices": {"sources", "errors"},
    "results": {"errors"},
    "solvers": {"matrices", "sources", "results", "errors"},
    "views": {"results", "errors"},
    "models": {"solvers", "matrices", "sources", "results", "views", "errors", "__init__"},
    "recipes": {"models", "solvers", "matrices", "sources", "results", "views", "errors", "__init__"},
    "datasets": {"errors"},
    "cli": {"recipes", "models", "sources", "results", "views", "datasets", "errors", "__init__"},
    "__init__": {"recipes", "models", "sources", "datasets", "errors"},
}
"""Room → rooms that it may import. `__init__` is the package's own file, which loads names when they are used."""

BASE = {
    "errors": set(),
    "sources": {"numpy", "scipy", "threadpoolctl"},
    "matrices": {"numpy", "scipy"},
    "results": {"numpy"},
    "solvers": {"numpy", "scipy"},
    "views": {"numpy"},
    "models": {"numpy", "scipy", "sklearn"},
    "recipes": {"numpy", "scipy"},
    "datasets": {"numpy"},
    "cli": {"numpy", "typer", "rich"},
    "__init__": set(),
}
"""Room → packages that any of its files may import."""

ALONE = {
    "numba": {
        "matrices/compiled.py",
        "matrices/exponential.py",
        "matrices/kernel_tiles.py",
        "recipes/kernels.py",
        "recipes/similar_kernels.py",
        "solvers/hidden_kernels.py",
        "solvers/logistic_kernels.py",
        "solvers/nmf_codes_kernels.py",
        "solvers/nmf_hals_kernels.py",
        "solvers/nmf_kl_kernels.py",
        "solvers/nmf_weighted_kernels.py",
        "solvers/ppca_kernels.py",
    },
    "pyarrow": {"sources/arrow.py", "sources/parquet.py", "views/table_files.py"},
    "python_calamine": {"sources/excel.py"},
    "duckdb": {"sources/duckdb.py"},
    "h5py": {"sources/hdf5.py"},
    "zarr": {"sources/zarr.py"},
    "anndata": {"sources/anndata.py"},
    "psutil": {"sources/machine.py"},
    "PIL": {"sources/pictures.py", "views/picture_files.py"},
    "dask": {"sources/dask.py"},
    "distributed": {"sources/dask.py"},
    "onnx": {"views/onnx.py"},
    "narwhals": {"sources/frames.py", "models/frames.py"},
    "matplotlib": {"views/plots/canvas.py"},
    "sklearn": {
        "errors.py",  # when a warning that is scikit-learn's too is first asked for
        "datasets/bundled.py",
        "recipes/topic_counts.py",
        "recipes/topic_peers.py",
        "solvers/lasso.py",
        "solvers/matching_pursuit.py",
        "sources/texts.py",
    },
    "torch": {"solvers/torch_training.py"},
    "pandas": {"datasets/dataset.py"},
    "polars": {"datasets/dataset.py"},
}
"""Package → the only files, beside the rooms above, that may import it."""
