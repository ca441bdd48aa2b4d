#include "perp_demo/bot.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/json_scan.h"
#include "perp/instant.h"
#include "perp/verdict.h"

_Noreturn static void die(const struct bot *bot, const char *what)
{
    fprintf(stderr, "%s: %s\n", bot->name, what);
    exit(1);
}

static void expect(struct bot *bot, enum bot_action action, uint32_t slot)
{
    INVARIANT(bot->pending_count < BOT_PENDING_MAX);
    bot->pending[bot->pending_count].action = (uint8_t)action;
    bot->pending[bot->pending_count].slot = (uint8_t)slot;
    bot->pending_count++;
}

static void queue(struct bot *bot, const struct client_request *request)
{
    if (client_queue(&bot->client, request) != 0)
        die(bot, bot->client.error);
}

static void queue_signed(struct bot *bot, struct draft *draft)
{
    static union {
        char envelope[REQUEST_ENVELOPE_MAX];
        uint8_t frame[REQUEST_FRAME_MAX];
    } body;
    if (!draft_sign(draft, &bot->key, NULL))
        die(bot, "cannot sign");
    struct client_request request = {
        .method = "POST",
        .target = draft->request->path,
        .content_type = bot->sends_frames ? "application/octet-stream" : "application/json",
        .body = &body,
        .body_count = bot->sends_frames ? draft_frame(draft, body.frame)
                                        : draft_envelope(draft, body.envelope),
    };
    queue(bot, &request);
    bot->sent++;
}

static void fresh_id(const struct bot *bot, struct uuid *id)
{
    if (draft_fresh_id(id) != 0)
        die(bot, "no random bytes");
}

static void queue_place(struct bot *bot, const struct uuid *id, const struct bot_wish *wish)
{
    struct draft draft;
    draft_begin(&draft, REQUEST_place_limit_order, SIGNATURE_ED25519, id);
    draft_set_portfolio(&draft, "portfolio_id", &bot->portfolio);
    draft_set(&draft, "price", (uint64_t)wish->price);
    draft_set(&draft, "quantity", (uint64_t)wish->quantity);
    draft_set(&draft, "expiry", wish->expiry);
    draft_set(&draft, "post_only", wish->post_only);
    draft_set(&draft, "reduce_only", wish->reduce_only);
    draft_set(&draft, "asset", bot->record.asset_id);
    queue_signed(bot, &draft);
}

void bot_place(struct bot *bot, uint32_t slot, const struct bot_wish *wish)
{
    INVARIANT(slot < BOT_SLOTS_MAX && !bot->slots[slot].used);
    bot->slots[slot] = (struct bot_slot){ .used = true, .quantity = wish->quantity };
    fresh_id(bot, &bot->slots[slot].id);
    queue_place(bot, &bot->slots[slot].id, wish);
    expect(bot, BOT_PLACE, slot);
}

void bot_repeat(struct bot *bot, uint32_t slot, const struct bot_wish *wish)
{
    queue_place(bot, &bot->slots[slot].id, wish);
    expect(bot, BOT_CANCEL_ALL, slot); /* counted, changes no slot */
}

void bot_cancel(struct bot *bot, uint32_t slot)
{
    struct draft draft;
    struct uuid id;
    fresh_id(bot, &id);
    draft_begin(&draft, REQUEST_order_cancel, SIGNATURE_ED25519, &id);
    draft_set_portfolio(&draft, "portfolio_id", &bot->portfolio);
    draft_set_bytes(&draft, "order_id", bot->slots[slot].id.bytes, UUID_BYTES);
    draft_set(&draft, "asset", bot->record.asset_id);
    queue_signed(bot, &draft);
    expect(bot, BOT_CANCEL, slot);
}

void bot_cancel_all(struct bot *bot)
{
    struct draft draft;
    struct uuid id;
    fresh_id(bot, &id);
    draft_begin(&draft, REQUEST_cancel_all_orders, SIGNATURE_ED25519, &id);
    draft_set_portfolio(&draft, "portfolio_id", &bot->portfolio);
    draft_set(&draft, "asset", bot->record.asset_id);
    queue_signed(bot, &draft);
    expect(bot, BOT_CANCEL_ALL, 0);
}

static void queue_get(struct bot *bot, const char *target)
{
    struct client_request request = { .method = "GET", .target = target, .api_key = bot->api_key };
    queue(bot, &request);
}

void bot_read(struct bot *bot, uint32_t slot)
{
    char target[64], id[UUID_TEXT_BYTES + 1];
    uuid_format(&bot->slots[slot].id, id);
    snprintf(target, sizeof target, "/api/v1/orders/%s", id);
    queue_get(bot, target);
    expect(bot, BOT_READ, slot);
}

