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

/* When a request's signature is looked at. */
enum signer_pace {
    SIGNER_AT_ONCE, /* with the turn's others */
    SIGNER_SLOW,    /* one a turn */
    SIGNER_REFUSED, /* not at all: 429 */
};

/* The pace of a request whose key is known or is not. Strangers are slow, and refused once their
 * address has used up what they may cost; so are connections whose newest signature was wrong. While
 * an address has used up its wrong signatures those that have shown none yet are slow as well,
 * operators apart: whoever signs rightly is never refused for what others do. *mistake is filled
 * with SIGNER_REFUSED. */
CC_MUST_USE enum signer_pace signer_key_pace(struct gate *gate, const struct allowance *allowance,
                                             const struct conn *conn, const struct request *request,
                                             bool is_known, struct mistake *mistake);

/* A signature under a known key was wrong: 401, or 429 when the address has used up its wrong ones,
 * in *mistake. */
void signer_key_was_wrong(struct gate *gate, struct allowance *allowance, uint64_t address,
                          struct mistake *mistake);

#endif
