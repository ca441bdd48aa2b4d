#include "node/run/upgrade.h"

#include <errno.h>
#include <poll.h>

#include "base/log.h"
#include "node/run/cluster.h"
#include "node/run/lifecycle.h"
#include "node/run/opening.h"
#include "node/run/writer.h"

enum { TURN_MS = 20 };

#define RETRY_NS UINT64_C(10000000000)

/* ---- the leader ------------------------------------------------------------------------------ */

bool upgrade_is_ordered(const struct node *node)
{
    /* relaxed: every role has ended. */
    return atomic_load_explicit(&node->upgrades, memory_order_relaxed);
}

bool upgrade_begin(struct node *node)
{
    return replicator_upgrade_hold(node->replicator);
}

/* Puts the snapshot of the stop into the vault. 0 or -errno. */
static int upload(struct node *node, struct vault_snapshot *snapshot)
{
    const struct vault *vault = &node->vault_keeper.vault;
    struct vault_upload *upload = &node->publisher.upload; /* its thread has ended */
    struct snapshot_head head;
    int done = snapshot_read_head(node->disk, &node->core.exchange,
                                  engine_sequence(node->core.replica), &head, NULL);

    if (done != 0)
        return done;
    vault_snapshot_of(snapshot, &head, journal_cluster_segment(node->core.journal));
    done = vault_snapshot_upload_begin(upload, vault, node->disk, snapshot);
    while (done == 0)
        done = vault_snapshot_upload_step(upload);
    *snapshot = upload->snapshot;
    return done < 0 ? done : 0;
}

/* An upload by a thread of its own, for a call of the vault may never return. */
struct upload {
    struct node *node;
    struct vault_snapshot snapshot;
    int failed;
};

static void *upload_main(void *context)
{
    struct upload *own = context;

    pthread_setname_np(pthread_self(), "perpd-upload");
    own->failed = upload(own->node, &own->snapshot);
    return NULL;
}

/* As upload; -ETIMEDOUT when the time of the lease is over: the process ends beside the thread. */
static int upload_in_time(struct node *node, struct upload *own)
{
    pthread_t thread;
    int failed = pthread_create(&thread, NULL, upload_main, own);

    if (failed != 0)
        return -failed;
    return cluster_join_vault(node, thread, REPLICATOR_UPGRADE_S) ? own->failed : -ETIMEDOUT;
}

int upgrade_end(struct node *node, int code)
{
    static struct upload own; /* outlives a thread that hangs */
    const struct vault *vault = &node->vault_keeper.vault;
    struct cluster_snapshot row;

    own.node = node;
    int failed = code == NODE_EXIT_CLEAN && !node->vault_hangs ? upload_in_time(node, &own) : -EIO;
    if (failed == 0) {
        snapshot_publisher_row(vault, &own.snapshot, &row);
        if (replicator_upgrade_put(node->replicator, &row)) {
            log_line(LOG_WARN, "upgrade",
                     "the chain of rules_version %d ends with sequence=%lu frame=%lu: a node of a "
                     "later one leads from its snapshot, and this binary no more",
                     ENGINE_RULES_VERSION, row.sequence, row.frame);
            return NODE_EXIT_CLEAN;
        }
    }
    const char *why = failed == 0         ? "etcd did not take the key of the snapshot in time"
                      : node->vault_hangs ? "a call of the vault has not returned"
                                          : strerror(-failed);
    log_line(LOG_ERROR, "upgrade", "it was given up: %s; a node of this rules_version leads on",
             why);
    replicator_upgrade_drop(node->replicator);
    return NODE_EXIT_FAILED;
}

/* ---- a node that waits ----------------------------------------------------------------------- */

bool upgrade_is_awaited(const struct node *node)
{
    return node->replicator != NULL && node->refusal.error == (int)REPLAY_rules_version &&
           replay_is_earlier(node->core.engines.refused_version);
}

static int pass(void *context, uint64_t sequence, uint64_t frame, const struct record_view *record)
{
    (void)context;
    (void)sequence;
    (void)frame;
    (void)record;
    return 0;
}

/* The chain, behind the snapshot that recovery began with, and the journal behind it. */
static enum refusal_kind open_journal(struct node *node)
{
    struct core *core = &node->core;
    struct refusal *refusal = &node->refusal;
    struct recovery_config chain = {
        .disk = node->disk,
        .exchange = &core->exchange,
        .segment_bytes = core->config.segment_bytes,
        .apply = pass,
        .context = node->replicator,
        .agree = replicator_agree,
    };
    struct snapshot_head head;

