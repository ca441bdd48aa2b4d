#include "engine/state/passkey.h"

#include "base/command_hash.h"
#include "base/message.h"
#include "engine/state/state.h"
#include "engine/table/image_read.h"
#include "engine/table/image_sink.h"

#define COVERED(field) +sizeof(((struct passkey *)0)->field)
static_assert(sizeof(struct passkey) == 0 PASSKEY_FIELDS(COVERED) PASSKEY_CACHES(COVERED),
              "every byte of a passkey is in one of its field lists");
#undef COVERED

size_t passkey_table_bytes(uint32_t slots)
{
    return slot_table_bytes(slots, sizeof(struct passkey)) + hash_index_bytes(slots);
}

void passkey_table_init(struct passkey_table *table, void *memory, uint32_t slots)
{
    uint8_t *at = memory;

    *table = (struct passkey_table){ .rows = memory, .slots = slot_table_init(slots) };
    table->slots.limit = slots;
    hash_index_init(&table->by_id, at + slot_table_bytes(slots, sizeof(struct passkey)), slots);
}

/* The keyed hash of a credential id: a hash of each 16 bytes of it, zeros at the end, and of the
 * one before. */
static uint64_t id_hash(const struct engine *engine, const uint8_t *id, uint32_t id_bytes)
{
    uint64_t hash = id_bytes;

    for (uint32_t at = 0; at < id_bytes; at += 16) {
        uint8_t part[16] = { 0 };
        uint32_t left = id_bytes - at;
        memcpy(part, id + at, left < sizeof part ? left : sizeof part);
        hash = mix_id(engine->key, hash, part);
    }
    return hash;
}

static uint32_t find_id(const struct engine *engine, const uint8_t *id, uint32_t id_bytes)
{
    const struct passkey_table *table = &engine->passkeys;
    struct hash_index_probe probe = hash_index_probe(&table->by_id, id_hash(engine, id, id_bytes));

    while (hash_index_next(&table->by_id, &probe)) {
        const struct passkey *row = &table->rows[probe.index];
        if (row->id_bytes == id_bytes && memcmp(row->id, id, id_bytes) == 0)
            return probe.index;
    }
    return PASSKEY_NONE;
}

bool passkey_is_known(const struct engine *engine, const uint8_t *id, uint32_t id_bytes)
{
    return find_id(engine, id, id_bytes) != PASSKEY_NONE;
}

bool passkey_assertion(const struct command *command, struct assertion *assertion)
{
    uint32_t after =
        command_hash_bytes(command->code, true, command_extra(command), command->extra_bytes);

    return command->kind == COMMAND_PASSKEY && command->extra_bytes >= after &&
           assertion_read(assertion, command_extra(command), command->extra_bytes - after);
}

struct passkey_make passkey_of_signer(const struct command *command)
{
    struct assertion assertion;
    bool is_read = passkey_assertion(command, &assertion);

    INVARIANT(is_read);
    return (struct passkey_make){
        .id = assertion.credential_id,
        .id_bytes = assertion.credential_id_bytes,
        .sign_count = assertion_sign_count(&assertion),
    };
}

static void enter_id(struct engine *engine, uint32_t passkey)
{
    struct passkey_table *table = &engine->passkeys;
    struct passkey *row = &table->rows[passkey];

    row->id_slot =
        hash_index_insert(&table->by_id, id_hash(engine, row->id, row->id_bytes), passkey);
}

static uint32_t alloc(struct passkey_table *table)
{
    return slot_table_alloc(&table->slots, table->rows[table->slots.free_head].next);
}

uint32_t passkey_create(struct engine *engine, const struct passkey_make *make)
{
    struct passkey_table *table = &engine->passkeys;

    INVARIANT(make->id_bytes >= 1 && make->id_bytes <= sizeof table->rows[0].id);
    uint32_t index = alloc(table);
    struct passkey *passkey = &table->rows[index];
    *passkey = (struct passkey){
        .created_sequence = engine->sequence,
        .sign_count = make->sign_count,
        .id_bytes = make->id_bytes,
    };
    memcpy(passkey->id, make->id, make->id_bytes);
    enter_id(engine, index);
    return index;
}

