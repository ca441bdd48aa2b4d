#include "net/ack.h"

#include "base/request.h"

enum { SECRET_LENGTH = 32 };

static void write_reason(struct writer *writer, const struct answer *answer)
{
    uint32_t reason = answer->reason;
    /* W6: this reason stands exactly with this message. */
    if (answer->status == STATUS_session_rejected_max_sessions)
        reason = REASON_max_sessions_exceeded;
    const char *name = reason_name(reason);
    if (name == NULL)
        return;
    WRITER_TEXT(writer, ",\"reason\":\"");
    writer_text(writer, name);
    WRITER_TEXT(writer, "\"");
}

static void write_place(struct writer *writer, const struct answer *answer)
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

/* The identifiers that codes 11 to 13 and 34 carry, in the order of J4. */
static void write_made(struct writer *writer, const struct answer *answer, const uint8_t *secret)
{
    bool is_key = answer->code == REQUEST_create_api_key;
    if (answer->members & ANSWER_HAS_ACCOUNT) {
        WRITER_TEXT(writer, ",\"account_id\":");
        writer_uint(writer, answer->account_id);
    }
    if (answer->members & ANSWER_HAS_ID) {
        if (is_key)
            WRITER_TEXT(writer, ",\"api_key_id\":");
        else
            WRITER_TEXT(writer, ",\"session_id\":");
        writer_uuid(writer, answer->id);
    }
    if (is_key && secret != NULL && answer->status == STATUS_request_completed) {
        WRITER_TEXT(writer, ",\"api_key\":");
        writer_base64(writer, secret, SECRET_LENGTH);
    }
    if (answer->members & ANSWER_HAS_EXPIRY) {
        WRITER_TEXT(writer, ",\"expires_at\":");
        writer_iso(writer, answer->expires_at_ns);
    }
}

void ack_write(struct writer *writer, const struct answer *answer, const uint8_t *secret)
{
    const struct request *request = request_find(answer->code);
    INVARIANT(request != NULL);
    if (request->answer == ANSWER_ACK) {
        WRITER_TEXT(writer, "{\"status\":\"");
        writer_text(writer, status_name(answer->status));
        WRITER_TEXT(writer, "\"");
        write_place(writer, answer);
        write_reason(writer, answer);
    } else {
        WRITER_TEXT(writer, "{\"success\":");
        writer_bool(writer, is_success(answer->status));
        WRITER_TEXT(writer, ",\"message\":\"");
        writer_text(writer, status_name(answer->status));
        WRITER_TEXT(writer, "\"");
        write_reason(writer, answer);
        write_place(writer, answer);
    }
    write_original(writer, answer);
    write_made(writer, answer, secret);
    WRITER_TEXT(writer, "}");
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
        return STATUS_master_key_rejected_unauthorized;
    case REQUEST_create_session:
    case REQUEST_revoke_session:
    case REQUEST_revoke_all_sessions:
    case REQUEST_login:
        return STATUS_session_rejected;
    default:
        return STATUS_rejected_unauthorized;
    }
}
