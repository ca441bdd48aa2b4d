/* field.h - every field of every request body: name, kind, offset, size (wire.md W3, W3a, W3b).
 *
 * One table serves decoding, the dump of a payload, the EIP-712 types (W4), generated documents and
 * clients. A list covers its body, pads included: a hole or overlap does not compile (field.c). */
#ifndef BASE_FIELD_H
#define BASE_FIELD_H

#include "base/compiler.h"

enum field_kind {
    FIELD_PORTFOLIO,  /* account u64, subaccount u32, portfolio u32 */
    FIELD_ACCOUNT,    /* account id, u64 */
    FIELD_COUNT64,    /* plain u64 */
    FIELD_SIGNED64,   /* plain i64 */
    FIELD_INDEX,      /* u32 */
    FIELD_COUNT32,    /* u32 */
    FIELD_COUNT16,    /* u16 */
    FIELD_COUNT8,     /* u8 */
    FIELD_BOOL,       /* u8, 0 or 1 */
    FIELD_PIN,        /* i32, -1 = none */
    FIELD_ENUM,       /* u8, names in `names` */
    FIELD_AMOUNT,     /* u64 micro-USDC */
    FIELD_TIME,       /* u64 unix ns */
    FIELD_EXPIRY,     /* u64: 0 IOC, 1 FOK, max GTC, else unix ns */
    FIELD_PRICE,      /* u64 raw */
    FIELD_QUANTITY,   /* i64 raw, the sign is the side */
    FIELD_SIZE,       /* u64 raw */
    FIELD_ASSET,      /* u16 market id */
    FIELD_UUID,       /* 16 bytes */
    FIELD_ADDRESS,    /* 20 bytes */
    FIELD_TEXT,       /* UTF-8, zero-padded */
    FIELD_KEY,        /* 32 or 33 bytes */
    FIELD_HASH,       /* 32 bytes */
    FIELD_LENGTH,     /* u16 length of the variable field that follows */
    FIELD_CREDENTIAL, /* credential id, length in the field before, zero-padded */
    FIELD_ITEMS,      /* batch items of 64 bytes */
    FIELD_DOCUMENT,   /* UTF-8 text to the end of the body, zero-padded */
    FIELD_PAD,        /* zeros */
};

struct field {
    const char *name;         /* snake_case */
    const char *const *names; /* FIELD_ENUM: NULL-terminated names by code, else NULL */
    uint16_t offset;          /* from the start of the body */
    uint16_t size;            /* bytes; 0: to the end of the body */
    uint8_t kind;             /* enum field_kind */
};

/* clang-format off */
#define FIELDS_place_limit_order(F) \
    F(portfolio_id, PORTFOLIO, 0, 16) F(price, PRICE, 16, 8) F(quantity, QUANTITY, 24, 8) \
    F(expiry, EXPIRY, 32, 8) F(post_only, BOOL, 40, 1) F(reduce_only, BOOL, 41, 1) \
    F(stp, ENUM_STP, 42, 1) F(pad, PAD, 43, 1) F(asset, ASSET, 44, 2) F(pad, PAD, 46, 2)
#define FIELDS_order_reduction(F) \
    F(portfolio_id, PORTFOLIO, 0, 16) F(order_id, UUID, 16, 16) F(reduce_by, SIZE, 32, 8) \
    F(expected_remaining, SIZE, 40, 8) F(asset, ASSET, 48, 2) F(pad, PAD, 50, 6)
#define FIELDS_order_replacement(F) \
    F(portfolio_id, PORTFOLIO, 0, 16) F(order_id, UUID, 16, 16) F(price, PRICE, 32, 8) \
    F(quantity, QUANTITY, 40, 8) F(expiry, EXPIRY, 48, 8) F(post_only, BOOL, 56, 1) \
    F(reduce_only, BOOL, 57, 1) F(stp, ENUM_STP, 58, 1) F(pad, PAD, 59, 1) F(asset, ASSET, 60, 2) \
    F(pad, PAD, 62, 2) F(expected_remaining, SIZE, 64, 8)
#define FIELDS_order_cancel(F) \
    F(portfolio_id, PORTFOLIO, 0, 16) F(order_id, UUID, 16, 16) F(asset, ASSET, 32, 2) \
    F(pad, PAD, 34, 6)
