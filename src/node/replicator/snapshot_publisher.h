/* snapshot_publisher.h - puts this node's snapshots into the vault, if it is the node that does so
 * (replication.md, Snapshots in the vault).
 *
 *   snapshot/ of this node ──> key image/<node>: its hash, for the others
 *        │ newer than the vault's, of a segment that the vault has, and another node has it so
 *        └──> vault_upload ──> steward_offer ──> key snapshot/<sequence>
 *
 * Order.  Image hashes of two nodes are equal before one puts it. Without another node's for 60 s
 *         it goes alone; while another one's differs and none is equal it does not.
 * Who.    The first current standby by name. The leader, when nobody has for 30 s and the time that
 *         the file takes at 20 MB/s: it has other work.
 * Wait.   A step blocks for one piece of 1 MiB, for as long as the vault does.
 * Owner.  The vault's thread. Failures are logged, counted and tried again. */
#ifndef NODE_REPLICATOR_SNAPSHOT_PUBLISHER_H
#define NODE_REPLICATOR_SNAPSHOT_PUBLISHER_H

#include "base/published.h"
#include "node/replicator/steward.h"
#include "store/vault_snapshot.h"

#define SNAPSHOT_PUBLISHER_LEADER_NS UINT64_C(30000000000)
#define SNAPSHOT_PUBLISHER_BYTE_NS   UINT64_C(50) /* 20 MB/s */
#define SNAPSHOT_PUBLISHER_ALONE_NS  UINT64_C(60000000000)

struct snapshot_publisher {
    const struct vault *vault; /* these outlive it */
    struct disk *journal;      /* this node's data directory */
    struct steward *steward;
    uint64_t look_ns;            /* no sooner the next look */
    uint64_t listed;             /* the newest snapshot of this node when it was last looked at */
    uint64_t find_ns;            /* no sooner the next look at it; UINT64_MAX: it is `found` */
    bool is_found;               /* `found` is that one, or an older one, that ends a segment */
    struct vault_snapshot found; /* kept until there is a newer one */
    uint64_t due_ns;             /* since when the vault lacks one of this node's; 0: it does not */
    uint64_t vault_newest;       /* the vault's newest then */
    uint64_t shown, differs;     /* sequences: whose hash was shown, that was logged */
    struct vault_upload upload;
    struct published failures; /* attempts */
};

/* The row of a snapshot that this vault's node puts. */
void snapshot_publisher_row(const struct vault *vault, const struct vault_snapshot *put,
                            struct cluster_snapshot *row);

/* The work done; 0: nothing is due. */
uint32_t snapshot_publisher_step(struct snapshot_publisher *publisher, uint64_t now_ns);

#endif
