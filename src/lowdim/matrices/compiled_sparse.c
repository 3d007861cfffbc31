/* Products of CSR rows with a few vectors that lie side by side. See compiled_sparse.py. */

#ifndef REAL
#include "runtime/native.h"

#define SOME_ROWS 256      /* that are met twice … */
#define SOME_ENTRIES 32768 /* … and what is stored of them: 400 kB */

#define REAL double
#define INDEX int64_t
#define NAMED(name) name##_f64_i64
#include "compiled_sparse.c"
#undef INDEX
#undef NAMED
#define INDEX int32_t
#define NAMED(name) name##_f64_i32
#include "compiled_sparse.c"
#undef REAL
#undef INDEX
#undef NAMED
#define REAL float
#define INDEX int64_t
#define NAMED(name) name##_f32_i64
#include "compiled_sparse.c"
#undef INDEX
#undef NAMED
#define INDEX int32_t
#define NAMED(name) name##_f32_i32
#include "compiled_sparse.c"
#else

/* What one row gives with b vectors: four sums for each, so that an addition need not wait for the one before it. b is
   a number that the compiler knows wherever this is called, so that the numbers of one place are taken at once. */
INLINE void NAMED(row_times)(Int count, const INDEX *restrict places, const REAL *restrict values,
                             const double *restrict V, Int b, double *restrict sums) {
    double parts[4][8];
    for (Int t = 0; t < 4; t++)
        for (Int q = 0; q < b; q++) parts[t][q] = 0.0;
    Int e = 0;
    for (; e + 4 <= count; e += 4)
        for (Int t = 0; t < 4; t++) {
            const double x = values[e + t], *v = V + (Int)places[e + t] * b;
            LANES for (Int q = 0; q < b; q++) parts[t][q] += x * v[q];
        }
    for (; e < count; e++) {
        const double x = values[e], *v = V + (Int)places[e] * b;
        LANES for (Int q = 0; q < b; q++) parts[0][q] += x * v[q];
    }
    for (Int q = 0; q < b; q++) sums[q] = (parts[0][q] + parts[1][q]) + (parts[2][q] + parts[3][q]);
}

/* out[place] += x s for every entry of a row. */
INLINE void NAMED(add_row)(Int count, const INDEX *restrict places, const REAL *restrict values,
                           const double *restrict s, Int b, double *restrict out) {
    for (Int e = 0; e < count; e++) {
        const double x = values[e];
        double *o = out + (Int)places[e] * b;
        LANES for (Int q = 0; q < b; q++) o[q] += x * s[q];
    }
}

/* Some rows at a time: all their scores, and then what these add, while the rows are in the cache. In turn for each row
   the one would wait for the other. */
INLINE void NAMED(normal_of)(Int n, Int b, const INDEX *starts, const INDEX *places, const REAL *values,
                             const double *weight, const double *shift, const double *V, double *out, double *total) {
    double scores[SOME_ROWS * 8];
    for (Int first = 0, last; first < n; first = last) {
        const Int most = (Int)starts[first] + SOME_ENTRIES;
        const Int stop = least(n, first + SOME_ROWS);
        for (last = first; last < stop && (last == first || (Int)starts[last + 1] <= most); last++) {
            const Int begin = starts[last], count = starts[last + 1] - begin;
            double *s = scores + (last - first) * b;
            NAMED(row_times)(count, places + begin, values + begin, V, b, s);
            for (Int q = 0; q < b; q++) {
                s[q] = (s[q] - shift[q]) * weight[last];
                total[q] += s[q];
            }
        }
        for (Int i = first; i < last; i++) {
            const Int begin = starts[i];
            NAMED(add_row)(starts[i + 1] - begin, places + begin, values + begin, scores + (i - first) * b, b, out);
        }
    }
}

#define FOR_WIDTH(b, call)                                                                                             \
    switch (b) {                                                                                                       \
    case 1: call(1); break;                                                                                            \
    case 2: call(2); break;                                                                                            \
    case 4: call(4); break;                                                                                            \
    case 8: call(8); break;                                                                                            \
    }

KERNEL(void)
NAMED(lowdim_csr_normal)(Int n1, Int m, Int n, Int b, Int p, const INDEX *starts, const INDEX *places,
                         const REAL *values, const double *weight, const double *shift, const double *V, Int V_step,
                         double *out, Int out_step, double *total) {
    (void)n1, (void)m, (void)p, (void)V_step, (void)out_step;
#define CALL(width) NAMED(normal_of)(n, width, starts, places, values, weight, shift, V, out, total)
    FOR_WIDTH(b, CALL)
#undef CALL
}

INLINE void NAMED(times_of)(Int n, Int b, const INDEX *starts, const INDEX *places, const REAL *values,
                            const double *V, double *out) {
    for (Int i = 0; i < n; i++) {
        const Int begin = starts[i];
        NAMED(row_times)(starts[i + 1] - begin, places + begin, values + begin, V, b, out + i * b);
    }
}

KERNEL(void)
NAMED(lowdim_csr_times)(Int n1, Int m, Int p, Int b, Int n, const INDEX *starts, const INDEX *places,
                        const REAL *values, const double *V, Int V_step, double *out, Int out_step) {
    (void)n1, (void)m, (void)p, (void)V_step, (void)out_step;
#define CALL(width) NAMED(times_of)(n, width, starts, places, values, V, out)
    FOR_WIDTH(b, CALL)
#undef CALL
}

INLINE void NAMED(transposed_of)(Int n, Int b, const INDEX *starts, const INDEX *places, const REAL *values,
                                 const double *U, double *out) {
    for (Int i = 0; i < n; i++) {
        const Int begin = starts[i];
        NAMED(add_row)(starts[i + 1] - begin, places + begin, values + begin, U + i * b, b, out);
    }
}

KERNEL(void)
NAMED(lowdim_csr_transposed_times)(Int n1, Int m, Int n, Int b, Int p, const INDEX *starts, const INDEX *places,
                                   const REAL *values, const double *U, Int U_step, double *out, Int out_step) {
    (void)n1, (void)m, (void)p, (void)U_step, (void)out_step;
#define CALL(width) NAMED(transposed_of)(n, width, starts, places, values, U, out)
    FOR_WIDTH(b, CALL)
#undef CALL
}

/* Of every column, side by side: sums of what is weighed, of values less `near` and of their squares; how many
   values are stored, and how many are not `near`. */
KERNEL(void)
NAMED(lowdim_csr_column_sums)(Int n1, Int m, Int n, Int p, const INDEX *starts, const INDEX *places,
                              const REAL *values, const double *weight, const double *near, double *sums,
                              Int sums_step) {
    (void)n1, (void)m, (void)p, (void)sums_step;
    for (Int i = 0; i < n; i++)
        for (Int e = starts[i]; e < (Int)starts[i + 1]; e++) {
            const Int j = places[e];
            const double x = values[e] - near[j], wx = weight[i] * x;
            const double terms[EIGHT] = {weight[i], wx, wx * x, 1.0, x != 0.0};
            double *restrict own = sums + EIGHT * j;
            LANES
            for (Int t = 0; t < EIGHT; t++) own[t] += terms[t];
        }
}

#undef FOR_WIDTH
#endif
