/* ed25519_lanes.h - eight Ed25519 verifications at a time with AVX-512 IFMA.
 *
 * Verdicts are those of ed25519.h. Only ed25519_lanes*.c and lane_*.c are compiled for AVX-512; on
 * a machine or with a compiler without it ed25519_lanes_supported is false and nothing else here
 * may be called.
 *
 * Owner. Any thread, after ed25519_base_init. */
#ifndef CRYPTO_ED25519_LANES_H
#define CRYPTO_ED25519_LANES_H

#include "crypto/ed25519.h"

enum { ED25519_LANES_COUNT = 8, ED25519_LANES_SPLIT_MAX = 4 };

/* Has this CPU AVX-512 F, DQ, BW, VL, IFMA, VBMI and VBMI2, and does the system save its
 * registers. */
CC_MUST_USE bool ed25519_lanes_supported(void);

/* One signature a lane; 1 .. 8 jobs, each with the table of its key (ed25519_table_serves); one
 * small table makes the call as long as if all were small. Bit i of the result: job i is good. */
CC_MUST_USE uint64_t ed25519_lanes_cached(const struct ed25519_job *jobs, unsigned count);

/* One signature over several lanes, for few of them; 1 .. 4 jobs, tables of 32 positions. */
CC_MUST_USE uint64_t ed25519_lanes_split(const struct ed25519_job *jobs, unsigned count);

/* One signature a lane, without tables; 1 .. 8 jobs. */
CC_MUST_USE uint64_t ed25519_lanes_uncached(const struct ed25519_job *jobs, unsigned count);

#endif
