/* Products, sums and scatters of dense rows, in float64 or exactly. See compiled_products.py. */

#if !defined(REAL) && !defined(SMALL)
#include "runtime/native.h"

#define ROWS 6 /* rows at a time, kept as doubles while they are used */

#ifdef __AVX512F__ /* twice as many registers */
#define HIGH 6 /* rows whose scores are summed together, on four vectors */
#define WIDE 4 /* results that six rows are added to together */
#else
#define HIGH 2 /* with three, clang moves sums between registers and memory */
#define WIDE 2
#endif

/* Scores of HIGH rows on four vectors. Rows and vectors are filled up with zeros to a multiple of eight numbers. */
static void scores_of_some(Int w, const double *restrict X, Int X_step, const double *restrict Q, Int Q_step,
                           double *restrict out, Int out_step) {
    Int n = w & ~(Int)7;
    const double *restrict q0 = Q, *restrict q1 = q0 + Q_step, *restrict q2 = q1 + Q_step, *restrict q3 = q2 + Q_step;
    const double *restrict x0 = X, *restrict x1 = x0 + X_step;
    double a0 = 0, a1 = 0, a2 = 0, a3 = 0, b0 = 0, b1 = 0, b2 = 0, b3 = 0;
#if HIGH == 6
    const double *restrict x2 = x1 + X_step, *restrict x3 = x2 + X_step;
    const double *restrict x4 = x3 + X_step, *restrict x5 = x4 + X_step;
    double c0 = 0, c1 = 0, c2 = 0, c3 = 0;
    double d0 = 0, d1 = 0, d2 = 0, d3 = 0, e0 = 0, e1 = 0, e2 = 0, e3 = 0, f0 = 0, f1 = 0, f2 = 0, f3 = 0;
    SUMS(a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, d3, e0, e1, e2, e3, f0, f1, f2, f3)
#else
    SUMS(a0, a1, a2, a3, b0, b1, b2, b3)
#endif
    for (Int j = 0; j < n; j++) {
        double u0 = q0[j], u1 = q1[j], u2 = q2[j], u3 = q3[j];
        a0 += x0[j] * u0, a1 += x0[j] * u1, a2 += x0[j] * u2, a3 += x0[j] * u3;
        b0 += x1[j] * u0, b1 += x1[j] * u1, b2 += x1[j] * u2, b3 += x1[j] * u3;
#if HIGH == 6
        c0 += x2[j] * u0, c1 += x2[j] * u1, c2 += x2[j] * u2, c3 += x2[j] * u3;
        d0 += x3[j] * u0, d1 += x3[j] * u1, d2 += x3[j] * u2, d3 += x3[j] * u3;
        e0 += x4[j] * u0, e1 += x4[j] * u1, e2 += x4[j] * u2, e3 += x4[j] * u3;
        f0 += x5[j] * u0, f1 += x5[j] * u1, f2 += x5[j] * u2, f3 += x5[j] * u3;
#endif
    }
    out[0] = a0, out[1] = a1, out[2] = a2, out[3] = a3;
    out += out_step, out[0] = b0, out[1] = b1, out[2] = b2, out[3] = b3;
#if HIGH == 6
    out += out_step, out[0] = c0, out[1] = c1, out[2] = c2, out[3] = c3;
    out += out_step, out[0] = d0, out[1] = d1, out[2] = d2, out[3] = d3;
    out += out_step, out[0] = e0, out[1] = e1, out[2] = e2, out[3] = e3;
    out += out_step, out[0] = f0, out[1] = f1, out[2] = f2, out[3] = f3;
#endif
}

/* Add six rows, times their scores, to WIDE results. */
static void add_to_some(Int w, const double *restrict X, Int X_step, const double *restrict factors,
                        double *restrict out, Int out_step) {
    Int n = w & ~(Int)7;
    const double *restrict x0 = X, *restrict x1 = x0 + X_step, *restrict x2 = x1 + X_step;
    const double *restrict x3 = x2 + X_step, *restrict x4 = x3 + X_step, *restrict x5 = x4 + X_step;
    const double *a = factors, *b = a + ROWS;
    double *restrict y0 = out, *restrict y1 = y0 + out_step;
    double a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3], a4 = a[4], a5 = a[5];
    double b0 = b[0], b1 = b[1], b2 = b[2], b3 = b[3], b4 = b[4], b5 = b[5];
