/* Cholesky factors of small matrices: LAPACK, called for one after the other, spends most of its time on calls. */

#ifndef LOWDIM_CHOLESKY_H
#define LOWDIM_CHOLESKY_H

#include "runtime/native.h"

/* A = UᵀU in place, upper triangle alone, of a matrix of `size` rows, a multiple of four; gives log |A|. Not a number
   where A is not positive definite. Four rows are used at a time, so that what is loaded is used four times. */
static double cholesky(Int size, double *restrict U) {
    double half = 0.0;
    for (Int b = 0; b < size; b += 4) {
        double product = 1.0;
        for (Int i = b; i < b + 4; i++) {
            double *restrict row = U + i * size;
            for (Int m = b; m < i; m++) {
                const double *above = U + m * size;
                double f = above[i];
                LANES
                for (Int j = b; j < size; j++) row[j] -= f * above[j];
            }
            double diagonal = root(row[i]), f = 1.0 / diagonal;
            product *= diagonal;
            LANES
            for (Int j = b; j < size; j++) row[j] *= f;
        }
        half += ln(product);
        const double *u0 = U + b * size, *u1 = u0 + size, *u2 = u1 + size, *u3 = u2 + size;
        for (Int i = b + 4; i < size; i++) {
            double *restrict row = U + i * size;
            double f0 = u0[i], f1 = u1[i], f2 = u2[i], f3 = u3[i];
            LANES
            for (Int j = i / 4 * 4; j < size; j++) row[j] -= f0 * u0[j] + f1 * u1[j] + f2 * u2[j] + f3 * u3[j];
        }
    }
    return 2.0 * half;
}

#endif
