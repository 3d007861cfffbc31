/* Steps of non-negative least squares. See compiled_least_squares.py. */

#ifndef INDEX
#include "models/nmf/solvers/coordinates.h"

#define WIDTH 64 /* samples at a time */

/* first, second ← Σ g[s] lanes[s] for two rows g of G, four rows of lanes at a time, at `width` samples. */
static void add_rows(Int k, Int width, const double *restrict g, const double *restrict h, const double *restrict lanes,
                     double *restrict first, double *restrict second) {
    Int s = 0;
    for (Int c = 0; c < width; c++) first[c] = second[c] = 0.0;
    for (; s + 4 <= k; s += 4) {
        const double *x = lanes + s * WIDTH, *y = x + WIDTH, *z = y + WIDTH, *v = z + WIDTH;
        double a0 = g[s], a1 = g[s + 1], a2 = g[s + 2], a3 = g[s + 3];
        double b0 = h[s], b1 = h[s + 1], b2 = h[s + 2], b3 = h[s + 3];
        LANES
        for (Int c = 0; c < width; c++) {
            first[c] += a0 * x[c] + a1 * y[c] + a2 * z[c] + a3 * v[c];
            second[c] += b0 * x[c] + b1 * y[c] + b2 * z[c] + b3 * v[c];
        }
    }
    for (; s < k; s++) {
        const double *x = lanes + s * WIDTH;
        double a = g[s], b = h[s];
        LANES
        for (Int c = 0; c < width; c++) {
            first[c] += a * x[c];
            second[c] += b * x[c];
        }
    }
}

/* One row to its best given the others, whose sum is `total`; what it changed, and the sum of its square. */
INLINE double to_the_best(Int width, double curve, double l1, double l2, const double *restrict A,
                          const double *restrict total, double *restrict x, double *restrict change) {
    double moved = 0.0;
    if (!(curve <= 0.0)) {
        double over = 1.0 / curve;
        SUMS(moved)
        for (Int c = 0; c < width; c++) {
            double after = larger(x[c] + (A[c] - l1 - total[c] - l2 * x[c]) * over, 0.0);
            change[c] = after - x[c];
            moved += change[c] * change[c];
            x[c] = after;
        }
        return moved;
    }
    for (Int c = 0; c < width; c++) change[c] = l1 > 0.0 ? -x[c] : 0.0;
    for (Int c = 0; c < width; c++) x[c] += change[c]; /* nothing depends on it: what is penalised only costs */
    return 0.0;
}

/* Sweeps over k rows of `width` samples, until they change little: out ← F, each row at its best given the others. */
INLINE void sweep_samples(Int k, Int width, const double *F, Int F_step, const double *A, Int A_step, const double *G,
                          Int G_step, double l1, double l2, Int most, double still, double *out, Int out_step,
                          double *lanes) {
    _Alignas(64) double first[WIDTH], second[WIDTH], change[WIDTH];
    for (Int t = 0; t < k; t++) {
        const double *restrict from = F + t * F_step;
        double *restrict to = lanes + t * WIDTH;
        for (Int c = 0; c < width; c++) to[c] = from[c];
    }
    double at_first = 0.0;
    for (Int sweep = 0; sweep < most; sweep++) {
        double moved = 0.0;
        for (Int t = 0; t < k; t += 2) {
            Int next = least(t + 1, k - 1);
            const double *g = G + t * G_step, *h = G + next * G_step, *a = A + t * A_step;
            double *x = lanes + t * WIDTH;
            add_rows(k, width, g, h, lanes, first, second);
            moved += to_the_best(width, g[t] + l2, l1, l2, a, first, x, change);
            if (next == t) break;
            double back = h[t];
            LANES
            for (Int c = 0; c < width; c++) second[c] += back * change[c];
            moved += to_the_best(width, h[next] + l2, l1, l2, a + A_step, second, x + WIDTH, change);
        }
        at_first = sweep ? at_first : moved;
        if (moved <= still * still * at_first) break;
    }
    for (Int t = 0; t < k; t++) {
        const double *restrict from = lanes + t * WIDTH;
        double *restrict to = out + t * out_step;
        for (Int c = 0; c < width; c++) to[c] = from[c];
    }
}