void bot_balance(struct bot *bot)
{
    char target[96];
    snprintf(target, sizeof target,
             "/api/v1/portfolio/balance?subaccount_index=%u&portfolio_index=%u",
             bot->portfolio.subaccount_index, bot->portfolio.portfolio_index);
    bot->cash = -1;
    queue_get(bot, target);
    expect(bot, BOT_BALANCE, 0);
}

static void take_ack(struct bot *bot, const struct client_answer *answer, enum bot_action action,
                     struct bot_slot *slot)
{
    struct verdict verdict;
    verdict_read(&verdict, answer);
    if (verdict.kind == VERDICT_UNREADABLE || verdict.status >= STATUS_COUNT) {
        bot->problems++;
        fprintf(stderr, "%s: HTTP %u %s: %s\n", bot->name, answer->status, verdict.word,
                verdict.detail);
        if (verdict.kind == VERDICT_UNREADABLE)
            die(bot, "an answer of unknown form");
    } else {
        bot->statuses[verdict.status]++;
    }
    if (action == BOT_PLACE && verdict.kind != VERDICT_ACCEPTED)
        slot->used = false; /* refused: there is no order */
}

static bool read_decimal(const struct json_member *member, unsigned scale, int64_t *value)
{
    return member->kind == JSON_STRING && decimal_parse(member->value.text, member->value.count,
                                                        scale, 0, INT64_MAX, value) == DECIMAL_OK;
}

static bool is_final(const struct json_member *status)
{
    return !json_scan_equal(&status->value, "OPEN", 4) &&
           !json_scan_equal(&status->value, "PARTIALLY_FILLED", 16);
}

/* filled * average is the notional to less than half a micro-USDC below 10^8 raw of size, for the
 * average has 8 decimals more than a price: the nearest integer is exact. */
static int64_t notional_of(int64_t filled, int64_t average)
{
    return (int64_t)(((int128)filled * average + 50000000) / 100000000);
}

static void take_order(struct bot *bot, const struct client_answer *answer, struct bot_slot *slot)
{
    struct json_member members[] = { JSON_MEMBER("order_status"), JSON_MEMBER("filled_size"),
                                     JSON_MEMBER("average_price") };
    int64_t filled, average = 0;
    if (!slot->used)
        return; /* the placement was refused */
    if (answer->status != 200) {
        bot->problems++; /* read again in the next turn */
        return;
    }
    if (json_scan_members(answer->body, answer->body_count, members, 3, NULL) != JSON_OK ||
        members[0].kind != JSON_STRING ||
        !read_decimal(&members[1], bot->record.size_decimals, &filled) ||
        (filled > 0 &&
         !read_decimal(&members[2], bot->record.price_decimals + DECIMAL_AVERAGE_DIGITS, &average)))
        die(bot, "an order of unknown form");
    int64_t notional = notional_of(filled, average), sign = slot->quantity < 0 ? -1 : 1;
    if (filled < slot->filled)
        die(bot, "an order's filled size went down");
    if (filled > slot->filled) {
        int64_t paid = notional - slot->notional;
        bot->position += sign * (filled - slot->filled);
        bot->notional += sign * paid;
        bot->gross += paid;
        bot->trades++;
    }
    slot->filled = filled;
    slot->notional = notional;
    slot->used = !is_final(&members[0]);
}

static void take_balance(struct bot *bot, const struct client_answer *answer)
{
    struct json_member cash = JSON_MEMBER("cash_balance");
    if (answer->status != 200 ||
        json_scan_members(answer->body, answer->body_count, &cash, 1, NULL) != JSON_OK ||
        !read_decimal(&cash, 6, &bot->cash))
        bot->problems++;
}

void bot_flush(struct bot *bot)
{
    uint64_t begin_ns = instant_monotonic_ns();
    uint32_t count = bot->pending_count;
    for (uint32_t i = 0; i < count; i++) {
        struct client_answer answer;
        enum bot_action action = (enum bot_action)bot->pending[i].action;
        struct bot_slot *slot = &bot->slots[bot->pending[i].slot];
        if (client_read(&bot->client, &answer) != 0)
            die(bot, bot->client.error);
        if (i == 0)
            histogram_add(&bot->round_trip, instant_monotonic_ns() - begin_ns);
        if (action == BOT_READ)
            take_order(bot, &answer, slot);
        else if (action == BOT_BALANCE)
            take_balance(bot, &answer);
        else
            take_ack(bot, &answer, action, slot);
    }
    bot->pending_count = 0;
}

uint64_t bot_draw(struct bot *bot, uint64_t bound)
{
    bot->random ^= bot->random << 13;
    bot->random ^= bot->random >> 7;
    bot->random ^= bot->random << 17;
    return bot->random % bound;
}

int64_t bot_tick(const struct bot *bot, int64_t price)
{
    return price / bot->record.tick * bot->record.tick;
}

int64_t bot_lot(const struct bot *bot, int64_t size)
{
    return size / bot->record.lot * bot->record.lot;
}
