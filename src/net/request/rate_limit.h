/* rate_limit.h - per-address limits on unknown keys and on bad signatures (rules.md R11, W8).
 *
 * Each address has two buckets: verifications under unknown keys, and bad signatures under known
 * ones. A bucket is one time (GCRA): when it will be full again. That time lies at most one second
 * ahead, so the burst is what one second allows.
 *
 * An address is an IPv4 address, or the upper half of an IPv6 address: a client that has one such
 * half has all addresses under it (W8).
 *
 * Owner.  The net thread. Each of the port's threads has its part of the rates (W8).
 * Units.  clock_monotonic_ns.
 * Bound.  RATE_LIMIT_ADDRESSES addresses. The address whose buckets are nearest to full is
 *         replaced; that loses nothing as long as fewer than eight of a set are in debt at once. */
#ifndef NET_REQUEST_RATE_LIMIT_H
#define NET_REQUEST_RATE_LIMIT_H

#include "base/mix.h"
#include "net/socket/peer.h"

enum rate_limit_kind { RATE_LIMIT_UNKNOWN_KEY, RATE_LIMIT_BAD_SIGNATURE, RATE_LIMIT_KINDS };

enum { RATE_LIMIT_ADDRESSES = 16384 };

struct rate_limit;

/* `rates` are per second, for all `threads` of the port together; 0 is no limit. 0 or -ENOMEM. */
CC_MUST_USE int rate_limit_create(struct rate_limit **limits,
                                  const uint32_t rates[RATE_LIMIT_KINDS], uint32_t threads,
                                  struct mix_key hash_key);
void rate_limit_destroy(struct rate_limit *limits);

/* The ms until the address may use one more; 0: it may now. */
CC_MUST_USE uint64_t rate_limit_wait_ms(const struct rate_limit *limits, uint64_t address,
                                        enum rate_limit_kind kind, uint64_t now_ns);

/* Charges the address for one. */
void rate_limit_charge(struct rate_limit *limits, uint64_t address, enum rate_limit_kind kind,
                       uint64_t now_ns);

/* The address by which a peer is limited: an IPv4 address, or the first 64 bits of an IPv6 one.
 * Peers without an address share the address 0. */
uint64_t rate_limit_address(const struct peer *peer);

#endif
