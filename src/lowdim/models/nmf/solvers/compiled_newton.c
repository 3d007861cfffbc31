/* Scalar Newton steps for the Kullback–Leibler divergence. See compiled_newton.py. */

#ifndef INDEX
#include "models/nmf/solvers/newton_steps.h"

#define SIDE 16            /* samples side by side */

KERNEL(void)
lowdim_newton_dense_rows(Int n, Int p, Int k, const double *X, Int X_step, const double *W, Int W_step, const double *H,
                         Int H_step, const double *added, double l2, Int sweeps, Int jointly, Int with_losses,
                         double *out, Int out_step, double *losses, double *rows, Int rows_step, double *G, Int G_step,
                         double *small, Int small_step) {
    for (Int i = 0; i < n; i++) {
        double *w = out + i * out_step;
        for (Int t = 0; t < k; t++) w[t] = W[i * W_step + t];
        losses[i] = descend(k, p, X + i * X_step, H, H_step, added, l2, sweeps, jointly != 0, with_losses != 0, w, rows,
                            rows_step, G, G_step, small, small_step);
    }
}

/* out (rows, SIDE), at most three of them, ← F x for x (count, SIDE) and rows of F that lie `apart`, their numbers
   `step`: six vectors of the widest kind stay in registers, as many as their additions wait for. */
BY_ITSELF void three_side(Int count, const double *restrict x, Int rows, const double *F, Int apart, Int step,
                        double *restrict out) {
    const double *f0 = F, *f1 = F + least(1, rows - 1) * apart, *f2 = F + least(2, rows - 1) * apart;
    double a[EIGHT], b[EIGHT], c[EIGHT], u[EIGHT], v[EIGHT], w[EIGHT];
    EACH a[e] = b[e] = c[e] = u[e] = v[e] = w[e] = 0.0;
    for (Int j = 0; j < count; j++) {
        const double *restrict y = x + j * SIDE, *restrict z = y + EIGHT;
        double by = f0[j * step], then = f1[j * step], last = f2[j * step];
        EACH a[e] += by * y[e], b[e] += then * y[e], c[e] += last * y[e];
        EACH u[e] += by * z[e], v[e] += then * z[e], w[e] += last * z[e];
    }
    EACH out[e] = a[e], out[EIGHT + e] = u[e];
    if (rows > 1) EACH out[SIDE + e] = b[e], out[SIDE + EIGHT + e] = v[e];
    if (rows > 2) EACH out[2 * SIDE + e] = c[e], out[2 * SIDE + EIGHT + e] = w[e];
}

/* fitted (p, SIDE) ← H w of samples side by side, w (k, SIDE). */
static void fit_side(Int k, Int p, const double *restrict H, Int step, const double *restrict w,
                     double *restrict fitted) {
    for (Int e = 0; e < p; e += 3) three_side(k, w, least(3, p - e), H + e, 1, step, fitted + e * SIDE);
    LANES
    for (Int c = 0; c < p * SIDE; c++) fitted[c] = larger(fitted[c], TINY);
}

/* `moved_sums` of samples side by side, two entries at a time. */
static void moved_side(Int p, const double *restrict X, Int X_step, const double *restrict moved,
                       const double *restrict change, const double *restrict h, double *restrict fitted,
                       double *restrict taken, double *restrict curve) {
    Int e = 0;
    for (Int c = 0; c < SIDE; c++) taken[c] = curve[c] = 0.0;
    for (; e + 2 <= p; e += 2) {
        const double *restrict x = X + e * X_step, *restrict y = x + X_step;
        double *restrict f = fitted + e * SIDE, *restrict g = f + SIDE;
        double m0 = moved[e], m1 = moved[e + 1], h0 = h[e], h1 = h[e + 1];
        LANES
        for (Int c = 0; c < SIDE; c++) {
            double now = larger(f[c] + change[c] * m0, TINY), then = larger(g[c] + change[c] * m1, TINY);
            double both = 1.0 / (now * then), share = h0 * (both * then), other = h1 * (both * now);
            f[c] = now, g[c] = then;
            double part = x[c] * share, rest = y[c] * other;
            taken[c] += part + rest;
            curve[c] += part * share + rest * other;
        }
    }
    for (; e < p; e++) {
        const double *restrict x = X + e * X_step;
        double *restrict f = fitted + e * SIDE, m = moved[e], g = h[e];
        LANES
        for (Int c = 0; c < SIDE; c++) {
            double now = larger(f[c] + change[c] * m, TINY), share = g / now, part = x[c] * share;
            f[c] = now;
            taken[c] += part;
            curve[c] += part * share;
        }
    }
}

