#include "perp_demo/bot.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/json_scan.h"
#include "perp_demo/pause.h"

enum action { PLACE, REPEAT, OTHER, READ, LOOK, BALANCE };

_Noreturn void bot_die(const struct bot *bot, const char *what)
{
    fprintf(stderr, "%s: %s\n", bot->name, what);
    exit(1);
}

static void begin(const struct bot *bot, struct draft *draft, uint32_t code, const struct uuid *id)
{
    struct uuid fresh;
    if (id == NULL && draft_fresh_id(&fresh) != 0)
        bot_die(bot, "no random bytes");
    draft_begin(draft, code, SIGNATURE_ED25519, id != NULL ? id : &fresh);
    draft_set_portfolio(draft, "portfolio_id", &bot->portfolio);
}

static void post(struct bot *bot, struct draft *draft, enum action action, uint32_t slot)
{
    courier_post(&bot->courier, draft, &bot->key, (uint8_t)action, (uint8_t)slot);
    bot->sent++;
}

static struct bot_slot *slot_at(struct bot *bot, uint32_t slot)
{
    INVARIANT(slot < BOT_SLOTS_MAX);
    return &bot->slots[slot];
}

static void post_place(struct bot *bot, uint32_t slot, const struct bot_wish *wish,
                       enum action action)
{
    struct draft draft;
    begin(bot, &draft, wish->at_market ? REQUEST_place_market_order : REQUEST_place_limit_order,
          &slot_at(bot, slot)->id);
    if (wish->at_market) {
        draft_set(&draft, "max_slippage_ppm", wish->slippage_ppm);
    } else {
        draft_set(&draft, "price", (uint64_t)wish->price);
        draft_set(&draft, "expiry", wish->expiry);
        draft_set(&draft, "post_only", wish->post_only);
    }
    draft_set(&draft, "quantity", (uint64_t)wish->quantity);
    draft_set(&draft, "reduce_only", wish->reduce_only);
    draft_set(&draft, "asset", bot->records[wish->market].asset_id);
    post(bot, &draft, action, slot);
}

void bot_place(struct bot *bot, uint32_t slot, const struct bot_wish *wish)
{
    struct bot_slot *order = slot_at(bot, slot);
    INVARIANT(!order->used && wish->market < LISTING_MARKETS && wish->quantity != 0);
    *order =
        (struct bot_slot){ .used = true,
                           .market = (uint8_t)wish->market,
                           .sign = wish->quantity < 0 ? -1 : 1,
                           .price = wish->at_market ? 0 : wish->price,
                           .remaining = wish->quantity < 0 ? -wish->quantity : wish->quantity };
    if (draft_fresh_id(&order->id) != 0)
        bot_die(bot, "no random bytes");
    post_place(bot, slot, wish, PLACE);
}

void bot_repeat(struct bot *bot, uint32_t slot, const struct bot_wish *wish)
{
    post_place(bot, slot, wish, REPEAT);
}

/* A request about the slot's order. */
static void begin_about(struct bot *bot, struct draft *draft, uint32_t code, uint32_t slot)
{
    const struct bot_slot *order = slot_at(bot, slot);
    begin(bot, draft, code, NULL);
    draft_set_bytes(draft, "order_id", order->id.bytes, UUID_BYTES);
    draft_set(draft, "asset", bot->records[order->market].asset_id);
}

void bot_replace(struct bot *bot, uint32_t slot, int64_t price, int64_t remaining)
{
    struct draft draft;
    begin_about(bot, &draft, REQUEST_order_replacement, slot);
    draft_set(&draft, "price", (uint64_t)price);
    draft_set(&draft, "quantity", (uint64_t)(slot_at(bot, slot)->sign * remaining));
    draft_set(&draft, "expiry", UINT64_MAX);
    draft_set(&draft, "post_only", true);
    post(bot, &draft, OTHER, slot);
}

void bot_reduce(struct bot *bot, uint32_t slot, int64_t reduce_by)
{
    struct draft draft;
    begin_about(bot, &draft, REQUEST_order_reduction, slot);
    draft_set(&draft, "reduce_by", (uint64_t)reduce_by);
    draft_set(&draft, "expected_remaining", (uint64_t)slot_at(bot, slot)->remaining);
    post(bot, &draft, OTHER, slot);
}

void bot_cancel(struct bot *bot, uint32_t slot)
{
    struct draft draft;
    begin_about(bot, &draft, REQUEST_order_cancel, slot);
    post(bot, &draft, OTHER, slot);
}

