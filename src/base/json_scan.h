/* json_scan.h - strict JSON reader over a buffer, without allocation (wire.md W1): tokens by pull.
 *
 * One object in UTF-8 without a byte order mark; containers nest at most 8 deep; a member name
 * appears once in its object, compared after its escapes; escapes are RFC 8259's, surrogates only
 * in pairs; numbers are RFC 8259's; only white space surrounds the object. Pure: any
 * thread, the engine too (code 1001).
 *
 *   struct json_token token;
 *   json_scan_begin(&scan, text, count);
 *   while (json_scan_next(&scan, &token)) ...   // false: the end, or scan.error
 *
 * Owner. Spans point into the caller's text and live as long as it does.
 * Bound. JSON_NAMES_MAX names are open at once; 16 KiB of text cannot hold more in one object.
 * Cost.  One pass; strings go by 16 bytes a step. The scanner is 15 KB and needs no clearing. */
#ifndef BASE_JSON_SCAN_H
#define BASE_JSON_SCAN_H

#include "base/cc.h"

enum {
    JSON_DEPTH_MAX = 8,
    JSON_NAMES_MAX = 2400,
    JSON_TEXT_MAX = 1 << 24, /* bytes of text; more is JSON_ERROR_TOO_LONG */
};

enum json_error {
    JSON_OK,
    JSON_ERROR_SYNTAX, /* a character out of place, or the text ends too early */
    JSON_ERROR_UTF8,   /* bytes that are not UTF-8, or a byte order mark */
    JSON_ERROR_ESCAPE, /* unknown escape or an unpaired surrogate */
    JSON_ERROR_NOT_OBJECT,
    JSON_ERROR_DEPTH,
    JSON_ERROR_DUPLICATE, /* a member that its object already has */
    JSON_ERROR_TRAILING,  /* something after the object */
    JSON_ERROR_NAMES,     /* more than JSON_NAMES_MAX names open */
    JSON_ERROR_TOO_LONG,
};

enum json_kind {
    JSON_NONE, /* a member that is not there */
    JSON_OBJECT,
    JSON_OBJECT_END,
    JSON_ARRAY,
    JSON_ARRAY_END,
    JSON_STRING,
    JSON_NUMBER,
    JSON_TRUE,
    JSON_FALSE,
    JSON_NULL,
};

/* A string without its quotes as it is in the text, or the characters of a number or word. */
struct json_span {
    const char *text;
    uint32_t count;
    bool escaped; /* holds escapes: take it through json_scan_unescape */
};

struct json_token {
    enum json_kind kind;
    bool named; /* a member of an object; `name` is valid */
    struct json_span name;
    struct json_span value; /* strings, numbers, words; for containers the opening bracket */
};

struct json_scan {
    const char *text;
    uint32_t count;
    uint32_t at; /* next unread byte; at an error the place of the error */
    enum json_error error;
    uint32_t depth;      /* open containers */
    uint32_t name_count; /* names of all open objects */
    uint8_t want;        /* what may come next (private) */
    bool is_array[JSON_DEPTH_MAX + 1];
    uint32_t name_base[JSON_DEPTH_MAX + 1]; /* first name of the open object at each depth */
    uint16_t name_hash[JSON_NAMES_MAX];
    uint32_t name_at[JSON_NAMES_MAX];
};

void json_scan_begin(struct json_scan *scan, const char *text, size_t count);

/* Gives the next token and true; false at the end of a well-formed text (scan->error is JSON_OK) or
 * at an error (scan->error says which, scan->at where). */
CC_MUST_USE bool json_scan_next(struct json_scan *scan, struct json_token *token);

/* After a JSON_OBJECT or JSON_ARRAY token: reads on to its end. False at an error. After any other
 * token: nothing, true. */
CC_MUST_USE bool json_scan_skip(struct json_scan *scan, const struct json_token *token);

/* A wanted member of the outermost object and, after json_scan_members, its value. */
struct json_member {
    const char *name;
    size_t name_count;
    enum json_kind kind; /* JSON_NONE: not there; a container is skipped, its kind is kept */
    struct json_span value;
};

#define JSON_MEMBER(literal)                                 \
    {                                                        \
        .name = (literal), .name_count = sizeof(literal) - 1 \
    }

/* Reads the whole text as one object and fills the wanted members; unknown ones are ignored but
 * checked. On an error the members are undefined and *error_at (may be NULL) is its place. */
CC_MUST_USE enum json_error json_scan_members(const char *text, size_t count,
                                              struct json_member *members, size_t member_count,
                                              size_t *error_at);

/* Is the string equal to `text`, escapes resolved. */
CC_MUST_USE bool json_scan_equal(const struct json_span *span, const char *text, size_t count);

/* Writes the string with its escapes resolved (never longer than the span) and gives its length, or
 * -1 when it does not fit `capacity`. The span comes from a token of a scan. */
CC_MUST_USE ptrdiff_t json_scan_unescape(const struct json_span *span, char *out, size_t capacity);

/* A number without fraction and exponent that fits; "-0" is not an unsigned integer. */
CC_MUST_USE bool json_scan_int64(const struct json_span *span, int64_t *value);
CC_MUST_USE bool json_scan_uint64(const struct json_span *span, uint64_t *value);

/* Static words for the detail of a problem: "a member appears twice". */
const char *json_scan_error_text(enum json_error error);

#endif