#if WIDE == 4
    const double *c = b + ROWS, *d = c + ROWS;
    double *restrict y2 = y1 + out_step, *restrict y3 = y2 + out_step;
    double c0 = c[0], c1 = c[1], c2 = c[2], c3 = c[3], c4 = c[4], c5 = c[5];
    double d0 = d[0], d1 = d[1], d2 = d[2], d3 = d[3], d4 = d[4], d5 = d[5];
#endif
    LANES
    for (Int j = 0; j < n; j++) {
        double u0 = x0[j], u1 = x1[j], u2 = x2[j], u3 = x3[j], u4 = x4[j], u5 = x5[j];
        double s0 = y0[j] + (a0 * u0 + a1 * u1 + a2 * u2 + a3 * u3 + a4 * u4 + a5 * u5);
        double s1 = y1[j] + (b0 * u0 + b1 * u1 + b2 * u2 + b3 * u3 + b4 * u4 + b5 * u5);
#if WIDE == 4
        double s2 = y2[j] + (c0 * u0 + c1 * u1 + c2 * u2 + c3 * u3 + c4 * u4 + c5 * u5);
        double s3 = y3[j] + (d0 * u0 + d1 * u1 + d2 * u2 + d3 * u3 + d4 * u4 + d5 * u5);
        y2[j] = s2, y3[j] = s3;
#endif
        y0[j] = s0, y1[j] = s1;
    }
}

/* Scatters: Σ y yᵀ over rows y = x − shift, its upper half.

   As libraries multiply matrices (Goto & van de Geijn 2008, "Anatomy of high-performance matrix multiplication"): a
   panel of rows is written as strips of a few columns, and a tile of the result stays in registers while it takes up
   the rows of the panel, one after the other. Strips hold what was converted and shifted on the way, so that rows of any
   type are read once, and the same strips are both factors. A sum over a panel begins at zero and is then added to what
   is there: the bound in moments.py counts on that. */

#if defined(__AVX512BW__)
#define STRIP 8 /* float64 numbers of a vector */
#define OF_EACH(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)
#define OF_TWICE(DO) OF_EACH(DO) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14) DO(15)
#elif defined(__AVX2__)
#define STRIP 4
#define OF_EACH(DO) DO(0) DO(1) DO(2) DO(3)
#define OF_TWICE(DO) OF_EACH(DO) DO(4) DO(5) DO(6) DO(7)
#else
#define STRIP 2
#define OF_EACH(DO) DO(0) DO(1)
#define OF_TWICE(DO) OF_EACH(DO) DO(2) DO(3)
#endif
#define TILE 3 /* strips side by side in a tile: with their sums it fills the registers */

typedef double Strip __attribute__((vector_size(8 * STRIP)));

INLINE Strip strip_at(const double *from) {
    Strip found;
    __builtin_memcpy(&found, from, sizeof found);
    return found;
}

INLINE void put_strip(Strip strip, double *to) { __builtin_memcpy(to, &strip, sizeof strip); }

/* One strip times three others, two or one, over the rows of a panel; strips are `apart` numbers apart. */
#define BEGIN(i) Strip r##i = {0};
#define BEGIN_TWO(i) BEGIN(i) Strip s##i = {0};
#define BEGIN_THREE(i) BEGIN_TWO(i) Strip t##i = {0};
#define PUT(i) put_strip(r##i, tile + TILE * i * STRIP);
#define PUT_TWO(i) PUT(i) put_strip(s##i, tile + (TILE * i + 1) * STRIP);
#define PUT_THREE(i) PUT_TWO(i) put_strip(t##i, tile + (TILE * i + 2) * STRIP);
#define TAKE(i) r##i += a[i] * x;
#define TAKE_TWO(i) r##i += a[i] * x, s##i += a[i] * y;
#define TAKE_THREE(i) r##i += a[i] * x, s##i += a[i] * y, t##i += a[i] * z;

BY_ITSELF void three_strips(Int rows, const double *a, const double *b, Int apart, double *tile) {
    OF_EACH(BEGIN_THREE)
    for (Int k = 0; k < rows; k++, a += STRIP, b += STRIP) {
        Strip x = strip_at(b), y = strip_at(b + apart), z = strip_at(b + 2 * apart);
        OF_EACH(TAKE_THREE)
    }
    OF_EACH(PUT_THREE)
}

