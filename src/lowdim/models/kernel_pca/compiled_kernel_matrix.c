/* Products with a kernel matrix that is made tile by tile, in float64 or float32. See compiled_kernel_matrix.py. */

#ifndef REAL
#include "matrices/exponentials.h"

#define TILE 192

enum { GAUSSIAN, GAUSSIAN_APART, LAPLACIAN, POLYNOMIAL };

#ifdef __AVX512F__ /* twice as many registers, of twice the width */
#define HIGH 4 /* rows of a tile that are multiplied with four vectors at a time */
#define VECTOR 64 /* bytes of a vector */
#else
#define HIGH 2
#ifdef __AVX2__
#define VECTOR 32
#else
#define VECTOR 16
#endif
#endif

/* Three vectors of each of four rows, or two, stay in registers while they take up all terms. */
#define EACH_ROW(DO) DO(a, 0) DO(b, 1) DO(c, 2) DO(d, 3)
#if HIGH == 4
#define ACROSS 3
#define EACH_VECTOR(DO, r, i) DO(r, i, 0) DO(r, i, 1) DO(r, i, 2)
#else
#define ACROSS 2
#define EACH_VECTOR(DO, r, i) DO(r, i, 0) DO(r, i, 1)
#endif
#define BEGIN_ONE(r, i, v) NAMED(Vector) r##v = NAMED(vector_at)(out + i * TILE + j + v * few);
#define TAKE_ONE(r, i, v) r##v += NAMED(term)(kind, from[i * down], u##v);
#define PUT_ONE(r, i, v) NAMED(put_vector)(r##v, out + i * TILE + j + v * few);
#define NEXT_ONE(r, i, v) NAMED(Vector) u##v = NAMED(vector_at)(to + v * few);
#define BEGIN(r, i) EACH_VECTOR(BEGIN_ONE, r, i)
#define TAKE(r, i) EACH_VECTOR(TAKE_ONE, r, i)
#define PUT(r, i) EACH_VECTOR(PUT_ONE, r, i)

#define SHARE 24576 /* bytes of a tile's columns that stay in the first-level cache while all rows meet them */

#define REAL double
#define BITS int64_t
#define NAMED(name) name##_f64
#include "compiled_kernel_matrix.c"
#undef REAL
#undef BITS
#undef NAMED
#define REAL float
#define BITS int32_t
#define NAMED(name) name##_f32
#include "compiled_kernel_matrix.c"
#else

/* Tiles. Of each tile of rows there is the transpose, (p, TILE): x and y are those of rows and of columns. */

typedef REAL NAMED(Vector) __attribute__((vector_size(VECTOR)));
typedef BITS NAMED(Bits) __attribute__((vector_size(VECTOR)));

INLINE NAMED(Vector) NAMED(vector_at)(const REAL *from) {
    NAMED(Vector) found;
    __builtin_memcpy(&found, from, sizeof found);
    return found;
}

INLINE void NAMED(put_vector)(NAMED(Vector) vector, REAL *to) { __builtin_memcpy(to, &vector, sizeof vector); }

/* What a number gives with each of some; `kind` is known when this is compiled. */
INLINE NAMED(Vector) NAMED(term)(Int kind, REAL x, NAMED(Vector) y) {
    const BITS but_sign = (BITS)(((uint64_t)1 << (8 * sizeof(REAL) - 1)) - 1);
    NAMED(Vector) d = x - y;
    return kind == GAUSSIAN_APART ? d * d : kind == LAPLACIAN ? (NAMED(Vector))((NAMED(Bits))d & but_sign) : x * y;
}

/* Add to four rows of `out`, (4, TILE), what n terms give, in the order of these. Term k of row i has the number
   x[k along + i down] and the row k of y, (n, TILE). */
INLINE void NAMED(add_kind)(Int kind, Int n, const REAL *x, Int along, Int down, const REAL *y, REAL *out) {
    const Int few = VECTOR / (Int)sizeof(REAL);
    for (Int j = 0; j < TILE; j += ACROSS * few) {
        const REAL *from = x, *to = y + j;
        EACH_ROW(BEGIN)
        for (Int k = 0; k < n; k++, from += along, to += TILE) {
            EACH_VECTOR(NEXT_ONE, u, 0)
            EACH_ROW(TAKE)
        }
        EACH_ROW(PUT)
    }
}

