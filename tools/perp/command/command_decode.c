/* command_decode.c - names every byte of a signed payload. */
#include <stdio.h>

#include "base/hex.h"
#include "base/json_scan.h"
#include "perp/command/command.h"
#include "perp/print/report.h"

enum { INPUT_MAX = 32768, BYTES_MAX = 16384 };

struct input {
    char text[INPUT_MAX];
    size_t count;
    uint8_t bytes[BYTES_MAX];
    size_t byte_count;
};

static bool read_input(struct context *context, struct input *input)
{
    const char *word = context->arguments->word_count > 0 ? context->arguments->words[0] : "-";
    if (strcmp(word, "-") == 0) {
        input->count = fread(input->text, 1, sizeof input->text, stdin);
    } else {
        input->count = strlen(word);
        if (input->count <= sizeof input->text)
            memcpy(input->text, word, input->count);
    }
    if (input->count == 0 || input->count >= sizeof input->text)
        return context_fail(context, EXIT_CODE_malformed, "%s",
                            input->count == 0 ? "there is nothing to decode"
                                              : "no payload is as long as this");
    return true;
}

/* Cuts blanks and line ends off both ends. */
static void trim(struct input *input)
{
    size_t begin = 0;
    while (begin < input->count && strchr(" \t\r\n", input->text[begin]) != NULL)
        begin++;
    while (input->count > begin && strchr(" \t\r\n", input->text[input->count - 1]) != NULL)
        input->count--;
    memmove(input->text, input->text + begin, input->count - begin);
    input->count -= begin;
}

/* A whole envelope: its payload member replaces the text. */
static bool open_envelope(struct context *context, struct input *input)
{
    struct json_member payload = JSON_MEMBER("payload");
    size_t error_at = 0;
    enum json_error wrong = json_scan_members(input->text, input->count, &payload, 1, &error_at);
    if (wrong != JSON_OK)
        return context_fail(context, EXIT_CODE_malformed,
                            "the envelope is no JSON, at byte %zu: %s", error_at,
                            json_scan_error_text(wrong));
    if (payload.kind != JSON_STRING)
        return context_fail(context, EXIT_CODE_malformed,
                            "the envelope has no 'payload' that is a string");
    static char text[INPUT_MAX];
    ptrdiff_t count = json_scan_unescape(&payload.value, text, sizeof text);
    INVARIANT(count >= 0);
    memcpy(input->text, text, (size_t)count);
    input->count = (size_t)count;
    return true;
}

static bool is_hex(const struct input *input)
{
    size_t digits = 0;
    while (digits < input->count && strchr("0123456789abcdefABCDEF", input->text[digits]) != NULL)
        digits++;
    return digits == input->count && digits % 2 == 0;
}

static bool decode_hex(struct context *context, struct input *input)
{
    size_t wrong = 0;
    while (wrong < input->count && strchr("0123456789abcdefABCDEF", input->text[wrong]) != NULL)
        wrong++;
    if (wrong < input->count)
        return context_fail(context, EXIT_CODE_malformed, "character %zu, '%c', is no hex digit",
                            wrong, input->text[wrong]);
    input->byte_count = input->count / 2;
    if (input->count % 2 != 0 || input->byte_count > sizeof input->bytes ||
        !hex_decode(input->bytes, input->byte_count, input->text, input->count))
        return context_fail(context, EXIT_CODE_malformed,
                            "%zu hex digits are no whole number of bytes", input->count);
    return true;
}

static bool decode_base64(struct context *context, struct input *input)
{
    size_t error_at = 0;
    ptrdiff_t count =
        base64_decode(input->bytes, sizeof input->bytes, input->text, input->count, &error_at);
    if (count >= 0) {
        input->byte_count = (size_t)count;
        return true;
    }
    if (count == -2)
        return context_fail(context, EXIT_CODE_malformed, "no payload is as long as this");
    if (error_at < input->count && strchr("-_", input->text[error_at]) != NULL)
        return context_fail(context, EXIT_CODE_malformed,
                            "character %zu, '%c', is URL-safe Base64; the exchange takes only the "
                            "standard alphabet (+ and /)",
                            error_at, input->text[error_at]);
    if (error_at < input->count)
        return context_fail(context, EXIT_CODE_malformed,
                            "character %zu, '%c', cannot stand there in Base64", error_at,
                            input->text[error_at]);
    return context_fail(context, EXIT_CODE_malformed,
                        "Base64 ends too early: %zu characters are no multiple of 4", input->count);
}

static bool to_bytes(struct context *context, struct input *input)
{
    const char *format = context->arguments->values[FLAG_format];
    if (format != NULL && strcmp(format, "raw") == 0) {
        if (input->count > sizeof input->bytes)
            return context_fail(context, EXIT_CODE_malformed, "no payload is as long as this");
        memcpy(input->bytes, input->text, input->count);
        input->byte_count = input->count;
        return true;
    }
    trim(input);
    if (input->count == 0)
        return context_fail(context, EXIT_CODE_malformed, "there is nothing to decode");
    if (input->text[0] == '{' && !open_envelope(context, input))
        return false;
    if (input->count > 2 && strncmp(input->text, "0x", 2) == 0) {
        input->count -= 2;
        memmove(input->text, input->text + 2, input->count);
        return decode_hex(context, input);
    }
    if (format == NULL)
        return is_hex(input) ? decode_hex(context, input) : decode_base64(context, input);
    if (strcmp(format, "hex") == 0)
        return decode_hex(context, input);
    if (strcmp(format, "base64") == 0)
        return decode_base64(context, input);
    return context_fail(context, EXIT_CODE_usage, "--format '%.40s' is none of base64, hex, raw",
                        format);
}

int command_decode(struct context *context)
{
    static struct input input;
    char error[DUMP_ERROR_MAX];
    struct dump_scale scale = { 0 };
    const char *market = context->arguments->values[FLAG_market];
    bool json = context->arguments->json;
    enum dump_form form = arguments_has(context->arguments, FLAG_frame) ? DUMP_FRAME : DUMP_PAYLOAD;
    if (!read_input(context, &input) || !to_bytes(context, &input) ||
        (market != NULL && !context_market(context, market)))
        return context->exit_code;
    if (context->has_record)
        scale = (struct dump_scale){ context->record.price_decimals, context->record.size_decimals,
                                     context->record.market };
    struct report_dump dump = { .out = stdout, .json = json };
    /* The first row comes after the bytes were found to be a payload: a refusal prints none. */
    bool good = dump_rows(input.bytes, input.byte_count, form, context->has_record ? &scale : NULL,
                          report_dump_row, &dump, error);
    if (json && dump.begun)
        fprintf(stdout, "]}\n");
    if (!good) {
        (void)context_fail(context, EXIT_CODE_malformed, "%s", error);
        return EXIT_CODE_malformed;
    }
    if (dump.remarks > 0) {
        (void)context_fail(context, EXIT_CODE_malformed, "the exchange refuses %u of these values",
                           dump.remarks);
        return EXIT_CODE_malformed;
    }
    return EXIT_CODE_accepted;
}
