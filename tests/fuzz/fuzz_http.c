/* Heads and chunked bodies from strangers (wire.md W10): a head is found where it ends whatever
 * stands behind it and however it was cut into pieces, and its spans lie inside it. */
#include <stdlib.h>

#include "net/http/http.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Parses a copy of exactly `count` bytes, so that a read past them is found. */
static int parse(struct http_head *head, const char *text, size_t count)
{
    char *copy = malloc(count > 0 ? count : 1);
    int result;

    memcpy(copy, text, count);
    memset(head, 0, sizeof *head);
    result = http_parse(head, copy, count);
    free(copy);
    return result;
}

static void check_inside(const struct http_head *head, struct http_span span)
{
    if ((uint32_t)span.at + span.count > head->bytes)
        abort();
}

static void fuzz_head(const char *text, size_t count, size_t cut)
{
    struct http_head head;
    struct http_head again;
    uint8_t fault = HTTP_FAULT_NONE;
    uint32_t fault_at = 0;
    int length = parse(&head, text, count);

    if (length < 0 && head.fault == HTTP_FAULT_NONE)
        abort();
    if (length <= 0)
        return;
    if ((size_t)length > count || head.bytes != (uint32_t)length)
        abort();
    check_inside(&head, head.path);
    check_inside(&head, head.query);
    check_inside(&head, head.api_key);
    if (parse(&again, text, (size_t)length) != length ||
        again.content_length != head.content_length)
        abort();
    if (parse(&again, text, (size_t)length - 1) > 0)
        abort();
    /* In two pieces: the end is in the first, or is found when the second has come. */
    if (cut > count)
        cut = count;
    int first = http_scan(text, 0, cut, &fault, &fault_at);
    int scanned = first != 0 ? first : http_scan(text, cut, count, &fault, &fault_at);
    if (scanned != length)
        abort();
}

static enum http_chunk_result read_chunked(const char *in, size_t count, size_t cut, char *out,
                                           size_t room, size_t *total)
{
    struct http_chunked chunked = { 0 };
    enum http_chunk_result result;
    size_t used = 0;
    size_t written = 0;

    *total = 0;
    result = http_chunked_read(&chunked, in, cut, &used, out, room, &written);
    if (used > cut || written > room)
        abort();
    *total = written;
    if (result != HTTP_CHUNK_MORE || cut == count)
        return result;
    result = http_chunked_read(&chunked, in + used, count - used, &used, out + *total,
                               room - *total, &written);
    if (written > room - *total)
        abort();
    *total += written;
    return result;
}

static void fuzz_chunks(const char *text, size_t count, size_t cut)
{
    enum { ROOM = 256 };
    char whole[ROOM];
    char pieces[ROOM];
    size_t whole_count;
    size_t piece_count;
    enum http_chunk_result result = read_chunked(text, count, count, whole, ROOM, &whole_count);

    if (cut > count)
        cut = count;
    if (read_chunked(text, count, cut, pieces, ROOM, &piece_count) != result)
        abort();
    if (result == HTTP_CHUNK_DONE &&
        (piece_count != whole_count || memcmp(whole, pieces, whole_count) != 0))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    fuzz_head((const char *)data + 2, size - 2, cc_load16(data));
    fuzz_chunks((const char *)data + 2, size - 2, data[0]);
    return 0;
}
