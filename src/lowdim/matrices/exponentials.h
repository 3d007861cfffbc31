/* 2^t for t ≤ 0, in place. Nothing branches, so that vector units take several numbers at a time.

   2^t = 2^r 2^m with m whole and |r| ≤ 1/2. Adding a large number rounds t to m, and leaves m in the last bits of the sum,
   from where it is added to the exponent of 2^r. That is a polynomial with the least largest relative error on
   [−1/2, 1/2] (by Remez' exchange): 3e-18 of degree 11, and 2e-9 of degree 6 for float32. */

#ifndef LOWDIM_EXPONENTIALS_H
#define LOWDIM_EXPONENTIALS_H

#include "runtime/native.h"

/* Exponents below −1021 count as −1021. */
INLINE double power_of_two_f64(double t) {
    const double large = 6755399441055744.0; /* 1.5 · 2^52 */
    DoubleBits moved, power;
    t = larger(t, -1021.0);
    moved.number = t + large;
    double r = t - (moved.number - large);
    double high =
        0.00015403530462514432 +
        r * (1.5252733489988525e-05 +
             r * (1.32154330896764e-06 +
                  r * (1.0178198021671931e-07 + r * (7.074105613508143e-09 + r * 4.435282706957277e-10))));
    power.number =
        1.0 +
        r * (0.6931471805599453 +
             r * (0.24022650695910155 +
                  r * (0.055504108664819925 + r * (0.009618129107588335 + r * (0.0013333558146789923 + r * high)))));
    power.bits += (int64_t)((uint64_t)moved.bits << 52);
    return power.number;
}

/* Exponents below −125 count as −125. */
INLINE float power_of_two_f32(float t) {
    const float large = 12582912.0f; /* 1.5 · 2^23 */
    SingleBits moved, power;
    t = -125.0f > t ? -125.0f : t;
    moved.number = t + large;
    float r = t - (moved.number - large);
    power.number =
        1.00000000055f +
        r * (0.6931472057f +
             r * (0.2402264689f +
                  r * (0.0555032878f + r * (0.009618488956f + r * (0.001339993118f + r * 0.000153458122f)))));
    power.bits += (int32_t)((uint32_t)moved.bits << 23);
    return power.number;
}

INLINE void powers_of_two_f64(Int n, double *restrict values) {
    LANES
    for (Int j = 0; j < n; j++) values[j] = power_of_two_f64(values[j]);
}

INLINE void powers_of_two_f32(Int n, float *restrict values) {
    LANES
    for (Int j = 0; j < n; j++) values[j] = power_of_two_f32(values[j]);
}

#endif
