#include "perp/bench/workload.h"

#include <stdio.h>
#include <stdlib.h>

#include "perp/bench/schedule.h"
#include "perp/bench/stream_message.h"

enum {
    TICKS_AWAY = 20,
    CROSS_PART = 5, /* one in so many crosses */
    USDC_LEAST = 20,
    USDC_SPREAD = 200,
    MICRO = 1000000,
};

static uint64_t below(struct workload *workload, uint64_t limit)
{
    return schedule_random(&workload->random) % limit;
}

/* A size that is worth 20 to 220 USDC, in whole lots, at least the market's. */
static int64_t random_quantity(struct workload *workload)
{
    const struct instrument *record = &workload->record;
    uint64_t usdc = USDC_LEAST + below(workload, USDC_SPREAD);
    int64_t raw = (int64_t)(usdc * MICRO / workload->mid_raw);

    raw = (raw / record->lot + 1) * record->lot;
    return raw < record->min_size ? record->min_size : raw;
}

bool workload_init(struct workload *workload, uint32_t account_count, uint32_t lag)
{
    uint64_t known = 4 * (uint64_t)lag / account_count;

    known = known < WORKLOAD_KNOWN_MIN ? WORKLOAD_KNOWN_MIN : known;
    workload->known_max = known > WORKLOAD_KNOWN_MAX ? WORKLOAD_KNOWN_MAX : (uint32_t)known;
    workload->lag = lag;
    workload->account_count = account_count;
    workload->accounts = calloc(account_count, sizeof *workload->accounts);
    if (workload->accounts == NULL)
        return false;
    struct workload_order *orders =
        calloc((size_t)account_count * workload->known_max, sizeof *orders);
    for (uint32_t i = 0; orders != NULL && i < account_count; i++)
        workload->accounts[i].known = orders + (size_t)i * workload->known_max;
    return orders != NULL;
}

void workload_free(struct workload *workload)
{
    if (workload->accounts != NULL)
        free(workload->accounts[0].known);
    free(workload->accounts);
    workload->accounts = NULL;
}

static struct workload_order *known_order(struct workload *workload, uint32_t account)
{
    struct workload_account *own = &workload->accounts[account];
    uint32_t old = 0;

    while (old < own->known_count && own->known[old].index + workload->lag <= workload->made)
        old++;
    return old == 0 ? NULL : &own->known[below(workload, old)];
}

static void remember(struct workload *workload, uint32_t account,
                     const struct workload_order *order)
{
    struct workload_account *own = &workload->accounts[account];

    if (own->known_count == workload->known_max) {
        memmove(own->known, own->known + 1, (own->known_count - 1) * sizeof *own->known);
        own->known_count--;
    }
    own->known[own->known_count++] = *order;
}

static void forget(struct workload *workload, uint32_t account, struct workload_order *order)
{
    struct workload_account *own = &workload->accounts[account];
    struct workload_order *end = own->known + own->known_count--;

    memmove(order, order + 1, (size_t)(end - order - 1) * sizeof *order);
}

static void fill_place(struct workload *workload, uint32_t account, const struct uuid *id,
                       struct draft *draft)
{
    bool buys = below(workload, 2) == 0, crosses = below(workload, CROSS_PART) == 0;
    uint64_t away = (1 + below(workload, TICKS_AWAY)) * (uint64_t)workload->record.tick;
    int64_t quantity = random_quantity(workload);
    struct rig_order order = {
        .price_raw = buys == crosses ? workload->mid_raw + away : workload->mid_raw - away,
        .quantity_raw = buys ? quantity : -quantity,
        .expiry = crosses ? 0 : UINT64_MAX,
        .asset = workload->record.asset_id,
    };

    rig_order(&workload->traders[account], &order, id, draft);
    if (!crosses) {
        struct workload_order placed = { .id = *id,
                                         .price_raw = order.price_raw,
                                         .quantity_raw = order.quantity_raw,
                                         .index = workload->made };
        remember(workload, account, &placed);
    }
}

static void begin(struct workload *workload, uint32_t account, uint32_t code, const struct uuid *id,
                  struct draft *draft)
{
    struct draft_portfolio portfolio = { .account_id = workload->traders[account].account_id };

    draft_begin(draft, code, SIGNATURE_ED25519, id);
    draft_set_portfolio(draft, "portfolio_id", &portfolio);
    draft_set(draft, "asset", workload->record.asset_id);
}

static void fill_market(struct workload *workload, uint32_t account, const struct uuid *id,
                        struct draft *draft)
{
    int64_t quantity = random_quantity(workload);

    begin(workload, account, REQUEST_place_market_order, id, draft);
    draft_set(draft, "quantity", (uint64_t)(below(workload, 2) == 0 ? quantity : -quantity));
}

/* The same size, another price on the same side. */
static void fill_amend(struct workload *workload, uint32_t account, struct workload_order *order,
                       const struct uuid *id, struct draft *draft)
{
    uint64_t away = (1 + below(workload, TICKS_AWAY)) * (uint64_t)workload->record.tick;

    order->price_raw =
        order->quantity_raw > 0 ? workload->mid_raw - away : workload->mid_raw + away;
    begin(workload, account, REQUEST_order_replacement, id, draft);
    draft_set_bytes(draft, "order_id", order->id.bytes, UUID_BYTES);
    draft_set(draft, "price", order->price_raw);
    draft_set(draft, "quantity", (uint64_t)order->quantity_raw);
    draft_set(draft, "expiry", UINT64_MAX);
}

