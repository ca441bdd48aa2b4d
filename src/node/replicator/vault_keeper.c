#include "node/replicator/vault_keeper.h"

#include "base/log.h"

#define RETRY_NS UINT64_C(10000000000) /* after a failure */
#define LOOK_NS  UINT64_C(200000000)   /* while the segment is not sealed */

uint32_t vault_keeper_step(struct vault_keeper *keeper, uint64_t released, uint64_t now_ns)
{
    struct archive_row row;
    uint64_t segment, log_bytes;

    if (now_ns < keeper->again_ns ||
        !replicator_vault_wants(keeper->replicator, keeper->journal, &segment))
        return 0;
    if (keeper->put == segment + 1) { /* it was offered and not taken */
        keeper->again_ns = now_ns + RETRY_NS;
        keeper->put = 0;
        return 0;
    }
    int put = vault_put(&keeper->vault, keeper->journal, segment, released, &row, &log_bytes);
    if (put < 0) {
        published_add(&keeper->failures, 1);
        log_line(LOG_ERROR, "vault", "segment=%lu: %s; tried again in 10 s, the log keeps it",
                 segment, strerror(-put));
    }
    published_set(&keeper->failing, put < 0);
    keeper->again_ns = put > 0 ? 0 : now_ns + (put < 0 ? RETRY_NS : LOOK_NS);
    if (put <= 0)
        return 0;
    log_line(LOG_INFO, "vault", "segment=%lu last_frame=%lu file_bytes=%lu", segment,
             row.last_frame, row.bytes);
    keeper->put = segment + 1;
    replicator_vault_offer(keeper->replicator, &row, log_bytes);
    return 1;
}
