/* command_decode.c - names every byte of a signed payload, and the mistake in its signature. */
#include <stdio.h>

#include "base/hex.h"
#include "base/json_scan.h"
#include "base/operator_rule.h"
#include "crypto/operator_message.h"
#include "crypto/signer.h"
#include "crypto/signing_mistake.h"
#include "engine/table/market_record.h"
#include "perp/command/command.h"
#include "perp/data/signature_check.h"
#include "perp/print/report.h"

enum { INPUT_MAX = 32768, BYTES_MAX = 16384, PROOF_MAX = 160, CLIENT_DATA_MAX = 2048 };

/* The key and signature of an envelope or frame; signature_bytes 0: there is none. */
struct proof {
    uint8_t key[PROOF_MAX], signature[PROOF_MAX], client_data[CLIENT_DATA_MAX];
    size_t key_bytes, signature_bytes, client_data_bytes;
    bool passkey;
    uint32_t mistakes; /* of the envelope's Base64 */
};

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

/* Decodes a member of an envelope as far as it can be; 0 bytes if it is missing or no Base64. */
static size_t read_member(struct proof *proof, const struct json_member *member, void *bytes,
                          size_t capacity)
{
    static char text[INPUT_MAX];
    if (member->kind != JSON_STRING)
        return 0;
    ptrdiff_t count = json_scan_unescape(&member->value, text, sizeof text);
    INVARIANT(count >= 0);
    ptrdiff_t length =
        signing_mistake_decode(bytes, capacity, text, (size_t)count, &proof->mistakes);
    return length < 0 ? 0 : (size_t)length;
}

