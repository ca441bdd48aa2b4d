#include "node/run/opening.h"

#include "base/log.h"
#include "crypto/attest.h"
#include "engine/table/market_record.h"
#include "engine/view/read.h"
#include "node/run/lifecycle.h"
#include "node/run/upgrade.h"

int opening_refuse(struct node *node)
{
    log_line(LOG_ERROR, "refused", "%s", node->refusal.text);
    return refusal_exit_code(node->refusal.kind);
}

/* ---- recovery -------------------------------------------------------------------------------- */

/* What the start found damaged and wrote again (journal.md, Slots). */
static void log_mended(const struct node *node)
{
    const struct recovery_result *found = &node->core.recovered;

    if (found->is_upgraded)
        log_line(LOG_INFO, "witness",
                 "the directory had the former format: it has a witness from now on, which names "
                 "frame %lu, and exchange has four slots",
                 found->position.tail.number);
    if (found->exchange_damaged != 0)
        log_line(LOG_WARN, "exchange", "damaged slots were written again: %u of %d",
                 (unsigned)__builtin_popcount(found->exchange_damaged), SLOT_COUNT);
    if (found->archive_relisted != 0)
        log_line(LOG_WARN, "archive",
                 "archive/index was missing, damaged or too short: made again of %lu files",
                 found->archive_relisted);
    if (found->archive_relisted != 0 && found->archive_first != 0)
        log_line(LOG_ERROR, "archive",
                 "begins with segment %lu: older segments were removed (store.archive_keep) or are "
                 "lost; a backup or store.archive_copy may have them",
                 found->archive_first);
    if (found->witness_damaged != 0)
        log_line(LOG_WARN, "witness", "damaged slots were written again: %u of %d",
                 (unsigned)__builtin_popcount(found->witness_damaged), SLOT_COUNT);
}

/* The newest head that this node made of this journal, by the key that it has. */
static bool newest_head(const struct core *core, struct attest_head *head)
{
    uint8_t bytes[ATTEST_HEAD_BYTES];

    return core->follower.head_log != NULL &&
           head_log_newest(core->follower.head_log, 1, bytes) != 0 &&
           attest_head_read(head, bytes) &&
           memcmp(head->journal_id, core->exchange.journal_id, sizeof head->journal_id) == 0 &&
           attest_head_is_signed(head, bytes + ATTEST_HEAD_BYTES - SIGNER_SIGNATURE_BYTES,
                                 core->config.signing->signer.key);
}

/* A head is made of a durable frame alone: one that names a later frame than the last journalled
 * shows that files were replaced by older copies, those of `witness` and the snapshots too. What
 * the journal of a cluster's node lacks, the log has: opening_judge_log. */
static void log_later_head(const struct node *node)
{
    const struct frame_tail *tail = &node->core.recovered.position.tail;
    struct attest_head head;

    if (node->replicator != NULL || !newest_head(&node->core, &head) || head.frame <= tail->number)
        return;
    log_line(
        LOG_ERROR, "heads",
        "this exchange has signed a head of frame %lu, sequence %lu, and the journal ends with "
        "frame %lu, sequence %lu: what was acknowledged behind that is lost; perp audit "
        "compares all of them",
        head.frame, head.sequence, tail->number, tail->last_sequence);
}

void opening_judge_log(const struct node *node, uint64_t sequence)
{
    struct attest_head head;

    if (!newest_head(&node->core, &head) || head.sequence <= sequence)
        return;
    log_line(LOG_ERROR, "heads",
             "this node has signed a head of frame %lu, sequence %lu, and the log of the cluster "
             "ends with sequence %lu: what was acknowledged behind that is lost",
             head.frame, head.sequence, sequence);
}