BY_ITSELF void two_strips(Int rows, const double *a, const double *b, Int apart, double *tile) {
    OF_EACH(BEGIN_TWO)
    for (Int k = 0; k < rows; k++, a += STRIP, b += STRIP) {
        Strip x = strip_at(b), y = strip_at(b + apart);
        OF_EACH(TAKE_TWO)
    }
    OF_EACH(PUT_TWO)
}

BY_ITSELF void one_strip(Int rows, const double *a, const double *b, double *tile) {
    OF_EACH(BEGIN)
    for (Int k = 0; k < rows; k++, a += STRIP, b += STRIP) {
        Strip x = strip_at(b);
        OF_EACH(TAKE)
    }
    OF_EACH(PUT)
}

/* Rows that are read next: brought near, a little beside each tile, while the processor multiplies. */
typedef struct {
    const void *rows;
    Int count, bytes, step; /* of a row, and from one to the next */
    Int row, at;
} Ahead;

#define LINE 64
#define SQUARE 16

INLINE void bring(Ahead *ahead, Int lines) {
    const char *from = ahead->rows;
    for (; lines > 0 && ahead->row < ahead->count; lines--) {
        __builtin_prefetch(from + ahead->row * ahead->step + ahead->at, 0, 2);
        ahead->at += LINE;
        if (ahead->at >= ahead->bytes) ahead->at = 0, ahead->row++;
    }
}

INLINE Int lines_a_tile(const Ahead *ahead, Int strips, Int wide) {
    return ahead->count * (ahead->bytes / LINE + 1) / (strips * strips / (2 * wide) + strips / 2 + 1) + 1;
}

/* The upper half of the product of a panel with itself. */
static void add_panel(Int rows, Int p, const double *panel, Int apart, double *out, Int out_step, Ahead ahead) {
    Int strips = (p + STRIP - 1) / STRIP, lines = lines_a_tile(&ahead, strips, TILE);
    double tile[TILE * STRIP * STRIP] __attribute__((aligned(LINE)));
    for (Int first = 0; first < strips; first += TILE) {
        Int end = least(first + TILE, strips);
        for (Int i = 0; i < end; i++) {
            Int j = most(i, first);
            const double *a = panel + i * apart, *b = panel + j * apart;
            bring(&ahead, lines);
            if (end - j == 3)
                three_strips(rows, a, b, apart, tile);
            else if (end - j == 2)
                two_strips(rows, a, b, apart, tile);
            else
                one_strip(rows, a, b, tile);
            double *to = out + i * STRIP * out_step + j * STRIP;
            Int high = least(STRIP, p - i * STRIP), wide = least((end - j) * STRIP, p - j * STRIP);
            for (Int r = 0; r < high; r++, to += out_step) {
                Int c = 0;
                const double *sums = tile + TILE * r * STRIP;
                for (; c + STRIP <= wide; c += STRIP) put_strip(strip_at(to + c) + strip_at(sums + c), to + c);
                for (; c < wide; c++) to[c] += sums[c];
            }
        }
    }
}

/* The lower half of a symmetric matrix from its upper one, by squares that stay in the cache. */
KERNEL(void)
lowdim_mirror(Int p, double *scatter, Int scatter_step) {
    for (Int top = 0; top < p; top += SQUARE)
        for (Int left = top; left < p; left += SQUARE)
            for (Int j = left; j < least(left + SQUARE, p); j++) {
                double *restrict to = scatter + j * scatter_step;
                for (Int i = top; i < least(top + SQUARE, j); i++) to[i] = scatter[i * scatter_step + j];
            }
}

/* The product of a panel with itself for whole numbers of 16 bits, two rows of a strip side by side. Products of each two, added, are exact in 32
   bits, and so are sums over a panel; in float64 they stay exact up to 2^53. */

typedef int16_t Shorts __attribute__((vector_size(8 * STRIP)));
typedef int32_t Words __attribute__((vector_size(8 * STRIP)));

#if defined(__AVX512BW__) && defined(__clang__)
#define ADD_TWO(a, b) (Words) __builtin_ia32_pmaddwd512((Shorts)(a), b)
#elif defined(__AVX512BW__)
#define ADD_TWO(a, b) (Words) __builtin_ia32_pmaddwd512_mask((Shorts)(a), b, (Words){0}, (uint16_t)-1)
#elif defined(__AVX2__)
#define ADD_TWO(a, b) (Words) __builtin_ia32_pmaddwd256((Shorts)(a), b)
#elif defined(__SSE2__)
#define ADD_TWO(a, b) (Words) __builtin_ia32_pmaddwd128((Shorts)(a), b)
#else /* the lower and the upper halves of each 32 bits */
#define UPPER(w) ((w) >> 16)
#define LOWER(w) UPPER((w) << 16)
#define ADD_TWO(a, b) (LOWER(a) * LOWER((Words)(b)) + UPPER(a) * UPPER((Words)(b)))
#endif

