#include "node/run/metrics_page.h"

#include <stdio.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/region.h"
#include "node/run/page.h"

static void metric(struct page *page, const char *name, const char *type, const char *help,
                   uint64_t value)
{
    page_line(page, "# HELP perpd_%s %s\n# TYPE perpd_%s %s\nperpd_%s %lu\n", name, help, name,
              type, name, value);
}

static void survey_lines(struct page *page, const struct steward *steward)
{
    metric(page, "cluster_current_nodes", "gauge", "Nodes that lead or are current.",
           published_get(&steward->current));
    metric(page, "cluster_etcd_used_percent", "gauge",
           "Part of cluster.etcd_quota that the fullest member of etcd uses.",
           published_get(&steward->used_percent));
    metric(page, "cluster_etcd_leader_changes_total", "counter",
           "Times that the steward found another leader of etcd.",
           published_get(&steward->etcd_leaders));
    metric(page, "cluster_vault_snapshot_sequence", "gauge",
           "Sequence of the newest snapshot in the vault, 0: none.",
           published_get(&steward->snapshot_sequence));
}

/* Quantiles, sum and count of what one thread adds. */
static void summary(struct page *page, const char *name, const char *help,
                    const struct histogram *times)
{
    static const struct {
        uint32_t ppm;
        const char *text;
    } quantiles[] = { { 500000, "0.5" },
                      { 990000, "0.99" },
                      { 999000, "0.999" },
                      { 999900, "0.9999" },
                      { 1000000, "1" } };

    page_line(page, "# HELP perpd_%s %s\n# TYPE perpd_%s summary\n", name, help, name);
    for (size_t i = 0; i < CC_COUNT(quantiles); i++)
        page_line(page, "perpd_%s{quantile=\"%s\"} %lu\n", name, quantiles[i].text,
                  histogram_quantile(times, quantiles[i].ppm));
    page_line(page, "perpd_%s_sum %lu\nperpd_%s_count %lu\n", name, histogram_sum(times), name,
              histogram_count(times));
}

static void cluster_lines(struct page *page, const struct node *node)
{
    const struct replicator *replicator = node->replicator;
    struct replicator_facts facts;

    replicator_facts(replicator, &facts);
    metric(page, "cluster_etcd_connected", "gauge", "1: a connection to etcd stands.",
           facts.is_connected);
    metric(page, "cluster_term", "gauge", "Term of the leader that this node knows.", facts.term);
    metric(page, "cluster_state", "gauge",
           "0 starting, 1 behind, 2 current, 3 leading (replication.md, Keys).", facts.state);
    metric(page, "cluster_received_frame", "gauge", "Last frame formed or adopted.",
           facts.received_frame);
    metric(page, "cluster_released_frame", "gauge", "Last frame whose records may be shown.",
           facts.released_frame);
    metric(page, "cluster_durable_frame", "gauge", "Last frame that counts and is on this disk.",
           facts.durable_frame);
    metric(page, "cluster_oldest_unreleased_ns", "gauge",
           "Time that the leader's oldest frame has been on its way to etcd.", facts.oldest_ns);
    metric(page, "cluster_lease_left_ns", "gauge",
           "Time that this leader may take writes without a further renewal.", facts.lease_left_ns);
    metric(page, "cluster_found_there_total", "counter",
           "Frames whose first answer was lost: the log had them.", facts.found_there);
    metric(page, "cluster_elections_total", "counter", "Elections that this node won.",
           facts.elections);
    metric(page, "cluster_log_lowest_frame", "gauge", "Of a leader: the lowest frame in etcd.",
           facts.lowest_frame);
    metric(page, "cluster_log_deleted_frames_total", "counter",
           "Frames that this leader deleted from etcd, for the vault has them.",
           facts.deleted_frames);
    metric(page, "cluster_vault_segments", "gauge",
           "Of a leader: the segments of the journal up to the last one that the vault has.",
           facts.vaulted_segments);
    metric(page, "cluster_vault_failures_total", "counter",
           "Attempts to put a segment or a snapshot into the vault that failed.",
           published_get(&node->vault_keeper.failures) + published_get(&node->publisher.failures));
    metric(page, "cluster_vault_late_ns", "gauge",
           "Time that a read of the vault has not returned; 0 before it is 10 s.",
           facts.vault_late_ns);
    summary(page, "cluster_commit_ns",
            "Of a leader: time from the sending of a frame until it counts.",
            replicator_commits(replicator));
    page_line(
        page,
        "# HELP perpd_cluster_clock_difference_ns Node clock minus t of frames as they arrived, "
        "the least of 64.\n"
        "# TYPE perpd_cluster_clock_difference_ns gauge\n"
        "perpd_cluster_clock_difference_ns %ld\n",
        facts.clock_difference_ns);
}

