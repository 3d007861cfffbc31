/* What an orthonormal basis holds of a few vectors, taken off them, and the rest made orthonormal. All vectors are
   rows. See compiled_basis.py. */

#include "runtime/native.h"

#ifdef __AVX512F__ /* four times as many numbers fit into registers */
#define TOGETHER 4 /* rows of the basis that are met at a time … */
#define FEW 4      /* … and vectors */
#else
#define TOGETHER 2
#define FEW 3
#endif

#define TILE 1024 /* columns at a time, of which the vectors stay in the first cache while the basis passes by */

/* out[q][r] += Σ y_q x_r over `count` columns of r vectors of the basis and q others. */
INLINE void add_products(Int count, Int r, const double *x, Int x_step, Int q, const double *y, Int y_step, double *out,
                         Int out_step) {
    double sums[TOGETHER][FEW][EIGHT];
    for (Int i = 0; i < r; i++)
        for (Int l = 0; l < q; l++)
            EACH sums[i][l][e] = 0.0;
    Int j = 0;
    for (; j + EIGHT <= count; j += EIGHT)
        for (Int i = 0; i < r; i++)
            for (Int l = 0; l < q; l++)
                EACH sums[i][l][e] += x[i * x_step + j + e] * y[l * y_step + j + e];
    for (Int i = 0; i < r; i++)
        for (Int l = 0; l < q; l++) {
            const double *s = sums[i][l];
            double rest = 0.0;
            for (Int t = j; t < count; t++) rest += x[i * x_step + t] * y[l * y_step + t];
            out[l * out_step + i] += (((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]))) + rest;
        }
}

/* y_q −= Σ_r factor[q][r] x_r over `count` columns. */
INLINE void take_rows(Int count, Int r, const double *x, Int x_step, Int q, double *restrict y, Int y_step,
                      const double *factor, Int factor_step) {
    double a[FEW][TOGETHER];
    for (Int l = 0; l < q; l++)
        for (Int i = 0; i < r; i++) a[l][i] = factor[l * factor_step + i];
    LANES
    for (Int j = 0; j < count; j++)
        for (Int l = 0; l < q; l++) {
            double sum = 0.0;
            for (Int i = 0; i < r; i++) sum += a[l][i] * x[i * x_step + j];
            y[l * y_step + j] -= sum;
        }
}

#define OF_BASIS(name, q)                                                                                              \
    for (Int i = 0; i + TOGETHER <= m; i += TOGETHER) name(TOGETHER, i, q);                                            \
    for (Int i = m / TOGETHER * TOGETHER; i < m; i++) name(1, i, q)

#define FOR_FEW(name)                                                                                                  \
    switch (least(FEW, b - l)) {                                                                                       \
    case 1: OF_BASIS(name, 1); break;                                                                                  \
    case 2: OF_BASIS(name, 2); break;                                                                                  \
    case 3: OF_BASIS(name, 3); break;                                                                                  \
    case 4: OF_BASIS(name, FEW); break;                                                                                \
    }

static void project(Int b, Int p, Int m, const double *block, Int block_step, const double *rows, Int rows_step,
                    double *out, Int out_step) {
    for (Int l = 0; l < b; l++)
        for (Int i = 0; i < m; i++) out[l * out_step + i] = 0.0;
    for (Int start = 0; start < p; start += TILE) {
        const Int count = least(TILE, p - start);
        for (Int l = 0; l < b; l += FEW) {
#define CALL(r, i, q)                                                                                                  \
    add_products(count, r, rows + (i)*rows_step + start, rows_step, q, block + l * block_step + start, block_step,     \
                 out + l * out_step + (i), out_step)
            FOR_FEW(CALL)
#undef CALL
        }
    }
}

static void subtract(Int b, Int p, Int m, double *block, Int block_step, const double *rows, Int rows_step,
                     const double *inside, Int inside_step) {
    for (Int start = 0; start < p; start += TILE) {
        const Int count = least(TILE, p - start);
        for (Int l = 0; l < b; l += FEW) {
#define CALL(r, i, q)                                                                                                  \
    take_rows(count, r, rows + (i)*rows_step + start, rows_step, q, block + l * block_step + start, block_step,        \
              inside + l * inside_step + (i), inside_step)
            FOR_FEW(CALL)
#undef CALL
        }
    }
}

