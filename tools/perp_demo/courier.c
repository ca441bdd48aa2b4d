#include "perp_demo/courier.h"

#include <stdio.h>
#include <time.h>

#include "perp/instant.h"

enum { TIMEOUT_MS = 10000, PAUSE_MS = 20, TRIES_MAX = 100 };

static void pause_ms(uint32_t milliseconds)
{
    const struct timespec span = { .tv_sec = milliseconds / 1000,
                                   .tv_nsec = (long)(milliseconds % 1000) * 1000000 };
    (void)nanosleep(&span, NULL);
}

bool courier_init(struct courier *courier, const char *url, const char *api_key,
                  uint32_t patience_ms)
{
    snprintf(courier->api_key, sizeof courier->api_key, "%s", api_key);
    courier->patience_ms = patience_ms;
    return client_init(&courier->client, url, TIMEOUT_MS);
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
    INVARIANT(draft_sign(draft, key, NULL));
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

/* Makes a new connection and queues parcels[next..] again. */
static bool recover(struct courier *courier, uint32_t next)
{
    uint64_t end_ns = instant_monotonic_ns() + (uint64_t)courier->patience_ms * 1000000;
    if (courier->patience_ms == 0 || courier->generation == UINT8_MAX)
        return false; /* client.error stays */
    courier->generation++;
    client_close(&courier->client);
    while (client_connect(&courier->client) != 0) {
        if (instant_monotonic_ns() > end_ns)
            return false;
        pause_ms(PAUSE_MS);
    }
    for (uint32_t i = next; i < courier->count; i++) {
        struct courier_parcel *parcel = &courier->parcels[i];
        courier->unanswered += parcel->is_signed && !parcel->sent_again;
        parcel->sent_again = true;
        queue(courier, parcel);
    }
    return true;
}

/* Does the answer leave open what became of a request whose first answer was lost? Such answers do
 * not use the id (W5), so the request is sent once more. */
static bool is_open(const struct verdict *verdict)
{
    return verdict->http_status == 503 ||
           (verdict->kind == VERDICT_REJECTED && (verdict->status == STATUS_request_dropped ||
                                                  verdict->status == STATUS_retry_required));
}

static bool try_once_more(struct courier *courier, uint32_t place, const struct verdict *verdict)
{
    const struct courier_parcel *parcel = &courier->parcels[place];
    if (!parcel->sent_again || !is_open(verdict) || parcel->tries == TRIES_MAX ||
        courier->count == COURIER_PARCELS_MAX)
        return false;
    struct courier_parcel *again = &courier->parcels[courier->count++];
    *again = *parcel;
    again->tries++;
    pause_ms(PAUSE_MS);
    queue(courier, again);
    return true;
}

/* Only a request that took a sequence, now or before, has ended in a way that stays. */
static void keep_receipt(struct courier *courier, const struct courier_parcel *parcel,
                         const struct verdict *verdict)
{
    bool before = verdict->kind == VERDICT_DUPLICATE;
    struct receipt receipt = {
        .id = parcel->id,
        .sequence = before ? 0 : verdict->sequence,
        .status = (uint16_t)(before ? verdict->original : verdict->status),
        .found = !parcel->sent_again ? RECEIPT_ANSWERED
                 : before            ? RECEIPT_BEFORE
                                     : RECEIPT_AFTER,
        .generation = courier->generation,
    };
    if (verdict->sequence != 0 || (before && parcel->sent_again))
        receipt_add(&courier->receipts, &receipt);
    else if (parcel->sent_again)
        courier->refused_unused++;
}

static void take(struct courier *courier, uint32_t place, const struct client_answer *answer,
                 courier_taker *taker, void *context)
{
    struct courier_parcel *parcel = &courier->parcels[place];
    struct verdict verdict;
    if (!parcel->is_signed) {
        taker(context, parcel, answer, NULL);
        return;
    }
    verdict_read(&verdict, answer);
    if (try_once_more(courier, place, &verdict))
        return;
    keep_receipt(courier, parcel, &verdict);
    taker(context, parcel, answer, &verdict);
}

bool courier_collect(struct courier *courier, courier_taker *taker, void *context)
{
    uint64_t begin_ns = instant_monotonic_ns();
    for (uint32_t i = 0; i < courier->count; i++) {
        struct client_answer answer;
        while (client_read(&courier->client, &answer) != 0) {
            if (!recover(courier, i))
                return false;
        }
        if (i == 0 && courier->parcels[0].is_signed)
            histogram_add(&courier->round_trip, instant_monotonic_ns() - begin_ns);
        take(courier, i, &answer, taker, context);
    }
    courier->count = 0;
    return true;
}
