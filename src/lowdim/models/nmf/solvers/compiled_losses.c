/* Losses and ratios of numbers and their fits. See compiled_losses.py. */

#include "runtime/native.h"

/* log(x / fit), of which x / fit = ratio and d = ratio − 1, near d = 0 and near d = −1 alike. */
INLINE double ln_of(double ratio, double d) {
    double u = 1.0 + d, off = ((u - 1.0) - d) / u;
    return ln(d > -0.5 ? u : ratio) - (d > -0.5 ? off : 0.0);
}

KERNEL(double)
lowdim_count_ratios(Int n, Int p, const double *X, Int X_step, double *fitted, Int fitted_step, double least_fit) {
    double total = 0.0;
    for (Int i = 0; i < n; i++) {
        const double *restrict x = X + i * X_step;
        double *restrict f = fitted + i * fitted_step, sum = 0.0;
        SUMS(sum)
        for (Int j = 0; j < p; j++) {
            double fit = larger(f[j], least_fit), over = 1.0 / fit, ratio = x[j] * over, apart = x[j] - fit;
            int there = x[j] > 0.0;
            double logarithm = ln_of(there ? ratio : 1.0, there ? apart * over : 0.0);
            f[j] = ratio;
            sum += x[j] * logarithm - apart;
        }
        total += sum;
    }
    return total;
}

KERNEL(double)
lowdim_spectrum_ratios(Int n, Int p, const double *X, Int X_step, double *fitted, Int fitted_step, double *inverse,
                       Int inverse_step, double least_fit) {
    double total = 0.0;
    for (Int i = 0; i < n; i++) {
        const double *restrict x = X + i * X_step;
        double *restrict f = fitted + i * fitted_step, *restrict over = inverse + i * inverse_step, sum = 0.0;
        SUMS(sum)
        for (Int j = 0; j < p; j++) {
            double fit = larger(f[j], least_fit), one = 1.0 / fit, ratio = x[j] * one, d = (x[j] - fit) * one;
            over[j] = one;
            f[j] = ratio * one;
            sum += d - ln_of(ratio, d);
        }
        total += sum;
    }
    return total;
}

KERNEL(void)
lowdim_update(Int n, Int k, const double *W, Int W_step, const double *taken, Int taken_step, const double *added,
              Int added_step, double tiny, const double *floors, Int by_root, double *out, Int out_step) {
    for (Int i = 0; i < n; i++) {
        const double *restrict w = W + i * W_step, *restrict down = taken + i * taken_step;
        const double *restrict up = added + i * added_step;
        double *restrict to = out + i * out_step, floor = floors[i];
        if (by_root) {
            LANES
            for (Int t = 0; t < k; t++) to[t] = larger(root(down[t] / larger(up[t], tiny)) * w[t], floor);
        } else {
            LANES
            for (Int t = 0; t < k; t++) to[t] = larger(down[t] / larger(up[t], tiny) * w[t], floor);
        }
    }
}

/* sums[t] ← Σ min(w / ‖w‖, slope)² of each part, with ‖·‖ the root mean square, and the slope as a share of what is
   added and taken off. */
KERNEL(void)
lowdim_part_residuals(Int n, Int k, const double *W, Int W_step, const double *taken, Int taken_step,
                      const double *added, Int added_step, double *over, double *sums) {
    for (Int t = 0; t < k; t++) over[t] = sums[t] = 0.0;
    for (Int i = 0; i < n; i++) {
        const double *restrict w = W + i * W_step;
        LANES
        for (Int t = 0; t < k; t++) over[t] += w[t] * w[t];
    }
    for (Int t = 0; t < k; t++) over[t] = over[t] > 0.0 ? 1.0 / root(over[t] / (double)n) : 0.0;
    for (Int i = 0; i < n; i++) {
        const double *restrict w = W + i * W_step, *restrict down = taken + i * taken_step;
        const double *restrict up = added + i * added_step;
        LANES
        for (Int t = 0; t < k; t++) {
            double both = up[t] + down[t], slope = both > 0.0 ? (up[t] - down[t]) / both : 0.0;
            double one = smaller(w[t] * over[t], slope);
            sums[t] += one * one;
        }
    }
}
