/* command_operator.c - requests of the operator and of the oracle. */
#include <errno.h>
#include <stdio.h>
#include <strings.h>

#include "base/hex.h"
#include "crypto/secret.h"
#include "perp/command/command.h"
#include "perp/invocation/choice.h"
#include "perp/request/instant.h"

enum { REF_BYTES = 32, ASSET_ALL = 0xffff, TIER_BY_VOLUME = 255, TIER_MAX = 5 };

static int submit(struct context *context, uint32_t setting, struct draft *draft,
                  bool (*fill)(struct context *, struct draft *))
{
    struct key_file key;
    struct outcome outcome;
    if (!context_key(context, setting, SIGNATURE_ED25519, false, &key))
        return context->exit_code;
    int code =
        fill(context, draft) ? context_write(context, draft, &key, &outcome) : context->exit_code;
    key_file_wipe(&key);
    return code;
}

static bool external_ref(struct context *context, uint8_t ref[REF_BYTES])
{
    const char *text = context->arguments->values[FLAG_ref];
    if (text == NULL) {
        int failure = secret_random(ref, REF_BYTES);
        return failure == 0 ||
               context_fail(context, EXIT_CODE_usage, "no random bytes: %s", strerror(-failure));
    }
    return hex_decode(ref, REF_BYTES, text, strlen(text)) ||
           context_fail(context, EXIT_CODE_usage, "--ref '%.80s' is not 64 hex digits", text);
}

static bool fill_deposit(struct context *context, struct draft *draft)
{
    struct draft_portfolio portfolio;
    uint8_t ref[REF_BYTES];
    uint64_t amount;
    struct uuid id;
    if (!choice_amount(context, "AMOUNT", context->arguments->words[0], &amount) ||
        !context_id(context, &id) || !context_portfolio(context, &portfolio) ||
        !external_ref(context, ref))
        return false;
    draft_begin(draft, REQUEST_deposit_credit, SIGNATURE_ED25519, &id);
    draft_set_portfolio(draft, "portfolio_id", &portfolio);
    draft_set(draft, "amount", amount);
    draft_set_bytes(draft, "external_ref", ref, sizeof ref);
    return true;
}

int command_operator_deposit(struct context *context)
{
    struct draft draft;
    return submit(context, SETTING_operator_key, &draft, fill_deposit);
}

static bool fill_oracle(struct context *context, struct draft *draft)
{
    char error[INSTRUMENT_ERROR_MAX];
    uint64_t sources;
    int64_t price;
    struct uuid id;
    if (!context_id(context, &id) ||
        !choice_number(context, FLAG_sources, 1, UINT16_MAX, 1, &sources) ||
        !context_market(context, context->arguments->words[0]))
        return false;
    if (!instrument_price(&context->record, context->arguments->words[1], &price, error))
        return context_fail(context, EXIT_CODE_usage, "%s", error);
    draft_begin(draft, REQUEST_oracle_price, SIGNATURE_ED25519, &id);
    draft_set(draft, "publish_ts_ns", instant_now_ns());
    draft_set(draft, "index_price", (uint64_t)price);
    draft_set(draft, "asset", context->record.asset_id);
    draft_set(draft, "source_count", sources);
    return true;
}

int command_operator_oracle(struct context *context)
{
    struct draft draft;
    return submit(context, SETTING_oracle_key, &draft, fill_oracle);
}

static bool fill_index(struct context *context, struct draft *draft)
{
    char error[INSTRUMENT_ERROR_MAX];
    int64_t price;
    struct uuid id;
    if (!context_id(context, &id) || !context_market(context, context->arguments->words[0]))
        return false;
    if (!instrument_price(&context->record, context->arguments->words[1], &price, error))
        return context_fail(context, EXIT_CODE_usage, "%s", error);
    draft_begin(draft, REQUEST_index_accept, SIGNATURE_ED25519, &id);
    draft_set(draft, "index_price", (uint64_t)price);
    draft_set(draft, "asset", context->record.asset_id);
    return true;
}

int command_operator_index(struct context *context)
{
    struct draft draft;
    return submit(context, SETTING_operator_key, &draft, fill_index);
}

