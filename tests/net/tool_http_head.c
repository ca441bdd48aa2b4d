/* tool_http_head.c - what perpd's parser makes of requests: standard input has each as a line of
 * its length in decimal and its bytes; standard output has a line for each: "no", or method, target
 * and body length. For test_llhttp.py. */
#include <stdio.h>

#include "net/http/http.h"
#include "net/http/http_map.h"

enum { REQUEST_MAX = 65536 };

static char text[REQUEST_MAX], body[REQUEST_MAX];

/* The bytes of the body; -1 if it is cut, malformed, or followed by more. */
static long body_length(const struct http_head *head, size_t count)
{
    struct http_chunked chunked = { 0 };
    size_t used, written;
    if (!head->chunked)
        return head->content_length == count - head->bytes ? (long)head->content_length : -1;
    enum http_chunk_result result = http_chunked_read(
        &chunked, text + head->bytes, count - head->bytes, &used, body, sizeof body, &written);
    return result == HTTP_CHUNK_DONE && used == count - head->bytes ? (long)written : -1;
}

int main(void)
{
    size_t count;
    http_map_choose(cpu_level());
    while (scanf("%zu", &count) == 1) {
        struct http_head head;
        if (count > sizeof text || getchar() != '\n' || fread(text, 1, count, stdin) != count)
            return 1;
        int bytes = http_parse(&head, text, count);
        /* A method that no path takes answers 404 or 405, whatever it is. */
        bool known = bytes > 0 && head.method != HTTP_OTHER;
        long length = known ? body_length(&head, count) : -1;
        if (length < 0) {
            printf("no\n");
            continue;
        }
        size_t method = 0;
        while (text[method] != ' ')
            method++;
        size_t target = method + 1, end = target;
        while (text[end] != ' ')
            end++;
        printf("%.*s %.*s %ld\n", (int)method, text, (int)(end - target), text + target, length);
    }
    return 0;
}
