#include "perp/print/report.h"

#include <jansson.h>
#include <stdlib.h>

#include "base/hex.h"
#include "base/timestamp.h"

enum { NAME_MAX_BYTES = 128, COLUMNS_MAX = 24, LADDER_MAX = 1000, HEX_PER_LINE = 8 };

static void scalar_text(const json_t *value, char *text, size_t capacity)
{
    if (json_is_string(value))
        snprintf(text, capacity, "%s", json_string_value(value));
    else if (json_is_integer(value))
        snprintf(text, capacity, "%lld", (long long)json_integer_value(value));
    else if (json_is_null(value))
        snprintf(text, capacity, "-");
    else if (json_is_boolean(value))
        snprintf(text, capacity, "%s", json_is_true(value) ? "yes" : "no");
    else
        snprintf(text, capacity, "%g", json_number_value(value));
}

/* Unix times get their ISO form beside them. */
static void show_scalar(FILE *out, const char *name, const json_t *value)
{
    char text[4096], iso[TIMESTAMP_TEXT_BYTES + 1];
    size_t count = strlen(name);
    scalar_text(value, text, sizeof text);
    fprintf(out, "%-30s %s", name, text);
    bool ns = count > 3 && strcmp(name + count - 3, "_ns") == 0;
    bool ms = count > 3 && strcmp(name + count - 3, "_ms") == 0;
    ms |= strcmp(name, "time") == 0;
    uint64_t number = json_is_integer(value) ? (uint64_t)json_integer_value(value) : 0;
    uint64_t unix_ms = ns ? number / 1000000 : ms ? number : 0;
    if (unix_ms > 1000000000000 && unix_ms < 4000000000000) {
        timestamp_format_ms(unix_ms, iso);
        fprintf(out, "  (%s)", iso);
    }
    fprintf(out, "\n");
}

/* The columns of a table. */
struct columns {
    const char *names[COLUMNS_MAX];
    int widths[COLUMNS_MAX];
    size_t count;
};

static void cell_text(const json_t *object, const char *name, char *text, size_t capacity)
{
    const json_t *value = json_object_get(object, name);
    text[0] = '\0';
    if (json_is_array(value) || json_is_object(value))
        snprintf(text, capacity, "(%zu)",
                 json_is_array(value) ? json_array_size(value) : json_object_size(value));
    else if (strcmp(name, "time") == 0 && json_is_integer(value))
        timestamp_format_ms((uint64_t)json_integer_value(value), text);
    else if (value != NULL)
        scalar_text(value, text, capacity);
}

static void add_column(struct columns *columns, const char *name)
{
    if (columns->count == COLUMNS_MAX)
        return;
    columns->names[columns->count] = name;
    columns->widths[columns->count++] = (int)strlen(name);
}

static void show_columns(FILE *out, const json_t *array, struct columns *columns)
{
    char text[512];
    size_t index, last = columns->count - 1;
    json_t *object;
    json_array_foreach((json_t *)(uintptr_t)array, index, object)
    {
        for (size_t i = 0; i < columns->count; i++) {
            cell_text(object, columns->names[i], text, sizeof text);
            if ((int)strlen(text) > columns->widths[i])
                columns->widths[i] = (int)strlen(text);
        }
    }
    for (size_t i = 0; i < columns->count; i++)
        fprintf(out, "  %-*s", i < last ? columns->widths[i] : 0, columns->names[i]);
    fprintf(out, "\n");
    json_array_foreach((json_t *)(uintptr_t)array, index, object)
    {
        for (size_t i = 0; i < columns->count; i++) {
            cell_text(object, columns->names[i], text, sizeof text);
            fprintf(out, "  %-*s", i < last ? columns->widths[i] : 0, text);
        }
        fprintf(out, "\n");
    }
}

/* An array of objects: the members of the first are the columns. */
static void show_table(FILE *out, const char *name, const json_t *array)
{
    struct columns columns = { .count = 0 };
    const char *member;
    json_t *value;
    json_object_foreach(json_array_get(array, 0), member, value) add_column(&columns, member);
    fprintf(out, "%s\n", name);
    if (columns.count > 0)
        show_columns(out, array, &columns);
}