/* G (k (k + 1) / 2, SIDE), row after row of lower triangles: H diag(curved) Hᵀ + l2 of samples side by side; `room`
   (p, SIDE). */
static void curves_side(Int p, Int k, const double *H, Int step, const double *restrict curved, double l2,
                        double *restrict room, double *restrict G) {
    for (Int s = 0; s < k; s++) {
        const double *restrict own = H + s * step;
        double *restrict row = G + s * (s + 1) / 2 * SIDE;
        for (Int j = 0; j < p; j++) {
            const double h = own[j], *restrict from = curved + j * SIDE;
            double *restrict to = room + j * SIDE;
            EACH to[e] = from[e] * h;
            EACH to[EIGHT + e] = from[EIGHT + e] * h;
        }
        for (Int t = 0; t <= s; t += 3) three_side(p, room, least(3, s + 1 - t), H + t * step, step, 1, row + t * SIDE);
        for (Int c = 0; c < SIDE; c++) row[s * SIDE + c] += l2;
    }
}

/* `together_of_row` of samples side by side; room (2, p, SIDE) and small (3, k, SIDE). */
static void together_side(Int p, Int k, const double *restrict X, Int X_step, const double *H, Int step,
                          const double *added, double l2, double *restrict w, double *restrict fitted,
                          double *restrict room, double *restrict G, double *restrict small) {
    double *restrict slope = small, *restrict first = small + k * SIDE, *restrict change = first + k * SIDE;
    double *restrict curved = room + p * SIDE;
    _Alignas(64) double worst[SIDE], down[SIDE], curve[SIDE], by[SIDE], share[SIDE];
    for (Int c = 0; c < SIDE; c++) worst[c] = down[c] = curve[c] = 0.0;
    for (Int e = 0; e < p; e++) {
        const double *restrict x = X + e * X_step, *restrict f = fitted + e * SIDE;
        double *restrict a = room + e * SIDE, *restrict b = curved + e * SIDE;
        LANES
        for (Int c = 0; c < SIDE; c++) {
            double over = 1.0 / f[c], part = x[c] * over;
            int lost = (x[c] > 0.0) & (f[c] <= HOPELESS * x[c]);
            worst[c] = lost ? 1.0 : worst[c];
            a[c] = part;
            b[c] = part * over;
        }
    }
    for (Int t = 0; t < k; t += 3) three_side(p, room, least(3, k - t), H + t * step, step, 1, first + t * SIDE);
    for (Int t = 0; t < k; t++) {
        LANES
        for (Int c = 0; c < SIDE; c++) {
            Int at = t * SIDE + c;
            slope[at] = first[at] = added[t] + l2 * w[at] - first[at];
            change[at] = 0.0;
        }
    }
    curves_side(p, k, H, step, curved, l2, room, G);
    for (Int round = 0; round < ROUNDS; round++)
        for (Int t = 0; t < k; t++) {
            const double *restrict g = G + t * (t + 1) / 2 * SIDE;
            LANES
            for (Int c = 0; c < SIDE; c++) {
                Int at = t * SIDE + c;
                double own = g[t * SIDE + c], next = change[at] - slope[at] / (own > 0.0 ? own : 1.0);
                by[c] = own > 0.0 ? larger(next, -SAFE_STEP * w[at]) - change[at] : 0.0;
                change[at] += by[c];
            }
            for (Int s = 0; s < k; s++) {
                const double *restrict from = s <= t ? g + s * SIDE : G + (s * (s + 1) / 2 + t) * SIDE;
                double *restrict to = slope + s * SIDE;
                LANES
                for (Int c = 0; c < SIDE; c++) to[c] += by[c] * from[c];
            }
        }
    for (Int t = 0; t < k * SIDE; t += SIDE) {
        LANES
        for (Int c = 0; c < SIDE; c++) {
            down[c] -= first[t + c] * change[t + c];
            curve[c] += (slope[t + c] - first[t + c]) * change[t + c];
        }
    }
    for (Int c = 0; c < SIDE; c++) {
        share[c] = down[c] < curve[c] ? down[c] / curve[c] : 1.0;
        if (!(down[c] > 0.0) || worst[c] > 0.0) share[c] = 0.0;
    }
    for (Int t = 0; t < k; t++)
        for (Int c = 0; c < SIDE; c++) {
            Int at = t * SIDE + c;
            if (share[c] > 0.0) w[at] = larger(w[at] + share[c] * change[at], 0.0);
        }
    fit_side(k, p, H, step, w, fitted);
}

