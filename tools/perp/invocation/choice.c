#include "perp/invocation/choice.h"

#include <stdio.h>
#include <strings.h>

#include "base/field.h"
#include "base/text.h"
#include "perp/invocation/arguments.h"
#include "perp/invocation/exit_code.h"
#include "perp/request/instant.h"

enum {
    NAMES_MAX = 256,
    LABEL_MAX = 32,
    PPM = 1000000,
    AMOUNT_DECIMALS = 6,
    INTERVAL_MIN_MS = 50,
    INTERVAL_MAX_MS = 3600000,
};

#define AMOUNT_MAX (INT64_C(1) << 60)

bool choice_enum(struct context *context, uint32_t flag, uint32_t code, const char *field_name,
                 uint64_t missing, uint64_t *value)
{
    const char *text = context->arguments->values[flag];

    *value = missing;
    return text == NULL || choice_name(context, text, code, field_name, value);
}

bool choice_name(struct context *context, const char *text, uint32_t code, const char *field_name,
                 uint64_t *value)
{
    char names[NAMES_MAX] = "";
    size_t count, at = 0;
    const struct field *fields = field_table(code, &count), *field = NULL;
    for (size_t i = 0; i < count; i++) {
        if (fields[i].names != NULL && strcmp(fields[i].name, field_name) == 0)
            field = &fields[i];
    }
    INVARIANT(field != NULL);
    for (size_t i = 0; field->names[i] != NULL; i++) {
        if (strcasecmp(field->names[i], text) == 0) {
            *value = i;
            return true;
        }
        at += (size_t)snprintf(names + at, sizeof names - at, "%s%s", i > 0 ? ", " : "",
                               field->names[i]);
    }
    return context_fail(context, EXIT_CODE_usage, "%s '%.40s' is none of %s", field_name, text,
                        names);
}

bool choice_side(struct context *context, const char *what, const char *text, bool *sell)
{
    *sell = strcasecmp(text, "sell") == 0 || strcasecmp(text, "short") == 0;
    return *sell || strcasecmp(text, "buy") == 0 || strcasecmp(text, "long") == 0 ||
           context_fail(context, EXIT_CODE_usage, "%s '%.40s' is neither buy nor sell", what, text);
}

bool choice_expiry(struct context *context, uint64_t *expiry)
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

bool choice_slippage(struct context *context, uint64_t *ppm)
{
    const char *text = context->arguments->values[FLAG_max_slippage];
    int64_t number = 0;
    *ppm = 0;
    if (text == NULL)
        return true;
    size_t count = strlen(text);
    bool percent = count > 1 && text[count - 1] == '%';
    bool parts = count > 3 && strcmp(text + count - 3, "ppm") == 0;
    /* 1 % is 10,000 ppm: four decimals. */
    if ((percent || parts) && decimal_parse(text, count - (percent ? 1 : 3), percent ? 4 : 0, 1,
                                            PPM - 1, &number) == DECIMAL_OK)
        *ppm = (uint64_t)number;
    return number > 0 ||
           context_fail(context, EXIT_CODE_usage,
                        "--max-slippage '%.40s' is neither like 0.5%% nor like 5000ppm", text);
}

bool choice_uuid(struct context *context, const char *what, const char *text, struct uuid *id)
{
    return uuid_parse(id, text, strlen(text)) ||
           context_fail(context, EXIT_CODE_usage, "%s '%.60s' is no UUID", what, text);
}

bool choice_size(struct context *context, uint32_t flag, int64_t missing, int64_t *raw)
{
    const char *text = context->arguments->values[flag];
    char error[INSTRUMENT_ERROR_MAX];
    *raw = missing;
    return text == NULL || instrument_size(&context->record, text, raw, error) ||
           context_fail(context, EXIT_CODE_usage, "%s", error);
}

bool choice_price(struct context *context, uint32_t flag, int64_t missing, int64_t *raw)
{
    const char *text = context->arguments->values[flag];
    char error[INSTRUMENT_ERROR_MAX];
    *raw = missing;
    return text == NULL || instrument_price(&context->record, text, raw, error) ||
           context_fail(context, EXIT_CODE_usage, "%s", error);
}

