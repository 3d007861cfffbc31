"""More of them: models inside scikit-learn's tools and other libraries' idioms, kernels, and parts."""

from __future__ import annotations

import io
import os
import pickle
import tempfile

import joblib
import numpy as np
import pandas as pd
import scipy.sparse
from programs import CANCER, CULTIVARS, DIGITS, IRIS, KINDS, NUMBERS, TEXTS, WINE, about_sign, program
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor, make_column_selector
from sklearn.datasets import load_diabetes, load_iris, make_moons
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.manifold import TSNE
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, cross_val_predict, cross_validate, learning_curve
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

FRAME = load_iris(as_frame=True).data

# -- inside scikit-learn's tools --------------------------------------------------------------------------------------


@program
def a_frame_goes_in_and_names_are_kept(d):
    pca = d.PCA(2).fit(FRAME)
    return {"in": list(pca.feature_names_in_), "scores": about_sign(pca.transform(FRAME))}


@program
def pandas_comes_out(d):
    made = d.PCA(2).set_output(transform="pandas").fit_transform(FRAME)
    return {"columns": list(made.columns), "index": list(made.index[:3]), "scores": about_sign(made)}


@program
def polars_comes_out(d):
    made = d.PCA(2).set_output(transform="polars").fit_transform(IRIS)
    return {"columns": made.columns, "scores": about_sign(made.to_numpy())}


@program
def a_pipeline_with_pandas_out(d):
    pipe = make_pipeline(StandardScaler(), d.PCA(2)).set_output(transform="pandas")
    return {"columns": list(pipe.fit_transform(FRAME).columns), "names": list(pipe[:1].get_feature_names_out())}


@program
def some_columns_of_a_frame(d):
    frame = FRAME.assign(kind=np.array(["a", "b", "c"])[KINDS])
    made = ColumnTransformer(
        [
            ("numbers", make_pipeline(StandardScaler(), d.PCA(2)), make_column_selector(dtype_include="number")),
            ("kinds", OneHotEncoder(), ["kind"]),
        ]
    )
    return {"shape": made.fit_transform(frame).shape, "names": list(made.get_feature_names_out())}


@program
def settings_are_read_and_set(d):
    pca = d.PCA(n_components=2, whiten=True)
    told = pca.get_params()
    pca.set_params(n_components=3)
    return {"before": told["n_components"], "whiten": told["whiten"], "after": pca.n_components}


@program
def a_clone_is_not_fitted(d):
    twin = clone(d.PCA(2).fit(IRIS))
    return {"fitted": hasattr(twin, "components_"), "k": twin.n_components}


@program
def pickled_and_back(d):
    pca = d.PCA(2).fit(IRIS)
    again = pickle.loads(pickle.dumps(pca))
    return {"same": bool((again.transform(IRIS) == pca.transform(IRIS)).all())}


@program
def kept_by_joblib(d):
    pipe = make_pipeline(StandardScaler(), d.PCA(2)).fit(IRIS)
    with tempfile.TemporaryDirectory() as folder:
        joblib.dump(pipe, os.path.join(folder, "pipe.joblib"))
        again = joblib.load(os.path.join(folder, "pipe.joblib"))
    return {"scores": about_sign(again.transform(IRIS))}


@program
def a_pipeline_that_remembers(d):
    with tempfile.TemporaryDirectory() as folder:
        pipe = make_pipeline(d.PCA(2), LogisticRegression(), memory=folder)
        return {"score": [pipe.fit(IRIS, KINDS).score(IRIS, KINDS) for _ in range(2)]}


@program
def scores_of_folds(d):
    found = cross_validate(make_pipeline(d.PCA(2), LogisticRegression()), IRIS, KINDS, cv=3, return_train_score=True)
    return {"test": found["test_score"], "train": found["train_score"]}


@program
def predictions_of_folds(d):
    made = cross_val_predict(make_pipeline(d.PCA(5), KNeighborsClassifier(3)), DIGITS, NUMBERS, cv=3)
    return {"right": float((made == NUMBERS).mean())}


@program
def a_search_over_likelihood(d):
    search = GridSearchCV(d.PCA(), {"n_components": [1, 2, 3]}, cv=3).fit(IRIS)
    return {"best": search.best_params_["n_components"], "scores": search.cv_results_["mean_test_score"]}


@program
def a_random_search(d):
    pipe = Pipeline([("pca", d.PCA()), ("ridge", Ridge())])
    X, y = load_diabetes(return_X_y=True)
    search = RandomizedSearchCV(
        pipe, {"pca__n_components": [2, 4, 6], "ridge__alpha": [0.1, 1.0]}, n_iter=4, random_state=0
    )
    return {"scores": search.fit(X, y).cv_results_["mean_test_score"]}


