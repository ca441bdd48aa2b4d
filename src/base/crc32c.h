/* crc32c.h - CRC-32C (Castagnoli, RFC 3720) of bytes; any thread, no state.
 *
 * It is the checksum of every header and frame of the journal. With SSE4.2 three streams of the
 * crc32 instruction run in parallel (latency 3 cycles, throughput 1) and tables join them. Without
 * it each word costs eight table look-ups.
 *
 * Wait.  Nothing blocks or allocates.
 * Units. Counts are bytes; any alignment. */
#ifndef BASE_CRC32C_H
#define BASE_CRC32C_H

#include "base/compiler.h"

/* Returns the CRC of `count` bytes: crc32c("123456789") = 0xE3069283. */
CC_MUST_USE uint32_t crc32c(const void *bytes, size_t count);

/* Returns the CRC of A followed by `bytes`, given the CRC of A (0 for an empty A). */
CC_MUST_USE uint32_t crc32c_extend(uint32_t crc, const void *bytes, size_t count);

/* Returns the same value by tables alone. A build without SSE4.2 runs it, and tests compare it with
 * the other. */
CC_MUST_USE uint32_t crc32c_extend_portable(uint32_t crc, const void *bytes, size_t count);

#endif
