#include "net/http/writer.h"

#include "base/base64.h"
#include "base/decimal.h"
#include "base/hex.h"
#include "base/timestamp.h"
#include "base/uuid.h"

void writer_text(struct writer *writer, const char *text)
{
    writer_bytes(writer, text, strlen(text));
}

void writer_uint(struct writer *writer, uint64_t value)
{
    char digits[20];
    char *at = digits + sizeof digits;
    do {
        *--at = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    writer_bytes(writer, at, (size_t)(digits + sizeof digits - at));
}

void writer_int(struct writer *writer, int64_t value)
{
    if (value < 0)
        WRITER_TEXT(writer, "-");
    writer_uint(writer, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void writer_bool(struct writer *writer, bool value)
{
    if (value)
        WRITER_TEXT(writer, "true");
    else
        WRITER_TEXT(writer, "false");
}

static void write_escape(struct writer *writer, unsigned char c)
{
    static const char digits[] = "0123456789abcdef";
    if (c == '"' || c == '\\') {
        char pair[2] = { '\\', (char)c };
        writer_bytes(writer, pair, sizeof pair);
        return;
    }
    char unit[6] = { '\\', 'u', '0', '0', digits[c >> 4], digits[c & 15] };
    writer_bytes(writer, unit, sizeof unit);
}

void writer_string(struct writer *writer, const char *text, size_t count)
{
    WRITER_TEXT(writer, "\"");
    size_t plain = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c >= ' ' && c != '"' && c != '\\' && c != 127)
            continue;
        writer_bytes(writer, text + plain, i - plain);
        write_escape(writer, c);
        plain = i + 1;
    }
    writer_bytes(writer, text + plain, count - plain);
    WRITER_TEXT(writer, "\"");
}

void writer_decimal(struct writer *writer, int128 value, unsigned scale)
{
    char text[DECIMAL_TEXT_MAX];
    size_t count = decimal_format(text, value, scale);
    WRITER_TEXT(writer, "\"");
    writer_bytes(writer, text, count);
    WRITER_TEXT(writer, "\"");
}

void writer_uuid(struct writer *writer, const uint8_t id[16])
{
    char text[UUID_TEXT_BYTES + 1];
    struct uuid uuid;
    uuid_load(&uuid, id);
    uuid_format(&uuid, text);
    WRITER_TEXT(writer, "\"");
    writer_bytes(writer, text, UUID_TEXT_BYTES);
    WRITER_TEXT(writer, "\"");
}

void writer_base64(struct writer *writer, const uint8_t *bytes, size_t count)
{
    char text[BASE64_TEXT_BYTES(256) + 1];
    INVARIANT(count <= 256);
    size_t characters = base64_encode(text, bytes, count);
    WRITER_TEXT(writer, "\"");
    writer_bytes(writer, text, characters);
    WRITER_TEXT(writer, "\"");
}

void writer_hex(struct writer *writer, const uint8_t *bytes, size_t count)
{
    char text[2 * 64 + 1];
    INVARIANT(count <= 64);
    hex_encode(text, bytes, count);
    WRITER_TEXT(writer, "\"");
    writer_bytes(writer, text, 2 * count);
    WRITER_TEXT(writer, "\"");
}

void writer_iso(struct writer *writer, uint64_t unix_ns)
{
    char text[TIMESTAMP_TEXT_BYTES + 1];
    size_t count = timestamp_format_ms(unix_ns / 1000000, text);
    WRITER_TEXT(writer, "\"");
    writer_bytes(writer, text, count);
    WRITER_TEXT(writer, "\"");
}
