#include "perp/print/record_text.h"

#include <inttypes.h>
#include <jansson.h>

#include "base/dump.h"
#include "base/field.h"
#include "base/hex.h"
#include "base/request.h"
#include "base/text.h"
#include "base/timestamp.h"

static const char *const kinds[] = { "unsigned", "signed", "passkey" };

void record_text_time(uint64_t t_ns, char text[RECORD_TEXT_TIME_BYTES])
{
    char milliseconds[TIMESTAMP_TEXT_BYTES + 1];
    timestamp_format_ms(t_ns / 1000000, milliseconds);
    /* The last character, Z, moves after the six further digits. */
    snprintf(text, RECORD_TEXT_TIME_BYTES, "%.*s%06uZ", TIMESTAMP_TEXT_BYTES - 1, milliseconds,
             (unsigned)(t_ns % 1000000));
}

const char *record_text_code(uint32_t code)
{
    const struct request *request = request_find(code);
    return request != NULL ? request->name : "?";
}

/* The body of a record: after Header and RequestId if it is signed. */
static const uint8_t *body_of(const struct record_view *record, size_t *count)
{
    size_t at = record->kind == RECORD_UNSIGNED ? 0 : REQUEST_BODY_AT;
    if (record->payload_bytes < at)
        at = record->payload_bytes;
    *count = record->payload_bytes - at;
    return record->payload + at;
}

bool record_text_names(const struct record_view *record, uint64_t account)
{
    size_t body_bytes, count;
    const uint8_t *body = body_of(record, &body_bytes);
    const struct field *fields = field_table(record->code, &count);
    for (size_t i = 0; fields != NULL && i < count; i++) {
        if ((fields[i].kind == FIELD_PORTFOLIO || fields[i].kind == FIELD_ACCOUNT) &&
            fields[i].offset + sizeof(uint64_t) <= body_bytes &&
            cc_load64(body + fields[i].offset) == account)
            return true;
    }
    return false;
}

static bool is_shown(const struct dump_row *row)
{
    return strcmp(row->kind, "pad") != 0;
}

/* A document whole, where dump.h shows its beginning; `text` has a byte more than the row. Line
 * breaks become blanks in a line. */
static const char *value_of(const uint8_t *bytes, const struct dump_row *row, bool is_line,
                            char text[REQUEST_BODY_MAX + 1])
{
    if (strcmp(row->kind, "document") != 0 || row->size > REQUEST_BODY_MAX ||
        !text_field_is_valid((const char *)bytes, row->size))
        return row->value;
    size_t count = text_trim((const char *)bytes, row->size);
    memcpy(text, bytes, count);
    text[count] = '\0';
    for (size_t i = 0; is_line && i < count; i++)
        text[i] = (unsigned char)text[i] < ' ' ? ' ' : text[i];
    return text;
}

static void to_object(void *context, const uint8_t *bytes, const struct dump_row *row)
{
    char text[REQUEST_BODY_MAX + 1];
    if (is_shown(row))
        (void)json_object_set_new(context, row->name,
                                  json_string(value_of(bytes, row, false, text)));
}

static void to_line(void *context, const uint8_t *bytes, const struct dump_row *row)
{
    char text[REQUEST_BODY_MAX + 1];
    bool is_head = strcmp(row->name, "version") == 0 || strcmp(row->name, "signature_type") == 0 ||
                   strcmp(row->name, "request_type") == 0; /* in every line anyway */
    if (is_shown(row) && !is_head)
        fprintf(context, "  %s=%s", row->name, value_of(bytes, row, true, text));
}

/* The body's fields; false leaves a sentence in `error`. */
static bool fields_of(const struct record_view *record, dump_emit *emit, void *context,
                      char error[DUMP_ERROR_MAX])
{
    if (record->kind == RECORD_UNSIGNED)
        return dump_body_rows(record->code, record->payload, record->payload_bytes, NULL, emit,
                              context, error);
    return dump_rows(record->payload, record->payload_bytes, DUMP_PAYLOAD, NULL, emit, context,
                     error);
}

static void set_hex(json_t *object, const char *name, const uint8_t *bytes, size_t count)
{
    char text[2 * RECORD_EXTRA_MAX + 1];
    INVARIANT(count <= RECORD_EXTRA_MAX);
    hex_encode(text, bytes, count);
    (void)json_object_set_new(object, name, json_string(text));
}

static void write_json(FILE *out, const struct chain_frame *frame, uint64_t sequence,
                       const struct record_view *record)
{
    char error[DUMP_ERROR_MAX], time[RECORD_TEXT_TIME_BYTES];
    json_t *fields = json_object();
    record_text_time(record->t_ns, time);
    json_t *object =
        json_pack("{s:I, s:I, s:s, s:i, s:s, s:s, s:I, s:I, s:I, s:b, s:I}", "sequence",
                  (json_int_t)sequence, "t_ns", (json_int_t)record->t_ns, "time", time, "code",
                  (int)record->code, "name", record_text_code(record->code), "kind",
                  kinds[record->kind], "frame", (json_int_t)frame->header.number, "boot",
                  (json_int_t)frame->header.boot, "segment", (json_int_t)frame->segment, "archived",
                  frame->archived, "length", (json_int_t)record->length);
    INVARIANT(object != NULL);
    if (record->kind != RECORD_UNSIGNED) {
        set_hex(object, "public_key", record->key, record->key_bytes);
        set_hex(object, "signature", record->signature, RECORD_SIGNATURE_BYTES);
    }
    if (record->extra_bytes > 0)
        set_hex(object, "extra", record->extra, record->extra_bytes);
    if (!fields_of(record, to_object, fields, error))
        (void)json_object_set_new(object, "malformed", json_string(error));
    (void)json_object_set_new(object, "fields", fields);
    (void)json_dumpf(object, out, JSON_COMPACT);
    fprintf(out, "\n");
    json_decref(object);
}

void record_text_line(FILE *out, const struct chain_frame *frame, uint64_t sequence,
                      const struct record_view *record, bool json)
{
    char error[DUMP_ERROR_MAX], time[RECORD_TEXT_TIME_BYTES];
    if (json) {
        write_json(out, frame, sequence, record);
        return;
    }
    record_text_time(record->t_ns, time);
    fprintf(out, "%" PRIu64 "  %s  %u %s  %s", sequence, time, record->code,
            record_text_code(record->code), kinds[record->kind]);
    if (!fields_of(record, to_line, out, error))
        fprintf(out, "  (malformed: %s)", error);
    fprintf(out, "\n");
}
