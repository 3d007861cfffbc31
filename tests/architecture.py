"""The house in tables: which room, role and family may import which, and who alone may load an optional package.

`test_architecture.py` reads them. There are no exceptions.
"""

ROOMS = {
    "errors": {"words"},
    "types": set(),
    "words": set(),
    "runtime": {"words", "errors", "types"},
    "results": {"runtime", "words", "errors", "types"},
    "sources": {"runtime", "words", "errors", "types"},
    "matrices": {"sources", "runtime", "errors", "types"},
    "solvers": {"matrices", "sources", "results", "runtime", "errors", "types"},
    "views": {"results", "runtime", "words", "errors", "types"},
    "models": {
        *("solvers", "matrices", "sources", "results", "views", "runtime"),
        *("words", "errors", "types", "__init__"),
    },
    "recipes": {
        *("models", "solvers", "matrices", "sources", "results", "views", "runtime"),
        *("words", "errors", "types", "__init__"),
    },
    "datasets": {"errors", "types"},
    "cli": {
        *("recipes", "models", "sources", "results", "views", "datasets", "runtime"),
        *("words", "errors", "types", "__init__"),
    },
    "__init__": {"recipes", "models", "sources", "datasets", "errors"},
    "__main__": {"cli"},
}
"""Room → rooms that it may import. `__init__` is the package's own file, which loads names when they are used,
and `__main__` what `python -m lowdim` runs."""

ROLES = {
    "record": ("record", "loss", "observed"),
    "solvers": ("solvers", "compiled_*", "matrix", "kernels", "kernel_matrix", "gaussian", "control_limits"),
    "settings": ("settings",),
    "rows": ("rows",),
    "views": ("overview", "figures", "*_figures", "tables", "onnx"),
    "plan": ("plan",),
    "fit": ("fit", "fit_*", "count", "folds", "rivals", "checkpoint", "k_rules"),
    "model": ("model", "assigned", "convert", "uncertainty"),
}
"""What a file of a model's folder is for → its names. A role imports itself and those above it in this table."""

FAMILIES = {
    "base": set(),
    "linear": {"base"},
    "pca": {"probabilistic_pca"},
    "incremental_pca": {"pca"},
    "pc_regression": {"pca", "probabilistic_pca"},
    "recogniser": {"pca"},
    "ppca_mixture": {"vector_quantizer", "probabilistic_pca"},
    "logistic_pca": {"probabilistic_pca"},
}
"""Folder of `models` → other models that it may import. All stand on the ground, `base` and `linear`; a model that is
not listed stands on nothing else."""

GROUND = {"base", "linear"}

SHARED_PARTS = {
    "incremental_pca": {"record", "overview"},  # those of PCA …
    "pca": {"record", "overview"},  # … which are those of every linear fit …
    "probabilistic_pca": {"overview"},  # … in part
}
"""Model → roles that it has from its ground."""

PACKAGES = {
    "errors": set(),
    "types": {"numpy"},
    "words": set(),
    "runtime": {"numpy", "scipy", "threadpoolctl"},
    "results": {"numpy"},
    "sources": {"numpy", "scipy", "threadpoolctl"},
    "matrices": {"numpy", "scipy"},
    "solvers": {"numpy", "scipy"},
    "views": {"numpy"},
    "models": {"numpy", "scipy", "sklearn"},
    "recipes": {"numpy", "scipy"},
    "datasets": {"numpy"},
    "cli": {"numpy", "typer", "rich"},
    "__init__": set(),
    "__main__": set(),
}
"""Room → packages that any of its files may import."""

ALONE = {
    "pyarrow": {
        *("sources/formats/arrow.py", "sources/formats/arrow_columns.py", "sources/formats/arrow_json.py"),
        "sources/formats/parquet.py",
        *("views/files/columns.py", "views/files/arrow_lines.py", "views/files/arrow_tables.py"),
    },
    "python_calamine": {"sources/formats/excel.py"},
    "duckdb": {"sources/formats/duckdb.py"},
    "h5py": {"sources/formats/hdf5.py"},
    "zarr": {"sources/formats/zarr.py"},
    "anndata": {"sources/formats/h5ad.py"},
    "psutil": {"runtime/machine.py"},
    "PIL": {"sources/formats/pictures.py", "views/files/pictures.py"},
    "dask": {"sources/dask.py"},
    "distributed": {"sources/dask.py"},
    "onnx": {"views/files/onnx.py"},
    "narwhals": {"sources/frames.py", "models/base/output.py"},
    "matplotlib": {"views/plots/canvas.py"},
    "sklearn": {
        "errors.py",  # when a warning that is scikit-learn's too is first asked for
        "datasets/published.py",
        "recipes/topics/counts.py",
        "recipes/topics/fit.py",
        "recipes/basis_pursuit/lasso.py",
        "recipes/basis_pursuit/sparsest.py",
        "sources/formats/texts.py",
    },
    "torch": {"models/autoencoder/solvers/torch.py"},
    "pandas": {"datasets/dataset.py"},
    "polars": {"datasets/dataset.py"},
}
"""Package → the only files, beside the rooms above, that may import it."""

LARGEST_FILE, WIDEST_FOLDER = 500, 20
"""Lines, and files."""
