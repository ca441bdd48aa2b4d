#include "perp/print/image_text.h"

#include <inttypes.h>

#include "base/decimal.h"
#include "base/hex.h"
#include "engine/image/image.h"
#include "engine/state/state_fields.h"
#include "engine/table/order_record.h"

enum { BYTES_A_LINE = 32, FIELDS_MAX = 64, VALUE_MAX = 2 * 4200 + 3 };

enum kind { KIND_UNSIGNED, KIND_SIGNED, KIND_BYTES, KIND_TEXT };

struct image_field {
    const char *name;
    size_t offset; /* only of the fields of a struct inside a row */
    size_t size;
    enum kind kind;
};

/* clang-format off */
#define KIND_OF(value) _Generic((value), \
    int8_t: KIND_SIGNED, int16_t: KIND_SIGNED, int32_t: KIND_SIGNED, int64_t: KIND_SIGNED, \
    int128: KIND_SIGNED, bool: KIND_UNSIGNED, uint8_t: KIND_UNSIGNED, uint16_t: KIND_UNSIGNED, \
    uint32_t: KIND_UNSIGNED, uint64_t: KIND_UNSIGNED, char *: KIND_TEXT, default: KIND_BYTES)
#define ROW_FIELD(type, field) \
    { #field, offsetof(struct type, field), sizeof(((struct type *)0)->field), \
      KIND_OF(((struct type *)0)->field) },
#define X(field) ROW_FIELD(engine, field)
static const struct image_field engine_fields[] = { STATE_FIELDS(X) };
static const struct image_field configuration_fields[] = {
    { "bytes", 0, sizeof(uint32_t), KIND_UNSIGNED }, { "options", 0, REQUEST_BODY_MAX, KIND_TEXT }
};
#undef X
#define X(field) ROW_FIELD(account, field)
static const struct image_field account_fields[] = { ACCOUNT_FIELDS(X) };
#undef X
#define X(field) ROW_FIELD(credential, field)
static const struct image_field credential_fields[] = { CREDENTIAL_FIELDS(X) };
#undef X
#define X(field) ROW_FIELD(portfolio, field)
static const struct image_field portfolio_fields[] = { PORTFOLIO_FIELDS(X) };
#undef X
#define X(field) ROW_FIELD(holding, field)
static const struct image_field holding_fields[] = { HOLDING_FIELDS(X) };
#undef X
#define X(field) ROW_FIELD(holding_side, field)
static const struct image_field side_fields[] = { HOLDING_SIDE_FIELDS(X) };
#undef X
static const struct image_field order_fields[] = {
    { "portfolio", 0, sizeof(uint64_t), KIND_UNSIGNED },
#define X(field) ROW_FIELD(order, field)
    IMAGE_ORDER_FIELDS(X)
#undef X
#define X(field) ROW_FIELD(order_record, field)
    IMAGE_ORDER_RECORD_FIELDS(X)
#undef X
    { "handle", 0, sizeof(uint64_t), KIND_UNSIGNED },
    { "entered_ns", 0, sizeof(uint64_t), KIND_UNSIGNED },
};
#define X(field) ROW_FIELD(market, field)
static const struct image_field market_fields[] = { MARKET_FIELDS(X) };
#undef X
#define X(field) ROW_FIELD(market_record, field)
static const struct image_field record_fields[] = { MARKET_RECORD_FIELDS(X) };
#undef X
#define X(field) ROW_FIELD(deposit, field)
static const struct image_field deposit_fields[] = { DEPOSIT_FIELDS(X) };
#undef X
static const struct image_field duplicate_fields[] = {
    { "id", 0, 16, KIND_BYTES }, { "account", 0, 8, KIND_UNSIGNED },
    { "processed_at_ns", 0, 8, KIND_UNSIGNED }, { "outcome", 0, 8, KIND_UNSIGNED }
};
static const struct image_field work_fields[] = { { "word", 0, 8, KIND_UNSIGNED } };
#define X(field) ROW_FIELD(leverage, field)
static const struct image_field leverage_fields[] = { LEVERAGE_FIELDS(X) };
#undef X
static const struct image_field raw_fields[] = { { "bytes", 0, BYTES_A_LINE, KIND_BYTES } };
/* clang-format on */

/* A struct, or an array of structs, with the same layout in the row as in memory. */
static const struct {
    const char *name;
    const struct image_field *fields;
    size_t count, bytes;
} nested[] = {
    { "sides", side_fields, CC_COUNT(side_fields), sizeof(struct holding_side) },
    { "record", record_fields, CC_COUNT(record_fields), sizeof(struct market_record) },
};

