#include "base/dump.h"

#include <stdio.h>

#include "base/decimal.h"
#include "base/field.h"
#include "base/hex.h"
#include "base/request.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "base/uuid.h"

enum { ITEM_BYTES = FIELD_ITEM_BYTES, TEXT_SHOWN_MAX = 240 };

struct sink {
    const uint8_t *bytes;
    size_t body_at; /* where the body begins in them */
    const struct dump_scale *scale;
    dump_emit *emit;
    void *context;
};

static void emit(const struct sink *sink, struct dump_row *row)
{
    sink->emit(sink->context, sink->bytes + row->offset, row);
}

static void plain(const struct sink *sink, size_t offset, size_t size, const char *name,
                  const char *kind, const char *value)
{
    struct dump_row row = { .offset = offset, .size = size, .kind = kind };
    snprintf(row.name, sizeof row.name, "%s", name);
    snprintf(row.value, sizeof row.value, "%s", value);
    emit(sink, &row);
}

static uint64_t load(const uint8_t *bytes, size_t size)
{
    uint64_t value = 0;
    memcpy(&value, bytes, size < sizeof value ? size : sizeof value);
    return value;
}

static void format_time(struct dump_row *row, uint64_t ns)
{
    char text[TIMESTAMP_TEXT_BYTES + 1];
    timestamp_format_ms(ns / 1000000, text);
    if (ns == 0)
        snprintf(row->value, sizeof row->value, "0 (default)");
    else
        snprintf(row->value, sizeof row->value, "%s (%llu ns)", text, (unsigned long long)ns);
}

static void format_scaled(struct dump_row *row, int128 value, const char *sign, unsigned decimals,
                          bool known, const char *unit)
{
    char raw[DECIMAL_TEXT_MAX], text[DECIMAL_TEXT_MAX];
    decimal_format(raw, value, 0);
    decimal_format(text, value, decimals);
    if (known)
        snprintf(row->value, sizeof row->value, "%s %s%s(raw %s)", text, unit,
                 unit[0] != '\0' ? " " : "", raw);
    else
        snprintf(row->value, sizeof row->value, "%s raw%s", raw, sign);
}

static void format_quantity(struct dump_row *row, int64_t value, const struct dump_scale *scale)
{
    format_scaled(row, value,
                  value < 0   ? ", sell"
                  : value > 0 ? ", buy"
                              : "",
                  scale != NULL ? scale->size_decimals : 0, scale != NULL,
                  value < 0   ? "sell"
                  : value > 0 ? "buy"
                              : "");
}

static void format_expiry(struct dump_row *row, uint64_t value)
{
    if (value <= 1)
        snprintf(row->value, sizeof row->value, "%s", value == 0 ? "IOC" : "FOK");
    else if (value == UINT64_MAX)
        snprintf(row->value, sizeof row->value, "GTC");
    else
        format_time(row, value);
}

static void format_asset(struct dump_row *row, uint64_t value, const struct dump_scale *scale)
{
    if (value == 0xffff)
        snprintf(row->value, sizeof row->value, "all markets");
    else if (scale != NULL)
        snprintf(row->value, sizeof row->value, "%llu (%s)", (unsigned long long)value,
                 scale->market);
    else
        snprintf(row->value, sizeof row->value, "%llu", (unsigned long long)value);
    if (value == 0)
        row->remark = "asset 0 is no market";
}

static void format_enum(struct dump_row *row, const struct field *field, uint64_t value)
{
    const char *name = NULL;
    for (size_t i = 0; field->names != NULL && field->names[i] != NULL; i++)
        name = i == value ? field->names[i] : name;
    snprintf(row->value, sizeof row->value, "%llu %s", (unsigned long long)value,
             name != NULL ? name : "unknown");
    if (name == NULL)
        row->remark = "no such code";
}

static void format_pin(struct dump_row *row, int32_t value)
{
    if (value == -1)
        snprintf(row->value, sizeof row->value, "-1 (whole account)");
    else
        snprintf(row->value, sizeof row->value, "subaccount %d", value);
    if (value < -1)
        row->remark = "a pin is -1 or a subaccount";
}

static void format_uuid(struct dump_row *row, const uint8_t *bytes)
{
    struct uuid uuid;
    char text[UUID_TEXT_BYTES + 1];
    uuid_load(&uuid, bytes);
    uuid_format(&uuid, text);
    snprintf(row->value, sizeof row->value, "%s", text);
}

