#include "base/json_scan.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/text.h"

/* What may come next. */
enum want {
    WANT_TEXT,         /* the outermost object */
    WANT_FIRST_MEMBER, /* a name or '}' */
    WANT_FIRST_ITEM,   /* a value or ']' */
    WANT_NEXT,         /* ',' or the closing bracket */
    WANT_NOTHING,      /* white space to the end */
};

static bool fail(struct json_scan *scan, enum json_error error, uint32_t at)
{
    scan->error = error;
    scan->at = at;
    return false;
}

static void skip_space(struct json_scan *scan)
{
    uint32_t at = scan->at;
    while (at < scan->count && (scan->text[at] == ' ' || scan->text[at] == '\n' ||
                                scan->text[at] == '\r' || scan->text[at] == '\t'))
        at++;
    scan->at = at;
}

static bool is_plain(uint8_t byte)
{
    return byte >= 0x20 && byte != '"' && byte != '\\' && byte < 0x80;
}

/* Returns the index, from `at` on, of the first byte that is a quote, a backslash, a control or not
 * ASCII; `count` if there is none. */
static uint32_t plain_end(const char *text, uint32_t at, uint32_t count)
{
#if defined(__SSE2__)
    const __m128i quote = _mm_set1_epi8('"');
    const __m128i backslash = _mm_set1_epi8('\\');
    const __m128i space = _mm_set1_epi8(' ');
    for (; at + 16 <= count; at += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i_u *)(const void *)(text + at));
        /* Signed: bytes from 0x80 up compare below the space, as controls do. */
        __m128i special = _mm_or_si128(
            _mm_cmplt_epi8(bytes, space),
            _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)));
        unsigned mask = (unsigned)_mm_movemask_epi8(special);
        if (mask != 0)
            return at + (uint32_t)__builtin_ctz(mask);
    }
#endif
    while (at < count && is_plain((uint8_t)text[at]))
        at++;
    return at;
}

/* Returns the value of four hex digits; -1 if they are not. */
static int32_t hex4(const char *text)
{
    int32_t value = 0;
    for (unsigned i = 0; i < 4; i++) {
        char c = text[i];
        int32_t digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
        if (digit < 0)
            return -1;
        value = value << 4 | digit;
    }
    return value;
}

/* Decodes the escape whose backslash is at `text` to UTF-8 and returns the bytes consumed, 0 when
 * it is malformed. `out` has room for 4 bytes; *out_count gets their number. */
static uint32_t read_escape(const char *text, uint32_t left, char *out, uint32_t *out_count)
{
    static const char names[] = "\"\\/bfnrt";
    static const char values[] = "\"\\/\b\f\n\r\t";
    if (left < 2)
        return 0;
    for (unsigned i = 0; i < sizeof names - 1; i++) {
        if (text[1] == names[i]) {
            out[0] = values[i];
            *out_count = 1;
            return 2;
        }
    }
    int32_t unit = text[1] == 'u' && left >= 6 ? hex4(text + 2) : -1;
    if (unit < 0 || (unit >= 0xdc00 && unit <= 0xdfff))
        return 0;
    uint32_t code = (uint32_t)unit;
    uint32_t used = 6;
    if (unit >= 0xd800 && unit <= 0xdbff) {
        int32_t low = left >= 12 && text[6] == '\\' && text[7] == 'u' ? hex4(text + 8) : -1;
        if (low < 0xdc00 || low > 0xdfff)
            return 0;
        code = 0x10000 + ((uint32_t)(unit - 0xd800) << 10) + (uint32_t)(low - 0xdc00);
        used = 12;
    }
    if (code < 0x80) {
        out[0] = (char)code;
        *out_count = 1;
    } else if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 63));
        *out_count = 2;
    } else if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 63));
        out[2] = (char)(0x80 | (code & 63));
        *out_count = 3;
    } else {
        out[0] = (char)(0xf0 | code >> 18);
        out[1] = (char)(0x80 | (code >> 12 & 63));
        out[2] = (char)(0x80 | (code >> 6 & 63));
        out[3] = (char)(0x80 | (code & 63));
        *out_count = 4;
    }
    return used;
}