#define PAIRS (2 * STRIP) /* columns of such a strip */

BY_ITSELF void strip_of_pairs(Int pairs, const int16_t *a, const int16_t *b, int32_t *tile) {
#define BEGIN_PAIRS(i) Words r##i = {0};
#define TAKE_PAIRS(i)                                                                                                  \
    __builtin_memcpy(&one, a + 2 * i, sizeof one);                                                                     \
    r##i += ADD_TWO(one + (Words){0}, x);
#define PUT_PAIRS(i) __builtin_memcpy(tile + i * PAIRS, &r##i, sizeof r##i);
    OF_TWICE(BEGIN_PAIRS)
    for (Int k = 0; k < pairs; k++, a += 2 * PAIRS, b += 2 * PAIRS) {
        Shorts x;
        int32_t one;
        __builtin_memcpy(&x, b, sizeof x);
        OF_TWICE(TAKE_PAIRS)
    }
    OF_TWICE(PUT_PAIRS)
}

static void add_pairs(Int pairs, Int p, const int16_t *panel, Int apart, double *out, Int out_step, Ahead ahead) {
    Int strips = (p + PAIRS - 1) / PAIRS, lines = lines_a_tile(&ahead, strips, 1);
    int32_t tile[PAIRS * PAIRS] __attribute__((aligned(LINE)));
    for (Int j = 0; j < strips; j++)
        for (Int i = 0; i <= j; i++) {
            bring(&ahead, lines);
            strip_of_pairs(pairs, panel + i * apart, panel + j * apart, tile);
            double *to = out + i * PAIRS * out_step + j * PAIRS;
            Int high = least(PAIRS, p - i * PAIRS), wide = least(PAIRS, p - j * PAIRS);
            for (Int r = 0; r < high; r++, to += out_step) {
                const int32_t *sums = tile + r * PAIRS;
                if (wide == PAIRS) {
                    LANES
                    for (Int c = 0; c < PAIRS; c++) to[c] += sums[c];
                } else
                    for (Int c = 0; c < wide; c++) to[c] += sums[c];
            }
        }
}

#define REAL double
#define NAMED(name) name##_f64
#include "compiled_products.c"
#undef REAL
#undef NAMED
#define REAL float
#define NAMED(name) name##_f32
#include "compiled_products.c"
#undef REAL
#undef NAMED
#define SMALL int8_t
#define NAMED(name) name##_i8
#include "compiled_products.c"
#undef SMALL
#undef NAMED
#define SMALL uint8_t
#define NAMED(name) name##_u8
#include "compiled_products.c"
#undef SMALL
#undef NAMED
#elif defined(REAL)

/* Six rows less their center, and what float64 leaves over of it; past the end the last row stands in. */
static void NAMED(subtract)(Int n, Int p, const REAL *rows, Int rows_step, const double *restrict center,
                            const double *restrict low, double *out, Int out_step) {
    const REAL *restrict x0 = rows, *restrict x1 = rows + least(1, n - 1) * rows_step;
    const REAL *restrict x2 = rows + least(2, n - 1) * rows_step, *restrict x3 = rows + least(3, n - 1) * rows_step;
    const REAL *restrict x4 = rows + least(4, n - 1) * rows_step, *restrict x5 = rows + least(5, n - 1) * rows_step;
    double *restrict y0 = out, *restrict y1 = y0 + out_step, *restrict y2 = y1 + out_step;
    double *restrict y3 = y2 + out_step, *restrict y4 = y3 + out_step, *restrict y5 = y4 + out_step;
    LANES
    for (Int j = 0; j < p; j++) {
        double c = center[j], d = low[j];
        y0[j] = x0[j] - c - d, y1[j] = x1[j] - c - d, y2[j] = x2[j] - c - d;
        y3[j] = x3[j] - c - d, y4[j] = x4[j] - c - d, y5[j] = x5[j] - c - d;
    }
}

