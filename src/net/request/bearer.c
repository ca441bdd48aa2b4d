#include "net/request/bearer.h"

#include "base/text.h"

struct http_span bearer_token(const struct http_head *head, const char *text)
{
    static const char scheme[] = "Bearer ";
    const uint16_t scheme_bytes = sizeof scheme - 1;
    if (head->authorization.count <= scheme_bytes ||
        !text_is_equal_folded(text + head->authorization.at, scheme, scheme_bytes))
        return (struct http_span){ 0, 0 };
    return (struct http_span){ (uint16_t)(head->authorization.at + scheme_bytes),
                               (uint16_t)(head->authorization.count - scheme_bytes) };
}