/* Reads the string whose opening quote is at scan->at. */
static bool read_string(struct json_scan *scan, struct json_span *span)
{
    const char *text = scan->text;
    uint32_t start = scan->at + 1;
    uint32_t at = start;
    uint32_t wide_at = UINT32_MAX; /* first byte that is not ASCII */
    bool escaped = false;
    for (;;) {
        at = plain_end(text, at, scan->count);
        if (at == scan->count)
            return fail(scan, JSON_ERROR_SYNTAX, at);
        if (text[at] == '"')
            break;
        if (text[at] == '\\') {
            char bytes[4];
            uint32_t byte_count;
            uint32_t used = read_escape(text + at, scan->count - at, bytes, &byte_count);
            if (used == 0)
                return fail(scan, JSON_ERROR_ESCAPE, at);
            escaped = true;
            at += used;
        } else if ((uint8_t)text[at] < 0x20) {
            return fail(scan, JSON_ERROR_SYNTAX, at);
        } else {
            wide_at = wide_at == UINT32_MAX ? at : wide_at;
            at++;
        }
    }
    if (wide_at != UINT32_MAX && !text_is_utf8(text + start, at - start))
        return fail(scan, JSON_ERROR_UTF8, wide_at);
    *span = (struct json_span){ .text = text + start, .count = at - start, .escaped = escaped };
    scan->at = at + 1;
    return true;
}

static bool is_digit_at(const struct json_scan *scan, uint32_t at)
{
    return at < scan->count && scan->text[at] >= '0' && scan->text[at] <= '9';
}

static bool read_number(struct json_scan *scan, struct json_span *span)
{
    uint32_t start = scan->at;
    uint32_t at = start;
    if (scan->text[at] == '-')
        at++;
    if (!is_digit_at(scan, at))
        return fail(scan, JSON_ERROR_SYNTAX, at);
    if (scan->text[at] == '0') {
        at++;
    } else {
        while (is_digit_at(scan, at))
            at++;
    }
    if (at < scan->count && scan->text[at] == '.') {
        at++;
        if (!is_digit_at(scan, at))
            return fail(scan, JSON_ERROR_SYNTAX, at);
        while (is_digit_at(scan, at))
            at++;
    }
    if (at < scan->count && (scan->text[at] | 0x20) == 'e') {
        at++;
        if (at < scan->count && (scan->text[at] == '+' || scan->text[at] == '-'))
            at++;
        if (!is_digit_at(scan, at))
            return fail(scan, JSON_ERROR_SYNTAX, at);
        while (is_digit_at(scan, at))
            at++;
    }
    *span = (struct json_span){ .text = scan->text + start, .count = at - start };
    scan->at = at;
    return true;
}

static bool read_word(struct json_scan *scan, struct json_token *token)
{
    static const struct word {
        const char *text;
        uint32_t count;
        enum json_kind kind;
    } words[] = { { "true", 4, JSON_TRUE }, { "false", 5, JSON_FALSE }, { "null", 4, JSON_NULL } };

    for (unsigned i = 0; i < CC_COUNT(words); i++) {
        const struct word *word = &words[i];
        if (scan->count - scan->at >= word->count &&
            memcmp(scan->text + scan->at, word->text, word->count) == 0) {
            token->kind = word->kind;
            token->value = (struct json_span){ scan->text + scan->at, word->count, false };
            scan->at += word->count;
            return true;
        }
    }
    return fail(scan, JSON_ERROR_SYNTAX, scan->at);
}

/* The bytes of a string, one by one, escapes resolved. */
struct bytes {
    const char *at;
    uint32_t left;
    char pending[4];
    uint32_t pending_at, pending_count;
};

static struct bytes bytes_of(const struct json_span *span)
{
    return (struct bytes){ .at = span->text, .left = span->count };
}

/* Returns the next byte, or -1 at the end. The scan has checked the string, so its escapes are
 * well-formed. */
static int bytes_next(struct bytes *bytes)
{
    if (bytes->pending_at < bytes->pending_count)
        return (uint8_t)bytes->pending[bytes->pending_at++];
    if (bytes->left == 0)
        return -1;
    if (*bytes->at != '\\') {
        bytes->left--;
        return (uint8_t)*bytes->at++;
    }
    uint32_t used = read_escape(bytes->at, bytes->left, bytes->pending, &bytes->pending_count);
    INVARIANT(used != 0);
    bytes->at += used;
    bytes->left -= used;
    bytes->pending_at = 1;
    return (uint8_t)bytes->pending[0];
}

/* The order of two strings, escapes resolved: below 0, 0 or above 0. A shorter one comes first. */
static int spans_order(const struct json_span *a, const struct json_span *b)
{
    if (!a->escaped && !b->escaped) {
        int order = memcmp(a->text, b->text, a->count < b->count ? a->count : b->count);
        return order != 0 ? order : (a->count > b->count) - (a->count < b->count);
    }
    struct bytes left = bytes_of(a);
    struct bytes right = bytes_of(b);
    for (;;) {
        int byte = bytes_next(&left);
        int order = byte - bytes_next(&right);
        if (order != 0 || byte < 0)
            return order;
    }
}

/* Returns the name that starts at `at`, which the scan has checked before. */
static struct json_span name_again(const struct json_scan *scan, uint32_t at)
{
    struct json_span name = { .text = scan->text + at };
    while (name.text[name.count] != '"') {
        bool escape = name.text[name.count] == '\\';
        name.escaped |= escape;
        name.count += escape ? 2 : 1;
    }
    return name;
}

