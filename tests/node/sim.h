/* sim.h - one seeded run of a whole exchange in one thread: virtual clocks, a disk that completes
 * out of order, fails, fills up and loses what was not synced, clients that speak HTTP to net
 * threads without sockets, a scheduler that picks the next step, crashes, recovery, recovery of
 * recovery.
 *
 * After each recovery the state is compared with what was acknowledged before:
 *   every acknowledged command lies at or below the recovered sequence; sent again it answers
 *   duplicate_request_id with its original outcome; the effects hash equals the one that the
 *   primary had at that sequence. While it runs: a read shows what was acknowledged before it was
 *   asked and nothing that is not durable; no id is executed twice; nothing signed by a revoked
 *   credential succeeds behind the revocation; the engine's time rises with its sequence; the
 *   follower has the primary's hash at every sequence both are known at; R2's invariants hold; a
 *   subscriber that lags, hangs up and comes back misses no trade and gets none twice. At
 *   rest: equal images of primary and follower and of whatever is folded from the files, and the
 *   subscriber's book is theirs.
 *
 * Everything that happens is a function of seed, steps and the events left out. */
#ifndef TESTS_NODE_SIM_H
#define TESTS_NODE_SIM_H

#include "base/compiler.h"

enum { SIM_FAILURE_BYTES = 256, SIM_TRACE_LINES = 32, SIM_TRACE_BYTES = 96 };

/* What a run may be made to do without, to find out what a failure needs. */
/* clang-format off */
#define SIM_EVENT_LIST(X) \
    X(crash) X(kill) X(clean) X(recrash) X(diskerror) X(diskfull) X(diskslow) X(clock) \
    X(configuration) X(duplicates) X(revocations) X(reads) X(http) X(hangup) X(badsignature) \
    X(snapshots) X(rot) X(rules) X(streams)

/* What occurred, and how often it must at least have in 1,000 seeds of the usual length. */
#define SIM_COUNTER_LIST(X) \
    X(crashes, 2500) X(kills, 1400) X(crashes_in_flight, 1600) X(restarts_clean, 1700) \
    X(crashes_in_recovery, 700) \
    X(crashes_in_child, 150) X(crashes_in_archive, 250) X(disk_errors, 450) X(disk_full, 450) X(disk_slow, 800) \
    X(clock_back, 2500) X(clock_forward, 500) X(configurations, 3200) \
    X(acknowledged, 1500000) X(completed, 390000) X(duplicates, 80000) X(overtaken, 18000) \
    X(ring_full, 35000) X(revocations, 8000) X(revocation_races, 30000) \
    X(http_requests, 1500000) X(http_problems, 8000) X(bad_signatures, 5000) X(hang_ups, 2500) \
    X(checked_duplicates, 1000000) X(checked_hashes, 200000) X(checked_reads, 60000) \
    X(checked_fills, 8000) X(checked_audits, 80000) X(snapshots, 1800) X(snapshots_damaged, 600) \
    X(histories_damaged, 300) X(archives_damaged, 100) X(archives_mended, 100) \
    X(snapshot_starts, 4000) X(archived, 4000) X(retired, 8000) X(folds, 4500) X(records, 3000000) \
    X(conditionals, 11000) X(triggers, 4800) X(batches, 18000) X(transfers, 10000) X(withdrawals, 12000) \
    X(settled, 2500) X(reverted, 2500) X(subaccounts, 5500) X(portfolios, 7000) X(schedules, 7000) \
    X(protections, 12000) X(freezes, 5000) X(suspensions, 4500) X(suspended, 60000) X(top_ups, 4500) \
    X(operator_cancels, 4000) X(fee_tiers, 4500) X(held, 1700) X(liquidated, 300) X(liquidated_book, 5) \
    X(liquidated_fund, 20) X(liquidated_adl, 160) X(funding_payments, 500) X(settlements, 50) \
    X(arms, 2000) X(arms_found, 4000) X(arms_ended, 900) \
    X(checked_frames, 40000) X(checked_trades, 15000) X(checked_books, 1800) X(watch_breaks, 5000) \
    X(checked_events, 80000) X(checked_balances, 20000) X(checked_accounts, 800)
/* clang-format on */

enum sim_event {
#define X(name) SIM_EVENT_##name,
    SIM_EVENT_LIST(X)
#undef X
        SIM_EVENT_COUNT
};

/* The newest things that happened, oldest first from `count % SIM_TRACE_LINES`. */
struct sim_trace {
    char lines[SIM_TRACE_LINES][SIM_TRACE_BYTES];
    uint64_t count;
};

struct sim_outcome {
    bool failed;
    char failure[SIM_FAILURE_BYTES]; /* what was wrong, when it failed */
    struct sim_trace trace;          /* the end of it */
    uint64_t steps;
    uint64_t digest; /* of everything acknowledged: equal seeds, equal digests */
#define X(name, least) uint64_t name;
    SIM_COUNTER_LIST(X)
#undef X
};

/* Runs one seed of about `steps` steps; bits of `disabled` (1 << enum sim_event) are left out. */
void sim_run(uint64_t seed, uint64_t steps, uint32_t disabled, struct sim_outcome *outcome);

#endif