static bool fill_market(struct context *context, struct draft *draft)
{
    static char text[REQUEST_BODY_MAX + 1];
    const char *path = context->arguments->words[0];
    bool standard_input = strcmp(path, "-") == 0;
    struct uuid id;
    FILE *file = standard_input ? stdin : fopen(path, "re");
    if (file == NULL)
        return context_fail(context, EXIT_CODE_usage, "cannot read %s: %s", path, strerror(errno));
    size_t count = fread(text, 1, sizeof text, file);
    if (!standard_input)
        fclose(file);
    while (count > 0 && (text[count - 1] == '\n' || text[count - 1] == '\0'))
        count--;
    if (!context_id(context, &id))
        return false;
    return draft_begin_text(draft, REQUEST_market_define, &id, text, count) ||
           context_fail(context, EXIT_CODE_usage, "a market record has 1 to %d bytes; %s has %s",
                        REQUEST_BODY_MAX, path, count == 0 ? "none" : "more");
}

int command_operator_market(struct context *context)
{
    struct draft draft;
    return submit(context, SETTING_operator_key, &draft, fill_market);
}

static bool fill_state(struct context *context, struct draft *draft)
{
    struct uuid id;
    uint64_t state;
    if (!choice_name(context, context->arguments->words[1], REQUEST_market_state, "state",
                     &state) ||
        !context_id(context, &id) || !context_market(context, context->arguments->words[0]))
        return false;
    draft_begin(draft, REQUEST_market_state, SIGNATURE_ED25519, &id);
    draft_set(draft, "asset", context->record.asset_id);
    draft_set(draft, "state", state);
    draft_set(draft, "force", arguments_has(context->arguments, FLAG_force));
    return true;
}

int command_operator_state(struct context *context)
{
    struct draft draft;
    return submit(context, SETTING_operator_key, &draft, fill_state);
}

static bool fill_halt(struct context *context, struct draft *draft)
{
    const struct arguments *arguments = context->arguments;
    const char *text = arguments->word_count != 0 ? arguments->words[0] : "HALTED";
    struct uuid id;
    uint64_t state;
    if (!choice_name(context, text, REQUEST_market_state, "state", &state) ||
        !context_id(context, &id))
        return false;
    if (strcasecmp(text, "CLOSED") == 0)
        return context_fail(context, EXIT_CODE_usage,
                            "STATE CLOSED is for one market at a time: perp market state");
    draft_begin(draft, REQUEST_halt_all, SIGNATURE_ED25519, &id);
    draft_set(draft, "state", state);
    return true;
}

int command_operator_halt(struct context *context)
{
    struct draft draft;
    return submit(context, SETTING_operator_key, &draft, fill_halt);
}

static bool fill_withdrawal(struct context *context, struct draft *draft, bool reverted)
{
    struct uuid id, withdrawal;
    if (!choice_uuid(context, "WITHDRAWAL_ID", context->arguments->words[0], &withdrawal) ||
        !context_id(context, &id))
        return false;
    draft_begin(draft, REQUEST_withdrawal_settle, SIGNATURE_ED25519, &id);
    draft_set_bytes(draft, "withdrawal_id", withdrawal.bytes, UUID_BYTES);
    draft_set(draft, "outcome", reverted);
    return true;
}

static bool fill_settled(struct context *context, struct draft *draft)
{
    return fill_withdrawal(context, draft, false);
}

static bool fill_reverted(struct context *context, struct draft *draft)
{
    return fill_withdrawal(context, draft, true);
}

int command_operator_settle(struct context *context)
{
    struct draft draft;
    return submit(context, SETTING_operator_key, &draft, fill_settled);
}

int command_operator_revert(struct context *context)
{
    struct draft draft;
    return submit(context, SETTING_operator_key, &draft, fill_reverted);
}

static bool fill_suspension(struct context *context, struct draft *draft, bool suspended)
{
    uint64_t account;
    struct uuid id;
    if (!choice_count(context, "ACCOUNT", context->arguments->words[0], 0, INT64_MAX, &account) ||
        !context_id(context, &id))
        return false;
    draft_begin(draft, REQUEST_suspend_account, SIGNATURE_ED25519, &id);
    draft_set(draft, "account_id", account);
    draft_set(draft, "suspended", suspended);
    return true;
}

