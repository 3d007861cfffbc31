/* Small symmetric matrices, eight at a time: entry (i, j) of all eight stands in one run of numbers, so that vector
   units work on eight matrices at once, whatever their size. LAPACK, called for one after the other, spends most of its
   time on calls. Entry (i, j) begins at 8 (i k + j) for matrices of k rows. */

#ifndef LOWDIM_SIDE_BY_SIDE_H
#define LOWDIM_SIDE_BY_SIDE_H

#include "runtime/native.h"

#define EIGHT 8
#if defined(__clang__) /* which would first unroll so short a loop, and then find no vectors in what is left */
#define EACH                                                                                                           \
    PRAGMA(clang loop vectorize(assume_safety) vectorize_width(8) interleave_count(1) unroll(disable))                 \
    for (Int e = 0; e < EIGHT; e++)
#else
#define EACH LANES for (Int e = 0; e < EIGHT; e++)
#endif

/* y −= a x over `count` entries. */
INLINE void take_one(Int count, double *restrict y, const double *restrict a, const double *restrict x) {
    for (Int j = 0; j < count; j++)
        EACH y[EIGHT * j + e] -= a[e] * x[EIGHT * j + e];
}

/* y −= a₀ x₀ + … + a₃ x₃ over `count` entries; factors and rows lie `a_step` and `x_step` numbers apart. */
INLINE void take_four(Int count, double *restrict y, const double *restrict a, Int a_step, const double *restrict x,
                      Int x_step) {
    const double *a1 = a + a_step, *a2 = a1 + a_step, *a3 = a2 + a_step;
    const double *x1 = x + x_step, *x2 = x1 + x_step, *x3 = x2 + x_step;
    for (Int j = 0; j < count; j++)
        EACH y[EIGHT * j + e] -= (a[e] * x[EIGHT * j + e] + a1[e] * x1[EIGHT * j + e]) +
                                  (a2[e] * x2[EIGHT * j + e] + a3[e] * x3[EIGHT * j + e]);
}

/* A = UᵀU in place, upper triangles alone, with 1 / U on the diagonal; log |A| of each to `logdet`. What is not
   positive definite becomes no number. */
INLINE void factor_eight(Int k, double *A, double *logdet) {
    double product[EIGHT];
    const Int step = EIGHT * k;
    EACH product[e] = 1.0, logdet[e] = 0.0;
    for (Int i = 0; i < k; i++) {
        double *row = A + i * step + EIGHT * i;
        Int m = 0;
        for (; m + 3 < i; m += 4) take_four(k - i, row, A + m * step + EIGHT * i, step, A + m * step + EIGHT * i, step);
        for (; m < i; m++) take_one(k - i, row, A + m * step + EIGHT * i, A + m * step + EIGHT * i);
        EACH {
            double diagonal = root(row[e]);
            product[e] *= diagonal;
            row[e] = 1.0 / diagonal;
        }
        for (Int j = 1; j < k - i; j++)
            EACH row[EIGHT * j + e] *= row[e];
        if (i % 4 == 3 || i == k - 1) /* four roots stay in the range of numbers, and one logarithm serves them */
            EACH logdet[e] += 2.0 * ln(product[e]), product[e] = 1.0;
    }
}

/* y ← A⁻¹ y for factors as above. */
INLINE void solve_eight(Int k, const double *A, double *y) {
    const Int step = EIGHT * k;
    for (Int i = 0; i < k; i++) { /* Uᵀ y = right … */
        const double *row = A + i * step + EIGHT * i;
        double *own = y + EIGHT * i;
        EACH own[e] *= row[e];
        for (Int j = 1; j < k - i; j++)
            EACH own[EIGHT * j + e] -= own[e] * row[EIGHT * j + e];
    }
    for (Int i = k - 1; i >= 0; i--) { /* … and U out = y */
        const double *row = A + i * step + EIGHT * i;
        double *own = y + EIGHT * i;
        for (Int j = 1; j < k - i; j++)
            EACH own[e] -= own[EIGHT * j + e] * row[EIGHT * j + e];
        EACH own[e] *= row[e];
    }
}

/* U⁻ᵀ in the lower triangles, for factors as above. */
INLINE void invert_eight(Int k, double *A) {
    const Int step = EIGHT * k;
    for (Int i = 1; i < k; i++) {
        double *row = A + i * step;
        const double *own = row + EIGHT * i;
        for (Int j = 0; j < EIGHT * i; j++) row[j] = 0.0;
        Int m = 0;
        for (; m + 3 < i; m += 4) {
            const double *factors = A + m * step + EIGHT * i, *rows = A + m * step;
            take_four(m + 1, row, factors, step, rows, step);
            for (Int q = 1; q < 4; q++)
                take_one(q, row + EIGHT * (m + 1), factors + q * step, rows + q * step + EIGHT * (m + 1));
        }
        for (; m < i; m++) take_one(m + 1, row, A + m * step + EIGHT * i, A + m * step);
        for (Int j = 0; j < i; j++)
            EACH row[EIGHT * j + e] *= own[e];
    }
}

/* −A⁻¹ in the upper triangles, from what `invert_eight` left. */
INLINE void square_eight(Int k, double *A) {
    const Int step = EIGHT * k;
    for (Int i = 0; i < k; i++) {
        double *row = A + i * step + EIGHT * i;
        EACH row[e] *= -row[e];
        for (Int j = EIGHT; j < EIGHT * (k - i); j++) row[j] = 0.0;
        Int m = i + 1;
        for (; m + 3 < k; m += 4) {
            const double *rows = A + m * step + EIGHT * i;
            take_four(m + 1 - i, row, rows, step, rows, step);
            for (Int q = 1; q < 4; q++)
                take_one(q, row + EIGHT * (m + 1 - i), rows + q * step, rows + q * step + EIGHT * (m + 1 - i));
        }
        for (; m < k; m++) take_one(m + 1 - i, row, A + m * step + EIGHT * i, A + m * step + EIGHT * i);
    }
}

#endif