/* Samples side by side, whose rows are columns of Y (p, n), and short: a sum along so few entries would wait for each
   of its steps. */
KERNEL(void)
lowdim_newton_dense_columns(Int p, Int n, Int k, Int pside, Int kside, Int gside, const double *Y, Int Y_step,
                            const double *W, Int W_step, const double *H, Int H_step, const double *added, double l2,
                            Int sweeps, Int jointly, Int with_losses, double *out, Int out_step, double *losses,
                            double *fitted, double *small, double *G) {
    (void)gside;
    double *numbers = fitted + p * SIDE, *room = numbers + p * SIDE, *w = small + 3 * k * SIDE;
    (void)pside, (void)kside;
    for (Int start = 0; start < n; start += SIDE) {
        _Alignas(64) double change[SIDE], taken[SIDE], curve[SIDE], smallest[SIDE], worst[SIDE], total[SIDE];
        Int width = least(SIDE, n - start), step = Y_step;
        const double *X = Y + start;
        if (width < SIDE) { /* the last are copied, with zeros behind them */
            for (Int e = 0; e < p; e++)
                for (Int c = 0; c < SIDE; c++) numbers[e * SIDE + c] = c < width ? X[e * Y_step + c] : 0.0;
            X = numbers, step = SIDE;
        }
        for (Int t = 0; t < k; t++)
            for (Int c = 0; c < SIDE; c++) w[t * SIDE + c] = c < width ? W[(start + c) * W_step + t] : 0.0;
        fit_side(k, p, H, H_step, w, fitted);
        for (Int c = 0; c < SIDE; c++) change[c] = worst[c] = total[c] = 0.0, smallest[c] = __builtin_inf();
        for (Int e = 0; e < p; e++) {
            const double *restrict x = X + e * step, *restrict f = fitted + e * SIDE;
            LANES
            for (Int c = 0; c < SIDE; c++) {
                int there = x[c] > 0.0, lost = there & (f[c] <= HOPELESS * x[c]);
                worst[c] = lost ? 1.0 : worst[c];
                smallest[c] = smaller(smallest[c], there ? x[c] : __builtin_inf());
                total[c] += x[c];
            }
        }
        int any = 0;
        for (Int c = 0; c < SIDE; c++) any |= worst[c] > 0.0;
        if (any) {
            for (Int t = 0; t < k; t++)
                for (Int c = 0; c < SIDE; c++)
                    if (worst[c] > 0.0 && added[t] > 0.0)
                        w[t * SIDE + c] += 0.01 * total[c] / ((double)k * added[t]);
            fit_side(k, p, H, H_step, w, fitted);
        }
        Int before = 0;
        for (Int sweep = 0; sweep < sweeps; sweep++)
            for (Int t = 0; t < k; t++) {
                double *restrict at = w + t * SIDE, own = added[t];
                moved_side(p, X, step, H + before * H_step, change, H + t * H_step, fitted, taken, curve);
                LANES
                for (Int c = 0; c < SIDE; c++) {
                    double bend = curve[c] + l2, slope = own - taken[c] + l2 * at[c];
                    double by = larger(-slope / (bend > 0.0 ? bend : 1.0), -at[c]);
                    double length = root(larger(bend, 0.0) / smallest[c]) * -by;
                    by = by / (length > SAFE_STEP ? 1.0 + length : 1.0);
                    by = bend <= 0.0 ? (own > 0.0 ? -at[c] : 0.0) : by;
                    change[c] = by;
                    at[c] = larger(at[c] + by, 0.0);
                }
                before = t;
            }
        if (jointly) {
            fit_side(k, p, H, H_step, w, fitted);
            for (Int c = 0; c < SIDE; c++) change[c] = 0.0;
            together_side(p, k, X, step, H, H_step, added, l2, w, fitted, room, G, small);
        }
        for (Int c = 0; c < SIDE; c++) total[c] = 0.0;
        for (Int e = 0; with_losses && e < p; e++) {
            const double *restrict x = X + e * step, *restrict f = fitted + e * SIDE;
            double m = H[before * H_step + e];
            LANES
            for (Int c = 0; c < SIDE; c++) {
                double ratio = x[c] / larger(f[c] + change[c] * m, TINY);
                total[c] += x[c] * ln(x[c] > 0.0 ? ratio : 1.0) - x[c];
            }
        }
        for (Int c = 0; c < width; c++) {
            losses[start + c] = total[c];
            for (Int t = 0; t < k; t++) out[(start + c) * out_step + t] = w[t * SIDE + c];
        }
    }
}

