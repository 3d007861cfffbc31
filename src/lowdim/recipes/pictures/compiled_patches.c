/* Loops over patches of pictures. See compiled_patches.py. */

#include "models/ppca_mixture/conditionals.h"

KERNEL(void)
lowdim_distances(Int c, Int height, Int length, Int r, Int square, const float *planes, Int top, const int64_t *lefts,
                 Int width, Int reach, float *out, Int out_step, float *columns, float *sums) {
    const Int side = 2 * reach + 1;
    for (Int i = 0; i < r; i++)
        for (Int j = 0; j < square; j++) out[i * out_step + j] = __builtin_inff();
    for (Int dy = most(-reach, -top); dy <= least(reach, height - width - top); dy++)
        for (Int dx = -reach; dx <= reach; dx++) {
            Int first = most(0, -dx), n = least(length, length - dx) - first;
            if (n < width) continue;
            for (Int x = 0; x < n; x++) columns[x] = 0.0f;
            for (Int plane = 0; plane < c; plane++)
                for (Int i = 0; i < width; i++) {
                    const float *restrict here = planes + (plane * height + top + i) * length + first;
                    const float *restrict there = planes + (plane * height + top + dy + i) * length + first + dx;
                    LANES
                    for (Int x = 0; x < n; x++) {
                        float apart = here[x] - there[x];
                        columns[x] += apart * apart;
                    }
                }
            n += 1 - width;
            for (Int x = 0; x < n; x++) sums[x] = columns[x];
            for (Int j = 1; j < width; j++) {
                LANES
                for (Int x = 0; x < n; x++) sums[x] += columns[x + j];
            }
            Int place = (dy + reach) * side + dx + reach;
            for (Int i = 0; i < r; i++)
                if (first <= lefts[i] && lefts[i] < first + n) out[i * out_step + place] = sums[lefts[i] - first];
        }
}

KERNEL(void)
lowdim_gather_patches(Int c, Int height, Int length, Int groups, Int n, Int square, const double *planes,
                      const int64_t *tops, Int tops_step, const int64_t *lefts, Int lefts_step, Int width,
                      double *out) {
    for (Int g = 0; g < groups; g++)
        for (Int plane = 0; plane < c; plane++)
            for (Int m = 0; m < n; m++) {
                Int top = tops[g * tops_step + m], left = lefts[g * lefts_step + m];
                double *restrict to = out + ((g * c + plane) * n + m) * square;
                for (Int i = 0; i < width; i++) {
                    const double *from = planes + (plane * height + top + i) * length + left;
                    for (Int j = 0; j < width; j++) to[i * width + j] = from[j];
                }
            }
}

KERNEL(void)
lowdim_scatter_patches(Int groups, Int c, Int n, Int square, Int three, Int height, Int length, const double *values,
                       const double *variances, const double *weights, const int64_t *tops, Int tops_step,
                       const int64_t *lefts, Int lefts_step, Int width, double *out) {
    const Int whole = c * height * length; /* from one of the three to the next */
    (void)three;
    for (Int g = 0; g < groups; g++)
        for (Int plane = 0; plane < c; plane++)
            for (Int m = 0; m < n; m++) {
                const double *own = values + ((g * c + plane) * n + m) * square;
                const double *variance = variances + (g * c + plane) * square;
                const double *weight = weights + (g * c + plane) * square;
                Int top = tops[g * tops_step + m], left = lefts[g * lefts_step + m];
                for (Int i = 0; i < width; i++) {
                    double *restrict first = out + (plane * height + top + i) * length + left;
                    double *restrict second = first + whole, *restrict third = second + whole;
                    for (Int j = 0; j < width; j++) {
                        Int entry = i * width + j;
                        double value = own[entry], times = weight[entry];
                        first[j] += times;
                        second[j] += times * value;
                        third[j] += times * (variance[entry] + value * value);
                    }
                }
            }
}

/* Patches filled by the Gaussian of the patches most like them. A picture is (height, length, channels), so that a row
   of a patch is one run of numbers; a patch is told by where its first number stands. */