static void format_text(struct dump_row *row, const uint8_t *bytes, size_t size)
{
    size_t count = text_trim((const char *)bytes, size);
    if (!text_field_is_valid((const char *)bytes, size)) {
        snprintf(row->value, sizeof row->value, "not UTF-8");
        row->remark = "text is UTF-8 without zero bytes inside";
        return;
    }
    if (text_has_control((const char *)bytes, count)) {
        snprintf(row->value, sizeof row->value, "%zu bytes with control characters", count);
        return;
    }
    bool cut = count > TEXT_SHOWN_MAX;
    while (cut && count > TEXT_SHOWN_MAX)
        count--;
    while (cut && (bytes[count] & 0xc0) == 0x80)
        count--;
    snprintf(row->value, sizeof row->value, "\"%.*s\"%s", (int)count, (const char *)bytes,
             cut ? "..." : "");
}

static void format_bytes(struct dump_row *row, const uint8_t *bytes, size_t size)
{
    char text[2 * 72 + 1];
    size_t shown = size <= 72 ? size : 72;
    hex_encode(text, bytes, shown);
    snprintf(row->value, sizeof row->value, "%s%s", text, shown < size ? "..." : "");
}

static void format_pad(struct dump_row *row, const uint8_t *bytes, size_t size)
{
    bool zero = true;
    for (size_t i = 0; i < size; i++)
        zero = zero && bytes[i] == 0;
    snprintf(row->value, sizeof row->value, "%s", zero ? "zero" : "not zero");
    if (!zero)
        row->remark = "padding must be zero";
}

static void format_value(struct dump_row *row, const struct field *field, const uint8_t *bytes,
                         size_t size, const struct dump_scale *scale)
{
    uint64_t value = load(bytes, size);
    unsigned price_decimals = scale != NULL ? scale->price_decimals : 0;
    unsigned size_decimals = scale != NULL ? scale->size_decimals : 0;
    switch (field->kind) {
    case FIELD_AMOUNT:
        format_scaled(row, value, "", 6, true, "USDC");
        break;
    case FIELD_PRICE:
        format_scaled(row, value, "", price_decimals, scale != NULL, "USDC");
        break;
    case FIELD_SIZE:
        format_scaled(row, value, "", size_decimals, scale != NULL, "");
        break;
    case FIELD_QUANTITY:
        format_quantity(row, (int64_t)value, scale);
        break;
    case FIELD_TIME:
        format_time(row, value);
        break;
    case FIELD_EXPIRY:
        format_expiry(row, value);
        break;
    case FIELD_ASSET:
        format_asset(row, value, scale);
        break;
    case FIELD_ENUM:
        format_enum(row, field, value);
        break;
    case FIELD_PIN:
        format_pin(row, (int32_t)value);
        break;
    case FIELD_BOOL:
        snprintf(row->value, sizeof row->value, "%s",
                 value == 0   ? "false"
                 : value == 1 ? "true"
                              : "neither 0 nor 1");
        if (value > 1)
            row->remark = "a bool is 0 or 1";
        break;
    case FIELD_SIGNED64:
        snprintf(row->value, sizeof row->value, "%lld", (long long)value);
        break;
    case FIELD_UUID:
        format_uuid(row, bytes);
        break;
    case FIELD_TEXT:
    case FIELD_DOCUMENT:
        format_text(row, bytes, size);
        break;
    case FIELD_PAD:
        format_pad(row, bytes, size);
        break;
    case FIELD_KEY:
    case FIELD_HASH:
    case FIELD_ADDRESS:
    case FIELD_CREDENTIAL:
        format_bytes(row, bytes, size);
        break;
    default:
        snprintf(row->value, sizeof row->value, "%llu", (unsigned long long)value);
    }
}

static void dump_field(const struct sink *sink, const char *prefix, const struct field *field,
                       size_t offset, size_t size)
{
    struct dump_row row = { .offset = offset, .size = size, .kind = field_kind_name(field->kind) };
    snprintf(row.name, sizeof row.name, "%s%s", prefix, field->name);
    format_value(&row, field, sink->bytes + offset, size, sink->scale);
    emit(sink, &row);
}

