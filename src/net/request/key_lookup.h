/* key_lookup.h - is the key of a signed request known, is its verification slow, and may it be
 * asked for at all (rules.md R11, step 11). Only what net knows; the engine decides.
 *
 * Owner. The net thread.
 * Units. now_ns is clock_monotonic_ns. */
#ifndef NET_REQUEST_KEY_LOOKUP_H
#define NET_REQUEST_KEY_LOOKUP_H

#include "base/message.h"
#include "net/conn/conn.h"
#include "net/conn/net_config.h"
#include "net/request/rate_limit.h"

/* Whether the key of the request is known: configured for its operator code, or in the keyring for
 * the account that it names, a passkey by its credential id. An account creation brings its own
 * key, which is not known. */
CC_MUST_USE bool key_lookup_is_known(const struct net_config *config, const struct request *request,
                                     const struct command *command);

/* Copies the row of the master key that signed a find_account, live as of `durable_seq`, to *row.
 * False if there is none; *row is then unspecified. */
CC_MUST_USE bool key_lookup_owner(const struct net_config *config, const struct request *request,
                                  const struct command *command, uint64_t durable_seq,
                                  struct keyring_row *row);

/* Copies the row of the passkey that the command names by its credential id, for the account that
 * it names (code 36: of any), to *row. False if there is none; *row is then unchanged. */
CC_MUST_USE bool key_lookup_passkey(const struct net_config *config, const struct request *request,
                                    const struct command *command, struct keyring_row *row);

/* Whether two paths verify the request (docs/spec/signatures.md, Two paths): all codes but those
 * that only sessions sign. */
CC_MUST_USE static inline bool key_lookup_is_judged_twice(const struct request *request)
{
    return request->signer != SIGNER_SESSION;
}

/* Whether the request is verified in the slow queue, one a turn: its key is unknown; or the last
 * signature of its connection was bad; or two paths verify it; or its address has used up its bad
 * signatures and its connection has shown no good one yet. Operators' are not slow but for the
 * first two. */
CC_MUST_USE bool key_lookup_is_slow(const struct rate_limit *limits, const struct conn *conn,
                                    const struct request *request, bool is_known, uint64_t now_ns);

/* Whether the address pays for an unknown key. During recovery it does not: the keyring is not
 * complete, and a returning client must get retry_required (R11, step 11), not that it asks too
 * much. */
CC_MUST_USE bool key_lookup_is_charged(const struct net_config *config, bool is_known);

/* Whether a slow request is refused unverified: its address has used up its unknown keys, or its
 * bad signatures and the last one of its connection was bad. Then *problem has 429. */
CC_MUST_USE bool key_lookup_refuses(const struct net_config *config,
                                    const struct rate_limit *limits, uint64_t address,
                                    bool is_known, bool last_signature_bad, uint64_t now_ns,
                                    struct problem_detail *problem);

/* A signature under a known key was bad, and its address is charged. True: the address has used up
 * its bad signatures, and *problem is 429; else *problem is unchanged. */
CC_MUST_USE bool key_lookup_charge_bad(const struct net_config *config, struct rate_limit *limits,
                                       uint64_t address, uint64_t now_ns,
                                       struct problem_detail *problem);

#endif
