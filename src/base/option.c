#include "base/option.h"

#include "base/base64.h"
#include "base/comma_list.h"
#include "base/hex.h"

static const struct option_row rows[] = {
#define X(section, key, type, engine, built, initial, minimum, maximum, help) \
    { #section "." #key,                                                      \
      initial,                                                                \
      help,                                                                   \
      (uint64_t)(minimum),                                                    \
      (uint64_t)(maximum),                                                    \
      sizeof(initial) - 1,                                                    \
      OPTION_TYPE_##type,                                                     \
      engine,                                                                 \
      (engine) != 0,                                                          \
      built },
    OPTION_LIST(X)
#undef X
};

static_assert(CC_COUNT(rows) == OPTION_COUNT, "a row for each option");

enum { KEY_BYTES = 32, KEY_TEXT_BYTES = 44, OPTION_SINCE_FIRST = 1 };

const struct option_row *option_row(enum option option)
{
    INVARIANT((unsigned)option < OPTION_COUNT);
    return &rows[option];
}

/* A piece of the body. */
struct span {
    const char *text;
    size_t count;
};

/* Compares the name of an option with a key: negative, 0 or positive, in text order. */
static int compare_name(const char *name, struct span key)
{
    for (size_t i = 0; i < key.count; i++) {
        if (name[i] == '\0')
            return -1;
        if (name[i] != key.text[i])
            return (unsigned char)name[i] < (unsigned char)key.text[i] ? -1 : 1;
    }
    return name[key.count] == '\0' ? 0 : 1;
}

static bool span_is(struct span span, const char *word)
{
    return compare_name(word, span) == 0;
}

/* Cuts the piece before `end` off `rest`, and consumes `end`. False if there is no `end`. */
static bool cut_until(struct span *rest, char end, struct span *piece)
{
    for (size_t i = 0; i < rest->count; i++) {
        if (rest->text[i] == end) {
            *piece = (struct span){ rest->text, i };
            *rest = (struct span){ rest->text + i + 1, rest->count - i - 1 };
            return true;
        }
    }
    return false;
}

static bool parse_number(struct span span, const struct option_row *row, uint64_t *value)
{
    if (span.count == 0 || span.count > 19 || (span.count > 1 && span.text[0] == '0'))
        return false;
    uint64_t number = 0;
    for (size_t i = 0; i < span.count; i++) {
        if (span.text[i] < '0' || span.text[i] > '9')
            return false;
        number = number * 10 + (uint64_t)(span.text[i] - '0');
    }
    *value = number;
    return number >= row->minimum && number <= row->maximum;
}

static bool parse_key(struct span span, uint8_t key[KEY_BYTES])
{
    return span.count == KEY_TEXT_BYTES &&
           base64_decode(key, KEY_BYTES, span.text, span.count, NULL) == KEY_BYTES;
}

/* Parses keys separated by commas; empty text is none. */
static bool parse_keys(struct span span, uint8_t keys[][KEY_BYTES], uint32_t *count)
{
    struct comma_list list = comma_list_of(span.text, span.count);
    struct span piece;

    *count = 0;
    if (span.count == 0)
        return true;
    while (comma_list_next(&list, &piece.text, &piece.count)) {
        if (*count == OPTION_KEYS_MAX || !parse_key(piece, keys[*count]))
            return false;
        ++*count;
    }
    return true;
}

/* Parses the key of a KEY row; empty text is none. */
static bool parse_optional_key(struct span span, uint8_t key[KEY_BYTES], bool *has_key)
{
    *has_key = span.count > 0;
    return !*has_key || parse_key(span, key);
}

static bool parse_value(struct option_engine *options, enum option option, struct span value)
{
    const struct option_row *row = &rows[option];
    switch (option) {
    case OPTION_exchange_operator_key:
        return parse_optional_key(value, options->operator_key, &options->has_operator_key);
    case OPTION_exchange_treasury_key:
        return parse_optional_key(value, options->treasury_key, &options->has_treasury_key);
    case OPTION_exchange_signing_public:
        return parse_optional_key(value, options->signing_public, &options->has_signing_public);
    case OPTION_exchange_oracle_keys:
        return parse_keys(value, options->oracle_keys, &options->oracle_key_count);
    case OPTION_exchange_id:
        options->has_exchange_id = value.count > 0;
        return value.count == 0 ||
               hex_decode(options->exchange_id, KEY_BYTES, value.text, value.count);
    default:
        break;
    }
    if (row->type == OPTION_TYPE_SWITCH) {
        options->values[option] = span_is(value, "on");
        return span_is(value, "on") || span_is(value, "off");
    }
    INVARIANT(row->type == OPTION_TYPE_INT || row->type == OPTION_TYPE_SIZE);
    return parse_number(value, row, &options->values[option]);
}

/* Returns the engine option of a key; OPTION_COUNT if there is none. */
static enum option find(struct span key)
{
    for (unsigned i = 0; i < OPTION_COUNT; i++)
        if (rows[i].engine && rows[i].built && compare_name(rows[i].name, key) == 0)
            return (enum option)i;
    return OPTION_COUNT;
}

/* Gives the options without a line their defaults. False unless they are all the options that were
 * added after some version. */
static bool add_younger(struct option_engine *options, const bool seen[OPTION_COUNT])
{
    for (unsigned i = 0; i < OPTION_COUNT; i++) {
        if (!rows[i].engine || !rows[i].built || seen[i])
            continue;
        if (rows[i].since <= OPTION_SINCE_FIRST)
            return false;
        for (unsigned j = 0; j < OPTION_COUNT; j++)
            if (seen[j] && rows[j].since >= rows[i].since)
                return false;
        const struct span initial = { rows[i].initial, rows[i].initial_bytes };
        if (!parse_value(options, (enum option)i, initial))
            return false;
    }
    return true;
}

bool option_parse_engine(struct option_engine *options, const uint8_t *body, size_t body_bytes)
{
    memset(options, 0, sizeof *options);
    struct span rest = { (const char *)body, body_bytes };
    bool seen[OPTION_COUNT] = { false };
    size_t pad = 0;
    while (rest.count > 0 && rest.text[rest.count - 1] == '\0') {
        rest.count--;
        pad++;
    }
    if (body_bytes % 8 != 0 || pad >= 8)
        return false;

    struct span before = { "", 0 };
    while (rest.count > 0) {
        struct span line;
        struct span key;
        if (!cut_until(&rest, '\n', &line) || !cut_until(&line, '=', &key))
            return false;
        enum option option = find(key);
        if (option == OPTION_COUNT)
            return false;
        if (before.count > 0 && compare_name(rows[option].name, before) <= 0)
            return false;
        if (!parse_value(options, option, line))
            return false;
        before = key;
        seen[option] = true;
    }
    return add_younger(options, seen);
}

bool option_change_signing_public(struct option_engine *options, uint8_t *body, size_t body_bytes,
                                  const uint8_t key[KEY_BYTES])
{
    char text[KEY_TEXT_BYTES + 1];
    struct span rest = { (const char *)body, body_bytes };
    struct span line, name;

    while (options->has_signing_public && cut_until(&rest, '\n', &line)) {
        if (!cut_until(&line, '=', &name) || find(name) != OPTION_exchange_signing_public)
            continue;
        (void)base64_encode(text, key, KEY_BYTES);
        memcpy(body + (line.text - (const char *)body), text, KEY_TEXT_BYTES);
        memcpy(options->signing_public, key, KEY_BYTES);
        return true;
    }
    return false;
}