#define FIELDS_cancel_all_orders(F) \
    F(portfolio_id, PORTFOLIO, 0, 16) F(asset, ASSET, 16, 2) F(pad, PAD, 18, 2) \
    F(side, ENUM_SIDES, 20, 1) F(include_conditional, BOOL, 21, 1) F(pad, PAD, 22, 2)
#define FIELDS_place_market_order(F) \
    F(portfolio_id, PORTFOLIO, 0, 16) F(quantity, QUANTITY, 16, 8) \
    F(max_slippage_ppm, COUNT32, 24, 4) F(asset, ASSET, 28, 2) F(pad, PAD, 30, 2) \
    F(reduce_only, BOOL, 32, 1) F(stp, ENUM_STP, 33, 1) F(pad, PAD, 34, 6)
#define FIELDS_place_conditional_order(F) \
    F(portfolio_id, PORTFOLIO, 0, 16) F(trigger_price, PRICE, 16, 8) F(price, PRICE, 24, 8) \
    F(quantity, QUANTITY, 32, 8) F(expiry, EXPIRY, 40, 8) F(post_only, BOOL, 48, 1) \
    F(reduce_only, BOOL, 49, 1) F(stp, ENUM_STP, 50, 1) F(order_type, ENUM_ORDER_TYPE, 51, 1) \
    F(asset, ASSET, 52, 2) F(pad, PAD, 54, 2) F(max_slippage_ppm, COUNT32, 56, 4) \
    F(trigger_source, ENUM_TRIGGER_SOURCE, 60, 1) F(live_tif, ENUM_LIVE_TIF, 61, 1) \
    F(pad, PAD, 62, 2) F(oco_group, UUID, 64, 16)
#define FIELDS_conditional_order_cancel(F) FIELDS_order_cancel(F)
#define FIELDS_order_batch(F) \
    F(portfolio_id, PORTFOLIO, 0, 16) F(count, COUNT16, 16, 2) F(atomic, BOOL, 18, 1) \
    F(pad, PAD, 19, 5) F(items, ITEMS, 24, 0)
#define FIELDS_transfer(F) \
    F(from, PORTFOLIO, 0, 16) F(to, PORTFOLIO, 16, 16) F(amount, AMOUNT, 32, 8)
#define FIELDS_withdraw(F) \
    F(portfolio_id, PORTFOLIO, 0, 16) F(amount, AMOUNT, 16, 8) F(destination, ADDRESS, 24, 20) \
    F(pad, PAD, 44, 4)
#define FIELDS_create_account_secp256k1(F) \
    F(session_pub, KEY, 0, 32) F(session_expires_at, TIME, 32, 8) F(label, TEXT, 40, 32) \
    F(session_scope, ENUM_SCOPE, 72, 1) F(pad, PAD, 73, 7)
#define FIELDS_create_account_passkey(F) FIELDS_create_account_secp256k1(F)
#define FIELDS_create_session(F) \
    F(account_id, ACCOUNT, 0, 8) F(session_pub, KEY, 8, 32) F(expires_at, TIME, 40, 8) \
    F(subaccount_pin, PIN, 48, 4) F(scope, ENUM_SCOPE, 52, 1) F(pad, PAD, 53, 3)
#define FIELDS_revoke_session(F) F(account_id, ACCOUNT, 0, 8) F(session_pub, KEY, 8, 32)
#define FIELDS_revoke_all_sessions(F) F(account_id, ACCOUNT, 0, 8)
#define FIELDS_add_admin_secp256k1_master_key(F) \
    F(account_id, ACCOUNT, 0, 8) F(public_key, KEY, 8, 33) F(pad, PAD, 41, 7)
#define FIELDS_remove_admin_secp256k1_master_key(F) FIELDS_add_admin_secp256k1_master_key(F)
#define FIELDS_reserved_18(F)
#define FIELDS_add_admin_passkey_master_key(F) \
    F(account_id, ACCOUNT, 0, 8) F(public_key, KEY, 8, 33) F(pad, PAD, 41, 1) \
    F(credential_id_len, LENGTH, 42, 2) F(credential_id, CREDENTIAL, 44, 0)
#define FIELDS_remove_admin_passkey_master_key(F) FIELDS_add_admin_secp256k1_master_key(F)
#define FIELDS_reserved_21(F)
#define FIELDS_create_subaccount(F) F(account_id, ACCOUNT, 0, 8)
#define FIELDS_close_subaccount(F) \
    F(account_id, ACCOUNT, 0, 8) F(subaccount_index, INDEX, 8, 4) F(pad, PAD, 12, 4)