void passkey_end(struct engine *engine, uint32_t passkey)
{
    const struct passkey *row = &engine->passkeys.rows[passkey];
    uint64_t hash = id_hash(engine, row->id, row->id_bytes);

    hash_index_remove(&engine->passkeys.by_id, (uint32_t)(hash >> 32), row->id_slot);
}

void passkey_release(struct engine *engine, uint32_t passkey)
{
    struct passkey_table *table = &engine->passkeys;

    table->rows[passkey] = (struct passkey){ .next = slot_table_free(&table->slots, passkey) };
}

bool passkey_count(struct engine *engine, uint32_t passkey, const struct command *command)
{
    struct passkey *row = &engine->passkeys.rows[passkey];
    struct assertion assertion;
    bool is_read = passkey_assertion(command, &assertion);

    INVARIANT(is_read && passkey != PASSKEY_NONE);
    uint32_t before = row->sign_count;
    row->sign_count = assertion_sign_count(&assertion);
    return before != 0 && row->sign_count != 0 && row->sign_count <= before;
}

void passkey_image(const struct engine *engine, struct image_sink *sink)
{
    const struct credential *credentials = engine->credentials.rows;

    for (uint32_t i = engine->credentials.head; i != CREDENTIAL_NONE; i = credentials[i].next) {
        if (credentials[i].passkey == PASSKEY_NONE)
            continue;
        const struct passkey *row = &engine->passkeys.rows[credentials[i].passkey];
        PASSKEY_FIELDS(IMAGE_FIELD)
    }
}

/* Why a row cannot be the passkey of this credential; NULL: it can. */
static const char *wrong_row(const struct engine *engine, const struct passkey *row,
                             uint32_t credential)
{
    if (credential == CREDENTIAL_NONE)
        return "a passkey has no credential";
    if (!credential_is_passkey(&engine->credentials.rows[credential]))
        return "a passkey's credential is none of a passkey";
    if (engine->credentials.rows[credential].passkey != PASSKEY_NONE)
        return "a passkey stands twice";
    if (row->created_sequence <= row[-1].created_sequence)
        return "the passkeys are not in the order of their creation";
    if (row->id_bytes < 1 || row->id_bytes > sizeof row->id ||
        !image_read_is_zero(row->id + row->id_bytes, sizeof row->id - row->id_bytes) ||
        !image_read_is_zero(row->zero, sizeof row->zero))
        return "a passkey has an id of a wrong length";
    if (engine->credentials.rows[credential].ended_sequence == 0 &&
        passkey_is_known(engine, row->id, row->id_bytes))
        return "a passkey's id stands twice";
    return NULL;
}

bool passkey_load(struct engine *engine, struct image_read *read)
{
    struct passkey_table *table = &engine->passkeys;
    struct credential *credentials = engine->credentials.rows;
    struct passkey *row = NULL;

    for (; image_read_begins(read, 0 PASSKEY_FIELDS(IMAGE_READ_BYTES)); read->row++) {
        if (!slot_table_has_room(&table->slots))
            return image_read_refuse(read, "more passkeys than the configuration allows");
        row = &table->rows[table->slots.fresh];
        PASSKEY_FIELDS(IMAGE_READ)
        uint32_t credential = credential_find_sequence_master(engine, row->created_sequence);
        const char *wrong = wrong_row(engine, row, credential);
        if (wrong != NULL)
            return image_read_refuse(read, wrong);
        credentials[credential].passkey = alloc(table);
        if (credentials[credential].ended_sequence == 0)
            enter_id(engine, credentials[credential].passkey);
    }
    for (uint32_t i = engine->credentials.head; i != CREDENTIAL_NONE; i = credentials[i].next)
        if (credential_is_passkey(&credentials[i]) && credentials[i].passkey == PASSKEY_NONE)
            return image_read_refuse(read, "a passkey's credential has no passkey");
    return read->wrong == NULL;
}
