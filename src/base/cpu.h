/* cpu.h - which vector instructions this machine has, for code that exists in variants.
 *
 * Every machine served has AVX2 (CMakeLists.txt; perpd exits 4 without it), so cpu_level never
 * returns CPU_SCALAR. Tests choose it to compare the variants with. */
#ifndef BASE_CPU_H
#define BASE_CPU_H

#include "base/compiler.h"

enum cpu_level {
    CPU_SCALAR,
    CPU_AVX2,
    CPU_AVX512, /* F, BW, VL and VBMI: looks up and moves 64 bytes at a time */
    CPU_LEVELS
};

/* Returns the best level of this machine. The compiler's library also checks that the operating
 * system saves the wide registers (XCR0). Any thread. */
CC_MUST_USE enum cpu_level cpu_level(void);

/* True if the machine has AVX-512 F, DQ, BW, VL, IFMA, VBMI and VBMI2, the set that
 * crypto/lane_word.h needs. Any thread. */
CC_MUST_USE bool cpu_has_lanes(void);

/* Returns the name of a level, such as "AVX2"; static storage. */
const char *cpu_level_name(enum cpu_level level);

#endif