void report_rows(FILE *out, const json_t *rows, const char *columns)
{
    struct columns wanted = { .count = 0 };
    char names[COLUMNS_MAX][48];
    while (*columns != '\0' && wanted.count < COLUMNS_MAX) {
        size_t count = strcspn(columns, " ");
        snprintf(names[wanted.count], sizeof names[0], "%.*s", (int)count, columns);
        add_column(&wanted, names[wanted.count]);
        columns += count;
        columns += strspn(columns, " ");
    }
    INVARIANT(wanted.count > 0);
    show_columns(out, rows, &wanted);
}

/* An array of scalars on lines of about 90 columns. */
static void show_list(FILE *out, const char *name, const json_t *array)
{
    size_t index, column = 0;
    json_t *value;
    fprintf(out, "%-30s", name);
    json_array_foreach(array, index, value)
    {
        char text[512];
        scalar_text(value, text, sizeof text);
        if (column > 0 && column + strlen(text) > 64) {
            fprintf(out, "\n%-30s", "");
            column = 0;
        }
        fprintf(out, " %s", text);
        column += strlen(text) + 1;
    }
    fprintf(out, "\n");
}

static void show(FILE *out, const char *prefix, const json_t *value)
{
    char name[NAME_MAX_BYTES];
    const char *member;
    json_t *child;
    if (json_is_array(value) && json_array_size(value) > 0 &&
        json_is_object(json_array_get(value, 0))) {
        show_table(out, prefix, value);
    } else if (json_is_array(value)) {
        show_list(out, prefix, value);
    } else if (json_is_object(value)) {
        json_object_foreach((json_t *)(uintptr_t)value, member, child)
        {
            snprintf(name, sizeof name, "%s%s%s", prefix, prefix[0] != '\0' ? "." : "", member);
            show(out, name, child);
        }
    } else {
        show_scalar(out, prefix, value);
    }
}

void report_object(FILE *out, json_t *object, bool json)
{
    INVARIANT(object != NULL);
    if (json) {
        (void)json_dumpf(object, out, JSON_COMPACT);
        fprintf(out, "\n");
    } else {
        show(out, "", object);
    }
    json_decref(object);
}

void report_answer(FILE *out, const char *text, size_t count, bool json,
                   const struct report_extra *extra)
{
    json_t *root = json_loadb(text, count, 0, NULL);
    if (root == NULL) {
        fprintf(out, "%.*s\n", (int)count, text);
        return;
    }
    json_t *whole = root;
    if (extra != NULL && extra->name != NULL && json_is_object(root)) {
        whole = json_object();
        for (; extra->name != NULL; extra++) {
            if (extra->value != NULL)
                (void)json_object_set_new(whole, extra->name, json_string(extra->value));
            else
                (void)json_object_del(root, extra->name);
        }
        (void)json_object_update(whole, root);
        json_decref(root);
    }
    report_object(out, whole, json);
}

uint32_t report_fraction(const char *dec)
{
    const char *point = dec != NULL ? strchr(dec, '.') : NULL;
    return point != NULL ? (uint32_t)strlen(point + 1) : 0;
}

void report_padded(const char *dec, uint32_t digits, char *text, size_t bytes)
{
    static const char zeros[] = "00000000000000000000";
    uint32_t has = report_fraction(dec);
    bool is_number = dec[0] == '-' ? dec[1] != '\0' : true;
    uint32_t more = is_number && digits > has ? digits - has : 0;
    if (more >= sizeof zeros)
        more = sizeof zeros - 1;
    snprintf(text, bytes, "%s%s%.*s", dec, more != 0 && has == 0 ? "." : "", (int)more, zeros);
}

static const char *level_text(const json_t *levels, size_t number, size_t member)
{
    return json_string_value(json_array_get(json_array_get(levels, number), member));
}

/* The most digits behind a point that a price (member 0) or a size (1) has. */
static uint32_t level_digits(const json_t *book, size_t member)
{
    static const char *const sides[] = { "asks", "bids" };
    uint32_t most = 0;
    for (size_t k = 0; k < CC_COUNT(sides); k++) {
        const json_t *levels = json_object_get(book, sides[k]);
        for (size_t i = 0; i < json_array_size(levels); i++) {
            uint32_t digits = report_fraction(level_text(levels, i, member));
            most = digits > most ? digits : most;
        }
    }
    return most;
}

