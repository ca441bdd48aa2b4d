/* signer_key.h - whether the key of a signed request is one that may sign it, as far as net knows
 * (rules.md R11, step 11), and whether a look at its signature may be asked for. The engine
 * decides.
 *
 * Owner. The net thread. */
#ifndef NET_SIGNER_KEY_H
#define NET_SIGNER_KEY_H

#include "base/message.h"
#include "net/allowance.h"
#include "net/gate.h"

/* Is the key of the request known: configured for its operator code, or in the keyring for the
 * account it names. Account creation brings its own, which is in no keyring: false as well. */
CC_MUST_USE bool signer_key_is_known(const struct gate *gate, const struct request *request,
                                     const struct command *command);

/* Whether the address of the connection has not used up what its wrong signatures, or those under
 * keys that nobody has, may cost. False: the request is refused unverified, with 429 in *mistake.
 * Under a known key a connection whose newest signature was right goes on all the same, and the
 * operator's until one is wrong. */
CC_MUST_USE bool signer_key_may_cost(struct gate *gate, const struct allowance *allowance,
                                     const struct conn *conn, const struct request *request,
                                     bool is_known, struct mistake *mistake);

#endif
