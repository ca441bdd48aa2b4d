/* api_caller.h - the owner of an unsigned request: the API key of its header X-API-KEY. Net thread.
 *
 * The keyring only saves work. A key that it shows as live may have ended since; where that matters
 * (command 2001) the engine checks it again. */
#ifndef NET_REQUEST_API_CALLER_H
#define NET_REQUEST_API_CALLER_H

#include "net/conn/net_config.h"
#include "net/http/http.h"
#include "net/http/problem_detail.h"

enum { API_CALLER_READ, API_CALLER_READ_WRITE }; /* scope of a keyring row (wire.md, Enum codes) */

#define API_CALLER_NO_PIN (-1)

/* Whether an API key is live at `unix_ns`: it exists, has not expired, and no revocation of it is
 * durable. A revocation that is not durable yet does not count here; the engine refuses what it
 * sequences after it (R11). */
CC_MUST_USE bool api_caller_is_live(const struct net_config *config, uint64_t unix_ns,
                                    const struct keyring_key *key, struct keyring_row *entry);

/* Sets invalid_api_key ("no live API key"); returns false. */
bool api_caller_refuse(struct problem_detail *problem);

/* The live API key that the head names; false with invalid_api_key in *problem. `text` is the
 * head's first byte. */
CC_MUST_USE bool api_caller_find(const struct net_config *config, uint64_t unix_ns,
                                 const struct http_head *head, const char *text,
                                 struct keyring_row *entry, struct problem_detail *problem);

/* Whether a credential with this pin may use the subaccount; false with subaccount_not_permitted in
 * *problem. */
CC_MUST_USE bool api_caller_may_reach(int32_t pin, uint32_t subaccount_index,
                                      struct problem_detail *problem);

#endif
