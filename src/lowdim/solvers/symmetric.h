/* All eigenvalues and eigenvectors of one symmetric matrix of some tens of rows: Householder's reflections make it
   tridiagonal, QL steps with Wilkinson's implicit shift make that diagonal (Golub & Van Loan 2013, "Matrix
   computations", section 8.3; Dubrulle, Martin & Wilkinson 1968). Whoever calls brings entries near one first.

   Rows lie `step` numbers apart, a multiple of eight, and have zeros beyond the matrix, so that loops over columns take
   whole eights. */

#ifndef LOWDIM_SYMMETRIC_H
#define LOWDIM_SYMMETRIC_H

#include "runtime/native.h"

#define MOST_STEPS 50 /* for one eigenvalue; two or three are usual */

/* out = xᵀ A, columns `from` to `to`, for rows `first` to `last` of A. */
INLINE void combine_rows(Int first, Int last, Int from, Int to, const double *x, const double *A, Int step,
                         double *restrict out) {
    for (Int c = from; c < to; c += EIGHT) {
        double sums[EIGHT], more[EIGHT];
        EACH sums[e] = 0.0;
        EACH more[e] = 0.0;
        Int i = first;
        for (; i + 1 < last; i += 2) {
            const double *restrict a = A + i * step + c, *restrict b = a + step;
            double u = x[i], v = x[i + 1];
            EACH sums[e] += u * a[e];
            EACH more[e] += v * b[e];
        }
        if (i < last) {
            const double *restrict a = A + i * step + c;
            double u = x[i];
            EACH sums[e] += u * a[e];
        }
        EACH out[c + e] = sums[e] + more[e];
    }
}

