/* command_keys.c - creates and shows key files. */
#include <stdio.h>

#include "base/base64.h"
#include "base/hex.h"
#include "perp/command/command.h"
#include "perp/print/report.h"

/* Shows a key through the same writer as every answer. */
static int show_key(struct context *context, const struct key_file *key, const char *path)
{
    char public_text[BASE64_TEXT_BYTES(SIGNER_SECP256K1_KEY_BYTES) + 1];
    char secret_text[BASE64_TEXT_BYTES(SIGNER_SEED_BYTES) + 1];
    char exchange[2 * KEY_FILE_EXCHANGE_BYTES + 1];
    bool show = arguments_has(context->arguments, FLAG_show);
    hex_encode(exchange, key->exchange_id, KEY_FILE_EXCHANGE_BYTES);
    base64_encode(public_text, key->public_key, key->public_bytes);
    base64_encode(secret_text, key->secret, SIGNER_SEED_BYTES);
    const struct report_extra extra[] = { { "curve", key_file_curve_name(key->curve) },
                                          { "public_key", public_text },
                                          { "file", path },
                                          { "exchange_id", key->is_bound ? exchange : NULL },
                                          { show ? "secret" : NULL, secret_text },
                                          { NULL, NULL } };
    report_answer(stdout, "{}", 2, context->arguments->json, extra);
    return EXIT_CODE_accepted;
}

int command_keys_new(struct context *context)
{
    const char *curve = context->arguments->words[0], *path = context->arguments->words[1];
    char error[KEY_FILE_ERROR_MAX];
    struct key_file key;
    uint32_t type = SIGNATURE_ED25519;
    if (strcmp(curve, "secp256k1") == 0)
        type = SIGNATURE_SECP256K1;
    else if (strcmp(curve, "ed25519") != 0)
        return context_fail(context, EXIT_CODE_usage,
                            "CURVE '%.40s' is neither ed25519 (sessions, operator, oracle) nor "
                            "secp256k1 (master keys)",
                            curve),
               EXIT_CODE_usage;
    int failure = key_file_make(&key, type);
    if (failure != 0)
        return context_fail(context, EXIT_CODE_usage, "no random bytes: %s", strerror(-failure)),
               EXIT_CODE_usage;
    int code = EXIT_CODE_usage;
    if (!key_file_write(&key, path, arguments_has(context->arguments, FLAG_force), error))
        (void)context_fail(context, EXIT_CODE_usage, "%s", error);
    else
        code = show_key(context, &key, path);
    key_file_wipe(&key);
    return code;
}

int command_keys_show(struct context *context)
{
    const char *path = context->arguments->words[0];
    char error[KEY_FILE_ERROR_MAX];
    struct key_file key;
    if (!key_file_read(&key, path, error)) {
        (void)context_fail(context, EXIT_CODE_usage, "%s", error);
        return EXIT_CODE_usage;
    }
    int code = show_key(context, &key, path);
    key_file_wipe(&key);
    return code;
}
