"""How a PCA of genotypes is made: counts → pruning by linkage → Gram matrix → components → tests → shrinkage."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import BadInput, BadParameter, DuplicateRows, RemovedColumns, RemovedRows, Setting, Words
from lowdim.matrices.scaling import Scaling
from lowdim.models.base.parameters import keep_rule
from lowdim.models.genotype_pca.matrix import (
    CallCounts,
    CallTable,
    GenotypeMatrix,
    block_width,
    call_table,
    count_calls,
    is_read_in_place,
    scores_by_blocks,
)
from lowdim.models.genotype_pca.record import GenotypeFit
from lowdim.models.genotype_pca.settings import OWNER, GenotypeTask
from lowdim.models.linear.fit import fit_linear
from lowdim.results.record import LinearFit
from lowdim.runtime.memory import Budget, left_memory, refuse_beyond
from lowdim.runtime.threads import one_blas_thread
from lowdim.runtime.warn import warn_user
from lowdim.solvers.choose import Choice
from lowdim.solvers.keep import KeepCount
from lowdim.solvers.lanczos import BlockLanczos
from lowdim.solvers.rank.tracy_widom import AxisTests, leading_axis_tests
from lowdim.solvers.sample_gram import SampleGram
from lowdim.sources.genotypes.plink import PlinkSource
from lowdim.sources.genotypes.snps import missing_calls, on_autosomes
from lowdim.sources.source import Source
from lowdim.types import Floats, Mask

# SNPs that repeat their neighbours, left out: pruning by the squared correlation within windows.

Places = NDArray[np.intp]


def prune_by_linkage(table: CallTable, counts: CallCounts, wanted: Mask, most: float, window: int) -> Mask:
    """(p,) the wanted SNPs but those whose r² with a kept one among the `window` − 1 before exceeds `most`.

    One walk from the first SNP to the last, so the earlier of two neighbours stays. r² is that of the calls as PCA sees
    them, with the mean where one is missing. Positions are not known here: a window goes on from one chromosome into
    the next, where r² is small anyway.
    """
    kept = np.zeros_like(wanted)
    last, last_at = np.zeros((0, table.n)), np.zeros(0, dtype=np.intp)  # kept SNPs of the window so far
    rank = np.cumsum(wanted)  # windows count wanted SNPs
    for rows, here in _few_at_a_time(table, counts, wanted, step=2 * window):
        both, at = np.concatenate([last, rows]), np.concatenate([last_at, here])
        squared = (rows @ both.T) ** 2
        stays = np.arange(len(at)) < len(last_at)
        first = np.searchsorted(rank[at], rank[here] - window + 1)
        for i, begin in enumerate(first):
            end = len(last_at) + i
            stays[end] = not (squared[i, begin:end][stays[begin:end]] > most).any()
        kept[at[stays]] = True
        recent = stays & (rank[at] > rank[here[-1]] - window)
        last, last_at = both[recent], at[recent]
    return kept


def _few_at_a_time(table: CallTable, counts: CallCounts, wanted: Mask, step: int) -> Iterator[tuple[Floats, Places]]:
    """Wanted SNPs as unit rows (step, n), so that products are correlations, and their places."""
    unit = np.divide(1.0, np.sqrt(counts.scatter), out=np.zeros_like(counts.scatter), where=counts.scatter > 0)
    for block in table.blocks(wanted):
        inside = np.flatnonzero(wanted[block.here])
        columns = np.ascontiguousarray(block.prepared(counts.means[block.here], unit[block.here]).T[inside])
        for start in range(0, len(inside), step):
            yield columns[start : start + step], inside[start : start + step] + block.start


# How much nearer to the middle new rows fall than those that the axes were found from (Lee, Zou & Wright 2010).


def shrinkage(variances: Floats, noise: float, ratio: float) -> Floats:
    """(k,) factor of scores of new rows; 0 where the axis is no more than noise gives.

    `ratio` is that of columns to rows, γ, and `noise` the variance of one column. A sample variance d, in units of the
    noise, belongs to a variance l of the population with d = l (1 + γ / (l − 1)) (Baik & Silverstein 2006), and new
    scores are (l − 1) / (l + γ − 1) times as long (Lee, Zou & Wright 2010, theorem 2).
    """
    d = variances / noise
    half = (d + 1 - ratio) / 2
    seen = d > (1 + np.sqrt(ratio)) ** 2
    spike = half + np.sqrt(np.maximum(half**2 - d, 0.0))
    factor: Floats = np.divide(spike - 1, spike + ratio - 1, out=np.zeros_like(d), where=seen)
    return factor


# How a PCA of genotypes is made: counts → SNPs that stay → Gram matrix → components → tests.

MOST_INDIVIDUALS_BY_GRAM = 20_000
"""From here on the n × n matrix (3 GB, and five times that while it is formed) is not made, but products with it."""

LEAST_CONCORDANCE = 0.99
"""Share of equal calls from which two individuals are one, or twins; siblings stay well below."""


def fit_genotypes(source: Source, task: GenotypeTask, budget: Budget | None) -> GenotypeFit:
    """Fit; individuals without enough calls and, if asked for, outliers are left out."""
    table = call_table(source, task.strict)
    with one_blas_thread():
        counts = count_calls(table)
        table, counts = _drop_without_calls(table, counts, task)
        table, counts, rounds = _drop_outliers(table, counts, task, budget)
        fit, matrix, wanted = _fit(table, counts, task, task.n_components, budget)
    removed = len(table.used) - table.n
    if removed:
        left = f"{removed:,} of {len(table.used):,} individuals were left out as outliers or for missing calls"
        warn_user(RemovedRows(left, Words(" (individuals_ says which)"), "; transform gives their scores too."))
    off = _off_autosomes(table, task)
    if off:
        said = f"{off:,} of {table.n_columns:,} SNPs lie on no autosome (X, Y, XY, MT, or a number beyond "
        said += f"{task.autosomes}) and were left out, as smartpca does; "
        warn_user(RemovedColumns(said, Setting("autosomes", None), " keeps them."))
    if task.strict:
        _warn_of_duplicates(table, matrix.alike, wanted)
    return _make_record(table, counts, fit, matrix, int(wanted.sum()), task, rounds)


def choose_solver(source: Source, n: int, k: int, budget: Budget | None) -> Choice:
    """The Gram matrix of the individuals where it can be held, else products with it."""
    p, solver = source.n_columns, SampleGram()
    in_place = is_read_in_place(source)
    copied = 0 if in_place else n * p
    blocks = 4 * 8 * n * min(block_width(n), p)
    needed = 8 * n * n * 5 + blocks + copied
    room = (0.8 if budget is None else 1.0) * left_memory()
    copy = "" if in_place else f"; rows that come one by one are put into {copied:,} bytes"
    if n <= MOST_INDIVIDUALS_BY_GRAM and needed <= room:
        reason = f"{n:,} individuals × {p:,} SNPs: their {n:,} × {n:,} Gram matrix, SNP block by SNP block{copy}"
        return Choice(solver, reason, needed)
    lanczos = BlockLanczos()
    reason = (
        f"{n:,} × {n:,} numbers are too many, so axes are found by products with the genotypes, without tests{copy}"
    )
    by_products = lanczos.memory(n, p, k) + blocks + copied
    people = ("ask for fewer components, or take fewer SNPs",)
    refuse_beyond(by_products, f"Genotypes of {n:,} individuals × {p:,} SNPs", people)
    return Choice(lanczos, reason, by_products)


def _fit(
    table: CallTable, counts: CallCounts, task: GenotypeTask, n_components: Any, budget: Budget | None
) -> tuple[LinearFit, GenotypeMatrix, Mask]:
    wanted = _choose_snps(table, counts, task)
    scale = _scales(table, counts, task, wanted)
    n, p = table.n, int(wanted.sum())
    keep = keep_rule(OWNER, n_components, n, p)
    k = keep.k if isinstance(keep, KeepCount) else min(n, p)
    choice = choose_solver(table.source, n, k, budget)
    scaling = Scaling(True, scale, wanted.astype(np.float64))
    matrix = GenotypeMatrix(table, counts, scaling)
    fit = fit_linear(matrix, keep, choice, task.asked, task.random_state).fit
    return fit, matrix, wanted


def _drop_without_calls(table: CallTable, counts: CallCounts, task: GenotypeTask) -> tuple[CallTable, CallCounts]:
    """Individuals with enough calls; one without any is an error unless it was asked to leave such out."""
    if table.n < 2:
        raise BadInput(
            f"There is only one individual (n_samples={table.n}), and one has no directions of variance: at least 2 "
            "are needed."
        )
    share = counts.row_missing / table.n_columns
    empty = np.flatnonzero(share == 1)
    few = np.flatnonzero(share > task.max_missing_individuals)
    if len(empty) and task.max_missing_individuals >= 1:
        raise BadInput(
            f"{len(empty):,} of {table.n:,} individuals have no call at all (the first is number {empty[0] + 1:,}): "
            "leave them out, ",
            Words("or set max_missing_individuals=0.99.", "as with plink --mind 0.99."),
        )
    if not len(few):
        return table, counts
    if len(few) > table.n - 2:
        raise BadParameter.of(
            OWNER,
            "max_missing_individuals",
            task.max_missing_individuals,
            f"larger: {table.n - len(few)} of {table.n:,} individuals would be left, and at least 2 are needed",
        )
    table = table.of(_drop(table.used, few))
    return table, count_calls(table)


def _choose_snps(table: CallTable, counts: CallCounts, task: GenotypeTask) -> Mask:
    """SNPs that vary, are called and common enough, and, if asked for, do not repeat their neighbours."""
    varies = counts.scatter > 0
    if not varies.any():
        raise BadInput(
            f"None of the {table.n_columns:,} SNPs varies among the {table.n:,} individuals: at least one must."
        )
    wanted = varies & _on_autosomes(table, task) & (counts.observed >= (1 - task.max_missing_snps) * table.n)
    if task.min_maf > 0:
        wanted &= np.minimum(counts.frequencies, 1 - counts.frequencies) >= task.min_maf
    if not wanted.any():
        kept = f"min_maf={task.min_maf:g}, max_missing_snps={task.max_missing_snps:g} and autosomes={task.autosomes}"
        raise BadParameter(
            Words(f"{OWNER}: "),
            f"none of the {int(varies.sum()):,} SNPs that vary ",
            Words(
                f"passes {kept}: loosen them.",
                f"lies on chromosomes 1 to {task.autosomes}; --autosomes all keeps the others.",
            ),
        )
    return wanted if task.ld_r2 is None else prune_by_linkage(table, counts, wanted, task.ld_r2, task.ld_window)


def _on_autosomes(table: CallTable, task: GenotypeTask) -> Mask:
    """(p,) SNPs that are, or whose chromosome is not known: only files of PLINK's have chromosomes."""
    if task.autosomes is None or not isinstance(table.source, PlinkSource):
        return np.ones(table.n_columns, dtype=bool)
    return on_autosomes(table.source.snps.chromosomes, task.autosomes)


