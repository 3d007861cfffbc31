/* All arithmetic of a fit of a small array: mean and scatter, eigenpairs, and what they may be wrong by. See
   compiled_fit_small.py. */

#ifndef REAL
#include "runtime/native.h"
#include "solvers/cholesky.h"
#include "solvers/symmetric.h"

#define STRETCH 128 /* rows that are summed at a time, in the cache of one core */

/* Rows of `columns`, what is known of each column; of `pairs`, of each component; and the places in `facts`. */
enum { MEAN, LOW, ERROR, SQUARES, SPECTRUM };
enum { VALUE, RESIDUAL, ROUNDING, TILT, MOVED };
enum { TOTAL, ERRORS, LEFT, OWN, LARGEST, APART };

#define EPS 2.220446049250313e-16

/* Eigenpairs of the scatter, largest first, each vector with its entry of largest size positive, and the vector after
   the k that are kept; whether all were found. A power of two brings the entries near one. */
static int sorted_pairs(Int p, const double *scatter, Int scatter_step, double tie, double *spectrum, double *A,
                        double *Z, double *Q, Int step, double *room, Int k, double *vectors, Int vectors_step, double *after) {
    double largest = 0.0, *values = room;
    for (Int i = 0; i < p; i++) largest = larger(largest, scatter[i * scatter_step + i]);
    DoubleBits unit = {largest};
    unit.bits = (int64_t)((0x7feULL << 52) - ((uint64_t)unit.bits & (0x7ffULL << 52)));
    for (Int i = 0; i < p; i++) {
        for (Int j = 0; j < p; j++) A[i * step + j] = scatter[i * scatter_step + j] * unit.number;
        for (Int j = p; j < step; j++) A[i * step + j] = 0.0;
    }
    if (!find_pairs(p, A, step, values, Z, Q, room + step)) return 0;
    for (Int at = 0; at < p; at++) {
        Int best = 0;
        for (Int i = 1; i < p; i++)
            if (values[i] > values[best]) best = i;
        spectrum[at] = larger(values[best] / unit.number, 0.0);
        values[best] = -__builtin_inf();
        if (at > k) continue;
        double *restrict v = at < k ? vectors + at * vectors_step : after, size = 0.0;
        const double *restrict z = Z + best * step;
        for (Int j = 0; j < p; j++) size = larger(size, absolute(z[j]));
        Int first = 0;
        while (first < p - 1 && !(absolute(z[first]) >= (1.0 - tie) * size)) first++;
        double sign = z[first] < 0.0 ? -1.0 : 1.0;
        LANES
        for (Int j = 0; j < p; j++) v[j] = sign * z[j];
    }
    return 1;
}

/* Errors of the first k pairs, as `make_factors` has them; the value after them errs by no more than the most of these
   and its own. */
static void measure_pairs(Int n, Int p, Int k, const double *scatter, Int scatter_step, const double *columns,
                          Int columns_step, const double *vectors, Int vectors_step, const double *after,
                          double spacing, double *pairs, Int pairs_step, double *facts, double *room, Int step) {
    const double *mean = columns + MEAN * columns_step, *error = columns + ERROR * columns_step;
    const double *squares = columns + SQUARES * columns_step, *spectrum = columns + SPECTRUM * columns_step;
    double *restrict product = room, *restrict lengths = room + step, *restrict roots = room + 2 * step;
    double errors = 0.0, most_own = 0.0, apart = 0.0;
    for (Int j = 0; j < p; j++) {
        errors += error[j];
        roots[j] = root(error[j]);
        lengths[j] = root(squares[j] + (double)n * (mean[j] * mean[j]));
    }
    for (Int i = 0; i < least(k + 1, p); i++) {
        const double *restrict v = i < k ? vectors + i * vectors_step : after;
        double value = spectrum[i], own = 0.0, square = 0.0, reach = 0.0, moved = 0.0;
        for (Int j = 0; j < p; j++) product[j] = 0.0;
        for (Int m = 0; m < p; m++) {
            const double *restrict row = scatter + m * scatter_step;
            double factor = v[m];
            LANES
            for (Int j = 0; j < p; j++) product[j] += factor * row[j];
        }
        SUMS(own, square, reach, moved)
        for (Int j = 0; j < p; j++) {
            double beside = product[j] - value * v[j], size = absolute(v[j]);
            own += product[j] * v[j];
            square += beside * beside;
            reach += size * roots[j];
            moved += size * lengths[j];
        }
        own = absolute(own - value) + (4.0 + root((double)p)) * EPS * spectrum[0];
        most_own = larger(most_own, own);
        if (i == k) break;
        moved *= spacing / 2.0;
        pairs[VALUE * pairs_step + i] = value;
        pairs[RESIDUAL * pairs_step + i] = root(square);
        pairs[ROUNDING * pairs_step + i] = reach * reach + own;
        pairs[TILT * pairs_step + i] = reach * root(errors) + own;
        pairs[MOVED * pairs_step + i] = 2.0 * root(value) * moved + moved * moved;
        for (Int m = 0; m <= i; m++) apart = larger(apart, absolute(dot(p, v, vectors + m * vectors_step) - (m == i)));
    }
    facts[ERRORS] = errors, facts[OWN] = most_own, facts[APART] = apart;
}

