/* command_trade.c - places and cancels orders. */
#include <jansson.h>
#include <stdio.h>

#include "perp/command/command.h"
#include "perp/invocation/choice.h"
#include "perp/request/client_rule.h"

enum {
    ASSET_ALL = 0xffff,
    TARGET_MAX = 512,
    WAITING_MAX = 1000 /* wire.md: the largest `limit` */
};

/* Warns of what the exchange will probably reject; the exchange decides. */
static void warn_size(const struct context *context, int64_t size)
{
    const struct instrument *record = &context->record;
    char text[DECIMAL_TEXT_MAX];
    if (instrument_on_lot(record, size))
        return;
    decimal_format(text, record->lot, record->size_decimals);
    fprintf(stderr, "note: SIZE is not a multiple of the lot %s\n", text);
}

static void warn_price(const struct context *context, int64_t price)
{
    const struct instrument *record = &context->record;
    char text[DECIMAL_TEXT_MAX];
    if (instrument_on_tick(record, price))
        return;
    decimal_format(text, record->tick, record->price_decimals);
    fprintf(stderr, "note: PRICE is not a multiple of the tick %s\n", text);
}

/* What limit and market orders have in common. */
struct order {
    struct uuid id;
    struct draft_portfolio portfolio;
    bool sell;
    uint64_t stp;
    int64_t size;
};

static bool read_order(struct context *context, uint32_t code, struct order *order)
{
    const char *const *words = context->arguments->words;
    char error[INSTRUMENT_ERROR_MAX];
    if (!context_id(context, &order->id) || !context_portfolio(context, &order->portfolio) ||
        !choice_side(context, "SIDE", words[1], &order->sell) ||
        !choice_enum(context, FLAG_stp, code, "stp", 0, &order->stp) ||
        !context_market(context, words[0]))
        return false;
    if (!instrument_size(&context->record, words[2], &order->size, error))
        return context_fail(context, EXIT_CODE_usage, "%s", error);
    return true;
}

static void write_order(struct context *context, const struct order *order, struct draft *draft,
                        uint32_t code)
{
    warn_size(context, order->size);
    draft_begin(draft, code, SIGNATURE_ED25519, &order->id);
    draft_set_portfolio(draft, "portfolio_id", &order->portfolio);
    draft_set(draft, "quantity", (uint64_t)(order->sell ? -order->size : order->size));
    draft_set(draft, "reduce_only", arguments_has(context->arguments, FLAG_reduce_only));
    draft_set(draft, "stp", order->stp);
    draft_set(draft, "asset", context->record.asset_id);
}

static bool fill_limit(struct context *context, struct draft *draft)
{
    char error[INSTRUMENT_ERROR_MAX];
    struct order order;
    uint64_t expiry;
    int64_t price;
    if (!choice_expiry(context, &expiry) || !read_order(context, REQUEST_place_limit_order, &order))
        return false;
    if (!instrument_price(&context->record, context->arguments->words[3], &price, error))
        return context_fail(context, EXIT_CODE_usage, "%s", error);
    warn_price(context, price);
    write_order(context, &order, draft, REQUEST_place_limit_order);
    draft_set(draft, "price", (uint64_t)price);
    draft_set(draft, "expiry", expiry);
    draft_set(draft, "post_only", arguments_has(context->arguments, FLAG_post_only));
    return true;
}

static bool fill_market(struct context *context, struct draft *draft)
{
    struct order order;
    uint64_t slippage_ppm;
    if (!choice_slippage(context, &slippage_ppm) ||
        !read_order(context, REQUEST_place_market_order, &order))
        return false;
    write_order(context, &order, draft, REQUEST_place_market_order);
    draft_set(draft, "max_slippage_ppm", slippage_ppm);
    return true;
}

/* The words and flags that only one of the two kinds of order has. */
static bool check_kind(struct context *context, bool market)
{
    const struct arguments *arguments = context->arguments;
    if (!market && arguments->word_count < 4)
        return context_fail(context, EXIT_CODE_usage,
                            "PRICE is missing; an order without one is made with --market");
    if (!market && arguments_has(arguments, FLAG_max_slippage))
        return context_fail(context, EXIT_CODE_usage,
                            "--max-slippage is for --market; PRICE bounds a limit order");
    if (market && arguments->word_count == 4)
        return context_fail(context, EXIT_CODE_usage,
                            "a market order has no PRICE; --max-slippage bounds it");
    if (market && (arguments_has(arguments, FLAG_tif) || arguments_has(arguments, FLAG_post_only)))
        return context_fail(context, EXIT_CODE_usage,
                            "a market order never rests: --tif and --post-only are not for it");
    return true;
}

static bool fill_cancel_of(struct context *context, struct draft *draft, uint32_t code)
{
    const char *const *words = context->arguments->words;
    struct draft_portfolio portfolio;
    struct uuid id, order_id;
    if (!context_id(context, &id) || !context_portfolio(context, &portfolio))
        return false;
    if (!uuid_parse(&order_id, words[1], strlen(words[1])))
        return context_fail(context, EXIT_CODE_usage,
                            "ORDER_ID '%.60s' is no UUID; 'perp order' prints it as request_id",
                            words[1]);
    if (!context_market(context, words[0]))
        return false;
    draft_begin(draft, code, SIGNATURE_ED25519, &id);
    draft_set_portfolio(draft, "portfolio_id", &portfolio);
    draft_set_bytes(draft, "order_id", order_id.bytes, UUID_BYTES);
    draft_set(draft, "asset", context->record.asset_id);
    return true;
}