    recover_unmap(&core->engines);
    refusal_clear(refusal);
    if (core->engines.snapshot_sequence != 0) {
        if (snapshot_read_head(node->disk, &core->exchange, core->engines.snapshot_sequence, &head,
                               refusal) != 0)
            return refusal->kind;
        chain.after_frame = chain.durable_frame = head.frame;
        memcpy(chain.after_hash, head.frame_hash, HASH_BYTES);
    }
    enum refusal_kind kind = recovery_run(&chain, &core->recovered, refusal);
    if (kind != REFUSAL_none)
        return kind;
    int failed = frame_board_init(&core->frames);
    if (failed == 0)
        failed = writer_make(core);
    return failed == 0 ? REFUSAL_none : refusal_machine(refusal, "the journal's writer", failed);
}

/* A step of each role that a node has which applies nothing. False: it has ended. */
static bool turn(struct node *node)
{
    const struct replicator_words words = { .is_alive = true };
    int prepared = core_prepare(&node->core, clock_monotonic_ns(&node->clock));

    if (prepared < 0)
        log_line(LOG_ERROR, "segment", "preparation failed: %s", strerror(-prepared));
    published_add(&node->journal->turns, 1); /* notify.c looks whether it moves */
    cluster_accept_mail(node);
    int replicated = replicator_step(node->replicator, &words);
    if (replicated < 0) {
        const struct replicator_end *end = replicator_end(node->replicator);
        log_line(LOG_ERROR, "cluster", "%s", end->text);
        lifecycle_fail(node, end->exit_code);
        return false;
    }
    int written = core_journal(&node->core);
    if (written < 0) {
        log_line(LOG_ERROR, "journal", "write failed: %s", strerror(-written));
        lifecycle_fail(node, NODE_EXIT_FAILED);
        return false;
    }
    if (replicated + written + prepared <= 0) {
        struct pollfd file = { .fd = replicator_file(node->replicator), .events = POLLIN };
        (void)poll(&file, 1, TURN_MS);
    }
    return true;
}

/* Whether the journal has every frame up to that snapshot, and recovery began with an older one:
 * the file of this one is not here, or damaged. */
static bool is_due(const struct node *node, const struct cluster_snapshot *row)
{
    return row != NULL && row->rules_version < ENGINE_RULES_VERSION &&
           node->core.engines.snapshot_sequence < row->sequence &&
           row->frame <= journal_cluster_durable_frame(node->core.journal);
}

void upgrade_await(struct node *node)
{
    uint64_t again_ns = 0;
    bool is_asked = false;
    int error;

    log_line(LOG_WARN, "upgrade", "%s", node->refusal.text);
    if (open_journal(node) != REFUSAL_none) {
        lifecycle_fail(node, opening_refuse(node));
        return;
    }
    log_line(LOG_WARN, "upgrade",
             "waiting: frames are kept and not applied, until perp cluster upgrade on the node "
             "that leads (this one has rules_version %d)",
             ENGINE_RULES_VERSION);
    replicator_upgrade_wait(node->replicator, node->core.journal);
    atomic_store_explicit(&node->waits, true, memory_order_release); /* pairs: notify.c */
    while (phase_now(&node->phase) == PHASE_RECOVERING) {
        const struct cluster_snapshot *row = replicator_upgrade_row(node->replicator);
        uint64_t now_ns = clock_monotonic_ns(&node->clock);
        if (lifecycle_is_stop_asked(node)) {
            lifecycle_fail(node, NODE_EXIT_CLEAN);
            return;
        }
        if (!turn(node))
            return;
        if (!is_asked && now_ns >= again_ns && is_due(node, row)) {
            waiting_ask(&node->waiting, row);
            is_asked = true;
        }
        if (!is_asked || !waiting_answer(&node->waiting, &error))
            continue;
        is_asked = false;
        again_ns = now_ns + RETRY_NS;
        if (error == 0) {
            log_line(LOG_WARN, "upgrade", "snapshot=%lu is here: this node begins again with it",
                     node->waiting.row.sequence);
            lifecycle_fail(node, NODE_EXIT_DEPOSED);
            return;
        }
        log_line(LOG_ERROR, "upgrade", "snapshot=%lu of the vault: %s; tried again in 10 s",
                 node->waiting.row.sequence, strerror(-error));
    }
}
