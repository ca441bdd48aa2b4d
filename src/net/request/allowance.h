/* allowance.h - how much work without a reward an address may still ask for (rules.md R11, W8).
 *
 * Two buckets an address: verifications for keys that nobody has, and signatures that were wrong
 * under a key that somebody has. Each is one time (GCRA): when the bucket would be full again. It
 * may lie at most a second ahead, so the burst is what a second allows.
 *
 * An address is an IPv4 address, or the upper half of an IPv6 address: a client that has one of
 * those has all of its lower halves (W8).
 *
 * Owner.  The net thread. Each of the port's threads has its part of the rates (W8).
 * Units.  clock_monotonic_ns.
 * Bound.  ALLOWANCE_ADDRESSES addresses. The one nearest to full buckets gives its place, which
 *         forgets nothing as long as eight of a set are not in debt at once. */
#ifndef NET_REQUEST_ALLOWANCE_H
#define NET_REQUEST_ALLOWANCE_H

#include "base/mix.h"

enum allowance_kind { ALLOWANCE_UNKNOWN_KEY, ALLOWANCE_BAD_SIGNATURE, ALLOWANCE_KINDS };

enum { ALLOWANCE_ADDRESSES = 16384 };

struct allowance;

/* `rates`: a second, of all `threads` of the port together; 0: no limit. 0 or -ENOMEM. */
CC_MUST_USE int allowance_create(struct allowance **allowance,
                                 const uint32_t rates[ALLOWANCE_KINDS], uint32_t threads,
                                 struct mix_key hash_key);
void allowance_destroy(struct allowance *allowance);

/* 0: the address may ask for one more; else the ms until it may. */
CC_MUST_USE uint64_t allowance_wait_ms(const struct allowance *allowance, uint64_t address,
                                       enum allowance_kind kind, uint64_t now_ns);

/* It has asked for one. */
void allowance_charge(struct allowance *allowance, uint64_t address, enum allowance_kind kind,
                      uint64_t now_ns);

/* The address of a connected socket's peer; 0 when it has none (then all of those share one). */
uint64_t allowance_address(int file);

#endif