void bot_cancel_all(struct bot *bot)
{
    struct draft draft;
    begin(bot, &draft, REQUEST_cancel_all_orders, NULL);
    draft_set(&draft, "asset", UINT16_MAX);
    post(bot, &draft, OTHER, 0);
}

void bot_read(struct bot *bot, uint32_t slot)
{
    char target[64], id[UUID_TEXT_BYTES + 1];
    uuid_format(&slot_at(bot, slot)->id, id);
    snprintf(target, sizeof target, "/api/v1/orders/%s", id);
    courier_ask(&bot->courier, target, READ, (uint8_t)slot);
}

void bot_look(struct bot *bot, uint32_t market)
{
    char target[96];
    snprintf(target, sizeof target, "/api/v1/markets/%s/book?depth=1", listing_at(market)->market);
    courier_ask(&bot->courier, target, LOOK, (uint8_t)market);
}

void bot_post(struct bot *bot, struct draft *draft)
{
    post(bot, draft, OTHER, 0);
}

static void ask_balance(struct bot *bot)
{
    char target[96];
    snprintf(target, sizeof target,
             "/api/v1/portfolio/balance?subaccount_index=%u&portfolio_index=%u",
             bot->portfolio.subaccount_index, bot->portfolio.portfolio_index);
    courier_ask(&bot->courier, target, BALANCE, 0);
}

static void accept_order(struct bot *bot, struct bot_slot *order)
{
    bot->accepted_orders += !order->accepted;
    order->accepted = true;
    order->unsure = false;
}

/* The answer to a placement or to its repetition: two requests of one id, at most one of which is
 * executed. */
static void accept_placement(struct bot *bot, const struct courier_parcel *parcel,
                             const struct outcome *outcome)
{
    struct bot_slot *order = &bot->slots[parcel->slot];
    bool is_duplicate = outcome->kind == OUTCOME_DUPLICATE;
    bool is_told = outcome->sequence != 0 || (is_duplicate && outcome->original < STATUS_COUNT);
    if (outcome_is_done(outcome)) {
        accept_order(bot, order);
        order->used = true;
    } else if (!order->accepted) {
        /* Refused, so there is no order; unless nothing was said of a request whose answer was
         * lost. */
        order->unsure = !is_told && (parcel->sent_again || is_duplicate);
        order->used = order->unsure;
    }
}

/* Sent again, but its id was too old by then. */
static bool is_late(const struct courier_parcel *parcel, const struct outcome *outcome)
{
    return parcel->sent_again && outcome->kind == OUTCOME_PROBLEM &&
           strcmp(outcome->word, "request_timestamp_out_of_window") == 0;
}