void opening_recover(struct node *node)
{
    if (node->replicator != NULL) {
        node->core.config.agree = replicator_agree;
        node->core.config.agree_context = node->replicator;
    }
    enum refusal_kind kind = core_recover(&node->core, &node->refusal);
    if (kind == REFUSAL_record_refused && lifecycle_is_stop_asked(node)) {
        lifecycle_fail(node,
                       NODE_EXIT_CLEAN); /* abandoned: nothing was promised, nothing was written */
        return;
    }
    if (kind == REFUSAL_record_refused && upgrade_is_awaited(node)) {
        upgrade_await(node);
        return;
    }
    if (kind != REFUSAL_none) {
        lifecycle_fail(node, opening_refuse(node));
        return;
    }
    if (node->replicator != NULL) {
        replicator_attach(node->replicator, node->core.journal);
        node->core.follower.vote = replicator_vote_board(node->replicator);
    }
    matcher_guard(&node->core.matcher, poison_page_mark(&node->poison.page), &node->poison.file);
    const struct recovery_result *found = &node->core.recovered;
    for (uint32_t i = 0; i < node->topology.net_count; i++) {
        struct node_net *net = &node->nets[i];
        struct follower_link link = { &net->queries, &net->replies, &net->pool };
        core_link(&node->core, &link, &net->commands, &net->answers);
    }
    log_mended(node);
    log_later_head(node);
    if (found->discarded_frames != 0)
        log_line(LOG_WARN, "discarded",
                 "the log does not have the last %lu frames of this journal, sequences %lu to %lu: "
                 "they are in discarded/ and none was acknowledged",
                 found->discarded_frames, found->discarded_first, found->discarded_last);
    log_line(LOG_INFO, "recovered",
             "boot=%lu snapshot=%lu records=%lu frames=%lu cut_bytes=%lu clean_stop=%d "
             "clock_gap_ns=%ld",
             found->boot, node->core.engines.snapshot_sequence, found->records, found->frames,
             found->cut_bytes, found->clean_stop, engine_clock_gap_ns(node->core.primary));
    (void)lifecycle_advance(node, PHASE_RECOVERING, PHASE_RECOVERED); /* false: a stop came first */
}

/* ---- the commands of a start ----------------------------------------------------------------- */

/* The file is read for an empty directory only; later a difference is reported, not applied. */
static void compare_markets(const struct node *node)
{
    const struct core_config *config = &node->core.config;

    if (config_text(node->options, OPTION_exchange_markets)[0] == '\0')
        return;
    for (uint32_t i = 0; i < config->market_count; i++) {
        const struct core_market *market = &config->markets[i];
        struct market_record record;
        const uint8_t *text = (const uint8_t *)market->text;
        if (read_market_is(node->core.primary, text, market->text_bytes))
            continue;
        bool parsed = market_record_parse(&record, text, market->text_bytes);
        INVARIANT(parsed); /* market_file.c has refused any other */
        log_line(
            LOG_WARN, "markets",
            "exchange.markets differs from the journal: market=%.32s; not applied, a 1001 by the "
            "operator changes a market",
            record.symbol);
    }
}

uint32_t opening_sequence(struct node *node)
{
    poison_watch(&node->poison);
    switch (core_open(&node->core)) {
    case CORE_OPENED:
        compare_markets(node);
        node->opened_sequence = engine_sequence(node->core.primary);
        return lifecycle_advance(node, PHASE_RECOVERED, PHASE_OPEN);
    case CORE_CLOCK_BEHIND:
        return 0; /* asked again next turn */
    case CORE_CAPACITY_TOO_SMALL:
        log_line(LOG_ERROR, "configuration", "%s is below what the data directory uses",
                 option_row(node->core.short_option)->name);
        lifecycle_fail(node, NODE_EXIT_CONFIGURATION);
        return 0;
    case CORE_DISK_FAILED:
        log_line(LOG_ERROR, "restart", "the file restart of the data directory could not be kept");
        lifecycle_fail(node, NODE_EXIT_FAILED);
        return 0;
    case CORE_NO_MEMORY:
        log_line(LOG_ERROR, "start", "no memory");
        lifecycle_fail(node, NODE_EXIT_FAILED);
        return 0;
    case CORE_KEY_DIFFERS: /* the recovery has refused it */
    case CORE_MARKET_REFUSED:
        break;
    }
    log_line(LOG_ERROR, "configuration", "exchange.markets has a record that 1001 refuses");
    lifecycle_fail(node, NODE_EXIT_CONFIGURATION);
    return 0;
}