static void fill_cancel(struct workload *workload, uint32_t account, struct workload_order *order,
                        const struct uuid *id, struct draft *draft)
{
    begin(workload, account, REQUEST_order_cancel, id, draft);
    draft_set_bytes(draft, "order_id", order->id.bytes, UUID_BYTES);
    forget(workload, account, order);
}

static size_t write_read(const struct workload *workload, uint32_t account,
                         const struct workload_order *order, uint8_t bytes[LOAD_REQUEST_MAX])
{
    char id[UUID_TEXT_BYTES + 1];

    uuid_format(&order->id, id);
    return (size_t)snprintf((char *)bytes, LOAD_REQUEST_MAX,
                            "GET /api/v1/orders/%s HTTP/1.1\r\nHost: %s\r\nX-API-KEY: %s\r\n\r\n",
                            id, workload->host, workload->traders[account].api_key);
}

static size_t write_draft(const struct workload *workload, const struct draft *draft,
                          uint8_t bytes[LOAD_REQUEST_MAX])
{
    static const char *const acks[] = { "", "X-Ack: full\r\n", "X-Ack: binary\r\n" };
    static uint8_t frame[REQUEST_FRAME_MAX];
    static char envelope[REQUEST_ENVELOPE_MAX];
    size_t count = workload->is_frame ? draft_frame(draft, frame) : draft_envelope(draft, envelope);
    if (workload->is_stream)
        return stream_message_write(bytes, LOAD_REQUEST_MAX, envelope, count, workload->made,
                                    workload->ack == WORKLOAD_FULL);
    int head = snprintf(
        (char *)bytes, LOAD_REQUEST_MAX,
        "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: %s\r\n%sContent-Length: %zu\r\n\r\n",
        draft->path, workload->host,
        workload->is_frame ? "application/octet-stream" : "application/json", acks[workload->ack],
        count);

    INVARIANT(head > 0 && (size_t)head + count <= LOAD_REQUEST_MAX);
    memcpy(bytes + head, workload->is_frame ? (const void *)frame : envelope, count);
    return (size_t)head + count;
}

static enum corpus_kind random_kind(struct workload *workload)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < CORPUS_KIND_COUNT; i++)
        sum += workload->weights[i];
    uint64_t at = below(workload, sum);
    for (unsigned i = 0; i < CORPUS_KIND_COUNT; i++) {
        if (at < workload->weights[i])
            return i;
        at -= workload->weights[i];
    }
    return CORPUS_place;
}

static struct uuid next_id(struct workload *workload, uint64_t unix_ms)
{
    uint8_t random[10];

    if (!workload->has_seeded_ids)
        return rig_id(unix_ms);
    cc_store64(random, schedule_random(&workload->random));
    cc_store16(random + 8, (uint16_t)schedule_random(&workload->random));
    return uuid_make_v7(unix_ms, random);
}

/* The next request: its account, its kind, and the order that it names, NULL for one that is
 * placed. */
static struct workload_order *choose(struct workload *workload, uint32_t *account,
                                     enum corpus_kind *kind)
{
    struct workload_order *order = NULL;

    *account = (uint32_t)below(workload, workload->account_count);
    *kind = random_kind(workload);
    if (*kind == CORPUS_amend || *kind == CORPUS_cancel || *kind == CORPUS_read) {
        order = known_order(workload, *account);
        if (order == NULL)
            *kind = CORPUS_place;
    }
    return order;
}

static bool sign_next(struct workload *workload, uint64_t unix_ms, uint32_t account,
                      enum corpus_kind kind, struct workload_order *order, struct draft *draft)
{
    struct uuid id = next_id(workload, unix_ms);

    if (kind == CORPUS_market)
        fill_market(workload, account, &id, draft);
    else if (kind == CORPUS_amend)
        fill_amend(workload, account, order, &id, draft);
    else if (kind == CORPUS_cancel)
        fill_cancel(workload, account, order, &id, draft);
    else
        fill_place(workload, account, &id, draft);
    workload->made++;
    return draft_sign(draft, &workload->traders[account].session, NULL);
}

bool workload_draft(struct workload *workload, uint64_t unix_ms, struct draft *draft,
                    enum corpus_kind *kind)
{
    uint32_t account;
    struct workload_order *order = choose(workload, &account, kind);

    INVARIANT(*kind != CORPUS_read); /* it has no part of the mix */
    return sign_next(workload, unix_ms, account, *kind, order, draft);
}

size_t workload_next(struct workload *workload, uint64_t unix_ms, uint8_t bytes[LOAD_REQUEST_MAX],
                     enum corpus_kind *kind)
{
    uint32_t account;
    struct workload_order *order = choose(workload, &account, kind);
    struct draft draft;

    if (*kind == CORPUS_read) {
        workload->made++;
        return write_read(workload, account, order, bytes);
    }
    if (!sign_next(workload, unix_ms, account, *kind, order, &draft))
        return 0;
    return write_draft(workload, &draft, bytes);
}