static void matcher_lines(struct page *page, const struct matcher *matcher)
{
    const struct matcher_counters *counters = &matcher->counters;

    metric(page, "commands_total", "counter", "Commands of clients that were sequenced.",
           published_get(&counters->commands));
    metric(page, "peeked_total", "counter", "Commands answered without a sequence.",
           published_get(&counters->peeked));
    metric(page, "authored_total", "counter", "Commands of the node: ticks, boots, hashes.",
           published_get(&matcher->sequencer.authored));
    metric(page, "journal_full_total", "counter", "Turns that ended for want of journal room.",
           published_get(&counters->journal_full));
    metric(page, "passkey_sign_counts_fallen_total", "counter",
           "Requests of passkeys whose count of signatures did not rise: a copied authenticator?",
           published_get(&counters->sign_counts_fallen));
    metric(page, "invariant_halts_total", "counter", "1002 and 1008 HALTED by a failed invariant.",
           published_get(&matcher->alarm.counters.halts));
    metric(page, "segment_closings_total", "counter",
           "1002 CANCEL_ONLY for want of prepared segments, or of room in etcd.",
           published_get(&matcher->alarm.counters.closings));
    page_line(page, "# HELP perpd_answers_total Answers by status.\n"
                    "# TYPE perpd_answers_total counter\n");
    for (uint32_t status = 0; status < STATUS_COUNT; status++) {
        uint64_t answers = published_get(&counters->status[status]);
        if (answers != 0)
            page_line(page, "perpd_answers_total{status=\"%s\"} %lu\n",
                      status_name((enum status)status), answers);
    }
}

static void snapshot_lines(struct page *page, const struct node *node)
{
    const struct snapshotter_counters *counters = &node->core.snapshotter.counters;
    uint64_t now_ns = clock_now_ns(&node->clock);
    uint64_t t_ns = published_get(&counters->t_ns);

    metric(page, "snapshots_total", "counter", "Snapshots that were made while it runs.",
           published_get(&counters->snapshots));
    metric(page, "snapshots_in_slices_total", "counter",
           "Of them without a child, because children were killed.",
           published_get(&counters->in_slices));
    metric(page, "snapshot_failures_total", "counter", "Children that ended without one.",
           published_get(&counters->failures));
    metric(page, "snapshot_put_off_total", "counter", "Looks at which memory was too short.",
           published_get(&counters->put_off));
    metric(page, "snapshot_running", "gauge", "1 while a child is at work.",
           published_get(&counters->running));
    metric(page, "snapshot_alarm", "gauge", "1 when the last attempt failed or is put off.",
           published_get(&counters->alarm));
    metric(page, "snapshot_sequence", "gauge", "Sequence of the newest snapshot, 0: none.",
           published_get(&counters->sequence));
    if (t_ns != 0)
        metric(page, "snapshot_age_seconds", "gauge", "Age of the newest snapshot's state.",
               now_ns > t_ns ? (now_ns - t_ns) / 1000000000 : 0);
    metric(page, "snapshot_tail_bytes", "gauge", "Sealed segments above the newest snapshot.",
           published_get(&counters->tail_bytes));
    metric(page, "archived_segments_total", "counter", "Segments written to the archive.",
           published_get(&counters->archived));
    metric(page, "archive_failures_total", "counter", "Attempts at it that failed.",
           published_get(&counters->archive_failures));
    metric(page, "archive_copy_segments", "gauge", "Segments in store.archive_copy.",
           published_get(&node->archive_copy.segments));
    metric(page, "retired_segments_total", "counter", "Segments given back to be used again.",
           published_get(&counters->retired));
    metric(page, "pruned_segments_total", "counter", "Archived segments removed by their age.",
           published_get(&counters->pruned));
}

