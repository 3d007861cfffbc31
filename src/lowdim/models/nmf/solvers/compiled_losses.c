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