struct layout {
    const char *name;
    const struct image_field *fields;
    size_t count;
    size_t head; /* bytes before the first row */
};

#define LAYOUT(table, head)                \
    {                                      \
        NULL, table, CC_COUNT(table), head \
    }
static const struct layout layouts[IMAGE_SECTION_END] = {
    [IMAGE_engine] = LAYOUT(engine_fields, 0),
    [IMAGE_configuration] = LAYOUT(configuration_fields, 0),
    [IMAGE_accounts] = LAYOUT(account_fields, 0),
    [IMAGE_credentials] = LAYOUT(credential_fields, 0),
    [IMAGE_portfolios] = LAYOUT(portfolio_fields, 0),
    [IMAGE_holdings] = LAYOUT(holding_fields, 0),
    [IMAGE_orders] = LAYOUT(order_fields, 0),
    [IMAGE_markets] = LAYOUT(market_fields, 0),
    [IMAGE_deposits] = LAYOUT(deposit_fields, 0),
    [IMAGE_duplicates] = LAYOUT(duplicate_fields, sizeof(uint64_t)), /* the floor */
    [IMAGE_work] = LAYOUT(work_fields, 0),
    [IMAGE_leverages] = LAYOUT(leverage_fields, 0),
};

static const char *const names[IMAGE_SECTION_END] = {
#define X(name, code, version) [code] = #name,
    IMAGE_SECTION_LIST(X)
#undef X
};

const char *image_text_name(uint32_t code)
{
    return code < IMAGE_SECTION_END && names[code] != NULL ? names[code] : "?";
}

static size_t row_bytes(const struct layout *layout)
{
    size_t bytes = 0;
    for (size_t i = 0; i < layout->count; i++)
        bytes += layout->fields[i].size;
    INVARIANT(bytes > 0);
    return bytes;
}

/* How a section is shown: by its fields when it is of the version and the size that these have. */
static struct layout layout_of(const struct snapshot_section *section)
{
    struct layout raw = LAYOUT(raw_fields, 0);
    if (section->code >= IMAGE_SECTION_END || names[section->code] == NULL ||
        section->version != image_version(section->code))
        return raw;
    struct layout layout = layouts[section->code];
    if (layout.fields == NULL || section->byte_count < layout.head ||
        (section->byte_count - layout.head) % row_bytes(&layout) != 0)
        return raw;
    return layout;
}

uint64_t image_text_rows(const struct snapshot_section *section)
{
    struct layout layout = layout_of(section);
    uint64_t bytes = section->byte_count - layout.head, row = row_bytes(&layout);
    return (layout.head > 0) + (bytes + row - 1) / row;
}

/* The bytes of a row; with a head, row 0 is the head. */
static const uint8_t *row_at(const struct snapshot_section *section, const struct layout *layout,
                             uint64_t row, size_t *count)
{
    size_t bytes = row_bytes(layout);
    if (layout->head > 0 && row == 0) {
        *count = layout->head;
        return section->bytes;
    }
    uint64_t offset = layout->head + (row - (layout->head > 0)) * bytes;
    *count = section->byte_count - offset < bytes ? section->byte_count - offset : bytes;
    return section->bytes + offset;
}

/* ---- values ---------------------------------------------------------------------------------- */

static void value_text(const uint8_t *bytes, const struct image_field *field, char text[VALUE_MAX])
{
    size_t size = field->size, count = strnlen((const char *)bytes, size);
    enum kind kind = field->kind;
    bool is_name = strcmp(field->name, "label") == 0 || strcmp(field->name, "name") == 0;
    if (kind == KIND_TEXT || is_name) {
        snprintf(text, VALUE_MAX, "\"%.*s\"", (int)count, (const char *)bytes);
        for (char *at = text; *at != '\0'; at++)
            *at = *at == '\n' ? ' ' : *at;
    } else if (kind == KIND_BYTES) {
        INVARIANT(2 * size < VALUE_MAX);
        hex_encode(text, bytes, size);
    } else {
        bool negative = kind == KIND_SIGNED && bytes[size - 1] >> 7 != 0;
        int128 value = negative ? -1 : 0;
        memcpy(&value, bytes, size); /* little-endian: the sign stays above */
        decimal_format(text, value, 0);
    }
}

