"""Principal components of genotypes."""

from __future__ import annotations

import os
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, SingularModel
from lowdim.matrices.preparation import Preparation
from lowdim.matrices.products import project
from lowdim.models.base.estimator import RecordedModel
from lowdim.models.base.fitting import fit_transform
from lowdim.models.base.output import make_table
from lowdim.models.base.parameters import (
    CHECKED_BY_FIT,
    Bytes,
    Count,
    Needed,
    Number,
    NumberAbove0,
    Option,
    Range,
    Seed,
    Share,
)
from lowdim.models.base.prompt import Prompt
from lowdim.models.base.scikit_learn import Takes, check_is_fitted
from lowdim.models.genotype_pca.figures import GenotypePlots
from lowdim.models.genotype_pca.fit import choose_solver, fit_genotypes
from lowdim.models.genotype_pca.matrix import call_table, is_read_in_place, scores_by_blocks
from lowdim.models.genotype_pca.record import GenotypeFit
from lowdim.models.genotype_pca.settings import OWNER, task_of
from lowdim.models.linear.model import LinearModel
from lowdim.models.linear.tables import TABLES
from lowdim.results.fields import AddedLater
from lowdim.results.table import Table
from lowdim.runtime.memory import budget_of
from lowdim.sources.genotypes.plink import PLINK_ENDING, PlinkSource
from lowdim.sources.genotypes.snps import FilledCalls
from lowdim.sources.open import open_source
from lowdim.sources.source import ColumnwiseSource, Source
from lowdim.types import Floats
from lowdim.views.text.facts import PlanFacts
from lowdim.words import column_names


def _tests(fit: GenotypeFit) -> dict[str, Any]:
    count = len(fit.p_values)
    m = min(fit.n_rows - 1, fit.n_kept)
    return {
        "axis": np.arange(1, count + 1),
        "eigenvalue": fit.variances[:count] * m / fit.total_variance if fit.total_variance > 0 else np.zeros(count),
        "effective_snps": fit.effective_snps,
        "statistic": fit.statistics,
        "p_value": fit.p_values,
        "shrinkage": fit.shrinkage[:count],
    }


def _test_table(model: GenotypePCA, X: Any) -> Any:
    """How each axis stands out from noise."""
    return make_table(model._frame_kind, _tests(model.fit_))


def _snp_table(model: GenotypePCA, X: Any) -> Any:
    """Of each SNP the alleles (a1 is counted) if they are known, frequency, share of missing calls, whether used."""
    fit = model.fit_
    columns: dict[str, Any] = {"snp": list(column_names(fit))}
    if fit.alleles is not None:
        columns |= zip(("a1", "a2"), map(list, zip(*map(str.split, fit.alleles), strict=True)), strict=True)
    columns |= {"frequency": fit.frequencies, "missing": fit.snp_missing, "kept": fit.kept}
    return make_table(model._frame_kind, columns)


