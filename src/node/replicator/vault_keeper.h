/* vault_keeper.h - puts the leader's sealed segments into the vault (replication.md, Vault).
 *
 *   replicator_vault_wants ──> vault_put ──> replicator_vault_offer
 *
 * Wait.   A step blocks for as long as the vault does.
 * Owner.  A thread of its own: a vault that hangs holds up nothing else. Failures are logged,
 *         counted and tried again. */
#ifndef NODE_REPLICATOR_VAULT_KEEPER_H
#define NODE_REPLICATOR_VAULT_KEEPER_H

#include "base/published.h"
#include "node/replicator/replicator.h"

struct vault_keeper {
    struct replicator *replicator;
    struct vault vault;
    struct disk *journal;
    uint64_t again_ns;
    uint64_t put;              /* segment + 1 of the last put; 0: none */
    struct published failures; /* attempts */
    struct published failing;  /* 1: the last attempt failed */
};

/* `released`: the sequence up to which frames count. The work done; 0: nothing is due. */
uint32_t vault_keeper_step(struct vault_keeper *keeper, uint64_t released, uint64_t now_ns);

#endif
