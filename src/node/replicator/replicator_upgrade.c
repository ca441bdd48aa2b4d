/* replicator_upgrade.c - a leader lets a node of a later rules_version lead, and a node of that one
 * waits for it (replication.md, Another binary).
 *
 *   leader   `leader` deleted, `upgrade` put for 60 s ──> snapshot to the vault ──> `upgraded`
 *   waiting  frames adopted, none applied ──> `upgraded` read ──> it begins with that snapshot */
#include "base/log.h"
#include "node/replicator/replicator_state.h"
#include "repl/etcd_ask.h"

#define LOOK_NS UINT64_C(200000000)
#define ASK_NS  UINT64_C(1000000000)

/* ---- the leader, whose roles have ended ------------------------------------------------------ */

/* Whether etcd did it. */
static bool ask(struct replicator *replicator, const struct etcd_request *request,
                struct etcd_done *done)
{
    return etcd_ask(replicator->etcd, request, ASK_NS, done) == 0 && done->result == ETCD_OK;
}

/* Whether the key is put; it was before, too, if the first answer was lost. */
static bool is_held(const struct etcd_done *done, int64_t lease)
{
    return done->succeeded || (done->row_count == 1 && done->rows[0].lease == lease);
}

bool replicator_upgrade_hold(struct replicator *replicator)
{
    const struct replicator_config *config = &replicator->config;
    struct repl_key leader = repl_key_of(config->cluster, "leader");
    struct repl_key upgrade = repl_key_of(config->cluster, "upgrade");
    const struct etcd_request grant = { .kind = ETCD_LEASE_GRANT, .ttl_s = REPLICATOR_UPGRADE_S };
    const struct etcd_compare mine = { etcd_text(leader.text), ETCD_CREATE_REVISION,
                                       replicator->elect.epoch };
    uint8_t version[CLUSTER_TERM_BYTES];
    struct etcd_done done;

    if (replicator->elect.state == ELECT_ELECTED && ask(replicator, &grant, &done) &&
        done.lease != 0) {
        replicator->upgrade.lease = done.lease;
        cc_store64(version, config->rules_version);
        const struct etcd_op then[] = {
            { .verb = ETCD_DELETE, .key = etcd_text(leader.text) },
            { .verb = ETCD_PUT,
              .key = etcd_text(upgrade.text),
              .value = { version, sizeof version },
              .lease = done.lease },
        };
        const struct etcd_op look = { .verb = ETCD_GET, .key = etcd_text(upgrade.text) };
        const struct etcd_transaction transaction = { .compares = &mine,
                                                      .compare_count = 1,
                                                      .then = then,
                                                      .then_count = CC_COUNT(then),
                                                      .otherwise = &look,
                                                      .otherwise_count = 1 };
        const struct etcd_request request = { .kind = ETCD_TRANSACTION,
                                              .transaction = &transaction };
        if (ask(replicator, &request, &done) && is_held(&done, replicator->upgrade.lease)) {
            replicator->upgrade.revision =
                done.succeeded ? done.revision : done.rows[0].create_revision;
            return true;
        }
        replicator_upgrade_drop(replicator);
    }
    log_line(LOG_ERROR, "upgrade",
             "etcd did not take the keys of the upgrade: a node of this rules_version leads on");
    return false;
}

bool replicator_upgrade_put(struct replicator *replicator, const struct cluster_snapshot *snapshot)
{
    struct repl_key upgrade = repl_key_of(replicator->config.cluster, "upgrade");
    struct repl_key upgraded = repl_key_of(replicator->config.cluster, "upgraded");
    uint8_t row[CLUSTER_SNAPSHOT_BYTES];
    struct etcd_done done;

    cluster_row_snapshot_encode(row, snapshot);
    const struct etcd_compare holds = { etcd_text(upgrade.text), ETCD_CREATE_REVISION,
                                        replicator->upgrade.revision };
    const struct etcd_op put = { .verb = ETCD_PUT,
                                 .key = etcd_text(upgraded.text),
                                 .value = { row, sizeof row } };
    const struct etcd_transaction transaction = {
        .compares = &holds, .compare_count = 1, .then = &put, .then_count = 1
    };
    const struct etcd_request request = { .kind = ETCD_TRANSACTION, .transaction = &transaction };
    return ask(replicator, &request, &done) && done.succeeded;
}

void replicator_upgrade_drop(struct replicator *replicator)
{
    const struct etcd_request revoke = { .kind = ETCD_LEASE_REVOKE,
                                         .lease = replicator->upgrade.lease };
    struct etcd_done done;

    if (!ask(replicator, &revoke, &done))
        log_line(LOG_WARN, "upgrade", "no node of this rules_version leads within %d s",
                 REPLICATOR_UPGRADE_S);
}

/* ---- a node that waits ----------------------------------------------------------------------- */

void replicator_upgrade_wait(struct replicator *replicator, struct journal *journal)
{
    replicator_attach(replicator, journal);
    replicator->upgrade.waits = true;
}

void replicator_upgrade_look(struct replicator *replicator, uint64_t now_ns)
{
    struct replicator_upgrade *upgrade = &replicator->upgrade;
    struct repl_key key = repl_key_of(replicator->config.cluster, "upgraded");
    const struct etcd_request request = { .kind = ETCD_RANGE, .key = etcd_text(key.text) };

    upgrade->is_caught_up = upgrade->is_caught_up || tail_is_at_end(&replicator->tail);
    if (upgrade->tag != 0 || now_ns < upgrade->again_ns)
        return;
    uint64_t tag = repl_tag(REPL_UPGRADE, ++upgrade->count);
    if (etcd_submit(replicator->etcd, &request, tag) != 0)
        return;
    upgrade->tag = tag;
    upgrade->again_ns = now_ns + LOOK_NS;
}

void replicator_upgrade_done(struct replicator *replicator, const struct etcd_done *done)
{
    struct replicator_upgrade *upgrade = &replicator->upgrade;

    if (done->tag != upgrade->tag)
        return;
    upgrade->tag = 0;
    if (done->result == ETCD_OK)
        upgrade->has_row =
            done->row_count == 1 && cluster_row_snapshot_decode(&upgrade->row, done->rows[0].value);
}

const struct cluster_snapshot *replicator_upgrade_row(const struct replicator *replicator)
{
    return replicator->upgrade.has_row ? &replicator->upgrade.row : NULL;
}
