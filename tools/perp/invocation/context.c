#include "perp/invocation/context.h"

#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/hex.h"
#include "perp/invocation/arguments.h"
#include "perp/invocation/exit_code.h"
#include "perp/print/report.h"
#include "perp/request/binary_ack.h"
#include "perp/request/client_rule.h"

bool context_fail(struct context *context, int exit_code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "perp %s: ", context->arguments->command->words);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    context->exit_code = exit_code;
    return false;
}

static bool name_setting(struct context *context, uint32_t setting, const char *what)
{
    char flag[64], upper[64];
    const char *name = settings_name((enum setting)setting);
    size_t i;
    for (i = 0; name[i] != '\0' && i + 1 < sizeof flag; i++) {
        flag[i] = name[i] == '_' ? '-' : name[i];
        upper[i] = name[i] >= 'a' && name[i] <= 'z' ? (char)(name[i] - 32) : name[i];
    }
    flag[i] = upper[i] = '\0';
    return context_fail(context, EXIT_CODE_usage,
                        "%s: give --%s, set PERP_%s, or write '%s = ...' under [%s] in %s", what,
                        flag, upper, name, context->settings->profile,
                        context->settings->config_path);
}

bool context_key_at(struct context *context, const char *path, const char *what, uint32_t curve,
                    bool make, struct key_file *key)
{
    char error[KEY_FILE_ERROR_MAX];
    if (make && access(path, F_OK) != 0) {
        int failure = key_file_make(key, curve);
        if (failure != 0)
            return context_fail(context, EXIT_CODE_usage, "no random bytes: %s",
                                strerror(-failure));
        bool is_dry = arguments_has(context->arguments, FLAG_dry_run);
        if (!is_dry && !key_file_write(key, path, false, error))
            return context_fail(context, EXIT_CODE_usage, "%s", error);
        fprintf(stderr,
                is_dry ? "a key of this dry run stands for %s, which is not made\n"
                       : "made the key file %s\n",
                path);
        return true;
    }
    if (!key_file_read(key, path, error))
        return context_fail(context, EXIT_CODE_usage, "%s", error);
    if (key->curve == curve)
        return true;
    uint32_t found = key->curve;
    key_file_wipe(key);
    return context_fail(context, EXIT_CODE_usage, "%s holds a key of curve %s; %s has curve %s",
                        path, key_file_curve_name(found), what, key_file_curve_name(curve));
}

bool context_key(struct context *context, uint32_t setting, uint32_t curve, bool make,
                 struct key_file *key)
{
    const char *path = context->settings->values[setting];
    const char *what = settings_name((enum setting)setting);
    if (path[0] == '\0')
        return name_setting(context, setting,
                            curve == SIGNATURE_ED25519 ? "needs an ed25519 key file"
                                                       : "needs a secp256k1 key file");
    return context_key_at(context, path, what, curve, make, key);
}

bool context_number(struct context *context, uint32_t setting, uint64_t maximum, uint64_t *value)
{
    const char *text = context->settings->values[setting];
    int64_t number;
    if (text[0] == '\0')
        return name_setting(context, setting, "needs an account");
    int64_t bound = maximum > INT64_MAX ? INT64_MAX : (int64_t)maximum;
    if (decimal_parse(text, strlen(text), 0, 0, bound, &number) != DECIMAL_OK)
        return context_fail(context, EXIT_CODE_usage,
                            "%s '%.60s' (%s) is no whole number of 0 to %lld",
                            settings_name((enum setting)setting), text,
                            context->settings->from[setting], (long long)bound);
    *value = (uint64_t)number;
    return true;
}

bool context_portfolio(struct context *context, struct draft_portfolio *portfolio)
{
    uint64_t subaccount, index;
    if (!context_number(context, SETTING_account, INT64_MAX, &portfolio->account_id) ||
        !context_number(context, SETTING_subaccount, UINT32_MAX - 1, &subaccount) ||
        !context_number(context, SETTING_portfolio, UINT32_MAX - 1, &index))
        return false;
    portfolio->subaccount_index = (uint32_t)subaccount;
    portfolio->portfolio_index = (uint32_t)index;
    return true;
}

bool context_connection(struct context *context, struct client *client)
{
    uint64_t timeout = 0;
    if (!context_number(context, SETTING_timeout_ms, 3600000, &timeout))
        return false;
    if (!client_init(client, context->settings->values[SETTING_url], (uint32_t)timeout))
        return context_fail(context, EXIT_CODE_usage, "url (%s): %s",
                            context->settings->from[SETTING_url], client->error);
    snprintf(client->ca, sizeof client->ca, "%s", context->settings->values[SETTING_ca]);
    return true;
}