/* fitted[e] ← x / fit, gives Σ x log(x / fit) − x. */
static double shares(Int count, const double *restrict x, double *restrict fitted) {
    double lost = 0.0;
    SUMS(lost)
    for (Int e = 0; e < count; e++) {
        double share = x[e] / fitted[e];
        fitted[e] = share;
        lost += x[e] * ln(x[e] > 0.0 ? share : 1.0) - x[e];
    }
    return lost;
}

/* One coordinate of one row: w[t], what is fitted, and one over it, so that only a change costs divisions.

   A step down is cut where something fitted would fall by more than SAFE_STEP. Before that, with z the share by which
   each falls, −log(1 − z) ≤ z + z² makes a share α ≤ 1 of Newton's step change the objective by at most
   −α (1 − α) curve · step²: it never rises. Hien & Gillis bound all z by the smallest count; taking each as it is
   cuts less, and cuts no more where weights are small. A step up needs none: the slope is concave. */
static void newton_weighted(Int count, const double *restrict mx, const double *restrict h, double *restrict fitted,
                            double *restrict inverse, double *w, double added, double l2, double lost) {
    double taken, curve;
    sums(count, mx, h, inverse, &taken, &curve);
    curve += l2;
    if (curve <= 0.0) { /* no count depends on it: what is fitted to zeros only costs, and what is not known does not */
        if (added > lost) *w = 0.0;
        return;
    }
    double change = larger(*w - (added + l2 * *w - taken) / curve, 0.0) - *w;
    if (change < 0.0) {
        double steepest = 0.0;
        LARGEST(steepest)
        for (Int e = 0; e < count; e++) steepest = larger(steepest, h[e] * inverse[e]);
        if (steepest > 0.0) change = larger(change, -SAFE_STEP / steepest);
    }
    if (change == 0.0) return;
    *w += change;
    LANES
    for (Int e = 0; e < count; e++) {
        fitted[e] = larger(fitted[e] + change * h[e], TINY);
        inverse[e] = 1.0 / fitted[e];
    }
}

/* fitted ← wH; before that, where a count is fitted by next to nothing, from where Newton's steps would take for ever,
   every component gets a hundredth of an equal share of the row. */
