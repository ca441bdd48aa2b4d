#include <errno.h>
#include <stdio.h>
#include <strings.h>

#include "base/hex.h"
#include "crypto/secret.h"
#include "perp/choice.h"
#include "perp/command.h"
#include "perp/instant.h"

enum { AMOUNT_DECIMALS = 6, REF_BYTES = 32 };

#define AMOUNT_MAX (INT64_C(1) << 60)

static int submit(struct context *context, uint32_t setting, struct draft *draft,
                  bool (*fill)(struct context *, struct draft *))
{
    struct key_file key;
    struct verdict verdict;
    if (!context_key(context, setting, SIGNATURE_ED25519, false, &key))
        return context->exit_code;
    int code =
        fill(context, draft) ? context_write(context, draft, &key, &verdict) : context->exit_code;
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
    const char *text = context->arguments->words[0];
    struct draft_portfolio portfolio;
    uint8_t ref[REF_BYTES];
    int64_t amount;
    struct uuid id;
    enum decimal_error wrong =
        decimal_parse(text, strlen(text), AMOUNT_DECIMALS, 1, AMOUNT_MAX, &amount);
    if (wrong != DECIMAL_OK)
        return context_fail(context, EXIT_CODE_usage,
                            "AMOUNT '%.60s' is %s: write USDC like 1250.50", text,
                            wrong == DECIMAL_DECIMALS ? "finer than a micro-USDC (6 decimals)"
                            : wrong == DECIMAL_RANGE  ? "not above 0, or too large"
                                                      : "no plain decimal");
    if (!context_id(context, &id) || !context_portfolio(context, &portfolio) ||
        !external_ref(context, ref))
        return false;
    draft_begin(draft, REQUEST_deposit_credit, SIGNATURE_ED25519, &id);
    draft_set_portfolio(draft, "portfolio_id", &portfolio);
    draft_set(draft, "amount", (uint64_t)amount);
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

/* The state that a word names. A market could be closed only together with its settlement. */
static bool parse_state(struct context *context, const char *text, uint64_t *state)
{
    if (!choice_name(context, text, REQUEST_market_state, "state", state))
        return false;
    return strcasecmp(text, "CLOSED") != 0 ||
           context_fail(context, EXIT_CODE_usage,
                        "STATE CLOSED is not offered: this version settles no market");
}

static bool fill_state(struct context *context, struct draft *draft)
{
    struct uuid id;
    uint64_t state;
    if (!parse_state(context, context->arguments->words[1], &state) || !context_id(context, &id) ||
        !context_market(context, context->arguments->words[0]))
        return false;
    draft_begin(draft, REQUEST_market_state, SIGNATURE_ED25519, &id);
    draft_set(draft, "asset", context->record.asset_id);
    draft_set(draft, "state", state);
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
    if (!parse_state(context, text, &state) || !context_id(context, &id))
        return false;
    draft_begin(draft, REQUEST_halt_all, SIGNATURE_ED25519, &id);
    draft_set(draft, "state", state);
    return true;
}

int command_operator_halt(struct context *context)
{
    struct draft draft;
    return submit(context, SETTING_operator_key, &draft, fill_halt);
}
