#include "engine/view/read_keys.h"

#include "engine/state/state.h"

/* The next live credential of the kind that the pin sees, or CREDENTIAL_NONE. */
static uint32_t next_of(const struct engine *engine, uint64_t account_id, int32_t pin,
                        enum credential_kind kind, uint32_t *cursor)
{
    const struct credential *rows = engine->credentials.rows;
    uint32_t account = account_find(engine, account_id);

    if (account == ACCOUNT_NONE)
        return CREDENTIAL_NONE;
    uint32_t at = *cursor == CREDENTIAL_NONE ? engine->accounts.rows[account].credential_head
                                             : rows[*cursor].account_next;
    while (at != CREDENTIAL_NONE &&
           (rows[at].kind != kind || !credential_is_live(&rows[at], engine->t_ns) ||
            (pin != CREDENTIAL_NO_PIN && rows[at].pin != pin)))
        at = rows[at].account_next;
    *cursor = at;
    return at;
}

/* The master key that made the session: a row that is never given to another key. */
static uint32_t maker_of(const struct engine *engine, const struct credential *session)
{
    return credential_find_sequence_master(engine, session->parent_sequence);
}

bool read_keys_session(const struct engine *engine, uint64_t account_id, int32_t pin,
                       uint32_t *cursor, struct row_session *row)
{
    uint32_t index = next_of(engine, account_id, pin, CREDENTIAL_SESSION, cursor);

    if (index == CREDENTIAL_NONE)
        return false;
    const struct credential *session = &engine->credentials.rows[index];
    uint32_t maker = maker_of(engine, session);
    *row = (struct row_session){
        .created_ns = session->created_ns,
        .expires_ns = session->expires_ns,
        .has_master = maker != CREDENTIAL_NONE,
        .scope = session->scope,
        .pin = session->pin,
    };
    credential_id(session, row->id);
    memcpy(row->key, session->key, sizeof row->key);
    if (maker != CREDENTIAL_NONE)
        memcpy(row->master, engine->credentials.rows[maker].key, sizeof row->master);
    return true;
}

bool read_keys_master(const struct engine *engine, uint64_t account_id, int32_t pin,
                      uint32_t *cursor, struct row_master_key *row)
{
    const struct credential *rows = engine->credentials.rows;
    uint32_t account = account_find(engine, account_id);

    if (account == ACCOUNT_NONE)
        return false;
    uint32_t at = *cursor == CREDENTIAL_NONE ? engine->accounts.rows[account].master_head
                                             : rows[*cursor].account_next;
    while (at != CREDENTIAL_NONE && pin != CREDENTIAL_NO_PIN && rows[at].pin != pin)
        at = rows[at].account_next;
    *cursor = at;
    if (at == CREDENTIAL_NONE)
        return false;
    *row = (struct row_master_key){
        .created_ns = rows[at].created_ns,
        .is_passkey = credential_is_passkey(&rows[at]),
        .is_admin = credential_is_admin(&rows[at]),
        .scope = rows[at].scope,
        .pin = rows[at].pin,
    };
    memcpy(row->key, rows[at].key, sizeof row->key);
    if (row->is_passkey) {
        const struct passkey *passkey = &engine->passkeys.rows[rows[at].passkey];
        row->id_bytes = passkey->id_bytes;
        memcpy(row->id, passkey->id, sizeof row->id);
    }
    return true;
}

static bool show_key(const struct engine *engine, uint32_t index, struct row_api_key *row)
{
    if (index == CREDENTIAL_NONE)
        return false;
    const struct credential *key = &engine->credentials.rows[index];
    *row = (struct row_api_key){
        .created_ns = key->created_ns,
        .expires_ns = key->expires_ns,
        .pin = key->pin,
        .scope = key->scope,
        .is_device = key->kind == CREDENTIAL_DEVICE_KEY,
    };
    credential_id(key, row->id);
    memcpy(row->label, key->label, sizeof row->label);
    return true;
}

bool read_keys_api_key(const struct engine *engine, uint64_t account_id, int32_t pin,
                       uint32_t *cursor, struct row_api_key *row)
{
    return show_key(engine, next_of(engine, account_id, pin, CREDENTIAL_API_KEY, cursor), row);
}

bool read_keys_device_key(const struct engine *engine, uint64_t account_id, int32_t pin,
                          uint32_t *cursor, struct row_api_key *row)
{
    return show_key(engine, next_of(engine, account_id, pin, CREDENTIAL_DEVICE_KEY, cursor), row);
}