/* The same, for any kind. */
BY_ITSELF void NAMED(add_terms)(Int kind, Int n, const REAL *x, Int along, Int down, const REAL *y, REAL *out) {
    if (kind == GAUSSIAN_APART)
        NAMED(add_kind)(GAUSSIAN_APART, n, x, along, down, y, out);
    else if (kind == LAPLACIAN)
        NAMED(add_kind)(LAPLACIAN, n, x, along, down, y, out);
    else
        NAMED(add_kind)(GAUSSIAN, n, x, along, down, y, out);
}

static void NAMED(sum_terms)(Int kind, Int tall, Int p, const REAL *x, const REAL *y, REAL *tile) {
    const Int share = SHARE / (Int)(TILE * sizeof(REAL));
    for (Int i = 0; i < tall * TILE; i++) tile[i] = 0;
    for (Int c = 0; c < p; c += share, x += share * TILE, y += share * TILE)
        for (Int i = 0; i < tall; i += 4)
            NAMED(add_terms)(kind, least(share, p - c), x + i, TILE, 1, y, tile + i * TILE);
}

/* (scale · base + shift)^power, for a whole power of one or more. */
static void NAMED(raise_to)(REAL scale, REAL shift, Int power, REAL *restrict row) {
    REAL base[TILE];
    LANES
    for (Int j = 0; j < TILE; j++) row[j] = base[j] = scale * row[j] + shift;
    for (Int k = 1; k < power; k++) {
        LANES
        for (Int j = 0; j < TILE; j++) row[j] *= base[j];
    }
}

/* The kernel of a tile of rows with another, to tile (tall, TILE). down and right are what a Gaussian's exponent has
   of one row alone. Differences are scaled afterwards, since close numbers have exact ones. */
static void NAMED(make_tile)(Int kind, Int tall, Int p, const REAL *x, const REAL *y, const REAL *down,
                             const REAL *restrict right, REAL scale, REAL shift, Int power, REAL *tile) {
    NAMED(sum_terms)(kind, tall, p, x, y, tile);
    for (Int i = 0; i < tall; i++) {
        REAL *restrict row = tile + i * TILE, height = down[i];
        if (kind == POLYNOMIAL) {
            NAMED(raise_to)(scale, shift, power, row);
        } else if (kind == GAUSSIAN) {
            LANES
            for (Int j = 0; j < TILE; j++) {
                REAL t = row[j] + (height + right[j]);
                row[j] = NAMED(power_of_two)(t > 0 ? 0 : t); /* rounding must not make a distance negative */
            }
        } else {
            LANES
            for (Int j = 0; j < TILE; j++) row[j] = NAMED(power_of_two)(scale * row[j]);
        }
    }
}

/* Zeros past the last row of the data. */
static void NAMED(blank)(Int tall, Int rows, Int columns, REAL *tile) {
    for (Int i = 0; i < tall; i++)
        for (Int j = i < rows ? columns : 0; j < TILE; j++) tile[i * TILE + j] = 0;
}

/* Add row sums to left and, with `both`, column sums to top; gives the sum of squares. */
static double NAMED(add_sums)(Int tall, const REAL *tile, double *left, double *restrict top, Int both) {
    REAL columns[TILE];
    double squares = 0.0;
    for (Int j = 0; j < TILE; j++) columns[j] = 0;
    for (Int i = 0; i < tall; i++) {
        const REAL *restrict row = tile + i * TILE;
        REAL total = 0, square = 0;
        SUMS(total, square)
        for (Int j = 0; j < TILE; j++) {
            total += row[j];
            square += row[j] * row[j];
            columns[j] += row[j];
        }
        left[i] += total;
        squares += square;
    }
    for (Int j = 0; both && j < TILE; j++) top[j] += columns[j];
    return squares;
}

/* Products of tiles with a few vectors, for which BLAS is slower. */

/* Q tile, (b, TILE): four vectors times as many rows of the tile as stay in the first-level cache. */
static void NAMED(times)(Int tall, Int b, const REAL *Q, const REAL *tile, REAL *part) {
    const Int share = SHARE / (Int)(TILE * sizeof(REAL));
    for (Int i = 0; i < b * TILE; i++) part[i] = 0;
    for (Int i = 0; i < tall; i += share)
        for (Int q = 0; q < b; q += 4)
            NAMED(add_terms)(GAUSSIAN, least(share, tall - i), Q + q * TILE + i, 1, TILE, tile + i * TILE,
                             part + q * TILE);
}