@program
def a_step_that_is_left_out_or_in(d):
    pipe = Pipeline([("reduce", d.PCA(2)), ("classify", LogisticRegression(max_iter=500))])
    search = GridSearchCV(pipe, {"reduce": ["passthrough", d.PCA(1), SelectKBest(k=2)]}, cv=3).fit(IRIS, KINDS)
    return {"scores": search.cv_results_["mean_test_score"]}


@program
def a_learning_curve(d):
    sizes, train, test = learning_curve(
        make_pipeline(d.PCA(2), LogisticRegression(max_iter=500)), IRIS, KINDS, train_sizes=[0.5, 1.0], cv=3,
        shuffle=True, random_state=0,
    )  # fmt: skip
    return {"sizes": sizes, "train": train, "test": test}


@program
def several_jobs(d):
    search = GridSearchCV(make_pipeline(d.PCA(), LogisticRegression(max_iter=500)), {"pca__n_components": [1, 2]}, cv=2)
    with joblib.parallel_backend("threading", n_jobs=2):
        return {"scores": search.fit(IRIS, KINDS).cv_results_["mean_test_score"]}


@program
def bags_of_pipelines(d):
    bag = BaggingClassifier(make_pipeline(d.PCA(3), LogisticRegression(max_iter=500)), 5, random_state=0)
    return {"score": bag.fit(WINE, CULTIVARS).score(WINE, CULTIVARS)}


@program
def a_vote_of_pipelines(d):
    parts = [
        ("few", make_pipeline(d.PCA(1), LogisticRegression())),
        ("more", make_pipeline(d.PCA(2), LogisticRegression())),
    ]
    return {"score": VotingClassifier(parts, voting="soft").fit(IRIS, KINDS).score(IRIS, KINDS)}


@program
def importance_by_permutation(d):
    pipe = make_pipeline(StandardScaler(), d.PCA(2), LogisticRegression()).fit(IRIS, KINDS)
    return {"means": permutation_importance(pipe, IRIS, KINDS, n_repeats=3, random_state=0).importances_mean}


@program
def holes_filled_first(d):
    holed = np.where(np.random.RandomState(0).rand(*IRIS.shape) < 0.1, np.nan, IRIS)
    pipe = make_pipeline(SimpleImputer(), StandardScaler(), d.PCA(2))
    return {"scores": about_sign(pipe.fit_transform(holed))}


@program
def holes_are_refused(d):
    try:
        d.PCA(2).fit(np.where(IRIS > 7, np.nan, IRIS))
    except ValueError as error:
        return {"said": "NaN" in str(error) or "missing" in str(error)}
    return {"said": False}


@program
def the_wrong_number_of_columns_is_refused(d):
    try:
        d.PCA(2).fit(IRIS).transform(IRIS[:, :3])
    except ValueError as error:
        return {"said": "features" in str(error)}
    return {"said": False}


@program
def not_fitted_is_refused(d):
    from sklearn.exceptions import NotFittedError

    try:
        d.PCA(2).transform(IRIS)
    except NotFittedError:
        return {"refused": True}
    return {"refused": False}


@program
def a_step_of_my_own(d):
    class Standardised(BaseEstimator, TransformerMixin):
        def __init__(self, k=2):
            self.k = k

        def fit(self, X, y=None):
            self.pca_ = d.PCA(self.k).fit(X / X.std(axis=0))
            self.scale_ = X.std(axis=0)
            return self

        def transform(self, X):
            return self.pca_.transform(X / self.scale_)

    return {"scores": about_sign(make_pipeline(Standardised(2)).fit_transform(WINE))}


@program
def a_class_of_my_own_that_is_a_pca(d):
    class Rounded(d.PCA):
        def transform(self, X):
            return super().transform(X).round(3)

    return {"scores": about_sign(Rounded(2).fit(IRIS).transform(IRIS))}


@program
def a_pca_as_a_function(d):
    return {"scores": about_sign(FunctionTransformer(lambda X: d.PCA(2).fit_transform(X)).fit_transform(IRIS))}


@program
def targets_reduced(d):
    X, Y = IRIS[:, :2], IRIS
    model = TransformedTargetRegressor(Ridge(), transformer=d.PCA(2), check_inverse=False).fit(X, Y)
    return {"made": model.predict(X)}