KERNEL(void)
NAMED(lowdim_add_normal)(Int n, Int p, Int b, Int w, const REAL *rows, Int rows_step, const double *center,
                         const double *low, const double *weight, const double *Q, Int Q_step, double *out, Int out_step, double *six,
                         Int six_step, double *scores, Int scores_step) {
    for (Int i = 0; i < ROWS; i++)
        for (Int j = p; j < w; j++) six[i * six_step + j] = 0.0;
    for (Int start = 0; start < n; start += ROWS) {
        NAMED(subtract)(n - start, p, rows + start * rows_step, rows_step, center, low, six, six_step);
        for (Int q = 0; q < b; q += 4)
            for (Int i = 0; i < ROWS; i += HIGH)
                scores_of_some(w, six + i * six_step, six_step, Q + q * Q_step, Q_step, scores + i * scores_step + q,
                               scores_step);
        for (Int q = 0; q < b; q += WIDE) {
            double factors[WIDE * ROWS];
            for (Int i = 0; i < ROWS; i++) { /* rows past the end have scores of zero */
                double factor = start + i < n ? weight[start + i] : 0.0;
                for (Int k = 0; k < WIDE; k++) factors[k * ROWS + i] = factor * scores[i * scores_step + q + k];
            }
            add_to_some(w, six, six_step, factors, out + q * out_step, out_step);
        }
    }
}

/* Scores of rows less their center; gives 0, or no number where a score is none. */
KERNEL(double)
NAMED(lowdim_scores)(Int n, Int p, Int b, Int w, Int k, const REAL *rows, Int rows_step, const double *center,
                     const double *Q, Int Q_step, REAL *out, Int out_step, double *six, Int six_step, double *scores,
                     Int scores_step) {
    double nothing = 0.0;
    for (Int i = 0; i < ROWS; i++)
        for (Int j = 0; j < w; j++) six[i * six_step + j] = 0.0;
    for (Int start = 0; start < n; start += ROWS) {
        for (Int i = 0; i < least(ROWS, n - start); i++) {
            const REAL *restrict x = rows + (start + i) * rows_step;
            double *restrict y = six + i * six_step;
            LANES
            for (Int j = 0; j < p; j++) y[j] = x[j] - center[j];
        }
        for (Int q = 0; q < b; q += 4)
            for (Int i = 0; i < ROWS; i += HIGH)
                scores_of_some(w, six + i * six_step, six_step, Q + q * Q_step, Q_step, scores + i * scores_step + q,
                               scores_step);
        for (Int i = 0; i < least(ROWS, n - start); i++)
            for (Int q = 0; q < k; q++) {
                double score = scores[i * scores_step + q];
                out[(start + i) * out_step + q] = (REAL)score;
                nothing += 0.0 * score;
            }
    }
    return nothing;
}

/* Four rows at a time, one after the other, so that sums are read and written a quarter as often. */
KERNEL(void)
NAMED(lowdim_add_sums)(Int n, Int p, const REAL *rows, Int rows_step, const double *shift, double *total,
                       double *squares) {
    const double *restrict from = shift;
    double *restrict sum = total, *restrict square = squares;
    Int i = 0;
    for (; i + 4 <= n; i += 4) {
        const REAL *restrict x0 = rows + i * rows_step, *restrict x1 = x0 + rows_step;
        const REAL *restrict x2 = x1 + rows_step, *restrict x3 = x2 + rows_step;
        LANES
        for (Int j = 0; j < p; j++) {
            double a = x0[j] - from[j], b = x1[j] - from[j], c = x2[j] - from[j], d = x3[j] - from[j];
            sum[j] = sum[j] + a + b + c + d;
            square[j] = square[j] + a * a + b * b + c * c + d * d;
        }
    }
    for (; i < n; i++) {
        const REAL *restrict x = rows + i * rows_step;
        LANES
        for (Int j = 0; j < p; j++) {
            double apart = x[j] - from[j];
            sum[j] += apart;
            square[j] += apart * apart;
        }
    }
}

#define TOGETHER 8 /* rows written to strips at a time, so that their part of a strip is whole lines of the cache */

typedef REAL NAMED(Part) __attribute__((vector_size(sizeof(REAL) * STRIP)));

