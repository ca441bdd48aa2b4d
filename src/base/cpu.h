/* cpu.h - which vector instructions this machine has, for code that has variants.
 *
 * The least machine served has AVX2 (CMakeLists.txt; perpd exits 4 below it). CPU_SCALAR is what
 * the variants are compared with, and what a test may choose; no machine is found to be of it. */
#ifndef BASE_CPU_H
#define BASE_CPU_H

#include "base/cc.h"

enum cpu_level {
    CPU_SCALAR,
    CPU_AVX2,
    CPU_AVX512, /* F, BW, VL and VBMI: bytes looked up and moved 64 at a time */
    CPU_LEVELS
};

/* The best of this machine; the compiler's library asks the operating system too, whether it keeps
 * the wide registers (XCR0). Any thread. */
CC_MUST_USE enum cpu_level cpu_level(void);

/* Has it AVX-512 F, DQ, BW, VL, IFMA, VBMI and VBMI2: what crypto/lane_word.h is made of. */
CC_MUST_USE bool cpu_has_lanes(void);

/* Static words: "AVX2". */
const char *cpu_level_name(enum cpu_level level);

#endif
