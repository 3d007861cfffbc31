/* Scalar Newton steps over the entries of one row. See compiled_newton.py. */

#ifndef LOWDIM_NEWTON_STEPS_H
#define LOWDIM_NEWTON_STEPS_H

#include "models/nmf/solvers/coordinates.h"

#define SAFE_STEP 0.683802 /* as textbook.py has it */
#define ROUNDS 4           /* over the coordinates of a model that all of them share */
#define HOPELESS 1e-12     /* share of a number up to which a fit is nothing, from where steps would take for ever */

/* Whether something stored is fitted by nothing. */
static int hopeless(Int count, const double *restrict x, const double *restrict fitted) {
    double worst = 0.0;
    LARGEST(worst)
    for (Int e = 0; e < count; e++) {
        int here = (x[e] > 0.0) & (fitted[e] <= HOPELESS * x[e]);
        worst = larger(worst, here ? 1.0 : 0.0);
    }
    return worst > 0.0;
}

/* Add to every component a hundredth of an equal share of the row. */
static void lift(Int k, double total, const double *added, double *w) {
    for (Int t = 0; t < k; t++)
        if (added[t] > 0.0) w[t] += 0.01 * total / ((double)k * added[t]);
}

static double sum(Int count, const double *restrict x) {
    double total = 0.0;
    SUMS(total)
    for (Int e = 0; e < count; e++) total += x[e];
    return total;
}

/* What a damped Newton step adds to one coordinate. */
static double newton(double w, double slope, double curve, double added, double least) {
    if (curve <= 0.0) /* nothing stored depends on it: what is fitted to zeros only costs */
        return added > 0.0 ? -w : 0.0;
    double change = larger(-slope / curve, -w);
    if (change < 0.0) {
        double length = root(curve / least) * -change;
        if (length > SAFE_STEP) change /= 1.0 + length;
    }
    return change;
}

/* Add change · moved to the fit; Σ x h / fit and Σ x (h / fit)². Two halves at a time, of
   which one division serves both: TINY² is in the range. */
INLINE void moved_sums(Int count, const double *restrict x, const double *restrict moved, double change,
                       const double *restrict h, double *restrict fitted, double *restrict inverse, double *taken,
                       double *curve) {
    double first = 0.0, second = 0.0, third = 0.0, fourth = 0.0;
    Int half = count < 64 ? 0 : count / 16 * 8;
    SUMS(first, second, third, fourth)
    for (Int e = 0; e < half; e++) {
        double now = larger(fitted[e] + change * moved[e], TINY);
        double then = larger(fitted[e + half] + change * moved[e + half], TINY);
        double both = 1.0 / (now * then), over = both * then, under = both * now;
        fitted[e] = now, fitted[e + half] = then;
        inverse[e] = over, inverse[e + half] = under;
        double share = h[e] * over, part = x[e] * share;
        double other = h[e + half] * under, rest = x[e + half] * other;
        first += part, second += part * share;
        third += rest, fourth += rest * other;
    }
    SUMS(first, second)
    for (Int e = 2 * half; e < count; e++) {
        double now = larger(fitted[e] + change * moved[e], TINY), over = 1.0 / now;
        fitted[e] = now;
        inverse[e] = over;
        double share = h[e] * over, part = x[e] * share;
        first += part;
        second += part * share;
    }
    *taken = first + third, *curve = second + fourth;
}

/* The same where the fit is as it was. */
INLINE void sums(Int count, const double *restrict x, const double *restrict h, const double *restrict inverse,
                 double *taken, double *curve) {
    double first = 0.0, second = 0.0, third = 0.0, fourth = 0.0;
    Int half = count < 64 ? 0 : count / 16 * 8;
    SUMS(first, second, third, fourth)
    for (Int e = 0; e < half; e++) {
        double share = h[e] * inverse[e], part = x[e] * share;
        double other = h[e + half] * inverse[e + half], rest = x[e + half] * other;
        first += part, second += part * share;
        third += rest, fourth += rest * other;
    }
    SUMS(first, second)
    for (Int e = 2 * half; e < count; e++) {
        double share = h[e] * inverse[e], part = x[e] * share;
        first += part;
        second += part * share;
    }
    *taken = first + third, *curve = second + fourth;
}