/* Adds a name to its object, whose names are kept in order: no choice of names makes one
 * more of them cost above a search by halves and a move. False if the object has it. */
static bool enter_name(struct json_scan *scan, const struct json_span *name)
{
    uint32_t at = (uint32_t)(name->text - scan->text);
    uint32_t first = scan->name_base[scan->depth];
    uint32_t last = scan->name_count;
    while (first < last) {
        uint32_t middle = first + (last - first) / 2;
        struct json_span other = name_again(scan, scan->name_at[middle]);
        int order = spans_order(name, &other);
        scan->compared++;
        if (order == 0)
            return fail(scan, JSON_ERROR_DUPLICATE, at - 1);
        if (order < 0)
            last = middle;
        else
            first = middle + 1;
    }
    if (scan->name_count == JSON_NAMES_MAX)
        return fail(scan, JSON_ERROR_NAMES, at - 1);
    memmove(&scan->name_at[first + 1], &scan->name_at[first],
            (scan->name_count - first) * sizeof scan->name_at[0]);
    scan->name_at[first] = at;
    scan->name_count++;
    return true;
}

static bool open_container(struct json_scan *scan, struct json_token *token, bool is_array)
{
    if (scan->depth == JSON_DEPTH_MAX)
        return fail(scan, JSON_ERROR_DEPTH, scan->at);
    scan->depth++;
    scan->is_array[scan->depth] = is_array;
    scan->name_base[scan->depth] = scan->name_count;
    token->kind = is_array ? JSON_ARRAY : JSON_OBJECT;
    token->value = (struct json_span){ scan->text + scan->at, 1, false };
    scan->at++;
    scan->want = is_array ? WANT_FIRST_ITEM : WANT_FIRST_MEMBER;
    return true;
}

static bool close_container(struct json_scan *scan, struct json_token *token)
{
    token->kind = scan->is_array[scan->depth] ? JSON_ARRAY_END : JSON_OBJECT_END;
    token->named = false;
    token->value = (struct json_span){ scan->text + scan->at, 1, false };
    scan->name_count = scan->name_base[scan->depth];
    scan->depth--;
    scan->at++;
    scan->want = scan->depth == 0 ? WANT_NOTHING : WANT_NEXT;
    return true;
}

static bool read_value(struct json_scan *scan, struct json_token *token)
{
    if (scan->at == scan->count)
        return fail(scan, JSON_ERROR_SYNTAX, scan->at);
    char first = scan->text[scan->at];
    if (first == '{' || first == '[')
        return open_container(scan, token, first == '[');
    scan->want = WANT_NEXT;
    if (first == '"') {
        token->kind = JSON_STRING;
        return read_string(scan, &token->value);
    }
    if (first == '-' || (first >= '0' && first <= '9')) {
        token->kind = JSON_NUMBER;
        return read_number(scan, &token->value);
    }
    return read_word(scan, token);
}

static bool read_member(struct json_scan *scan, struct json_token *token)
{
    if (scan->at == scan->count || scan->text[scan->at] != '"')
        return fail(scan, JSON_ERROR_SYNTAX, scan->at);
    if (!read_string(scan, &token->name) || !enter_name(scan, &token->name))
        return false;
    token->named = true;
    skip_space(scan);
    if (scan->at == scan->count || scan->text[scan->at] != ':')
        return fail(scan, JSON_ERROR_SYNTAX, scan->at);
    scan->at++;
    skip_space(scan);
    return read_value(scan, token);
}

void json_scan_begin(struct json_scan *scan, const char *text, size_t count)
{
    scan->text = text;
    scan->count = count <= JSON_TEXT_MAX ? (uint32_t)count : 0;
    scan->at = 0;
    scan->error = count <= JSON_TEXT_MAX ? JSON_OK : JSON_ERROR_TOO_LONG;
    scan->depth = 0;
    scan->name_count = 0;
    scan->compared = 0;
    scan->want = WANT_TEXT;
}

