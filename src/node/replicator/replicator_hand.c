/* replicator_hand.c - a leader gives the lead to another node, and is a standby again
 * (replication.md, Handover). */
#include <stdio.h>

#include "base/log.h"
#include "node/replicator/replicator_state.h"

bool replicator_hand_is_wanted(const struct replicator *replicator)
{
    return atomic_load_explicit(&replicator->hand.state, memory_order_acquire) == HAND_WANTED;
}

bool replicator_hand_ask(struct replicator *replicator, const char *node)
{
    uint32_t none = HAND_NONE;

    if (!atomic_compare_exchange_strong_explicit(&replicator->hand.state, &none, HAND_WRITTEN,
                                                 memory_order_acquire, memory_order_relaxed))
        return false;
    snprintf(replicator->hand.node, sizeof replicator->hand.node, "%s", node);
    /* Release: `node` is whole (pairs: replicator_hand_is_wanted). */
    atomic_store_explicit(&replicator->hand.state, HAND_WANTED, memory_order_release);
    return true;
}

void replicator_hand_forget(struct replicator *replicator)
{
    if (replicator_hand_is_wanted(replicator)) /* it came when the node led no more */
        atomic_store_explicit(&replicator->hand.state, HAND_NONE, memory_order_release);
}

/* Back to a standby, after the last frame of its own term. */
static int end_hand(struct replicator *replicator)
{
    uint64_t last = journal_cluster_last_frame(replicator->journal).number;

    journal_cluster_follow(replicator->journal);
    retain_end(&replicator->retain);
    vote_end(&replicator->vote);
    /* relaxed: an offer that comes now is judged by the next term. */
    atomic_store_explicit(&replicator->mail.wanted, 0, memory_order_relaxed);
    replicator->is_finishing = replicator->takes = replicator->forms = replicator->leads = false;
    replicator->disk_stall = (struct disk_stall){ 0 };
    tail_begin(&replicator->tail, replicator->etcd, replicator->config.cluster, last);
    log_line(LOG_INFO, "cluster", "handed over to %s: term=%lu last_frame=%lu",
             replicator->hand.node, replicator->won.term, last);
    atomic_store_explicit(&replicator->hand.state, HAND_NONE, memory_order_release);
    return 1;
}

/* Gives the lead away once everything of this term counts. */
int replicator_hand_step(struct replicator *replicator, const struct replicator_words *words)
{
    struct elect *elect = &replicator->elect;

    if (elect->state == ELECT_HANDS)
        return 0;
    if (elect->state != ELECT_ELECTED) /* it stands for the next election perhaps, as a standby */
        return end_hand(replicator);
    if (words->is_held && journal_cluster_is_quiet(replicator->journal))
        return elect_ballot_hand(elect, replicator->hand.node,
                                 journal_cluster_last_frame(replicator->journal).number);
    return 0;
}
