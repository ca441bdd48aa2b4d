/* replicator_config.h - what a replicator is made with. */
#ifndef NODE_REPLICATOR_REPLICATOR_CONFIG_H
#define NODE_REPLICATOR_REPLICATOR_CONFIG_H

#include "base/clock.h"
#include "store/vault.h"

struct replicator_config {
    const struct clock *clock;
    const struct exchange_file *exchange; /* outlives it */
    const _Atomic bool *give_up;          /* true: replicator_agree ends; NULL: never */
    const char *cluster;                  /* these outlive it */
    const char *node;
    bool is_candidate;
    bool creates; /* make the cluster of this exchange if etcd has none of the name */
    uint32_t rules_version;
    int64_t lease_s;
    uint64_t clock_ns; /* greatest difference of a candidate */
    uint64_t unacked_ns, unacked_bytes;
    uint64_t give_up_ns, disk_stall_ns;
    uint64_t retain_bytes;
    struct vault vault; /* its disk and exchange outlive it */
};

#endif
