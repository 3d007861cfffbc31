/* Products and sums of dense rows, of float64 or float32, in float64. See compiled_products.py. */

#ifndef REAL
#include "runtime/native.h"

#define ROWS 6 /* rows at a time, kept as doubles while they are used */

#ifdef __AVX512F__ /* twice as many registers */
#define HIGH 6 /* rows whose scores are summed together, on four vectors */
#define WIDE 4 /* results that six rows are added to together */
#else
#define HIGH 2 /* with three, clang moves sums between registers and memory */
#define WIDE 2
#endif

/* Scores of HIGH rows on four vectors. Rows and vectors are filled up with zeros to a multiple of eight numbers. */
static void scores_of_some(Int w, const double *restrict X, Int X_step, const double *restrict Q, Int Q_step,
                           double *restrict out, Int out_step) {
    Int n = w & ~(Int)7;
    const double *restrict q0 = Q, *restrict q1 = q0 + Q_step, *restrict q2 = q1 + Q_step, *restrict q3 = q2 + Q_step;
    const double *restrict x0 = X, *restrict x1 = x0 + X_step;
    double a0 = 0, a1 = 0, a2 = 0, a3 = 0, b0 = 0, b1 = 0, b2 = 0, b3 = 0;
#if HIGH == 6
    const double *restrict x2 = x1 + X_step, *restrict x3 = x2 + X_step;
    const double *restrict x4 = x3 + X_step, *restrict x5 = x4 + X_step;
    double c0 = 0, c1 = 0, c2 = 0, c3 = 0;
    double d0 = 0, d1 = 0, d2 = 0, d3 = 0, e0 = 0, e1 = 0, e2 = 0, e3 = 0, f0 = 0, f1 = 0, f2 = 0, f3 = 0;
    SUMS(a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, d3, e0, e1, e2, e3, f0, f1, f2, f3)
#else
    SUMS(a0, a1, a2, a3, b0, b1, b2, b3)
#endif
    for (Int j = 0; j < n; j++) {
        double u0 = q0[j], u1 = q1[j], u2 = q2[j], u3 = q3[j];
        a0 += x0[j] * u0, a1 += x0[j] * u1, a2 += x0[j] * u2, a3 += x0[j] * u3;
        b0 += x1[j] * u0, b1 += x1[j] * u1, b2 += x1[j] * u2, b3 += x1[j] * u3;
#if HIGH == 6
        c0 += x2[j] * u0, c1 += x2[j] * u1, c2 += x2[j] * u2, c3 += x2[j] * u3;
        d0 += x3[j] * u0, d1 += x3[j] * u1, d2 += x3[j] * u2, d3 += x3[j] * u3;
        e0 += x4[j] * u0, e1 += x4[j] * u1, e2 += x4[j] * u2, e3 += x4[j] * u3;
        f0 += x5[j] * u0, f1 += x5[j] * u1, f2 += x5[j] * u2, f3 += x5[j] * u3;
#endif
    }
    out[0] = a0, out[1] = a1, out[2] = a2, out[3] = a3;
    out += out_step, out[0] = b0, out[1] = b1, out[2] = b2, out[3] = b3;
#if HIGH == 6
    out += out_step, out[0] = c0, out[1] = c1, out[2] = c2, out[3] = c3;
    out += out_step, out[0] = d0, out[1] = d1, out[2] = d2, out[3] = d3;
    out += out_step, out[0] = e0, out[1] = e1, out[2] = e2, out[3] = e3;
    out += out_step, out[0] = f0, out[1] = f1, out[2] = f2, out[3] = f3;
#endif
}

/* Add six rows, times their scores, to WIDE results. */
static void add_to_some(Int w, const double *restrict X, Int X_step, const double *restrict factors,
                        double *restrict out, Int out_step) {
    Int n = w & ~(Int)7;
    const double *restrict x0 = X, *restrict x1 = x0 + X_step, *restrict x2 = x1 + X_step;
    const double *restrict x3 = x2 + X_step, *restrict x4 = x3 + X_step, *restrict x5 = x4 + X_step;
    const double *a = factors, *b = a + ROWS;
    double *restrict y0 = out, *restrict y1 = y0 + out_step;
    double a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3], a4 = a[4], a5 = a[5];
    double b0 = b[0], b1 = b[1], b2 = b[2], b3 = b[3], b4 = b[4], b5 = b[5];
#if WIDE == 4
    const double *c = b + ROWS, *d = c + ROWS;
    double *restrict y2 = y1 + out_step, *restrict y3 = y2 + out_step;
    double c0 = c[0], c1 = c[1], c2 = c[2], c3 = c[3], c4 = c[4], c5 = c[5];
    double d0 = d[0], d1 = d[1], d2 = d[2], d3 = d[3], d4 = d[4], d5 = d[5];
#endif
    LANES
    for (Int j = 0; j < n; j++) {
        double u0 = x0[j], u1 = x1[j], u2 = x2[j], u3 = x3[j], u4 = x4[j], u5 = x5[j];
        double s0 = y0[j] + (a0 * u0 + a1 * u1 + a2 * u2 + a3 * u3 + a4 * u4 + a5 * u5);
        double s1 = y1[j] + (b0 * u0 + b1 * u1 + b2 * u2 + b3 * u3 + b4 * u4 + b5 * u5);
#if WIDE == 4
        double s2 = y2[j] + (c0 * u0 + c1 * u1 + c2 * u2 + c3 * u3 + c4 * u4 + c5 * u5);
        double s3 = y3[j] + (d0 * u0 + d1 * u1 + d2 * u2 + d3 * u3 + d4 * u4 + d5 * u5);
        y2[j] = s2, y3[j] = s3;
#endif
        y0[j] = s0, y1[j] = s1;
    }
}