static void lift_where_hopeless(Int k, Int count, const double *H, Int step, const double *x, const double *mx,
                                const double *added, double *w, double *fitted) {
    fit(k, count, H, step, w, fitted);
    if (!hopeless(count, x, fitted)) return;
    int reached = 0; /* what no component reaches is lost anyway */
    for (Int e = 0; e < count && !reached; e++)
        if (fitted[e] <= HOPELESS * x[e])
            for (Int t = 0; t < k; t++) reached |= H[t * step + e] > 0.0;
    if (!reached) return;
    lift(k, sum(count, mx), added, w);
    fit(k, count, H, step, w, fitted);
}

/* Σ m (x log(x / wh) − x), which loses no digits of close fits. */
static double weighted_loss(Int count, const double *restrict x, const double *restrict m,
                            const double *restrict fitted) {
    double total = 0.0;
    SUMS(total)
    for (Int e = 0; e < count; e++) {
        double d = (fitted[e] - x[e]) / x[e], ratio = fitted[e] / x[e], u = 1.0 + d, off = ((u - 1.0) - d) / u;
        double logarithm = ln(d > -0.5 ? u : ratio) - (d > -0.5 ? off : 0.0);
        total += m[e] * (x[e] * (d - logarithm) - fitted[e]);
    }
    return total;
}

/* What is fitted, anew, and the slope; the KKT residual. */
static double look(Int k, Int count, const double *H, Int step, const double *restrict mx, const double *added,
                   double l1, double l2, const double *w, double *restrict fitted, double *restrict inverse,
                   double *slope, double *on) {
    fit(k, count, H, step, w, fitted);
    LANES
    for (Int e = 0; e < count; e++) inverse[e] = 1.0 / fitted[e];
    for (Int t = 0; t < k; t++) {
        const double *restrict h = H + t * step;
        double taken = 0.0;
        SUMS(taken)
        for (Int e = 0; e < count; e++) taken += mx[e] * inverse[e] * h[e];
        on[t] = added[t] + l1 + l2 * w[t];
        slope[t] = on[t] - taken;
    }
    return residual(k, w, slope, on);
}

/* Newton's step of all numbers above zero, cut as that of one is: nothing fitted falls by more than SAFE_STEP. Gives
   whether none met zero. */
static int newton_together(Int k, Int count, const double *H, Int step, const double *restrict mx, double l2,
                           const double *slope, const double *restrict inverse, double *restrict room, double *w,
                           double *curve, Int curve_step, double *L, double *change) {
    for (Int s = 0; s < k; s++) {
        const double *restrict g = H + s * step;
        if (w[s] > 0.0) {
            LANES
            for (Int e = 0; e < count; e++) room[e] = mx[e] * inverse[e] * inverse[e] * g[e];
        }
        for (Int t = 0; t <= s; t++) {
            const double *restrict h = H + t * step;
            double total = 0.0;
            if (w[s] > 0.0 && w[t] > 0.0) {
                SUMS(total)
                for (Int e = 0; e < count; e++) total += room[e] * h[e];
            }
            curve[s * curve_step + t] = total;
        }
    }
    together(k, curve, curve_step, l2, slope, w, L, change);
    for (Int e = 0; e < count; e++) room[e] = 0.0;
    for (Int t = 0; t < k; t++) {
        const double *restrict h = H + t * step;
        if (change[t] == 0.0) continue;
        LANES
        for (Int e = 0; e < count; e++) room[e] -= change[t] * h[e];
    }
    double steepest = 0.0;
    LARGEST(steepest)
    for (Int e = 0; e < count; e++) steepest = larger(steepest, room[e] * inverse[e]);
    double share = steepest <= SAFE_STEP ? 1.0 : SAFE_STEP / steepest;
    return move(k, w, change, share) >= share;
}

#define INDEX int64_t
#define NAMED(name) name##_i64
#include "compiled_newton.c"
#undef INDEX
#undef NAMED
#define INDEX int32_t
#define NAMED(name) name##_i32
#include "compiled_newton.c"
#else