KERNEL(void)
lowdim_sweep(Int k, Int m, const double *F, Int F_step, const double *A, Int A_step, const double *G, Int G_step,
             double l1, double l2, Int most, double still, double *out, Int out_step, double *lanes, Int lanes_step) {
    (void)lanes_step;
    for (Int start = 0; start < m; start += WIDTH)
        sweep_samples(k, least(WIDTH, m - start), F + start, F_step, A + start, A_step, G, G_step, l1, l2, most, still,
                      out + start, out_step, lanes);
}

/* z ← max(x + ahead (x − y), 0). */
INLINE void go_beyond(Int count, const double *restrict x, const double *restrict y, double ahead, double *restrict z) {
    LANES
    for (Int c = 0; c < count; c++) z[c] = larger(x[c] + ahead * (x[c] - y[c]), 0.0);
}

KERNEL(void)
lowdim_extrapolate(Int k, Int m, const double *after, Int after_step, const double *before, Int before_step,
                   double ahead, double *out, Int out_step) {
    for (Int t = 0; t < k; t++)
        go_beyond(m, after + t * after_step, before + t * before_step, ahead, out + t * out_step);
}

/* Whole steps of small dense data, which lie in tiles of 64 samples, (p, 64) each, as factors do: zeros fill up what
   there is not. All fits into the near caches, and four sums at a time hide what each waits for. */

/* A (k, 64) ← H X of one tile. */
static void products_of_tile(Int k, Int p, const double *H, Int step, const double *X, double *A) {
    for (Int t = 0; t < k; t += 4) {
        Int t1 = least(t + 1, k - 1), t2 = least(t + 2, k - 1), t3 = least(t + 3, k - 1);
        const double *h0 = H + t * step, *h1 = H + t1 * step, *h2 = H + t2 * step, *h3 = H + t3 * step;
        for (Int start = 0; start < WIDTH; start += 2 * EIGHT) {
            double a0[EIGHT] = {0}, a1[EIGHT] = {0}, a2[EIGHT] = {0}, a3[EIGHT] = {0};
            double b0[EIGHT] = {0}, b1[EIGHT] = {0}, b2[EIGHT] = {0}, b3[EIGHT] = {0};
            for (Int j = 0; j < p; j++) {
                const double *x = X + j * WIDTH + start, *y = x + EIGHT;
                EACH a0[e] += h0[j] * x[e], a1[e] += h1[j] * x[e], a2[e] += h2[j] * x[e], a3[e] += h3[j] * x[e];
                EACH b0[e] += h0[j] * y[e], b1[e] += h1[j] * y[e], b2[e] += h2[j] * y[e], b3[e] += h3[j] * y[e];
            }
            double *to = A + start;
            EACH to[t * WIDTH + e] = a0[e], to[t1 * WIDTH + e] = a1[e], to[t2 * WIDTH + e] = a2[e],
                              to[t3 * WIDTH + e] = a3[e];
            to += EIGHT;
            EACH to[t * WIDTH + e] = b0[e], to[t1 * WIDTH + e] = b1[e], to[t2 * WIDTH + e] = b2[e],
                              to[t3 * WIDTH + e] = b3[e];
        }
    }
}

/* B (k, m) += Y Zᵀ of one tile, Y (k, 64) and Z (m, 64). */
static void add_dots(Int k, Int m, const double *Y, Int Y_step, const double *Z, Int Z_step, double *B, Int B_step) {
    for (Int t = 0; t < k; t += 4) {
        Int t1 = least(t + 1, k - 1), t2 = least(t + 2, k - 1), t3 = least(t + 3, k - 1), count = least(4, k - t);
        const double *y0 = Y + t * Y_step, *y1 = Y + t1 * Y_step, *y2 = Y + t2 * Y_step, *y3 = Y + t3 * Y_step;
        for (Int j = 0; j < m; j++) {
            const double *z = Z + j * Z_step;
            double sums[4], s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
            SUMS(s0, s1, s2, s3)
            for (Int c = 0; c < WIDTH; c++)
                s0 += y0[c] * z[c], s1 += y1[c] * z[c], s2 += y2[c] * z[c], s3 += y3[c] * z[c];
            sums[0] = s0, sums[1] = s1, sums[2] = s2, sums[3] = s3;
            for (Int i = 0; i < count; i++) B[(t + i) * B_step + j] += sums[i];
        }
    }
}