static void dump_portfolio(const struct sink *sink, const struct field *field, size_t offset)
{
    static const struct field parts[] = { { ".account_id", NULL, 0, 8, FIELD_ACCOUNT },
                                          { ".subaccount_index", NULL, 8, 4, FIELD_INDEX },
                                          { ".portfolio_index", NULL, 12, 4, FIELD_INDEX } };
    for (size_t i = 0; i < CC_COUNT(parts); i++) {
        struct dump_row row = { .offset = offset + parts[i].offset,
                                .size = parts[i].size,
                                .kind = field_kind_name(parts[i].kind) };
        uint64_t value = load(sink->bytes + row.offset, row.size);
        snprintf(row.name, sizeof row.name, "%s%s", field->name, parts[i].name);
        snprintf(row.value, sizeof row.value, "%llu%s", (unsigned long long)value,
                 row.size == 4 && value == UINT32_MAX ? " (all)" : "");
        emit(sink, &row);
    }
}

static void dump_items(const struct sink *sink, size_t offset, size_t size)
{
    size_t count;
    const struct field *item_fields = field_batch_item(&count);
    for (size_t item = 0; (item + 1) * ITEM_BYTES <= size; item++) {
        char prefix[24];
        snprintf(prefix, sizeof prefix, "items[%zu].", item);
        for (size_t i = 0; i < count; i++)
            dump_field(sink, prefix, &item_fields[i],
                       offset + item * ITEM_BYTES + item_fields[i].offset, item_fields[i].size);
    }
}

static void dump_body(const struct sink *sink, const struct request *request, size_t body_bytes)
{
    size_t count;
    const struct field *fields = field_table(request->code, &count);
    for (size_t i = 0; i < count; i++) {
        size_t offset = sink->body_at + fields[i].offset;
        size_t size = field_bytes(&fields[i], body_bytes);
        if (fields[i].kind == FIELD_PORTFOLIO)
            dump_portfolio(sink, &fields[i], offset);
        else if (fields[i].kind == FIELD_ITEMS)
            dump_items(sink, offset, size);
        else
            dump_field(sink, "", &fields[i], offset, size);
    }
}

static void dump_header(const struct sink *sink, const struct request *request)
{
    static const char *const types[] = { "0 Ed25519", "1 Secp256k1", "2 Passkey" };
    static const struct field pad = { "pad", NULL, 4, 4, FIELD_PAD };
    char name[64], milliseconds[TIMESTAMP_TEXT_BYTES + 1];
    struct dump_row row = {
        .offset = REQUEST_HEADER_BYTES, .size = UUID_BYTES, .kind = "uuid", .name = "request_id"
    };
    struct uuid id;
    plain(sink, 0, 1, "version", "u8", "1");
    plain(sink, 1, 1, "signature_type", "u8", types[sink->bytes[1]]);
    snprintf(name, sizeof name, "%u %s", request->code, request->name);
    plain(sink, 2, 2, "request_type", "u16", name);
    dump_field(sink, "", &pad, 4, 4);
    uuid_load(&id, sink->bytes + row.offset);
    format_uuid(&row, id.bytes);
    timestamp_format_ms(uuid_time_ms(&id), milliseconds);
    size_t at = strlen(row.value);
    snprintf(row.value + at, sizeof row.value - at, " (%s)", milliseconds);
    if (!uuid_is_v7(&id))
        row.remark = "a request id is a UUIDv7";
    emit(sink, &row);
}

size_t dump_tail_bytes(uint8_t signature_type)
{
    return signature_type == SIGNATURE_ED25519     ? 32 + 64
           : signature_type == SIGNATURE_SECP256K1 ? 33 + 64
                                                   : 0;
}

/* Finds the field in which a body of `body_bytes` ends too early. */
static const char *cut_field(const struct request *request, size_t body_bytes)
{
    size_t count;
    const struct field *fields = field_table(request->code, &count);
    for (size_t i = 0; i < count; i++) {
        if (fields[i].offset + (size_t)fields[i].size > body_bytes)
            return fields[i].name;
    }
    return "the body";
}

/* False leaves a sentence in `error`. */
static bool check_length(const struct request *request, size_t count, char error[DUMP_ERROR_MAX])
{
    size_t body_bytes = count - REQUEST_BODY_AT;
    if (request->form == BODY_FIXED && body_bytes < request->body_bytes)
        snprintf(
            error, DUMP_ERROR_MAX,
            "offset %zu: the payload ends inside '%s'; %s has a body of %u bytes, this one %zu",
            count, cut_field(request, body_bytes), request->name, request->body_bytes, body_bytes);
    else if (request->form == BODY_FIXED && body_bytes > request->body_bytes)
        snprintf(error, DUMP_ERROR_MAX,
                 "offset %u: bytes beyond the body; %s has a body of %u bytes, this one %zu",
                 REQUEST_BODY_AT + request->body_bytes, request->name, request->body_bytes,
                 body_bytes);
    else if (request->form == BODY_BATCH &&
             (body_bytes < 24 || (body_bytes - 24) % ITEM_BYTES != 0))
        snprintf(error, DUMP_ERROR_MAX,
                 "a batch has a body of 24 + 64 n bytes; %zu is no such number", body_bytes);
    else if (request->form == BODY_CREDENTIAL && body_bytes < 56)
        snprintf(error, DUMP_ERROR_MAX,
                 "the body of %s has %zu bytes; the credential id is missing", request->name,
                 body_bytes);
    else if (count % 8 != 0)
        snprintf(error, DUMP_ERROR_MAX, "a payload is a multiple of 8 bytes; this one has %zu",
                 count);
    else
        return true;
    return false;
}

