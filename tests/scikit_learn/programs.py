"""Programs as users write them for `sklearn.decomposition`; `d` is that module, or lowdim, and nothing else is changed.

Each gives named numbers. Columns of scores and rows of components are given by `about_sign`: an axis has no sign.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_circles
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import adjusted_rand_score, mean_squared_error
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, train_test_split
from sklearn.neighbors import KernelDensity, KNeighborsClassifier
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC

Program = Callable[[Any], dict[str, Any]]
PROGRAMS: dict[str, Program] = {}

IRIS, KINDS = load_iris(return_X_y=True)
WINE, CULTIVARS = load_wine(return_X_y=True)
DIGITS, NUMBERS = (part[:500] for part in load_digits(return_X_y=True))
CANCER = load_breast_cancer().data
TEXTS = [
    "the cat sat on the mat with another cat",
    "a dog and a cat are pets and pets are loved",
    "stocks fell as the market lost trust in bonds",
    "the bank raised rates and the market fell",
    "dogs bark at cats and other dogs",
    "bonds and stocks are traded on the market",
    "my pets are a cat a dog and a parrot",
    "investors sold bonds when rates rose",
]


def program(function: Program) -> Program:
    """Put a program on the list."""
    PROGRAMS[function.__name__] = function
    return function


def about_sign(axes: Any, along: int = 0) -> Any:
    """Columns (0) or rows (1) turned so that their largest entry is positive."""
    axes = np.asarray(axes, dtype=float)
    axes = axes if along == 0 else axes.T
    largest = axes[np.argmax(np.abs(axes).round(9), axis=0), np.arange(axes.shape[1])]
    turned = axes * np.where(largest < 0, -1.0, 1.0)
    return turned if along == 0 else turned.T


# -- like the pictures of a gallery -----------------------------------------------------------------------------------


@program
def iris_in_three_dimensions(d):
    X = d.PCA(n_components=3).fit_transform(IRIS)
    centres = [X[kind == KINDS].mean(axis=0) for kind in range(3)]
    return {"scores": about_sign(X), "centres": np.abs(centres)}


@program
def pca_beside_lda(d):
    pca = d.PCA(n_components=2)
    by_pca = pca.fit(IRIS).transform(IRIS)
    by_lda = LinearDiscriminantAnalysis(n_components=2).fit(IRIS, KINDS).transform(IRIS)
    return {"shares": pca.explained_variance_ratio_, "scores": about_sign(by_pca), "lda": about_sign(by_lda)}


@program
def digits_by_a_pipeline_and_a_search(d):
    pipe = Pipeline([("scaler", StandardScaler()), ("pca", d.PCA()), ("logistic", LogisticRegression(max_iter=200))])
    search = GridSearchCV(pipe, {"pca__n_components": [5, 15], "logistic__C": [0.1, 1.0]}, cv=2)
    search.fit(DIGITS[:200], NUMBERS[:200])
    return {"best": search.best_params_["pca__n_components"], "scores": search.cv_results_["mean_test_score"]}


@program
def digits_drawn_from_a_density(d):
    pca = d.PCA(n_components=15, whiten=False)
    data = pca.fit_transform(DIGITS)
    density = KernelDensity(bandwidth=3.0).fit(data)
    drawn = pca.inverse_transform(density.sample(5, random_state=0) * 0 + data[:5])
    return {"likelihood": density.score(data), "pictures": drawn.reshape(-1, 8, 8)}


@program
def digits_by_k_means(d):
    starts = d.PCA(n_components=10).fit(DIGITS).components_
    found = KMeans(n_clusters=10, init=starts, n_init=1).fit(DIGITS)
    reduced = d.PCA(n_components=2).fit_transform(DIGITS)
    return {"inertia": found.inertia_, "spread": reduced.var(axis=0)}


@program
def two_kinds_of_features_side_by_side(d):
    union = FeatureUnion([("pca", d.PCA(n_components=2)), ("scaled", StandardScaler())])
    made = union.fit_transform(IRIS)
    found = SVC(kernel="linear").fit(made, KINDS)
    return {"shape": made.shape, "accuracy": found.score(made, KINDS)}


@program
def circles_by_a_kernel(d):
    X, y = make_circles(300, factor=0.3, noise=0.05, random_state=0)
    train, test, _, labels = train_test_split(X, y, stratify=y, random_state=0)
    kpca = d.KernelPCA(n_components=4, kernel="rbf", gamma=10, fit_inverse_transform=True, alpha=0.1)
    scores = kpca.fit(train).transform(test)
    apart = LinearDiscriminantAnalysis().fit(scores, labels).score(scores, labels)
    return {"eigenvalues": kpca.eigenvalues_, "scores": about_sign(scores), "apart": apart}


@program
def digits_without_noise(d):
    X = MinMaxScaler().fit_transform(DIGITS)
    noisy = X + np.random.RandomState(0).normal(scale=0.25, size=X.shape)
    pca = d.PCA(n_components=32, random_state=42).fit(noisy)
    kpca = d.KernelPCA(400, kernel="rbf", gamma=1e-3, fit_inverse_transform=True, alpha=5e-3).fit(noisy)
    errors = [((X - model.inverse_transform(model.transform(noisy))) ** 2).mean() for model in (pca, kpca)]
    return {"error of pca": errors[0], "error of kernel pca is smaller than noise": bool(errors[1] < 0.25**2)}


@program
def regression_on_components(d):
    rng = np.random.RandomState(0)
    X = rng.multivariate_normal(mean=[0, 0], cov=[[3, 3], [3, 4]], size=500)
    y = X.dot(d.PCA(n_components=2).fit(X).components_[1]) + rng.normal(size=500) / 2
    train, test, y_train, y_test = train_test_split(X, y, random_state=rng)
    one = make_pipeline(StandardScaler(), d.PCA(n_components=1), LinearRegression()).fit(train, y_train)
    two = make_pipeline(d.PCA(n_components=2), LinearRegression()).fit(train, y_train)
    return {"one": one.score(test, y_test), "two": two.score(test, y_test)}


@program
def choosing_by_likelihood(d):
    rng = np.random.RandomState(42)
    low = rng.randn(200, 5) @ rng.randn(5, 12)
    X = low + rng.randn(*low.shape)
    numbers = [1, 3, 5, 7, 9]
    scores = [cross_val_score(d.PCA(svd_solver="full").set_params(n_components=k), X, cv=3).mean() for k in numbers]
    return {"scores": scores, "best": numbers[int(np.argmax(scores))], "mle": d.PCA("mle").fit(X).n_components_}


@program
def why_columns_are_scaled(d):
    train, test, y_train, y_test = train_test_split(WINE, CULTIVARS, test_size=0.3, random_state=42)
    scaler = StandardScaler().set_output(transform="pandas")
    plain, scaled = d.PCA(n_components=2).fit(train), d.PCA(n_components=2).fit(scaler.fit_transform(train))
    accuracy = [
        make_pipeline(*steps, LogisticRegression(max_iter=500)).fit(train, y_train).score(test, y_test)
        for steps in ([d.PCA(n_components=2)], [StandardScaler(), d.PCA(n_components=2)])
    ]
    return {
        "first axis": about_sign(plain.components_, along=1),
        "scaled": about_sign(scaled.components_, along=1),
        "accuracy": accuracy,
    }


@program
def topics_of_texts(d):
    words = TfidfVectorizer(stop_words="english")
    counts = words.fit_transform(TEXTS)
    nmf = d.NMF(n_components=2, random_state=1, init="nndsvda", beta_loss="frobenius", tol=1e-6, max_iter=2000)
    codes = nmf.fit_transform(counts)
    names = words.get_feature_names_out()
    tops = sorted(str(names[topic.argmax()]) for topic in nmf.components_)
    return {"tops": tops, "of": sorted(codes.argmax(axis=1) == codes[0].argmax()), "error": nmf.reconstruction_err_}


@program
def parts_of_digits(d):
    nmf = d.NMF(n_components=6, init="nndsvda", max_iter=3000, tol=1e-5).fit(DIGITS[:200])
    return {"error": nmf.reconstruction_err_, "shape": nmf.components_.shape, "least": nmf.components_.min() >= 0}


@program
def faces_as_vectors(d):
    X = DIGITS - DIGITS.mean(axis=0)
    X = X - X.mean(axis=1).reshape(len(X), -1)
    pca = d.PCA(n_components=6, svd_solver="randomized", whiten=True, random_state=0).fit(X)
    return {"pictures": about_sign(pca.components_, along=1).reshape(6, 8, 8), "shares": pca.explained_variance_ratio_}


@program
def neighbours_after_reduction(d):
    train, test, y_train, y_test = train_test_split(DIGITS, NUMBERS, stratify=NUMBERS, random_state=0)
    reduce = make_pipeline(StandardScaler(), d.PCA(n_components=10, random_state=0)).fit(train)
    near = KNeighborsClassifier(3).fit(reduce.transform(train), y_train)
    return {"accuracy": near.score(reduce.transform(test), y_test)}


@program
def a_simple_choice_by_one_standard_error(d):
    pipe = Pipeline([("pca", d.PCA(random_state=42)), ("svc", SVC(kernel="linear"))])
    search = GridSearchCV(pipe, {"pca__n_components": [4, 8, 16]}, cv=KFold(3), scoring="accuracy")
    search.fit(DIGITS[:300], NUMBERS[:300])
    return {"scores": search.cv_results_["mean_test_score"], "best": search.best_index_}


@program
def the_plane_of_a_cloud(d):
    rng = np.random.RandomState(4)
    y, x = rng.normal(scale=0.5, size=3000), rng.normal(scale=0.5, size=3000)
    a = x + y
    Y = np.c_[a, 2 * y, a - 2 * y + rng.normal(scale=0.1, size=3000)]
    pca = d.PCA(n_components=3).fit(Y)
    V = pca.components_.T
    x_pca, _, z_pca = V
    plane = np.r_[x_pca[:2], -x_pca[1::-1]].reshape(2, 2)
    return {"score": pca.explained_variance_ratio_, "V": about_sign(V), "corner": np.abs(plane), "z": np.abs(z_pca)}


@program
def several_labels_in_a_plane(d):
    X = d.PCA(n_components=2).fit_transform(WINE)
    least, most = X[:, 0].min(), X[:, 0].max()
    return {"width": most - least, "height": np.ptp(X[:, 1])}


@program
def a_reduced_set_for_a_clustering(d):
    X = make_pipeline(StandardScaler(), d.PCA(n_components=0.9)).fit_transform(WINE)
    labels = KMeans(n_clusters=3, n_init=10, random_state=0).fit_predict(X)
    return {"columns": X.shape[1], "agreement": adjusted_rand_score(CULTIVARS, labels)}


# -- what is done with a fitted model ---------------------------------------------------------------------------------


@program
def enough_components_by_a_cumulative_sum(d):
    pca = d.PCA().fit(CANCER)
    total = np.cumsum(pca.explained_variance_ratio_)
    return {"total": total, "enough": int(np.argmax(total >= 0.95)) + 1}


@program
def enough_components_by_a_share(d):
    return {str(share): d.PCA(share).fit(StandardScaler().fit_transform(CANCER)).n_components_ for share in (0.5, 0.9)}


@program
def loadings_by_hand(d):
    pca = d.PCA(2).fit(StandardScaler().fit_transform(WINE))
    loadings = pca.components_.T * np.sqrt(pca.explained_variance_)
    return {"loadings": about_sign(loadings), "communalities": (loadings**2).sum(axis=1)}


@program
def a_biplot(d):
    X = StandardScaler().fit_transform(IRIS)
    pca = d.PCA(2)
    scores = pca.fit_transform(X)
    spread = scores.max(axis=0) - scores.min(axis=0)
    arrows = np.transpose(pca.components_[0:2, :])
    return {"points": about_sign(scores / spread), "arrows": about_sign(arrows)}


@program
def the_most_important_column_of_each_component(d):
    pca = d.PCA(3).fit(WINE)
    return {"columns": [int(np.abs(pca.components_[i]).argmax()) for i in range(pca.components_.shape[0])]}


@program
def loadings_in_a_frame(d):
    names = load_iris().feature_names
    pca = d.PCA(n_components=2).fit(IRIS)
    table = pd.DataFrame(pca.components_.T, columns=["PC1", "PC2"], index=names)
    return {"table": about_sign(table), "names": list(table.index)}


@program
def reconstruction_error_by_number(d):
    errors = []
    for k in range(1, 5):
        pca = d.PCA(k).fit(IRIS)
        errors.append(mean_squared_error(IRIS, pca.inverse_transform(pca.transform(IRIS))))
    return {"errors": errors}


@program
def reconstruction_by_hand(d):
    pca = d.PCA(2).fit(IRIS)
    rows = np.dot(pca.transform(IRIS), pca.components_) + pca.mean_
    return {"rows": rows, "same": np.allclose(rows, pca.inverse_transform(pca.transform(IRIS)))}


@program
def scores_by_hand(d):
    pca = d.PCA(2).fit(IRIS)
    return {"scores": about_sign((IRIS - pca.mean_) @ pca.components_.T)}


@program
def whitening(d):
    white = d.PCA(whiten=True).fit_transform(WINE)
    return {"covariance": np.cov(white.T), "scores": about_sign(white)}


@program
def zca_whitening(d):
    pca = d.PCA().fit(IRIS)
    turn = pca.components_.T @ np.diag(1 / np.sqrt(pca.explained_variance_)) @ pca.components_
    return {"rows": (IRIS - pca.mean_) @ turn}


@program
def covariance_and_precision(d):
    pca = d.PCA(2).fit(IRIS)
    return {"covariance": pca.get_covariance(), "precision": pca.get_precision()}


@program
def likelihood_of_rows(d):
    pca = d.PCA(2).fit(IRIS)
    return {"mean": pca.score(IRIS), "rows": pca.score_samples(IRIS), "noise": pca.noise_variance_}


@program
def outliers_by_reconstruction(d):
    X = np.vstack([WINE, WINE.mean(axis=0) + 20 * WINE.std(axis=0) * np.resize([1, -1], WINE.shape[1])])
    pca = make_pipeline(StandardScaler(), d.PCA(3)).fit(X)
    back = pca.inverse_transform(pca.transform(X))
    errors = ((X - back) ** 2 / X.var(axis=0)).sum(axis=1)
    return {"worst": int(errors.argmax()), "errors": errors}


@program
def mahalanobis_distances(d):
    pca = d.PCA(3).fit(IRIS)
    return {"squares": (pca.transform(IRIS) ** 2 / pca.explained_variance_).sum(axis=1)}


@program
def anomaly_threshold_by_likelihood(d):
    pca = d.PCA(2).fit(IRIS[:100])
    limit = np.percentile(pca.score_samples(IRIS[:100]), 2)
    return {"limit": limit, "strange": int((pca.score_samples(IRIS) < limit).sum())}


@program
def singular_values_and_variances(d):
    pca = d.PCA().fit(WINE)
    return {"values": pca.singular_values_, "same": pca.singular_values_**2 / (len(WINE) - 1)}


@program
def eigenvalues_of_the_covariance(d):
    values = np.sort(np.linalg.eigvalsh(np.cov(CANCER.T)))[::-1][:5]
    return {"ours": d.PCA(5).fit(CANCER).explained_variance_ / values}


@program
def what_a_model_says_of_itself(d):
    pca = d.PCA(2).fit(IRIS)
    names = ("n_components_", "n_features_in_", "n_samples_")
    return {name: getattr(pca, name) for name in names} | {"names": list(pca.get_feature_names_out())}


@program
def residuals_of_columns(d):
    pca = d.PCA(2).fit(WINE)
    return {"left": (WINE - pca.inverse_transform(pca.transform(WINE))).std(axis=0)}


@program
def fewer_components_of_a_larger_fit(d):
    full = d.PCA().fit(IRIS)
    few = full.transform(IRIS)[:, :2] @ full.components_[:2] + full.mean_
    return {"rows": few}


@program
def components_are_orthonormal(d):
    pca = d.PCA(5).fit(CANCER)
    return {"gram": pca.components_ @ pca.components_.T}


@program
def every_solver_gives_the_same(d):
    solvers = ("full", "covariance_eigh", "arpack", "randomized", "auto")
    return {s: d.PCA(2, svd_solver=s, random_state=0).fit(IRIS).explained_variance_ for s in solvers}