/* G (k, k) ← F Fᵀ of rows that are so long. */
static void gram_of(Int k, Int length, const double *F, Int step, double *G) {
    for (Int i = 0; i < k * k; i++) G[i] = 0.0;
    for (Int start = 0; start < length; start += WIDTH) add_dots(k, k, F + start, step, F + start, step, G, k);
}

/* What penalties add to the objective. */
static double weighed(Int k, Int length, const double *F, Int step, double l1, double l2) {
    double sum = 0.0, square = 0.0;
    if (l1 == 0.0 && l2 == 0.0) return 0.0;
    for (Int t = 0; t < k; t++) {
        const double *f = F + t * step;
        SUMS(sum, square)
        for (Int c = 0; c < length; c++) sum += f[c], square += f[c] * f[c];
    }
    return l1 * sum + 0.5 * l2 * square;
}

/* Steps of both factors, extrapolated, and looked at by their objective, until one raises it. */
KERNEL(void)
lowdim_hals_steps(Int tiles, Int p, Int k, Int wide, Int most, Int padded, const double *X, double *here, Int here_step,
                  double *there, Int there_step, double *costs, double *state, double growth, double ceiling_growth,
                  double square, double l1_W, double l2_W, double l1_H, double l2_H, Int sweeps, double still,
                  double *A, Int A_step, double *lanes, Int lanes_step, double *B, Int B_step, double *G, Int G_step,
                  double *inner, Int inner_step) {
    Int n = tiles * WIDTH, P = padded, accepted = 0, done = 0;
    (void)here_step, (void)there_step, (void)A_step, (void)lanes_step, (void)B_step, (void)G_step, (void)inner_step;
    for (; done < most; done++) {
        /* of `here` and `there` the one that was accepted last: W, Wy, H and Hy side by side, and what comes next */
        const double *old = accepted % 2 ? there : here;
        double *W = accepted % 2 ? here : there, *Wy = W + n, *H = Wy + n, *Hy = H + P;
        const double *old_Wy = old + n, *old_H = old_Wy + n, *old_Hy = old_H + P;
        double ahead = state[2] > 0.0 ? 0.0 : state[0];
        gram_of(k, P, old_Hy, wide, inner);
        for (Int i = 0; i < k * P; i++) B[i] = 0.0;
        for (Int tile = 0; tile < tiles; tile++) {
            const double *x = X + tile * p * WIDTH;
            Int at = tile * WIDTH;
            products_of_tile(k, p, old_Hy, wide, x, A);
            sweep_samples(k, WIDTH, old_Wy + at, wide, A, WIDTH, inner, k, l1_W, l2_W, sweeps, still, W + at, wide,
                          lanes);
            for (Int t = 0; t < k; t++)
                go_beyond(WIDTH, W + t * wide + at, old + t * wide + at, ahead, Wy + t * wide + at);
            add_dots(k, p, Wy + at, wide, x, WIDTH, B, P);
        }
        gram_of(k, n, Wy, wide, G);
        for (Int at = 0; at < P; at += WIDTH)
            sweep_samples(k, WIDTH, old_Hy + at, wide, B + at, P, G, k, l1_H, l2_H, sweeps, still, H + at, wide, lanes);
        gram_of(k, P, H, wide, inner);
        double across = 0.0, own = 0.0;
        for (Int t = 0; t < k; t++) {
            const double *b = B + t * P, *h = H + t * wide;
            SUMS(across)
            for (Int c = 0; c < P; c++) across += b[c] * h[c];
        }
        for (Int i = 0; i < k * k; i++) own += G[i] * inner[i];
        double cost = square - across + 0.5 * own + weighed(k, n, Wy, wide, l1_W, l2_W) +
                      weighed(k, P, H, wide, l1_H, l2_H);
        if (ahead > 0.0 && cost > state[3]) { /* whoever called takes it back */
            done++;
            break;
        }
        for (Int t = 0; t < k; t++) go_beyond(P, H + t * wide, old_H + t * wide, ahead, Hy + t * wide);
        state[0] = smaller(state[0] * growth, state[1]);
        state[1] = smaller(state[1] * ceiling_growth, 1.0);
        state[2] = 0.0;
        state[3] = costs[accepted++] = cost;
    }
    state[4] = (double)accepted, state[5] = (double)done;
}

