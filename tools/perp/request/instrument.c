#include "perp/request/instrument.h"

#include <jansson.h>
#include <stdio.h>

#include "base/text.h"

enum { RAW_BITS = 40, NEAREST_MAX = 4 };

#define RAW_MAX ((INT64_C(1) << RAW_BITS) - 1)

static bool read_int(const json_t *object, const char *name, int64_t maximum, int64_t *value)
{
    const json_t *member = json_object_get(object, name);
    *value = json_is_integer(member) ? json_integer_value(member) : -1;
    return *value >= 0 && *value <= maximum;
}

static bool read_decimal(const json_t *object, const char *name, unsigned scale, int64_t *value)
{
    const json_t *member = json_object_get(object, name);
    return json_is_string(member) &&
           decimal_parse(json_string_value(member), json_string_length(member), scale, 1, RAW_MAX,
                         value) == DECIMAL_OK;
}

static bool read_record(struct instrument *record, const json_t *object, const char **wrong)
{
    int64_t asset_id, price_decimals, size_decimals;
    *wrong =
        !read_int(object, "asset_id", 65534, &asset_id)           ? "asset_id"
        : !read_int(object, "price_decimals", 6, &price_decimals) ? "price_decimals"
        : !read_int(object, "size_decimals", 6, &size_decimals)   ? "size_decimals"
        : !read_decimal(object, "tick_size", (unsigned)price_decimals, &record->tick) ? "tick_size"
        : !read_decimal(object, "lot_size", (unsigned)size_decimals, &record->lot)    ? "lot_size"
        : !read_decimal(object, "min_size", (unsigned)size_decimals, &record->min_size) ? "min_size"
        : !read_decimal(object, "max_order_size", (unsigned)size_decimals, &record->max_order_size)
            ? "max_order_size"
            : NULL;
    if (*wrong != NULL)
        return false;
    snprintf(record->market, sizeof record->market, "%s",
             json_string_value(json_object_get(object, "market")));
    record->asset_id = (uint16_t)asset_id;
    record->price_decimals = (uint8_t)price_decimals;
    record->size_decimals = (uint8_t)size_decimals;
    return true;
}

static void list_markets(const json_t *markets, const char *wanted, char *error)
{
    size_t index, at;
    json_t *object;
    const char *nearest = NULL;
    unsigned distance = NEAREST_MAX;
    at = (size_t)snprintf(error, INSTRUMENT_ERROR_MAX,
                          "there is no market '%.40s' here; known:", wanted);
    json_array_foreach(markets, index, object)
    {
        const char *name = json_string_value(json_object_get(object, "market"));
        if (name == NULL || at + strlen(name) + 64 > INSTRUMENT_ERROR_MAX)
            continue;
        at += (size_t)snprintf(error + at, INSTRUMENT_ERROR_MAX - at, " %s", name);
        unsigned candidate = text_distance(name, wanted, NEAREST_MAX);
        if (strncmp(name, wanted, strlen(wanted)) == 0)
            candidate = 0; /* BTC for BTC-PERP */
        if (candidate < distance) {
            nearest = name;
            distance = candidate;
        }
    }
    if (nearest != NULL && strlen(nearest) <= 32)
        snprintf(error + at, INSTRUMENT_ERROR_MAX - at, "; did you mean %s?", nearest);
}

bool instrument_parse(struct instrument *record, const char *text, size_t count, const char *market,
                      char error[INSTRUMENT_ERROR_MAX])
{
    json_t *root = json_loadb(text, count, 0, NULL);
    const json_t *markets = json_object_get(root, "markets");
    size_t index;
    json_t *object;
    bool good = false, found = false;
    if (!json_is_array(markets)) {
        snprintf(error, INSTRUMENT_ERROR_MAX, "the answer of /api/v1/markets has no markets");
        json_decref(root);
        return false;
    }
    json_array_foreach(markets, index, object)
    {
        const char *name = json_string_value(json_object_get(object, "market"));
        if (name == NULL || strcmp(name, market) != 0)
            continue;
        const char *wrong = NULL;
        found = true;
        good = read_record(record, object, &wrong);
        if (!good)
            snprintf(error, INSTRUMENT_ERROR_MAX, "the record of %s has no usable '%s'", name,
                     wrong);
    }
    if (!found)
        list_markets(markets, market, error);
    json_decref(root);
    return good;
}

static bool read_scaled(const char *what, const struct instrument *record, const char *text,
                        unsigned scale, int64_t step, int64_t *raw, char *error)
{
    char step_text[DECIMAL_TEXT_MAX];
    decimal_format(step_text, step, scale);
    enum decimal_error wrong = decimal_parse(text, strlen(text), scale, 0, RAW_MAX, raw);
    if (wrong == DECIMAL_OK)
        return true;
    if (wrong == DECIMAL_DECIMALS)
        snprintf(error, INSTRUMENT_ERROR_MAX,
                 "%s '%.40s' has too many decimals: %s has %u (step %s)", what, text,
                 record->market, scale, step_text);
    else if (wrong == DECIMAL_RANGE)
        snprintf(error, INSTRUMENT_ERROR_MAX, "%s '%.40s' is out of range for %s", what, text,
                 record->market);
    else
        snprintf(error, INSTRUMENT_ERROR_MAX,
                 "%s '%.40s' is not a plain decimal like %s: digits and one dot", what, text,
                 step_text);
    return false;
}

bool instrument_price(const struct instrument *record, const char *text, int64_t *raw,
                      char error[INSTRUMENT_ERROR_MAX])
{
    return read_scaled("PRICE", record, text, record->price_decimals, record->tick, raw, error);
}

bool instrument_size(const struct instrument *record, const char *text, int64_t *raw,
                     char error[INSTRUMENT_ERROR_MAX])
{
    return read_scaled("SIZE", record, text, record->size_decimals, record->lot, raw, error);
}