#include "models/nmf/solvers/gather.h"

KERNEL(void)
NAMED(lowdim_newton_rows)(Int n1, Int stored, Int n, Int k, Int p, Int longest, const INDEX *starts,
                          const INDEX *places, const double *values, Int first, Int last, const double *W, Int W_step,
                          const double *Ht, Int Ht_step, const double *added, double l2, Int sweeps, Int jointly,
                          Int with_losses, double *out, Int out_step, double *losses, double *H, Int H_step,
                          double *rows, Int rows_step, double *G, Int G_step, double *small, Int small_step) {
    (void)n1, (void)stored, (void)n, (void)p, (void)longest;
    double *x = rows + 4 * rows_step;
    for (Int i = first; i < last; i++) {
        Int begin = starts[i], count = starts[i + 1] - begin;
        double *w = out + i * out_step;
        for (Int t = 0; t < k; t++) w[t] = W[i * W_step + t];
        NAMED(gather)(k, count, places + begin, Ht, Ht_step, H, H_step);
        /* whole lines of the cache: `gather` wrote the last entry again, and zeros of x make nothing of it */
        Int whole = (count + 7) & ~(Int)7;
        for (Int e = 0; e < count; e++) x[e] = values[begin + e];
        for (Int e = count; e < whole; e++) x[e] = 0.0;
        losses[i] = descend(k, whole, x, H, H_step, added, l2, sweeps, jointly != 0, with_losses != 0, w, rows,
                            rows_step, G, G_step, small, small_step);
    }
}

KERNEL(void)
NAMED(lowdim_taken_rows)(Int n1, Int stored, Int n, Int k, Int p, Int longest, const INDEX *starts, const INDEX *places,
                         const double *values, Int first, Int last, const double *W, Int W_step, const double *Ht,
                         Int Ht_step, double *out, Int out_step, double *losses, double *H, Int H_step, double *rows,
                         Int rows_step) {
    (void)n1, (void)stored, (void)n, (void)p, (void)longest, (void)rows_step;
    for (Int i = first; i < last; i++) {
        Int begin = starts[i], count = starts[i + 1] - begin;
        NAMED(gather)(k, count, places + begin, Ht, Ht_step, H, H_step);
        fit(k, count, H, H_step, W + i * W_step, rows);
        losses[i] = shares(count, values + begin, rows);
        times(k, count, H, H_step, rows, out + i * out_step);
    }
}

/* Of one row: H (k, positive), x, m and m x where m x > 0, whose number is given back, and added = Σ m h of all. */
static Int NAMED(gather_positive)(Int k, Int count, const double *values, const double *weights, const INDEX *places,
                                  const double *Ht, Int Ht_step, const double *whole, double unstored, double *H,
                                  Int step, double *x, double *m, double *mx, double *restrict added) {
    Int there = 0;
    for (Int t = 0; t < k; t++) added[t] = unstored * whole[t];
    for (Int e = 0; e < count; e++) {
        const double *restrict h = Ht + (Int)places[e] * Ht_step;
        double net = weights[e] - unstored;
        if (net != 0.0) {
            LANES
            for (Int t = 0; t < k; t++) added[t] += net * h[t];
        }
        if (weights[e] * values[e] > 0.0) {
            x[there] = values[e], m[there] = weights[e], mx[there] = weights[e] * values[e];
            for (Int t = 0; t < k; t++) H[t * step + there] = h[t];
            there++;
        }
    }
    for (Int t = 0; t < k; t++) added[t] = larger(added[t], 0.0);
    return there;
}