KERNEL(void)
lowdim_project(Int b, Int p, Int m, const double *block, Int block_step, const double *rows, Int rows_step, double *out,
               Int out_step) {
    project(b, p, m, block, block_step, rows, rows_step, out, out_step);
}

KERNEL(void)
lowdim_subtract(Int b, Int p, Int m, double *block, Int block_step, const double *rows, Int rows_step,
                const double *inside, Int inside_step) {
    subtract(b, p, m, block, block_step, rows, rows_step, inside, inside_step);
}

INLINE double square(Int p, const double *y) {
    double sum = 0.0;
    SUMS(sum)
    for (Int j = 0; j < p; j++) sum += y[j] * y[j];
    return sum;
}

KERNEL(void)
lowdim_orthogonalise(Int b, Int p, Int m, double *block, Int block_step, const double *rows, Int rows_step,
                     double *inside, Int inside_step, double *part, Int part_step, double *lengths, Int near,
                     double left) {
    for (Int l = 0; l < b; l++)
        for (Int i = 0; i < m; i++) inside[l * inside_step + i] = 0.0;
    if (near > 0) {
        const Int first = m - near;
        project(b, p, near, block, block_step, rows + first * rows_step, rows_step, inside + first, inside_step);
        subtract(b, p, near, block, block_step, rows + first * rows_step, rows_step, inside + first, inside_step);
    }
    for (Int l = 0; l < b; l++) lengths[l] = square(p, block + l * block_step);
    for (Int round = 0; round < 3; round++) {
        project(b, p, m, block, block_step, rows, rows_step, part, part_step);
        subtract(b, p, m, block, block_step, rows, rows_step, part, part_step);
        Int kept = 1;
        for (Int l = 0; l < b; l++) {
            for (Int i = 0; i < m; i++) inside[l * inside_step + i] += part[l * part_step + i];
            const double length = square(p, block + l * block_step);
            kept &= length >= left * lengths[l];
            lengths[l] = length;
        }
        if (kept) break;
    }
}

/* rows ← L⁻¹ rows, for L Lᵀ = rows rowsᵀ; 0 where a diagonal is not above `noise` and a share of the largest. */
static int divide_by_root(Int b, Int p, double *rows, Int rows_step, double *L, Int L_step, double noise) {
    project(b, p, b, rows, rows_step, rows, rows_step, L, L_step);
    double smallest = 0.0, largest = 0.0;
    for (Int i = 0; i < b; i++) {
        double *row = L + i * L_step;
        for (Int j = 0; j <= i; j++) {
            const double *other = L + j * L_step;
            double sum = row[j];
            for (Int t = 0; t < j; t++) sum -= row[t] * other[t];
            row[j] = j < i ? sum / other[j] : root(sum);
        }
        for (Int j = i + 1; j < b; j++) row[j] = 0.0;
        if (!(row[i] > 0.0 && row[i] <= 1.7976931348623157e308)) return 0;
        smallest = i ? smaller(smallest, row[i]) : row[i], largest = larger(largest, row[i]);
    }
    if (smallest <= larger(noise, 1e-7 * largest)) return 0;
    for (Int start = 0; start < p; start += TILE) {
        const Int count = least(TILE, p - start);
        for (Int i = 0; i < b; i++) {
            double *restrict y = rows + i * rows_step + start;
            for (Int t = 0; t < i; t++) {
                const double a = L[i * L_step + t], *x = rows + t * rows_step + start;
                LANES
                for (Int j = 0; j < count; j++) y[j] -= a * x[j];
            }
            const double share = 1.0 / L[i * L_step + i];
            LANES
            for (Int j = 0; j < count; j++) y[j] *= share;
        }
    }
    return 1;
}

KERNEL(double)
lowdim_orthonormalise(Int b, Int p, double *rows, Int rows_step, double *total, Int total_step, double *L, Int L_step,
                      double noise) {
    if (!divide_by_root(b, p, rows, rows_step, total, total_step, noise)) return 0.0;
    if (!divide_by_root(b, p, rows, rows_step, L, L_step, 0.0)) return 0.0;
    for (Int i = 0; i < b; i++) /* total L, whose columns need only what stands to their right */
        for (Int j = 0; j <= i; j++) {
            double sum = 0.0;
            for (Int t = j; t <= i; t++) sum += total[i * total_step + t] * L[t * L_step + j];
            total[i * total_step + j] = sum;
        }
    return 1.0;
}