/* Σ x log(x / wh) − x, of a fit that is changed before. */
static double loss(Int count, const double *restrict x, const double *restrict moved, double change,
                   const double *restrict fitted) {
    double total = 0.0;
    SUMS(total)
    for (Int e = 0; e < count; e++) {
        double ratio = x[e] / larger(fitted[e] + change * moved[e], TINY);
        total += x[e] * ln(x[e] > 0.0 ? ratio : 1.0) - x[e];
    }
    return total;
}

/* out (k,) ← H (k, step) x. */
static void times(Int k, Int count, const double *H, Int step, const double *x, double *restrict out) {
    for (Int t = 0; t < k; t += 4) { /* past the end the last stands in */
        const double *h0 = H + t * step, *h1 = H + least(t + 1, k - 1) * step, *h2 = H + least(t + 2, k - 1) * step;
        double sums[4];
        multiply_four(count, h0, h1, h2, H + least(t + 3, k - 1) * step, x, sums);
        for (Int q = 0; q < 4 && t + q < k; q++) out[t + q] = sums[q];
    }
}

/* (k, k) curves + l2 of one row, G = H diag(curved) Hᵀ, two rows of H by four at a time; `room` (2, count). */
static void curves_of_row(Int k, Int count, const double *H, Int step, const double *restrict curved, double l2,
                          double *restrict room, Int room_step, double *G, Int G_step) {
    for (Int s = 0; s < k; s += 2) {
        Int second = least(s + 1, k - 1);
        const double *restrict own = H + s * step, *restrict other = H + second * step;
        double *restrict x = room, *restrict y = room + room_step;
        LANES
        for (Int e = 0; e < count; e++) x[e] = curved[e] * own[e], y[e] = curved[e] * other[e];
        for (Int t = 0; t <= second; t += 4) {
            const double *h0 = H + t * step, *h1 = H + least(t + 1, k - 1) * step, *h2 = H + least(t + 2, k - 1) * step;
            const double *h3 = H + least(t + 3, k - 1) * step;
            double a0 = 0.0, a1 = 0.0, a2 = 0.0, a3 = 0.0, b0 = 0.0, b1 = 0.0, b2 = 0.0, b3 = 0.0;
            SUMS(a0, a1, a2, a3, b0, b1, b2, b3)
            for (Int e = 0; e < count; e++) {
                a0 += x[e] * h0[e], a1 += x[e] * h1[e], a2 += x[e] * h2[e], a3 += x[e] * h3[e];
                b0 += y[e] * h0[e], b1 += y[e] * h1[e], b2 += y[e] * h2[e], b3 += y[e] * h3[e];
            }
            double of_own[4] = {a0, a1, a2, a3}, of_other[4] = {b0, b1, b2, b3};
            for (Int q = 0; q < 4 && t + q <= second; q++) {
                if (t + q <= s) G[s * G_step + t + q] = G[(t + q) * G_step + s] = of_own[q];
                G[second * G_step + t + q] = G[(t + q) * G_step + second] = of_other[q];
            }
        }
    }
    for (Int t = 0; t < k; t++) G[t * G_step + t] += l2;
}

