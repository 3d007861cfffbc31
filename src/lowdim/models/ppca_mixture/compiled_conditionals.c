/* Rows of a Gaussian with hidden entries. See compiled_conditionals.py. */

#include "models/ppca_mixture/conditionals.h"

KERNEL(void)
lowdim_likelihoods(Int n, Int p, Int room, Int both, const double *X, Int X_step, const double *mean,
                   const double *cov, Int cov_step, const double *precision, Int precision_step, double logdet,
                   double *loglik, double *work, int64_t *places) {
    Gaussian g = {p, mean, cov, cov_step, precision, precision_step, logdet};
    Room own = make_room(p, work, places);
    (void)room, (void)both;
    for (Int i = 0; i < n; i++) {
        const double *x = X + i * X_step;
        Int m = split(p, x, &own);
        if (2 * m <= p)
            loglik[i] = solve_seen(&g, x, m, &own);
        else
            loglik[i] = density_hidden(&g, p - m, solve_hidden(&g, x, p - m, &own), &own);
    }
}

/* total −= weight TᵀT at the hidden places, upper triangle; U is where the product is made. */
static void add_inverse(Int u, double weight, const Room *room, double *total) {
    const Int step = step_of(u);
    square_triangle(u, room->B, room->U);
    for (Int i = 0; i < u; i++) {
        double *to = total + room->hidden[i] * room->step;
        for (Int j = i; j < u; j++) to[room->hidden[j]] += weight * room->U[i * step + j];
    }
}

KERNEL(void)
lowdim_expectations(Int n, Int p, Int s, Int wide, Int step, Int room, Int both, const double *X, Int X_step,
                    const double *mean, const double *cov, Int cov_step, const double *precision, Int precision_step,
                    double logdet, const double *weight, double *loglik, double *means, Int means_step,
                    double *variances, Int variances_step, double *spread, Int spread_step, double *total,
                    Int total_step, double *work, int64_t *places) {
    Gaussian g = {p, mean, cov, cov_step, precision, precision_step, logdet};
    Room own = make_room(p, work, places);
    double whole = 0.0; /* weight of rows that go by what was observed of them */
    (void)step, (void)room, (void)both;
    for (Int i = 0; i < wide * total_step; i++) total[i] = 0.0; /* minus the expected covariances, but for those */
    for (Int i = 0; i < n; i++) {
        const double *x = X + i * X_step;
        double *mu = means + i * means_step, *var = variances + i * variances_step;
        Int m = split(p, x, &own);
        if (2 * m <= p) {
            loglik[i] = expect_from_seen(&g, x, m, &own, mu, var);
            if (s) {
                whole += weight[i];
                take_square(m, wide, -weight[i], own.B, own.step, total, total_step);
            }
        } else {
            double found = expect_hidden(&g, x, p - m, &own, mu, var);
            if (s) add_inverse(p - m, weight[i], &own, total);
            loglik[i] = density_hidden(&g, p - m, found, &own);
        }
    }
    for (Int i = 0; i < s; i++)
        for (Int j = 0; j < s; j++)
            spread[i * spread_step + j] += whole * cov[i * cov_step + j] - total[least(i, j) * total_step + most(i, j)];
}
