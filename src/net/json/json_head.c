#include "net/json/json_head.h"

#include "base/base64.h"
#include "base/head_log.h"
#include "base/row_history.h"
#include "net/json/json_field.h"

void json_head_list(struct writer *writer, const struct reply *reply, const uint8_t *rows)
{
    WRITER_TEXT(writer, "{\"heads\":[");
    for (uint32_t i = 0; i < reply->row_count; i++) {
        if (i > 0)
            WRITER_TEXT(writer, ",");
        WRITER_TEXT(writer, "{\"head\":");
        writer_base64(writer, rows + (size_t)i * HEAD_LOG_BYTES, HEAD_LOG_BYTES);
        WRITER_TEXT(writer, "}");
    }
    WRITER_TEXT(writer, "]}");
}

/* Bytes of any number as one text. */
static void write_long(struct writer *writer, const uint8_t *bytes, size_t count)
{
    enum { PIECE = 240 }; /* a multiple of 3: no padding inside */
    char text[BASE64_TEXT_BYTES(PIECE) + 1];

    WRITER_TEXT(writer, "\"");
    for (size_t at = 0; at < count; at += PIECE) {
        size_t piece = count - at < PIECE ? count - at : PIECE;
        writer_bytes(writer, text, base64_encode(text, bytes + at, piece));
    }
    WRITER_TEXT(writer, "\"");
}

void json_head_receipt(struct writer *writer, const struct reply *reply, const uint8_t *rows)
{
    WRITER_TEXT(writer, "{\"receipt\":");
    write_long(writer, rows, reply->row_bytes);
    WRITER_TEXT(writer, "}");
}

void json_head_add_receipt(struct writer *writer, const uint8_t *bytes, size_t count)
{
    if (writer->full)
        return;
    INVARIANT(writer->at > writer->start && writer->at[-1] == '}');
    writer->at--;
    WRITER_TEXT(writer, ",\"receipt\":");
    if (bytes != NULL)
        write_long(writer, bytes, count);
    else
        WRITER_TEXT(writer, "null");
    WRITER_TEXT(writer, "}");
}

void json_head_frames(struct writer *writer, const struct reply *reply, const uint8_t *rows)
{
    struct row_frames row;

    memcpy(&row, rows, sizeof row);
    INVARIANT(sizeof row + row.bytes == reply->row_bytes);
    WRITER_TEXT(writer, "{\"first_frame\":");
    writer_uint(writer, row.first_frame);
    JSON_FIELD_UINT(writer, "last_frame", row.last_frame);
    JSON_FIELD_UINT(writer, "last_sequence", row.last_sequence);
    JSON_FIELD_UINT(writer, "segment", row.segment);
    JSON_FIELD_UINT(writer, "offset", row.offset);
    JSON_FIELD_UINT(writer, "block_bytes", row.block_bytes);
    JSON_FIELD_UINT(writer, "boot", row.boot);
    JSON_FIELD_UINT(writer, "first_length", row.first_length);
    WRITER_TEXT(writer, ",\"bytes\":");
    write_long(writer, rows + sizeof row, row.bytes);
    WRITER_TEXT(writer, "}");
}

void json_head_seal(struct writer *writer, const struct reply *reply, const uint8_t *rows)
{
    struct row_seal row;

    INVARIANT(reply->row_bytes == sizeof row);
    memcpy(&row, rows, sizeof row);
    WRITER_TEXT(writer, "{\"open_segment\":");
    writer_uint(writer, row.open_segment);
    JSON_FIELD_BOOL(writer, "sealed", row.sealed);
    WRITER_TEXT(writer, "}");
}
