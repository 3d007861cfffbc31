/* One sweep over the entries of logistic PCA, and one small system for each row. See compiled_newton.py. */

#ifndef REAL
#include "matrices/exponentials.h"
#include "solvers/side_by_side.h"

#define LOG2_E 1.4426950408889634
#define FACTORS 1000 /* numbers of at most 2 whose product stays in the range of float64 */

KERNEL(void)
lowdim_bernoulli_terms(Int n, Int p, const double *x, Int x_step, const double *theta, Int theta_step, double *loss,
                       double *apart, Int apart_step, float *weight, Int weight_step) {
    for (Int i = 0; i < n; i++) {
        const double *restrict values = x + i * x_step, *restrict at = theta + i * theta_step;
        double *restrict distances = apart + i * apart_step;
        float *restrict weights = weight + i * weight_step;
        double total = 0.0;
        for (Int start = 0; start < p; start += FACTORS) {
            Int stop = least(start + FACTORS, p);
            double sum = 0.0, product = 1.0;
            PRAGMA(omp simd reduction(+ : sum) reduction(* : product))
            for (Int j = start; j < stop; j++) {
                double here = values[j] == values[j] ? 1.0 : 0.0;
                double value = values[j] == values[j] ? values[j] : 0.0;
                double e = power_of_two_f64(-absolute(at[j]) * LOG2_E);
                double share = 1.0 / (1.0 + e);
                double mean = at[j] >= 0.0 ? share : e * share;
                distances[j] = here * (mean - value);
                weights[j] = (float)(here * e * share * share);
                sum += here * (larger(at[j], 0.0) - value * at[j]);
                product *= 1.0 + here * e;
            }
            total += sum + ln(product);
        }
        loss[i] = total;
    }
}

#define REAL double
#define NAMED(name) name##_f64
#include "compiled_newton.c"
#undef REAL
#undef NAMED
#define REAL float
#define NAMED(name) name##_f32
#include "compiled_newton.c"
#else

KERNEL(void)
NAMED(lowdim_solve_each)(Int n, Int tri, Int k, Int room, const REAL *systems, Int systems_step,
                         const double *diagonal, const double *lift, const double *right, Int right_step, double *out,
                         Int out_step, double *work) {
    double *A = work, *y = A + EIGHT * k * k;
    double logs[EIGHT];
    (void)tri, (void)room;
    for (Int first = 0; first < n; first += EIGHT) {
        for (Int e = 0; e < EIGHT; e++) { /* past the end the last stands in */
            Int row = least(first + e, n - 1);
            const REAL *triangle = systems + row * systems_step;
            for (Int a = 0; a < k; a++) {
                for (Int c = a; c < k; c++) A[EIGHT * (a * k + c) + e] = *triangle++;
                A[EIGHT * (a * k + a) + e] += diagonal[a] + lift[row];
                y[EIGHT * a + e] = right[row * right_step + a];
            }
        }
        factor_eight(k, A, logs);
        solve_eight(k, A, y);
        for (Int e = 0; e < EIGHT && first + e < n; e++)
            for (Int a = 0; a < k; a++) out[(first + e) * out_step + a] = y[EIGHT * a + e];
    }
}

#endif