/* Q tileᵀ, (b, TILE): HIGH rows of the tile times four vectors at a time. */
static void NAMED(times_transposed)(Int tall, Int b, const REAL *Q, const REAL *tile, REAL *part) {
    for (Int q = 0; q < b; q++)
        for (Int i = tall; i < TILE; i++) part[q * TILE + i] = 0;
    for (Int i = 0; i < tall; i += HIGH) {
        for (Int q = 0; q < b; q += 4) {
            const REAL *restrict q0 = Q + q * TILE, *restrict q1 = q0 + TILE, *restrict q2 = q1 + TILE;
            const REAL *restrict q3 = q2 + TILE, *restrict t0 = tile + i * TILE, *restrict t1 = t0 + TILE;
            REAL a0 = 0, a1 = 0, a2 = 0, a3 = 0, b0 = 0, b1 = 0, b2 = 0, b3 = 0;
#if HIGH == 4
            const REAL *restrict t2 = t1 + TILE, *restrict t3 = t2 + TILE;
            REAL c0 = 0, c1 = 0, c2 = 0, c3 = 0, d0 = 0, d1 = 0, d2 = 0, d3 = 0;
            SUMS(a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, d3)
#else
            SUMS(a0, a1, a2, a3, b0, b1, b2, b3)
#endif
            for (Int j = 0; j < TILE; j++) {
                REAL u0 = q0[j], u1 = q1[j], u2 = q2[j], u3 = q3[j];
                a0 += t0[j] * u0, a1 += t0[j] * u1, a2 += t0[j] * u2, a3 += t0[j] * u3;
                b0 += t1[j] * u0, b1 += t1[j] * u1, b2 += t1[j] * u2, b3 += t1[j] * u3;
#if HIGH == 4
                c0 += t2[j] * u0, c1 += t2[j] * u1, c2 += t2[j] * u2, c3 += t2[j] * u3;
                d0 += t3[j] * u0, d1 += t3[j] * u1, d2 += t3[j] * u2, d3 += t3[j] * u3;
#endif
            }
            REAL *p0 = part + q * TILE + i, *p1 = p0 + TILE, *p2 = p1 + TILE, *p3 = p2 + TILE;
            p0[0] = a0, p1[0] = a1, p2[0] = a2, p3[0] = a3, p0[1] = b0, p1[1] = b1, p2[1] = b2, p3[1] = b3;
#if HIGH == 4
            p0[2] = c0, p1[2] = c1, p2[2] = c2, p3[2] = c3, p0[3] = d0, p1[3] = d1, p2[3] = d2, p3[3] = d3;
#endif
        }
    }
}

static void NAMED(add_part)(Int count, const REAL *restrict part, double *restrict out) {
    LANES
    for (Int i = 0; i < count; i++) out[i] += part[i];
}

KERNEL(double)
NAMED(lowdim_add_strips)(Int t, Int p, Int m, Int b, Int kind, const REAL *rows, const REAL *heights,
                         Int heights_step, double scale, double shift, Int power, Int n, const int64_t *strips,
                         const REAL *Q, double *out, double *sums, Int sums_step, Int summed, REAL *tile,
                         Int tile_step, REAL *part, Int part_step) {
    (void)t, (void)tile_step, (void)part_step;
    double squares = 0.0;
    for (Int s = 0; s < m; s++) {
        Int i = strips[s], left = n - i * TILE;
        Int tall = least(TILE, (left + 3) / 4 * 4); /* of the last rows there may be few */
        for (Int j = 0; j <= i; j++) {
            NAMED(make_tile)(kind, tall, p, rows + i * p * TILE, rows + j * p * TILE, heights + i * heights_step,
                             heights + j * heights_step, (REAL)scale, (REAL)shift, power, tile);
            NAMED(blank)(tall, left, least(n - j * TILE, TILE), tile);
            if (summed) {
                double square = NAMED(add_sums)(tall, tile, sums + i * sums_step, sums + j * sums_step, i != j);
                squares += i == j ? square : 2.0 * square;
            }
            NAMED(times_transposed)(tall, b, Q + j * b * TILE, tile, part);
            NAMED(add_part)(b * TILE, part, out + i * b * TILE);
            if (i != j) {
                NAMED(times)(tall, b, Q + i * b * TILE, tile, part);
                NAMED(add_part)(b * TILE, part, out + j * b * TILE);
            }
        }
    }
    return squares;
}

#endif
