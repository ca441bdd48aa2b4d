/* json_scan.h - strict JSON reader over a buffer, without allocation (wire.md W1): tokens by pull.
 *
 * It reads one object in UTF-8 without a byte order mark; only white space may surround it.
 * Containers nest at most 8 deep. A member name is unique in its object; names are compared with
 * escapes resolved. Escapes and numbers are those of RFC 8259, surrogates only in pairs. Pure: any
 * thread, and the engine (code 1001).
 *
 *   struct json_token token;
 *   json_scan_begin(&scan, text, count);
 *   while (json_scan_next(&scan, &token)) ...   // false: the end, or scan.error
 *
 * Owner. Spans point into the caller's text and live as long as it does.
 * Bound. JSON_NAMES_MAX names are open at once; 16 KiB of text cannot hold more in one object.
 * Cost.  One pass, 16 bytes of a string a step; each name is searched by halves among those of its
 *        object. The scanner is 10 KB and needs no clearing. */
#ifndef BASE_JSON_SCAN_H
#define BASE_JSON_SCAN_H

#include "base/compiler.h"

enum {
    JSON_DEPTH_MAX = 8,
    JSON_NAMES_MAX = 2400,
    JSON_TEXT_MAX = 1 << 24, /* bytes of text; more is JSON_ERROR_TOO_LONG */
};

enum json_error {
    JSON_OK,
    JSON_ERROR_SYNTAX, /* an unexpected character, or the text ends too early */
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
    JSON_NONE, /* the member is absent */
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

/* A string as written, without its quotes; or the characters of a number or word. */
struct json_span {
    const char *text;
    uint32_t count;
    bool escaped; /* has escapes: read it with json_scan_unescape */
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
    uint32_t at; /* next unread byte; after an error its index in the text */
    enum json_error error;
    uint32_t depth;      /* open containers */
    uint32_t name_count; /* names of all open objects */
    uint32_t compared;   /* pairs of names so far: what the names cost */
    uint8_t want;        /* what may come next (private) */
    bool is_array[JSON_DEPTH_MAX + 1];
    uint32_t name_base[JSON_DEPTH_MAX + 1]; /* first name of the open object at each depth */
    uint32_t name_at[JSON_NAMES_MAX];       /* those of one object are in order */
};

void json_scan_begin(struct json_scan *scan, const char *text, size_t count);

/* Stores the next token and returns true. Returns false at the end of a well-formed text
 * (scan->error is JSON_OK) and at an error (scan->error and scan->at say which and where). */
CC_MUST_USE bool json_scan_next(struct json_scan *scan, struct json_token *token);

/* Reads on to the end of the container that `token` opens; does nothing for other tokens. False at
 * an error. */
CC_MUST_USE bool json_scan_skip(struct json_scan *scan, const struct json_token *token);

/* A member of the outermost object that the caller asks for; json_scan_members fills its value. */
struct json_member {
    const char *name;
    size_t name_count;
    enum json_kind kind; /* JSON_NONE: absent; a container is skipped, its kind is kept */
    struct json_span value;
};

#define JSON_MEMBER(literal)                                 \
    {                                                        \
        .name = (literal), .name_count = sizeof(literal) - 1 \
    }

/* Reads the whole text as one object and fills the given members; others are checked and ignored.
 * After an error the members are undefined and *error_at (may be NULL) is its index in the text. */
CC_MUST_USE enum json_error json_scan_members(const char *text, size_t count,
                                              struct json_member *members, size_t member_count,
                                              size_t *error_at);

/* True if the string equals `text` when its escapes are resolved. */
CC_MUST_USE bool json_scan_equal(const struct json_span *span, const char *text, size_t count);

/* Writes the string of a token with its escapes resolved, which is never longer than the span.
 * Returns its length, or -1 when it does not fit `capacity`. */
CC_MUST_USE ptrdiff_t json_scan_unescape(const struct json_span *span, char *out, size_t capacity);

/* Reads a number without fraction and exponent. False when it does not fit; *value is then
 * unchanged. "-0" is not an unsigned integer. */
CC_MUST_USE bool json_scan_int64(const struct json_span *span, int64_t *value);
CC_MUST_USE bool json_scan_uint64(const struct json_span *span, uint64_t *value);

/* Returns the words for the detail of a problem, such as "a member appears twice"; static
 * storage. */
const char *json_scan_error_text(enum json_error error);

#endif