@program
def names_of_a_union(d):
    union = FeatureUnion([("p", d.PCA(1)), ("k", d.KernelPCA(2))]).fit(IRIS)
    return {"names": list(union.get_feature_names_out())}


@program
def shown_in_a_pipeline(d):
    shown = repr(make_pipeline(StandardScaler(), d.PCA(n_components=2)))
    return {"line": "".join(shown.split())}


# -- before other methods ---------------------------------------------------------------------------------------------


@program
def before_a_mixture(d):
    X = d.PCA(2, whiten=True).fit_transform(IRIS)
    return {"likelihood": GaussianMixture(3, random_state=0).fit(X).score(X)}


@program
def before_a_map(d):
    X = d.PCA(5).fit_transform(DIGITS[:60])
    made = TSNE(2, init=about_sign(X[:, :2]) / 100, perplexity=10, random_state=0, max_iter=250).fit_transform(
        about_sign(X)
    )
    return {"finite": bool(np.isfinite(made).all()), "shape": made.shape}


@program
def before_a_forest(d):
    X = about_sign(d.PCA(5).fit_transform(WINE))
    return {"score": RandomForestClassifier(10, random_state=0).fit(X, CULTIVARS).score(X, CULTIVARS)}


@program
def before_a_tree_of_clusters(d):
    X = d.PCA(3).fit_transform(StandardScaler().fit_transform(WINE))
    return {"sizes": sorted(np.bincount(AgglomerativeClustering(3).fit_predict(X)))}


@program
def centres_of_clusters_in_the_plane(d):
    pca = d.PCA(2).fit(IRIS)
    centres = KMeans(3, n_init=5, random_state=0).fit(IRIS).cluster_centers_
    made = pca.transform(centres[np.argsort(centres[:, 0])])
    return {"centres": about_sign(made)}


@program
def neighbours_of_a_row(d):
    X = d.PCA(10).fit_transform(DIGITS)
    distances = np.linalg.norm(X - X[0], axis=1)
    return {"nearest": np.argsort(distances)[:6], "distances": np.sort(distances)[:6]}


@program
def embeddings_by_cosine(d):
    X = np.random.RandomState(0).randn(200, 64) @ np.diag(0.9 ** np.arange(64))
    X = d.PCA(16).fit_transform(X)
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    return {"similar": X[:20] @ X[:20].T}


@program
def groups_in_a_frame(d):
    frame = pd.DataFrame(d.PCA(2).fit_transform(IRIS), columns=["x", "y"]).assign(kind=KINDS)
    return {"means": np.abs(frame.groupby("kind")[["x", "y"]].mean()), "spread": frame.groupby("kind").std()}


# -- sparse, single, lists --------------------------------------------------------------------------------------------


@program
def sparse_counts(d):
    counts = CountVectorizer().fit_transform(TEXTS).astype(float)
    pca = d.PCA(2, svd_solver="arpack").fit(counts)
    return {"shares": pca.explained_variance_ratio_, "scores": about_sign(pca.transform(counts))}


@program
def single_precision(d):
    made = d.PCA(2).fit_transform(WINE.astype(np.float32))
    return {"dtype": str(made.dtype), "scores": about_sign(made)}


@program
def lists_and_integers(d):
    rows = [[1, 2, 3], [4, 5, 7], [2, 2, 1], [9, 3, 3]]
    return {"scores": about_sign(d.PCA(2).fit_transform(rows)), "ints": d.PCA(1).fit(np.array(rows)).mean_}


@program
def fortran_order_and_views(d):
    X = np.asfortranarray(CANCER)[::2, ::3]
    return {"variances": d.PCA(3).fit(X).explained_variance_}


@program
def fewer_rows_than_columns(d):
    X = CANCER[:10]
    pca = d.PCA().fit(X)
    return {
        "k": pca.n_components_,
        "variances": pca.explained_variance_[:9],
        "scores": about_sign(pca.transform(X)[:, :9]),
    }


@program
def a_text_that_is_written_and_read(d):
    kept = io.BytesIO()
    np.savez(kept, mean=d.PCA(2).fit(IRIS).mean_)
    kept.seek(0)
    return {"mean": np.load(kept)["mean"]}


# -- kernels ----------------------------------------------------------------------------------------------------------


@program
def kernels_by_name(d):
    made = {}
    for kernel in ("linear", "poly", "rbf", "cosine"):
        made[kernel] = about_sign(d.KernelPCA(2, kernel=kernel, gamma=0.1).fit_transform(IRIS))
    return made