INLINE double dot(Int n, const double *restrict x, const double *restrict y) {
    double sum = 0.0;
    SUMS(sum)
    for (Int i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* A (p, p) becomes tridiagonal, with `diagonal` and `beside`; row j of A is left with the vector of the j-th reflection
   I − factor v vᵀ, from column j + 1 on, and zeros before it. */
static inline void make_tridiagonal(Int p, double *A, Int step, double *diagonal, double *beside, double *factors,
                                    double *w) {
    for (Int j = 0; j < p; j++) {
        double *restrict v = A + j * step;
        diagonal[j] = v[j];
        beside[j] = j + 1 < p ? v[j + 1] : 0.0;
        factors[j] = 0.0;
        for (Int i = 0; i <= j; i++) v[i] = 0.0;
        if (j + 2 >= p) continue;
        double rest = dot(p - j - 2, v + j + 2, v + j + 2);
        if (rest == 0.0) continue;
        const Int from = (j + 1) & ~(Int)7;
        double head = v[j + 1], size = root(head * head + rest);
        v[j + 1] = head < 0.0 ? head - size : head + size;
        beside[j] = head < 0.0 ? size : -size;
        double factor = factors[j] = 1.0 / (size * (size + absolute(head)));
        combine_rows(j + 1, p, from, step, v, A, step, w);
        double half = 0.5 * factor * factor * dot(p - j - 1, w + j + 1, v + j + 1);
        LANES
        for (Int c = from; c < step; c++) w[c] = factor * w[c] - half * v[c];
        for (Int i = j + 1; i < p; i++) {
            double *restrict a = A + i * step;
            double vi = v[i], wi = w[i];
            for (Int c = from; c < step; c += EIGHT) EACH a[c + e] -= vi * w[c + e] + wi * v[c + e];
        }
    }
}

/* Q, of which the columns are what the reflections made of the axes; Qᵀ A Q is tridiagonal. */
static inline void unite_reflections(Int p, const double *A, const double *factors, Int step, double *Q, double *w) {
    for (Int i = 0; i < p; i++) {
        for (Int c = 0; c < step; c++) Q[i * step + c] = 0.0;
        Q[i * step + i] = 1.0;
    }
    for (Int j = p - 3; j >= 0; j--) {
        if (factors[j] == 0.0) continue;
        const double *v = A + j * step;
        const Int from = (j + 1) & ~(Int)7;
        combine_rows(j + 1, p, from, step, v, Q, step, w);
        for (Int i = j + 1; i < p; i++) {
            double *restrict q = Q + i * step;
            double factor = factors[j] * v[i];
            for (Int c = from; c < step; c += EIGHT) EACH q[c + e] -= factor * w[c + e];
        }
    }
}

/* Rows `from` to `to` of Z, each turned with the one before it, from the last on; so many eights of columns. */
#define TURN(eights)                                                                                                   \
    double held[eights][EIGHT];                                                                                        \
    for (Int b = 0; b < eights; b++) EACH held[b][e] = Z[to * step + c + b * EIGHT + e];                               \
    for (Int i = to - 1; i >= from; i--) {                                                                             \
        double cosine = cosines[i], sine = sines[i];                                                                   \
        double *z = Z + i * step + c;                                                                                  \
        for (Int b = 0; b < eights; b++) {                                                                             \
            double above[EIGHT];                                                                                       \
            EACH above[e] = z[b * EIGHT + e];                                                                          \
            EACH z[step + b * EIGHT + e] = sine * above[e] + cosine * held[b][e];                                      \
            EACH held[b][e] = cosine * above[e] - sine * held[b][e];                                                   \
        }                                                                                                              \
    }                                                                                                                  \
    for (Int b = 0; b < eights; b++) EACH Z[from * step + c + b * EIGHT + e] = held[b][e];

static inline void turn_rows(Int from, Int to, const double *cosines, const double *sines, double *Z, Int step) {
    Int c = 0;
    for (; c + 4 * EIGHT <= step; c += 4 * EIGHT) {
        TURN(4)
    }
    for (; c < step; c += EIGHT) {
        TURN(1)
    }
}

/* Eigenvalues of the tridiagonal matrix in place of its diagonal, in no order; rows of Z turn with them. Whether all
   were found. */
static inline int solve_tridiagonal(Int p, double *diagonal, double *beside, double *Z, Int step, double *cosines,
                                    double *sines) {
    for (Int l = 0; l < p; l++) {
        for (Int steps = 0;; steps++) {
            Int m = l;
            for (; m + 1 < p; m++) {
                double size = absolute(diagonal[m]) + absolute(diagonal[m + 1]);
                if (size + absolute(beside[m]) == size) break; /* what is beside it is lost in rounding */
            }
            if (m == l) break;
            if (steps == MOST_STEPS) return 0;
            double g = (diagonal[l + 1] - diagonal[l]) / (2.0 * beside[l]), r = root(g * g + 1.0);
            g = diagonal[m] - diagonal[l] + beside[l] / (g < 0.0 ? g - r : g + r);
            double sine = 1.0, cosine = 1.0, taken = 0.0;
            Int i = m - 1;
            for (; i >= l; i--) {
                double f = sine * beside[i], b = cosine * beside[i];
                r = root(f * f + g * g);
                beside[i + 1] = r;
                if (r == 0.0) break; /* it fell apart, below what float64 has */
                sine = f / r, cosine = g / r;
                g = diagonal[i + 1] - taken;
                r = (diagonal[i] - g) * sine + 2.0 * cosine * b;
                taken = sine * r;
                diagonal[i + 1] = g + taken;
                g = cosine * r - b;
                cosines[i] = cosine, sines[i] = sine;
            }
            if (i < l) {
                diagonal[l] -= taken;
                beside[l] = g;
            } else
                diagonal[i + 1] -= taken;
            beside[m] = 0.0;
            if (i + 1 < m) turn_rows(i + 1, m, cosines, sines, Z, step);
        }
    }
    return 1;
}

/* Eigenvalues of A (p, p), in no order, and vectors in rows of Z; A is lost. `room` is for seven rows of `step` numbers.
   Whether all were found. */
static inline int find_pairs(Int p, double *A, Int step, double *values, double *Z, double *Q, double *room) {
    double *beside = room, *factors = room + step, *w = room + 2 * step;
    make_tridiagonal(p, A, step, values, beside, factors, w);
    unite_reflections(p, A, factors, step, Q, w);
    for (Int i = 0; i < p; i++) {
        for (Int j = 0; j < p; j++) Z[i * step + j] = Q[j * step + i];
        for (Int j = p; j < step; j++) Z[i * step + j] = 0.0;
    }
    return solve_tridiagonal(p, values, beside, Z, step, room + 3 * step, room + 4 * step);
}

#endif