class GenotypePCA(RecordedModel[GenotypeFit], LinearModel):
    """Principal components of genotypes: individuals × SNPs, normalised as smartpca does, with tests of the axes.

    X has the number of copies of an allele, 0, 1 or 2, and −1 or NaN where the call is missing: an int8 array, any
    other table, or the path of a PLINK ``.bed`` file. Each SNP is centred and divided by √(p (1 − p)), p its allele
    frequency; missing calls become 0 then. The n × n Gram matrix is formed SNP block by SNP block from the bytes, so
    that genotypes are never held as floating-point numbers.

    Parameters
    ----------
    n_components : int, float or None
        Axes; a share of the variance; or all of them.
    normalisation : {"patterson", "price", "center"}
        p is half the mean call (Patterson et al. 2006); (1 + Σ calls) / (2 + 2 n), which is never 0 or 1 (Price et al.
        2006); or SNPs are only centred, and may hold any numbers (microsatellites, dosages), of which NaN is missing,
        and −1 where all are whole.
    min_maf : float
        Leave out SNPs whose rarer allele has a lower frequency. SNPs that do not vary are always left out.
    max_missing_snps, max_missing_individuals : float
        Leave out SNPs, and before them individuals, with a larger share of missing calls. An individual without any
        call is an error, unless it is left out so.
    ld_r2, ld_window : float or None, int
        Leave out a SNP if its r² with one of the `ld_window` − 1 before it, that stays, is larger; None: none is.
        Columns should be in the order of the genome.
    outlier_sigma, outlier_rounds, outlier_axes : float or None, int, int
        Leave out individuals that are more than so many standard deviations away on a leading axis, and begin again, so
        often at most. None: nobody is left out. smartpca's defaults are 6, 5 and 10.
    autosomes : int or None
        Of a ``.bed`` file: leave out SNPs on X, Y, XY, MT and chromosomes of higher numbers than this, which men and
        women have unlike copies of, as smartpca does (29 for cattle). A warning says how many. None: all stay.
        SNPs on chromosome 0, or on one with another name, stay.
    whiten : bool
        Divide scores by their standard deviations.
    tol : float
        Relative accuracy of every variance; 0 means 1e-10.
    random_state : int, Generator, RandomState or None
        Start of an iterative solver, where one is used.
    memory : int, str or None
        Most bytes that the process may hold while it fits ("4GB").

    Notes
    -----
    The tests are conditional on what is left being noise of independent individuals: relatives, batches and long
    stretches of linked SNPs give significant axes too. More than about 20,000 individuals get their axes by products
    with the genotypes, without tests.

    References
    ----------
    Patterson, Price & Reich 2006, "Population structure and eigenanalysis"; Price et al. 2006, "Principal components
    analysis corrects for stratification in genome-wide association studies"; Lee, Zou & Wright 2010, "Convergence and
    prediction of principal component scores in high-dimensional settings", for `shrinkage_`.

    Examples
    --------
    >>> import lowdim
    >>> people = lowdim.datasets.stepping_stone(n_side=5, n_per_deme=4, n_snps=1500)
    >>> model = lowdim.GenotypePCA(4).fit(people.values)
    >>> model.transform(people.values).shape
    (100, 4)
    >>> model.n_significant_ >= 2
    True
    >>> bool(model.tracy_widom_["p_value"][0] < 1e-3)
    True
    """

    center = True
    scale = True
    _tables = TABLES | {"tracy_widom": _test_table, "snps": _snp_table}

    _takes_genotypes = True
    _prompt: ClassVar = Prompt(
        "10",  # as smartpca gives them
        ("lowdim map {data} --coordinates places.csv --plot map.png", "onto a map"),
        no_scale="genotypes are normalised by their allele frequencies; leave it out",
        tests_axes=True,
        no_checkpoint="it makes few passes over SNPs and none over rows",
    )

    _parts = (("block", 1.0), ("solution", 5.0))

    def __init__(
        self,
        n_components: Annotated[Number | None, CHECKED_BY_FIT, Option("keep", {"all": None})] = 10,
        *,
        normalisation: Literal["patterson", "price", "center"] = "patterson",
        min_maf: Annotated[float, Range(0, 0.5), Needed("a share from 0 to 0.5")] = 0.0,
        max_missing_snps: Share = 1.0,
        max_missing_individuals: Share = 1.0,
        ld_r2: Annotated[Share | None, Needed("None or a share from 0 to 1")] = None,
        ld_window: Annotated[int, Range(2)] = 50,
        outlier_sigma: Annotated[NumberAbove0 | None, Needed("None or a number above 0, as 6 in smartpca")] = None,
        outlier_rounds: Count = 5,
        outlier_axes: Count = 10,
        autosomes: Annotated[Count | None, AddedLater(None), Option(words={"all": None})] = 22,
        whiten: bool = False,
        tol: Annotated[float, CHECKED_BY_FIT] = 0.0,
        random_state: Seed = None,
        memory: Bytes = None,
    ):
        self.n_components = n_components
        self.normalisation = normalisation
        self.min_maf = min_maf
        self.max_missing_snps = max_missing_snps
        self.max_missing_individuals = max_missing_individuals
        self.ld_r2 = ld_r2
        self.ld_window = ld_window
        self.outlier_sigma = outlier_sigma
        self.outlier_rounds = outlier_rounds
        self.outlier_axes = outlier_axes
        self.autosomes = autosomes
        self.whiten = whiten
        self.tol = tol
        self.random_state = random_state
        self.memory = memory

    # -- fitting --------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> GenotypePCA:
        """Find the axes of the individuals in the rows of X, (n, p).

        Parameters
        ----------
        X : path, Source, or array of shape (n, p)
            Copies of an allele, 0, 1 or 2; missing calls are NaN, or −1 of whole numbers.
        y : ignored

        Returns
        -------
        GenotypePCA
            The model itself.
        """
        task = task_of(self)
        source = self._opened(X, reset=True).unweighted()
        source.count_rows()
        self._record = fit_genotypes(source, task, budget_of(OWNER, self.memory))
        self._remember(X, source)
        return self

    fit_transform = fit_transform

    @property
    def plot(self) -> GenotypePlots:
        """Figures of this fit: `model.plot.scores(X)`, `model.plot.tracy_widom()`, …"""
        return GenotypePlots(self)

    # -- attributes -----------------------------------------------------------------------------------------------

    @property
    def kept_snps_(self) -> NDArray[np.bool_]:
        """(p,) SNPs that were used."""
        return self.fit_.kept

    @property
    def individuals_(self) -> NDArray[np.bool_]:
        """(n,) individuals that the axes were found from."""
        return self.fit_.used

    @property
    def frequencies_(self) -> Floats:
        """(p,) of the allele that is counted; NaN where nothing was called, or only centred."""
        return self.fit_.frequencies

    @property
    def maf_(self) -> Floats:
        """(p,) of the rarer allele."""
        return self.fit_.minor

    @property
    def missing_snps_(self) -> Floats:
        """(p,) share of the individuals used without a call."""
        return self.fit_.snp_missing

    @property
    def missing_individuals_(self) -> Floats:
        """(individuals used,) share of all SNPs without a call."""
        return self.fit_.individual_missing

    @property
    def tracy_widom_(self) -> Table:
        """Of each axis: its eigenvalue (mean 1), effective SNPs, Tracy & Widom's statistic and its p-value."""
        return Table(_tests(self.fit_))

    @property
    def n_significant_(self) -> int:
        """Leading axes with p < 0.05, up to the first without; no more than were kept."""
        return self.fit_.significant

    @property
    def shrinkage_(self) -> Floats:
        """(k,) how long scores of new individuals are, against those of the fit: divide by it to put them on its map.

        About 1 with many more individuals than independent SNPs, 0 for an axis that is no more than noise; NaN where
        the spectrum is not known.
        """
        return self.fit_.shrinkage

    # -- individuals to scores ------------------------------------------------------------------------------------

    def matched(self, X: Any) -> PlinkSource:
        """The SNPs of this model in another PLINK ``.bed`` file: what `transform` works on.

        They are found by their names, in any order, among others. Where the file counts the other allele, 2 − g stands
        for g, also if it reads the other strand; SNPs that are absent, up to 5 % of those used, count as missing calls.
        Other alleles, and A/T or C/G turned round, which may be either, are errors. `match` of what comes back says
        what was done to each SNP, `match.in_words()` to how many. Needs a model that was fitted to a ``.bed`` file.

        Parameters
        ----------
        X : path of a ``.bed`` file, or what `lowdim.open` made of it

        Returns
        -------
        PlinkSource
            Its individuals at the SNPs of this model.
        """
        check_is_fitted(self)
        fit, source = self.fit_, open_source(X)
        if fit.alleles is None or not isinstance(source, PlinkSource):
            which = "this model was fitted to data without" if fit.alleles is None else f"{source.describe()} has no"
            raise BadInput(f"{OWNER}.matched compares alleles of two PLINK .bed files, but {which} alleles.")
        assert fit.columns is not None
        return source.matched(fit.columns, fit.alleles, fit.kept)

    def _opened(self, X: Any, reset: bool) -> Source:
        """The source behind X; of a PLINK file, if the model is of one, with the SNPs and alleles of the model."""
        if not reset and self.fit_.alleles is not None:
            path = isinstance(X, (str, os.PathLike)) and os.fspath(X).lower().endswith(PLINK_ENDING)
            if path or isinstance(X, PlinkSource):
                X = self.matched(X)
        return super()._opened(X, reset)

    def _scores(self, X: Any) -> Any:
        source, fit = self._opened(X, reset=False).unweighted(), self.fit_
        strict = fit.normalisation != "center"
        if is_read_in_place(source):
            scores = scores_by_blocks(call_table(source, strict), fit.mean, fit.gain, fit.components)
        else:
            filled = FilledCalls(source, fit.mean, strict)
            scores = project(filled, Preparation(fit.mean, fit.gain), fit.components, np.float64, fit.total_variance)
        return scores * fit.whitening if self.whiten else scores

    def _rows(self, X: Any) -> Source:
        return FilledCalls(self._opened(X, reset=False), self.fit_.mean, self.fit_.normalisation != "center")

    def score_samples(self, X: Any) -> Any:
        """(n,) log-likelihood of each row under the Gaussian model, a missing call taken for the mean of its SNP.

        Parameters
        ----------
        X : whatever `fit` takes
            Rows, (n, p).

        Returns
        -------
        array
            (n,)
        """
        check_is_fitted(self)
        if not self.fit_.kept.all():
            raise SingularModel(
                f"{self.fit_.n_columns - self.fit_.n_kept:,} of {self.fit_.n_columns:,} SNPs were left out and have no "
                "variance here, so rows have no density: fit the others alone (X[:, model.kept_snps_])."
            )
        return super().score_samples(self._rows(X))

    # -- inside ---------------------------------------------------------------------------------------------------

    @property
    def _takes(self) -> Takes:
        return Takes(missing=True, dtypes=())

    def _plan_facts(self, source: Source) -> PlanFacts:
        task, budget = task_of(self), budget_of(OWNER, self.memory)
        n, p = source.count_rows() or 0, source.n_columns
        k = task.n_components if isinstance(task.n_components, int) else min(n, p)
        choice = choose_solver(source, n, k, budget)
        rounds = f", up to {task.outlier_rounds + 1} times over" if task.outlier_sigma is not None else ""
        return PlanFacts(
            data=source.describe(),
            bytes=n * (-(-p // 4) if isinstance(source, ColumnwiseSource) else p * source.dtype.itemsize),
            keep=f"{task.n_components} axes, {task.normalisation} normalisation",
            solver=choice.solver.name,
            reason=choice.reason,
            read=f"3 passes (counts, Gram matrix, components){rounds} over the SNPs",
            memory=choice.memory,
            limit=None if budget is None else budget.limit,
            accuracy=f"every variance to a relative {task.asked.relative:.0e}",
        )
