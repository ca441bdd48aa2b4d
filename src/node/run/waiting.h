/* waiting.h - the snapshot of an upgrade, which the vault's thread copies for a node that waits for
 * it: a vault that hangs holds up neither its session nor its stop.
 *
 * Owner. The journal's thread writes `row` before WANTED, the vault's `error` before DONE. */
#ifndef NODE_RUN_WAITING_H
#define NODE_RUN_WAITING_H

#include "repl/cluster_row.h"
#include "store/vault_snapshot.h"

enum waiting_state { WAITING_NONE, WAITING_WANTED, WAITING_DONE };

struct waiting {
    _Atomic uint32_t state; /* enum waiting_state */
    struct cluster_snapshot row;
    int error; /* as vault_snapshot_fetch */
};

/* The journal's thread, in WAITING_NONE: asks for the snapshot of this row. */
void waiting_ask(struct waiting *waiting, const struct cluster_snapshot *row);

/* The same, once. True: it is answered, and *error says how; it may be asked again. */
CC_MUST_USE bool waiting_answer(struct waiting *waiting, int *error);

/* The vault's thread: copies what was asked for into the data directory. The work done. */
uint32_t waiting_fetch(struct waiting *waiting, const struct vault *vault, struct disk *disk);

#endif
