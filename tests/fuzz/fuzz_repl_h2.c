/* An endpoint that is no etcd: whatever it sends, calls end or wait, messages stay within their
 * bounds, and the connection is over for good once it is over. The first byte is the size of the
 * pieces in which the rest arrives. */
#include <stdlib.h>

#include "repl/h2.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CALLS = 4 };

static const uint8_t REQUEST[H2_PREFIX_BYTES + 2] = { 0, 0, 0, 0, 2, 8, 1 };

static void drain(struct h2 *h2)
{
    const uint8_t *bytes = NULL;
    while (h2_output(h2, &bytes) > 0)
        ;
}

static void start(struct h2 *h2, uint32_t call)
{
    if (h2_start(h2, call, "/etcdserverpb.KV/Txn", REQUEST, sizeof REQUEST, call == 0) == 0)
        drain(h2);
}

static void collect(struct h2 *h2)
{
    int status = 0;
    const char *text = NULL;
    for (uint32_t call = 0; call < CALLS; call++) {
        struct h2_message *message = NULL;
        while ((message = h2_pop(h2, call)) != NULL) {
            if (message->count > ETCD_ANSWER_BYTES)
                abort();
            free(message);
        }
        if (!h2_is_ended(h2, call, &status, &text))
            continue;
        if (memchr(text, 0, ETCD_TEXT_BYTES) == NULL)
            abort();
        h2_drop(h2, call);
        start(h2, call);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct h2 *h2 = h2_create("127.0.0.1:2379", false);
    if (h2 == NULL || size == 0) {
        h2_destroy(h2);
        return 0;
    }
    size_t piece = 1 + (size_t)data[0] * 8;
    bool is_over = false;
    for (uint32_t call = 0; call < CALLS; call++)
        start(h2, call);
    for (size_t at = 1; at < size; at += piece) {
        int error = h2_receive(h2, data + at, size - at < piece ? size - at : piece);
        if (is_over && error == 0)
            abort();
        is_over = error != 0;
        collect(h2);
        drain(h2);
    }
    h2_destroy(h2);
    return 0;
}
