/* Answers of etcd from strangers: what is taken for an answer has its rows inside the bytes, within
 * the bounds, and reading ends. The first byte is the kind of the request. */
#include <stdlib.h>

#include "repl/etcd_message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_inside(struct etcd_bytes part, const uint8_t *bytes, size_t count)
{
    const uint8_t *first = part.bytes;
    if (part.count > 0 && (first < bytes || part.count > (size_t)(bytes + count - first)))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct etcd_answer answer;
    if (size == 0 || data[0] >= ETCD_KIND_COUNT)
        return 0;
    enum etcd_kind kind = (enum etcd_kind)data[0];
    size_t count = size - 1, from = 0, before = 0;
    uint8_t *bytes = malloc(count > 0 ? count : 1);
    if (bytes == NULL)
        abort();
    memcpy(bytes, data + 1, count);
    etcd_message_begin(&answer);
    do {
        before = from;
        if (!etcd_message_read(kind, (struct etcd_bytes){ bytes, count }, &from, &answer))
            break;
        if (from > count || (from == before && from != count))
            abort();
        if (answer.row_count > ETCD_MESSAGE_ROWS || answer.member_count > ETCD_MEMBERS_MAX)
            abort();
        for (uint32_t i = 0; i < answer.row_count; i++) {
            check_inside(answer.rows[i].key, bytes, count);
            check_inside(answer.rows[i].value, bytes, count);
            if (answer.rows[i].key.count == 0)
                abort();
        }
        if (memchr(answer.text, 0, sizeof answer.text) == NULL)
            abort();
    } while (from < count);
    free(bytes);
    return 0;
}
