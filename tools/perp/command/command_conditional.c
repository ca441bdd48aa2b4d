/* command_conditional.c - places orders that wait for a trigger price. */
#include <strings.h>

#include "perp/command/command.h"
#include "perp/invocation/choice.h"

enum { TYPE_STOP_LIMIT = 2, TYPE_STOP_MARKET, TYPE_TAKE_PROFIT, TYPE_TAKE_PROFIT_MARKET };
enum { LIVE_IOC, LIVE_FOK, LIVE_GTC };

/* TRIGGER: a price, or a source before it as in last:95000. */
static bool read_trigger(struct context *context, const char *text, uint64_t *source,
                         int64_t *price)
{
    static const char *const names[] = { "mark:", "last:", "index:" };
    char error[INSTRUMENT_ERROR_MAX];
    *source = 0;
    for (size_t i = 0; i < CC_COUNT(names); i++)
        if (strncasecmp(text, names[i], strlen(names[i])) == 0) {
            *source = i;
            text += strlen(names[i]);
            break;
        }
    return instrument_price(&context->record, text, price, error) ||
           context_fail(context, EXIT_CODE_usage, "TRIGGER: %s", error);
}

/* --tif applies after the trigger: a market kind never rests. */
static bool read_live(struct context *context, bool is_market, uint64_t *live)
{
    const char *text = context->arguments->values[FLAG_tif];
    *live = is_market ? LIVE_IOC : LIVE_GTC;
    if (text == NULL)
        return true;
    if (is_market)
        return context_fail(context, EXIT_CODE_usage,
                            "without PRICE it fires as a market order: --tif is not for it");
    *live = strcasecmp(text, "IOC") == 0   ? LIVE_IOC
            : strcasecmp(text, "FOK") == 0 ? LIVE_FOK
                                           : LIVE_GTC;
    return *live != LIVE_GTC || strcasecmp(text, "GTC") == 0 ||
           context_fail(context, EXIT_CODE_usage,
                        "--tif '%.60s' is none of GTC, IOC and FOK: once it has fired; --expires "
                        "ends its wait",
                        text);
}

struct conditional {
    struct draft_portfolio portfolio;
    struct uuid id, oco;
    uint64_t source, live, stp, slippage_ppm, expiry;
    int64_t trigger, price, size;
    bool sell;
};

static bool read_flags(struct context *context, bool is_market, struct conditional *order)
{
    const struct arguments *arguments = context->arguments;
    const char *oco = arguments->values[FLAG_oco];
    if (!choice_expires(context, &order->expiry) || !read_live(context, is_market, &order->live) ||
        !choice_slippage(context, &order->slippage_ppm) ||
        !choice_enum(context, FLAG_stp, REQUEST_place_conditional_order, "stp", 0, &order->stp) ||
        (oco != NULL && !choice_uuid(context, "--oco", oco, &order->oco)))
        return false;
    if (order->expiry == 0)
        order->expiry = UINT64_MAX;
    if (is_market && arguments_has(arguments, FLAG_post_only))
        return context_fail(context, EXIT_CODE_usage,
                            "without PRICE it fires as a market order: --post-only is not for it");
    return is_market || !arguments_has(arguments, FLAG_max_slippage) ||
           context_fail(context, EXIT_CODE_usage,
                        "--max-slippage is for an order without PRICE; PRICE bounds this one");
}

static bool read_order(struct context *context, struct conditional *order)
{
    const struct arguments *arguments = context->arguments;
    const char *const *words = arguments->words;
    char error[INSTRUMENT_ERROR_MAX];
    bool is_market = arguments->word_count < 5;
    if (!read_flags(context, is_market, order) || !context_id(context, &order->id) ||
        !context_portfolio(context, &order->portfolio) ||
        !choice_side(context, "SIDE", words[1], &order->sell) ||
        !context_market(context, words[0]) ||
        !read_trigger(context, words[3], &order->source, &order->trigger))
        return false;
    if (!instrument_size(&context->record, words[2], &order->size, error) ||
        (!is_market && !instrument_price(&context->record, words[4], &order->price, error)))
        return context_fail(context, EXIT_CODE_usage, "%s", error);
    return true;
}

static bool fill(struct context *context, struct draft *draft, uint64_t limit_type)
{
    struct conditional order = { 0 };
    if (!read_order(context, &order))
        return false;
    bool is_market = context->arguments->word_count < 5;
    draft_begin(draft, REQUEST_place_conditional_order, SIGNATURE_ED25519, &order.id);
    draft_set_portfolio(draft, "portfolio_id", &order.portfolio);
    draft_set(draft, "trigger_price", (uint64_t)order.trigger);
    draft_set(draft, "price", (uint64_t)order.price);
    draft_set(draft, "quantity", (uint64_t)(order.sell ? -order.size : order.size));
    draft_set(draft, "expiry", order.expiry);
    draft_set(draft, "post_only", arguments_has(context->arguments, FLAG_post_only));
    draft_set(draft, "reduce_only", arguments_has(context->arguments, FLAG_reduce_only));
    draft_set(draft, "stp", order.stp);
    draft_set(draft, "order_type", is_market ? limit_type + 1 : limit_type);
    draft_set(draft, "asset", context->record.asset_id);
    draft_set(draft, "max_slippage_ppm", order.slippage_ppm);
    draft_set(draft, "trigger_source", order.source);
    draft_set(draft, "live_tif", order.live);
    draft_set_bytes(draft, "oco_group", order.oco.bytes, UUID_BYTES);
    return true;
}

static bool fill_stop(struct context *context, struct draft *draft)
{
    return fill(context, draft, TYPE_STOP_LIMIT);
}

static bool fill_take_profit(struct context *context, struct draft *draft)
{
    return fill(context, draft, TYPE_TAKE_PROFIT);
}

int command_conditional_stop(struct context *context)
{
    return context_submit(context, SETTING_session_key, SIGNATURE_ED25519, fill_stop);
}

int command_conditional_take_profit(struct context *context)
{
    return context_submit(context, SETTING_session_key, SIGNATURE_ED25519, fill_take_profit);
}
