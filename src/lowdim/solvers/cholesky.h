/* One symmetric matrix of some tens or hundreds of rows: its Cholesky factor, its inverse, and products that give one.

   Strips of eight rows at a time: what earlier rows take from a strip is a product of matrices, whose tiles stay in
   registers; what is left is done row by row. Whole strips are written to and read, so that matrices have room for
   `padded` rows and columns; what stands there beyond them does not matter. */

#ifndef LOWDIM_CHOLESKY_H
#define LOWDIM_CHOLESKY_H

#include "runtime/native.h"

#define STRIP 8
#ifdef __AVX512F__
#define TILE 8 /* rows of eight numbers that the registers hold while they are summed */
#else
#define TILE 4
#endif

INLINE Int padded(Int size) { return (size + STRIP - 1) / STRIP * STRIP; }

/* How far the rows of a matrix of so many lie apart: an odd number of lines of the cache, as otherwise entries below
   each other would share a few places in it. */
INLINE Int step_of(Int size) { return padded(size) + (padded(size) % 16 ? 0 : 8); }

/* The rows of a strip, columns `from` to `to`, less scale · AᵀB for n rows of A, at those columns, and of B. */
static inline void take_product(Int n, Int from, Int to, double scale, const double *A, Int A_step, const double *B,
                                Int B_step, double *strip, Int step) {
    for (Int i = 0; i < STRIP; i += TILE)
        for (Int j = from; j < to; j += EIGHT) {
            const double *restrict a = A + i, *restrict b = B + j;
            double sums[TILE][EIGHT];
            for (Int r = 0; r < TILE; r++)
                EACH sums[r][e] = 0.0;
            PRAGMA(GCC unroll 1) /* else registers run out */
            for (Int m = 0; m < n; m++, a += A_step, b += B_step)
                for (Int r = 0; r < TILE; r++)
                    EACH sums[r][e] += a[r] * b[e];
            for (Int r = 0; r < TILE; r++) {
                double *restrict y = strip + (i + r) * step + j;
                EACH y[e] -= scale * sums[r][e];
            }
        }
}

/* y −= a x. */
INLINE void take_from_one(Int n, double *restrict y, double a, const double *restrict x) {
    LANES
    for (Int j = 0; j < n; j++) y[j] -= a * x[j];
}

INLINE void stretch(Int n, double *restrict y, double a) {
    LANES
    for (Int j = 0; j < n; j++) y[j] *= a;
}

/* y −= a₀ x₀ + … + a₃ x₃, and z with b. */
INLINE void take_from_two(Int n, double *restrict y, double *restrict z, const double *a, const double *b,
                          const double *restrict x, Int x_step) {
    const double *restrict x1 = x + x_step, *restrict x2 = x1 + x_step, *restrict x3 = x2 + x_step;
    double a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3], b0 = b[0], b1 = b[1], b2 = b[2], b3 = b[3];
    LANES
    for (Int j = 0; j < n; j++) {
        double u0 = x[j], u1 = x1[j], u2 = x2[j], u3 = x3[j];
        y[j] = y[j] - a0 * u0 - a1 * u1 - a2 * u2 - a3 * u3; /* each one instruction */
        z[j] = z[j] - b0 * u0 - b1 * u1 - b2 * u2 - b3 * u3;
    }
}

/* Up to four rows less multiples of the four above them, of n numbers. */
INLINE void take_four(Int count, Int n, const double *factors, Int factors_step, double *rows, Int step) {
    Int i = 4;
    for (; i + 1 < count; i += 2) {
        double a[4], b[4];
        for (Int q = 0; q < 4; q++) a[q] = factors[q * factors_step + i], b[q] = factors[q * factors_step + i + 1];
        take_from_two(n, rows + i * step, rows + (i + 1) * step, a, b, rows, step);
    }
    for (; i < count; i++)
        for (Int q = 0; q < 4; q++) take_from_one(n, rows + i * step, factors[q * factors_step + i], rows + q * step);
}

/* The strip of `count` rows of Uᵀ X = strip is solved for, where only multiples of its own rows are left to take; `own`
   is U where the strip's rows and columns meet. */