/* roles.md, Bounded start. */
static void restart_lines(struct page *page, const struct restart_bound *bound)
{
    uint64_t estimate_ms = published_get(&bound->estimate_ns) / 1000000;

    page_line(page,
              "# HELP perpd_restart_estimate_seconds How long a start would replay now.\n"
              "# TYPE perpd_restart_estimate_seconds gauge\n"
              "perpd_restart_estimate_seconds %lu.%03lu\n",
              estimate_ms / 1000, estimate_ms % 1000);
    metric(page, "write_halvings", "gauge",
           "How often the writes of an account are halved because that is too long.",
           published_get(&bound->halvings));
}

static void journal_lines(struct page *page, const struct core *core)
{
    struct journal_counters counters = journal_counters(core->journal);

    metric(page, "journal_frames_total", "counter", "Frames submitted.", counters.frames);
    metric(page, "journal_records_total", "counter", "Records submitted.", counters.records);
    metric(page, "journal_record_bytes_total", "counter", "Bytes of those records.",
           counters.record_bytes);
    metric(page, "journal_written_bytes_total", "counter", "Bytes of frames, padding included.",
           counters.written_bytes);
    metric(page, "journal_in_flight", "gauge", "Frames being written.", counters.in_flight);
    metric(page, "journal_durable_sequence", "gauge", "Last sequence that may be shown.",
           journal_durable_seq(core->journal));
    metric(page, "journal_starved_total", "counter", "Turns that had records and no segment.",
           counters.starved);
    metric(page, "segments_ready", "gauge", "Segments prepared ahead.",
           segment_pool_ready(core->pool));
    metric(page, "segment_error", "gauge", "Error number of the last preparation, 0: none.",
           (uint64_t)-segment_pool_error(core->pool));
}

static void scrub_lines(struct page *page, const struct core *core)
{
    const struct scrub_counters *counters = &core->scrub.counters;
    uint64_t done_ns = published_get(&counters->round_ns);

    metric(page, "scrub_faults_total", "counter", "Stored files found wrong: alarm.",
           published_get(&counters->faults));
    metric(page, "scrub_mended_total", "counter", "Archived files taken from their other place.",
           published_get(&counters->mended));
    metric(page, "scrub_files_total", "counter", "Stored files read again to their end.",
           published_get(&counters->files));
    metric(page, "scrub_bytes_total", "counter", "Bytes of them.", published_get(&counters->bytes));
    metric(page, "scrub_rounds_total", "counter", "Rounds in which all of them were read.",
           published_get(&counters->rounds));
    if (done_ns != 0)
        metric(page, "scrub_round_age_seconds", "gauge", "Time since the last such round.",
               (clock_monotonic_ns(core->config.clock) - done_ns) / 1000000000);
    metric(page, "heads_kept", "gauge", "Signed heads in the file heads.",
           published_get(&core->heads.kept));
}