typedef struct {
    Int width, run, step; /* rows of a patch, numbers of a row, and from one row of the picture to the next */
} Shape;

/* Square distances to all patches within reach, and where they are; gives how many there are. */
INLINE Int near(const Shape *shape, const double *picture, Int height, Int length, Int channels, Int top, Int left,
                Int reach, double *distances, int64_t *at, double *restrict sums) {
    const double *own = picture + top * shape->step + left * channels;
    Int found = 0;
    for (Int y = most(0, top - reach); y <= least(height - shape->width, top + reach); y++)
        for (Int z = most(0, left - reach); z <= least(length - shape->width, left + reach); z++) {
            const double *other = picture + y * shape->step + z * channels;
            double total = 0.0;
            for (Int j = 0; j < shape->run; j++) sums[j] = 0.0;
            for (Int i = 0; i < shape->width; i++) {
                const double *restrict a = own + i * shape->step, *restrict b = other + i * shape->step;
                LANES
                for (Int j = 0; j < shape->run; j++) sums[j] += (a[j] - b[j]) * (a[j] - b[j]);
            }
            SUMS(total)
            for (Int j = 0; j < shape->run; j++) total += sums[j];
            distances[found] = total, at[found++] = other - picture;
        }
    return found;
}

/* The nearest `n` of the patches, or all, are put first, in the order in which they lie, and of those with the same
   distance the first; gives how many there are. Bits of numbers from 0 on are ordered as they are, so that the largest
   distance that is taken is found in their bits, one after the other. */
static inline Int choose(Int found, Int n, double *distances, int64_t *at) {
    if (found <= n) return found;
    DoubleBits limit = {0.0};
    for (int64_t bit = 1LL << 62; bit; bit >>= 1) {
        DoubleBits tried = {.bits = limit.bits | bit};
        Int below = 0;
        SUMS(below)
        for (Int i = 0; i < found; i++) below += distances[i] < tried.number;
        if (below < n) limit = tried; /* the n-th is no smaller */
    }
    Int below = 0, kept = 0;
    for (Int i = 0; i < found; i++) below += distances[i] < limit.number;
    Int ties = n - below;
    for (Int i = 0; i < found; i++) {
        if (distances[i] > limit.number || (distances[i] == limit.number && ties-- <= 0)) continue;
        distances[kept] = distances[i], at[kept++] = at[i];
    }
    return kept;
}

INLINE void cut(const Shape *shape, const double *from, double *restrict to) {
    for (Int i = 0; i < shape->width; i++)
        for (Int j = 0; j < shape->run; j++) to[i * shape->run + j] = from[i * shape->step + j];
}

/* Cut a group out, less its mean, and filled up by zeros. */
static inline void gather_group(const Shape *shape, const double *picture, Int n, const int64_t *at, Int p, Int step,
                                double *group, double *restrict mean) {
    for (Int j = 0; j < p; j++) mean[j] = 0.0;
    for (Int m = 0; m < n; m++) {
        double *restrict row = group + m * step;
        cut(shape, picture + at[m], row);
        for (Int j = p; j < padded(p); j++) row[j] = 0.0;
        LANES
        for (Int j = 0; j < p; j++) mean[j] += row[j];
    }
    stretch(p, mean, 1.0 / (double)n);
    for (Int m = 0; m < n; m++) take_from_one(p, group + m * step, 1.0, mean);
}

INLINE double mean_of(const Shape *shape, const double *from) {
    double total = 0.0;
    for (Int i = 0; i < shape->width; i++)
        for (Int j = 0; j < shape->run; j++) total += from[i * shape->step + j];
    return total / (double)(shape->width * shape->run);
}

/* From the scatter of n members to the covariance of the group. common and doubt have mean diagonal one; the first is
   brought to the variance of the group. Of the scatter there is the upper triangle. */
