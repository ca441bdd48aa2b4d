/* The strict JSON scanner against jansson: the same texts are JSON for both, but for the limits
 * that json_scan.h states. Spans never leave the text. */
/* jansson's type names are ours too. */
#define JSON_OBJECT JANSSON_OBJECT
#define JSON_ARRAY  JANSSON_ARRAY
#define JSON_STRING JANSSON_STRING
#define JSON_TRUE   JANSSON_TRUE
#define JSON_FALSE  JANSSON_FALSE
#define JSON_NULL   JANSSON_NULL
#include <jansson.h>
#undef JSON_OBJECT
#undef JSON_ARRAY
#undef JSON_STRING
#undef JSON_TRUE
#undef JSON_FALSE
#undef JSON_NULL

#include <stdlib.h>

#include "base/json_scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool inside(const char *text, size_t size, const struct json_span *span)
{
    return span->count == 0 ||
           (span->text >= text && span->text + span->count <= text + size && span->count <= size);
}

static enum json_error scan_all(const char *text, size_t size)
{
    static struct json_scan scan;
    struct json_token token;
    char *out = malloc(size + 1);

    json_scan_begin(&scan, text, size);
    while (json_scan_next(&scan, &token)) {
        if (!inside(text, size, &token.value) || (token.named && !inside(text, size, &token.name)))
            abort();
        if (token.kind == JSON_STRING) {
            ptrdiff_t count = json_scan_unescape(&token.value, out, size);
            if (count < 0 || count > (ptrdiff_t)token.value.count)
                abort();
            if (!json_scan_equal(&token.value, out, (size_t)count))
                abort();
        }
    }
    if (scan.error == JSON_OK && scan.depth != 0)
        abort();
    if (scan.at > size)
        abort();
    free(out);
    return scan.error;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* A copy of the exact size: a read past its end is found. */
    char *text = malloc(size > 0 ? size : 1);
    json_error_t error;

    memcpy(text, data, size);
    enum json_error mine = scan_all(text, size);
    json_t *theirs = json_loadb(text, size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    bool is_object = theirs != NULL && json_typeof(theirs) == JANSSON_OBJECT;
    bool is_limit =
        mine == JSON_ERROR_DEPTH || mine == JSON_ERROR_NAMES || mine == JSON_ERROR_TOO_LONG;

    /* jansson lets a zero byte pass behind a number. */
    if (is_object && mine != JSON_OK && !is_limit && memchr(text, 0, size) == NULL)
        abort();
    /* jansson refuses numbers that do not fit its types, a number is text to us; and names with a
     * \u0000, which RFC 8259 allows. */
    enum json_error_code why = theirs == NULL ? json_error_code(&error) : json_error_unknown;
    if (!is_object && mine == JSON_OK && why != json_error_numeric_overflow &&
        why != json_error_null_byte_in_key)
        abort();
    json_decref(theirs);
    free(text);
    return 0;
}
