/* The k × k systems of probabilistic PCA. See compiled_em.py. */

#include "solvers/side_by_side.h"

KERNEL(void)
lowdim_look(Int n, Int p, const double *X, Int X_step, const double *mean, const double *numbers, double *apart,
            Int apart_step, double *seen, Int seen_step, double *mark, double *squares) {
    for (Int i = 0; i < n; i++) {
        const double *restrict x = X + i * X_step;
        double *restrict distances = apart + i * apart_step, *restrict whether = seen + i * seen_step;
        double total = 0.0, square = 0.0;
        SUMS(total, square)
        for (Int j = 0; j < p; j++) {
            double distance = x[j] - mean[j];
            double here = distance == distance ? 1.0 : 0.0;
            distance = distance == distance ? distance : 0.0;
            distances[j] = distance;
            whether[j] = here;
            total += here * numbers[j];
            square += distance * distance;
        }
        mark[i] = total, squares[i] = square;
    }
}

KERNEL(void)
lowdim_gather(Int u, Int p, Int w, const double *seen, Int seen_step, const double *table, Int table_step, double *out,
              Int out_step, int64_t *places) {
    for (Int i = 0; i < u; i++) {
        const double *here = seen + i * seen_step;
        double *restrict sum = out + i * out_step;
        Int count = 0;
        for (Int j = 0; j < p; j++) {
            places[count] = j;
            count += here[j] != 0.0;
        }
        for (Int t = 0; t < w; t++) sum[t] = 0.0;
        Int m = 0;
        for (; m + 3 < count; m += 4) {
            const double *a = table + places[m] * table_step, *b = table + places[m + 1] * table_step;
            const double *c = table + places[m + 2] * table_step, *d = table + places[m + 3] * table_step;
            LANES
            for (Int t = 0; t < w; t++) sum[t] += (a[t] + b[t]) + (c[t] + d[t]);
        }
        for (; m < count; m++) {
            const double *a = table + places[m] * table_step;
            LANES
            for (Int t = 0; t < w; t++) sum[t] += a[t];
        }
    }
}

/* Row number `turn` of each of eight patterns, none where a pattern has no more. */
INLINE Int rows_of_eight(Int first, Int u, Int turn, const int64_t *order, const int64_t *starts, Int *rows) {
    Int count = 0;
    for (Int e = 0; e < EIGHT; e++) {
        Int pattern = first + e;
        rows[e] = -1;
        if (pattern < u && starts[pattern] + turn < starts[pattern + 1]) {
            rows[e] = order[starts[pattern] + turn];
            count++;
        }
    }
    return count;
}

/* z = T Tᵀ b of eight, T being the transposed lower triangle of A. */
INLINE void apply_eight(Int k, const double *A, const double *b, double *z) {
    for (Int j = 0; j < EIGHT * k; j++) z[j] = 0.0;
    for (Int j = 0; j < k; j++) {
        const double *row = A + EIGHT * k * j;
        double total[EIGHT];
        EACH total[e] = 0.0;
        for (Int i = 0; i <= j; i++)
            EACH total[e] -= row[EIGHT * i + e] * b[EIGHT * i + e];
        take_one(j + 1, z, total, row);
    }
}

KERNEL(void)
lowdim_solve_patterns(Int u, Int tri, Int n, Int k, Int u1, Int room, double *M, Int M_step, double noise,
                      const double *projected, Int projected_step, const int64_t *order, const int64_t *starts,
                      double *z, Int z_step, double *logdet, double *work) {
    double *A = work, *b = A + EIGHT * k * k, *found = b + EIGHT * k;
    double logs[EIGHT];
    Int rows[EIGHT];
    (void)tri, (void)n, (void)u1, (void)room;
    for (Int first = 0; first < u; first += EIGHT) {
        for (Int e = 0; e < EIGHT; e++) { /* past the end the last stands in */
            const double *triangle = M + least(first + e, u - 1) * M_step;
            for (Int i = 0; i < k; i++)
                for (Int j = i; j < k; j++) A[EIGHT * (i * k + j) + e] = *triangle++;
        }
        for (Int i = 0; i < k; i++)
            EACH A[EIGHT * (i * k + i) + e] += noise;
        factor_eight(k, A, logs);
        invert_eight(k, A);
        for (Int turn = 0; rows_of_eight(first, u, turn, order, starts, rows); turn++) {
            for (Int e = 0; e < EIGHT; e++)
                for (Int i = 0; i < k; i++)
                    b[EIGHT * i + e] = rows[e] < 0 ? 0.0 : projected[rows[e] * projected_step + i];
            apply_eight(k, A, b, found);
            for (Int e = 0; e < EIGHT; e++)
                if (rows[e] >= 0)
                    for (Int i = 0; i < k; i++) z[rows[e] * z_step + i] = found[EIGHT * i + e];
        }
        square_eight(k, A);
        for (Int e = 0; e < EIGHT && first + e < u; e++) {
            double *triangle = M + (first + e) * M_step;
            logdet[first + e] = logs[e];
            for (Int i = 0; i < k; i++)
                for (Int j = i; j < k; j++) *triangle++ = -noise * A[EIGHT * (i * k + j) + e];
        }
    }
}

KERNEL(void)
lowdim_add_moments(Int u, Int tri, Int n, Int k, Int u1, Int longer, const double *cov, Int cov_step,
                   const double *z, Int z_step, const double *weight, const int64_t *order, const int64_t *starts,
                   double *out, Int out_step) {
    (void)tri, (void)n, (void)u1;
    for (Int pattern = 0; pattern < u; pattern++) {
        double *restrict sum = out + pattern * out_step;
        const double *known = cov + pattern * cov_step;
        double rows = 0.0;
        for (Int t = 0; t < longer; t++) sum[t] = 0.0;
        for (Int place = starts[pattern]; place < starts[pattern + 1]; place++) {
            Int row = order[place];
            const double *own = z + row * z_step;
            double *to = sum, each = weight[row];
            rows += each;
            for (Int i = 0; i < k; i++) {
                double factor = each * own[i];
                for (Int j = i; j < k; j++) *to++ += factor * own[j];
                *to++ += factor;
            }
        }
        double *to = sum;
        for (Int i = 0; i < k; i++, to++)
            for (Int j = i; j < k; j++) *to++ += rows * *known++;
        *to = rows;
    }
}
