/* newcomer_rate.h - how many accounts an address may make while an unfunded one lives: a bucket
 * that fills in an hour or more, shared by all network threads (W8).
 *
 * A bucket is one time (GCRA), as in client_rate.h. Its rows are apart from those of the fast
 * buckets: a row that owes for an hour would take theirs. Addresses of one prefix (IPv4 /24, IPv6
 * /48) have one set of NEWCOMER_RATE_ADDRESSES rows. Where all of them owe, a further address gets
 * the row that owes least, with what it owes: nobody gets rid of a debt by having more addresses,
 * and a prefix makes at most so many times what one address makes.
 *
 * Order. A bucket is advanced by compare-and-swap. No other memory is read through it: relaxed.
 * Wait.  A swap is repeated only when another thread has just charged the same bucket.
 * Owner. The node makes the table; every net thread charges it.
 * Units. clock_monotonic_ns.
 * Bound. NEWCOMER_RATE_SETS sets. Prefixes whose keyed hashes meet share one. A thread that charges
 *        a row just given away charges its new owner. */
#ifndef BASE_NEWCOMER_RATE_H
#define BASE_NEWCOMER_RATE_H

#include "base/compiler.h"
#include "base/mix.h"

enum { NEWCOMER_RATE_ADDRESSES = 2, NEWCOMER_RATE_SETS = 65536 };

struct newcomer_rate;

/* `burst` accounts at once, > 0, and as many again in `life_s` seconds, > 0. 0 or -ENOMEM. */
CC_MUST_USE int newcomer_rate_create(struct newcomer_rate **rate, uint32_t burst, uint32_t life_s,
                                     struct mix_key hash_key);
void newcomer_rate_destroy(struct newcomer_rate *rate);

/* Takes one from the bucket of an address as rate_limit.h makes it. Returns 0, or the ms until it
 * has one; then it has taken none. NULL: there is no limit. */
CC_MUST_USE uint64_t newcomer_rate_take(struct newcomer_rate *rate, uint64_t address,
                                        uint64_t now_ns);

/* How many the address may make now. NULL: UINT32_MAX. */
CC_MUST_USE uint32_t newcomer_rate_remaining(const struct newcomer_rate *rate, uint64_t address,
                                             uint64_t now_ns);

#endif
