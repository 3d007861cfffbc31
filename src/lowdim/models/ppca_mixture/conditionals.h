/* What the observed entries of a row say about its hidden ones, if rows are Gaussian: see compiled_conditionals.py. */

#ifndef LOWDIM_CONDITIONALS_H
#define LOWDIM_CONDITIONALS_H

#include "solvers/cholesky.h"

#define LEAST_PIVOT 1e-14 /* share of a diagonal entry below which a pivot of Cholesky is rounding alone */
#define LOG_2_PI 1.8378770664093453

/* A density of p numbers. */
typedef struct {
    Int p;
    const double *mean, *cov;
    Int cov_step;
    const double *precision;
    Int precision_step;
    double logdet; /* of the covariance */
} Gaussian;

/* What a row is worked on in; `wide` is p, filled up, and matrices have rows `step` numbers apart. */
typedef struct {
    Int wide, step;
    int64_t *seen, *hidden;    /* (p,) places */
    double *U, *B;             /* (wide, wide) a factor; what comes of it */
    double *v, *apart, *least; /* (wide,) */
} Room;

/* In 2 wide step + 3 wide numbers and 2 p places. */
INLINE Room make_room(Int p, double *work, int64_t *places) {
    Room room;
    Int wide = padded(p), step = step_of(p);
    room.wide = wide, room.step = step, room.seen = places, room.hidden = places + p;
    room.U = work, room.B = work + wide * step;
    room.v = room.B + wide * step, room.apart = room.v + wide, room.least = room.apart + wide;
    return room;
}

/* Places of the observed and of the hidden entries of a row; gives how many were observed. */
INLINE Int split(Int p, const double *x, const Room *room) {
    Int m = 0;
    for (Int j = 0; j < p; j++) {
        if (x[j] - x[j] == 0.0) /* neither infinite nor no number */
            room->seen[m++] = j;
        else
            room->hidden[j - m] = j;
    }
    return m;
}

/* U of A[places, places]; gives its log determinant. */
static inline double factor_block(Int count, const int64_t *places, const double *A, Int step, const Room *room) {
    const Int U_step = step_of(count);
    for (Int i = 0; i < count; i++) {
        double *to = room->U + i * U_step;
        const double *row = A + places[i] * step;
        for (Int j = i / STRIP * STRIP; j < count; j++) to[j] = row[places[j]];
        room->least[i] = LEAST_PIVOT * to[i];
    }
    return cholesky(count, room->U, room->least);
}

/* v ← U⁻ᵀ v; gives its square. */
static inline double forward(Int size, const double *U, double *v) {
    const Int step = step_of(size);
    double square = 0.0;
    for (Int i = 0; i < size; i++) {
        v[i] /= U[i * step + i];
        square += v[i] * v[i];
        take_from_one(size - i - 1, v + i + 1, v[i], U + i * step + i + 1);
    }
    return square;
}

/* v ← U⁻¹ v. */
static inline void backward(Int size, const double *U, double *v) {
    const Int step = step_of(size);
    for (Int i = size - 1; i >= 0; i--) {
        const double *row = U + i * step;
        double total = 0.0;
        SUMS(total)
        for (Int j = i + 1; j < size; j++) total += row[j] * v[j];
        v[i] = (v[i] - total) / row[i];
    }
}

/* out ← A[places] x for rows of p numbers. */
static inline void multiply_rows(Int count, Int p, const double *A, Int step, const int64_t *places, const double *x,
                                 double *out) {
    const Int last = count - 1;
    for (Int i = 0; i < count; i += 4) { /* past the end the last stands in */
        double sums[4];
        multiply_four(p, A + places[i] * step, A + places[least(i + 1, last)] * step,
                      A + places[least(i + 2, last)] * step, A + places[least(i + 3, last)] * step, x, sums);
        for (Int q = 0; q < 4 && i + q < count; q++) out[i + q] = sums[q];
    }
}

/* xᵀA x by the upper triangle of A alone. */
static inline double quadratic_form(Int p, const double *A, Int step, const double *x) {
    double square = 0.0, sums[4];
    for (Int i = 0; i < p; i += 4) {
        Int end = least(i + 4, p);
        const double *row = A + i * step + end;
        if (end < p) {
            multiply_four(p - end, row, row + step, row + 2 * step, row + 3 * step, x + end, sums);
            for (Int q = 0; q < 4; q++) square += 2.0 * x[i + q] * sums[q];
        }
        for (Int a = i; a < end; a++)
            for (Int c = i; c < end; c++) square += A[a * step + c] * x[a] * x[c];
    }
    return square;
}

