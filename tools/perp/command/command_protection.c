/* command_protection.c - cancels by schedule and market maker protection. */
#include <strings.h>

#include "perp/command/command.h"
#include "perp/invocation/choice.h"
#include "perp/request/instant.h"

enum { WINDOW_MS_MAX = 86400000, DEAD_MAN_S_MAX = 86400 };

/* What every request of this file begins with. */
static bool begin(struct context *context, struct draft *draft, uint32_t code)
{
    struct draft_portfolio portfolio;
    struct uuid id;
    if (!context_id(context, &id) || !context_portfolio(context, &portfolio))
        return false;
    draft_begin(draft, code, SIGNATURE_ED25519, &id);
    draft_set_portfolio(draft, "portfolio_id", &portfolio);
    return true;
}

/* A limit of MMP: 0 is none. */
static bool read_limit(struct context *context, const char *text, uint64_t *raw)
{
    char error[INSTRUMENT_ERROR_MAX];
    int64_t size = 0;
    if (strcmp(text, "0") != 0 && !instrument_size(&context->record, text, &size, error))
        return context_fail(context, EXIT_CODE_usage, "%s", error);
    *raw = (uint64_t)size;
    return true;
}

static bool fill_set(struct context *context, struct draft *draft)
{
    const char *const *words = context->arguments->words;
    uint64_t window, frozen, most, net;
    if (!choice_count(context, "WINDOW_MS", words[1], 1, WINDOW_MS_MAX, &window) ||
        !choice_count(context, "FROZEN_MS", words[2], 0, UINT32_MAX, &frozen) ||
        !context_market(context, words[0]) || !read_limit(context, words[3], &most) ||
        !read_limit(context, words[4], &net) || !begin(context, draft, REQUEST_set_mmp))
        return false;
    draft_set(draft, "asset", context->record.asset_id);
    draft_set(draft, "window_ms", window);
    draft_set(draft, "frozen_ms", frozen);
    draft_set(draft, "max_quantity", most);
    draft_set(draft, "max_net_quantity", net);
    return true;
}

int command_protection_mmp_set(struct context *context)
{
    return context_submit(context, SETTING_session_key, SIGNATURE_ED25519, fill_set);
}

static bool fill_market(struct context *context, struct draft *draft, uint32_t code)
{
    if (!context_market(context, context->arguments->words[0]) || !begin(context, draft, code))
        return false;
    draft_set(draft, "asset", context->record.asset_id);
    return true;
}

static bool fill_off(struct context *context, struct draft *draft)
{
    return fill_market(context, draft, REQUEST_set_mmp); /* all zero */
}

static bool fill_reset(struct context *context, struct draft *draft)
{
    return fill_market(context, draft, REQUEST_reset_mmp);
}

int command_protection_mmp_off(struct context *context)
{
    return context_submit(context, SETTING_session_key, SIGNATURE_ED25519, fill_off);
}

int command_protection_mmp_reset(struct context *context)
{
    return context_submit(context, SETTING_session_key, SIGNATURE_ED25519, fill_reset);
}

static bool fill_schedule(struct context *context, struct draft *draft)
{
    const char *text = context->arguments->words[0];
    uint64_t seconds = 0;
    bool is_off = strcasecmp(text, "off") == 0;
    if ((!is_off && !choice_count(context, "SECONDS", text, 1, DEAD_MAN_S_MAX, &seconds)) ||
        !begin(context, draft, REQUEST_schedule_cancel_all))
        return false;
    draft_set(draft, "deadline_ns", is_off ? 0 : instant_now_ns() + seconds * UINT64_C(1000000000));
    return true;
}

int command_protection_schedule(struct context *context)
{
    return context_submit(context, SETTING_session_key, SIGNATURE_ED25519, fill_schedule);
}
