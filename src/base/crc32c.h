/* crc32c.h - CRC-32C (Castagnoli, RFC 3720) of bytes; any thread, no state.
 *
 * The checksum of every header and frame of the journal. With SSE4.2 it runs three streams of the
 * crc32 instruction side by side (its latency is 3 cycles, its throughput 1) and joins them with
 * tables; without it, eight table look-ups a word.
 *
 * Wait.  Nothing blocks or allocates.
 * Units. Counts are bytes; any alignment. */
#ifndef BASE_CRC32C_H
#define BASE_CRC32C_H

#include "base/cc.h"

/* The CRC of `count` bytes: crc32c("123456789") = 0xE3069283. */
CC_MUST_USE uint32_t crc32c(const void *bytes, size_t count);

/* The CRC of A followed by `bytes`, given the CRC of A (0 for an empty A). */
CC_MUST_USE uint32_t crc32c_extend(uint32_t crc, const void *bytes, size_t count);

/* The same value by tables alone: what a compile without SSE4.2 runs, and the test's other half. */
CC_MUST_USE uint32_t crc32c_extend_portable(uint32_t crc, const void *bytes, size_t count);

#endif
