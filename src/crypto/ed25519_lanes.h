/* ed25519_lanes.h - eight Ed25519 verifications at a time with AVX-512 IFMA.
 *
 * Verdicts are those of ed25519.h. Only ed25519_lanes*.c and lane_*.c are compiled for AVX-512. On
 * a machine or with a compiler without it ed25519_lanes_is_supported is false, and no other
 * function here may be called.
 *
 * Owner. Any thread, after ed25519_base_init. */
#ifndef CRYPTO_ED25519_LANES_H
#define CRYPTO_ED25519_LANES_H

#include "crypto/ed25519.h"

enum { ED25519_LANES_COUNT = 8, ED25519_LANES_SPLIT_MAX = 4 };

/* True if this CPU has AVX-512 F, DQ, BW, VL, IFMA, VBMI and VBMI2 and the system saves its
 * registers. */
CC_MUST_USE bool ed25519_lanes_is_supported(void);

/* Verifies 1 .. 8 jobs, one a lane. Each has the table of its key (ed25519_table_serves); one small
 * table makes the call as slow as if all were small. Bit i of the result is set when job i is
 * good. */
CC_MUST_USE uint64_t ed25519_lanes_cached(const struct ed25519_job *jobs, unsigned count);

/* The same for 1 .. 4 jobs with tables of 32 positions, each over several lanes: faster for few
 * jobs. */
CC_MUST_USE uint64_t ed25519_lanes_split(const struct ed25519_job *jobs, unsigned count);

/* The same for 1 .. 8 jobs without tables, one a lane. */
CC_MUST_USE uint64_t ed25519_lanes_uncached(const struct ed25519_job *jobs, unsigned count);

#endif
