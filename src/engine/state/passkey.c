#include "engine/state/passkey.h"

#include "base/command_hash.h"
#include "base/message.h"
#include "engine/state/state.h"
#include "engine/table/image_read.h"
#include "engine/table/image_sink.h"
#include "engine/table/whole_lines.h"

#define COVERED(field) +sizeof(((struct passkey *)0)->field)
static_assert(sizeof(struct passkey) == 0 PASSKEY_FIELDS(COVERED),
              "every byte of a passkey is in its field list");
#undef COVERED

size_t passkey_table_bytes(uint32_t slots)
{
    return whole_lines(((size_t)slots + 1) * sizeof(struct passkey));
}

void passkey_table_init(struct passkey_table *table, void *memory, uint32_t slots)
{
    *table = (struct passkey_table){ .rows = memory, .slots = slots };
}

bool passkey_assertion(const struct command *command, struct assertion *assertion)
{
    uint32_t after =
        command_hash_bytes(command->code, true, command_extra(command), command->extra_bytes);

    return command->kind == COMMAND_PASSKEY && command->extra_bytes >= after &&
           assertion_read(assertion, command_extra(command), command->extra_bytes - after);
}

uint32_t passkey_create(struct engine *engine, const struct command *command)
{
    struct passkey_table *table = &engine->passkeys;
    struct assertion assertion;
    bool is_read = passkey_assertion(command, &assertion);

    INVARIANT(is_read && table->count < table->slots);
    struct passkey *passkey = &table->rows[++table->count];
    *passkey = (struct passkey){
        .created_sequence = engine->sequence,
        .sign_count = assertion_sign_count(&assertion),
        .id_bytes = assertion.credential_id_bytes,
    };
    memcpy(passkey->id, assertion.credential_id, assertion.credential_id_bytes);
    return table->count;
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
    for (uint32_t i = 1; i <= engine->passkeys.count; i++) {
        const struct passkey *row = &engine->passkeys.rows[i];
        PASSKEY_FIELDS(IMAGE_FIELD)
    }
}

/* Why a row cannot be the passkey of this credential; NULL: it can. */
static const char *wrong_row(const struct engine *engine, const struct passkey *row,
                             uint32_t credential)
{
    if (credential == CREDENTIAL_NONE)
        return "a passkey has no credential";
    if (engine->credentials.rows[credential].passkey != PASSKEY_NONE)
        return "a passkey stands twice";
    if (row->created_sequence <= row[-1].created_sequence)
        return "the passkeys are not in the order of their creation";
    if (row->id_bytes < 1 || row->id_bytes > sizeof row->id ||
        !image_read_is_zero(row->id + row->id_bytes, sizeof row->id - row->id_bytes) ||
        !image_read_is_zero(row->zero, sizeof row->zero))
        return "a passkey has an id of a wrong length";
    return NULL;
}

bool passkey_load(struct engine *engine, struct image_read *read)
{
    struct passkey_table *table = &engine->passkeys;
    struct credential *credentials = engine->credentials.rows;
    struct passkey *row = NULL;

    for (; image_read_begins(read, 0 PASSKEY_FIELDS(IMAGE_READ_BYTES)); read->row++) {
        if (table->count == table->slots)
            return image_read_refuse(read, "more passkeys than the configuration allows");
        row = &table->rows[table->count + 1];
        PASSKEY_FIELDS(IMAGE_READ)
        uint32_t credential =
            credential_find_sequence(engine, row->created_sequence, CREDENTIAL_MASTER_PASSKEY);
        const char *wrong = wrong_row(engine, row, credential);
        if (wrong != NULL)
            return image_read_refuse(read, wrong);
        credentials[credential].passkey = ++table->count;
    }
    for (uint32_t i = engine->credentials.head; i != CREDENTIAL_NONE; i = credentials[i].next)
        if (credentials[i].kind == CREDENTIAL_MASTER_PASSKEY &&
            credentials[i].passkey == PASSKEY_NONE)
            return image_read_refuse(read, "a passkey's credential has no passkey");
    return read->wrong == NULL;
}