#define FIELDS_create_portfolio(F) \
    F(account_id, ACCOUNT, 0, 8) F(subaccount_index, INDEX, 8, 4) F(pad, PAD, 12, 4) \
    F(name, TEXT, 16, 32)
#define FIELDS_schedule_cancel_all(F) F(portfolio_id, PORTFOLIO, 0, 16) F(deadline_ns, TIME, 16, 8)
#define FIELDS_set_mmp(F) \
    F(portfolio_id, PORTFOLIO, 0, 16) F(asset, ASSET, 16, 2) F(pad, PAD, 18, 2) \
    F(window_ms, COUNT32, 20, 4) F(frozen_ms, COUNT32, 24, 4) F(pad, PAD, 28, 4) \
    F(max_quantity, SIZE, 32, 8) F(max_net_quantity, SIZE, 40, 8)
#define FIELDS_reset_mmp(F) \
    F(portfolio_id, PORTFOLIO, 0, 16) F(asset, ASSET, 16, 2) F(pad, PAD, 18, 6)
#define FIELDS_add_scoped_secp256k1_master_key(F) \
    F(account_id, ACCOUNT, 0, 8) F(subaccount_index, PIN, 8, 4) F(scope, ENUM_SCOPE, 12, 1) \
    F(pad, PAD, 13, 3) F(public_key, KEY, 16, 33) F(pad, PAD, 49, 7)
#define FIELDS_remove_scoped_secp256k1_master_key(F) FIELDS_add_admin_secp256k1_master_key(F)
#define FIELDS_add_scoped_passkey_master_key(F) \
    F(account_id, ACCOUNT, 0, 8) F(subaccount_index, PIN, 8, 4) F(scope, ENUM_SCOPE, 12, 1) \
    F(pad, PAD, 13, 3) F(public_key, KEY, 16, 33) F(pad, PAD, 49, 1) \
    F(credential_id_len, LENGTH, 50, 2) F(credential_id, CREDENTIAL, 52, 0)
#define FIELDS_remove_scoped_passkey_master_key(F) FIELDS_add_admin_secp256k1_master_key(F)
#define FIELDS_close_account(F) F(account_id, ACCOUNT, 0, 8)
#define FIELDS_login(F) \
    F(account_id, ACCOUNT, 0, 8) F(expires_at, TIME, 8, 8) F(subaccount_pin, PIN, 16, 4) \
    F(pad, PAD, 20, 4)
#define FIELDS_create_api_key(F) \
    F(account_id, ACCOUNT, 0, 8) F(subaccount_pin, PIN, 8, 4) F(scope, ENUM_KEY_SCOPE, 12, 1) \
    F(pad, PAD, 13, 3) F(label, TEXT, 16, 32)
#define FIELDS_revoke_api_key(F) F(account_id, ACCOUNT, 0, 8) F(api_key_id, UUID, 8, 16)
#define FIELDS_find_account(F) F(pad, PAD, 0, 8)
#define FIELDS_oracle_price(F) \
    F(publish_ts_ns, TIME, 0, 8) F(index_price, PRICE, 8, 8) F(asset, ASSET, 16, 2) \
    F(pad, PAD, 18, 2) F(source_count, COUNT16, 20, 2) F(pad, PAD, 22, 2)
#define FIELDS_market_define(F) F(record, DOCUMENT, 0, 0)
#define FIELDS_market_state(F) \
    F(asset, ASSET, 0, 2) F(pad, PAD, 2, 2) F(state, ENUM_MARKET_STATE, 4, 1) F(force, BOOL, 5, 1) \
    F(pad, PAD, 6, 2)
#define FIELDS_deposit_credit(F) \
    F(portfolio_id, PORTFOLIO, 0, 16) F(amount, AMOUNT, 16, 8) F(external_ref, HASH, 24, 32)
#define FIELDS_withdrawal_settle(F) \
    F(withdrawal_id, UUID, 0, 16) F(outcome, ENUM_OUTCOME, 16, 1) F(pad, PAD, 17, 7)
#define FIELDS_suspend_account(F) \
    F(account_id, ACCOUNT, 0, 8) F(suspended, BOOL, 8, 1) F(pad, PAD, 9, 7)