@program
def a_linear_kernel_is_pca(d):
    return {"scores": about_sign(d.KernelPCA(2).fit_transform(IRIS)), "same": about_sign(d.PCA(2).fit_transform(IRIS))}


@program
def a_kernel_matrix_of_my_own(d):
    K = rbf_kernel(IRIS, gamma=0.2)
    kpca = d.KernelPCA(2, kernel="precomputed").fit(K[:100, :100])
    return {"scores": about_sign(kpca.transform(K[100:, :100])), "eigenvalues": kpca.eigenvalues_}


@program
def a_kernel_function_of_my_own(d):
    kpca = d.KernelPCA(2, kernel=lambda a, b, power: (a @ b + 1) ** power, kernel_params={"power": 2})
    return {"scores": about_sign(kpca.fit_transform(IRIS[:30]))}


@program
def moons_apart(d):
    X, y = make_moons(100, random_state=0)
    X = d.KernelPCA(2, kernel="rbf", gamma=15).fit_transform(X)
    return {"score": LogisticRegression().fit(X, y).score(X, y)}


@program
def the_width_of_a_kernel_by_a_search(d):
    pipe = Pipeline([("kpca", d.KernelPCA(2)), ("log", LogisticRegression(max_iter=500))])
    grid = {"kpca__gamma": [0.05, 0.5], "kpca__kernel": ["rbf", "poly"]}
    return {"scores": GridSearchCV(pipe, grid, cv=3).fit(IRIS, KINDS).cv_results_["mean_test_score"]}


@program
def eigenvectors_of_a_kernel(d):
    kpca = d.KernelPCA(3, kernel="rbf", gamma=0.1).fit(IRIS)
    return {"vectors": about_sign(kpca.eigenvectors_), "values": kpca.eigenvalues_}


@program
def all_components_of_a_kernel(d):
    return {"count": d.KernelPCA(kernel="linear").fit_transform(IRIS).shape[1]}


# -- parts ------------------------------------------------------------------------------------------------------------


@program
def parts_and_codes(d):
    nmf = d.NMF(3, init="nndsvda", max_iter=2000, tol=1e-6)
    W = nmf.fit_transform(IRIS)
    return {"made": W @ nmf.components_, "error": nmf.reconstruction_err_, "least": bool(W.min() >= 0)}


@program
def codes_of_new_rows(d):
    # new rows of the same kinds: two factorisations of one loss may differ in what lies outside of the rows' own cone
    nmf = d.NMF(2, init="nndsvda", max_iter=2000, tol=1e-6).fit(IRIS[::2])
    return {"made": nmf.inverse_transform(nmf.transform(IRIS[1::2]))}


@program
def parts_by_poisson(d):
    X = CountVectorizer().fit_transform(TEXTS)
    nmf = d.NMF(2, solver="mu", beta_loss="kullback-leibler", init="nndsvda", max_iter=3000, tol=1e-4).fit(X)
    return {"error": nmf.reconstruction_err_}


@program
def sparse_parts(d):
    X = scipy.sparse.random(60, 30, 0.2, random_state=0, format="csr")
    nmf = d.NMF(4, init="nndsvd", max_iter=2000, tol=1e-6).fit(X)
    return {"error": nmf.reconstruction_err_, "shape": nmf.components_.shape}


@program
def a_start_of_my_own(d):
    rng = np.random.RandomState(0)
    nmf = d.NMF(2, init="custom", max_iter=3000, tol=1e-6)
    W = nmf.fit_transform(IRIS, W=rng.rand(150, 2), H=rng.rand(2, 4))
    return {"made": W @ nmf.components_, "error": nmf.reconstruction_err_}


@program
def negative_numbers_are_refused(d):
    try:
        d.NMF(2).fit(-IRIS)
    except ValueError as error:
        return {"said": "Negative values in data" in str(error)}
    return {"said": False}


@program
def parts_in_a_pipeline(d):
    pipe = make_pipeline(d.NMF(4, init="nndsvda", max_iter=1000), StandardScaler(), LogisticRegression(max_iter=1000))
    return {"score": pipe.fit(DIGITS, NUMBERS).score(DIGITS, NUMBERS) > 0.5}


@program
def users_and_films(d):
    ratings = np.array([[5, 3, 0, 1], [4, 0, 0, 1], [1, 1, 0, 5], [1, 0, 0, 4], [0, 1, 5, 4]], dtype=float)
    nmf = d.NMF(n_components=2, init="nndsvda", max_iter=5000, tol=1e-7)
    return {"guess": nmf.fit_transform(ratings) @ nmf.components_}
