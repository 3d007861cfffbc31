/* Powers of two of sums, in place. See compiled_exponentials.py. */

#include "matrices/exponentials.h"

KERNEL(void)
lowdim_powers_of_sums(Int n, Int m, double *values, Int values_step, const double *of_row, const double *of_column,
                      double factor) {
    const double *restrict right = of_column;
    for (Int i = 0; i < n; i++) {
        double *restrict row = values + i * values_step, left = of_row[i];
        LANES
        for (Int j = 0; j < m; j++) row[j] = factor * power_of_two_f64(smaller(row[j] + left + right[j], 0.0));
    }
}
