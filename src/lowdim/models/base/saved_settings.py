"""Settings of every estimator as a model file says them: name → what it may be."""

from __future__ import annotations

from lowdim.results.container import Check, each, flag, number, one_of, optional, text, whole

PCA_PARAMS: dict[str, Check] = {
    "n_components": lambda value: value is None or text(value) or number(value),
    "copy": flag,
    "whiten": flag,
    "svd_solver": text,
    "tol": number,
    "iterated_power": lambda value: value == "auto" or whole(value),
    "n_oversamples": whole,
    "power_iteration_normalizer": text,
    "random_state": optional(whole),
    "center": flag,
    "scale": lambda value: flag(value) or value == "array",
    "ddof": whole,
    "column_weight": one_of(None, "array"),
    "missing": one_of("error", "ppca"),
}
"""Settings of PCA as JSON says them; arrays are kept under "param_<name>"."""

INCREMENTAL_PARAMS: dict[str, Check] = {
    "n_components": lambda value: value is None or text(value) or number(value),
    "whiten": flag,
    "copy": flag,
    "batch_size": optional(whole),
}
"""The same of IncrementalPCA."""

LATER = {"missing": "error", "autosomes": None}
"""Settings that files of earlier versions do not name, and what they meant."""

LATENT_PARAMS: dict[str, Check] = {
    "n_components": lambda value: text(value) or whole(value),
    "scale": lambda value: flag(value) or value == "array",
    "solver": text,
    "w_precision": number,
    "noise_variance": optional(number),
    "tol": number,
    "max_iter": whole,
    "unstored": one_of("zero", "missing"),
    "random_state": optional(whole),
}
"""The same of ProbabilisticPCA."""


MIXTURE_PARAMS: dict[str, Check] = {
    "n_clusters": whole,
    "n_components": whole,
    "scale": lambda value: flag(value) or value == "array",
    "noise_variance": optional(number),
    "tol": number,
    "max_iter": whole,
    "n_init": whole,
    "random_state": optional(whole),
}
"""The same of PPCAMixture."""

KERNEL_PARAMS: dict[str, Check] = {
    "n_components": lambda value: value is None or text(value) or number(value),
    "kernel": text,
    "gamma": lambda value: value is None or text(value) or number(value),
    "degree": number,
    "coef0": number,
    "kernel_params": one_of(None),
    "alpha": number,
    "fit_inverse_transform": flag,
    "eigen_solver": text,
    "tol": number,
    "max_iter": optional(whole),
    "iterated_power": lambda value: value == "auto" or whole(value),
    "remove_zero_eig": flag,
    "random_state": optional(whole),
    "copy_X": flag,
    "n_jobs": lambda value: value is None or value == -1 or whole(value),
    "c": optional(number),
    "sigma": optional(number),
    "scale_factor": number,
    "scale": flag,
    "centered": flag,
    "scaling": one_of("unit_axis", "lecture1"),
    "preimage": text,
    "n_landmarks": optional(whole),
    "not_positive": one_of("error", "clip"),
}
"""The same of KernelPCA."""

CODEBOOK_PARAMS: dict[str, Check] = {
    "n_components": whole,
    "init": one_of("k-means++", "random", "array"),
    "n_init": lambda value: value == "auto" or whole(value),
    "max_iter": whole,
    "tol": number,
    "sample_rows": optional(whole),
    "random_state": optional(whole),
}
"""The same of VectorQuantizer; a codebook to start from is kept as "param_init"."""

NMF_PARAMS: dict[str, Check] = {
    "n_components": lambda value: text(value) or whole(value),
    "init": optional(text),
    "solver": text,
    "beta_loss": lambda value: text(value) or number(value),
    "tol": number,
    "max_iter": whole,
    "random_state": optional(whole),
    "alpha_W": number,
    "alpha_H": lambda value: text(value) or number(value),
    "l1_ratio": number,
    "verbose": lambda value: flag(value) or whole(value),
    "shuffle": flag,
    "n_init": whole,
    "unstored": one_of("zero", "missing"),
    "n_jobs": lambda value: value is None or value == -1 or whole(value),
}
"""The same of NMF."""

LOGISTIC_PARAMS: dict[str, Check] = {
    "n_components": whole,
    "family": text,
    "encoder": text,
    "ridge": lambda value: text(value) or number(value),
    "m": lambda value: text(value) or number(value),
    "tol": number,
    "max_iter": whole,
    "unstored": one_of("zero", "missing"),
    "random_state": optional(whole),
}
"""The same of LogisticPCA."""

GENOTYPE_PARAMS: dict[str, Check] = {
    "n_components": lambda value: value is None or number(value),
    "normalisation": text,
    "min_maf": number,
    "max_missing_snps": number,
    "max_missing_individuals": number,
    "ld_r2": optional(number),
    "ld_window": whole,
    "outlier_sigma": optional(number),
    "outlier_rounds": whole,
    "outlier_axes": whole,
    "autosomes": optional(whole),
    "whiten": flag,
    "tol": number,
    "random_state": optional(whole),
}
"""The same of GenotypePCA."""

NETWORK_PARAMS: dict[str, Check] = {
    "n_components": whole,
    "hidden": lambda value: whole(value) or each(whole)(value),
    "loss": text,
    "activation": text,
    "scale": flag,
    "solver": text,
    "learning_rate": number,
    "batch_size": whole,
    "max_iter": whole,
    "l2": number,
    "weight_decay": number,
    "validation": number,
    "patience": whole,
    "refine": whole,
    "device": text,
    "random_state": optional(whole),
}
"""The same of Autoencoder."""

REGRESSION_PARAMS: dict[str, Check] = {
    "n_components": lambda value: value is None or text(value) or number(value),
    "scale": lambda value: flag(value) or value == "array",
    "cv": optional(whole),
    "repeats": whole,
    "rule": text,
    "alpha": number,
    "missing": one_of("error", "ppca"),
    "compare": flag,
    "random_state": optional(whole),
}
"""The same of PCRegression; of a splitter only its splits are told, in the record, and None is kept."""

RECOGNISER_PARAMS: dict[str, Check] = {
    "n_components": lambda value: value is None or text(value) or number(value),
    "metric": text,
    "drop_first": whole,
    "n_neighbors": whole,
    "reject": optional(number),
    "max_distance": optional(number),
    "reject_outside": optional(number),
    "unknown": lambda value: value is None or text(value) or number(value),
    "scale": lambda value: flag(value) or value == "array",
    "random_state": optional(whole),
}
"""The same of Recogniser."""
