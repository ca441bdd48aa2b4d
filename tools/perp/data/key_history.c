#include "perp/data/key_history.h"

#include <stdlib.h>

#include "base/assertion.h"
#include "base/command_hash.h"
#include "base/request.h"
#include "engine/view/read.h"

enum { SLOTS_MIN = 1024, KEY_BYTES_MAX = 33 };

/* What a key is called by: sessions together with their account, as a request names both; master
 * keys also without one, for code 36 asks for it. */
enum kind { SESSION = 1, MASTER, PASSKEY, ID /* of what an unsigned record may name */ };

enum { ID_BYTES = 16, LEAD_BYTES = 64, LEAD_EPOCH_AT = 8, LEAD_PREVIOUS_AT = 32 };

static void name_of(uint8_t name[HASH_BYTES], enum kind kind, uint64_t account_id,
                    const uint8_t *bytes, size_t count)
{
    uint8_t text[1 + 8 + KEY_BYTES_MAX] = { (uint8_t)kind };

    INVARIANT(count <= KEY_BYTES_MAX);
    cc_store64(text + 1, account_id);
    memcpy(text + 9, bytes, count);
    hash_blake2b256(name, text, sizeof text);
}

/* Where the name is, or the free slot where it would be. */
static uint64_t slot_of(const struct key_history *keys, const uint8_t name[HASH_BYTES])
{
    uint64_t at = cc_load64(name) & keys->mask;

    while (!cc_is_zero(keys->names[at], HASH_BYTES) &&
           memcmp(keys->names[at], name, HASH_BYTES) != 0)
        at = (at + 1) & keys->mask;
    return at;
}

static void put(struct key_history *keys, const uint8_t name[HASH_BYTES])
{
    uint8_t *slot = keys->names[slot_of(keys, name)];

    keys->count += cc_is_zero(slot, HASH_BYTES);
    memcpy(slot, name, HASH_BYTES);
}

static void allocate(struct key_history *keys, uint64_t slots)
{
    keys->names = calloc(slots, HASH_BYTES);
    INVARIANT(keys->names != NULL);
    keys->mask = slots - 1;
    keys->count = 0;
    keys->boot = keys->term = keys->epoch = 0;
}

static void grow(struct key_history *keys)
{
    uint8_t(*before)[HASH_BYTES] = keys->names;
    uint64_t slots = keys->mask + 1;

    allocate(keys, 2 * slots);
    for (uint64_t i = 0; i < slots; i++)
        if (!cc_is_zero(before[i], HASH_BYTES))
            put(keys, before[i]);
    free(before);
}

static void add(struct key_history *keys, enum kind kind, uint64_t account_id, const uint8_t *bytes,
                size_t count)
{
    uint8_t name[HASH_BYTES];

    if (2 * keys->count > keys->mask)
        grow(keys);
    name_of(name, kind, account_id, bytes, count);
    put(keys, name);
}

static void see_effect(struct engine_sink *sink, const struct effect *effect)
{
    struct key_history *keys = (struct key_history *)(void *)sink; /* its first member */
    struct effect_credential body;
    struct read_credential view;

    memcpy(&body, effect->bytes, sizeof body);
    if (effect->code != EFFECT_credential || body.action != CREDENTIAL_ADDED)
        return;
    read_credential(effect->engine, effect->record, &view);
    if (view.kind != EFFECT_CREDENTIAL_MASTER_KEY)
        add(keys, ID, 0, view.id, sizeof view.id);
    if (view.kind == EFFECT_CREDENTIAL_SESSION) {
        add(keys, SESSION, view.account_id, view.key, view.key_bytes);
    } else if (view.kind == EFFECT_CREDENTIAL_MASTER_KEY) {
        uint8_t id[HASH_BYTES];
        bool is_passkey = view.passkey_id != NULL;
        if (is_passkey)
            hash_blake2b256(id, view.passkey_id, view.passkey_id_bytes);
        for (int k = 0; k < 2; k++)
            add(keys, is_passkey ? PASSKEY : MASTER, k == 0 ? view.account_id : UINT64_MAX,
                is_passkey ? id : view.key, is_passkey ? sizeof id : view.key_bytes);
    }
}

void key_history_init(struct key_history *keys)
{
    *keys = (struct key_history){ .sink = { .emit = see_effect,
                                            .ignores = ~EFFECT_BIT(EFFECT_credential) } };
    allocate(keys, SLOTS_MIN);
}

void key_history_free(struct key_history *keys)
{
    free(keys->names);
    keys->names = NULL;
}

void key_history_forget(struct key_history *keys)
{
    memset(keys->names, 0, (keys->mask + 1) * HASH_BYTES);
    keys->count = 0;
}