/* A whole envelope: its payload member replaces the text. */
static bool open_envelope(struct context *context, struct input *input, struct proof *proof)
{
    struct json_member members[] = { JSON_MEMBER("payload"), JSON_MEMBER("public_key"),
                                     JSON_MEMBER("signature"), JSON_MEMBER("client_data_json") };
    size_t error_at = 0;
    enum json_error wrong =
        json_scan_members(input->text, input->count, members, CC_COUNT(members), &error_at);
    if (wrong != JSON_OK)
        return context_fail(context, EXIT_CODE_malformed,
                            "the envelope is no JSON, at byte %zu: %s", error_at,
                            json_scan_error_text(wrong));
    if (members[0].kind != JSON_STRING)
        return context_fail(context, EXIT_CODE_malformed,
                            "the envelope has no 'payload' that is a string");
    input->byte_count = read_member(proof, &members[0], input->bytes, sizeof input->bytes);
    proof->key_bytes = read_member(proof, &members[1], proof->key, sizeof proof->key);
    proof->signature_bytes =
        read_member(proof, &members[2], proof->signature, sizeof proof->signature);
    proof->client_data_bytes =
        read_member(proof, &members[3], proof->client_data, sizeof proof->client_data);
    proof->passkey = members[3].kind == JSON_STRING;
    if (input->byte_count > 0)
        return true;
    return context_fail(context, EXIT_CODE_malformed, "the envelope's payload is no Base64");
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

static bool to_bytes(struct context *context, struct input *input, struct proof *proof)
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
    if (input->text[0] == '{')
        return open_envelope(context, input, proof);
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

/* Cuts key and signature off a frame of `payload_bytes`; the dump has checked its length. */
static void cut_frame(const struct input *input, size_t payload_bytes, struct proof *proof)
{
    size_t tail = input->byte_count - payload_bytes;
    proof->signature_bytes = 64;
    proof->key_bytes = tail - proof->signature_bytes;
    memcpy(proof->key, input->bytes + payload_bytes, proof->key_bytes);
    memcpy(proof->signature, input->bytes + payload_bytes + proof->key_bytes, 64);
}

/* Shows the verdict on a signature, unknown without the exchange id or for a passkey, and each
 * mistake found. `after`: rows were shown before it. */
static void show_finding(const struct signing_finding *finding, bool known, bool json, bool after)
{
    const char *verdict = finding->good ? "good" : known || finding->proved ? "bad" : "unknown";
    if (json)
        printf("%s\"signature\":\"%s\",\"mistakes\":[", after ? "," : "{", verdict);
    else
        printf("signature: %s\n", verdict);
    for (unsigned i = 0, shown = 0; i < SIGNING_MISTAKE_COUNT; i++) {
        if ((finding->mistakes >> i & 1) == 0)
            continue;
        const char *name = signing_mistake_name((enum signing_mistake)i);
        const char *text = signing_mistake_text((enum signing_mistake)i);
        if (json)
            printf("%s{\"mistake\":\"%s\",\"detail\":\"%s\"}", shown++ > 0 ? "," : "", name, text);
        else
            printf("mistake %s: %s\n", name, text);
    }
    printf("%s", json ? "]}\n" : "");
}

/* Verifies the signature of an envelope or frame, and searches for the mistake if it is bad. False:
 * it is not good. */
static bool judge(struct context *context, const struct input *input, size_t payload_bytes,
                  const struct proof *proof, bool after)
{
    static struct eip712 eip712;
    struct signing_finding finding;
    uint8_t exchange_id[32] = { 0 };
    const char *id = context->arguments->values[FLAG_exchange_id];
    if (id != NULL && !hex_decode(exchange_id, sizeof exchange_id, id, strlen(id)))
        return context_fail(context, EXIT_CODE_usage, "--exchange-id is not 64 hex digits");
    if (signature_check_init(&eip712, exchange_id) != 0)
        return context_fail(context, EXIT_CODE_rejected, "no path of Ed25519 passes its test here");
    const struct signing_case sent = {
        .payload = input->bytes,
        .payload_bytes = payload_bytes,
        .key = proof->key,
        .key_bytes = proof->key_bytes,
        .signature = proof->signature,
        .signature_bytes = proof->signature_bytes,
        .eip712 = id != NULL ? &eip712 : NULL,
        .client_data = proof->passkey ? (const char *)proof->client_data : NULL,
        .client_data_bytes = proof->client_data_bytes,
    };
    signing_mistake_find(&sent, &finding);
    finding.mistakes |= proof->mistakes;
    bool is_bound = proof->key_bytes != SIGNER_ED25519_KEY_BYTES ||
                    operator_message_is_needed(input->bytes, payload_bytes);
    bool known = !proof->passkey && (id != NULL || !is_bound);
    show_finding(&finding, known, context->arguments->json, after);
    if (finding.mistakes != 0)
        return context_fail(context, EXIT_CODE_malformed, "the request shows a usual mistake");
    if (known && !finding.good)
        return context_fail(context, EXIT_CODE_malformed, "the signature does not verify");
    return true;
}

/* The first rule of J5 that the record of code 1001 breaks; none for other codes. Whether a market
 * may change so is known to the exchange alone. */
static enum operator_rule broken_rule(const uint8_t *payload, size_t payload_bytes)
{
    static struct market_record record;
    uint16_t code = cc_load16(payload + 2);

    return code == REQUEST_market_define ? market_record_read(&record, payload + REQUEST_BODY_AT,
                                                              payload_bytes - REQUEST_BODY_AT)
                                         : OPERATOR_RULE_none;
}

/* Ends the rows of JSON, with the rule that the record breaks. */
static void end_rows(bool json, enum operator_rule rule)
{
    if (json && rule != OPERATOR_RULE_none)
        printf("],\"field\":\"%s\",\"rule\":\"%s\"", operator_rule_field(rule),
               operator_rule_text(rule));
    else if (json)
        printf("]");
}

int command_decode(struct context *context)
{
    static struct input input;
    static struct proof proof;
    char error[DUMP_ERROR_MAX];
    struct dump_scale scale = { 0 };
    const char *market = context->arguments->values[FLAG_market];
    bool json = context->arguments->json;
    enum dump_form form = arguments_has(context->arguments, FLAG_frame) ? DUMP_FRAME : DUMP_PAYLOAD;
    if (!read_input(context, &input) || !to_bytes(context, &input, &proof) ||
        (market != NULL && !context_market(context, market)))
        return context->exit_code;
    if (context->has_record)
        scale = (struct dump_scale){ context->record.price_decimals, context->record.size_decimals,
                                     context->record.market };
    struct report_dump dump = { .out = stdout, .json = json };
    /* The first row comes after the bytes were found to be a payload: a refusal prints none. */
    bool good = dump_rows(input.bytes, input.byte_count, form, context->has_record ? &scale : NULL,
                          report_dump_row, &dump, error);
    size_t payload_bytes = input.byte_count;
    if (good && form == DUMP_FRAME) {
        payload_bytes -= dump_tail_bytes(input.bytes[1]);
        cut_frame(&input, payload_bytes, &proof);
    }
    enum operator_rule rule = good ? broken_rule(input.bytes, payload_bytes) : OPERATOR_RULE_none;
    bool right = true;
    if (dump.begun)
        end_rows(json, rule);
    if (proof.signature_bytes > 0)
        right = judge(context, &input, payload_bytes, &proof, dump.begun);
    else if (json && dump.begun)
        fprintf(stdout, "}\n");
    if (!good) {
        (void)context_fail(context, EXIT_CODE_malformed, "%s", error);
        return EXIT_CODE_malformed;
    }
    if (rule != OPERATOR_RULE_none) {
        (void)context_fail(context, EXIT_CODE_malformed, "the market record: %s must be: %s",
                           operator_rule_field(rule), operator_rule_text(rule));
        return EXIT_CODE_malformed;
    }
    if (dump.remarks > 0) {
        (void)context_fail(context, EXIT_CODE_malformed, "the exchange refuses %u of these values",
                           dump.remarks);
        return EXIT_CODE_malformed;
    }
    return right ? EXIT_CODE_accepted : context->exit_code;
}