/* Σ a b c. */
static double sum_of_three(Int count, const double *a, const double *b, const double *c) {
    double total = 0.0;
    SUMS(total)
    for (Int e = 0; e < count; e++) total += a[e] * b[e] * c[e];
    return total;
}

/* w[t] given all others; pull = (m − u) wh − m x at stored entries goes with it. `known` is the curvature that these
   say. */
static void to_its_best(Int k, Int count, const double *restrict h, const double *restrict net, double *restrict pull,
                        double known, double *restrict w, Int t, const double *restrict whole, double unstored,
                        double l1, double l2) {
    double slope = 0.0, rest = 0.0, curve = known + l2, of_zeros = 0.0;
    Int half = count / 16 * 8; /* two halves at a time: a chain of additions would wait for each */
    SUMS(slope, rest)
    for (Int e = 0; e < half; e++) {
        slope += pull[e] * h[e];
        rest += pull[e + half] * h[e + half];
    }
    SUMS(slope)
    for (Int e = 2 * half; e < count; e++) slope += pull[e] * h[e];
    slope += rest + l1 + l2 * w[t];
    if (unstored > 0.0) {
        SUMS(of_zeros)
        for (Int s = 0; s < k; s++) of_zeros += whole[s] * w[s];
        slope += unstored * of_zeros, curve += unstored * whole[t];
    }
    double change;
    if (curve <= ROUNDING * unstored * whole[t]) /* nothing that is known depends on it */
        change = l1 > 0.0 ? -w[t] : 0.0;
    else
        change = larger(w[t] - slope / curve, 0.0) - w[t];
    if (change == 0.0) return;
    w[t] += change;
    LANES
    for (Int e = 0; e < count; e++) pull[e] += change * net[e] * h[e];
}

/* wᵀ G w. */
static double quadratic(Int k, const double *G, Int step, const double *w) {
    double total = 0.0;
    for (Int s = 0; s < k; s++) {
        double sum = 0.0;
        const double *g = G + s * step;
        SUMS(sum)
        for (Int t = 0; t < k; t++) sum += g[t] * w[t];
        total += w[s] * sum;
    }
    return total;
}

/* slope, and what is added in it; the KKT residual. G is symmetric. */
static double look(Int k, const double *G, Int step, const double *a, double l1, double l2, const double *w,
                   double *restrict slope, double *restrict added) {
    for (Int t = 0; t < k; t++) added[t] = l1 + l2 * w[t];
    for (Int s = 0; s < k; s++) {
        const double *restrict g = G + s * step;
        double f = w[s];
        LANES
        for (Int t = 0; t < k; t++) added[t] += f * g[t];
    }
    for (Int t = 0; t < k; t++) slope[t] = added[t] - a[t];
    return residual(k, w, slope, added);
}