/* All coordinates of one row together, once its sweeps are done; compiled_newton.py says how far. */
static void together_of_row(Int k, Int count, const double *restrict x, const double *H, Int step, const double *added,
                            double l2, double *w, double *restrict fitted, double *restrict curved,
                            double *restrict room, Int room_step, double *G, Int G_step, double *restrict small,
                            Int small_step) {
    double *slope = small, *first = small + small_step, *change = small + 2 * small_step;
    if (hopeless(count, x, fitted)) return; /* what no component reaches has no curvature */
    LANES
    for (Int e = 0; e < count; e++) {
        double over = 1.0 / fitted[e], share = x[e] * over;
        room[e] = share;
        curved[e] = share * over;
    }
    times(k, count, H, step, room, first);
    for (Int t = 0; t < k; t++) {
        slope[t] = first[t] = added[t] + l2 * w[t] - first[t];
        change[t] = 0.0;
    }
    curves_of_row(k, count, H, step, curved, l2, room, room_step, G, G_step);
    for (Int round = 0; round < ROUNDS; round++)
        for (Int t = 0; t < k; t++) {
            const double *restrict g = G + t * G_step;
            if (!(g[t] > 0.0)) continue;
            double by = larger(change[t] - slope[t] / g[t], -SAFE_STEP * w[t]) - change[t];
            change[t] += by;
            LANES
            for (Int s = 0; s < k; s++) slope[s] += by * g[s];
        }
    double down = 0.0, curve = 0.0;
    for (Int t = 0; t < k; t++) {
        down -= first[t] * change[t];
        curve += (slope[t] - first[t]) * change[t];
    }
    if (!(down > 0.0)) return;
    double share = down < curve ? down / curve : 1.0;
    for (Int t = 0; t < k; t++) {
        const double *restrict h = H + t * step;
        double by = share * change[t];
        w[t] = larger(w[t] + by, 0.0);
        if (by == 0.0) continue;
        LANES
        for (Int e = 0; e < count; e++) fitted[e] += by * h[e];
    }
    LANES
    for (Int e = 0; e < count; e++) fitted[e] = larger(fitted[e], TINY);
}

/* Sweeps over the coordinates of one row; gives the loss, if it is wanted. What one changes of the fit is written down
   while the next looks at it: a coordinate costs one pass with one division an entry, and one without where nothing
   changed. `rows` (4, count) and `small` (3, k) are room. */
INLINE double descend(Int k, Int count, const double *x, const double *H, Int step, const double *added, double l2,
                      Int sweeps, int jointly, int with_loss, double *w, double *rows, Int rows_step, double *G,
                      Int G_step, double *small, Int small_step) {
    double *fitted = rows, *inverse = rows + rows_step;
    fit(k, count, H, step, w, fitted);
    if (hopeless(count, x, fitted)) {
        lift(k, sum(count, x), added, w);
        fit(k, count, H, step, w, fitted);
    }
    double steepest = -__builtin_inf(); /* least x above zero, with a minus */
    LARGEST(steepest)
    for (Int e = 0; e < count; e++) steepest = larger(steepest, x[e] > 0.0 ? -x[e] : -__builtin_inf());
    double change = 0.0, taken, curve;
    Int before = 0;
    for (Int sweep = 0; sweep < sweeps; sweep++)
        for (Int t = 0; t < k; t++) {
            const double *h = H + t * step;
            if (change != 0.0 || (sweep == 0 && t == 0))
                moved_sums(count, x, H + before * step, change, h, fitted, inverse, &taken, &curve);
            else
                sums(count, x, h, inverse, &taken, &curve);
            change = newton(w[t], added[t] - taken + l2 * w[t], curve + l2, added[t], -steepest);
            before = t;
            w[t] = larger(w[t] + change, 0.0);
        }
    if (jointly) {
        const double *restrict h = H + before * step;
        double *restrict now = fitted;
        LANES
        for (Int e = 0; e < count; e++) now[e] = larger(now[e] + change * h[e], TINY);
        change = 0.0;
        together_of_row(k, count, x, H, step, added, l2, w, fitted, inverse, rows + 2 * rows_step, rows_step, G, G_step,
                        small, small_step);
    }
    return with_loss ? loss(count, x, H + before * step, change, fitted) : 0.0;
}

#endif
