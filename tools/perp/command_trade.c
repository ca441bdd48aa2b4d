#include <stdio.h>
#include <strings.h>

#include "perp/choice.h"
#include "perp/command.h"
#include "perp/instant.h"

enum { ASSET_ALL = 0xffff };

static bool read_side(struct context *context, const char *text, bool *sell)
{
    *sell = strcasecmp(text, "sell") == 0 || strcasecmp(text, "short") == 0;
    return *sell || strcasecmp(text, "buy") == 0 || strcasecmp(text, "long") == 0 ||
           context_fail(context, EXIT_CODE_usage, "SIDE '%.40s' is neither buy nor sell", text);
}

static bool read_expiry(struct context *context, uint64_t *expiry)
{
    const char *text = context->arguments->values[FLAG_tif];
    if (text == NULL || strcasecmp(text, "GTC") == 0) {
        *expiry = UINT64_MAX;
        return true;
    }
    if (strcasecmp(text, "IOC") == 0 || strcasecmp(text, "FOK") == 0) {
        *expiry = strcasecmp(text, "FOK") == 0;
        return true;
    }
    if (strncasecmp(text, "GTT:", 4) == 0 && instant_parse(text + 4, expiry))
        return true;
    return context_fail(context, EXIT_CODE_usage,
                        "--tif '%.60s' is none of GTC, IOC, FOK, GTT:2030-01-31T12:00:00Z", text);
}

/* Says what the exchange will most likely object to; it has the last word. */
static void warn(const struct context *context, int64_t size, int64_t price)
{
    const struct instrument *record = &context->record;
    char text[DECIMAL_TEXT_MAX];
    if (!instrument_on_tick(record, price)) {
        decimal_format(text, record->tick, record->price_decimals);
        fprintf(stderr, "note: PRICE is not a multiple of the tick %s\n", text);
    }
    if (!instrument_on_lot(record, size)) {
        decimal_format(text, record->lot, record->size_decimals);
        fprintf(stderr, "note: SIZE is not a multiple of the lot %s\n", text);
    }
}

static bool fill_order(struct context *context, struct draft *draft)
{
    const char *const *words = context->arguments->words;
    char error[INSTRUMENT_ERROR_MAX];
    struct draft_portfolio portfolio;
    uint64_t expiry, stp;
    int64_t size, price;
    struct uuid id;
    bool sell;
    if (!context_id(context, &id) || !context_portfolio(context, &portfolio) ||
        !read_side(context, words[1], &sell) || !read_expiry(context, &expiry) ||
        !choice_enum(context, FLAG_stp, REQUEST_place_limit_order, "stp", 0, &stp) ||
        !context_market(context, words[0]))
        return false;
    if (!instrument_size(&context->record, words[2], &size, error) ||
        !instrument_price(&context->record, words[3], &price, error))
        return context_fail(context, EXIT_CODE_usage, "%s", error);
    warn(context, size, price);
    draft_begin(draft, REQUEST_place_limit_order, SIGNATURE_ED25519, &id);
    draft_set_portfolio(draft, "portfolio_id", &portfolio);
    draft_set(draft, "price", (uint64_t)price);
    draft_set(draft, "quantity", (uint64_t)(sell ? -size : size));
    draft_set(draft, "expiry", expiry);
    draft_set(draft, "post_only", arguments_has(context->arguments, FLAG_post_only));
    draft_set(draft, "reduce_only", arguments_has(context->arguments, FLAG_reduce_only));
    draft_set(draft, "stp", stp);
    draft_set(draft, "asset", context->record.asset_id);
    return true;
}

static bool fill_cancel(struct context *context, struct draft *draft)
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
    draft_begin(draft, REQUEST_order_cancel, SIGNATURE_ED25519, &id);
    draft_set_portfolio(draft, "portfolio_id", &portfolio);
    draft_set_bytes(draft, "order_id", order_id.bytes, UUID_BYTES);
    draft_set(draft, "asset", context->record.asset_id);
    return true;
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
    return true;
}

static int submit(struct context *context, bool (*fill)(struct context *, struct draft *))
{
    struct key_file key;
    struct verdict verdict;
    struct draft draft;
    if (!context_key(context, SETTING_session_key, SIGNATURE_ED25519, false, &key))
        return context->exit_code;
    int code =
        fill(context, &draft) ? context_write(context, &draft, &key, &verdict) : context->exit_code;
    key_file_wipe(&key);
    return code;
}

int command_trade_order(struct context *context)
{
    return submit(context, fill_order);
}

int command_trade_cancel(struct context *context)
{
    return submit(context, fill_cancel);
}

int command_trade_cancel_all(struct context *context)
{
    return submit(context, fill_cancel_all);
}
