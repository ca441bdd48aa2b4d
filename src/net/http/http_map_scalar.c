/* The scalar variant: the reference for the other two. */
#define HTTP_MAP_VARIANT
#include "net/http/http_map_body.h"

/* RFC 9110: tchar. */
static bool is_token(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c != 0 && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static inline struct marks mark_block(const char *text)
{
    struct marks marks = { 0 };
    for (unsigned i = 0; i < BLOCK; i++) {
        uint8_t c = (uint8_t)text[i];
        uint64_t bit = UINT64_C(1) << i;
        marks.stop |= is_token(c) ? 0 : bit;
        marks.cr |= c == '\r' ? bit : 0;
        marks.lf |= c == '\n' ? bit : 0;
        marks.control |= (c < ' ' && c != '\r' && c != '\n' && c != '\t') || c == 127 ? bit : 0;
    }
    return marks;
}

HTTP_MAP_DEFINE(http_map_scalar);