/* The name of the signer; false: the record has none whose name could be known. */
static bool signer_of(const struct record_view *record, uint8_t name[HASH_BYTES])
{
    bool is_lookup = record->code == REQUEST_find_account;
    uint64_t account_id = is_lookup ? UINT64_MAX : cc_load64(record->payload + REQUEST_BODY_AT);

    if (record->kind != RECORD_PASSKEY) {
        enum kind kind = record->payload[1] == SIGNATURE_ED25519 ? SESSION : MASTER;
        name_of(name, kind, account_id, record->key, record->key_bytes);
        return true;
    }
    struct assertion assertion;
    uint8_t id[HASH_BYTES];
    uint32_t secret = command_hash_bytes(record->code, true, record->extra, record->extra_bytes);
    if (record->extra_bytes < secret ||
        !assertion_read(&assertion, record->extra, record->extra_bytes - secret))
        return false;
    hash_blake2b256(id, assertion.credential_id, assertion.credential_id_bytes);
    name_of(name, PASSKEY, account_id, id, sizeof id);
    return true;
}

/* Where the body of an unsigned code names its credential (wire.md W3b); -1: it has none. */
static int credential_at(uint16_t code)
{
    switch (code) {
    case REQUEST_set_leverage:
    case REQUEST_portfolio_close:
    case REQUEST_portfolio_reopen:
    case REQUEST_faucet_credit:
    case REQUEST_rename_portfolio:
        return 0;
    case REQUEST_disconnect_arm:
        return ID_BYTES;
    default:
        return -1;
    }
}

/* A key may be used for a portfolio of another account, which the engine refuses. */
static const char *judge_unsigned(const struct key_history *keys, const struct record_view *record)
{
    uint8_t name[HASH_BYTES];
    int at = credential_at(record->code);

    if (at < 0)
        return NULL;
    if (record->payload_bytes < (size_t)at + ID_BYTES)
        return "it does not say whose key asked for it";
    name_of(name, ID, 0, record->payload + at, ID_BYTES);
    return cc_is_zero(keys->names[slot_of(keys, name)], HASH_BYTES)
               ? "no key ever had the id that it names, and perpd does not let such a write in"
               : NULL;
}

/* A term is the boot of the 2014 with which it begins, names a term before it that is none older
 * than that of the 2016 before, and has an epoch of its own: no leader writes under another's
 * (replication.md). */
static const char *judge_lead(struct key_history *keys, const struct record_view *record)
{
    if (record->payload_bytes != LEAD_BYTES)
        return "a 2016 of another length";
    uint64_t term = cc_load64(record->payload), epoch = cc_load64(record->payload + LEAD_EPOCH_AT);
    uint64_t previous = cc_load64(record->payload + LEAD_PREVIOUS_AT);
    const char *wrong = term != keys->boot ? "its term is not the boot of the 2014 before it"
                        : previous < keys->term || previous >= term
                            ? "its previous term is not between that of the 2016 before and its own"
                        : epoch == 0 || epoch == keys->epoch
                            ? "its epoch is none, or that of the term before"
                            : NULL;
    keys->term = term;
    keys->epoch = epoch;
    return wrong;
}

static void see_boot(struct key_history *keys, const struct record_view *record)
{
    keys->boot = record->payload_bytes < 8 ? 0 : cc_load64(record->payload);
}

const char *key_history_judge(struct key_history *keys, const struct record_view *record,
                              const struct engine_result *result)
{
    const struct request *request = request_find(record->code);
    uint8_t name[HASH_BYTES];

    if (record->code == REQUEST_boot)
        see_boot(keys, record);
    if (record->code == REQUEST_lead)
        return judge_lead(keys, record);
    if (record->kind == RECORD_UNSIGNED)
        return judge_unsigned(keys, record);
    if (request == NULL || request->signer == SIGNER_NODE ||
        request->signer == SIGNER_NEW_SECP256K1 || request->signer == SIGNER_NEW_PASSKEY)
        return NULL;
    if (request->signer == SIGNER_OPERATOR)
        return result->status == STATUS_rejected_unauthorized
                   ? "its key is not configured for it, and perpd does not let such a request in"
                   : NULL;
    if (record->payload_bytes < REQUEST_BODY_AT + 8 || record->key_bytes > KEY_BYTES_MAX ||
        !signer_of(record, name))
        return "it does not say who signed it";
    return cc_is_zero(keys->names[slot_of(keys, name)], HASH_BYTES)
               ? "its key was never one of the account, and perpd does not let such a request in"
               : NULL;
}
