#include "node/run/lifecycle.h"

static void wake_all(struct node *node)
{
    for (uint32_t i = 0; i < node->topology.thread_count; i++)
        park_wake(&node->duties[i].park, PARK_ALWAYS);
}

bool lifecycle_advance(struct node *node, enum phase_name from, enum phase_name to)
{
    bool moved = phase_advance(&node->phase, from, to);
    wake_all(node);
    return moved;
}

void lifecycle_fail(struct node *node, int exit_code)
{
    phase_fail(&node->phase, exit_code);
    wake_all(node);
}
