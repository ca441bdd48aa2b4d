#include "net/json/json_credential.h"

#include "net/json/json_field.h"

static const char *const session_scopes[] = { "FULL_ACCESS", "TRADING_ONLY" };
static const char *const key_scopes[] = { "READ", "READ_WRITE" };

static void write_pin(struct writer *writer, int32_t pin)
{
    if (pin >= 0)
        JSON_FIELD_UINT(writer, "subaccount_index", (uint32_t)pin);
}

void json_credential_session(struct writer *writer, const struct row_session *row)
{
    WRITER_TEXT(writer, "{\"created_at\":");
    writer_iso(writer, row->created_ns);
    WRITER_TEXT(writer, ",\"expires_at\":");
    writer_iso(writer, row->expires_ns);
    JSON_FIELD_UUID(writer, "session_id", row->id);
    WRITER_TEXT(writer, ",\"session_public_key\":");
    writer_base64(writer, row->key, sizeof row->key);
    JSON_FIELD_WORD(writer, "scope", JSON_FIELD_NAME_OF(session_scopes, row->scope));
    if (row->has_master) {
        WRITER_TEXT(writer, ",\"master_public_key\":");
        writer_base64(writer, row->master, sizeof row->master);
    }
    write_pin(writer, row->pin);
    WRITER_TEXT(writer, "}");
}

static void write_api_key(struct writer *writer, const struct row_api_key *row)
{
    WRITER_TEXT(writer, "{\"api_key_id\":");
    writer_uuid(writer, row->id);
    JSON_FIELD_WORD(writer, "scope", JSON_FIELD_NAME_OF(key_scopes, row->scope));
    write_pin(writer, row->pin);
    if (row->label[0] != '\0')
        JSON_FIELD_TEXT(writer, "label", row->label);
    WRITER_TEXT(writer, ",\"created_at\":");
    writer_iso(writer, row->created_ns);
    WRITER_TEXT(writer, "}");
}

static void write_device_key(struct writer *writer, const struct row_api_key *row)
{
    WRITER_TEXT(writer, "{\"device_key_id\":");
    writer_uuid(writer, row->id);
    write_pin(writer, row->pin);
    WRITER_TEXT(writer, ",\"created_at\":");
    writer_iso(writer, row->created_ns);
    WRITER_TEXT(writer, ",\"expires_at\":");
    writer_iso(writer, row->expires_ns);
    WRITER_TEXT(writer, "}");
}

static void write_master_key(struct writer *writer, const struct row_master_key *row)
{
    WRITER_TEXT(writer, "{\"public_key\":");
    writer_base64(writer, row->key, sizeof row->key);
    JSON_FIELD_WORD(writer, "curve", row->is_passkey ? "PASSKEY" : "SECP256K1");
    JSON_FIELD_WORD(writer, "kind", row->is_admin ? "ADMIN" : "SCOPED");
    if (row->is_passkey) {
        WRITER_TEXT(writer, ",\"credential_id\":");
        writer_base64(writer, row->id, row->id_bytes);
    }
    if (!row->is_admin) {
        JSON_FIELD_WORD(writer, "scope", JSON_FIELD_NAME_OF(session_scopes, row->scope));
        write_pin(writer, row->pin);
    }
    WRITER_TEXT(writer, ",\"created_at\":");
    writer_iso(writer, row->created_ns);
    WRITER_TEXT(writer, "}");
}

void json_credential_master_keys(struct writer *writer, const struct reply *reply,
                                 const uint8_t *rows)
{
    INVARIANT(reply->row_count * sizeof(struct row_master_key) <= reply->row_bytes);
    WRITER_TEXT(writer, "{\"master_keys\":[");
    for (uint32_t i = 0; i < reply->row_count; i++) {
        struct row_master_key row;
        memcpy(&row, rows + i * sizeof row, sizeof row);
        if (i > 0)
            WRITER_TEXT(writer, ",");
        write_master_key(writer, &row);
    }
    WRITER_TEXT(writer, "]}");
}

void json_credential_api_keys(struct writer *writer, const struct reply *reply, const uint8_t *rows)
{
    bool in_devices = false, is_first = true;

    INVARIANT(reply->row_count * sizeof(struct row_api_key) <= reply->row_bytes);
    WRITER_TEXT(writer, "{\"api_keys\":[");
    for (uint32_t i = 0; i < reply->row_count; i++) {
        struct row_api_key row;
        memcpy(&row, rows + i * sizeof row, sizeof row);
        if (row.is_device && !in_devices) {
            WRITER_TEXT(writer, "],\"device_keys\":[");
            in_devices = is_first = true;
        }
        if (!is_first)
            WRITER_TEXT(writer, ",");
        is_first = false;
        if (row.is_device)
            write_device_key(writer, &row);
        else
            write_api_key(writer, &row);
    }
    if (!in_devices)
        WRITER_TEXT(writer, "],\"device_keys\":[");
    WRITER_TEXT(writer, "]}");
}
