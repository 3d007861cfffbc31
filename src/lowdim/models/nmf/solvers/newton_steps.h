/* Scalar Newton steps over the entries of one row. See compiled_newton.py. */

#ifndef LOWDIM_NEWTON_STEPS_H
#define LOWDIM_NEWTON_STEPS_H

#include "models/nmf/solvers/coordinates.h"

#define SAFE_STEP 0.683802 /* as textbook.py has it */
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

/* Sweeps over the coordinates of one row; gives the loss, if it is wanted. What one changes of the fit is written down
   while the next looks at it: a coordinate costs one pass with one division an entry, and one without where nothing
   changed. */
INLINE double descend(Int k, Int count, const double *x, const double *H, Int step, const double *added, double l2,
                      Int sweeps, int with_loss, double *w, double *fitted, double *inverse) {
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
    return with_loss ? loss(count, x, H + before * step, change, fitted) : 0.0;
}

#endif
