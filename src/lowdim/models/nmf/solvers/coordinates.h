/* What coordinate descent over the rows of a factor needs, whatever the loss. See compiled_least_squares.py. */

#ifndef LOWDIM_COORDINATES_H
#define LOWDIM_COORDINATES_H

#include "runtime/native.h"

#define TINY 1e-150      /* a fit never falls below: one over it times any part stays in the range */
#define ROUNDING 1e-12   /* share of a sum over all of H below which what is left without missing entries is rounding */
#define DEPENDENT 1e-12  /* share of its square below which what a component adds to those before it is rounding */
#define TOGETHER 5       /* sweeps before the numbers above zero are moved together */

/* fitted ← w H (k, step) at `count` places. */
static void fit(Int k, Int count, const double *restrict H, Int step, const double *restrict w,
                double *restrict fitted) {
    Int t = 0;
    for (Int e = 0; e < count; e++) fitted[e] = 0.0;
    for (; t + 4 <= k; t += 4) {
        const double *h0 = H + t * step, *h1 = h0 + step, *h2 = h1 + step, *h3 = h2 + step;
        double w0 = w[t], w1 = w[t + 1], w2 = w[t + 2], w3 = w[t + 3];
        LANES
        for (Int e = 0; e < count; e++) fitted[e] += w0 * h0[e] + w1 * h1[e] + w2 * h2[e] + w3 * h3[e];
    }
    for (; t < k; t++) {
        const double *h = H + t * step;
        LANES
        for (Int e = 0; e < count; e++) fitted[e] += w[t] * h[e];
    }
    LANES
    for (Int e = 0; e < count; e++) fitted[e] = larger(fitted[e], TINY);
}

/* The change of the numbers above zero by Newton's step, from the lower triangle of G alone, by Cholesky's
   factorisation of their part of G + l2; L (k, k) is room.

   Where a component depends on those before it, there is a direction without curvature: a little is added, so that the
   step goes far along it if it leads down, up to where a number meets zero. More curvature than there is makes any
   share of a step go down all the same. */
static void together(Int k, const double *G, Int step, double l2, const double *slope, const double *w,
                     double *restrict L, double *restrict change) {
    for (Int s = 0; s < k; s++) {
        double square = G[s * step + s] + l2, rest = square, total = -slope[s];
        double *restrict row = L + s * k;
        change[s] = row[s] = 0.0; /* a diagonal of zero says that it does not move */
        if (!(w[s] > 0.0 && square > 0.0)) continue;
        for (Int t = 0; t < s; t++) {
            const double *other = L + t * k;
            row[t] = 0.0;
            if (other[t] == 0.0) continue;
            double cross = G[s * step + t];
            for (Int r = 0; r < t; r++) cross -= row[r] * other[r];
            row[t] = cross / other[t];
            rest -= row[t] * row[t];
            total -= row[t] * change[t];
        }
        row[s] = root(larger(rest, DEPENDENT * square));
        change[s] = total / row[s];
    }
    for (Int s = k - 1; s >= 0; s--) {
        if (L[s * k + s] == 0.0) continue;
        for (Int t = s + 1; t < k; t++)
            if (L[t * k + t] != 0.0) change[s] -= L[t * k + s] * change[t];
        change[s] /= L[s * k + s];
    }
}

/* w ← w + share · change, or less, up to where the first number meets zero; gives the share that was gone. */
static double move(Int k, double *w, const double *change, double share) {
    Int first = -1;
    for (Int t = 0; t < k; t++)
        if (change[t] < 0.0 && w[t] < share * -change[t]) {
            share = w[t] / -change[t];
            first = t;
        }
    for (Int t = 0; t < k; t++) w[t] = larger(w[t] + share * change[t], 0.0);
    if (first >= 0) w[first] = 0.0;
    return share;
}

/* ‖min(w, slope)‖ / ‖w‖ with slopes in units of ‖added‖ / ‖w‖, as loss.residual has it. */
static double residual(Int k, const double *w, const double *slope, const double *added) {
    double size = 0.0, unit = 0.0, total = 0.0;
    for (Int t = 0; t < k; t++) {
        size += w[t] * w[t];
        unit += added[t] * added[t];
    }
    size = root(size), unit = root(unit);
    int there = size > TINY && unit > TINY;
    double scale = there ? size / unit : 1.0;
    for (Int t = 0; t < k; t++) {
        double one = smaller(w[t], slope[t] * scale);
        total += one * one;
    }
    if (there) return root(total) / size;
    return total > 0.0 ? 1.0 : 0.0;
}

#endif
