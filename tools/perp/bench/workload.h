/* workload.h - makes and signs the requests of a run: a mix of kinds, of many accounts in one
 * market, from a seed.
 *
 * Limit orders: 80 % rest within 20 ticks of the mid, 20 % cross and cancel what is left of them,
 * worth 20 to 220 USDC. Amends, cancels and reads name an order that the same account placed at
 * least `lag` requests before; where there is none, a limit order is placed instead. So the kinds
 * of the first requests are nearer to `place` than the mix says.
 *
 * Owner. One thread.
 * Bound. Of each account the last `known_max` orders are known. */
#ifndef PERP_BENCH_WORKLOAD_H
#define PERP_BENCH_WORKLOAD_H

#include "perp/bench/corpus.h"
#include "perp/bench/rig.h"
#include "perp/request/instrument.h"

enum { WORKLOAD_KNOWN_MIN = 32, WORKLOAD_KNOWN_MAX = 1024 };

struct workload_order {
    struct uuid id;
    uint64_t price_raw;
    int64_t quantity_raw;
    uint32_t index; /* of the request that placed it */
};

struct workload_account {
    struct workload_order *known; /* room for `known_max` */
    uint32_t known_count;
};

enum workload_ack { WORKLOAD_BRIEF, WORKLOAD_FULL, WORKLOAD_BINARY };

struct workload {
    const struct rig_trader *traders;
    struct workload_account *accounts; /* as many */
    uint32_t account_count;
    uint32_t weights[CORPUS_KIND_COUNT]; /* their sum is above 0 */
    struct instrument record;
    uint64_t mid_raw;
    uint32_t lag, known_max;
    bool is_frame;  /* binary frame, else the JSON envelope */
    bool is_stream; /* the op `signed` of a stream, its id the request's number; else HTTP/1.1 */
    enum workload_ack ack;
    char host[CLIENT_HOST_MAX + 8];
    uint64_t random;
    bool has_seeded_ids; /* from `random`, else fresh */
    uint32_t made;
};

/* Makes the tables of as many accounts; orders are known `lag` requests after they were made. False
 * without memory. */
CC_MUST_USE bool workload_init(struct workload *workload, uint32_t account_count, uint32_t lag);
void workload_free(struct workload *workload);

/* Makes the next request, its id dated `unix_ms`, as it is sent. Returns its bytes;
 * 0 when it cannot be signed. */
CC_MUST_USE size_t workload_next(struct workload *workload, uint64_t unix_ms,
                                 uint8_t bytes[LOAD_REQUEST_MAX], enum corpus_kind *kind);

/* Makes the next request of a mix without reads, signed and not yet written. False when it cannot
 * be signed. */
CC_MUST_USE bool workload_draft(struct workload *workload, uint64_t unix_ms, struct draft *draft,
                                enum corpus_kind *kind);

#endif
