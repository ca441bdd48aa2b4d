/* command_rotate.c - puts another key in the place of the one with which an exchange signs. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>

#include "base/base64.h"
#include "node/run/signing_key.h"
#include "perp/command/command.h"
#include "perp/data/data_directory.h"
#include "perp/print/report.h"

static bool failed(struct context *context, const struct data_directory *directory,
                   const char *what, int error)
{
    return context_fail(context, EXIT_CODE_problem, "%s/%s: %s", directory->path, what,
                        strerror(-error));
}

static bool rotate(struct context *context, const struct data_directory *directory,
                   struct exchange_file *exchange, struct signing_key *key)
{
    struct refusal refusal;
    int error = signer_init() != 0 ? -ENOSYS : disk_lock(directory->disk);

    if (error == -EWOULDBLOCK)
        return context_fail(context, EXIT_CODE_problem, "%s is in use: stop perpd first",
                            directory->path);
    if (error == 0)
        error = exchange_file_read(directory->disk, exchange);
    if (error != 0)
        return failed(context, directory, "exchange", error);
    if (cc_is_zero(exchange->signing_public, sizeof exchange->signing_public))
        return context_fail(context, EXIT_CODE_rejected,
                            "%s has no signing key yet: its first start makes one",
                            directory->path);
    refusal_clear(&refusal);
    return (signing_key_open(directory->disk, exchange, NULL, key, &refusal) == REFUSAL_none &&
            signing_key_rotate(directory->disk, exchange, key, &refusal) == REFUSAL_none) ||
           data_directory_refused(context, directory, &refusal);
}

static void show(struct context *context, const struct exchange_file *exchange,
                 const struct signing_key *key)
{
    char former[BASE64_TEXT_BYTES(SIGNER_ED25519_KEY_BYTES) + 1], text[sizeof former];

    (void)base64_encode(former, exchange->signing_public, SIGNER_ED25519_KEY_BYTES);
    (void)base64_encode(text, key->signer.key, SIGNER_ED25519_KEY_BYTES);
    json_t *object = json_pack("{s:s, s:s, s:I}", "exchange_names", former, "signing_public", text,
                               "rotations", (json_int_t)key->count);
    INVARIANT(object != NULL);
    report_object(stdout, object, context->arguments->json);
}

int command_keys_rotate(struct context *context)
{
    struct data_directory directory;
    struct exchange_file exchange = { 0 };
    struct signing_key key = { 0 };

    if (!data_directory_open(context, context->arguments->words[0], &directory))
        return context->exit_code;
    if (rotate(context, &directory, &exchange, &key))
        show(context, &exchange, &key);
    explicit_bzero(&exchange, sizeof exchange);
    explicit_bzero(&key, sizeof key);
    data_directory_close(&directory);
    return context->exit_code;
}
