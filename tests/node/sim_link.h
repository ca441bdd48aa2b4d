/* sim_link.h - the rings between a simulated net thread and the exchange, and what is under way in
 * them. They end with the process: a start begins with empty ones. */
#ifndef TESTS_NODE_SIM_LINK_H
#define TESTS_NODE_SIM_LINK_H

#include "base/reply_pool.h"
#include "base/ring.h"
#include "node/run/core.h"

enum { SIM_LINK_SLOTS_MAX = 256, SIM_LINK_SLOTS_MIN = 64 }; /* of each ring: the credits */

struct sim_link {
    struct ring commands, answers, queries, replies;
    void *ring_memory[4];
    struct reply_pool pool;
    void *pool_memory;
    uint32_t slots;
    uint32_t outstanding; /* commands sent, answers not taken */
    struct query query;   /* the one in flight */
    bool query_in_flight;
    bool query_of_ended;     /* the order was known to be over when it was asked for */
    uint64_t release_last;   /* release_sequence of the last answer taken */
    uint64_t sequence_last;  /* of the last one that has a sequence */
    uint64_t processed_last; /* its time */
};

void sim_link_make(struct sim_link *link);
void sim_link_free(struct sim_link *link);

/* Empty rings of `slots`, a power of two in the bounds above. */
void sim_link_reset(struct sim_link *link, uint32_t slots);

void sim_link_join(struct sim_link *link, struct core *core);

/* May one more command of any size be sent: credits are commands sent - answers taken < answer ring
 * size (roles.md, Flow control). */
bool sim_link_has_credit(struct sim_link *link);

#endif