/* Some rows less the shift, as strips, and their sums. */
INLINE void NAMED(write_strips)(Int rows, Int p, const REAL *from, Int step, const double *shift, double *strip,
                                Int apart, double *sums) {
    Int j = 0;
    for (; j + STRIP <= p; j += STRIP, strip += apart) {
        Strip less = strip_at(shift + j), sum = {0};
        for (Int k = 0; k < rows; k++) {
            NAMED(Part) x;
            __builtin_memcpy(&x, from + k * step + j, sizeof x);
            Strip y = __builtin_convertvector(x, Strip) - less;
            put_strip(y, strip + k * STRIP);
            sum += y;
        }
        put_strip(strip_at(sums + j) + sum, sums + j);
    }
    if (j < p)
        for (Int k = 0; k < rows; k++) {
            put_strip((Strip){0}, strip + k * STRIP);
            for (Int e = 0; e < p - j; e++) {
                double y = (double)from[k * step + j + e] - shift[j + e];
                strip[k * STRIP + e] = y;
                sums[j + e] += y;
            }
        }
}

KERNEL(void)
NAMED(lowdim_add_scatter)(Int n, Int p, Int m, const REAL *rows, Int rows_step, const double *shift, double *panel,
                          double *sums, double *total, double *scatter, Int scatter_step, Int height) {
    Int apart = (height + 1) * STRIP; /* a line more, lest all strips begin at the same place of the cache */
    (void)m;
    for (Int start = 0; start < n; start += height) {
        const REAL *from = rows + start * rows_step;
        Int here = least(height, n - start), next = least(height, n - start - here), k = 0;
        for (Int j = 0; j < p; j++) sums[j] = 0.0;
        for (; k + TOGETHER <= here; k += TOGETHER)
            NAMED(write_strips)(TOGETHER, p, from + k * rows_step, rows_step, shift, panel + k * STRIP, apart, sums);
        NAMED(write_strips)(here - k, p, from + k * rows_step, rows_step, shift, panel + k * STRIP, apart, sums);
        Ahead ahead = {from + here * rows_step, next, p * (Int)sizeof(REAL), rows_step * (Int)sizeof(REAL), 0, 0};
        add_panel(here, p, panel, apart, scatter, scatter_step, ahead);
        for (Int j = 0; j < p; j++) total[j] += sums[j];
    }
}
#undef TOGETHER

#else

/* Two rows less the shift, side by side; the second is `none` of them where rows are odd. */
INLINE void NAMED(write_pairs)(Int p, const SMALL *one, const SMALL *other, int16_t none, const int16_t *shift,
                               int16_t *restrict strip, Int apart, int32_t *restrict sums) {
    Int j = 0;
    for (; j + PAIRS <= p; j += PAIRS, strip += apart) {
        LANES
        for (Int e = 0; e < PAIRS; e++) {
            int16_t x = one[j + e] - shift[j + e], y = (other[j + e] - shift[j + e]) & none;
            strip[2 * e] = x, strip[2 * e + 1] = y;
            sums[j + e] += x + y;
        }
    }
    if (j < p) {
        for (Int e = 0; e < 2 * PAIRS; e++) strip[e] = 0;
        for (Int e = 0; e < p - j; e++) {
            int16_t x = one[j + e] - shift[j + e], y = (other[j + e] - shift[j + e]) & none;
            strip[2 * e] = x, strip[2 * e + 1] = y;
            sums[j + e] += x + y;
        }
    }
}

KERNEL(void)
NAMED(lowdim_add_exact_scatter)(Int n, Int p, Int m, const SMALL *rows, Int rows_step, const int16_t *shift,
                                int16_t *panel, int32_t *sums, double *total, double *scatter, Int scatter_step,
                                Int height) {
    Int apart = (height + 2) * PAIRS;
    (void)m;
    for (Int start = 0; start < n; start += height) {
        const SMALL *from = rows + start * rows_step;
        Int here = least(height, n - start), next = least(height, n - start - here);
        for (Int j = 0; j < p; j++) sums[j] = 0;
        for (Int k = 0; k < here; k += 2) {
            const SMALL *one = from + k * rows_step, *other = k + 1 < here ? one + rows_step : one;
            NAMED(write_pairs)(p, one, other, k + 1 < here ? -1 : 0, shift, panel + k * PAIRS, apart, sums);
        }
        Ahead ahead = {from + here * rows_step, next, p, rows_step, 0, 0};
        add_pairs((here + 1) / 2, p, panel, apart, scatter, scatter_step, ahead);
        for (Int j = 0; j < p; j++) total[j] += sums[j];
    }
}

#endif
