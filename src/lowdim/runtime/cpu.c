/* Which level of x86-64 the processor and the system can run, from 1 to 4 as its psABI numbers them. Compiled for any
   x86-64, in a library of its own. The bits are those of Intel's manual, volume 2, CPUID. */

#include "runtime/native.h"

static void cpuid(uint32_t leaf, uint32_t *a, uint32_t *b, uint32_t *c, uint32_t *d) {
    __asm__ volatile("cpuid" : "=a"(*a), "=b"(*b), "=c"(*c), "=d"(*d) : "a"(leaf), "c"(0));
}

/* Which registers the system saves. */
static uint32_t saved(void) {
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

#define HAS(bits, wanted) (((bits) & (wanted)) == (wanted))

KERNEL(int) lowdim_cpu_level(void) {
    uint32_t a, b, c, d, most, most_extended;
    cpuid(0, &most, &b, &c, &d);
    cpuid(0x80000000u, &most_extended, &b, &c, &d);
    cpuid(1, &a, &b, &c, &d);
    uint32_t one = c;
    cpuid(0x80000001u, &a, &b, &c, &d);
    uint32_t extended = most_extended >= 0x80000001u ? c : 0, seven = 0;
    if (most >= 7) {
        cpuid(7, &a, &b, &c, &d);
        seven = b;
    }
    /* SSE3, SSSE3, CMPXCHG16B, SSE4.1, SSE4.2, POPCNT; LAHF */
    if (!HAS(one, 1u << 0 | 1u << 9 | 1u << 13 | 1u << 19 | 1u << 20 | 1u << 23) || !HAS(extended, 1u << 0)) return 1;
    /* FMA, MOVBE, OSXSAVE, AVX, F16C; LZCNT; BMI1, AVX2, BMI2; registers of 128 and 256 bits are saved */
    if (!HAS(one, 1u << 12 | 1u << 22 | 1u << 27 | 1u << 28 | 1u << 29) || !HAS(extended, 1u << 5) ||
        !HAS(seven, 1u << 3 | 1u << 5 | 1u << 8) || !HAS(saved(), 0x6u))
        return 2;
    /* AVX-512 F, DQ, CD, BW, VL; masks and registers of 512 bits are saved */
    if (!HAS(seven, 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31) || !HAS(saved(), 0xe6u)) return 3;
    return 4;
}
