/* A command and the command rebuilt from its record are the same to the engine. */
#include "base/account_id.h"
#include "base/hash.h"
#include "check.h"
#include "crypto/derive.h"
#include "node/recover/rebuild.h"

static const struct mix_key key = { 11, 22 };

static const struct row {
    int line;
    const char *name;
    uint16_t code, body_bytes, key_bytes, extra_bytes;
    uint8_t kind;
} rows[] = {
#define R(...)                \
    {                         \
        __LINE__, __VA_ARGS__ \
    }
    R("order", REQUEST_place_limit_order, 48, 32, 0, COMMAND_SIGNED),
    R("cancel", REQUEST_order_cancel, 40, 32, 0, COMMAND_SIGNED),
    R("account", REQUEST_create_account_secp256k1, 80, 33, 0, COMMAND_SIGNED),
    R("session", REQUEST_create_session, 56, 33, 0, COMMAND_SIGNED),
    R("api key with secret's hash", REQUEST_create_api_key, 48, 32, 32, COMMAND_SIGNED),
    R("oracle", REQUEST_oracle_price, 24, 32, 0, COMMAND_SIGNED),
    R("largest", REQUEST_market_define, 4120, 32, 0, COMMAND_SIGNED),
    R("tick", REQUEST_tick, 8, 0, 0, COMMAND_UNSIGNED),
    R("largest unsigned", REQUEST_configuration, 4120, 0, 0, COMMAND_UNSIGNED),
#undef R
};

static void fill(struct command *command, const struct row *row)
{
    uint32_t before = row->kind == COMMAND_UNSIGNED ? 0 : REQUEST_BODY_AT;
    memset(command, 0, sizeof *command);
    command->t_ns = 1755582431232000001;
    command->code = row->code;
    command->kind = row->kind;
    command->payload_bytes = (uint16_t)(before + row->body_bytes);
    command->key_bytes = row->key_bytes;
    command->extra_bytes = row->extra_bytes;
    uint32_t parts = command_bytes(command) - (uint32_t)sizeof *command;
    for (uint32_t i = 0; i < parts; i++)
        command->bytes[i] = (uint8_t)(i * 7 + 1) & 0x3f;
    command->slot_count = (uint16_t)command_slots(parts);
    derive_command(command, key);
}

int main(void)
{
    static struct rebuild_buffer live, again;
    static alignas(8) uint8_t bytes[RECORD_BYTES_MAX];

    for (const struct row *row = rows; row != rows + CC_COUNT(rows); row++) {
        struct record_view record;
        struct command *command = (struct command *)(void *)live.bytes;
        fill(command, row);
        rebuild_record(&record, command);
        uint32_t length = record_encode(bytes, &record);
        CHECK_ROW(row, record_decode(&record, bytes, length) == 0);

        struct command *rebuilt = rebuild_command(&again, &record, key);
        CHECK_ROW(row, (rebuilt->flags & COMMAND_REPLAYED) != 0);
        CHECK_ROW(row, (command->flags & COMMAND_REPLAYED) == 0);
        rebuilt->flags &= (uint8_t)~COMMAND_REPLAYED;
        CHECK_ROW(row, command_bytes(rebuilt) == command_bytes(command));
        CHECK_ROW(row, memcmp(rebuilt, command, command_bytes(command)) == 0);
    }

    /* W5: codes 11 and operators are keyed by the first 8 bytes of BLAKE2b-256(public key) with
     * bit 63 set; everybody else by the account of the body. */
    struct command *command = (struct command *)(void *)live.bytes;
    uint8_t hash[HASH_BYTES];
    fill(command, &rows[5]);
    hash_blake2b256(hash, command_key(command), 32);
    CHECK(command->duplicate_account == (cc_load64(hash) | UINT64_C(1) << 63));
    fill(command, &rows[0]);
    CHECK(command->duplicate_account == 0);
    CHECK(command->request_hash == mix_id(key, account_id_hashed(cc_load64(command_body(command))),
                                          command_request_id(command)));
    fill(command, &rows[1]);
    CHECK(command->target_hash == mix_id(key, account_id_hashed(cc_load64(command_body(command))),
                                         command_body(command) + 16));
    return 0;
}