def _off_autosomes(table: CallTable, task: GenotypeTask) -> int:
    return int((~_on_autosomes(table, task)).sum())


def _scales(table: CallTable, counts: CallCounts, task: GenotypeTask, wanted: Mask) -> Floats:
    """(p,) √(p (1 − p)): what drift makes of frequencies (Patterson, Price & Reich 2006, eq. 3)."""
    if not task.strict:
        return np.ones(table.n_columns)
    p = counts.frequencies
    if task.normalisation == "price":  # never 0 or 1 (Price et al. 2006, p. 908)
        p = (1 + counts.means * counts.observed) / (2 + 2 * counts.observed)
    # where all calls are heterozygous or the SNP is left out, any number does
    return np.sqrt(np.where(wanted, p * (1 - p), 1.0))


def _drop_outliers(
    table: CallTable, counts: CallCounts, task: GenotypeTask, budget: Budget | None
) -> tuple[CallTable, CallCounts, int]:
    """Nobody far out on a leading axis, as smartpca does it: and in how many rounds they were removed."""
    if task.outlier_sigma is None:
        return table, counts, 0
    for done in range(task.outlier_rounds):
        axes = min(task.outlier_axes, table.n - 1, int((counts.scatter > 0).sum()))
        fit, _, _ = _fit(table, counts, task, axes, budget)
        out = _find_outliers(table, fit, task.outlier_sigma)
        if not len(out):
            return table, counts, done
        table = table.of(_drop(table.used, out))
        counts = count_calls(table)
    return table, counts, task.outlier_rounds