static void show_side(FILE *out, const json_t *book, bool asks)
{
    const json_t *levels = json_object_get(book, asks ? "asks" : "bids");
    uint32_t digits[] = { level_digits(book, 0), level_digits(book, 1) };
    size_t count = json_array_size(levels);
    for (size_t i = 0; i < count; i++) {
        char texts[2][64];
        for (size_t k = 0; k < CC_COUNT(texts); k++) {
            const char *dec = level_text(levels, asks ? count - 1 - i : i, k);
            report_padded(dec != NULL ? dec : "-", digits[k], texts[k], sizeof texts[k]);
        }
        fprintf(out, "  %-4s %16s %18s\n", asks ? "ask" : "bid", texts[0], texts[1]);
    }
    if (count == 0)
        fprintf(out, "  %-4s %16s\n", asks ? "ask" : "bid", "(none)");
}

/* How far the best prices are from each other. */
static void show_spread(FILE *out, const json_t *book)
{
    const char *ask = level_text(json_object_get(book, "asks"), 0, 0);
    const char *bid = level_text(json_object_get(book, "bids"), 0, 0);
    if (ask != NULL && bid != NULL)
        fprintf(out, "  %-6s %14.*f\n", "spread", (int)level_digits(book, 0),
                strtod(ask, NULL) - strtod(bid, NULL));
}

void report_book(FILE *out, const char *text, size_t count)
{
    json_t *root = json_loadb(text, count, 0, NULL);
    const char *market = json_string_value(json_object_get(root, "market"));
    if (market == NULL) {
        fprintf(out, "%.*s\n", (int)count, text);
        json_decref(root);
        return;
    }
    fprintf(out, "%s  book %lld, engine %lld\n  %-4s %16s %18s\n", market,
            (long long)json_integer_value(json_object_get(root, "seq")),
            (long long)json_integer_value(json_object_get(root, "engine_seq")), "side", "price",
            "size");
    show_side(out, root, true);
    show_spread(out, root);
    show_side(out, root, false);
    json_decref(root);
}

static void dump_json(struct report_dump *dump, const uint8_t *bytes, const struct dump_row *row)
{
    char *hex = malloc(row->size * 2 + 1);
    INVARIANT(hex != NULL);
    hex_encode(hex, bytes, row->size);
    json_t *object = json_pack("{s:I, s:I, s:s, s:s, s:s, s:s}", "offset", (json_int_t)row->offset,
                               "size", (json_int_t)row->size, "name", row->name, "kind", row->kind,
                               "hex", hex, "value", row->value);
    if (object != NULL && row->remark != NULL)
        (void)json_object_set_new(object, "remark", json_string(row->remark));
    fprintf(dump->out, "%s", dump->begun ? "," : "{\"fields\":[");
    (void)json_dumpf(object, dump->out, JSON_COMPACT);
    json_decref(object);
    free(hex);
}

void report_dump_row(void *context, const uint8_t *bytes, const struct dump_row *row)
{
    struct report_dump *dump = context;
    if (row->remark != NULL)
        dump->remarks++;
    if (dump->json) {
        dump_json(dump, bytes, row);
        dump->begun = true;
        return;
    }
    if (!dump->begun)
        fprintf(dump->out, "offset size bytes                    %-28s %-9s value\n", "field",
                "kind");
    dump->begun = true;
    for (size_t at = 0; at < row->size; at += HEX_PER_LINE) {
        char hex[HEX_PER_LINE * 3 + 1] = "";
        for (size_t i = 0; i < HEX_PER_LINE && at + i < row->size; i++)
            snprintf(hex + i * 3, 4, "%02x ", bytes[at + i]);
        if (at == 0)
            fprintf(dump->out, "%6zu %4zu %-24s %-28s %-9s %s\n", row->offset, row->size, hex,
                    row->name, row->kind, row->value);
        else
            fprintf(dump->out, "%11s %s\n", "", hex);
    }
    if (row->remark != NULL)
        fprintf(dump->out, "%36s ^ offset %zu: %s\n", "", row->offset, row->remark);
}
