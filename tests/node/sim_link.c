#include "sim_link.h"

#include <stdlib.h>

enum { COMMAND_SLOTS_LONGEST = 8 }; /* of what the traffic sends */

void sim_link_make(struct sim_link *link)
{
    bool complete = true;
    for (size_t i = 0; i < CC_COUNT(link->ring_memory); i++) {
        link->ring_memory[i] =
            aligned_alloc(64, ring_bytes(SIM_LINK_SLOTS_MAX, MESSAGE_SLOT_BYTES));
        complete = complete && link->ring_memory[i] != NULL;
    }
    link->pool_memory = aligned_alloc(64, REPLY_POOL_BYTES);
    INVARIANT(complete && link->pool_memory != NULL);
}

void sim_link_free(struct sim_link *link)
{
    for (size_t i = 0; i < CC_COUNT(link->ring_memory); i++)
        free(link->ring_memory[i]);
    free(link->pool_memory);
}

void sim_link_reset(struct sim_link *link, uint32_t slots)
{
    struct ring *rings[] = { &link->commands, &link->answers, &link->queries, &link->replies };
    INVARIANT(slots >= SIM_LINK_SLOTS_MIN && slots <= SIM_LINK_SLOTS_MAX);
    link->slots = slots;
    for (size_t i = 0; i < CC_COUNT(rings); i++)
        ring_init(rings[i], link->ring_memory[i], slots, MESSAGE_SLOT_BYTES);
    reply_pool_init(&link->pool, link->pool_memory);
    link->outstanding = 0;
    link->query_in_flight = false;
    link->release_last = 0;
    link->sequence_last = 0;
    link->processed_last = 0;
}

void sim_link_join(struct sim_link *link, struct core *core)
{
    struct follower_link follower = { &link->queries, &link->replies, &link->pool };
    core_link(core, &follower, &link->commands, &link->answers);
}

bool sim_link_has_credit(struct sim_link *link)
{
    return ring_free(&link->commands) >= COMMAND_SLOTS_LONGEST && link->outstanding < link->slots;
}
