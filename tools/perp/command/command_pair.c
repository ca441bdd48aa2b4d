/* command_pair.c - brings a new device in: one that is logged in invites it, it joins (wire.md W7,
 * Device pairing). */
#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <time.h>

#include "base/base64.h"
#include "base/hex.h"
#include "crypto/secret.h"
#include "perp/command/command.h"
#include "perp/invocation/choice.h"
#include "perp/print/report.h"
#include "perp/request/pairing_cipher.h"

enum {
    TOKEN_TEXT_BYTES = 44, /* Base64 of 32 bytes */
    HEADERS_MAX = 128,
    TARGET_MAX = 96,
    BODY_MAX = 2048,
    ANSWER_LINE_MAX = 64,
    POLL_MS = 500,
};

#define PAIRING_PATH "/api/v1/device-pairing"

struct pairing {
    struct uuid id;
    char id_text[UUID_TEXT_BYTES + 1];
    char headers[HEADERS_MAX]; /* the credential of this side */
    struct client_answer answer;
};

static bool ask(struct context *context, struct pairing *pairing, const char *method,
                const char *part, const char *body)
{
    char target[TARGET_MAX];
    struct client_request request = {
        .method = method,
        .target = target,
        .headers = pairing->headers,
        .content_type = body != NULL ? "application/json" : NULL,
        .body = body,
        .body_count = body != NULL ? strlen(body) : 0,
    };

    snprintf(target, sizeof target, PAIRING_PATH "%s%s%s", pairing->id_text[0] != '\0' ? "/" : "",
             pairing->id_text, part);
    return context_call(context, &request, &pairing->answer);
}

/* A member of the last answer that is a text; "" for any other. */
static void member(const struct pairing *pairing, const char *name, char *text, size_t capacity)
{
    json_t *root = json_loadb(pairing->answer.body, pairing->answer.body_count, 0, NULL);
    const char *value = json_string_value(json_object_get(root, name));

    snprintf(text, capacity, "%s", value != NULL ? value : "");
    json_decref(root);
}

/* Asks again and again until the pairing has a status; an expired one is a problem of perpd's. */
static bool wait_for(struct context *context, struct pairing *pairing, const char *part,
                     const char *wanted)
{
    static const struct timespec pause = { .tv_nsec = POLL_MS * 1000000L };
    char status[16];

    for (;;) {
        if (!ask(context, pairing, "GET", part, NULL))
            return false;
        member(pairing, "status", status, sizeof status);
        if (strcmp(status, wanted) == 0)
            return true;
        (void)nanosleep(&pause, NULL);
    }
}

static bool set_id(struct context *context, struct pairing *pairing, const char *text)
{
    if (!uuid_parse(&pairing->id, text, strlen(text)))
        return context_fail(context, EXIT_CODE_problem, "the answer names no pairing");
    uuid_format(&pairing->id, pairing->id_text);
    return true;
}

/* --- the device that is logged in ------------------------------------------------------------- */

/* The two keys that the new device has deposited. */
struct deposit {
    uint8_t point[PAIRING_POINT_BYTES];
    uint8_t session_key[SIGNER_ED25519_KEY_BYTES];
};

static bool open_pairing(struct context *context, struct pairing *pairing)
{
    char device[CONTEXT_DEVICE_KEY_MAX], id[UUID_TEXT_BYTES + 1], token[TOKEN_TEXT_BYTES + 1];

    if (!context_device_key(context, device))
        return false;
    snprintf(pairing->headers, sizeof pairing->headers, "X-DEVICE-KEY: %s\r\n", device);
    secret_wipe(device, sizeof device);
    if (!ask(context, pairing, "POST", "", "{}"))
        return false;
    member(pairing, "pairing_id", id, sizeof id);
    member(pairing, "write_token", token, sizeof token);
    if (!set_id(context, pairing, id))
        return false;
    fprintf(stderr,
            "on the new device, within 120 s:\n\n  perp pair join '%s:%s' --url %s "
            "--session-key FILE --save\n\n",
            pairing->id_text, token, context->settings->values[SETTING_url]);
    return true;
}

static bool read_deposit(struct context *context, const struct pairing *pairing,
                         struct deposit *deposit)
{
    char text[128];

    member(pairing, "ecdh_pub", text, sizeof text);
    bool good = base64_decode(deposit->point, sizeof deposit->point, text, strlen(text), NULL) ==
                PAIRING_POINT_BYTES;
    member(pairing, "session_pub", text, sizeof text);
    good = good && base64_decode(deposit->session_key, sizeof deposit->session_key, text,
                                 strlen(text), NULL) == SIGNER_ED25519_KEY_BYTES;
    return good ||
           context_fail(context, EXIT_CODE_problem, "the answer has no keys of a new device");
}

/* Letters and digits in lower case, nothing else. */
static void keep_digits(char *text)
{
    char *to = text;

    for (; *text != '\0'; text++)
        if (isalnum((unsigned char)*text))
            *to++ = (char)tolower((unsigned char)*text);
    *to = '\0';
}