static void show_field(FILE *out, const char *prefix, const struct image_field *field,
                       const uint8_t *bytes)
{
    char text[VALUE_MAX], name[96];
    for (size_t i = 0; i < CC_COUNT(nested) && prefix[0] == '\0'; i++) {
        if (strcmp(nested[i].name, field->name) != 0)
            continue;
        for (size_t at = 0; at + nested[i].bytes <= field->size; at += nested[i].bytes) {
            snprintf(name, sizeof name, "%s[%zu].", field->name, at / nested[i].bytes);
            for (size_t k = 0; k < nested[i].count; k++)
                show_field(out, name, &nested[i].fields[k],
                           bytes + at + nested[i].fields[k].offset);
        }
        return;
    }
    value_text(bytes, field, text);
    fprintf(out, "  %s%s=%s", prefix, field->name, text);
}

/* Prints all fields of a row, or only those that differ from `other`. */
static void show_row(FILE *out, const struct layout *layout, const uint8_t *bytes, size_t count,
                     const uint8_t *other)
{
    size_t at = 0;
    for (size_t i = 0; i < layout->count && at < count; i++) {
        struct image_field field = layout->fields[i];
        if (count != row_bytes(layout)) /* a head, or a row cut short */
            field = (struct image_field){ i == 0 && layout->head == count ? "floor_ms" : "bytes", 0,
                                          count, count == 8 ? KIND_UNSIGNED : KIND_BYTES };
        if (other == NULL || memcmp(bytes + at, other + at, field.size) != 0)
            show_field(out, "", &field, bytes + at);
        at += field.size;
    }
}

void image_text_row(FILE *out, const struct snapshot_section *section, uint64_t row)
{
    struct layout layout = layout_of(section);
    size_t count;
    const uint8_t *bytes = row_at(section, &layout, row, &count);
    fprintf(out, "%s %" PRIu64, image_text_name(section->code), row);
    show_row(out, &layout, bytes, count, NULL);
    fprintf(out, "\n");
}

/* ---- two images ------------------------------------------------------------------------------ */

static const struct snapshot_section *find(const struct snapshot_section *sections, uint32_t count,
                                           uint32_t code)
{
    for (uint32_t i = 0; i < count; i++)
        if (sections[i].code == code)
            return &sections[i];
    return NULL;
}

/* Finds the first row in which two sections of the same code differ, which they do. */
static uint64_t first_row(const struct snapshot_section *left, const struct snapshot_section *right)
{
    struct layout layout = layout_of(left);
    size_t rows = row_bytes(&layout);
    uint64_t least = left->byte_count < right->byte_count ? left->byte_count : right->byte_count;
    uint64_t at = 0;
    while (at < least && left->bytes[at] == right->bytes[at])
        at++;
    if (at < layout.head)
        return 0;
    return (layout.head > 0) + (at - layout.head) / rows;
}

static bool sections_equal(const struct snapshot_section *left,
                           const struct snapshot_section *right)
{
    return left->version == right->version && left->byte_count == right->byte_count &&
           (left->byte_count == 0 || memcmp(left->bytes, right->bytes, left->byte_count) == 0);
}

bool image_text_differs(const struct snapshot_section *left, uint32_t left_count,
                        const struct snapshot_section *right, uint32_t right_count,
                        struct image_text_location *location)
{
    for (uint32_t code = 0; code < SNAPSHOT_SECTIONS_MAX; code++) {
        const struct snapshot_section *a = find(left, left_count, code);
        const struct snapshot_section *b = find(right, right_count, code);
        *location = (struct image_text_location){ .code = code, .left = a, .right = b };
        if ((a == NULL) != (b == NULL))
            return true;
        if (a == NULL || sections_equal(a, b))
            continue;
        location->row = first_row(a, b);
        return true;
    }
    return false;
}

static void show_one(FILE *out, const struct snapshot_section *section, uint64_t row,
                     const struct snapshot_section *other, const char *name)
{
    fprintf(out, "  %s:", name);
    if (section == NULL || row >= image_text_rows(section)) {
        fprintf(out, "  no such %s\n", section == NULL ? "section" : "row");
        return;
    }
    struct layout layout = layout_of(section);
    size_t count, other_count = 0;
    const uint8_t *bytes = row_at(section, &layout, row, &count), *against = NULL;
    if (other != NULL && other->version == section->version && row < image_text_rows(other))
        against = row_at(other, &layout, row, &other_count);
    show_row(out, &layout, bytes, count, other_count == count ? against : NULL);
    fprintf(out, "\n");
}

void image_text_difference(FILE *out, const struct image_text_location *location,
                           const char *left_name, const char *right_name)
{
    fprintf(out, "first difference: section %" PRIu32 " %s, row %" PRIu64 "\n", location->code,
            image_text_name(location->code), location->row);
    show_one(out, location->left, location->row, location->right, left_name);
    show_one(out, location->right, location->row, location->left, right_name);
}
