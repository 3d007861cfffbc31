/* See compiled_structure.py. */

#ifndef INDEX
#include "runtime/native.h"

#define INDEX int64_t
#define UNSIGNED uint64_t
#define NAMED(name) name##_i64
#include "compiled_structure.c"
#undef INDEX
#undef UNSIGNED
#undef NAMED
#define INDEX int32_t
#define UNSIGNED uint32_t
#define NAMED(name) name##_i32
#include "compiled_structure.c"
#else

/* A negative number without its sign is larger than any place. */
KERNEL(double)
NAMED(lowdim_farthest_place)(Int m, const INDEX *places) {
    UNSIGNED farthest = 0;
    LARGEST(farthest)
    for (Int e = 0; e < m; e++) farthest = (UNSIGNED)places[e] > farthest ? (UNSIGNED)places[e] : farthest;
    return (double)farthest;
}

KERNEL(double)
NAMED(lowdim_csr_repeats)(Int n1, Int m, Int p, const INDEX *starts, const INDEX *places, int64_t *seen) {
    (void)m, (void)p;
    for (Int i = 0; i + 1 < n1; i++)
        for (Int e = starts[i]; e < (Int)starts[i + 1]; e++) {
            if (seen[places[e]] == i) return 1.0;
            seen[places[e]] = i;
        }
    return 0.0;
}

#endif
