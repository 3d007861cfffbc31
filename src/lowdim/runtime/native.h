/* What every kernel stands on: types, letters that mark what is exported, and mathematics without a library.

   Rules. No call of any library, no allocation, no global that is written to. Arrays begin where a pointer says and
   have rows `_step` numbers apart. A union, never a cast of pointers, reads the bits of a number. Sums are in the order
   of the text unless `SUMS(...)` stands before their loop, which lets vector units take several terms at a time. */

#ifndef LOWDIM_NATIVE_H
#define LOWDIM_NATIVE_H

#include <stddef.h>
#include <stdint.h>

typedef ptrdiff_t Int;

#if defined(_WIN32)
#define KERNEL(result) __declspec(dllexport) result
#else
#define KERNEL(result) __attribute__((visibility("default"))) result
#endif

#define INLINE static inline __attribute__((always_inline))
/* A function by itself: inside of another one compilers keep some of its sums in memory, for want of registers. */
#define BY_ITSELF static __attribute__((noinline))

#define PRAGMA(words) _Pragma(#words)
/* Before a loop whose rounds do not depend on each other: several at a time. */
#define LANES PRAGMA(omp simd)
/* Before a loop that sums into these variables: in any order. */
#define SUMS(...) PRAGMA(omp simd reduction(+ : __VA_ARGS__))
#define LARGEST(...) PRAGMA(omp simd reduction(max : __VA_ARGS__))

#define EIGHT 8
/* Eight rounds of a loop over `e` at once; what is summed in arrays of eight stays in registers. */
#if defined(__clang__) /* which would first unroll so short a loop, and then find no vectors in what is left */
#define EACH                                                                                                           \
    PRAGMA(clang loop vectorize(assume_safety) vectorize_width(8) interleave_count(1) unroll(disable))                 \
    for (Int e = 0; e < EIGHT; e++)
#else
#define EACH LANES for (Int e = 0; e < EIGHT; e++)
#endif

INLINE Int least(Int a, Int b) { return a < b ? a : b; }
INLINE Int most(Int a, Int b) { return a > b ? a : b; }

/* As Python's max and min: the second argument where it is larger (smaller), so a NaN first stays. */
INLINE double larger(double a, double b) { return b > a ? b : a; }
INLINE double smaller(double a, double b) { return b < a ? b : a; }

/* Four rows of p numbers times x: additions of one row would wait for each other. */
INLINE void multiply_four(Int p, const double *a, const double *b, const double *c, const double *d, const double *x,
                          double *sums) {
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
    SUMS(s0, s1, s2, s3)
    for (Int j = 0; j < p; j++) {
        s0 += a[j] * x[j];
        s1 += b[j] * x[j];
        s2 += c[j] * x[j];
        s3 += d[j] * x[j];
    }
    sums[0] = s0, sums[1] = s1, sums[2] = s2, sums[3] = s3;
}

INLINE double root(double x) { return __builtin_sqrt(x); }
INLINE double absolute(double x) { return __builtin_fabs(x); }

typedef union {
    double number;
    int64_t bits;
} DoubleBits;

typedef union {
    float number;
    int32_t bits;
} SingleBits;

/* log x, wrong by less than one unit in the last place; numbers below 2^−1022 that are not zero count as about that.
   x = 2^e f with f in [√½, √2), and log f = 2 artanh(s) for s = (f − 1) / (f + 1), whose series in s² is replaced by
   the polynomial of least error: the method and the coefficients are those of FreeBSD's e_log.c. Nothing branches. */
INLINE double ln(double x) {
    DoubleBits b = {x};
    /* 1024 + e, by the bits of √½; above zero, as vector units without AVX-512 have no signed shift and no conversion */
    uint64_t e = ((uint64_t)b.bits + 0x4000000000000000ULL - 0x3fe6a09e667f3bcdULL) >> 52;
    DoubleBits whole = {.bits = (int64_t)(0x4330000000000000ULL + e)}; /* 2^52 + 1024 + e */
    b.bits = (int64_t)((uint64_t)b.bits + 0x4000000000000000ULL - (e << 52));
    double f = b.number - 1.0, s = f / (2.0 + f), z = s * s, w = z * z;
    double odd = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
    double even = z * (6.666666666666735130e-01 +
                       w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
    double half = 0.5 * f * f, k = whole.number - 4503599627371520.0;
    double value = k * 6.93147180369123816490e-01 -
                   ((half - (s * (half + (odd + even)) + k * 1.90821492927058770002e-10)) - f);
    value = x <= 1.7976931348623157e308 ? value : x; /* infinity, and what is no number */
    value = x < 0.0 ? __builtin_nan("") : value;
    return x == 0.0 ? -__builtin_inf() : value;
}

/* log(1 + d) for d > −1: of the rounded sum, and of what rounding took off it. */
INLINE double ln_1_plus(double d) {
    double u = 1.0 + d;
    return ln(u) - ((u - 1.0) - d) / u;
}

#endif