/* Who sits at both devices says that the keys here are those of the new device. */
static bool compare(struct context *context, const struct pairing *pairing,
                    const struct deposit *deposit)
{
    char code[PAIRING_CODE_MAX], line[ANSWER_LINE_MAX];

    if (!pairing_code(&pairing->id, deposit->point, deposit->session_key, code))
        return context_fail(context, EXIT_CODE_usage, "OpenSSL makes no SHA-256");
    fprintf(stderr, "code that the new device shows: ");
    if (fgets(line, sizeof line, stdin) == NULL)
        line[0] = '\0';
    keep_digits(line);
    keep_digits(code);
    return strcmp(line, code) == 0 ||
           context_fail(context, EXIT_CODE_rejected,
                        "that is not the code of the keys that arrived: nothing was signed");
}

static bool fill_session(struct context *context, struct draft *draft, const uint8_t *session_key)
{
    uint64_t account_id, expires, pin, scope;
    struct uuid id;

    if (!context_id(context, &id) ||
        !context_number(context, SETTING_account, INT64_MAX, &account_id) ||
        !choice_expires(context, &expires) || !choice_pin(context, &pin) ||
        !choice_enum(context, FLAG_scope, REQUEST_create_session, "scope", 0, &scope))
        return false;
    draft_begin(draft, REQUEST_create_session, SIGNATURE_SECP256K1, &id);
    draft_set(draft, "account_id", account_id);
    draft_set_bytes(draft, "session_pub", session_key, SIGNER_ED25519_KEY_BYTES);
    draft_set(draft, "expires_at", expires);
    draft_set(draft, "subaccount_pin", pin);
    draft_set(draft, "scope", scope);
    return true;
}

/* Tells the new device, and nobody else, which account it is in. */
static bool complete(struct context *context, struct pairing *pairing,
                     const struct deposit *deposit)
{
    char text[256], exchange[2 * KEY_FILE_EXCHANGE_BYTES + 1], body[BODY_MAX];
    uint8_t sealed[PAIRING_SEALED_MAX];
    char sealed_text[BASE64_TEXT_BYTES(PAIRING_SEALED_MAX) + 1];
    uint64_t account_id;

    if (!context_number(context, SETTING_account, INT64_MAX, &account_id))
        return false;
    hex_encode(exchange, context->exchange_id, KEY_FILE_EXCHANGE_BYTES);
    int count = snprintf(text, sizeof text, "{\"account_id\":%llu,\"exchange_id\":\"%s\"}",
                         (unsigned long long)account_id, exchange);
    size_t sealed_bytes = pairing_seal(deposit->point, &pairing->id, text, (size_t)count, sealed);
    if (sealed_bytes == 0)
        return context_fail(context, EXIT_CODE_problem,
                            "the new device's ecdh_pub is no point of P-256");
    base64_encode(sealed_text, sealed, sealed_bytes);
    snprintf(body, sizeof body, "{\"ciphertext\":\"%s\"}", sealed_text);
    return ask(context, pairing, "POST", "/complete", body);
}

int command_pair_invite(struct context *context)
{
    struct pairing pairing = { 0 };
    struct deposit deposit;
    struct outcome outcome;
    struct key_file master;
    struct draft draft;
    uint8_t none[SIGNER_ED25519_KEY_BYTES] = { 0 };

    /* What is wrong with the command line is said before a pairing begins. */
    if (!context_key(context, SETTING_master_key, SIGNATURE_SECP256K1, false, &master))
        return context->exit_code;
    int code = EXIT_CODE_accepted;
    if (!fill_session(context, &draft, none) || !open_pairing(context, &pairing) ||
        !wait_for(context, &pairing, "", "DEPOSITED") ||
        !read_deposit(context, &pairing, &deposit) || !compare(context, &pairing, &deposit) ||
        !fill_session(context, &draft, deposit.session_key))
        code = context->exit_code;
    if (code == EXIT_CODE_accepted)
        code = context_write(context, &draft, &master, &outcome);
    if (code == EXIT_CODE_accepted && !complete(context, &pairing, &deposit))
        code = context->exit_code;
    key_file_wipe(&master);
    return code;
}

/* --- the new device --------------------------------------------------------------------------- */

/* CODE of `pair invite`: the id of the pairing, ':', its token. */
static bool read_code(struct context *context, struct pairing *pairing)
{
    const char *text = context->arguments->words[0];
    uint8_t token[32];

    if (strlen(text) != UUID_TEXT_BYTES + 1 + TOKEN_TEXT_BYTES || text[UUID_TEXT_BYTES] != ':' ||
        !uuid_parse(&pairing->id, text, UUID_TEXT_BYTES) ||
        base64_decode(token, sizeof token, text + UUID_TEXT_BYTES + 1, TOKEN_TEXT_BYTES, NULL) !=
            (ptrdiff_t)sizeof token)
        return context_fail(context, EXIT_CODE_usage,
                            "CODE '%.100s' is not what 'perp pair invite' printed", text);
    uuid_format(&pairing->id, pairing->id_text);
    snprintf(pairing->headers, sizeof pairing->headers, "Authorization: Bearer %s\r\n",
             text + UUID_TEXT_BYTES + 1);
    return true;
}