static inline void solve_strip(Int count, Int n, const double *own, Int U_step, double *strip, Int step) {
    for (Int b = 0; b < count; b += 4) {
        for (Int i = b; i < least(b + 4, count); i++) {
            for (Int m = b; m < i; m++) take_from_one(n, strip + i * step, own[m * U_step + i], strip + m * step);
            stretch(n, strip + i * step, 1.0 / own[i * U_step + i]);
        }
        if (b == 0) take_four(count, n, own, U_step, strip, step);
    }
}

/* A = UᵀU in place, upper triangle alone; gives log |A|. Pivots are not let fall below those of `floor`, where there is
   one; else what is not positive definite gives no number. */
static inline double cholesky(Int size, double *U, const double *floor) {
    const Int step = step_of(size);
    double half = 0.0;
    for (Int row = 0; row < size; row += STRIP) {
        double *own = U + row * step + row;
        const Int n = size - row, count = least(STRIP, n);
        take_product(row, 0, padded(n), 1.0, U + row, step, U + row, step, own, step);
        for (Int b = 0; b < count; b += 4) {
            double product = 1.0;
            for (Int i = b; i < least(b + 4, count); i++) {
                for (Int m = b; m < i; m++) take_from_one(n, own + i * step, own[m * step + i], own + m * step);
                double pivot = own[i * step + i], diagonal = root(floor ? larger(pivot, floor[row + i]) : pivot);
                product *= diagonal;
                stretch(n, own + i * step, 1.0 / diagonal);
                own[i * step + i] = diagonal;
            }
            half += ln(product);
            if (b == 0) take_four(count, n, own, step, own, step);
        }
    }
    return 2.0 * half;
}

/* X ← U⁻ᵀ X for `size` rows of n numbers, a multiple of eight. */
static inline void solve_forward(Int size, const double *U, Int n, double *X, Int step) {
    const Int U_step = step_of(size);
    for (Int row = 0; row < size; row += STRIP) {
        take_product(row, 0, n, 1.0, U + row, U_step, X, step, X + row * step, step);
        solve_strip(least(STRIP, size - row), n, U + row * U_step + row, U_step, X + row * step, step);
    }
}

/* T = U⁻ᵀ: a lower triangle, with zeros above it within strips, and nothing beyond. */
static inline void invert_factor(Int size, const double *U, double *T) {
    const Int step = step_of(size);
    for (Int row = 0; row < size; row += STRIP) {
        double *own = T + row * step;
        for (Int i = 0; i < STRIP; i++)
            for (Int j = 0; j < row + STRIP; j++) own[i * step + j] = j == row + i && j < size ? 1.0 : 0.0;
        for (Int j = 0; j < row; j += EIGHT)
            take_product(row - j, j, j + EIGHT, 1.0, U + j * step + row, step, T + j * step, step, own, step);
        solve_strip(least(STRIP, size - row), row + STRIP, U + row * step + row, step, own, step);
    }
}

/* out ← −TᵀT for such a T, upper triangle. */
static inline void square_triangle(Int size, const double *T, double *out) {
    const Int step = step_of(size);
    for (Int row = 0; row < size; row += STRIP) {
        double *own = out + row * step;
        for (Int i = 0; i < STRIP; i++)
            for (Int j = row; j < padded(size); j++) own[i * step + j] = 0.0;
        for (Int j = row; j < size; j += EIGHT)
            take_product(size - j, j, j + EIGHT, 1.0, T + j * step + row, step, T + j * step, step, own, step);
    }
}

/* out −= scale XᵀX, upper triangle of p rows, a multiple of eight; X has n rows. */
static inline void take_square(Int n, Int p, double scale, const double *X, Int X_step, double *out, Int step) {
    for (Int row = 0; row < p; row += STRIP)
        take_product(n, row, p, scale, X + row, X_step, X, X_step, out + row * step, step);
}

/* The upper triangle times `scale`, and the lower one made the same. */
static inline void mirror(Int p, double scale, double *A, Int step) {
    for (Int first = 0; first < p; first += STRIP)
        for (Int i = 0; i < least(first + STRIP, p); i++)
            for (Int j = most(i, first); j < least(first + STRIP, p); j++)
                A[j * step + i] = A[i * step + j] = scale * A[i * step + j];
}

#endif