def _find_outliers(table: CallTable, fit: LinearFit, sigma: float) -> NDArray[np.intp]:
    """Individuals, among those used, more than so many standard deviations from the middle of an axis."""
    scores = scores_by_blocks(table, fit.mean, fit.gain, fit.components)
    spread = scores.std(axis=0, ddof=1)
    return np.flatnonzero((np.abs(scores - scores.mean(axis=0)) > sigma * spread).any(axis=1))


def _drop(used: Mask, out: NDArray[np.intp]) -> Mask:
    left = used.copy()
    left[np.flatnonzero(used)[out]] = False
    return left


def _warn_of_duplicates(table: CallTable, pairs: list[tuple[int, int]], wanted: Mask) -> None:
    """Say which individuals have the same calls: their pair would be an axis of its own."""
    if not pairs or wanted.sum() < 100:
        return
    block = next(table.blocks(wanted))
    values, missing = block.values[:, wanted[block.here]], missing_calls(block.values, True)[:, wanted[block.here]]
    names = np.flatnonzero(table.used) + 1
    same = []
    for i, j in pairs:
        both = ~(missing[i] | missing[j])
        if both.any() and (values[i] == values[j])[both].mean() >= LEAST_CONCORDANCE:
            same.append(f"{names[i]:,} and {names[j]:,}")
    if same:
        warn_user(
            f"Individuals {', '.join(same[:5])}{' and more' if len(same) > 5 else ''} (counted from 1) have the same "
            "calls: duplicates or twins, whose pairs pull axes towards themselves; leave one of each out.",
            DuplicateRows,
        )


