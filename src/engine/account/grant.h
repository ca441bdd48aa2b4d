/* grant.h - what a credential may give to one that it makes: life and pin (R10). Codes 13, 33 and
 * 34. */
#ifndef ENGINE_ACCOUNT_GRANT_H
#define ENGINE_ACCOUNT_GRANT_H

#include "base/compiler.h"

struct engine;
struct credential;

/* Sets *expires_ns (unix ns) to the end that is asked for; 0 asks for the default life of a session
 * from now. False: it is not after now, or beyond the longest life; *expires_ns is then no end. */
CC_MUST_USE bool grant_expiry(const struct engine *engine, uint64_t asked_ns, uint64_t *expires_ns);

/* Whether the pin, -1 for none, is not beyond that of the credential that gives it. */
CC_MUST_USE bool grant_pin_is_within(const struct credential *giver, int32_t pin);

/* Whether the pin of a key, -1 for none, is a subaccount that the account has made. */
CC_MUST_USE bool grant_pin_exists(const struct engine *engine, uint32_t account, int32_t pin);

#endif