static bool fill_suspend(struct context *context, struct draft *draft)
{
    return fill_suspension(context, draft, true);
}

static bool fill_resume(struct context *context, struct draft *draft)
{
    return fill_suspension(context, draft, false);
}

int command_operator_suspend(struct context *context)
{
    struct draft draft;
    return submit(context, SETTING_operator_key, &draft, fill_suspend);
}

int command_operator_resume(struct context *context)
{
    struct draft draft;
    return submit(context, SETTING_operator_key, &draft, fill_resume);
}

static bool fill_top_up(struct context *context, struct draft *draft)
{
    uint64_t amount;
    struct uuid id;
    if (!choice_amount(context, "AMOUNT", context->arguments->words[0], &amount) ||
        !context_id(context, &id))
        return false;
    draft_begin(draft, REQUEST_fund_top_up, SIGNATURE_ED25519, &id);
    draft_set(draft, "amount", amount);
    return true;
}

int command_operator_top_up(struct context *context)
{
    struct draft draft;
    return submit(context, SETTING_operator_key, &draft, fill_top_up);
}

static bool fill_tier(struct context *context, struct draft *draft)
{
    const char *const *words = context->arguments->words;
    uint64_t account, tier = TIER_BY_VOLUME;
    struct uuid id;
    if (!choice_count(context, "ACCOUNT", words[0], 0, INT64_MAX, &account) ||
        (strcasecmp(words[1], "volume") != 0 &&
         !choice_count(context, "TIER", words[1], 0, TIER_MAX, &tier)) ||
        !context_id(context, &id))
        return false;
    draft_begin(draft, REQUEST_set_fee_tier, SIGNATURE_ED25519, &id);
    draft_set(draft, "account_id", account);
    draft_set(draft, "tier", tier);
    return true;
}

int command_operator_tier(struct context *context)
{
    struct draft draft;
    return submit(context, SETTING_operator_key, &draft, fill_tier);
}

/* ACCOUNT, ACCOUNT/SUBACCOUNT or ACCOUNT/SUBACCOUNT/PORTFOLIO; an omitted part means all. */
static bool read_whose(struct context *context, const char *text, struct draft_portfolio *whose)
{
    unsigned long long account;
    unsigned subaccount = UINT32_MAX, portfolio = UINT32_MAX;
    int end = 0, next = 0;
    bool good = sscanf(text, "%llu%n", &account, &end) == 1;
    if (good && sscanf(text + end, "/%u%n", &subaccount, &next) == 1) {
        end += next;
        next = 0;
        if (sscanf(text + end, "/%u%n", &portfolio, &next) == 1)
            end += next;
    }
    if (!good || text[end] != '\0' || text[0] < '0' || text[0] > '9')
        return context_fail(context, EXIT_CODE_usage,
                            "WHOSE '%.60s' is none of 7, 7/0 and 7/0/1: account, subaccount, "
                            "portfolio",
                            text);
    *whose = (struct draft_portfolio){ account, subaccount, portfolio };
    return true;
}

static bool fill_cancel(struct context *context, struct draft *draft)
{
    const struct arguments *arguments = context->arguments;
    struct draft_portfolio whose;
    struct uuid id, order_id = { 0 };
    if (!read_whose(context, arguments->words[0], &whose) ||
        (arguments->word_count > 2 &&
         !choice_uuid(context, "ORDER_ID", arguments->words[2], &order_id)) ||
        !context_id(context, &id) ||
        (arguments->word_count > 1 && !context_market(context, arguments->words[1])))
        return false;
    draft_begin(draft, REQUEST_operator_cancel, SIGNATURE_ED25519, &id);
    draft_set_portfolio(draft, "portfolio_id", &whose);
    draft_set_bytes(draft, "order_id", order_id.bytes, UUID_BYTES);
    draft_set(draft, "asset", context->has_record ? context->record.asset_id : ASSET_ALL);
    return true;
}

int command_operator_cancel(struct context *context)
{
    struct draft draft;
    return submit(context, SETTING_operator_key, &draft, fill_cancel);
}
