#include "perp_demo/courier.h"

#include <stdio.h>

#include "perp/request/instant.h"
#include "perp_demo/pause.h"

enum { TIMEOUT_MS = 60000, NODE_TIMEOUT_MS = 3000, HTTP_MISDIRECTED = 421 };

bool courier_init(struct courier *courier, const char *url, const char *api_key,
                  uint32_t patience_ms)
{
    snprintf(courier->api_key, sizeof courier->api_key, "%s", api_key);
    courier->patience_ms = patience_ms;
    bool is_list = strchr(url, ',') != NULL; /* a node that is stopped has others beside it */
    return client_init(&courier->client, url, is_list ? NODE_TIMEOUT_MS : TIMEOUT_MS);
}

static struct courier_parcel *new_parcel(struct courier *courier, uint8_t action, uint8_t slot)
{
    INVARIANT(courier->count < COURIER_PARCELS_MAX);
    struct courier_parcel *parcel = &courier->parcels[courier->count++];
    *parcel = (struct courier_parcel){ .action = action, .slot = slot };
    return parcel;
}

static void queue(struct courier *courier, const struct courier_parcel *parcel)
{
    struct client_request request = { .method = "GET",
                                      .target = parcel->target,
                                      .api_key = courier->api_key };
    if (parcel->is_signed)
        request = (struct client_request){
            .method = "POST",
            .target = parcel->target,
            .content_type = courier->sends_frames ? "application/octet-stream" : "application/json",
            .body = parcel->body,
            .body_count = parcel->body_count,
        };
    INVARIANT(client_queue(&courier->client, &request) == 0); /* out of memory */
}

void courier_post(struct courier *courier, struct draft *draft, const struct key_file *key,
                  uint8_t action, uint8_t slot)
{
    static union {
        char envelope[REQUEST_ENVELOPE_MAX];
        uint8_t frame[REQUEST_FRAME_MAX];
    } body;
    struct courier_parcel *parcel = new_parcel(courier, action, slot);
    INVARIANT(draft_sign(draft, key, &courier->eip712));
    size_t count = courier->sends_frames ? draft_frame(draft, body.frame)
                                         : draft_envelope(draft, body.envelope);
    INVARIANT(count <= sizeof parcel->body);
    memcpy(parcel->body, &body, count);
    parcel->body_count = (uint16_t)count;
    parcel->is_signed = true;
    parcel->id = draft_id(draft);
    snprintf(parcel->target, sizeof parcel->target, "%s", draft->request->path);
    queue(courier, parcel);
}

void courier_ask(struct courier *courier, const char *target, uint8_t action, uint8_t slot)
{
    struct courier_parcel *parcel = new_parcel(courier, action, slot);
    INVARIANT(strlen(target) < sizeof parcel->target);
    snprintf(parcel->target, sizeof parcel->target, "%s", target);
    queue(courier, parcel);
}

/* Makes a new connection. From `next` on, parcels go out one at a time. */
static bool recover(struct courier *courier, uint32_t next)
{
    uint64_t end_ns = instant_monotonic_ns() + (uint64_t)courier->patience_ms * 1000000;
    if (courier->patience_ms == 0 ||
        (courier->generation == UINT8_MAX && !client_has_more(&courier->client)))
        return false; /* client.error stays */
    if (courier->generation != UINT8_MAX)
        courier->generation++;
    client_close(&courier->client);
    while (client_connect(&courier->client) != 0) {
        if (instant_monotonic_ns() > end_ns)
            return false;
        if (client_has_more(&courier->client))
            client_next(&courier->client);
        pause_ms(PAUSE_STEP_MS);
    }
    for (uint32_t i = next; i < courier->count; i++) {
        struct courier_parcel *parcel = &courier->parcels[i];
        courier->unanswered += parcel->is_signed && !parcel->sent_again;
        parcel->sent_again = true;
    }
    queue(courier, &courier->parcels[next]);
    return true;
}

/* Does the answer leave open what became of a request whose first answer was lost? Such answers do
 * not use the id (W5), so the request is sent once more. */
