#include "node/recover/rebuild.h"

#include "crypto/derive.h"

static_assert((int)RECORD_REQUEST_MIN == (int)REQUEST_BODY_AT, "a decoded record has a body");

static uint8_t *append(uint8_t *to, const uint8_t *bytes, uint32_t byte_count)
{
    if (byte_count != 0)
        memcpy(to, bytes, byte_count);
    return to + byte_count;
}

struct command *rebuild_command(struct rebuild_buffer *buffer, const struct record_view *record,
                                struct mix_key key)
{
    /* The buffer is aligned for it, and no other object lives there. */
    struct command *command = (struct command *)(void *)buffer->bytes;
    uint32_t signature_bytes = record->kind == RECORD_UNSIGNED ? 0 : SIGNATURE_BYTES;

    INVARIANT(sizeof *command + record->payload_bytes + record->key_bytes + signature_bytes +
                  record->extra_bytes <=
              sizeof buffer->bytes);
    memset(command, 0, sizeof *command);
    command->t_ns = record->t_ns;
    command->code = record->code;
    command->kind = record->kind;
    command->flags = COMMAND_REPLAYED;
    command->payload_bytes = record->payload_bytes;
    command->key_bytes = record->key_bytes;
    command->extra_bytes = record->extra_bytes;

    uint8_t *to = append(command->bytes, record->payload, record->payload_bytes);
    to = append(to, record->key, record->key_bytes);
    to = append(to, record->signature, signature_bytes);
    append(to, record->extra, record->extra_bytes);
    command->slot_count =
        (uint16_t)command_slots((uint32_t)(command_bytes(command) - (uint32_t)sizeof *command));
    derive_command(command, key);
    return command;
}

void rebuild_record(struct record_view *record, const struct command *command)
{
    bool has_signature = command->kind != COMMAND_UNSIGNED;
    *record = (struct record_view){
        .t_ns = command->t_ns,
        .code = command->code,
        .kind = command->kind,
        .payload_bytes = command->payload_bytes,
        .key_bytes = command->key_bytes,
        .extra_bytes = command->extra_bytes,
        .payload = command_payload(command),
        .key = has_signature ? command_key(command) : NULL,
        .signature = has_signature ? command_signature(command) : NULL,
        .extra = command->extra_bytes != 0 ? command_extra(command) : NULL,
    };
}