static bool deposit_keys(struct context *context, struct pairing *pairing,
                         const struct pairing_key *own, const struct key_file *session)
{
    char point[BASE64_TEXT_BYTES(PAIRING_POINT_BYTES) + 1], code[PAIRING_CODE_MAX];
    char key[BASE64_TEXT_BYTES(SIGNER_ED25519_KEY_BYTES) + 1], body[BODY_MAX];

    base64_encode(point, own->point, sizeof own->point);
    base64_encode(key, session->public_key, SIGNER_ED25519_KEY_BYTES);
    snprintf(body, sizeof body, "{\"ecdh_pub\":\"%s\",\"session_pub\":\"%s\"}", point, key);
    if (!ask(context, pairing, "PUT", "", body))
        return false;
    if (!pairing_code(&pairing->id, own->point, session->public_key, code))
        return context_fail(context, EXIT_CODE_usage, "OpenSSL makes no SHA-256");
    fprintf(stderr, "type this code on the other device: %s\n", code);
    return true;
}

/* Reads what the other device has sealed: the account. */
static bool read_account(struct context *context, const struct pairing *pairing,
                         const struct pairing_key *own, char account[24])
{
    char sealed_text[BASE64_TEXT_BYTES(PAIRING_SEALED_MAX) + 1], exchange[72] = "";
    uint8_t sealed[PAIRING_SEALED_MAX], text[PAIRING_TEXT_MAX], id[KEY_FILE_EXCHANGE_BYTES];
    json_int_t account_id = -1;

    member(pairing, "ciphertext", sealed_text, sizeof sealed_text);
    ptrdiff_t count = base64_decode(sealed, sizeof sealed, sealed_text, strlen(sealed_text), NULL);
    size_t text_bytes =
        count <= 0 ? 0 : pairing_open(own, &pairing->id, sealed, (size_t)count, text);
    json_t *root = text_bytes == 0 ? NULL : json_loadb((char *)text, text_bytes, 0, NULL);
    const json_t *number = json_object_get(root, "account_id");
    const char *value = json_string_value(json_object_get(root, "exchange_id"));
    if (json_is_integer(number) && value != NULL) {
        account_id = json_integer_value(number);
        snprintf(exchange, sizeof exchange, "%s", value);
    }
    json_decref(root);
    if (account_id < 0 || !hex_decode(id, sizeof id, exchange, strlen(exchange)))
        return context_fail(context, EXIT_CODE_problem,
                            "what the other device has sent was not sealed for this one");
    if (memcmp(id, context->exchange_id, sizeof id) != 0)
        return context_fail(context, EXIT_CODE_problem,
                            "the other device is on another exchange: compare --url");
    snprintf(account, 24, "%lld", (long long)account_id);
    return true;
}

static bool save(struct context *context, const char *account)
{
    char error[SETTINGS_ERROR_MAX];
    const struct settings *settings = context->settings;

    if (!arguments_has(context->arguments, FLAG_save))
        return true;
    if (!settings_save(settings, SETTING_account, account, error) ||
        !settings_save_path(settings, SETTING_session_key, error))
        return context_fail(context, EXIT_CODE_usage, "%s", error);
    fprintf(stderr, "saved in %s [%s]\n", settings->config_path, settings->profile);
    return true;
}

int command_pair_join(struct context *context)
{
    struct pairing pairing = { 0 };
    struct key_file session = { 0 };
    struct pairing_key own;
    char account[24], key[BASE64_TEXT_BYTES(SIGNER_ED25519_KEY_BYTES) + 1], text[64];

    if (!read_code(context, &pairing) ||
        !context_key(context, SETTING_session_key, SIGNATURE_ED25519, true, &session))
        return context->exit_code;
    if (!pairing_key_make(&own)) {
        key_file_wipe(&session);
        (void)context_fail(context, EXIT_CODE_usage, "OpenSSL makes no key of P-256");
        return context->exit_code;
    }
    bool good = context_bind(context, context->settings->values[SETTING_session_key], &session) &&
                deposit_keys(context, &pairing, &own, &session) &&
                wait_for(context, &pairing, "/result", "COMPLETED") &&
                read_account(context, &pairing, &own, account) && save(context, account);
    base64_encode(key, session.public_key, SIGNER_ED25519_KEY_BYTES);
    pairing_key_free(&own);
    key_file_wipe(&session);
    if (!good)
        return context->exit_code;
    int count = snprintf(text, sizeof text, "{\"account_id\":%s}", account);
    const struct report_extra extra[] = { { "session_public_key", key }, { NULL, NULL } };
    report_answer(stdout, text, (size_t)count, context->arguments->json, extra);
    return EXIT_CODE_accepted;
}
