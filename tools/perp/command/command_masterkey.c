/* command_masterkey.c - adds and removes the master keys of an account. */
#include <jansson.h>
#include <stdio.h>
#include <unistd.h>

#include "base/base64.h"
#include "perp/command/command.h"
#include "perp/invocation/choice.h"

enum { KEY_BYTES = 33 };

/* A public key written as Base64, or the name of a key file that holds it. */
static bool public_key(struct context *context, uint8_t key[KEY_BYTES])
{
    const char *text = context->arguments->words[0];
    struct key_file file;
    if (base64_decode(key, KEY_BYTES, text, strlen(text), NULL) == KEY_BYTES)
        return true;
    if (access(text, F_OK) != 0)
        return context_fail(context, EXIT_CODE_usage,
                            "PUBLIC_KEY '%.60s' is neither the Base64 of 33 bytes nor a key file",
                            text);
    if (!context_key_at(context, text, "PUBLIC_KEY", SIGNATURE_SECP256K1, false, &file))
        return false;
    memcpy(key, file.public_key, KEY_BYTES);
    key_file_wipe(&file);
    return true;
}

static bool fill_add(struct context *context, struct draft *draft)
{
    const bool scoped = arguments_has(context->arguments, FLAG_scope);
    uint64_t account_id, pin, scope;
    uint8_t key[KEY_BYTES];
    struct uuid id;
    if (!scoped && arguments_has(context->arguments, FLAG_pin))
        return context_fail(context, EXIT_CODE_usage,
                            "--pin goes with --scope: an admin key is for the whole account");
    if (!context_id(context, &id) ||
        !context_number(context, SETTING_account, INT64_MAX, &account_id) ||
        !choice_pin(context, &pin) ||
        !choice_enum(context, FLAG_scope, REQUEST_add_scoped_secp256k1_master_key, "scope", 0,
                     &scope) ||
        !public_key(context, key))
        return false;
    draft_begin(draft,
                scoped ? REQUEST_add_scoped_secp256k1_master_key
                       : REQUEST_add_admin_secp256k1_master_key,
                SIGNATURE_SECP256K1, &id);
    draft_set(draft, "account_id", account_id);
    draft_set_bytes(draft, "public_key", key, sizeof key);
    if (scoped) {
        draft_set(draft, "subaccount_index", pin);
        draft_set(draft, "scope", scope);
    }
    return true;
}

/* Sets *code to the request that removes the key: the account's list says of what kind it is. */
static bool removal_of(struct context *context, const uint8_t key[KEY_BYTES], uint32_t *code)
{
    char text[BASE64_TEXT_BYTES(KEY_BYTES) + 1];
    struct client_answer answer;
    json_t *row;
    size_t at;
    if (!context_get(context, "/api/v1/auth/master-keys", true, &answer))
        return false;
    text[base64_encode(text, key, KEY_BYTES)] = '\0';
    json_t *root = json_loadb(answer.body, answer.body_count, 0, NULL);
    *code = 0;
    json_array_foreach(json_object_get(root, "master_keys"), at, row)
    {
        const char *shown = json_string_value(json_object_get(row, "public_key"));
        const char *kind = json_string_value(json_object_get(row, "kind"));
        const char *curve = json_string_value(json_object_get(row, "curve"));
        if (shown == NULL || kind == NULL || curve == NULL || strcmp(shown, text) != 0)
            continue;
        const bool admin = strcmp(kind, "ADMIN") == 0;
        if (strcmp(curve, "PASSKEY") == 0)
            *code = admin ? REQUEST_remove_admin_passkey_master_key
                          : REQUEST_remove_scoped_passkey_master_key;
        else
            *code = admin ? REQUEST_remove_admin_secp256k1_master_key
                          : REQUEST_remove_scoped_secp256k1_master_key;
    }
    json_decref(root);
    return *code != 0 ||
           context_fail(context, EXIT_CODE_problem,
                        "the account of the API key has no such master key; perp masterkey list "
                        "shows those that it has");
}

static bool fill_remove(struct context *context, struct draft *draft)
{
    uint8_t key[KEY_BYTES];
    uint64_t account_id;
    uint32_t code;
    struct uuid id;
    if (!context_id(context, &id) ||
        !context_number(context, SETTING_account, INT64_MAX, &account_id) ||
        !public_key(context, key) || !removal_of(context, key, &code))
        return false;
    draft_begin(draft, (uint16_t)code, SIGNATURE_SECP256K1, &id);
    draft_set(draft, "account_id", account_id);
    draft_set_bytes(draft, "public_key", key, sizeof key);
    return true;
}

int command_masterkey_add(struct context *context)
{
    return context_submit(context, SETTING_master_key, SIGNATURE_SECP256K1, fill_add);
}

int command_masterkey_remove(struct context *context)
{
    return context_submit(context, SETTING_master_key, SIGNATURE_SECP256K1, fill_remove);
}
