"""The house in tables: which room, role and family may import which, and who alone may load an optional package.

`test_architecture.py` reads them. What does not hold yet stands at the end, edge by edge: the lists may only shrink.
"""

ROOMS = {
    "errors": set(),
    "types": set(),
    "words": set(),
    "runtime": {"errors", "types"},
    "results": {"runtime", "words", "errors", "types"},
    "sources": {"runtime", "errors", "types"},
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
}
"""Room → rooms that it may import. `__init__` is the package's own file, which loads names when they are used."""

ROLES = {
    "solvers": ("solvers", "compiled_*", "matrix", "kernels", "kernel_matrix", "gaussian", "control_limits"),
    "record": ("record",),
    "views": ("overview", "report", "figures", "*_figures", "tables"),
    "settings": ("settings", "prompt"),
    "plan": ("plan", "problem"),
    "fit": ("fit", "fit_*", "rows", "count", "folds", "sample", "rivals", "checkpoint"),
    "model": ("model", "fitted_model", "assigned", "convert", "uncertainty"),
}
"""What a file of a model's folder is for → its names. A role imports itself and those above it in this table."""

FAMILIES = {
    "base": set(),
    "linear": {"base"},
    "probabilistic_pca": {"linear", "base"},
    "pca": {"probabilistic_pca", "linear", "base"},
    "incremental_pca": {"pca", "linear", "base"},
    "genotype_pca": {"linear", "base"},
    "pc_regression": {"pca", "probabilistic_pca", "linear", "base"},
    "recogniser": {"pca", "linear", "base"},
    "vector_quantizer": {"base"},
    "ppca_mixture": {"vector_quantizer", "probabilistic_pca", "linear", "base"},
    "kernel_pca": {"base"},
    "nmf": {"base"},
    "logistic_pca": {"probabilistic_pca", "linear", "base"},
    "autoencoder": {"base"},
}
"""Folder of `models` → other folders that it may import. `base` and `linear` are ground; the others are models."""

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
}
"""Room → packages that any of its files may import."""

ALONE = {
    "numba": {"**/compiled_*.py"},
    "pyarrow": {"sources/formats/arrow.py", "sources/formats/parquet.py", "views/files/tables.py"},
    "python_calamine": {"sources/formats/excel.py"},
    "duckdb": {"sources/formats/duckdb.py"},
    "h5py": {"sources/formats/hdf5.py"},
    "zarr": {"sources/formats/zarr.py"},
    "anndata": {"sources/formats/h5ad.py"},
    "psutil": {"runtime/machine.py"},
    "PIL": {"sources/formats/pictures.py", "views/files/pictures.py"},
    "dask": {"sources/dask/source.py"},
    "distributed": {"sources/dask/source.py"},
    "onnx": {"views/files/onnx.py"},
    "narwhals": {"sources/frames.py", "models/base/output.py"},
    "matplotlib": {"views/plots/canvas.py"},
    "sklearn": {
        "errors.py",  # when a warning that is scikit-learn's too is first asked for
        "datasets/bundled.py",
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
"""Package → the only files, beside the rooms above, that may import it. `compiled_*` are told by their names."""

LARGEST_FILE, WIDEST_FOLDER = 500, 20
"""Lines, and files."""

WRONG_ROOMS: set[tuple[str, str]] = {
    ("views/files/onnx.py", "models/autoencoder/record.py"),
    ("views/files/onnx_graphs.py", "models/autoencoder/record.py"),
    ("views/plots/representations.py", "recipes/compare/result.py"),
}
"""Shared files that name models: dispatchers by kind of record, and helpers that lie with one model."""

WRONG_FAMILIES: set[tuple[str, str]] = {
    ("models/base/assigned.py", "models/genotype_pca/record.py"),
    ("models/base/assigned.py", "models/probabilistic_pca/record.py"),
    ("models/linear/tables/columns.py", "models/probabilistic_pca/record.py"),
    ("models/linear/tables/outliers.py", "models/probabilistic_pca/record.py"),
    ("models/recogniser/model.py", "models/vector_quantizer/fit.py"),
    ("models/vector_quantizer/figures.py", "models/ppca_mixture/record.py"),
}
"""Files of one model that need another's, most of them for a helper that belongs to shared ground."""

WRONG_ROLES: set[tuple[str, str]] = {
    ("models/autoencoder/plan.py", "models/autoencoder/checkpoint.py"),
    ("models/autoencoder/solvers/network.py", "models/autoencoder/record.py"),
    ("models/autoencoder/solvers/torch.py", "models/autoencoder/record.py"),
    ("models/kernel_pca/plan.py", "models/kernel_pca/count.py"),
    ("models/kernel_pca/plan.py", "models/kernel_pca/model.py"),
    ("models/kernel_pca/plan.py", "models/kernel_pca/rows.py"),
    ("models/kernel_pca/solvers/exact.py", "models/kernel_pca/record.py"),
    ("models/kernel_pca/solvers/features.py", "models/kernel_pca/record.py"),
    ("models/kernel_pca/solvers/landmarks.py", "models/kernel_pca/record.py"),
    ("models/kernel_pca/solvers/projections.py", "models/kernel_pca/record.py"),
    ("models/logistic_pca/figures.py", "models/logistic_pca/rows.py"),
    ("models/logistic_pca/settings.py", "models/logistic_pca/model.py"),
    ("models/nmf/plan.py", "models/nmf/fit_streamed.py"),
    ("models/nmf/settings.py", "models/nmf/model.py"),
    ("models/recogniser/fit.py", "models/recogniser/model.py"),
    ("models/recogniser/solvers.py", "models/recogniser/record.py"),
}
"""Files of a model that need what should stand on them."""

LAZY_KNOTS: list[set[str]] = []
"""Files that import each other when imports inside functions are counted."""