static bool ready(struct context *context)
{
    context->client_ready = context->client_ready || context_connection(context, &context->client);
    return context->client_ready;
}

static void show_problem(struct context *context, const struct outcome *outcome)
{
    const char *hint = outcome_hint(outcome->word);
    fprintf(stderr, "perp %s: HTTP %u %s", context->arguments->command->words, outcome->http_status,
            outcome->word);
    if (outcome->parameter[0] != '\0')
        fprintf(stderr, " (%s)", outcome->parameter);
    fprintf(stderr, ": %s\n", outcome->detail);
    if (outcome->server_time_ms != 0) {
        struct timespec now;
        (void)clock_gettime(CLOCK_REALTIME, &now);
        int64_t here = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
        fprintf(stderr, "  this machine's clock is %+lld ms from the exchange's\n",
                (long long)(here - (int64_t)outcome->server_time_ms));
    }
    if (hint != NULL)
        fprintf(stderr, "  %s\n", hint);
}

/* Shows an HTTP error: for people on standard error, as JSON on standard output. */
static int refuse(struct context *context, const struct outcome *outcome,
                  const struct client_answer *answer)
{
    context->exit_code = EXIT_CODE_problem;
    if (context->arguments->json)
        report_answer(stdout, answer->body, answer->body_count, true, NULL);
    if (outcome->kind == OUTCOME_PROBLEM)
        show_problem(context, outcome);
    else
        fprintf(stderr, "perp %s: HTTP %u with an answer that is not perpd's; is %s perpd?\n",
                context->arguments->command->words, answer->status, context->client.authority);
    return EXIT_CODE_problem;
}

void context_refuse(struct context *context, const struct client_answer *answer)
{
    struct outcome outcome;
    outcome_read(&outcome, answer);
    (void)refuse(context, &outcome, answer);
}

/* The text of a secret setting; `what` names it, `wanted` says how to get one. */
static bool read_secret(struct context *context, uint32_t setting, const char *what,
                        const char *wanted, char text[SETTINGS_VALUE_MAX])
{
    const char *value = context->settings->values[setting];
    if (value[0] == '\0')
        return name_setting(context, (enum setting)setting, wanted);
    snprintf(text, SETTINGS_VALUE_MAX, "%s", value);
    if (value[0] == '@') {
        FILE *file = fopen(value + 1, "re");
        if (file == NULL)
            return context_fail(context, EXIT_CODE_usage, "cannot read the %s from %s: %s", what,
                                value + 1, strerror(errno));
        size_t count = fread(text, 1, 256, file);
        fclose(file);
        text[count] = '\0';
        text[strcspn(text, "\r\n")] = '\0';
    }
    for (const char *at = text; *at != '\0'; at++) {
        if (*at <= ' ' || *at > '~')
            return context_fail(context, EXIT_CODE_usage,
                                "the %s (%s) holds a character that no key has", what,
                                context->settings->from[setting]);
    }
    return true;
}

bool context_api_key(struct context *context, char *text)
{
    return read_secret(context, SETTING_api_key, "API key",
                       "needs an API key (perp apikey create makes one)", text);
}

bool context_device_key(struct context *context, char text[CONTEXT_DEVICE_KEY_MAX])
{
    char value[SETTINGS_VALUE_MAX];
    if (!read_secret(context, SETTING_device_key, "device key",
                     "needs a device key (perp login makes one)", value))
        return false;
    if (strlen(value) >= CONTEXT_DEVICE_KEY_MAX)
        return context_fail(
            context, EXIT_CODE_usage, "the device key (%s) is longer than %d characters",
            context->settings->from[SETTING_device_key], CONTEXT_DEVICE_KEY_MAX - 1);
    memcpy(text, value, strlen(value) + 1);
    return true;
}

bool context_is_set(const struct context *context, uint32_t setting)
{
    return strcmp(context->settings->from[setting], "default") != 0;
}

bool context_call(struct context *context, const struct client_request *request,
                  struct client_answer *answer)
{
    if (!ready(context))
        return false;
    bool acts_once = strcmp(request->method, "GET") == 0;
    if (client_rule_call(&context->client, request, acts_once, answer) != 0)
        return context_fail(context, EXIT_CODE_connection, "%s", context->client.error);
    if (answer->status == 200 || answer->status == 201)
        return true;
    context_refuse(context, answer);
    return false;
}

static bool call(struct context *context, const struct client_request *request, bool with_api_key,
                 struct client_answer *answer)
{
    char key[SETTINGS_VALUE_MAX];
    struct client_request keyed = *request;
    if (with_api_key && !context_api_key(context, key))
        return false;
    if (with_api_key)
        keyed.api_key = key;
    return context_call(context, &keyed, answer);
}