/* The request of a payload, or NULL with a sentence in `error`. */
static const struct request *check(const uint8_t *bytes, size_t count, char error[DUMP_ERROR_MAX])
{
    if (count < REQUEST_BODY_AT || count > REQUEST_PAYLOAD_MAX) {
        snprintf(error, DUMP_ERROR_MAX, "a payload has %d to %d bytes; these are %zu",
                 REQUEST_BODY_AT, REQUEST_PAYLOAD_MAX, count);
        return NULL;
    }
    if (bytes[0] != REQUEST_VERSION) {
        snprintf(error, DUMP_ERROR_MAX, "offset 0: version is %u; only %d is known", bytes[0],
                 REQUEST_VERSION);
        return NULL;
    }
    if (bytes[1] > SIGNATURE_PASSKEY) {
        snprintf(error, DUMP_ERROR_MAX,
                 "offset 1: signature_type is %u; it is 0 Ed25519, 1 Secp256k1 or 2 Passkey",
                 bytes[1]);
        return NULL;
    }
    uint32_t code = cc_load16(bytes + 2);
    const struct request *request = request_find(code);
    if (request == NULL || request->path[0] == '\0') {
        snprintf(error, DUMP_ERROR_MAX, "offset 2: request_type %u is %s", code,
                 request == NULL                  ? "not in the table"
                 : request->signer == SIGNER_NONE ? "reserved"
                                                  : "a record of the journal, not a request");
        return NULL;
    }
    return check_length(request, count, error) ? request : NULL;
}

bool dump_rows(const uint8_t *bytes, size_t count, enum dump_form form,
               const struct dump_scale *scale, dump_emit *emit_row, void *context,
               char error[DUMP_ERROR_MAX])
{
    size_t tail = 0;
    if (form == DUMP_FRAME && count > REQUEST_BODY_AT) {
        tail = dump_tail_bytes(bytes[1]);
        if (tail == 0) {
            snprintf(error, DUMP_ERROR_MAX,
                     "offset 1: signature_type is %u; a frame carries 0 Ed25519 or 1 Secp256k1",
                     bytes[1]);
            return false;
        }
        if (count < tail + REQUEST_BODY_AT) {
            snprintf(error, DUMP_ERROR_MAX,
                     "a frame of this signature type has at least %zu bytes; these are %zu",
                     tail + REQUEST_BODY_AT, count);
            return false;
        }
    }
    const struct request *request = check(bytes, count - tail, error);
    if (request == NULL)
        return false;
    struct sink sink = { .bytes = bytes,
                         .body_at = REQUEST_BODY_AT,
                         .scale = scale,
                         .emit = emit_row,
                         .context = context };
    dump_header(&sink, request);
    dump_body(&sink, request, count - tail - REQUEST_BODY_AT);
    if (tail != 0) {
        static const struct field key = { "public_key", NULL, 0, 0, FIELD_KEY };
        static const struct field signature = { "signature", NULL, 0, 0, FIELD_KEY };
        dump_field(&sink, "", &key, count - tail, tail - 64);
        dump_field(&sink, "", &signature, count - 64, 64);
    }
    return true;
}

bool dump_body_rows(uint32_t code, const uint8_t *body, size_t count,
                    const struct dump_scale *scale, dump_emit *emit_row, void *context,
                    char error[DUMP_ERROR_MAX])
{
    struct sink sink = { .bytes = body, .scale = scale, .emit = emit_row, .context = context };
    const struct request *request = request_find(code);
    if (request == NULL) {
        snprintf(error, DUMP_ERROR_MAX, "code %u is not in the table", code);
        return false;
    }
    if (!check_length(request, REQUEST_BODY_AT + count, error))
        return false;
    dump_body(&sink, request, count);
    return true;
}
