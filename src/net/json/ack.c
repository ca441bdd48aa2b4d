#include "net/json/ack.h"

#include "base/command_hash.h"
#include "base/operator_rule.h"
#include "base/request.h"
#include "base/rule.h"
#include "net/json/json_field.h"
#include "net/json/json_order.h"

enum { SECRET_LENGTH = 32, NO_ORDER_STATUS = 255, DECIMALS = 6 };

static void write_reason(struct writer *writer, const struct answer *answer)
{
    uint32_t reason = answer->reason;
    /* W6: this reason comes exactly with this message. */
    if (answer->status == STATUS_session_rejected_max_sessions)
        reason = REASON_max_sessions_exceeded;
    const char *name = reason_name(reason);
    if (name == NULL)
        return;
    WRITER_TEXT(writer, ",\"reason\":\"");
    writer_text(writer, name);
    WRITER_TEXT(writer, "\"");
}

/* When a request that was refused for its account's rate may come again. */
static void write_retry(struct writer *writer, const struct answer *answer)
{
    if (answer->status == STATUS_rejected_rate_limited)
        JSON_FIELD_UINT(writer, "retry_after_ms", answer->retry_after_ms);
}

/* The rule that a refused operator code breaks, and the field that breaks it. */
static void write_rule(struct writer *writer, const struct answer *answer)
{
    if ((answer->members & ANSWER_HAS_ORIGINAL) != 0)
        return;
    const char *field = operator_rule_field(answer->rule);
    const char *rule = operator_rule_text(answer->rule);
    if (field == NULL || rule == NULL)
        return;
    JSON_FIELD_WORD(writer, "field", field);
    JSON_FIELD_WORD(writer, "rule", rule);
}

static void write_moment(struct writer *writer, const struct answer *answer)
{
    WRITER_TEXT(writer, ",\"processed_at_ns\":");
    writer_uint(writer, answer->processed_at_ns);
    if (answer->sequence != 0) {
        WRITER_TEXT(writer, ",\"sequence\":");
        writer_uint(writer, answer->sequence);
    }
}

static void write_original(struct writer *writer, const struct answer *answer)
{
    if ((answer->members & ANSWER_HAS_ORIGINAL) == 0)
        return;
    WRITER_TEXT(writer, ",\"original_status\":\"");
    writer_text(writer, status_name(answer->original_status));
    WRITER_TEXT(writer, "\",\"original_processed_at_ns\":");
    writer_uint(writer, answer->original_processed_at_ns);
}

static bool is_success(enum status status)
{
    switch (status) {
    case STATUS_request_completed:
    case STATUS_master_key_added:
    case STATUS_master_key_removed:
    case STATUS_session_created:
    case STATUS_session_revoked:
    case STATUS_account_created_with_session:
    case STATUS_account_created_session_failed:
        return true;
    default:
        return false;
    }
}

/* The outcome of each item of a batch, in item order. */
static void write_results(struct writer *writer, const struct answer *answer)
{
    if (answer->code != REQUEST_order_batch || answer->item_count == 0)
        return;
    INVARIANT(answer->item_count <= MESSAGE_ITEMS_MAX);
    INVARIANT(answer->members == 0); /* the results use their memory */
    WRITER_TEXT(writer, ",\"results\":[");
    for (unsigned i = 0; i < answer->item_count; i++) {
        if (i > 0)
            WRITER_TEXT(writer, ",");
        WRITER_TEXT(writer, "\"");
        writer_text(writer, status_name(answer->results[i]));
        WRITER_TEXT(writer, "\"");
    }
    WRITER_TEXT(writer, "]");
}

static void write_id(struct writer *writer, const struct answer *answer)
{
    switch (answer->code) {
    case REQUEST_create_api_key:
        WRITER_TEXT(writer, ",\"api_key_id\":");
        break;
    case REQUEST_login:
        WRITER_TEXT(writer, ",\"device_key_id\":");
        break;
    case REQUEST_withdraw:
        WRITER_TEXT(writer, ",\"withdrawal_id\":");
        break;
    default:
        WRITER_TEXT(writer, ",\"session_id\":");
        break;
    }
    writer_uuid(writer, answer->id);
}