bool context_get(struct context *context, const char *target, bool with_api_key,
                 struct client_answer *answer)
{
    struct client_request request = { .method = "GET", .target = target };
    return call(context, &request, with_api_key, answer);
}

bool context_plain(struct context *context, const char *method, const char *target,
                   const char *body, struct client_answer *answer)
{
    struct client_request request = {
        .method = method,
        .target = target,
        .content_type = "application/json",
        .body = body,
        .body_count = strlen(body),
    };
    return call(context, &request, true, answer);
}

int context_read(struct context *context, const char *target, bool with_api_key)
{
    struct client_answer answer;
    if (!context_get(context, target, with_api_key, &answer))
        return context->exit_code;
    report_answer(stdout, answer.body, answer.body_count, context->arguments->json, NULL);
    return EXIT_CODE_accepted;
}

bool context_market(struct context *context, const char *market)
{
    struct client_answer answer;
    char error[INSTRUMENT_ERROR_MAX];
    if (!context_get(context, "/api/v1/markets", false, &answer))
        return false;
    context->has_record =
        instrument_parse(&context->record, answer.body, answer.body_count, market, error);
    return context->has_record || context_fail(context, EXIT_CODE_usage, "%s", error);
}

bool context_id(struct context *context, struct uuid *id)
{
    const char *text = context->arguments->values[FLAG_id];
    if (text == NULL) {
        int failure = draft_fresh_id(id);
        return failure == 0 ||
               context_fail(context, EXIT_CODE_usage, "no random bytes: %s", strerror(-failure));
    }
    if (!uuid_parse(id, text, strlen(text)))
        return context_fail(context, EXIT_CODE_usage, "--id '%.60s' is no UUID", text);
    return uuid_is_v7(id) ||
           context_fail(context, EXIT_CODE_usage,
                        "--id '%.60s' is a UUID, but not of version 7: the exchange refuses it",
                        text);
}

/* The exchange id is in every signature of a wallet and of an operator. */
static bool ready_eip712(struct context *context)
{
    struct client_answer answer;
    uint8_t *id = context->exchange_id;
    if (context->has_eip712)
        return true;
    if (!context_get(context, "/api/v1/exchange", false, &answer))
        return false;
    json_t *root = json_loadb(answer.body, answer.body_count, 0, NULL);
    const char *text = json_string_value(json_object_get(root, "exchange_id"));
    context->has_eip712 =
        text != NULL && hex_decode(id, KEY_FILE_EXCHANGE_BYTES, text, strlen(text));
    if (context->has_eip712)
        eip712_init(&context->eip712, id);
    json_decref(root);
    return context->has_eip712 ||
           context_fail(context, EXIT_CODE_problem,
                        "the answer of /api/v1/exchange has no exchange_id to sign for");
}

/* A bound key signs for its exchange only. */
static bool is_of_exchange(struct context *context, const struct key_file *key)
{
    char own[2 * KEY_FILE_EXCHANGE_BYTES + 1], other[2 * KEY_FILE_EXCHANGE_BYTES + 1];
    if (!key->is_bound)
        return true;
    if (!ready_eip712(context))
        return false;
    if (memcmp(key->exchange_id, context->exchange_id, KEY_FILE_EXCHANGE_BYTES) == 0)
        return true;
    hex_encode(own, key->exchange_id, KEY_FILE_EXCHANGE_BYTES);
    hex_encode(other, context->exchange_id, KEY_FILE_EXCHANGE_BYTES);
    return context_fail(context, EXIT_CODE_usage,
                        "the session key is of the exchange %s, and %s is the exchange %s: nothing "
                        "was signed; use one session key for each exchange",
                        own, context->settings->values[SETTING_url], other);
}

bool context_bind(struct context *context, const char *path, struct key_file *key)
{
    char error[KEY_FILE_ERROR_MAX];
    if (!ready_eip712(context) || !is_of_exchange(context, key))
        return false;
    if (key->is_bound || arguments_has(context->arguments, FLAG_dry_run))
        return true;
    key->is_bound = true;
    memcpy(key->exchange_id, context->exchange_id, KEY_FILE_EXCHANGE_BYTES);
    char *whole = realpath(path, NULL); /* a link to the file stays one */
    bool good = key_file_write(key, whole != NULL ? whole : path, true, error);
    free(whole);
    return good || context_fail(context, EXIT_CODE_usage, "%s", error);
}

