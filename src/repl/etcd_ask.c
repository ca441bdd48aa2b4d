#include "repl/etcd_ask.h"

#include <errno.h>

static const uint64_t TAG = UINT64_MAX;

int etcd_ask(struct etcd *etcd, const struct etcd_request *request, uint64_t life_ns,
             struct etcd_done *done)
{
    struct etcd_request limited = *request;
    INVARIANT(request->kind != ETCD_WATCH && life_ns > 0);
    limited.life_ns = life_ns;
    int error = etcd_submit(etcd, &limited, TAG);
    if (error != 0)
        return error;
    for (;;) {
        if (etcd_reap(etcd, done, 1) == 1 && done->tag == TAG)
            return done->result == ETCD_LATE ? -ETIMEDOUT : 0;
        error = etcd_wait(etcd, -1, life_ns);
        if (error != 0) {
            (void)etcd_cancel(etcd, TAG);
            return error;
        }
    }
}

int etcd_ask_key(struct etcd *etcd, struct etcd_bytes key, uint64_t life_ns, struct etcd_done *done)
{
    const struct etcd_request request = { .kind = ETCD_RANGE, .key = key, .limit = 1 };
    return etcd_ask(etcd, &request, life_ns, done);
}

int etcd_ask_range(struct etcd *etcd, struct etcd_bytes key, struct etcd_bytes end, uint32_t limit,
                   uint64_t life_ns, struct etcd_done *done)
{
    const struct etcd_request request = {
        .kind = ETCD_RANGE, .key = key, .end = end, .limit = limit
    };
    return etcd_ask(etcd, &request, life_ns, done);
}

int etcd_ask_transaction(struct etcd *etcd, const struct etcd_transaction *transaction,
                         uint64_t life_ns, struct etcd_done *done)
{
    const struct etcd_request request = { .kind = ETCD_TRANSACTION, .transaction = transaction };
    return etcd_ask(etcd, &request, life_ns, done);
}