#define FIELDS_fund_top_up(F) F(amount, AMOUNT, 0, 8)
#define FIELDS_operator_cancel(F) FIELDS_order_cancel(F)
#define FIELDS_halt_all(F) F(state, ENUM_MARKET_STATE, 0, 1) F(pad, PAD, 1, 7)
#define FIELDS_set_fee_tier(F) F(account_id, ACCOUNT, 0, 8) F(tier, COUNT8, 8, 1) F(pad, PAD, 9, 7)
#define FIELDS_index_accept(F) F(index_price, PRICE, 0, 8) F(asset, ASSET, 8, 2) F(pad, PAD, 10, 6)
#define FIELDS_clock_confirm(F) F(gap_ns, SIGNED64, 0, 8) F(pad, PAD, 8, 8)
#define FIELDS_tick(F) F(kind, ENUM_TICK, 0, 1) F(pad, PAD, 1, 7)
#define FIELDS_set_leverage(F) \
    F(credential_id, UUID, 0, 16) F(portfolio_id, PORTFOLIO, 16, 16) F(leverage, COUNT32, 32, 4) \
    F(asset, ASSET, 36, 2) F(pad, PAD, 38, 2)
#define FIELDS_portfolio_close(F) F(credential_id, UUID, 0, 16) F(portfolio_id, PORTFOLIO, 16, 16)
#define FIELDS_portfolio_reopen(F) FIELDS_portfolio_close(F)
#define FIELDS_faucet_credit(F) \
    F(credential_id, UUID, 0, 16) F(portfolio_id, PORTFOLIO, 16, 16) F(amount, AMOUNT, 32, 8)
#define FIELDS_rename_portfolio(F) \
    F(credential_id, UUID, 0, 16) F(portfolio_id, PORTFOLIO, 16, 16) F(name, TEXT, 32, 32)
#define FIELDS_cancel_on_disconnect(F) F(arm_id, UUID, 0, 16)
#define FIELDS_disconnect_arm(F) \
    F(arm_id, UUID, 0, 16) F(credential_id, UUID, 16, 16) F(account_id, ACCOUNT, 32, 8) \
    F(subaccount_index, INDEX, 40, 4) F(grace_ms, COUNT32, 44, 4) F(armed, BOOL, 48, 1) \
    F(pad, PAD, 49, 7)
#define FIELDS_configuration(F) F(options, DOCUMENT, 0, 0)
#define FIELDS_boot(F) F(boot, COUNT64, 0, 8) F(rules_version, COUNT32, 8, 4) \
    F(pad, PAD, 12, 4) F(clock_step_ns, SIGNED64, 16, 8)
#define FIELDS_effects_hash(F) F(sequence, COUNT64, 0, 8) F(hash, HASH, 8, 32)
#define FIELDS_lead(F) F(term, COUNT64, 0, 8) F(epoch, COUNT64, 8, 8) F(node, TEXT, 16, 16) \
    F(previous_term, COUNT64, 32, 8) F(last_frame, COUNT64, 40, 8) F(cause, COUNT8, 48, 1) \
    F(pad, PAD, 49, 7) F(clock_difference_ns, SIGNED64, 56, 8)
#define FIELDS_restored(F) F(old_journal_id, UUID, 0, 16) F(sequence, COUNT64, 16, 8) \
    F(frame, COUNT64, 24, 8) F(frame_hash, HASH, 32, 32) F(reason, TEXT, 64, 64)
#define FIELDS_signing_key(F) F(public_key, KEY, 0, 32) F(signature, KEY, 32, 64)
/* clang-format on */
enum { FIELD_ITEM_BYTES = 64 };

/* Return the fields of a body, or of an item of a batch (code 8), in ascending offset, with pads,
 * and store their number in *count. NULL for a code outside request.h. Static storage. */
const struct field *field_table(uint32_t request_code, size_t *count);
const struct field *field_batch_item(size_t *count);

/* Return the name of a kind: "u64", "price", "pad"; and of an enum field's value, NULL for none.
 * Static storage. */
const char *field_kind_name(enum field_kind kind);
const char *field_enum_name(const struct field *field, uint32_t value);

/* Returns the bytes of `field` in a body of body_bytes: its size; for 0, the rest of the body. */
static inline size_t field_bytes(const struct field *field, size_t body_bytes)
{
    return field->size != 0 ? field->size : body_bytes - field->offset;
}

#endif