static void explain_wallet(const struct draft *draft)
{
    static char value[EIP712_VALUE_MAX];
    struct eip712_member members[EIP712_MEMBERS_MAX];
    char name[EIP712_NAME_MAX], hash[65];
    uint16_t code = draft->request->code;
    unsigned count = eip712_members(code, members);
    eip712_primary_type(code, name);
    fprintf(stderr, "\nsigned: the EIP-712 digest of %s\n", name);
    for (unsigned i = 0; i < count; i++) {
        ptrdiff_t length = eip712_value(draft->payload, draft->count, i, value);
        fprintf(stderr, "  %-20s %-8s %.*s\n", members[i].name, members[i].type,
                (int)(length > 0 ? length : 0), value);
    }
    hex_encode(hash, draft->hashes.struct_hash, 32);
    fprintf(stderr, "struct hash %s\n", hash);
    hex_encode(hash, draft->hashes.digest, 32);
    fprintf(stderr, "digest      %s\n", hash);
}

/* The header that asks for more, or for less, than the plain acknowledgement (wire.md W5). */
static bool choose_ack(struct context *context)
{
    const char *text = context->arguments->values[FLAG_ack];
    const char **header = &context->ack_header;
    if (text == NULL)
        return true;
    if (strcmp(text, "full") == 0)
        *header = "X-Ack: full";
    else if (strcmp(text, "receipt") == 0)
        *header = "X-Ack: receipt";
    else if (strcmp(text, "binary") == 0)
        *header = arguments_has(context->arguments, FLAG_binary)
                      ? "X-Ack: binary"
                      : "Accept: application/octet-stream";
    return *header != NULL || context_fail(context, EXIT_CODE_usage,
                                           "--ack '%.40s' is none of full, binary, receipt", text);
}

static void explain(struct context *context, const struct draft *draft, const char *header)
{
    static char text[REQUEST_ENVELOPE_MAX];
    char error[DUMP_ERROR_MAX];
    struct dump_scale scale = { context->record.price_decimals, context->record.size_decimals,
                                context->record.market };
    struct report_dump dump = { .out = stderr };
    const char *url = context->settings->values[SETTING_url];
    size_t first_count = strcspn(url, ","); /* of a list the first address */
    int url_count = (int)(first_count - (first_count > 0 && url[first_count - 1] == '/'));
    const char *ca = context->settings->values[SETTING_ca];
    const char *trust = ca[0] != '\0' ? " --cacert '" : "", *trusted = ca[0] != '\0' ? "'" : "";
    const char *open = header != NULL ? " -H '" : "", *close = header != NULL ? "'" : "";
    if (header == NULL)
        header = "";
    fprintf(stderr, "payload: %zu bytes, %s (%u)\n", draft->count, draft->request->name,
            draft->request->code);
    if (!dump_rows(draft->payload, draft->count, DUMP_PAYLOAD, context->has_record ? &scale : NULL,
                   report_dump_row, &dump, error))
        fprintf(stderr, "%s\n", error);
    if (draft->payload[1] == SIGNATURE_SECP256K1)
        explain_wallet(draft);
    else
        fprintf(stderr, "\nsigned: these %zu bytes, with Ed25519\n", draft->count);
    if (arguments_has(context->arguments, FLAG_binary)) {
        uint8_t frame[REQUEST_FRAME_MAX];
        size_t count = draft_frame(draft, frame);
        base64_encode(text, frame, count);
        fprintf(stderr,
                "\nprintf %%s '%s' | base64 -d | curl -sS%s%s%s -X POST '%.*s%s' "
                "-H 'Content-Type: application/octet-stream'%s%s%s --data-binary @-\n\n",
                text, trust, ca, trusted, url_count, url, draft->path, open, header, close);
    } else {
        (void)draft_envelope(draft, text);
        fprintf(stderr,
                "\ncurl -sS%s%s%s -X POST '%.*s%s' -H 'Content-Type: application/json'%s%s%s "
                "-d '%s'\n\n",
                trust, ca, trusted, url_count, url, draft->path, open, header, close, text);
    }
}