/* Memory of the process that no file backs (proc_pid_statm(5)); 0: /proc does not tell. */
static uint64_t anonymous_bytes(void)
{
    uint64_t resident = 0, shared = 0;
    FILE *file = fopen("/proc/self/statm", "re");

    if (file == NULL)
        return 0;
    bool is_read = fscanf(file, "%*u %lu %lu", &resident, &shared) == 2 && resident >= shared;
    (void)fclose(file);
    return is_read ? (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

static void memory_lines(struct page *page)
{
    struct region_use uses[REGION_PARTS_COUNT];

    region_uses(uses);
    metric(page, "memory_anonymous_bytes", "gauge", "Memory of the process that no file backs.",
           anonymous_bytes());
    page_line(page, "# HELP perpd_memory_mapped_bytes Memory that a part may take.\n"
                    "# TYPE perpd_memory_mapped_bytes gauge\n");
    for (enum region_part part = 0; part < REGION_PARTS_COUNT; part++)
        page_line(page, "perpd_memory_mapped_bytes{part=\"%s\"} %lu\n", region_part_name(part),
                  uses[part].mapped_bytes);
    page_line(page, "# HELP perpd_memory_resident_bytes Memory that a part has taken.\n"
                    "# TYPE perpd_memory_resident_bytes gauge\n");
    for (enum region_part part = 0; part < REGION_PARTS_COUNT; part++)
        page_line(page, "perpd_memory_resident_bytes{part=\"%s\"} %lu\n", region_part_name(part),
                  uses[part].resident_bytes);
}

static void history_lines(struct page *page, const struct core *core)
{
    const struct history_keep *keep = &core->follower.sink.history->keep;

    metric(page, "history_from_sequence", "gauge", "Rows from this sequence on are all kept.",
           published_get(&keep->from));
    metric(page, "history_damaged", "gauge",
           "1: this start set a damaged history/ aside, or a read has met damage since.",
           core->history_was_damaged ||
               atomic_load_explicit(&keep->is_damaged, memory_order_relaxed));
    metric(page, "history_applied_sequence", "gauge", "Last sequence whose rows are in history/.",
           published_get(&keep->applied));
    metric(page, "history_rows_total", "counter", "Rows written to history/.",
           published_get(&keep->rows));
    metric(page, "history_commits_total", "counter", "Commits of history/.",
           published_get(&keep->commits));
    metric(page, "history_stopped", "gauge", "1: nothing more is written in this run.",
           atomic_load_explicit(&keep->is_stopped, memory_order_relaxed));
}

static void follower_lines(struct page *page, const struct follower *follower)
{
    metric(page, "follower_applied_sequence", "gauge", "Last sequence that reads show.",
           atomic_load_explicit(&follower->applied, memory_order_acquire));
    metric(page, "follower_commands_total", "counter", "Commands applied by the follower.",
           published_get(&follower->counters.commands));
    metric(page, "follower_queries_total", "counter", "Queries answered.",
           published_get(&follower->counters.queries));
    metric(page, "follower_lagging_total", "counter", "Queries refused because it was behind.",
           published_get(&follower->counters.lagging));
    metric(page, "follower_aside_total", "counter", "Queries that took more than a turn.",
           published_get(&follower->counters.aside));
    metric(page, "follower_given_up_total", "counter",
           "Queries refused because too many took more than a turn.",
           published_get(&follower->counters.given_up));
    metric(page, "follower_hashes_total", "counter", "effects_hash records compared.",
           published_get(&follower->counters.hashes));
    metric(page, "follower_lag_ns", "gauge", "How far behind the follower is.",
           follower_lag_ns(follower));
    metric(page, "invariants_failed", "gauge", "Bit k - 1: invariant I<k> failed.",
           atomic_load_explicit(&follower->invariants_failed, memory_order_relaxed));
}

static void amount(struct page *page, const char *name, const char *help,
                   const _Atomic int64_t *value)
{
    page_line(page, "# HELP perpd_%s %s\n# TYPE perpd_%s gauge\nperpd_%s %ld\n", name, help, name,
              name, atomic_load_explicit(value, memory_order_relaxed)); /* relaxed: shown only */
}

static void withdrawal_lines(struct page *page, const struct exchange_counters *exchange)
{
    page_line(page, "# HELP perpd_withdrawals_total Withdrawals by what became of them.\n"
                    "# TYPE perpd_withdrawals_total counter\n");
    page_line(page, "perpd_withdrawals_total{outcome=\"requested\"} %lu\n",
              published_get(&exchange->withdrawals_requested));
    page_line(page, "perpd_withdrawals_total{outcome=\"settled\"} %lu\n",
              published_get(&exchange->withdrawals_settled));
    page_line(page, "perpd_withdrawals_total{outcome=\"reverted\"} %lu\n",
              published_get(&exchange->withdrawals_reverted));
    metric(page, "withdrawals_pending", "gauge", "Withdrawals that the operator has to settle.",
           published_get(&exchange->pending_count));
    amount(page, "withdrawals_pending_micro_usdc", "What they come to.", &exchange->pending_amount);
}

/* One gauge of each table. */
static void table_gauge(struct page *page, const char *name, const char *help,
                        const struct published *values)
{
    page_line(page, "# HELP perpd_%s %s\n# TYPE perpd_%s gauge\n", name, help, name);
    for (uint32_t table = 0; table < SHARE_TABLE_COUNT; table++)
        page_line(page, "perpd_%s{table=\"%s\"} %lu\n", name,
                  share_table_name((enum share_table)table), published_get(&values[table]));
}

static void table_lines(struct page *page, const struct exchange_counters *exchange)
{
    page_line(page,
              "# HELP perpd_table_used Rows of each bounded table by the class of their account.\n"
              "# TYPE perpd_table_used gauge\n");
    for (uint32_t table = 0; table < SHARE_TABLE_COUNT; table++)
        for (uint32_t class = 0; class < SHARE_CLASS_COUNT; class ++)
            page_line(page, "perpd_table_used{table=\"%s\",class=\"%s\"} %lu\n",
                      share_table_name((enum share_table)table),
                      share_class_name((enum share_class) class),
                      published_get(&exchange->table_used[table][class]));
    table_gauge(page, "table_size", "Rows that the table has room for.", exchange->table_size);
    table_gauge(page, "table_alarm", "1: the table is 70 % full.", exchange->table_alarm);
}

static void exchange_lines(struct page *page, const struct exchange_counters *exchange)
{
    static const char *const levels[EXCHANGE_COUNTERS_LEVELS] = { "book", "fund", "adl",
                                                                  "netting" };

    amount(page, "insurance_fund_micro_usdc", "Cash of the fund; below 0: a deficit.",
           &exchange->fund_cash);
    amount(page, "fee_account_micro_usdc", "What fees have come to.", &exchange->fee_account);
    amount(page, "owed_micro_usdc", "What portfolios in liquidation owe.", &exchange->owed);
    amount(page, "solvency_micro_usdc", "Fund and fees less what is owed; below 0: profits wait.",
           &exchange->solvency);
    amount(page, "claims_micro_usdc", "Cash of all portfolios, as of the last audit.",
           &exchange->claims);
    metric(page, "deferred_work_items", "gauge", "Items of deferred work that wait.",
           published_get(&exchange->work_items));
    metric(page, "liquidated_portfolios_total", "counter", "Portfolios that became IN_LIQUIDATION.",
           published_get(&exchange->liquidated));
    page_line(page, "# HELP perpd_liquidations_total Actions of liquidation by level.\n"
                    "# TYPE perpd_liquidations_total counter\n");
    for (uint32_t level = 0; level < EXCHANGE_COUNTERS_LEVELS; level++)
        page_line(page, "perpd_liquidations_total{level=\"%s\"} %lu\n", levels[level],
                  published_get(&exchange->liquidations[level]));
    metric(page, "funding_settlements_total", "counter",
           "Hours of funding settled, of each market.", published_get(&exchange->funding_hours));
    metric(page, "funding_payments_total", "counter", "Funding payments.",
           published_get(&exchange->funding_payments));
    metric(page, "oracle_holds_total", "counter", "Markets whose index leapt and was held.",
           published_get(&exchange->holds));
    metric(page, "triggers_total", "counter", "Conditional orders that fired.",
           published_get(&exchange->triggers));
    metric(page, "mmp_freezes_total", "counter", "Freezes by makers' protection.",
           published_get(&exchange->freezes));
    metric(page, "settlements_total", "counter", "Positions settled by a market's close.",
           published_get(&exchange->settlements));
    withdrawal_lines(page, exchange);
    table_lines(page, exchange);
}

/* An index of a market that nobody publishes any more stops its orders (R5). */
static void index_lines(struct page *page, const struct node *node)
{
    const struct exchange_counters *exchange = &node->core.follower.exchange_counters;
    /* pairs: exchange_counters_refresh */
    uint32_t count = atomic_load_explicit(&exchange->index_count, memory_order_acquire);
    int64_t now_ns = (int64_t)clock_now_ns(&node->clock);

    page_line(page,
              "# HELP perpd_index_age_seconds Since the publish time of a market's index price.\n"
              "# TYPE perpd_index_age_seconds gauge\n");
    for (uint32_t k = 0; k < count; k++) {
        const struct exchange_counters_index *index = &exchange->indexes[k];
        int64_t publish_ns = (int64_t)published_get(&index->publish_ns);
        char symbol[33] = { 0 };
        published_words_get(index->symbol, symbol, CC_COUNT(index->symbol));
        if (publish_ns != 0)
            page_line(page, "perpd_index_age_seconds{market=\"%s\"} %.3f\n", symbol,
                      (double)(now_ns - publish_ns) / 1e9);
    }
}

/* Of the file system that holds the data directory. */
static void disk_lines(struct page *page, const struct node *node)
{
    struct statvfs status;

    if (statvfs(config_text(node->options, OPTION_store_data), &status) != 0)
        return; /* no lines: a scraper's rules see that they are absent */
    metric(page, "disk_free_bytes", "gauge", "Free bytes of the data directory's file system.",
           (uint64_t)status.f_bavail * status.f_frsize);
    metric(page, "disk_size_bytes", "gauge", "Size of that file system.",
           (uint64_t)status.f_blocks * status.f_frsize);
}

static void certificate_lines(struct page *page, const struct node *node)
{
    const struct certificate *certificate = &node->certificate;
    int64_t now_s = (int64_t)(clock_now_ns(&node->clock) / UINT64_C(1000000000));
    int64_t end_s = (int64_t)published_get(&certificate->expires_unix_s);

    if (end_s == 0) /* no TLS */
        return;
    page_line(page,
              "# HELP perpd_tls_certificate_expires_seconds Until the certificate's end date.\n"
              "# TYPE perpd_tls_certificate_expires_seconds gauge\n"
              "perpd_tls_certificate_expires_seconds %ld\n",
              end_s - now_s);
    metric(page, "tls_certificate_reloads_total", "counter", "SIGHUPs whose files are in force.",
           published_get(&certificate->reloads));
    metric(page, "tls_certificate_reload_failures_total", "counter",
           "SIGHUPs whose files could not be used.", published_get(&certificate->reload_failures));
}

static void key_lines(struct page *page, const struct node *node)
{
    static const struct {
        const char *name, *type, *help;
        size_t offset;
    } rows[] = {
#define ROW(name, type, help, member) \
    { name, type, help, offsetof(struct key_tables_counters, member) }
        ROW("key_tables", "gauge", "Keys that have a table.", present),
        ROW("key_tables_built_total", "counter", "Tables built.", built),
        ROW("key_tables_removed_total", "counter", "Tables of keys without a session.", removed),
        ROW("key_tables_refused_total", "counter", "Keys that can never sign.", refused),
        ROW("key_tables_full_total", "counter", "Keys for whose table there was no room.", full),
#undef ROW
    };

    page_line(page, "# HELP perpd_signature_path 1: Ed25519 signatures are verified by this path.\n"
                    "# TYPE perpd_signature_path gauge\n");
    for (unsigned path = 0; path < ED25519_PATHS; path++)
        page_line(page, "perpd_signature_path{path=\"%s\"} %d\n",
                  ed25519_path_name((enum ed25519_path)path), path == ed25519_path_in_use());
    for (size_t i = 0; node->key_tables != NULL && i < CC_COUNT(rows); i++) {
        const uint8_t *counters = (const void *)key_tables_counters(node->key_tables);
        const struct published *value = (const void *)(counters + rows[i].offset);
        metric(page, rows[i].name, rows[i].type, rows[i].help, published_get(value));
    }
#define X(name, help)                                     \
    metric(page, "keys_" #name "_total", "counter", help, \
           published_get(&node->key_keeper.counters.name));
    KEY_KEEPER_COUNTER_LIST(X)
#undef X
}

static void thread_line(struct page *page, const char *name, const _Atomic clockid_t *clock)
{
    struct timespec used;
    clockid_t id = atomic_load_explicit(clock, memory_order_relaxed); /* relaxed: shown only */

    if (id == DUTY_NO_CLOCK || clock_gettime(id, &used) != 0)
        return; /* it has not begun, or it has ended */
    page_line(page, "perpd_thread_cpu_seconds_total{thread=\"%s\"} %ld.%09ld\n", name,
              (long)used.tv_sec, used.tv_nsec);
}

static void thread_lines(struct page *page, const struct node *node)
{
    page_line(page, "# HELP perpd_thread_cpu_seconds_total CPU time of each thread.\n"
                    "# TYPE perpd_thread_cpu_seconds_total counter\n");
    for (uint32_t i = 0; i < node->topology.thread_count; i++)
        thread_line(page, node->topology.threads[i].name, &node->duties[i].cpu_clock);
    thread_line(page, "prepare", &node->background_clock);
    thread_line(page, "history", &node->history_clock);
    thread_line(page, "keys", &node->keys_clock);
    thread_line(page, "scrub", &node->scrub_clock);
}

size_t metrics_page_write(struct node *node, char *text, size_t capacity)
{
    struct page page = { text, capacity, 0 };
    enum phase_name phase = phase_now(&node->phase);
    int64_t difference_ns = clock_difference_ns(&node->clock);

    page_line(&page,
              "# HELP perpd_build_info Constant 1, with what the process runs as.\n"
              "# TYPE perpd_build_info gauge\n"
              "perpd_build_info{version=\"%s\",commit=\"%s\",build=\"%s\",durability=\"%s\","
              "topology=\"%s\"} 1\n",
              node->version.number, node->version.commit, node->version.build,
              config_text(node->options, OPTION_store_durability), node->topology.name);
    thread_lines(&page, node);
    page_line(&page,
              "# HELP perpd_clock_difference_ns CLOCK_REALTIME minus the node clock.\n"
              "# TYPE perpd_clock_difference_ns gauge\nperpd_clock_difference_ns %ld\n",
              difference_ns);
    key_lines(&page, node);
    certificate_lines(&page, node);
    disk_lines(&page, node);
    metric(&page, "replayed_sequence", "gauge", "Last sequence that recovery applied.",
           atomic_load_explicit(&node->core.engines.replayed, memory_order_relaxed));
    metric(&page, "poisoned_requests", "gauge",
           "Requests refused because the process aborted on them.", node->poison.refused_count);
    metric(&page, "poisoned_types", "gauge", "Request types put off after repeated faults.",
           node->poison.off_count);
    metric(&page, "poison_file_damaged", "gauge",
           "1: the file poison was damaged at the start and is set aside.",
           node->poison.was_damaged);
    metric(&page, "log_dropped_total", "counter", "Log lines left out by the rate bound.",
           log_dropped());
    memory_lines(&page);
    if (phase_serves(phase) && node->replicator != NULL) {
        cluster_lines(&page, node);
        survey_lines(&page, &node->steward);
    }
    if (phase_serves(phase)) {
        matcher_lines(&page, &node->core.matcher);
        /* Where every delay shows. */
        summary(&page, "matcher_turn_ns", "Time of the matcher's turns that did something.",
                &node->turn_ns);
        snapshot_lines(&page, node);
        restart_lines(&page, &node->core.follower.bound);
        journal_lines(&page, &node->core);
        follower_lines(&page, &node->core.follower);
        history_lines(&page, &node->core);
        scrub_lines(&page, &node->core);
        index_lines(&page, node);
        exchange_lines(&page, &node->core.follower.exchange_counters);
    }
    return page.used;
}