static bool fill_cancel(struct context *context, struct draft *draft)
{
    return fill_cancel_of(context, draft, REQUEST_order_cancel);
}

static bool fill_cancel_conditional(struct context *context, struct draft *draft)
{
    return fill_cancel_of(context, draft, REQUEST_conditional_order_cancel);
}

static bool fill_cancel_all(struct context *context, struct draft *draft)
{
    struct draft_portfolio portfolio;
    uint64_t side;
    struct uuid id;
    if (!context_id(context, &id) || !context_portfolio(context, &portfolio) ||
        !choice_enum(context, FLAG_side, REQUEST_cancel_all_orders, "side", 0, &side))
        return false;
    if (context->arguments->word_count > 0 &&
        !context_market(context, context->arguments->words[0]))
        return false;
    if (arguments_has(context->arguments, FLAG_all))
        portfolio.portfolio_index = UINT32_MAX;
    draft_begin(draft, REQUEST_cancel_all_orders, SIGNATURE_ED25519, &id);
    draft_set_portfolio(draft, "portfolio_id", &portfolio);
    draft_set(draft, "asset", context->has_record ? context->record.asset_id : ASSET_ALL);
    draft_set(draft, "side", side);
    draft_set(draft, "include_conditional", arguments_has(context->arguments, FLAG_conditional));
    return true;
}

int command_trade_order(struct context *context)
{
    bool market = arguments_has(context->arguments, FLAG_market_bare);
    if (!check_kind(context, market))
        return context->exit_code;
    return context_submit(context, SETTING_session_key, SIGNATURE_ED25519,
                          market ? fill_market : fill_limit);
}

int command_trade_cancel(struct context *context)
{
    return context_submit(context, SETTING_session_key, SIGNATURE_ED25519, fill_cancel);
}

int command_trade_cancel_conditional(struct context *context)
{
    return context_submit(context, SETTING_session_key, SIGNATURE_ED25519, fill_cancel_conditional);
}

/* How many conditional orders wait where cancel-all was; -1: nobody asks, or there is no answer. */
static int64_t count_waiting(struct context *context)
{
    static const char *const sides[] = { NULL, "LONG", "SHORT" }; /* by the request's `side` */
    const struct settings *settings = context->settings;
    char target[TARGET_MAX], api_key[SETTINGS_VALUE_MAX];
    struct client_request request = { .method = "GET", .target = target, .api_key = api_key };
    struct client_answer answer;
    int64_t count = 0;
    uint64_t side;
    json_t *row;
    size_t i;

    if (settings->values[SETTING_api_key][0] == '\0' || !context_api_key(context, api_key) ||
        !choice_enum(context, FLAG_side, REQUEST_cancel_all_orders, "side", 0, &side))
        return -1;
    int used = snprintf(target, sizeof target,
                        "/api/v1/orders?status=UNTRIGGERED&limit=%d"
                        "&subaccount_index=%s",
                        WAITING_MAX, settings->values[SETTING_subaccount]);
    if (!arguments_has(context->arguments, FLAG_all))
        used += snprintf(target + used, sizeof target - (size_t)used, "&portfolio_index=%s",
                         settings->values[SETTING_portfolio]);
    if (context->has_record)
        snprintf(target + used, sizeof target - (size_t)used, "&market=%s",
                 context->arguments->words[0]);
    if (client_rule_call(&context->client, &request, true, &answer) != 0 || answer.status != 200)
        return -1;
    json_t *rows = json_loadb(answer.body, answer.body_count, 0, NULL);
    json_array_foreach(rows, i, row)
    {
        const char *of_row = json_string_value(json_object_get(row, "side"));
        count += side == 0 || (of_row != NULL && strcmp(of_row, sides[side]) == 0);
    }
    json_decref(rows);
    return count;
}

/* After a cancel-all without --conditional: what is still there, and how to end it. */
static void tell_waiting(struct context *context)
{
    int64_t count = count_waiting(context);
    if (count < 0)
        fprintf(stderr, "conditional orders stay: --conditional cancels them too\n");
    else if (count > 0)
        fprintf(stderr, "%lld%s conditional order%s still wait%s: --conditional cancels them too\n",
                (long long)count, count == WAITING_MAX ? " or more" : "", count == 1 ? "" : "s",
                count == 1 ? "s" : "");
}

int command_trade_cancel_all(struct context *context)
{
    const struct arguments *arguments = context->arguments;
    int code = context_submit(context, SETTING_session_key, SIGNATURE_ED25519, fill_cancel_all);
    if (code == EXIT_CODE_accepted && !arguments_has(arguments, FLAG_conditional) &&
        !arguments_has(arguments, FLAG_dry_run))
        tell_waiting(context);
    return code;
}