KERNEL(void)
NAMED(lowdim_newton_weighted_rows)(Int n1, Int stored, Int p, Int k, Int n, Int longest, const INDEX *starts,
                                   const INDEX *places, const double *values, const double *weights, double unstored,
                                   Int first, Int last, const double *Ht, Int Ht_step, const double *whole, double l1,
                                   double l2, const double *W, Int W_step, Int sweeps, double *out, Int out_step,
                                   double *losses, double *H, Int H_step, double *rows, Int rows_step, double *added) {
    (void)n1, (void)stored, (void)p, (void)n, (void)longest;
    double *fitted = rows, *inverse = rows + rows_step, *x = rows + 2 * rows_step, *m = rows + 3 * rows_step;
    double *mx = rows + 4 * rows_step;
    for (Int i = first; i < last; i++) {
        Int begin = starts[i];
        double *w = out + i * out_step, lost = 0.0;
        for (Int t = 0; t < k; t++) w[t] = W[i * W_step + t];
        Int count = NAMED(gather_positive)(k, starts[i + 1] - begin, values + begin, weights + begin, places + begin,
                                           Ht, Ht_step, whole, unstored, H, H_step, x, m, mx, added);
        lift_where_hopeless(k, count, H, H_step, x, mx, added, w, fitted);
        LANES
        for (Int e = 0; e < count; e++) inverse[e] = 1.0 / fitted[e];
        for (Int sweep = 0; sweep < sweeps; sweep++)
            for (Int t = 0; t < k; t++)
                newton_weighted(count, mx, H + t * H_step, fitted, inverse, w + t, added[t] + l1, l2,
                                ROUNDING * unstored * whole[t]);
        for (Int t = 0; t < k; t++) lost += w[t] * added[t];
        losses[i] = lost + weighted_loss(count, x, m, fitted);
    }
}

KERNEL(void)
NAMED(lowdim_newton_codes)(Int n1, Int stored, Int p, Int k, Int n, Int longest, const INDEX *starts,
                           const INDEX *places, const double *values, const double *weights, double unstored, Int first,
                           Int last, const double *Ht, Int Ht_step, const double *whole, double l1, double l2,
                           double tol, Int most, double *W, Int W_step, double *residuals, double *H, Int H_step,
                           double *rows, Int rows_step, double *curve, Int curve_step, double *L, Int L_step,
                           double *small, Int small_step) {
    (void)n1, (void)stored, (void)p, (void)n, (void)longest, (void)L_step;
    double *fitted = rows, *inverse = rows + rows_step, *x = rows + 2 * rows_step, *m = rows + 3 * rows_step;
    double *mx = rows + 4 * rows_step;
    double *added = small, *slope = small + small_step, *on = small + 2 * small_step, *change = small + 3 * small_step;
    for (Int i = first; i < last; i++) {
        Int begin = starts[i];
        double *w = W + i * W_step;
        Int count = NAMED(gather_positive)(k, starts[i + 1] - begin, values + begin, weights + begin, places + begin,
                                           Ht, Ht_step, whole, unstored, H, H_step, x, m, mx, added);
        for (Int t = 0; t < k; t++)
            if (added[t] <= ROUNDING * unstored * whole[t]) added[t] = w[t] = 0.0; /* nothing known depends on it */
        lift_where_hopeless(k, count, H, H_step, x, mx, added, w, fitted);
        double left = look(k, count, H, H_step, mx, added, l1, l2, w, fitted, inverse, slope, on);
        for (Int sweep = 0; sweep < most && !(left <= tol); sweep++) {
            for (Int t = 0; t < k; t++)
                newton_weighted(count, mx, H + t * H_step, fitted, inverse, w + t, added[t] + l1, l2,
                                ROUNDING * unstored * whole[t]);
            left = look(k, count, H, H_step, mx, added, l1, l2, w, fitted, inverse, slope, on);
            for (Int round = 0; sweep % TOGETHER == TOGETHER - 1 && round < k; round++) {
                int inside = left <= tol || newton_together(k, count, H, H_step, mx, l2, slope, inverse, m, w,
                                                            curve, curve_step, L, change);
                left = look(k, count, H, H_step, mx, added, l1, l2, w, fitted, inverse, slope, on);
                if (inside) break;
            }
        }
        residuals[i] = left;
    }
}

#endif
