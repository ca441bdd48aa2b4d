/* api_caller.h - the owner of an unsigned request: the API key of its header X-API-KEY, or where
 * the request takes one, a device key: of the header X-DEVICE-KEY or of the cookie device_key. Net
 * thread.
 *
 * The keyring only saves work. A key that it shows as live may have ended since; where that matters
 * (command 2001) the engine checks it again. */
#ifndef NET_REQUEST_API_CALLER_H
#define NET_REQUEST_API_CALLER_H

#include "base/hash.h"
#include "net/conn/net_config.h"
#include "net/http/http.h"
#include "net/http/problem_detail.h"

enum { API_CALLER_READ, API_CALLER_READ_WRITE }; /* scope of a keyring row (wire.md, Enum codes) */

#define API_CALLER_NO_PIN (-1)

/* What a request takes beside an API key. */
enum api_caller_takes {
    API_CALLER_KEY,
    API_CALLER_DEVICE,
    API_CALLER_COOKIE,
    API_CALLER_DEVICE_ALONE, /* in place of an API key */
};

/* Whether an API or device key is live at `unix_ns`: it exists, has not expired, and no
 * revocation of it is
 * durable. A revocation that is not durable yet does not count here; the engine refuses what it
 * sequences after it (R11). */
CC_MUST_USE bool api_caller_is_live(const struct net_config *config, uint64_t unix_ns,
                                    const struct keyring_key *key, struct keyring_row *row);

/* Sets invalid_api_key or, for a key of that kind, invalid_device_key ("no live key"); returns
 * false. */
bool api_caller_refuse(const struct keyring_key *key, struct problem_detail *problem);

/* The live key that the head names. An API key goes first. False with invalid_api_key in *problem,
 * with invalid_device_key if only a device key was sent, with origin_not_allowed (a cookie is taken
 * from pages of this origin alone, W7), or with not_ready on a node that does not lead and does not
 * know the key. `text` is the head's first byte. */
CC_MUST_USE bool api_caller_find(const struct net_config *config, uint64_t unix_ns,
                                 const struct http_head *head, const char *text,
                                 enum api_caller_takes takes, struct keyring_row *row,
                                 struct problem_detail *problem);

/* The live API key (KEYRING_API) or device key (KEYRING_DEVICE) whose Base64 `text` is. False with
 * invalid_api_key or invalid_device_key in *problem. */
CC_MUST_USE bool api_caller_of_secret(const struct net_config *config, uint64_t unix_ns,
                                      enum keyring_kind kind, const char *text, size_t count,
                                      struct keyring_row *row, struct problem_detail *problem);

/* The hash of the device key in the header; false with invalid_device_key in *problem. The head has
 * one. */
CC_MUST_USE bool api_caller_device_hash(const struct net_config *config,
                                        const struct http_head *head, const char *text,
                                        uint8_t hash[HASH_BYTES], struct problem_detail *problem);

/* The hash of the bearer token in Authorization; false with invalid_token in *problem. */
CC_MUST_USE bool api_caller_token_hash(const struct net_config *config,
                                       const struct http_head *head, const char *text,
                                       uint8_t hash[HASH_BYTES], struct problem_detail *problem);

/* Whether the headers Sec-Fetch-Site and Origin, as far as they are there, say that the request
 * comes
 * from a page of this origin or from no page. */
CC_MUST_USE bool api_caller_is_own_page(const struct http_head *head, const char *text);

/* Whether a credential with this pin may use the subaccount; false with subaccount_not_permitted in
 * *problem. */
CC_MUST_USE bool api_caller_may_reach(int32_t pin, uint32_t subaccount_index,
                                      struct problem_detail *problem);

#endif