/* w ← the best for ½ wᵀ G w − aᵀ w and penalties; the KKT residual that is left. */
static double least_squares(Int k, const double *G, Int step, const double *a, double l1, double l2, double tol,
                            Int most, double *w, double *L, double *slope, double *added, double *change) {
    for (Int t = 0; t < k; t++)
        if (G[t * step + t] <= 0.0) w[t] = 0.0; /* nothing that is known depends on it */
    double left = look(k, G, step, a, l1, l2, w, slope, added);
    for (Int sweep = 0; sweep < most && !(left <= tol); sweep++) {
        for (Int t = 0; t < k; t++) {
            const double *g = G + t * step;
            if (!(g[t] > 0.0)) continue;
            double by = larger(w[t] - slope[t] / (g[t] + l2), 0.0) - w[t];
            if (by == 0.0) continue;
            w[t] += by;
            slope[t] += l2 * by;
            LANES
            for (Int s = 0; s < k; s++) slope[s] += by * g[s];
        }
        if (sweep % TOGETHER == TOGETHER - 1) /* all above zero; those that meet zero on the way stay there */
            for (Int round = 0; round < k; round++) {
                look(k, G, step, a, l1, l2, w, slope, added);
                together(k, G, step, l2, slope, w, L, change);
                if (move(k, w, change, 1.0) >= 1.0) break;
            }
        left = look(k, G, step, a, l1, l2, w, slope, added);
    }
    return left;
}

KERNEL(void)
lowdim_least_squares_codes(Int k, Int n, const double *G, Int G_step, const double *A, Int A_step, double l1, double l2,
                           double tol, Int most, double *W, Int W_step, double *residuals, double *L, Int L_step,
                           double *rows, Int rows_step) {
    (void)L_step;
    for (Int i = 0; i < n; i++)
        residuals[i] = least_squares(k, G, G_step, A + i * A_step, l1, l2, tol, most, W + i * W_step, L, rows,
                                     rows + rows_step, rows + 2 * rows_step);
}

#define INDEX int64_t
#define NAMED(name) name##_i64
#include "compiled_least_squares.c"
#undef INDEX
#undef NAMED
#define INDEX int32_t
#define NAMED(name) name##_i32
#include "compiled_least_squares.c"
#else

#include "models/nmf/solvers/gather.h"

KERNEL(void)
NAMED(lowdim_descend_weighted_rows)(Int n1, Int stored, Int p, Int k, Int n, Int longest, const INDEX *starts,
                                    const INDEX *places, const double *values, const double *weights, double unstored,
                                    Int first, Int last, const double *Ht, Int Ht_step, const double *whole,
                                    Int whole_step, double l1, double l2, const double *W, Int W_step, Int sweeps,
                                    double *out, Int out_step, double *losses, double *H, Int H_step, double *rows,
                                    Int rows_step, double *curves) {
    (void)n1, (void)stored, (void)p, (void)n, (void)longest;
    double *restrict fitted = rows, *restrict net = rows + rows_step, *restrict pull = rows + 2 * rows_step;
    for (Int i = first; i < last; i++) {
        Int begin = starts[i], count = starts[i + 1] - begin;
        const double *restrict x = values + begin, *restrict m = weights + begin;
        double *w = out + i * out_step;
        for (Int t = 0; t < k; t++) w[t] = W[i * W_step + t];
        NAMED(gather)(k, count, places + begin, Ht, Ht_step, H, H_step);
        fit(k, count, H, H_step, w, fitted);
        LANES
        for (Int e = 0; e < count; e++) {
            net[e] = m[e] - unstored;
            pull[e] = net[e] * fitted[e] - m[e] * x[e];
        }
        for (Int t = 0; t < k; t++) curves[t] = sum_of_three(count, net, H + t * H_step, H + t * H_step);
        for (Int sweep = 0; sweep < sweeps; sweep++)
            for (Int t = 0; t < k; t++)
                to_its_best(k, count, H + t * H_step, net, pull, curves[t], w, t, whole + t * whole_step, unstored, l1,
                            l2);
        fit(k, count, H, H_step, w, fitted);
        double lost = 0.0;
        SUMS(lost)
        for (Int e = 0; e < count; e++) {
            double apart = x[e] - fitted[e];
            lost += m[e] * apart * apart - unstored * fitted[e] * fitted[e];
        }
        losses[i] = 0.5 * (lost + unstored * quadratic(k, whole, whole_step, w));
    }
}

