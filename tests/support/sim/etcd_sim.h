/* etcd_sim.h - the etcd seam in memory: one simulated cluster, clients of it, and a clock.
 *
 * Lawful, and as unkind as the law allows: under a seed each message is delayed, overtaken, lost or
 * doubled; the leader goes for a while; leases end early and late; revisions are compacted under a
 * watch; the space is used up. What a client asked may be done long after it gave up.
 *
 *   etcd_submit --> request, request again, .. --> the keys, one change after the other
 *   etcd_reap  <--- replies; parts of watches in order <---
 *
 * Time. The clock moves by etcd_sim_advance alone (and by etcd_wait, at most by its time-out). A
 *       client acts in its own submit and reap alone: one that is not called is a stopped process.
 * Owner. One thread. The world outlives its clients. */
#ifndef TESTS_SUPPORT_SIM_ETCD_SIM_H
#define TESTS_SUPPORT_SIM_ETCD_SIM_H

#include "repl/etcd_call.h"

struct etcd_sim;

/* What happens to messages, each by itself; shares are in 1,000. */
struct etcd_sim_faults {
    uint32_t delay_ms; /* a message takes 0..delay_ms */
    uint32_t lost, doubled;
    uint32_t held; /* a further copy of a request arrives 0..held_ms later */
    uint32_t held_ms;
};

struct etcd_sim_config {
    uint64_t seed;
    uint32_t request_ms; /* as of etcd_real; 0: 400 */
    struct etcd_sim_faults faults;
};

/* The world begins at `ETCD_SIM_BEGIN_NS`, without keys. Ends the test without memory. */
enum { ETCD_SIM_BEGIN_NS = 1000 * 1000 * 1000 };
struct etcd_sim *etcd_sim_create(const struct etcd_sim_config *config);
void etcd_sim_destroy(struct etcd_sim *sim);

/* A client; etcd_close ends it as a process ends: what it sent may still arrive. */
struct etcd *etcd_sim_connect(struct etcd_sim *sim);

uint64_t etcd_sim_now(const struct etcd_sim *sim);
void etcd_sim_advance(struct etcd_sim *sim, uint64_t step_ns);

void etcd_sim_set_faults(struct etcd_sim *sim, const struct etcd_sim_faults *faults);

/* Cuts a client off: what is under way and what it sends is lost; or joins it again. */
void etcd_sim_cut(struct etcd *etcd, bool is_cut);

/* Without a leader nothing is done and no lease ends. When it is back, some requests of the time
 * between are done, and every lease has its whole time. */
void etcd_sim_set_leader(struct etcd_sim *sim, bool has_leader);

/* Ends a lease now: etcd's clock erred. False: there is none. */
bool etcd_sim_end_lease(struct etcd_sim *sim, int64_t lease);
/* Leases end so much after their time. */
void etcd_sim_delay_leases(struct etcd_sim *sim, uint64_t late_ns);

void etcd_sim_set_full(struct etcd_sim *sim, bool is_full);
/* Up to the newest revision; with `breaks_watches` each must begin again. */
void etcd_sim_compact(struct etcd_sim *sim, bool breaks_watches);

/* Each transaction is refused with this; ETCD_OK: none. */
void etcd_sim_refuse(struct etcd_sim *sim, enum etcd_result result);

/* What stands there now (NULL: nothing), valid until the next change; and changes past the seam. */
const struct etcd_row *etcd_sim_get(const struct etcd_sim *sim, struct etcd_bytes key);
void etcd_sim_put(struct etcd_sim *sim, struct etcd_bytes key, struct etcd_bytes value);
void etcd_sim_delete(struct etcd_sim *sim, struct etcd_bytes key, struct etcd_bytes end);
int64_t etcd_sim_revision(const struct etcd_sim *sim);

/* Called with each row of each change, in order, when it is made. One observer. */
typedef void etcd_sim_observe(void *context, const struct etcd_row *row);
void etcd_sim_set_observer(struct etcd_sim *sim, etcd_sim_observe *observe, void *context);

#endif