bool json_scan_next(struct json_scan *scan, struct json_token *token)
{
    if (scan->error != JSON_OK)
        return false;
    skip_space(scan);
    token->named = false;
    bool at_end = scan->at == scan->count;
    char first = at_end ? '\0' : scan->text[scan->at];
    switch ((enum want)scan->want) {
    case WANT_TEXT:
        if (first == '{')
            return open_container(scan, token, false);
        if (scan->count >= 3 && memcmp(scan->text, "\xef\xbb\xbf", 3) == 0)
            return fail(scan, JSON_ERROR_UTF8, 0);
        return fail(scan, JSON_ERROR_NOT_OBJECT, scan->at);
    case WANT_FIRST_MEMBER:
        return first == '}' ? close_container(scan, token) : read_member(scan, token);
    case WANT_FIRST_ITEM:
        return first == ']' ? close_container(scan, token) : read_value(scan, token);
    case WANT_NEXT:
        if (first == (scan->is_array[scan->depth] ? ']' : '}'))
            return close_container(scan, token);
        if (first != ',')
            return fail(scan, JSON_ERROR_SYNTAX, scan->at);
        scan->at++;
        skip_space(scan);
        return scan->is_array[scan->depth] ? read_value(scan, token) : read_member(scan, token);
    case WANT_NOTHING:
        return at_end ? false : fail(scan, JSON_ERROR_TRAILING, scan->at);
    }
    INVARIANT(false);
    return false;
}

bool json_scan_skip(struct json_scan *scan, const struct json_token *token)
{
    if (token->kind != JSON_OBJECT && token->kind != JSON_ARRAY)
        return true;
    uint32_t outside = scan->depth - 1;
    struct json_token inner;
    while (scan->depth > outside)
        if (!json_scan_next(scan, &inner))
            return false;
    return true;
}

enum json_error json_scan_members(const char *text, size_t count, struct json_member *members,
                                  size_t member_count, size_t *error_at)
{
    for (size_t i = 0; i < member_count; i++)
        members[i].kind = JSON_NONE;
    struct json_scan scan;
    struct json_token token;
    json_scan_begin(&scan, text, count);
    while (json_scan_next(&scan, &token)) {
        if (!token.named) /* the brackets of the outermost object itself */
            continue;
        for (size_t i = 0; i < member_count; i++) {
            struct json_member *member = &members[i];
            if (member->kind == JSON_NONE &&
                json_scan_equal(&token.name, member->name, member->name_count)) {
                member->kind = token.kind;
                member->value = token.value;
                break;
            }
        }
        if (!json_scan_skip(&scan, &token))
            break;
    }
    if (error_at != NULL)
        *error_at = scan.at;
    return scan.error;
}

bool json_scan_equal(const struct json_span *span, const char *text, size_t count)
{
    if (!span->escaped)
        return span->count == count && memcmp(span->text, text, count) == 0;
    struct bytes bytes = bytes_of(span);
    for (size_t i = 0; i < count; i++)
        if (bytes_next(&bytes) != (uint8_t)text[i])
            return false;
    return bytes_next(&bytes) < 0;
}

ptrdiff_t json_scan_unescape(const struct json_span *span, char *out, size_t capacity)
{
    if (!span->escaped) {
        if (span->count > capacity)
            return -1;
        memcpy(out, span->text, span->count);
        return span->count;
    }
    struct bytes bytes = bytes_of(span);
    size_t count = 0;
    for (int byte = bytes_next(&bytes); byte >= 0; byte = bytes_next(&bytes)) {
        if (count == capacity)
            return -1;
        out[count++] = (char)byte;
    }
    return (ptrdiff_t)count;
}

/* Reads digits as a number of at most `max`. False for anything else. */
static bool read_digits(const char *text, uint32_t count, uint64_t max, uint64_t *value)
{
    if (count == 0 || count > 20)
        return false;
    uint128 sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        sum = sum * 10 + (unsigned)(text[i] - '0');
    }
    if (sum > max)
        return false;
    *value = (uint64_t)sum;
    return true;
}

bool json_scan_uint64(const struct json_span *span, uint64_t *value)
{
    return read_digits(span->text, span->count, UINT64_MAX, value);
}

bool json_scan_int64(const struct json_span *span, int64_t *value)
{
    bool negative = span->count > 0 && span->text[0] == '-';
    uint32_t sign = negative ? 1 : 0;
    uint64_t magnitude;
    if (!read_digits(span->text + sign, span->count - sign, (uint64_t)INT64_MAX + sign, &magnitude))
        return false;
    *value = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return true;
}

const char *json_scan_error_text(enum json_error error)
{
    static const char *const texts[] = {
        [JSON_OK] = "well formed",
        [JSON_ERROR_SYNTAX] = "not JSON",
        [JSON_ERROR_UTF8] = "not UTF-8, or a byte order mark",
        [JSON_ERROR_ESCAPE] = "a bad escape",
        [JSON_ERROR_NOT_OBJECT] = "not an object",
        [JSON_ERROR_DEPTH] = "nested more than 8 deep",
        [JSON_ERROR_DUPLICATE] = "a member appears twice",
        [JSON_ERROR_TRAILING] = "something follows the object",
        [JSON_ERROR_NAMES] = "too many members",
        [JSON_ERROR_TOO_LONG] = "too long",
    };
    return (unsigned)error < CC_COUNT(texts) ? texts[error] : "unknown";
}