#define REAL double
#define NAMED(name) name##_f64
#include "compiled_products.c"
#undef REAL
#undef NAMED
#define REAL float
#define NAMED(name) name##_f32
#include "compiled_products.c"
#else

/* Six rows less their center, and what float64 leaves over of it; past the end the last row stands in. */
static void NAMED(subtract)(Int n, Int p, const REAL *rows, Int rows_step, const double *restrict center,
                            const double *restrict low, double *out, Int out_step) {
    const REAL *restrict x0 = rows, *restrict x1 = rows + least(1, n - 1) * rows_step;
    const REAL *restrict x2 = rows + least(2, n - 1) * rows_step, *restrict x3 = rows + least(3, n - 1) * rows_step;
    const REAL *restrict x4 = rows + least(4, n - 1) * rows_step, *restrict x5 = rows + least(5, n - 1) * rows_step;
    double *restrict y0 = out, *restrict y1 = y0 + out_step, *restrict y2 = y1 + out_step;
    double *restrict y3 = y2 + out_step, *restrict y4 = y3 + out_step, *restrict y5 = y4 + out_step;
    LANES
    for (Int j = 0; j < p; j++) {
        double c = center[j], d = low[j];
        y0[j] = x0[j] - c - d, y1[j] = x1[j] - c - d, y2[j] = x2[j] - c - d;
        y3[j] = x3[j] - c - d, y4[j] = x4[j] - c - d, y5[j] = x5[j] - c - d;
    }
}

KERNEL(void)
NAMED(lowdim_add_normal)(Int n, Int p, Int b, Int w, const REAL *rows, Int rows_step, const double *center,
                         const double *low, const double *weight, const double *Q, Int Q_step, double *out, Int out_step, double *six,
                         Int six_step, double *scores, Int scores_step) {
    for (Int i = 0; i < ROWS; i++)
        for (Int j = p; j < w; j++) six[i * six_step + j] = 0.0;
    for (Int start = 0; start < n; start += ROWS) {
        NAMED(subtract)(n - start, p, rows + start * rows_step, rows_step, center, low, six, six_step);
        for (Int q = 0; q < b; q += 4)
            for (Int i = 0; i < ROWS; i += HIGH)
                scores_of_some(w, six + i * six_step, six_step, Q + q * Q_step, Q_step, scores + i * scores_step + q,
                               scores_step);
        for (Int q = 0; q < b; q += WIDE) {
            double factors[WIDE * ROWS];
            for (Int i = 0; i < ROWS; i++) { /* rows past the end have scores of zero */
                double factor = start + i < n ? weight[start + i] : 0.0;
                for (Int k = 0; k < WIDE; k++) factors[k * ROWS + i] = factor * scores[i * scores_step + q + k];
            }
            add_to_some(w, six, six_step, factors, out + q * out_step, out_step);
        }
    }
}

/* Scores of rows less their center; gives 0, or no number where a score is none. */
KERNEL(double)
NAMED(lowdim_scores)(Int n, Int p, Int b, Int w, Int k, const REAL *rows, Int rows_step, const double *center,
                     const double *Q, Int Q_step, REAL *out, Int out_step, double *six, Int six_step, double *scores,
                     Int scores_step) {
    double nothing = 0.0;
    for (Int i = 0; i < ROWS; i++)
        for (Int j = 0; j < w; j++) six[i * six_step + j] = 0.0;
    for (Int start = 0; start < n; start += ROWS) {
        for (Int i = 0; i < least(ROWS, n - start); i++) {
            const REAL *restrict x = rows + (start + i) * rows_step;
            double *restrict y = six + i * six_step;
            LANES
            for (Int j = 0; j < p; j++) y[j] = x[j] - center[j];
        }
        for (Int q = 0; q < b; q += 4)
            for (Int i = 0; i < ROWS; i += HIGH)
                scores_of_some(w, six + i * six_step, six_step, Q + q * Q_step, Q_step, scores + i * scores_step + q,
                               scores_step);
        for (Int i = 0; i < least(ROWS, n - start); i++)
            for (Int q = 0; q < k; q++) {
                double score = scores[i * scores_step + q];
                out[(start + i) * out_step + q] = (REAL)score;
                nothing += 0.0 * score;
            }
    }
    return nothing;
}

/* Four rows at a time, one after the other, so that sums are read and written a quarter as often. */
KERNEL(void)
NAMED(lowdim_add_sums)(Int n, Int p, const REAL *rows, Int rows_step, const double *shift, double *total,
                       double *squares) {
    const double *restrict from = shift;
    double *restrict sum = total, *restrict square = squares;
    Int i = 0;
    for (; i + 4 <= n; i += 4) {
        const REAL *restrict x0 = rows + i * rows_step, *restrict x1 = x0 + rows_step;
        const REAL *restrict x2 = x1 + rows_step, *restrict x3 = x2 + rows_step;
        LANES
        for (Int j = 0; j < p; j++) {
            double a = x0[j] - from[j], b = x1[j] - from[j], c = x2[j] - from[j], d = x3[j] - from[j];
            sum[j] = sum[j] + a + b + c + d;
            square[j] = square[j] + a * a + b * b + c * c + d * d;
        }
    }
    for (; i < n; i++) {
        const REAL *restrict x = rows + i * rows_step;
        LANES
        for (Int j = 0; j < p; j++) {
            double apart = x[j] - from[j];
            sum[j] += apart;
            square[j] += apart * apart;
        }
    }
}

#endif