/* Each entry is met once, so that rows of H need not be gathered: four of them at a time. */
KERNEL(void)
NAMED(lowdim_gradient_rows)(Int n1, Int stored, Int n, Int k, Int p, const INDEX *starts, const INDEX *places,
                            const double *values, const double *weights, double unstored, Int first, Int last,
                            const double *W, Int W_step, const double *Ht, Int Ht_step, Int counts, double *taken,
                            Int taken_step, double *added, Int added_step, double *sums) {
    (void)n1, (void)stored, (void)n, (void)p;
    double *restrict on = sums;
    for (Int i = first; i < last; i++) {
        double *restrict off = taken + i * taken_step, *restrict total = added + i * added_step;
        for (Int t = 0; t < k; t++) off[t] = on[t] = 0.0;
        for (Int at = starts[i]; at < starts[i + 1]; at += 4) { /* past the end the last stands in, and is nothing */
            const double *h[4];
            double fits[4], less[4], more[4];
            for (Int q = 0; q < 4; q++) h[q] = Ht + (Int)places[least(at + q, starts[i + 1] - 1)] * Ht_step;
            multiply_four(k, h[0], h[1], h[2], h[3], W + i * W_step, fits);
            for (Int q = 0; q < 4; q++) {
                Int here = least(at + q, starts[i + 1] - 1);
                double m = here == at + q ? weights[here] : 0.0, net = here == at + q ? m - unstored : 0.0;
                double fit = larger(fits[q], TINY);
                less[q] = counts ? m * values[here] / fit : m * values[here];
                more[q] = counts ? net : net * fit;
            }
            const double *restrict h0 = h[0], *restrict h1 = h[1], *restrict h2 = h[2], *restrict h3 = h[3];
            LANES
            for (Int t = 0; t < k; t++) {
                double u0 = h0[t], u1 = h1[t], u2 = h2[t], u3 = h3[t];
                off[t] += (less[0] * u0 + less[1] * u1) + (less[2] * u2 + less[3] * u3);
                on[t] += (more[0] * u0 + more[1] * u1) + (more[2] * u2 + more[3] * u3);
            }
        }
        for (Int t = 0; t < k; t++) total[t] = larger(total[t] + on[t], 0.0);
    }
}

KERNEL(void)
NAMED(lowdim_weighted_least_squares_codes)(Int n1, Int stored, Int p, Int k, Int n, const INDEX *starts,
                                           const INDEX *places, const double *values, const double *weights,
                                           double unstored, Int first, Int last, const double *Ht, Int Ht_step,
                                           const double *whole, Int whole_step, double l1, double l2, double tol,
                                           Int most, double *W, Int W_step, double *residuals, double *G, Int G_step,
                                           double *L, Int L_step, double *rows, Int rows_step) {
    (void)n1, (void)stored, (void)p, (void)n, (void)L_step;
    double *restrict a = rows;
    for (Int i = first; i < last; i++) {
        for (Int s = 0; s < k; s++) {
            a[s] = 0.0;
            for (Int t = 0; t < k; t++) G[s * G_step + t] = unstored * whole[s * whole_step + t];
        }
        for (Int at = starts[i]; at < starts[i + 1]; at++) {
            const double *restrict h = Ht + (Int)places[at] * Ht_step;
            double net = weights[at] - unstored, mx = weights[at] * values[at];
            for (Int s = 0; s < k; s++) {
                double *restrict g = G + s * G_step;
                double scaled = net * h[s];
                a[s] += mx * h[s];
                LANES
                for (Int t = 0; t < k; t++) g[t] += scaled * h[t];
            }
        }
        for (Int t = 0; t < k; t++) {
            /* rounding: nothing that is known depends on it */
            if (!(G[t * G_step + t] <= ROUNDING * unstored * whole[t * whole_step + t])) continue;
            for (Int s = 0; s < k; s++) G[t * G_step + s] = G[s * G_step + t] = 0.0;
        }
        residuals[i] = least_squares(k, G, G_step, a, l1, l2, tol, most, W + i * W_step, L, rows + rows_step,
                                     rows + 2 * rows_step, rows + 3 * rows_step);
    }
}

#endif
