/* json_field.h - single members of a JSON object, which all rows are made of. Pure.
 *
 * A member is written with the comma before it. The first member of an object is written with its
 * brace instead. */
#ifndef NET_JSON_JSON_FIELD_H
#define NET_JSON_JSON_FIELD_H

#include "base/compiler.h"
#include "net/http/writer.h"

enum { JSON_FIELD_AMOUNT_SCALE = 6, JSON_FIELD_RATE_SCALE = 6 }; /* micro-USDC, ppm */

/* ,"name":"<decimal>" */
#define JSON_FIELD_DECIMAL(writer, name, value, scale) \
    do {                                               \
        WRITER_TEXT(writer, ",\"" name "\":");         \
        writer_decimal(writer, (value), (scale));      \
    } while (0)

/* ,"name":"<decimal>", null for 0 */
#define JSON_FIELD_DECIMAL_OR_NULL(writer, name, value, scale) \
    do {                                                       \
        WRITER_TEXT(writer, ",\"" name "\":");                 \
        json_field_decimal_or_null(writer, (value), (scale));  \
    } while (0)

#define JSON_FIELD_AMOUNT(writer, name, value) \
    JSON_FIELD_DECIMAL(writer, name, value, JSON_FIELD_AMOUNT_SCALE)

#define JSON_FIELD_UINT(writer, name, value)   \
    do {                                       \
        WRITER_TEXT(writer, ",\"" name "\":"); \
        writer_uint(writer, (value));          \
    } while (0)

#define JSON_FIELD_BOOL(writer, name, value)   \
    do {                                       \
        WRITER_TEXT(writer, ",\"" name "\":"); \
        writer_bool(writer, (value));          \
    } while (0)

#define JSON_FIELD_UUID(writer, name, id)      \
    do {                                       \
        WRITER_TEXT(writer, ",\"" name "\":"); \
        writer_uuid(writer, (id));             \
    } while (0)

/* ,"name":"<word>": a word needs no escapes. */
#define JSON_FIELD_WORD(writer, name, word)      \
    do {                                         \
        WRITER_TEXT(writer, ",\"" name "\":\""); \
        writer_text(writer, (word));             \
        WRITER_TEXT(writer, "\"");               \
    } while (0)

/* A text from a fixed field, without its zero padding. */
#define JSON_FIELD_TEXT(writer, name, field)               \
    do {                                                   \
        WRITER_TEXT(writer, ",\"" name "\":");             \
        json_field_padded(writer, (field), sizeof(field)); \
    } while (0)

/* The word of a code; "" if it has none. */
#define JSON_FIELD_NAME_OF(names, value) ((value) < CC_COUNT(names) ? (names)[value] : "")

/* wire.md, Enum codes: by number. */
extern const char *const json_field_sides[2];    /* LONG, SHORT */
extern const char *const json_field_accounts[2]; /* ACTIVE, CLOSED: accounts, subaccounts */

/* {"account_id":..,"subaccount_index":..,"portfolio_index":.. */
void json_field_ids(struct writer *writer, uint64_t account_id, uint32_t subaccount_index,
                    uint32_t portfolio_index);

/* "<decimal>", or null for 0. */
void json_field_decimal_or_null(struct writer *writer, uint64_t value, unsigned scale);

/* A text without its zero padding, as a JSON string. */
void json_field_padded(struct writer *writer, const char *field, size_t count);

/* "name":"<average price>" with its comma (R1: 8 decimals more than the price, half to even). */
void json_field_average(struct writer *writer, const char *name, int128 cost, int128 quantity,
                        unsigned price_decimals);

#endif
