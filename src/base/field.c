#include "base/field.h"

#include "base/request.h"

static const char *const stp_names[] = { "EXPIRE_TAKER", "EXPIRE_MAKER", "EXPIRE_BOTH", "DECREMENT",
                                         NULL };
static const char *const sides_names[] = { "BOTH", "BUYS", "SELLS", NULL };
static const char *const op_names[] = { "PLACE_LIMIT", "REDUCTION", "REPLACEMENT", "CANCEL", NULL };
static const char *const order_type_names[] = { "MARKET",      "LIMIT",
                                                "STOP_LIMIT",  "STOP_MARKET",
                                                "TAKE_PROFIT", "TAKE_PROFIT_MARKET",
                                                "LIQUIDATE",   "AUTO_DELEVERAGE",
                                                NULL };
static const char *const trigger_source_names[] = { "MARK", "LAST", "INDEX", NULL };
static const char *const live_tif_names[] = { "IOC", "FOK", "GTC", NULL };
static const char *const scope_names[] = { "FULL_ACCESS", "TRADING_ONLY", NULL };
static const char *const key_scope_names[] = { "READ", "READ_WRITE", NULL };
static const char *const market_state_names[] = { "ACTIVE",      "POST_ONLY", "REDUCE_ONLY",
                                                  "CANCEL_ONLY", "HALTED",    "CLOSED",
                                                  NULL };
static const char *const outcome_names[] = { "SETTLED", "REVERTED", NULL };
static const char *const tick_names[] = { "TIME", "WORK", NULL };

/* The kinds with names: enums of one byte. */
enum {
    FIELD_ENUM_STP = FIELD_ENUM,
    FIELD_ENUM_OP = FIELD_ENUM,
    FIELD_ENUM_SIDES = FIELD_ENUM,
    FIELD_ENUM_ORDER_TYPE = FIELD_ENUM,
    FIELD_ENUM_TRIGGER_SOURCE = FIELD_ENUM,
    FIELD_ENUM_LIVE_TIF = FIELD_ENUM,
    FIELD_ENUM_SCOPE = FIELD_ENUM,
    FIELD_ENUM_KEY_SCOPE = FIELD_ENUM,
    FIELD_ENUM_MARKET_STATE = FIELD_ENUM,
    FIELD_ENUM_OUTCOME = FIELD_ENUM,
    FIELD_ENUM_TICK = FIELD_ENUM,
};

/* clang-format off */
#define NAMES_ENUM_STP            stp_names
#define NAMES_ENUM_OP            op_names
#define NAMES_ENUM_SIDES          sides_names
#define NAMES_ENUM_ORDER_TYPE     order_type_names
#define NAMES_ENUM_TRIGGER_SOURCE trigger_source_names
#define NAMES_ENUM_LIVE_TIF       live_tif_names
#define NAMES_ENUM_SCOPE          scope_names
#define NAMES_ENUM_KEY_SCOPE      key_scope_names
#define NAMES_ENUM_MARKET_STATE   market_state_names
#define NAMES_ENUM_OUTCOME        outcome_names
#define NAMES_ENUM_TICK           tick_names
#define NAMES_PORTFOLIO  NULL
#define NAMES_ACCOUNT    NULL
#define NAMES_COUNT64    NULL
#define NAMES_SIGNED64   NULL
#define NAMES_INDEX      NULL
#define NAMES_COUNT32    NULL
#define NAMES_COUNT16    NULL
#define NAMES_COUNT8     NULL
#define NAMES_BOOL       NULL
#define NAMES_PIN        NULL
#define NAMES_AMOUNT     NULL
#define NAMES_TIME       NULL
#define NAMES_EXPIRY     NULL
#define NAMES_PRICE      NULL
#define NAMES_QUANTITY   NULL
#define NAMES_SIZE       NULL
#define NAMES_ASSET      NULL
#define NAMES_UUID       NULL
#define NAMES_ADDRESS    NULL
#define NAMES_TEXT       NULL
#define NAMES_KEY        NULL
#define NAMES_HASH       NULL
#define NAMES_LENGTH     NULL
#define NAMES_CREDENTIAL NULL
#define NAMES_ITEMS      NULL
#define NAMES_DOCUMENT   NULL
#define NAMES_PAD        NULL
/* clang-format on */