/* Code 36: what the key is that signed. */
static void write_key(struct writer *writer, const struct answer *answer)
{
    bool is_admin = answer->portfolio_index == ACK_KEY_ADMIN;

    JSON_FIELD_WORD(writer, "kind", is_admin ? "ADMIN" : "SCOPED");
    if (is_admin)
        return;
    bool is_full = answer->portfolio_index == ACK_KEY_FULL_ACCESS;
    JSON_FIELD_WORD(writer, "scope", is_full ? "FULL_ACCESS" : "TRADING_ONLY");
    if (answer->subaccount_index != ACK_KEY_NO_PIN)
        JSON_FIELD_UINT(writer, "subaccount_index", answer->subaccount_index);
}

/* The ids that a request has created, in the order of J4. */
static void write_made(struct writer *writer, const struct answer *answer, const uint8_t *secret)
{
    bool is_device = answer->code == REQUEST_login;

    write_results(writer, answer);
    if (answer->members & ANSWER_HAS_ACCOUNT) {
        WRITER_TEXT(writer, ",\"account_id\":");
        writer_uint(writer, answer->account_id);
    }
    if (answer->code == REQUEST_find_account && (answer->members & ANSWER_HAS_ACCOUNT))
        write_key(writer, answer);
    if (answer->members & ANSWER_HAS_ID)
        write_id(writer, answer);
    if (secret != NULL && ack_shows_secret(answer)) {
        writer_text(writer, is_device ? ",\"device_key\":" : ",\"api_key\":");
        writer_base64(writer, secret, SECRET_LENGTH);
    }
    if (answer->members & ANSWER_HAS_EXPIRY) {
        WRITER_TEXT(writer, ",\"expires_at\":");
        writer_iso(writer, answer->expires_at_ns);
    }
    if (answer->members & ANSWER_HAS_INDEXES) {
        if (answer->code == REQUEST_create_subaccount)
            JSON_FIELD_UINT(writer, "subaccount_index", answer->subaccount_index);
        JSON_FIELD_UINT(writer, "portfolio_index", answer->portfolio_index);
    }
}

static bool has_order(const struct answer *answer)
{
    return (answer->members & ANSWER_HAS_ORDER) != 0 && (answer->members & ANSWER_HAS_MARKET) != 0;
}

static void write_order(struct writer *writer, const struct answer *answer)
{
    if (!has_order(answer)) {
        WRITER_TEXT(writer, ",\"order_status\":null,\"remaining_size\":null,"
                            "\"filled_size\":null,\"average_price\":null,"
                            "\"quantity_ahead\":null,\"book_handle\":null");
        return;
    }
    INVARIANT(answer->price_decimals <= DECIMALS); /* W1 */
    unsigned size_decimals = DECIMALS - (unsigned)answer->price_decimals;
    JSON_FIELD_WORD(writer, "order_status", json_order_status(answer->order_status));
    JSON_FIELD_DECIMAL(writer, "remaining_size", answer->remaining, size_decimals);
    JSON_FIELD_DECIMAL(writer, "filled_size", answer->filled, size_decimals);
    if (answer->filled == 0)
        WRITER_TEXT(writer, ",\"average_price\":null");
    else
        json_field_average(writer, "average_price", answer->filled_notional, answer->filled,
                           answer->price_decimals);
    if (answer->members & ANSWER_HAS_AHEAD)
        JSON_FIELD_DECIMAL(writer, "quantity_ahead", answer->quantity_ahead, size_decimals);
    else
        WRITER_TEXT(writer, ",\"quantity_ahead\":null");
    json_order_handle(writer, answer->book_handle);
}

static void write_market(struct writer *writer, const struct answer *answer)
{
    if ((answer->members & ANSWER_HAS_MARKET) == 0) {
        WRITER_TEXT(writer, ",\"best_bid\":null,\"best_ask\":null,\"book_seq\":null");
        return;
    }
    JSON_FIELD_DECIMAL_OR_NULL(writer, "best_bid", answer->best_bid, answer->price_decimals);
    JSON_FIELD_DECIMAL_OR_NULL(writer, "best_ask", answer->best_ask, answer->price_decimals);
    JSON_FIELD_UINT(writer, "book_seq", answer->book_seq);
}

static void write_stages(struct writer *writer, const struct ack_stages *stages)
{
    WRITER_TEXT(writer, ",\"timing_ns\":{\"verified\":");
    writer_uint(writer, stages->verified_ns);
    JSON_FIELD_UINT(writer, "sequenced", stages->sequenced_ns);
    JSON_FIELD_UINT(writer, "matched", stages->matched_ns);
    JSON_FIELD_UINT(writer, "ack", stages->ack_ns);
    WRITER_TEXT(writer, "}");
}

