/* command_amend.c - changes a resting order, by a reduction or a replacement. */
#include <jansson.h>
#include <stdio.h>

#include "base/field.h"
#include "perp/command/command.h"
#include "perp/invocation/choice.h"

/* The order of a replacement: read from the exchange, then changed by the flags. */
struct amendment {
    bool sell, post_only, reduce_only;
    uint64_t expiry, stp;
    int64_t size, price, expected_remaining;
};

static bool unreadable(struct context *context, const char *member)
{
    return context_fail(context, EXIT_CODE_problem, "the order read has no usable '%s'", member);
}

static bool read_decimal(const json_t *order, const char *name, unsigned scale, int64_t *raw)
{
    const json_t *member = json_object_get(order, name);
    return json_is_string(member) &&
           decimal_parse(json_string_value(member), json_string_length(member), scale, 0, INT64_MAX,
                         raw) == DECIMAL_OK;
}

static bool read_expiry(const json_t *order, uint64_t *expiry)
{
    const char *tif = json_string_value(json_object_get(order, "time_in_force"));
    const json_t *expires_at = json_object_get(order, "expires_at");
    if (tif == NULL)
        return false;
    *expiry = strcmp(tif, "IOC") == 0 ? 0 : strcmp(tif, "FOK") == 0 ? 1 : UINT64_MAX;
    if (strcmp(tif, "GTT") == 0)
        *expiry = (uint64_t)json_integer_value(expires_at);
    return strcmp(tif, "GTT") != 0 || json_is_integer(expires_at);
}

static bool read_stp(const json_t *order, uint64_t *stp)
{
    const char *text = json_string_value(json_object_get(order, "stp"));
    size_t count;
    const struct field *fields = field_table(REQUEST_order_replacement, &count);
    for (size_t i = 0; i < count && text != NULL; i++) {
        if (strcmp(fields[i].name, "stp") != 0)
            continue;
        for (*stp = 0; fields[i].names[*stp] != NULL; ++*stp) {
            if (strcmp(fields[i].names[*stp], text) == 0)
                return true;
        }
    }
    return false;
}

static bool parse_order(struct context *context, const json_t *order, struct amendment *amendment)
{
    const char *market = json_string_value(json_object_get(order, "market"));
    const char *side = json_string_value(json_object_get(order, "side"));
    if (market == NULL || side == NULL)
        return unreadable(context, market == NULL ? "market" : "side");
    if (strcmp(market, context->record.market) != 0)
        return context_fail(context, EXIT_CODE_usage, "that order is of %.40s", market);
    amendment->sell = strcmp(side, "SHORT") == 0;
    amendment->post_only = json_is_true(json_object_get(order, "post_only"));
    amendment->reduce_only = json_is_true(json_object_get(order, "reduce_only"));
    if (!read_decimal(order, "remaining_size", context->record.size_decimals, &amendment->size))
        return unreadable(context, "remaining_size");
    /* A market order has no price. It has ended; the exchange says so. */
    if (!json_is_null(json_object_get(order, "price")) &&
        !read_decimal(order, "price", context->record.price_decimals, &amendment->price))
        return unreadable(context, "price");
    if (!read_expiry(order, &amendment->expiry))
        return unreadable(context, "time_in_force");
    return read_stp(order, &amendment->stp) || unreadable(context, "stp");
}

/* Reads the order. An amendment that does not name the size is conditional on the remaining size
 * read here. */
static bool read_current(struct context *context, const struct uuid *order_id,
                         struct amendment *amendment)
{
    char target[64], id[UUID_TEXT_BYTES + 1];
    struct client_answer answer;
    uuid_format(order_id, id);
    snprintf(target, sizeof target, "/api/v1/orders/%s", id);
    if (!context_get(context, target, true, &answer))
        return false;
    json_t *order = json_loadb(answer.body, answer.body_count, 0, NULL);
    bool good = parse_order(context, order, amendment);
    json_decref(order);
    if (good && !arguments_has(context->arguments, FLAG_size))
        amendment->expected_remaining = amendment->size;
    return good;
}

/* --side names the side, so nothing is read: the rest is as `perp order` would have it. */
static bool read_whole(struct context *context, struct amendment *amendment)
{
    const struct arguments *arguments = context->arguments;
    amendment->expiry = UINT64_MAX;
    if (!arguments_has(arguments, FLAG_size) || !arguments_has(arguments, FLAG_price))
        return context_fail(context, EXIT_CODE_usage,
                            "with --side nothing is read of the order: --size and --price are "
                            "needed, and what is not given is as in a new order");
    return choice_side(context, "--side", arguments->values[FLAG_side], &amendment->sell);
}

