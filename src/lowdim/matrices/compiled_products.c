/* Products and sums of dense rows, of float64 or float32, in float64. See compiled_products.py. */

#ifndef REAL
#include "runtime/native.h"

#define ROWS 6 /* rows at a time: as many as the registers hold while two results are updated */

#define REAL double
#define NAMED(name) name##_f64
#include "compiled_products.c"
#undef REAL
#undef NAMED
#define REAL float
#define NAMED(name) name##_f32
#include "compiled_products.c"
#else

/* Scores of two rows on four vectors: eight sums, as many as keep the multipliers busy. */
static void NAMED(scores_of_two)(Int p, const REAL *restrict x, const REAL *restrict y, const double *restrict center,
                                 const double *restrict Q, Int step, double *restrict first, double *restrict second) {
    const double *q0 = Q, *q1 = Q + step, *q2 = Q + 2 * step, *q3 = Q + 3 * step;
    double a0 = 0, a1 = 0, a2 = 0, a3 = 0, b0 = 0, b1 = 0, b2 = 0, b3 = 0;
    SUMS(a0, a1, a2, a3, b0, b1, b2, b3)
    for (Int j = 0; j < p; j++) {
        double u = x[j] - center[j], v = y[j] - center[j];
        a0 += u * q0[j];
        a1 += u * q1[j];
        a2 += u * q2[j];
        a3 += u * q3[j];
        b0 += v * q0[j];
        b1 += v * q1[j];
        b2 += v * q2[j];
        b3 += v * q3[j];
    }
    first[0] = a0, first[1] = a1, first[2] = a2, first[3] = a3;
    second[0] = b0, second[1] = b1, second[2] = b2, second[3] = b3;
}

/* Add six rows, times their scores, to two results. */
static void NAMED(add_to_two)(Int p, const REAL *const *rows, const double *restrict center, const double *restrict a,
                              const double *restrict b, double *restrict y, double *restrict z) {
    const REAL *restrict r0 = rows[0], *restrict r1 = rows[1], *restrict r2 = rows[2];
    const REAL *restrict r3 = rows[3], *restrict r4 = rows[4], *restrict r5 = rows[5];
    double a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3], a4 = a[4], a5 = a[5];
    double b0 = b[0], b1 = b[1], b2 = b[2], b3 = b[3], b4 = b[4], b5 = b[5];
    LANES
    for (Int j = 0; j < p; j++) {
        double c = center[j];
        double x0 = r0[j] - c, x1 = r1[j] - c, x2 = r2[j] - c, x3 = r3[j] - c, x4 = r4[j] - c, x5 = r5[j] - c;
        y[j] += a0 * x0 + a1 * x1 + a2 * x2 + a3 * x3 + a4 * x4 + a5 * x5;
        z[j] += b0 * x0 + b1 * x1 + b2 * x2 + b3 * x3 + b4 * x4 + b5 * x5;
    }
}

KERNEL(void)
NAMED(lowdim_add_normal)(Int n, Int p, Int b, const REAL *rows, Int rows_step, const double *center,
                         const double *weight, const double *Q, Int Q_step, double *out, Int out_step,
                         double *scores, Int scores_step) {
    for (Int start = 0; start < n; start += ROWS) {
        const REAL *six[ROWS]; /* past the end the last row stands in, with scores of zero */
        for (Int i = 0; i < ROWS; i++) six[i] = rows + least(start + i, n - 1) * rows_step;
        for (Int q = 0; q < b; q += 4)
            for (Int i = 0; i < ROWS; i += 2)
                NAMED(scores_of_two)
        (p, six[i], six[i + 1], center, Q + q * Q_step, Q_step, scores + i * scores_step + q,
         scores + (i + 1) * scores_step + q);
        for (Int q = 0; q < b; q += 2) {
            double two[2][ROWS];
            for (Int i = 0; i < ROWS; i++) {
                double factor = start + i < n ? weight[start + i] : 0.0;
                two[0][i] = factor * scores[i * scores_step + q];
                two[1][i] = factor * scores[i * scores_step + q + 1];
            }
            NAMED(add_to_two)(p, six, center, two[0], two[1], out + q * out_step, out + (q + 1) * out_step);
        }
    }
}

KERNEL(void)
NAMED(lowdim_add_sums)(Int n, Int p, const REAL *rows, Int rows_step, const double *shift, double *total,
                       double *squares) {
    for (Int i = 0; i < n; i++) {
        const REAL *restrict x = rows + i * rows_step;
        double *restrict sum = total, *restrict square = squares;
        LANES
        for (Int j = 0; j < p; j++) {
            double apart = x[j] - shift[j];
            sum[j] += apart;
            square[j] += apart * apart;
        }
    }
}

#endif
