#include "node/run/handover.h"

#include <stdio.h>

/* Whether the node may lead as soon as it sees that nobody does. */
static bool may_lead(const struct node *node, const struct cluster_node *other)
{
    return other->state == CLUSTER_CURRENT && other->is_candidate &&
           other->rules_version == ENGINE_RULES_VERSION &&
           strcmp(other->node, node->cluster_node) != 0;
}

enum net_handover handover_ask(struct node *node, const char *wanted,
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
        if (!may_lead(node, other) || (wanted[0] != '\0' && strcmp(other->node, wanted) != 0))
            continue;
        snprintf(to, CLUSTER_NODE_BYTES + 1, "%s", other->node);
        if (!replicator_hand_ask(node->replicator, to))
            return NET_HANDOVER_UNDER_WAY;
        park_wake(&node->duties[0].park, PARK_ALWAYS);
        return NET_HANDOVER_BEGUN;
    }
    return NET_HANDOVER_NO_NODE;
}
