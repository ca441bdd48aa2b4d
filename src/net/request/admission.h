/* admission.h - the checks of a decoded request that need no key and no state: steps 6 to 9 of the
 * network thread in rules.md R11, in that order. Pure.
 *
 * Step 6: header version, pads, signature_type, request type for the path, exact body length, texts
 * and pins, a signature type that may sign the code. Step 7: UUIDv7. Step 8: the clock window. Step
 * 9: key length and kind of envelope match the header. */
#ifndef NET_REQUEST_ADMISSION_H
#define NET_REQUEST_ADMISSION_H

#include "net/http/route.h"
#include "net/request/envelope.h"

struct admission_window {
    uint64_t now_ms;
    uint64_t past_ms; /* exchange.clock_past_ms */
    uint64_t future_ms;
};

/* Returns the row of the request, or NULL with 400 or 401 in *problem. `path` NULL: it may be of
 * any. */
CC_MUST_USE const struct request *admission_check(const struct envelope *envelope,
                                                  const struct route_path *path,
                                                  const struct admission_window *window,
                                                  struct problem_detail *problem);

/* The single checks, in their order, for requests that are judged without being sent. Each is false
 * with its problem in *problem, and needs those before it, but not a good clock. */

/* Version, signature_type and pads of the Header: of a payload of REQUEST_HEADER_BYTES or more. */
CC_MUST_USE bool admission_check_header(const uint8_t *payload, struct problem_detail *problem);

/* Length, texts and pins of a body. */
CC_MUST_USE bool admission_check_body(const struct request *request, const uint8_t *body,
                                      uint32_t body_bytes, struct problem_detail *problem);

/* May a key of this type sign the code? */
CC_MUST_USE bool admission_check_signer(const struct request *request, uint8_t type,
                                        struct problem_detail *problem);

/* The request's id and those of the orders that a batch places: UUIDv7; within the window. */
CC_MUST_USE bool admission_check_versions(const struct request *request, const uint8_t *payload,
                                          struct problem_detail *problem);
CC_MUST_USE bool admission_check_times(const struct request *request, const uint8_t *payload,
                                       const struct admission_window *window,
                                       struct problem_detail *problem);

/* Length of the key and kind of envelope against the Header's type. Of the envelope only
 * `key_bytes` and `passkey` are read. */
CC_MUST_USE bool admission_check_key(const struct envelope *envelope, uint8_t type,
                                     struct problem_detail *problem);

/* The account in the body: its first field, a portfolio or account id. 0 if there is none: codes
 * 11, 12, and operator codes, whose fields are not the signer's. */
CC_MUST_USE uint64_t admission_account(const struct request *request, const uint8_t *body);

/* The orders that the request places, as bits: its items of a batch, bit 0 of another placement
 * (codes 0, 5 and 6). */
CC_MUST_USE uint64_t admission_places(const struct request *request, const uint8_t *payload);

/* What the request costs its account (W8): one, a batch its items. */
CC_MUST_USE uint32_t admission_cost(const struct request *request, const uint8_t *payload);

#endif