/* U of cov[O, O], v = U⁻ᵀ (x − mean)[O], and the log density of x[O]. */
static inline double solve_seen(const Gaussian *g, const double *x, Int m, const Room *room) {
    for (Int i = 0; i < m; i++) room->v[i] = x[room->seen[i]] - g->mean[room->seen[i]];
    double logdet = factor_block(m, room->seen, g->cov, g->cov_step, room);
    double square = forward(m, room->U, room->v);
    return -0.5 * ((double)m * LOG_2_PI + logdet + square);
}

/* U of P[H, H], and in `apart` the row as it is expected minus the mean; gives the log determinant of P[H, H]. */
static inline double solve_hidden(const Gaussian *g, const double *x, Int u, const Room *room) {
    for (Int j = 0; j < g->p; j++) room->apart[j] = x[j] - g->mean[j];
    for (Int i = 0; i < u; i++) room->apart[room->hidden[i]] = 0.0;
    multiply_rows(u, g->p, g->precision, g->precision_step, room->hidden, room->apart, room->v);
    for (Int i = 0; i < u; i++) room->v[i] = -room->v[i];
    double logdet = factor_block(u, room->hidden, g->precision, g->precision_step, room);
    forward(u, room->U, room->v);
    backward(u, room->U, room->v);
    for (Int i = 0; i < u; i++) room->apart[room->hidden[i]] = room->v[i];
    return logdet;
}

/* Log density of what was observed, after `solve_hidden` gave `logdet`.

   det cov[O, O] = det cov · det P[H, H], and completing a row by its expectation leaves its square as it was. */
static inline double density_hidden(const Gaussian *g, Int u, double logdet, const Room *room) {
    double square = quadratic_form(g->p, g->precision, g->precision_step, room->apart);
    return -0.5 * ((double)(g->p - u) * LOG_2_PI + g->logdet + logdet + square);
}

/* Mean and variance (p,) of a row with m observed entries, and its log density; leaves B = U⁻ᵀ cov[O, :], with columns
   of zeros that fill it up. */
static inline double expect_from_seen(const Gaussian *g, const double *x, Int m, const Room *room, double *restrict mu,
                                      double *restrict var) {
    const Int p = g->p, wide = room->wide, step = room->step;
    double loglik = solve_seen(g, x, m, room);
    for (Int i = 0; i < m; i++) {
        double *to = room->B + i * step;
        const double *row = g->cov + room->seen[i] * g->cov_step;
        for (Int j = 0; j < p; j++) to[j] = row[j];
        for (Int j = p; j < wide; j++) to[j] = 0.0;
    }
    solve_forward(m, room->U, wide, room->B, step);
    for (Int i = m; i % 4; i++) { /* four rows at a time are added */
        room->v[i] = 0.0;
        for (Int j = 0; j < p; j++) room->B[i * step + j] = 0.0;
    }
    for (Int j = 0; j < p; j++) mu[j] = g->mean[j], var[j] = g->cov[j * g->cov_step + j];
    for (Int i = 0; i < m; i += 4) {
        const double *restrict b0 = room->B + i * step, *restrict b1 = b0 + step;
        const double *restrict b2 = b1 + step, *restrict b3 = b2 + step;
        double v0 = room->v[i], v1 = room->v[i + 1], v2 = room->v[i + 2], v3 = room->v[i + 3];
        LANES
        for (Int j = 0; j < p; j++) {
            mu[j] += (v0 * b0[j] + v1 * b1[j]) + (v2 * b2[j] + v3 * b3[j]);
            var[j] -= (b0[j] * b0[j] + b1[j] * b1[j]) + (b2[j] * b2[j] + b3[j] * b3[j]);
        }
    }
    for (Int i = 0; i < m; i++) /* exactly, whatever rounding has left */
        mu[room->seen[i]] = x[room->seen[i]], var[room->seen[i]] = 0.0;
    for (Int j = 0; j < p; j++) var[j] = larger(var[j], 0.0);
    return loglik;
}

/* Mean and variance (p,) of a row with u hidden entries; leaves T, the inverse of the factor of their precision, in B,
   and gives the log determinant of that precision. */
static inline double expect_hidden(const Gaussian *g, const double *x, Int u, const Room *room, double *restrict mu,
                            double *restrict var) {
    double logdet = solve_hidden(g, x, u, room), *restrict sums = room->v;
    for (Int j = 0; j < g->p; j++) mu[j] = x[j], var[j] = 0.0;
    for (Int i = 0; i < u; i++) mu[room->hidden[i]] = g->mean[room->hidden[i]] + room->apart[room->hidden[i]];
    invert_factor(u, room->U, room->B);
    for (Int i = 0; i < u; i++) sums[i] = 0.0;
    for (Int i = 0; i < u; i++) {
        const double *restrict row = room->B + i * step_of(u);
        LANES
        for (Int j = 0; j <= i; j++) sums[j] += row[j] * row[j];
    }
    for (Int i = 0; i < u; i++) var[room->hidden[i]] = sums[i];
    return logdet;
}

#endif