static int send_draft(struct context *context, const struct draft *draft, const char *header,
                      struct outcome *outcome, struct client_answer *answer)
{
    char headers[64] = "";
    static uint8_t body[REQUEST_ENVELOPE_MAX];
    bool binary = arguments_has(context->arguments, FLAG_binary);
    size_t count = binary ? draft_frame(draft, body) : draft_envelope(draft, (char *)body);
    if (arguments_has(context->arguments, FLAG_dry_run)) {
        (void)fwrite(body, 1, count, stdout);
        if (!binary)
            fprintf(stdout, "\n");
        return EXIT_CODE_accepted;
    }
    if (header != NULL)
        snprintf(headers, sizeof headers, "%s\r\n", header);
    struct client_request request = {
        .method = "POST",
        .target = draft->path,
        .headers = headers,
        .content_type = binary ? "application/octet-stream" : "application/json",
        .body = body,
        .body_count = count,
    };
    int failure = client_rule_call(&context->client, &request, true, answer);
    if (failure != 0) {
        char id[UUID_TEXT_BYTES + 1];
        struct uuid uuid = draft_id(draft);
        uuid_format(&uuid, id);
        (void)context_fail(context, EXIT_CODE_connection, "%s", context->client.error);
        if (failure != -ECONNREFUSED && failure != -EHOSTUNREACH)
            fprintf(stderr,
                    "  it may have been executed: repeat it with --id %s, it never acts twice\n",
                    id);
        return EXIT_CODE_connection;
    }
    outcome_read(outcome, answer);
    switch (outcome->kind) {
    case OUTCOME_PROBLEM:
    case OUTCOME_UNREADABLE:
        return refuse(context, outcome, answer);
    default:
        return outcome_is_done(outcome) ? EXIT_CODE_accepted : EXIT_CODE_rejected;
    }
}

/* The member of the answer that is written elsewhere, or NULL. */
static const char *hidden_secret(const struct context *context, const struct outcome *outcome)
{
    if (!context->hide_secret || outcome->secret[0] == '\0')
        return NULL;
    return outcome->is_device_key ? "device_key" : "api_key";
}

static void show_answer(struct context *context, const struct draft *draft, int code,
                        const struct outcome *outcome, const struct client_answer *answer)
{
    char id[UUID_TEXT_BYTES + 1];
    struct uuid uuid = draft_id(draft);
    uuid_format(&uuid, id);
    const struct report_extra extra[] = {
        { "request_id", id },
        { hidden_secret(context, outcome), NULL },
        { NULL, NULL },
    };
    struct binary_ack ack;
    if (answer->is_binary && binary_ack_read(&ack, answer->body, answer->body_count)) {
        char text[BINARY_ACK_TEXT_MAX];
        binary_ack_json(&ack, context->has_record ? &context->record : NULL, text);
        report_answer(stdout, text, strlen(text), context->arguments->json, NULL);
    } else {
        report_answer(stdout, answer->body, answer->body_count, context->arguments->json, extra);
    }
    if (code != EXIT_CODE_rejected)
        return;
    const char *word = outcome->word;
    if (outcome->kind == OUTCOME_DUPLICATE && outcome->original < STATUS_COUNT)
        word = status_name((enum status)outcome->original);
    const char *hint = outcome_hint(word);
    fprintf(stderr, "perp %s: rejected: %s%s%s\n", context->arguments->command->words, word,
            hint != NULL ? ": " : "", hint != NULL ? hint : "");
    if (outcome->parameter[0] != '\0')
        fprintf(stderr, "  %s must be: %s\n", outcome->parameter, outcome->detail);
}

int context_write(struct context *context, struct draft *draft, const struct key_file *key,
                  struct outcome *outcome)
{
    bool is_bound = key->curve == SIGNATURE_SECP256K1 || draft->request->signer == SIGNER_OPERATOR;
    const char *header = context->ack_header;
    struct client_answer answer;
    *outcome = (struct outcome){ .kind = OUTCOME_UNREADABLE };
    if (!ready(context) || (is_bound && !ready_eip712(context)) || !is_of_exchange(context, key))
        return context->exit_code;
    if (!draft_sign(draft, key, is_bound ? &context->eip712 : NULL)) {
        (void)context_fail(context, EXIT_CODE_usage, "a master key cannot sign %s",
                           draft->request->name);
        return context->exit_code;
    }
    if (arguments_has(context->arguments, FLAG_explain))
        explain(context, draft, header);
    int code = send_draft(context, draft, header, outcome, &answer);
    if (outcome->kind != OUTCOME_UNREADABLE && outcome->kind != OUTCOME_PROBLEM)
        show_answer(context, draft, code, outcome, &answer);
    return code;
}

int context_submit(struct context *context, uint32_t setting, uint32_t curve, context_fill *fill)
{
    struct key_file key;
    struct outcome outcome;
    struct draft draft;
    if (!choose_ack(context) || !context_key(context, setting, curve, false, &key))
        return context->exit_code;
    int code =
        fill(context, &draft) ? context_write(context, &draft, &key, &outcome) : context->exit_code;
    key_file_wipe(&key);
    return code;
}

void context_end(struct context *context)
{
    if (context->client_ready)
        client_close(&context->client);
}
