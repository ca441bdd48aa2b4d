#include "net/json/json_field.h"

#include "base/decimal.h"
#include "base/text.h"

const char *const json_field_sides[2] = { "LONG", "SHORT" };
const char *const json_field_accounts[2] = { "ACTIVE", "CLOSED" };

void json_field_ids(struct writer *writer, uint64_t account_id, uint32_t subaccount_index,
                    uint32_t portfolio_index)
{
    WRITER_TEXT(writer, "{\"account_id\":");
    writer_uint(writer, account_id);
    JSON_FIELD_UINT(writer, "subaccount_index", subaccount_index);
    JSON_FIELD_UINT(writer, "portfolio_index", portfolio_index);
}

void json_field_decimal_or_null(struct writer *writer, uint64_t value, unsigned scale)
{
    if (value == 0)
        WRITER_TEXT(writer, "null");
    else
        writer_decimal(writer, value, scale);
}

void json_field_padded(struct writer *writer, const char *field, size_t count)
{
    writer_string(writer, field, text_trim(field, count));
}

void json_field_average(struct writer *writer, const char *name, int128 cost, int128 quantity,
                        unsigned price_decimals)
{
    char text[DECIMAL_TEXT_MAX];
    size_t count = decimal_format_average(text, cost, quantity, price_decimals);
    WRITER_TEXT(writer, ",\"");
    writer_text(writer, name);
    WRITER_TEXT(writer, "\":\"");
    writer_bytes(writer, text, count);
    WRITER_TEXT(writer, "\"");
}
