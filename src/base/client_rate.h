/* client_rate.h - what a client may ask of the exchange before anybody knows whose account pays:
 * buckets of tokens by address and by API key, shared by all network threads (W8).
 *
 * A bucket is one time (GCRA): when it will be full again. A client is 64 bits: an address as
 * rate_limit.h makes it, or the first bytes of a key's hash; the kind says which.
 *
 * Order. A bucket is advanced by compare-and-swap. No other memory is read through it: relaxed.
 * Wait.  A swap is repeated only when another thread has just charged the same bucket.
 * Owner. The node makes the table; every net thread charges it.
 * Units. clock_monotonic_ns.
 * Bound. CLIENT_RATE_ROWS clients of all kinds. The row of a full bucket is given to another
 *        client; in a set of eight that all owe, that of the one nearest to full. A thread that
 *        charges a row just given away may charge its new owner one token. */
#ifndef BASE_CLIENT_RATE_H
#define BASE_CLIENT_RATE_H

#include "base/compiler.h"
#include "base/mix.h"

enum client_rate_kind {
    CLIENT_RATE_PUBLIC,    /* address: reads without a key, and requests with mistakes */
    CLIENT_RATE_SIGNATURE, /* address: signed requests */
    CLIENT_RATE_CREATION,  /* address: accounts */
    CLIENT_RATE_READ,      /* API or device key: reads */
    CLIENT_RATE_KINDS,
};

enum { CLIENT_RATE_ROWS = 65536 };

struct client_rate_limit {
    uint32_t rate;  /* tokens a second, > 0 */
    uint32_t burst; /* tokens of a full bucket, > 0 */
};

/* A bucket as it is reported to its client. */
struct client_rate_state {
    uint32_t limit;     /* tokens when it is full; 0: there is no bucket */
    uint32_t remaining; /* tokens now */
    uint32_t reset_s;   /* until it is full, rounded up */
};

struct client_rate;

/* The client that a key is, by the keyed hash of its secret, which nobody can choose. */
static inline uint64_t client_rate_of_key(const uint8_t *hash)
{
    return cc_load64(hash);
}

/* 0 or -ENOMEM. */
CC_MUST_USE int client_rate_create(struct client_rate **rates,
                                   const struct client_rate_limit limits[CLIENT_RATE_KINDS],
                                   struct mix_key hash_key);
void client_rate_destroy(struct client_rate *rates);

/* Takes `cost` tokens, of more than a bucket holds as many as it holds. Returns 0, or the ms until
 * the bucket has so many; then it has taken none, and one more refusal is counted. NULL: there is
 * no limit. */
CC_MUST_USE uint64_t client_rate_take(struct client_rate *rates, enum client_rate_kind kind,
                                      uint64_t client, uint32_t cost, uint64_t now_ns);

/* client_rate_take once more, at a later time, for one that it has just refused: no further refusal
 * is counted. */
CC_MUST_USE uint64_t client_rate_again(struct client_rate *rates, enum client_rate_kind kind,
                                       uint64_t client, uint32_t cost, uint64_t now_ns);

/* As client_rate_take of one token that was waited for: neither ends nor lengthens the row of
 * refusals. */
CC_MUST_USE uint64_t client_rate_redeem(struct client_rate *rates, enum client_rate_kind kind,
                                        uint64_t client, uint64_t now_ns);

/* Takes `cost` tokens for what was done already, whether the bucket has so many or not: what is
 * missing it owes, and nobody takes from it until that is paid. NULL: there is no limit. */
void client_rate_owe(struct client_rate *rates, enum client_rate_kind kind, uint64_t client,
                     uint32_t cost, uint64_t now_ns);

/* How often the bucket has refused since it last gave a token to one who had not waited. */
CC_MUST_USE uint32_t client_rate_refusals(const struct client_rate *rates,
                                          enum client_rate_kind kind, uint64_t client);

/* The bucket now. NULL: all zeros. */
struct client_rate_state client_rate_state(const struct client_rate *rates,
                                           enum client_rate_kind kind, uint64_t client,
                                           uint64_t now_ns);

#endif