bool ack_shows_secret(const struct answer *answer)
{
    return command_secret_bytes(answer->code) != 0 && answer->status == STATUS_request_completed;
}

void ack_write_logout(struct writer *writer, const struct answer *answer)
{
    WRITER_TEXT(writer, "{\"device_key_deleted\":");
    writer_bool(writer, (answer->members & ANSWER_HAS_ORIGINAL) == 0 &&
                            (answer->members & ANSWER_HAS_ID) != 0);
    JSON_FIELD_BOOL(writer, "session_revoked", answer->status == STATUS_session_revoked);
    WRITER_TEXT(writer, "}");
}

bool ack_has_evidence(uint16_t code)
{
    return code <= REQUEST_order_batch;
}

void ack_write(struct writer *writer, const struct answer *answer, const uint8_t *secret,
               const struct ack_stages *stages)
{
    const struct request *request = request_find(answer->code);
    INVARIANT(request != NULL);
    if (request->answer == ANSWER_ACK) {
        WRITER_TEXT(writer, "{\"status\":\"");
        writer_text(writer, status_name(answer->status));
        WRITER_TEXT(writer, "\"");
        write_moment(writer, answer);
        write_reason(writer, answer);
        write_rule(writer, answer);
        write_retry(writer, answer);
    } else {
        WRITER_TEXT(writer, "{\"success\":");
        writer_bool(writer, is_success(answer->status));
        WRITER_TEXT(writer, ",\"message\":\"");
        writer_text(writer, status_name(answer->status));
        WRITER_TEXT(writer, "\"");
        write_reason(writer, answer);
        write_moment(writer, answer);
        write_retry(writer, answer);
    }
    write_original(writer, answer);
    write_made(writer, answer, secret);
    if (stages != NULL && ack_has_evidence(answer->code)) {
        write_order(writer, answer);
        write_market(writer, answer);
        write_stages(writer, stages);
    }
    WRITER_TEXT(writer, "}");
}

static uint64_t binary_ahead(const struct answer *answer)
{
    if (answer->members & ANSWER_HAS_AHEAD)
        return answer->quantity_ahead;
    return answer->book_handle != 0 ? UINT64_MAX : 0;
}

static uint32_t binary_ns(uint64_t ns)
{
    return ns > UINT32_MAX ? UINT32_MAX : (uint32_t)ns;
}

void ack_write_binary(struct writer *writer, const struct answer *answer,
                      const uint8_t request_id[16], const struct ack_stages *stages)
{
    uint8_t bytes[ACK_BINARY_BYTES] = { 0 };
    cc_store16(bytes, answer->status);
    bytes[2] = NO_ORDER_STATUS;
    bytes[3] = ACK_BINARY_VERSION;
    cc_store64(bytes + 8, answer->processed_at_ns);
    cc_store64(bytes + 16, answer->sequence);
    memcpy(bytes + 24, request_id, 16);
    if (has_order(answer)) {
        bytes[2] = answer->order_status;
        cc_store64(bytes + 40, answer->remaining);
        cc_store64(bytes + 48, binary_ahead(answer));
    }
    cc_store32(bytes + 56, binary_ns(stages->verified_ns));
    cc_store32(bytes + 60, binary_ns(stages->matched_ns));
    writer_bytes(writer, bytes, sizeof bytes);
}

enum status ack_unauthorized(uint16_t code)
{
    switch (code) {
    case REQUEST_add_admin_secp256k1_master_key:
    case REQUEST_remove_admin_secp256k1_master_key:
    case REQUEST_add_admin_passkey_master_key:
    case REQUEST_remove_admin_passkey_master_key:
    case REQUEST_add_scoped_secp256k1_master_key:
    case REQUEST_remove_scoped_secp256k1_master_key:
    case REQUEST_add_scoped_passkey_master_key:
    case REQUEST_remove_scoped_passkey_master_key:
        return STEP_STATUS(key_of_key_codes);
    case REQUEST_create_session:
    case REQUEST_revoke_session:
    case REQUEST_revoke_all_sessions:
    case REQUEST_login:
        return STEP_STATUS(key_of_session_codes);
    default:
        return STEP_STATUS(key_absent);
    }
}
