/* accounts.h - opens the accounts of a run: each with a session, an API key and money.
 *
 * Requests go in pipelines, so that 10,000 accounts take seconds.
 * Owner. One thread. */
#ifndef PERP_BENCH_ACCOUNTS_H
#define PERP_BENCH_ACCOUNTS_H

#include "perp/bench/rig.h"

enum { ACCOUNTS_MAX = 100000, ACCOUNTS_ERROR_MAX = 256, ACCOUNTS_BATCH = 64 };

/* Opens and funds `count` accounts, signed by new keys and the rig's operator key. False with the
 * reason in `error`; accounts opened so far stay. */
CC_MUST_USE bool accounts_open(struct rig *rig, struct client *client, struct rig_trader *traders,
                               uint32_t count, uint64_t deposit_usdc,
                               char error[ACCOUNTS_ERROR_MAX]);

#endif
