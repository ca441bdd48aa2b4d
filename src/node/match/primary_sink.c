#include "node/match/primary_sink.h"

#include "base/hash.h"
#include "engine/view/read.h"

enum { ACTIVE = 0 }; /* status of effect 2119 */

static enum keyring_kind keyring_kind_of(uint8_t kind)
{
    switch (kind) {
    case EFFECT_CREDENTIAL_SESSION:
        return KEYRING_SESSION;
    case EFFECT_CREDENTIAL_API_KEY:
        return KEYRING_API;
    case EFFECT_CREDENTIAL_DEVICE_KEY:
        return KEYRING_DEVICE;
    default:
        INVARIANT(kind == EFFECT_CREDENTIAL_MASTER_KEY);
        return KEYRING_MASTER;
    }
}

/* Sessions are found together with the account, passkeys by the hash of their credential id. */
static struct keyring_key key_of(const struct read_credential *view)
{
    uint8_t hash[HASH_BYTES];
    if (view->passkey_id != NULL) {
        hash_blake2b256(hash, view->passkey_id, view->passkey_id_bytes);
        return keyring_key(KEYRING_PASSKEY, 0, hash);
    }
    return keyring_key(keyring_kind_of(view->kind), view->account_id, view->key);
}

static void add(struct primary_sink *primary, const struct read_credential *view, uint64_t sequence)
{
    struct keyring_row row = {
        .key = key_of(view),
        .account_id = view->account_id,
        .expires_at_ns = view->expires_ns == UINT64_MAX ? 0 : view->expires_ns,
        .sequence = sequence,
        .subaccount_pin = view->pin,
        .scope = view->scope,
        .state = KEYRING_LIVE,
        .admin = view->is_admin,
    };
    uuid_load(&row.credential_id, view->id);
    if (view->passkey_id != NULL)
        memcpy(row.public_key, view->key, sizeof row.public_key);
    int full = keyring_add(primary->keyring, &row);
    INVARIANT(full == 0); /* it has a slot for every credential of the engine, and for tombstones */
}

/* After the keyring has changed: a sweep that begins later sees what found no room here. */
static void report(struct primary_sink *primary, const struct read_credential *view, bool ended)
{
    struct keyring_key key = key_of(view);
    if (view->kind == EFFECT_CREDENTIAL_SESSION)
        key_keeper_report(primary->keeper, &key, ended);
}

/* Adds all markets: there are few, and this effect is too rare to search for the new one. */
static void add_symbols(struct primary_sink *primary, const struct engine *engine)
{
    for (uint32_t k = 0; k < read_market_count(engine); k++) {
        struct row_market row;
        read_market(engine, k, &row);
        symbols_add(&primary->symbols, row.market, row.asset_id);
    }
}

static void apply_credential(struct primary_sink *primary, const struct effect *effect)
{
    struct effect_credential body;
    struct read_credential view;
    memcpy(&body, effect->bytes, sizeof body);
    read_credential(effect->engine, effect->record, &view);
    if (body.action == CREDENTIAL_ADDED) {
        add(primary, &view, effect->sequence);
        report(primary, &view, false);
        return;
    }
    struct keyring_key key = key_of(&view);
    /* An expired credential may have been refused its slot long ago; absence is no fault. */
    (void)keyring_end(primary->keyring, &key, effect->sequence);
    report(primary, &view, true);
}

/* A new account has its own buckets. A CLOSED one has no valid credential (R11, row 3), though its
 * master keys keep their rows. */
static void apply_account(struct primary_sink *primary, const struct effect *effect)
{
    struct effect_account body;
    struct read_credential view;
    uint32_t cursor = 0;
    memcpy(&body, effect->bytes, sizeof body);
    if (body.what != ACCOUNT_WHAT_ACCOUNT)
        return;
    if (body.status == ACTIVE) {
        account_rate_begin(primary->rates, body.account_id);
        return;
    }
    while (read_master_key_at(effect->engine, body.account_id, &cursor, &view)) {
        struct keyring_key key = key_of(&view);
        (void)keyring_end(primary->keyring, &key, effect->sequence);
    }
}

static void primary_emit(struct engine_sink *sink, const struct effect *effect)
{
    /* The sink is the first member. */
    struct primary_sink *primary = (struct primary_sink *)(void *)sink;
    if (effect->code == EFFECT_credential)
        apply_credential(primary, effect);
    else if (effect->code == EFFECT_market_state) /* a new market emits its first state */
        add_symbols(primary, effect->engine);
    else if (effect->code == EFFECT_account)
        apply_account(primary, effect);
}

static void primary_classify(struct engine_sink *sink, uint64_t account_id, uint32_t class)
{
    const struct primary_sink *primary = (const struct primary_sink *)(const void *)sink;

    account_rate_set_unfunded(primary->rates, account_id, class == SHARE_CLASS_unfunded);
}

void primary_sink_init(struct primary_sink *primary, struct keyring *keyring,
                       struct key_keeper *keeper, struct account_rate *rates)
{
    primary->sink.emit = primary_emit;
    primary->sink.classify = primary_classify;
    primary->sink.ignores = ~(EFFECT_BIT(EFFECT_credential) | EFFECT_BIT(EFFECT_market_state) |
                              EFFECT_BIT(EFFECT_account));
    primary->keyring = keyring;
    primary->keeper = keeper;
    primary->rates = rates;
}

void primary_sink_load(struct primary_sink *primary, const struct engine *engine)
{
    struct read_credential view;
    uint32_t cursor = 0;

    while (read_credential_at(engine, &cursor, &view)) {
        if (view.expires_ns > engine_time(engine))
            add(primary, &view, engine_sequence(engine));
    }
    add_symbols(primary, engine);
    read_classes(engine, &primary->sink);
    key_keeper_request_sweep(primary->keeper);
}