#define ROW(field_name, field_kind, at, bytes) \
    { #field_name, NAMES_##field_kind, (at), (bytes), FIELD_##field_kind },
/* The sentinel keeps the table of a reserved code from being empty. */
#define X(name, code, signer, path, form, bytes, answer, built) \
    static const struct field fields_##name[] = { FIELDS_##name(ROW){ NULL, NULL, 0, 0, 0 } };
REQUEST_LIST(X)
#undef X
/* An item of a batch (code 8); offsets are from the start of the item. */
/* clang-format off */
#define FIELDS_BATCH_ITEM(F) \
    F(op, ENUM_OP, 0, 1) F(post_only, BOOL, 1, 1) F(reduce_only, BOOL, 2, 1) F(stp, ENUM_STP, 3, 1) \
    F(asset, ASSET, 4, 2) F(pad, PAD, 6, 2) F(price, PRICE, 8, 8) F(quantity, QUANTITY, 16, 8) \
    F(expiry, EXPIRY, 24, 8) F(order_id, UUID, 32, 16) F(expected_remaining, SIZE, 48, 8) \
    F(pad, PAD, 56, 8)
/* clang-format on */
static const struct field item_fields[] = { FIELDS_BATCH_ITEM(ROW) };
#undef ROW

/* The fields of a fixed body add up to its size: with ascending offsets there is no hole. */
#define ADD(field_name, kind, at, bytes) +(bytes)
#define X(name, code, signer, path, form, bytes, answer, built) \
    static_assert((bytes) == 0 || (bytes) == (0 FIELDS_##name(ADD)), #name " body size");
REQUEST_LIST(X)
#undef X
static_assert(FIELD_ITEM_BYTES == (0 FIELDS_BATCH_ITEM(ADD)), "batch item size");
#undef ADD

const struct field *field_table(uint32_t request_code, size_t *count)
{
    switch (request_code) {
#define X(name, code, signer, path, form, bytes, answer, built) \
    case code:                                                  \
        *count = CC_COUNT(fields_##name) - 1;                   \
        return fields_##name;
        REQUEST_LIST(X)
#undef X
    default:
        *count = 0;
        return NULL;
    }
}

const char *field_enum_name(const struct field *field, uint32_t value)
{
    INVARIANT(field->kind == FIELD_ENUM);
    for (uint32_t code = 0; field->names[code] != NULL; code++)
        if (code == value)
            return field->names[code];
    return NULL;
}

const struct field *field_batch_item(size_t *count)
{
    *count = CC_COUNT(item_fields);
    return item_fields;
}

const char *field_kind_name(enum field_kind kind)
{
    static const char *const names[] = {
        [FIELD_PORTFOLIO] = "portfolio",
        [FIELD_ACCOUNT] = "account",
        [FIELD_COUNT64] = "u64",
        [FIELD_SIGNED64] = "i64",
        [FIELD_INDEX] = "index",
        [FIELD_COUNT32] = "u32",
        [FIELD_COUNT16] = "u16",
        [FIELD_COUNT8] = "u8",
        [FIELD_BOOL] = "bool",
        [FIELD_PIN] = "pin",
        [FIELD_ENUM] = "enum",
        [FIELD_AMOUNT] = "amount",
        [FIELD_TIME] = "time",
        [FIELD_EXPIRY] = "expiry",
        [FIELD_PRICE] = "price",
        [FIELD_QUANTITY] = "quantity",
        [FIELD_SIZE] = "size",
        [FIELD_ASSET] = "asset",
        [FIELD_UUID] = "uuid",
        [FIELD_ADDRESS] = "address",
        [FIELD_TEXT] = "text",
        [FIELD_KEY] = "key",
        [FIELD_HASH] = "hash",
        [FIELD_LENGTH] = "length",
        [FIELD_CREDENTIAL] = "credential",
        [FIELD_ITEMS] = "items",
        [FIELD_DOCUMENT] = "document",
        [FIELD_PAD] = "pad",
    };
    INVARIANT((unsigned)kind < CC_COUNT(names));
    return names[kind];
}
