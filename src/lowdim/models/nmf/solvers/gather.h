/* Rows of a factor at the stored places of a row, for places of one type: INDEX and NAMED are those of whoever
   includes it. */

/* H (k, step) ← rows of Ht (p, k), eight at a time: single numbers would each be written to another line of the cache.
   `step` is a multiple of eight, so that there is room behind the last, where it is written again. */
static void NAMED(gather)(Int k, Int count, const INDEX *restrict places, const double *restrict Ht, Int Ht_step,
                          double *restrict H, Int step) {
    for (Int e = 0; e < count; e += 8) {
        const double *from[8];
        for (Int i = 0; i < 8; i++) from[i] = Ht + (Int)places[least(e + i, count - 1)] * Ht_step;
        for (Int t = 0; t < k; t++) {
            double *restrict to = H + t * step + e;
            to[0] = from[0][t], to[1] = from[1][t], to[2] = from[2][t], to[3] = from[3][t];
            to[4] = from[4][t], to[5] = from[5][t], to[6] = from[6][t], to[7] = from[7][t];
        }
    }
}
