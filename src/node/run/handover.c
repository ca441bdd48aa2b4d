#include "node/run/handover.h"

#include <stdio.h>

/* Whether the node may lead as soon as it sees that nobody does, or waits for an upgrade. */
static bool may_lead(const struct node *node, const struct cluster_node *other, bool upgrades)
{
    bool is_fit =
        upgrades ? other->state == CLUSTER_WAITING && other->rules_version > ENGINE_RULES_VERSION
                 : other->state == CLUSTER_CURRENT && other->rules_version == ENGINE_RULES_VERSION;

    return is_fit && other->is_candidate && strcmp(other->node, node->cluster_node) != 0;
}

/* The stop is that of every leader, but what it leaves is for later rules (upgrade.h). */
static enum net_handover begin_upgrade(struct node *node)
{
    /* relaxed: read when every role has ended. */
    if (atomic_exchange_explicit(&node->upgrades, true, memory_order_relaxed))
        return NET_HANDOVER_UNDER_WAY;
    node_ask_stop(node);
    return NET_HANDOVER_BEGUN;
}

enum net_handover handover_ask(struct node *node, const char *wanted, bool upgrades,
                               char to[CLUSTER_NODE_BYTES + 1])
{
    struct survey survey;

    static_assert(sizeof survey.nodes[0].node == CLUSTER_NODE_BYTES + 1, "a name has room");
    if (phase_now(&node->phase) != PHASE_OPEN || !replicator_is_fresh(node->replicator))
        return NET_HANDOVER_NOT_LEADER;
    if (!steward_survey(&node->steward, &survey))
        return NET_HANDOVER_NO_NODE;
    for (uint32_t i = 0; i < survey.node_count; i++) {
        const struct cluster_node *other = &survey.nodes[i];
        bool is_named = wanted[0] == '\0' || strcmp(other->node, wanted) == 0;
        if (!is_named || !may_lead(node, other, upgrades))
            continue;
        snprintf(to, CLUSTER_NODE_BYTES + 1, "%s", other->node);
        if (upgrades)
            return begin_upgrade(node);
        if (!replicator_hand_ask(node->replicator, to))
            return NET_HANDOVER_UNDER_WAY;
        park_wake(&node->duties[0].park, PARK_ALWAYS);
        return NET_HANDOVER_BEGUN;
    }
    return NET_HANDOVER_NO_NODE;
}
