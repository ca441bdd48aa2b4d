/* courier.h - one connection that delivers requests in pipelines and takes the answers.
 *
 *   courier_post, courier_ask    a signed request, a read: kept until it is answered
 *   courier_collect              sends all, hands over each answer, in order
 *
 * When the connection is lost, the courier makes another, for as long as its patience lasts, and
 * sends what was not answered again: reads as new requests, signed requests as the same bytes.
 * These are executed at most once (wire.md W5): the answer is a duplicate's, or the first. It sends
 * them one at a time, each until its answer says what became of it, so that a read never
 * overtakes the request that it asks about. Every answer that finishes a signed request leaves a
 * receipt, and so does the last answer to one that was sent again.
 *
 * With a list of addresses it follows the rule of clients of a cluster (replication.md, A node):
 * the same bytes go to the leader that is told (421), else, as after 503, to the next address. A
 * read is taken of the leader alone, so that it shows what was acknowledged before it.
 *
 * Owner. One process, one thread.
 * Wait.  courier_collect: the client's time-out, and patience_ms for a new connection and for each
 *        request that the exchange does not finish yet.
 * Bound. COURIER_PARCELS_MAX requests in a pipeline. */
#ifndef PERP_DEMO_COURIER_H
#define PERP_DEMO_COURIER_H

#include "base/histogram.h"
#include "perp/request/draft.h"
#include "perp/request/outcome.h"
#include "perp_demo/receipt.h"

enum {
    COURIER_PARCELS_MAX = 256,
    COURIER_TARGET_MAX = 160,
    COURIER_BODY_MAX = 640, /* an order's envelope has less than 480 bytes */
    COURIER_KEY_MAX = 64,
};

/* True if an answer asks to come again: not ready (503), or the rate is used up (429). Neither says
 * anything of what was asked, and neither uses a request's id (W5). */
static inline bool courier_is_later(uint32_t http_status)
{
    return http_status == 503 || http_status == 429;
}

struct courier_parcel {
    uint8_t action, slot; /* the sender's own, come back with the answer */
    bool is_signed;
    bool sent_again; /* its answer was lost */
    uint16_t body_count;
    struct uuid id;
    char target[COURIER_TARGET_MAX];
    uint8_t body[COURIER_BODY_MAX];
};

struct courier {
    struct client client;
    char api_key[COURIER_KEY_MAX];
    struct eip712 eip712; /* of the exchange: operators sign over its id; set by the owner */
    bool sends_frames;    /* binary frames instead of JSON envelopes */
    uint32_t patience_ms;
    uint8_t generation;  /* connections lost, and nodes left; no more than it can hold */
    uint64_t unanswered; /* signed requests whose answers were lost */
    struct courier_parcel parcels[COURIER_PARCELS_MAX];
    uint32_t count;
    struct receipts receipts;
    struct histogram round_trip; /* ns from the first byte sent to the first answer */
};

/* `outcome` is NULL for reads. */
typedef void courier_taker(void *context, const struct courier_parcel *parcel,
                           const struct client_answer *answer, const struct outcome *outcome);

/* Takes the address, or a list with commas between, and the API key ("" for none). False:
 * client.error says why. */
CC_MUST_USE bool courier_init(struct courier *courier, const char *url, const char *api_key,
                              uint32_t patience_ms);

/* Signs a draft and queues it. */
void courier_post(struct courier *courier, struct draft *draft, const struct key_file *key,
                  uint8_t action, uint8_t slot);

/* Queues a GET of the target. */
void courier_ask(struct courier *courier, const char *target, uint8_t action, uint8_t slot);

/* Delivers everything queued. False, with client.error set: no answer and no new connection within
 * the courier's patience; what a sender does not know then it cannot vouch for. */
CC_MUST_USE bool courier_collect(struct courier *courier, courier_taker *taker, void *context);

#endif
