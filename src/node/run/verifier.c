#include "node/run/verifier.h"

#include "base/log.h"
#include "crypto/ed25519.h"

enum { CONFIGURED_KEYS = OPTION_KEYS_MAX + 2 }; /* oracle's, operator's, treasury's */

/* The path that a word of crypto.verify names; the first for auto. */
static enum ed25519_path path_of(const struct config *options)
{
    unsigned path = 0;
    while (path < ED25519_PATHS &&
           !config_is(options, OPTION_crypto_verify, ed25519_path_name((enum ed25519_path)path)))
        path++;
    return path < ED25519_PATHS ? (enum ed25519_path)path : ED25519_LANES;
}

int verifier_choose(const struct config *options)
{
    bool is_free = config_is(options, OPTION_crypto_verify, "auto");
    enum ed25519_path asked = path_of(options);

    if (ed25519_init(asked) != 0) {
        log_line(LOG_ERROR, "signatures", "no path passes its self-test");
        return NODE_EXIT_FAILED;
    }
    enum ed25519_path used = ed25519_path_in_use();
    for (unsigned path = asked; path < used; path++) {
        const char *why = ed25519_refusal((enum ed25519_path)path);
        log_line(is_free ? LOG_WARN : LOG_ERROR, "signatures", "not by %s: %s",
                 ed25519_path_name((enum ed25519_path)path), why);
    }
    if (used != asked && !is_free)
        return NODE_EXIT_CONFIGURATION;
    log_line(LOG_INFO, "signatures", "path=%s", ed25519_path_name(used));
    return 0;
}

static void make_tables(struct node *node)
{
    uint64_t keys = node->core.options.values[OPTION_engine_credentials] + CONFIGURED_KEYS;
    uint64_t more = keys > KEY_TABLES_LARGE ? keys - KEY_TABLES_LARGE : 0;
    const struct key_tables_config config = {
        .large = keys < KEY_TABLES_LARGE ? (uint32_t)keys : KEY_TABLES_LARGE,
        .small = more < KEY_TABLES_SMALL ? (uint32_t)more : KEY_TABLES_SMALL,
        .readers = node->topology.net_count,
        .hash_key = mix_key_load(node->core.exchange.hash_key),
    };

    if (ed25519_path_in_use() == ED25519_LIBRARY) /* it has no use for them */
        return;
    if (key_tables_create(&node->key_tables, &config) != 0)
        log_line(LOG_WARN, "signatures",
                 "no memory for tables of keys: each signature is verified without");
}

int verifier_make(struct node *node)
{
    make_tables(node);
    const struct key_keeper_config config = {
        .keyring = node->core.keyring,
        .options = &node->core.options,
        .tables = node->key_tables,
        .nets = node->topology.net_count,
    };
    return key_keeper_init(&node->key_keeper, &config);
}

void verifier_free(struct node *node)
{
    key_keeper_free(&node->key_keeper);
    key_tables_destroy(node->key_tables);
}