static void accept_ack(struct bot *bot, const struct courier_parcel *parcel,
                       const struct outcome *outcome)
{
    if (outcome->status < STATUS_COUNT) {
        bot->statuses[outcome->status]++;
    } else if (!is_late(parcel, outcome)) { /* else its receipt is untold, and proved */
        bot->problems++;
        fprintf(stderr, "%s: HTTP %u %s: %s\n", bot->name, outcome->http_status, outcome->word,
                outcome->detail);
        if (outcome->kind == OUTCOME_UNREADABLE)
            bot_die(bot, "an answer of unknown form");
    }
    if (parcel->action == PLACE || parcel->action == REPEAT)
        accept_placement(bot, parcel, outcome);
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

int64_t bot_notional(int64_t filled, int64_t average)
{
    return (int64_t)(((int128)filled * average + 50000000) / 100000000);
}

static void book_fill(struct bot *bot, struct bot_slot *order, int64_t filled, int64_t notional)
{
    struct bot_book *book = &bot->books[order->market];
    if (filled < order->filled) { /* what was shown once is gone */
        fprintf(stderr, "%s: the filled size of an order went down\n", bot->name);
        bot->problems++;
        return;
    }
    if (filled > order->filled) {
        int64_t paid = notional - order->notional;
        book->position += order->sign * (filled - order->filled);
        book->notional += order->sign * paid;
        book->gross += paid;
        bot->trades++;
    }
    order->filled = filled;
    order->notional = notional;
}

static void compare_order(struct bot *bot, const struct client_answer *answer,
                          struct bot_slot *order)
{
    struct json_member members[] = { JSON_MEMBER("order_status"), JSON_MEMBER("filled_size"),
                                     JSON_MEMBER("average_price"), JSON_MEMBER("remaining_size"),
                                     JSON_MEMBER("price") };
    const struct instrument *record = &bot->records[order->market];
    int64_t filled, average = 0;
    if (!order->used)
        return; /* the placement was refused */
    if (courier_is_later(answer->status)) {
        bot->postponed++; /* read again in the next turn */
        return;
    }
    if (answer->status != 200) {
        order->used = false; /* it never came to be, or is gone */
        if (answer->status == 404 && order->unsure)
            return;
        bot->problems++;
        fprintf(stderr, "%s: an order: HTTP %u %.*s\n", bot->name, answer->status,
                (int)answer->body_count, answer->body);
        return;
    }
    if (json_scan_members(answer->body, answer->body_count, members, 5, NULL) != JSON_OK ||
        members[0].kind != JSON_STRING ||
        !read_decimal(&members[1], record->size_decimals, &filled) ||
        !read_decimal(&members[3], record->size_decimals, &order->remaining) ||
        (members[4].kind == JSON_STRING &&
         !read_decimal(&members[4], record->price_decimals, &order->price)) ||
        (filled > 0 &&
         !read_decimal(&members[2], record->price_decimals + DECIMAL_AVERAGE_DIGITS, &average)))
        bot_die(bot, "an order of unknown form");
    if (order->unsure && !json_scan_equal(&members[0].value, "REJECTED", 8))
        accept_order(bot, order);
    order->unsure = false;
    book_fill(bot, order, filled, bot_notional(filled, average));
    order->used = !is_final(&members[0]);
}

/* The first string after `bids` and after `asks` is the price of the best level. */
static void accept_book(struct bot *bot, const struct client_answer *answer, uint32_t market)
{
    static struct json_scan scan;
    struct json_token token;
    struct bot_best *best = &bot->best[market];
    int64_t *side = NULL;
    *best = (struct bot_best){ 0 };
    bot->postponed += courier_is_later(answer->status);
    bot->problems += !courier_is_later(answer->status) && answer->status != 200;
    json_scan_begin(&scan, answer->body, answer->body_count);
    while (json_scan_next(&scan, &token)) {
        if (token.named)
            side = json_scan_equal(&token.name, "bids", 4)   ? &best->bid
                   : json_scan_equal(&token.name, "asks", 4) ? &best->ask
                                                             : NULL;
        if (side == NULL || token.kind != JSON_STRING)
            continue;
        if (decimal_parse(token.value.text, token.value.count, bot->records[market].price_decimals,
                          1, INT64_MAX, side) != DECIMAL_OK)
            bot_die(bot, "a book of unknown form");
        side = NULL;
    }
}

static void accept_balance(struct bot *bot, const struct client_answer *answer)
{
    struct json_member cash = JSON_MEMBER("cash_balance");
    if (courier_is_later(answer->status))
        bot->postponed++;
    else if (answer->status != 200 ||
             json_scan_members(answer->body, answer->body_count, &cash, 1, NULL) != JSON_OK ||
             !read_decimal(&cash, 6, &bot->cash))
        bot->problems++;
}

static void accept_answer(void *context, const struct courier_parcel *parcel,
                          const struct client_answer *answer, const struct outcome *outcome)
{
    struct bot *bot = context;
    if (outcome != NULL)
        accept_ack(bot, parcel, outcome);
    else if (parcel->action == READ)
        compare_order(bot, answer, &bot->slots[parcel->slot]);
    else if (parcel->action == LOOK)
        accept_book(bot, answer, parcel->slot);
    else
        accept_balance(bot, answer);
}

void bot_flush(struct bot *bot)
{
    if (!courier_collect(&bot->courier, accept_answer, bot))
        bot_die(bot, bot->courier.client.error);
}

void bot_balance(struct bot *bot)
{
    bot->cash = -1;
    for (uint32_t tries = 0; bot->cash < 0 && bot->problems == 0 && pause_before(tries); tries++) {
        ask_balance(bot);
        bot_flush(bot);
    }
}

uint64_t bot_draw(struct bot *bot, uint64_t bound)
{
    bot->random ^= bot->random << 13;
    bot->random ^= bot->random >> 7;
    bot->random ^= bot->random << 17;
    return bot->random % bound;
}

int64_t bot_part(int64_t value, int64_t ppm)
{
    return (int64_t)((int128)value * ppm / 1000000);
}

int64_t bot_tick(const struct bot *bot, uint32_t market, int64_t price, bool sell)
{
    int64_t tick = bot->records[market].tick;
    return (price + (sell ? tick - 1 : 0)) / tick * tick;
}