static bool change(struct context *context, struct amendment *amendment)
{
    const struct arguments *arguments = context->arguments;
    if (arguments_has(arguments, FLAG_tif) && !choice_expiry(context, &amendment->expiry))
        return false;
    amendment->post_only |= arguments_has(arguments, FLAG_post_only);
    amendment->reduce_only |= arguments_has(arguments, FLAG_reduce_only);
    return choice_enum(context, FLAG_stp, REQUEST_order_replacement, "stp", amendment->stp,
                       &amendment->stp) &&
           choice_size(context, FLAG_size, amendment->size, &amendment->size) &&
           choice_price(context, FLAG_price, amendment->price, &amendment->price) &&
           choice_size(context, FLAG_expected_remaining, amendment->expected_remaining,
                       &amendment->expected_remaining);
}

static bool replace(struct context *context, struct draft *draft, const struct uuid *order_id)
{
    struct amendment amendment = { 0 };
    bool read = arguments_has(context->arguments, FLAG_side)
                    ? read_whole(context, &amendment)
                    : read_current(context, order_id, &amendment);
    if (!read || !change(context, &amendment))
        return false;
    draft_set(draft, "price", (uint64_t)amendment.price);
    draft_set(draft, "quantity", (uint64_t)(amendment.sell ? -amendment.size : amendment.size));
    draft_set(draft, "expiry", amendment.expiry);
    draft_set(draft, "post_only", amendment.post_only);
    draft_set(draft, "reduce_only", amendment.reduce_only);
    draft_set(draft, "stp", amendment.stp);
    draft_set(draft, "expected_remaining", (uint64_t)amendment.expected_remaining);
    return true;
}

static bool reduce(struct context *context, struct draft *draft)
{
    int64_t reduce_by, expected_remaining;
    if (!choice_size(context, FLAG_reduce_by, 0, &reduce_by) ||
        !choice_size(context, FLAG_expected_remaining, 0, &expected_remaining))
        return false;
    draft_set(draft, "reduce_by", (uint64_t)reduce_by);
    draft_set(draft, "expected_remaining", (uint64_t)expected_remaining);
    return true;
}

/* Do the flags ask for one of the two requests. */
static bool check_changes(struct context *context)
{
    static const enum flag changes[] = { FLAG_size,        FLAG_price, FLAG_tif, FLAG_post_only,
                                         FLAG_reduce_only, FLAG_stp,   FLAG_side };
    bool replaces = false;
    for (size_t i = 0; i < CC_COUNT(changes); i++)
        replaces |= arguments_has(context->arguments, changes[i]);
    bool reduces = arguments_has(context->arguments, FLAG_reduce_by);
    if (reduces && replaces)
        return context_fail(context, EXIT_CODE_usage,
                            "--reduce-by only makes the order smaller; leave it out to change "
                            "anything else");
    return reduces || replaces ||
           context_fail(context, EXIT_CODE_usage,
                        "what should change? --reduce-by SIZE, or any of --size, --price, --tif, "
                        "--post-only, --reduce-only, --stp");
}

static bool begin(struct context *context, struct draft *draft, uint32_t code,
                  struct uuid *order_id)
{
    const char *const *words = context->arguments->words;
    struct draft_portfolio portfolio;
    struct uuid id;
    if (!context_id(context, &id) || !context_portfolio(context, &portfolio) ||
        !choice_uuid(context, "ORDER_ID", words[1], order_id) || !context_market(context, words[0]))
        return false;
    draft_begin(draft, code, SIGNATURE_ED25519, &id);
    draft_set_portfolio(draft, "portfolio_id", &portfolio);
    draft_set_bytes(draft, "order_id", order_id->bytes, UUID_BYTES);
    draft_set(draft, "asset", context->record.asset_id);
    return true;
}

static bool fill_replacement(struct context *context, struct draft *draft)
{
    struct uuid order_id;
    return begin(context, draft, REQUEST_order_replacement, &order_id) &&
           replace(context, draft, &order_id);
}

static bool fill_reduction(struct context *context, struct draft *draft)
{
    struct uuid order_id;
    return begin(context, draft, REQUEST_order_reduction, &order_id) && reduce(context, draft);
}

int command_amend_order(struct context *context)
{
    if (!check_changes(context))
        return context->exit_code;
    bool reduces = arguments_has(context->arguments, FLAG_reduce_by);
    return context_submit(context, SETTING_session_key, SIGNATURE_ED25519,
                          reduces ? fill_reduction : fill_replacement);
}
