#include "net/json/json_pairing.h"

#include "net/json/json_field.h"

static const char *const statuses[] = { "PENDING", "DEPOSITED", "COMPLETED" };

/* The row, copied to be aligned. */
static struct row_pairing row_of(const struct reply *reply, const uint8_t *rows)
{
    struct row_pairing row;
    INVARIANT(sizeof row <= reply->row_bytes);
    memcpy(&row, rows, sizeof row);
    INVARIANT(sizeof row + row.text_bytes <= reply->row_bytes);
    return row;
}

static void write_id(struct writer *writer, const struct row_pairing *row)
{
    WRITER_TEXT(writer, "{\"pairing_id\":");
    writer_uuid(writer, row->id);
}

static void write_status(struct writer *writer, const struct row_pairing *row)
{
    write_id(writer, row);
    JSON_FIELD_WORD(writer, "status", JSON_FIELD_NAME_OF(statuses, row->status));
}

static void write_key(struct writer *writer, const struct row_pairing *row, const uint8_t *key,
                      size_t key_bytes)
{
    if (row->has_keys)
        writer_base64(writer, key, key_bytes);
    else
        WRITER_TEXT(writer, "null");
}

void json_pairing_opened(struct writer *writer, const uint8_t *rows,
                         const uint8_t token[JSON_PAIRING_TOKEN_BYTES])
{
    struct row_pairing row;
    memcpy(&row, rows, sizeof row);
    write_id(writer, &row);
    WRITER_TEXT(writer, ",\"write_token\":");
    writer_base64(writer, token, JSON_PAIRING_TOKEN_BYTES);
    WRITER_TEXT(writer, ",\"expires_at\":");
    writer_iso(writer, row.expires_ns);
    WRITER_TEXT(writer, "}");
}

void json_pairing_changed(struct writer *writer, const struct reply *reply, const uint8_t *rows)
{
    const struct row_pairing row = row_of(reply, rows);
    write_status(writer, &row);
    WRITER_TEXT(writer, "}");
}

void json_pairing_shown(struct writer *writer, const struct reply *reply, const uint8_t *rows)
{
    const struct row_pairing row = row_of(reply, rows);
    write_status(writer, &row);
    WRITER_TEXT(writer, ",\"ecdh_pub\":");
    write_key(writer, &row, row.ecdh, sizeof row.ecdh);
    WRITER_TEXT(writer, ",\"session_pub\":");
    write_key(writer, &row, row.session, sizeof row.session);
    WRITER_TEXT(writer, "}");
}

void json_pairing_result(struct writer *writer, const struct reply *reply, const uint8_t *rows)
{
    const struct row_pairing row = row_of(reply, rows);
    write_status(writer, &row);
    WRITER_TEXT(writer, ",\"ciphertext\":");
    if (row.text_bytes == 0)
        WRITER_TEXT(writer, "null");
    else
        writer_string(writer, (const char *)rows + sizeof row, row.text_bytes);
    WRITER_TEXT(writer, "}");
}