def _test_axes(fit: LinearFit, matrix: GenotypeMatrix, wanted: int) -> tuple[AxisTests, Floats]:
    """Tests of the kept axes, and how short new scores fall: both need the sum of all squared eigenvalues."""
    if matrix.square_norm is None:
        none = np.zeros(0)
        return AxisTests(none, none, none), np.full(fit.k, np.nan)
    n, unit = fit.n_rows, fit.n_rows - fit.ddof
    m = min(n - 1, wanted)
    real = fit.variances[fit.variances > 0]
    tests = leading_axis_tests(real, m, fit.total_variance, matrix.square_norm / unit**2)
    if not len(tests.columns):
        return tests, np.full(fit.k, np.nan)
    noise_from = min(tests.significant(), len(tests.columns) - 1)
    columns = float(tests.columns[noise_from])
    rest = fit.total_variance - float(real[:noise_from].sum())
    if not np.isfinite(columns) or rest <= 0:
        return tests, np.full(fit.k, np.nan)
    return tests, shrinkage(fit.variances, rest / columns, columns / unit)


def _make_record(
    table: CallTable,
    counts: CallCounts,
    fit: LinearFit,
    matrix: GenotypeMatrix,
    wanted: int,
    task: GenotypeTask,
    rounds: int,
) -> GenotypeFit:
    # rows that the matrix gives are float64, but genotypes are read as they lie
    certificate = replace(fit.certificate, bytes_read=fit.certificate.passes * len(table.used) * table.row_bytes)
    fit = replace(fit, certificate=certificate)
    plain = {field.name: getattr(fit, field.name) for field in fields(LinearFit)}
    tests, shrunk = _test_axes(fit, matrix, wanted)
    frequencies = np.where(counts.observed > 0, counts.frequencies, np.nan)
    return GenotypeFit(
        **plain,
        normalisation=task.normalisation,
        frequencies=frequencies if task.strict else np.full(table.n_columns, np.nan),
        snp_missing=1 - counts.observed / table.n,
        used=table.used,
        individual_missing=counts.row_missing / table.n_columns,
        statistics=tests.statistics,
        p_values=tests.p_values,
        effective_snps=tests.columns,
        shrinkage=shrunk,
        rounds=rounds,
        alleles=table.source.snps.alleles if isinstance(table.source, PlinkSource) else None,
        off_autosomes=_off_autosomes(table, task),
    )
