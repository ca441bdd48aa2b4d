/* signer_key.h - whether the key of a signed request is one that may sign it, as far as net knows
 * (rules.md R11, step 11), and whether a look at its signature may be asked for. The engine
 * decides.
 *
 * Owner. The net thread.
 * Units. now_ns is clock_monotonic_ns. */
#ifndef NET_REQUEST_SIGNER_KEY_H
#define NET_REQUEST_SIGNER_KEY_H

#include "base/message.h"
#include "net/conn/conn.h"
#include "net/conn/net_config.h"
#include "net/request/allowance.h"

/* Is the key of the request known: configured for its operator code, or in the keyring for the
 * account it names. Account creation brings its own, which is in no keyring: false as well. */
CC_MUST_USE bool signer_key_is_known(const struct net_config *config, const struct request *request,
                                     const struct command *command);

/* Is the request one of those that are looked at one a turn: strangers', those behind a wrong
 * signature, and, while their address has used up its wrong signatures, those of connections that
 * have shown none yet, operators' apart. Whoever has just signed rightly never is. */
CC_MUST_USE bool signer_key_is_slow(const struct allowance *allowance, const struct conn *conn,
                                    const struct request *request, bool is_known, uint64_t now_ns);

/* Is it a stranger's key, which its address pays for. Before recovery is through nobody's is: the
 * keyring is not whole, and a client that comes back is told to try again (R11, step 11), not that
 * it asks too much. */
CC_MUST_USE bool signer_key_is_strange(const struct net_config *config, bool is_known);

/* A slow request's turn: is it refused unverified, because its address has used up what unknown
 * keys may cost, or wrong signatures and its connection's newest was one. Then *problem has 429. */
CC_MUST_USE bool signer_key_is_refused(const struct net_config *config,
                                       const struct allowance *allowance, uint64_t address,
                                       bool is_known, bool forges, uint64_t now_ns,
                                       struct problem_detail *problem);

/* A signature under a known key was wrong: 401, or 429 when the address has used up its wrong ones,
 * in *problem. True: 429. */
CC_MUST_USE bool signer_key_was_wrong(const struct net_config *config, struct allowance *allowance,
                                      uint64_t address, uint64_t now_ns,
                                      struct problem_detail *problem);

#endif