#define REAL double
#define NAMED(name) name##_f64
#include "compiled_fit_small.c"
#undef REAL
#undef NAMED
#define REAL float
#define NAMED(name) name##_f32
#include "compiled_fit_small.c"
#else

/* Σ y and, in the upper half, Σ y yᵀ for rows y less the shift, so many at a time. */
static void NAMED(add_rows)(Int n, Int p, const REAL *rows, Int rows_step, const double *restrict shift,
                            double *restrict total, double *restrict sums, double *piece, double *scatter, Int step) {
    for (Int i = 0; i < least(STRETCH, n); i++)
        for (Int j = p; j < padded(p); j++) piece[i * step + j] = 0.0;
    for (Int start = 0; start < n; start += STRETCH) {
        Int count = least(STRETCH, n - start);
        for (Int j = 0; j < p; j++) sums[j] = 0.0;
        for (Int i = 0; i < count; i++) {
            const REAL *restrict x = rows + (start + i) * rows_step;
            double *restrict y = piece + i * step;
            LANES
            for (Int j = 0; j < p; j++) {
                double apart = (double)x[j] - shift[j];
                y[j] = apart;
                sums[j] += apart;
            }
        }
        for (Int j = 0; j < p; j++) total[j] += sums[j];
        take_square(count, padded(p), -1.0, piece, step, scatter, step);
    }
}

KERNEL(double)
NAMED(lowdim_fit_small)(Int n, Int p, Int k, Int room, const REAL *rows, Int rows_step, Int every, double terms,
                        double spacing, double least_spread, double range, double tie, double *scatter,
                        Int scatter_step, double *columns, Int columns_step, double *components, Int components_step,
                        double *pairs, Int pairs_step, double *facts, double *work) {
    (void)room;
    const Int step = step_of(p);
    double *shift = work, *total = work + step, *after = work + 2 * step, *line = work + 3 * step;
    double *A = work + 12 * step, *Z = A + padded(p) * step, *Q = Z + padded(p) * step, *piece = Z;
    double *mean = columns + MEAN * columns_step, *low = columns + LOW * columns_step;
    double *error = columns + ERROR * columns_step, *squares = columns + SQUARES * columns_step;
    double *spectrum = columns + SPECTRUM * columns_step;
    for (Int j = 0; j < p; j++) shift[j] = total[j] = 0.0;
    Int looked = 0;
    for (Int i = 0; i < n; i += every, looked++) {
        const REAL *restrict x = rows + i * rows_step;
        LANES
        for (Int j = 0; j < p; j++) shift[j] += (double)x[j];
    }
    for (Int j = 0; j < p; j++) shift[j] /= (double)looked;
    for (Int i = 0; i < padded(p); i++)
        for (Int j = 0; j < padded(p); j++) A[i * step + j] = 0.0;
    NAMED(add_rows)(n, p, rows, rows_step, shift, total, line, piece, A, step);
    double smallest = __builtin_inf(), largest = 0.0, left = 0.0, size = (double)n;
    for (Int j = 0; j < p; j++) {
        double square = A[j * step + j], offset = total[j] / size, near = shift[j];
        if (!(square > least_spread * size * near * near)) return 0.0; /* also where it is no number */
        smallest = smaller(smallest, square), largest = larger(largest, square);
        double reach = root(square) + root(size) * absolute(offset);
        error[j] = terms * (EPS / 2.0) * (reach * reach);
        total[j] = offset;
        mean[j] = near + offset;
        double part = mean[j] - near; /* Knuth's two-sum */
        low[j] = (near - (mean[j] - part)) + (offset - part);
        left += low[j] * low[j];
    }
    if (!(range < smallest && largest < 1.0 / range)) return 0.0;
    for (Int i = 0; i < p; i++)
        for (Int j = i; j < p; j++)
            scatter[i * scatter_step + j] = scatter[j * scatter_step + i] = A[i * step + j] - size * total[i] * total[j];
    facts[LARGEST] = 0.0;
    for (Int j = 0; j < p; j++) {
        squares[j] = scatter[j * scatter_step + j];
        if (!(squares[j] > 0.0)) return 0.0;
        facts[LARGEST] = larger(facts[LARGEST], squares[j]);
    }
    if (!sorted_pairs(p, scatter, scatter_step, tie, spectrum, A, Z, Q, step, line, k, components, components_step,
                      after))
        return 0.0;
    facts[TOTAL] = 0.0, facts[LEFT] = left;
    for (Int j = 0; j < p; j++) facts[TOTAL] += spectrum[j];
    measure_pairs(n, p, k, scatter, scatter_step, columns, columns_step, components, components_step, after, spacing,
                  pairs, pairs_step, facts, line, step);
    return 1.0;
}

#endif