static inline void regularise(Int p, Int step, double *cov, Int n, double unsure, const double *common,
                              Int common_step, double strength, const double *doubt, Int doubt_step, double noise) {
    double own = 0.0;
    for (Int j = 0; j < p; j++) own += cov[j * step + j];
    double factor = 1.0 / ((double)n + strength);
    double scale = strength * (own / (double)(n * p) + unsure) * factor, open = (double)n * unsure * factor;
    for (Int i = 0; i < p; i++) {
        double *restrict row = cov + i * step;
        const double *restrict one = doubt + i * doubt_step, *restrict other = common + i * common_step;
        LANES
        for (Int j = i; j < p; j++) row[j] = row[j] * factor + open * one[j] + scale * other[j];
        row[i] += noise;
    }
    mirror(p, 1.0, cov, step);
}

/* The inverse of cov, in the memory of a room. */
static inline void invert(Int p, const double *cov, const Room *room, double *precision) {
    const Int step = room->step;
    for (Int i = 0; i < p; i++) {
        for (Int j = i / STRIP * STRIP; j < p; j++) room->U[i * step + j] = cov[i * step + j];
        room->least[i] = LEAST_PIVOT * cov[i * step + i];
    }
    cholesky(p, room->U, room->least);
    invert_factor(p, room->U, room->B);
    square_triangle(p, room->B, precision);
    mirror(p, -1.0, precision, step);
}

static inline void lay(const Shape *shape, Int at, const double *mu, const double *var, double noise, double *weighed,
                       double *weights, double *counts) {
    for (Int i = 0; i < shape->width; i++)
        for (Int j = 0; j < shape->run; j++) {
            Int place = i * shape->run + j, to = at + i * shape->step + j;
            double weight = 1.0 / (var[place] + noise);
            weighed[to] += weight * mu[place];
            weights[to] += weight;
            counts[to] += 1.0;
        }
}

KERNEL(void)
lowdim_fill_by_similar(Int height, Int length, Int channels, Int r, Int p, Int room, Int both, Int around,
                       const double *values, const double *filled, const double *unsure, const int64_t *corners,
                       Int corners_step, Int width, Int reach, Int members, Int predicted, const double *common,
                       Int common_step, double strength, const double *doubt, Int doubt_step, double noise,
                       double *weighed, double *weights, double *counts, double *work, int64_t *places, int64_t *at) {
    const Int wide = padded(p), step = step_of(p);
    const Shape shape = {width, width * channels, length * channels};
    Room own = make_room(p, work, places);
    double *cov = work + wide * (2 * step + 3), *precision = cov + wide * step;
    double *mean = precision + wide * step, *x = mean + wide, *mu = x + wide, *var = mu + wide;
    double *distances = var + wide, *group = distances + padded(around);
    (void)room, (void)both;
    for (Int one = 0; one < r; one++) {
        Int top = corners[one * corners_step], left = corners[one * corners_step + 1];
        Int found = near(&shape, filled, height, length, channels, top, left, reach, distances, at, x);
        Int n = choose(found, members, distances, at);
        gather_group(&shape, filled, n, at, p, step, group, mean);
        for (Int j = 0; j < wide * step; j++) cov[j] = 0.0;
        take_square(n, wide, -1.0, group, step, cov, step);
        double mean_unsure = mean_of(&shape, unsure + top * shape.step + left * channels);
        regularise(p, step, cov, n, mean_unsure, common, common_step, strength, doubt, doubt_step, noise);
        Gaussian g = {p, mean, cov, step, precision, step, 0.0};
        Int inverted = 0;
        for (Int q = 0; q < least(predicted, n); q++) {
            Int nearest = 0;
            for (Int i = 1; i < n; i++)
                if (distances[i] < distances[nearest]) nearest = i;
            distances[nearest] = __builtin_inf();
            cut(&shape, values + at[nearest], x);
            Int m = split(p, x, &own);
            if (m == 0 || m == p) continue; /* nothing is known, or nothing asked */
            if (2 * m <= p) {
                expect_from_seen(&g, x, m, &own, mu, var);
            } else {
                if (!inverted) invert(p, cov, &own, precision), inverted = 1;
                expect_hidden(&g, x, p - m, &own, mu, var);
            }
            lay(&shape, at[nearest], mu, var, noise, weighed, weights, counts);
        }
    }
}
