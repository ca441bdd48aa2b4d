/* passkey_verdict.h - the verdict on a request that a passkey signed (wire.md W4).
 *
 * Owner. The net thread. */
#ifndef NET_REQUEST_PASSKEY_VERDICT_H
#define NET_REQUEST_PASSKEY_VERDICT_H

#include "base/message.h"
#include "crypto/passkey.h"
#include "net/conn/net_config.h"

/* PROBLEM_none, or what is wrong and the words for it, in static storage. */
struct passkey_verdict {
    enum problem problem;
    const char *detail;
};

/* Makes W4's checks of an assertion after those of its form: the command has an assertion as extra.
 * The key that the account has for the credential id enters the command; an account creation brings
 * its own. `key_sent`: the client sent the key that is in the command. The cache may be NULL. */
CC_MUST_USE struct passkey_verdict passkey_verdict(const struct net_config *config,
                                                   struct p256_cache *cache,
                                                   const struct request *request,
                                                   struct command *command, bool key_sent);

#endif