static bool is_open(const struct outcome *outcome)
{
    return courier_is_later(outcome->http_status) ||
           (outcome->kind == OUTCOME_REJECTED && (outcome->status == STATUS_request_dropped ||
                                                  outcome->status == STATUS_retry_required));
}

/* Does a node of a cluster leave the parcel to another one? */
static bool is_for_another(const struct courier *courier, const struct courier_parcel *parcel,
                           const struct client_answer *answer)
{
    return client_has_more(&courier->client) &&
           (answer->status == HTTP_MISDIRECTED || answer->status == 503 ||
            (!parcel->is_signed && answer->is_replica));
}

/* To the leader that is told, else to the next address, from the parcel on. */
static bool go_on(struct courier *courier, uint32_t place, const struct client_answer *answer)
{
    char leader[CLIENT_LEADER_MAX];

    snprintf(leader, sizeof leader, "%s", answer->status == HTTP_MISDIRECTED ? answer->leader : "");
    pause_ms(PAUSE_STEP_MS);
    if (leader[0] == '\0' || !client_follow(&courier->client, leader))
        client_next(&courier->client);
    return recover(courier, place);
}

/* Gives the answer to parcels[place], which is sent or queued, and of a signed one its outcome. A
 * parcel sent again is sent until its answer is not open, or the courier's patience ends. */
static bool await_answer(struct courier *courier, uint32_t place, struct client_answer *answer,
                         struct outcome *outcome)
{
    const struct courier_parcel *parcel = &courier->parcels[place];
    uint64_t begun_ns = instant_monotonic_ns(), end_ns = 0;
    for (;;) {
        bool is_late = instant_monotonic_ns() - begun_ns > (uint64_t)courier->patience_ms * 1000000;
        while (client_read(&courier->client, answer) != 0) {
            if (is_late || !recover(courier, place))
                return false;
        }
        if (!is_late && is_for_another(courier, parcel, answer)) {
            if (!go_on(courier, place, answer))
                return false;
            continue;
        }
        if (!parcel->is_signed)
            return true;
        outcome_read(outcome, answer);
        if (!parcel->sent_again || !is_open(outcome))
            return true;
        uint64_t now_ns = instant_monotonic_ns();
        if (end_ns == 0)
            end_ns = now_ns + (uint64_t)courier->patience_ms * 1000000;
        if (now_ns > end_ns)
            return true;
        pause_ms(PAUSE_STEP_MS);
        queue(courier, parcel);
    }
}

/* A request that took a sequence, now or before, has ended in a way that stays. One sent again may
 * have done so although no answer said so; the proof of the receipts asks. */
static void keep_receipt(struct courier *courier, const struct courier_parcel *parcel,
                         const struct outcome *outcome)
{
    bool before = outcome->kind == OUTCOME_DUPLICATE;
    struct receipt receipt = {
        .id = parcel->id,
        .sequence = before ? 0 : outcome->sequence,
        .status = (uint16_t)(before ? outcome->original : outcome->status),
        .found = !parcel->sent_again      ? RECEIPT_ANSWERED
                 : before                 ? RECEIPT_BEFORE
                 : outcome->sequence != 0 ? RECEIPT_AFTER
                                          : RECEIPT_UNTOLD,
        .generation = courier->generation,
    };
    if (outcome->sequence != 0 || parcel->sent_again)
        receipt_add(&courier->receipts, &receipt);
}

bool courier_collect(struct courier *courier, courier_taker *taker, void *context)
{
    uint64_t begin_ns = instant_monotonic_ns();
    for (uint32_t i = 0; i < courier->count; i++) {
        const struct courier_parcel *parcel = &courier->parcels[i];
        struct client_answer answer;
        struct outcome outcome;
        if (parcel->sent_again && courier->client.pending == 0)
            queue(courier, parcel);
        if (!await_answer(courier, i, &answer, &outcome))
            return false;
        if (i == 0 && parcel->is_signed)
            histogram_add(&courier->round_trip, instant_monotonic_ns() - begin_ns);
        if (parcel->is_signed)
            keep_receipt(courier, parcel, &outcome);
        taker(context, parcel, &answer, parcel->is_signed ? &outcome : NULL);
    }
    courier->count = 0;
    return true;
}
