/* cluster_member.h - one whole node of a cluster in a simulated world: perpd's own parts, from
 * recovery to the follower, in one thread, on a simulated disk, clock and etcd.
 *
 *   opening_recover ──> standby_match, standby_replicate, core_journal, core_follow, steward_step
 *
 * Not in it are sockets, the loops of threads (duty.c), the vault and snapshots. The test plays the
 * net thread: it owns the far ends of the rings. While the node waits for etcd, in its start or in
 * its steward, the rest of the world goes on.
 *
 * Order.  cluster_member_make, then start, turns and end again and again; cluster_member_free. */
#ifndef TESTS_NODE_CLUSTER_MEMBER_H
#define TESTS_NODE_CLUSTER_MEMBER_H

#include "node/run/node.h"
#include "support/sim/disk_sim.h"
#include "support/sim/etcd_sim.h"

enum { CLUSTER_MEMBER_RING = 64, CLUSTER_MEMBER_CLOCK_MS = 500 };

/* The exchange that all nodes begin with: a disk on which it was started alone and stopped. */
struct disk *cluster_member_exchange(uint64_t seed, uint64_t wall_ns);

/* Whatever waits for etcd calls this once a millisecond: the world goes on by that. */
typedef void cluster_member_pass(void);

struct cluster_member {
    struct node node; /* zero while it does not run */
    struct disk *disk;
    struct etcd_sim *sim;
    const char *name;
    bool creates, runs;
    bool is_blocked; /* within its start: it makes no turn */
    bool has_asked;  /* within its steward: it does not end */
    bool dies;       /* as soon as it may */
    bool is_cut;
    uint64_t resumes_ns; /* of the world: it stands until then */
    uint64_t wall_ns;    /* its machine's clock */
    int64_t drift_ppm;
    void *rings[4], *pool;
    CC_NO_SHARE uint8_t page[4096]; /* in place of the poison page */
};

void cluster_member_init(cluster_member_pass *pass);
void cluster_member_make(struct cluster_member *member, struct etcd_sim *sim,
                         const struct disk *exchange, const char *name, bool creates);
void cluster_member_free(struct cluster_member *member);

/* The machine's clock goes on. */
void cluster_member_advance(struct cluster_member *member, uint64_t step_ns);

/* A process on what the disk has. False: it was refused; node.refusal or the log says why. */
CC_MUST_USE bool cluster_member_start(struct cluster_member *member);

/* A turn of each role; `skipped`: a bit for each that makes none. */
enum { CLUSTER_MEMBER_MATCHER = 1, CLUSTER_MEMBER_JOURNAL = 2, CLUSTER_MEMBER_FOLLOWER = 4 };
void cluster_member_turn(struct cluster_member *member, uint32_t skipped);

/* The process is gone; of what it wrote stays what `seed` leaves. */
void cluster_member_end(struct cluster_member *member, bool is_power_loss, uint64_t seed);

void cluster_member_cut(struct cluster_member *member, bool is_cut);

#endif