bool choice_market(struct context *context, const char *market)
{
    size_t count = strspn(market, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");
    return (count > 0 && market[count] == '\0' && count <= 32) ||
           context_fail(context, EXIT_CODE_usage,
                        "MARKET '%.40s' is no market name; they look like BTC-PERP", market);
}

bool choice_pin(struct context *context, uint64_t *value)
{
    if (!choice_number(context, FLAG_pin, 0, INT32_MAX, UINT32_MAX, value))
        return false;
    return true;
}

bool choice_expires(struct context *context, uint64_t *ns)
{
    const char *text = context->arguments->values[FLAG_expires];
    *ns = 0;
    if (text == NULL)
        return true;
    if (!instant_parse(text, ns))
        return context_fail(context, EXIT_CODE_usage,
                            "--expires '%.60s' is no time: write 2030-01-31T12:00:00Z", text);
    return *ns > instant_now_ns() ||
           context_fail(context, EXIT_CODE_usage, "--expires %.60s has passed", text);
}

bool choice_label(struct context *context, const char **label)
{
    const char *text = context->arguments->values[FLAG_label];
    *label = text != NULL ? text : "";
    size_t count = strlen(*label);
    if (count > LABEL_MAX)
        return context_fail(context, EXIT_CODE_usage, "--label has %zu bytes; at most %d are kept",
                            count, LABEL_MAX);
    if (!text_is_utf8(*label, count) || text_has_control(*label, count))
        return context_fail(context, EXIT_CODE_usage,
                            "--label must be UTF-8 without control characters");
    return true;
}

bool choice_interval(struct context *context, int64_t missing_ms, int64_t *interval_ms)
{
    const char *text = context->arguments->values[FLAG_interval];
    *interval_ms = missing_ms;
    return text == NULL ||
           decimal_parse(text, strlen(text), 3, INTERVAL_MIN_MS, INTERVAL_MAX_MS, interval_ms) ==
               DECIMAL_OK ||
           context_fail(context, EXIT_CODE_usage, "--interval '%.40s' is no time of 0.05 to 3600 s",
                        text);
}

bool choice_number(struct context *context, uint32_t flag, uint64_t minimum, uint64_t maximum,
                   uint64_t missing, uint64_t *value)
{
    const char *text = context->arguments->values[flag];
    int64_t number;
    *value = missing;
    if (text == NULL)
        return true;
    if (decimal_parse(text, strlen(text), 0, (int64_t)minimum, (int64_t)maximum, &number) !=
        DECIMAL_OK)
        return context_fail(context, EXIT_CODE_usage, "'%.60s' is no whole number of %llu to %llu",
                            text, (unsigned long long)minimum, (unsigned long long)maximum);
    *value = (uint64_t)number;
    return true;
}

bool choice_signer(struct context *context, struct key_file *key)
{
    const char *which = context->arguments->values[FLAG_signer];
    if (which == NULL || strcmp(which, "session") == 0)
        return context_key(context, SETTING_session_key, SIGNATURE_ED25519, false, key);
    if (strcmp(which, "master") == 0)
        return context_key(context, SETTING_master_key, SIGNATURE_SECP256K1, false, key);
    return context_fail(context, EXIT_CODE_usage, "--signer '%.40s' is neither session nor master",
                        which);
}

bool choice_amount(struct context *context, const char *what, const char *text,
                   uint64_t *micro_usdc)
{
    int64_t amount = 0;
    enum decimal_error wrong =
        decimal_parse(text, strlen(text), AMOUNT_DECIMALS, 1, AMOUNT_MAX, &amount);
    *micro_usdc = (uint64_t)amount;
    return wrong == DECIMAL_OK ||
           context_fail(context, EXIT_CODE_usage, "%s '%.60s' is %s: write USDC like 1250.50", what,
                        text,
                        wrong == DECIMAL_DECIMALS ? "finer than a micro-USDC (6 decimals)"
                        : wrong == DECIMAL_RANGE  ? "not above 0, or too large"
                                                  : "no plain decimal");
}

bool choice_sequence(struct context *context, const char *text, int64_t minimum, uint64_t *sequence)
{
    int64_t number = 0;
    enum decimal_error wrong = decimal_parse(text, strlen(text), 0, minimum, INT64_MAX, &number);
    *sequence = (uint64_t)number;
    return wrong == DECIMAL_OK ||
           context_fail(context, EXIT_CODE_usage, "'%.60s' is no sequence", text);
}

bool choice_count(struct context *context, const char *what, const char *text, uint64_t minimum,
                  uint64_t maximum, uint64_t *value)
{
    int64_t number = 0;
    enum decimal_error wrong = decimal_parse(text, strlen(text), 0, 0, INT64_MAX, &number);
    *value = (uint64_t)number;
    return (wrong == DECIMAL_OK && *value >= minimum && *value <= maximum) ||
           context_fail(context, EXIT_CODE_usage, "%s '%.40s' is no whole number of %llu to %llu",
                        what, text, (unsigned long long)minimum, (unsigned long long)maximum);
}
