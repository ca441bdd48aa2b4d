/* core.h - one exchange without its network: engine, journal, matcher, follower, recovery.
 *
 *   matcher's thread      journal's           follower's         background thread
 *   core_match()          core_journal()      core_follow()      core_prepare()
 *      rings to net ──> journal buffer ──> disk ──> follower ──> rings to net
 *
 * perpd runs it on threads with the real disk and clock. The simulator runs the same steps in one
 * thread under a seeded scheduler. Everything that it needs from outside is in struct core_config.
 *
 * Order.  core_create, core_configure, core_make_keyring, core_recover (blocking), core_link for
 *         each net thread, core_open, then the steps; core_stop ends them cleanly; core_destroy
 *         frees everything.
 * Owner.  Each step belongs to one thread; a thread may have several. Calls before core_open belong
 *         to one thread at a time.
 * Bound.  core_create and core_recover allocate all memory. */
#ifndef NODE_RUN_CORE_H
#define NODE_RUN_CORE_H

#include "node/match/following.h"
#include "node/match/matcher.h"
#include "node/match/primary_sink.h"
#include "node/recover/recover.h"
#include "node/recover/snapshotter.h"
#include "node/run/signing_key.h"
#include "node/serve/follower.h"
#include "node/serve/head_keeper.h"
#include "store/recovery.h"
#include "store/scrub.h"

/* One market record as JSON text, for an empty data directory (code 1001). */
struct core_market {
    const char *text;
    uint32_t text_bytes;
};

struct core_config {
    struct disk *disk;
    struct clock *clock;
    const uint8_t *exchange_id;        /* option exchange.id; NULL: none */
    const struct core_market *markets; /* in asset_id order */
    uint32_t market_count;
    enum journal_durability durability;
    uint32_t segment_bytes;
    uint64_t segment_bytes_per_s; /* preparation; 0: unbounded */
    uint64_t journal_buffer_bytes;
    uint32_t frames_in_flight;
    uint32_t group_bytes;
    uint32_t frame_bytes_max; /* 0: the format's */
    recovery_agree *agree;    /* of a cluster (recovery.h); NULL: none */
    void *agree_context;
    uint32_t history_rows;         /* rows kept of each kind in memory, a power of two */
    const char *history_folder;    /* of the history's file, and outlives the core; NULL: none */
    uint64_t private_events;       /* store.private_events */
    uint64_t history_replay_bytes; /* longest whole journal replayed for its history; 0: none */
    bool remakes_history;          /* store.remake_history */
    bool recovers_on_two_threads;  /* one for each engine */
    uint64_t snapshot_tail_bytes;  /* store.snapshot_tail */
    uint64_t archive_keep_ns;      /* store.archive_keep; 0: for ever */
    struct archive_copy *archive_copy;   /* store.archive_copy; NULL: none */
    uint64_t restart_target_ns;          /* store.restart_target; 0: a start has no bound */
    uint64_t clock_gap_max_ns;           /* store.clock_gap_max */
    uint64_t scrub_rate;                 /* store.scrub_rate; 0: nothing is read again */
    struct snapshotter_host snapshotter; /* begin NULL: no snapshots are made while it runs */
    uint64_t follower_lag_max_ns;
    int follower_commands_a_turn;
    struct key_keeper *key_keeper;      /* NULL: sessions' keys have no tables */
    struct account_rate *account_rates; /* set before core_recover; NULL: there is no limit */
    uint32_t id_grant;                  /* likewise: engine_set_grant */
    bool is_staged;                     /* exchange.restart=staged */
    const struct signing_key *signing;  /* the exchange's own key; NULL: no heads are made */
    const _Atomic bool *give_up;        /* true: core_recover ends, record_refused; NULL: never */
};

struct core {
    struct core_config config;
    struct exchange_file exchange;
    bool is_new; /* this start made the data directory */
    struct recovery_result recovered;
    struct keyring *keyring;
    uint32_t keyring_places;
    struct primary_sink primary_sink;
    struct recover_engines engines;
    struct history_file *history_file; /* NULL: none */
    bool history_was_damaged;          /* and this start began another */
    struct engine *primary;            /* of `engines`, after recovery */
    struct engine *replica;
    struct segment_pool *pool;
    struct frame_board frames; /* that are durable, newest */
    struct head_keeper heads;  /* with a signer, but not with durability none */
    struct journal *journal;
    struct matcher matcher;
    struct following following;     /* of a cluster: until this node leads */
    struct event_log events;        /* of the follower, for streams */
    struct book_log orders;         /* the same */
    struct private_log private_log; /* of recovery and the follower, likewise */
    struct book_board books;        /* of the follower */
    struct follower follower;
    uint8_t configuration[REQUEST_BODY_MAX]; /* body of record 2013 of this start */
    uint32_t configuration_bytes;
    struct option_engine options; /* the same, parsed */
    enum option short_option;     /* with CORE_CAPACITY_TOO_SMALL */
    uint64_t market_rejects;      /* records of exchange.markets that the engine refused */
    struct snapshotter snapshotter;
    struct scrub scrub;
};

/* Opens the data directory (lock, `exchange`). Refuses what exchange_file_open refuses; then there
 * is nothing to destroy. */
CC_MUST_USE enum refusal_kind core_create(struct core *core, const struct core_config *config,
                                          struct refusal *refusal);

/* Sets the engine options of this start from the body of a record 2013. False if it does not
 * parse. */
CC_MUST_USE bool core_configure(struct core *core, const uint8_t *body, uint32_t body_bytes);

/* Makes the keyring, empty until core_open: net needs its address before recovery. 0 or -ENOMEM. */
CC_MUST_USE int core_make_keyring(struct core *core);

/* Recovers the state from the newest whole snapshot, if any, and the journal after it, then makes
 * the journal's writer (recover.h). Refuses a signer whose key is not the journal's. Blocking. */
CC_MUST_USE enum refusal_kind core_recover(struct core *core, struct refusal *refusal);

/* Adds the rings to one net thread. */
void core_link(struct core *core, const struct follower_link *link, struct ring *commands,
               struct ring *answers);

enum { CORE_LEAD_BODY_BYTES = 64 }; /* record 2016 */

/* The results of core_open, core_stand_by and core_lead. */
enum core_opening {
    CORE_OPENED,
    CORE_CLOCK_BEHIND,       /* not yet: the clock is behind the last known time (W5) */
    CORE_CAPACITY_TOO_SMALL, /* an engine capacity is below use */
    CORE_MARKET_REFUSED,     /* exchange.markets has a record that 1001 refuses */
    CORE_DISK_FAILED,        /* the file of a staged restart could not be read or written */
    CORE_KEY_DIFFERS,        /* signing.key is another key than the journal's (rotation.h) */
    CORE_NO_MEMORY,
};

/* Sequences the commands of a start: 2014, 2018s for another signing key (rotation.h), 2013 if an
 * engine option differs, a 1011 if the clock is right and a gap of an earlier start is open, and
 * for a new directory one 1001 a market, else for a staged restart the 1002s that close the
 * markets. A clock that is not right is stopped here (stopped_clock.h); else the graces of the
 * previous run's disconnect arms start (disconnect_restart.h). */
CC_MUST_USE enum core_opening core_open(struct core *core);

/* In a cluster, in place of core_open: begins to follow the log. CORE_OPENED,
 * CORE_CAPACITY_TOO_SMALL, or CORE_NO_MEMORY. */
CC_MUST_USE enum core_opening core_stand_by(struct core *core);

/* The matcher's step of a standby: applies records that count. Returns their number or -errno;
 * -EBADMSG: the engine does not take one (following.h). */
CC_MUST_USE int core_follow_log(struct core *core);

/* Whether both engines have applied all that the journal shows. The matcher's thread. */
CC_MUST_USE bool core_is_current(const struct core *core);

/* Sequences the commands of a term once core_is_current: 2014 with the term as its boot, 2016, and
 * what a start of the same exchange sequences, but no 2013 (replication.md). `lead`: the body of
 * 2016. As core_open; CORE_CLOCK_BEHIND: ask again. */
CC_MUST_USE enum core_opening core_lead(struct core *core, uint64_t term,
                                        const uint8_t lead[CORE_LEAD_BODY_BYTES]);

/* Steps. Each returns the work done, 0 for none. core_journal returns -errno after a failed write
 * or sync, core_follow -errno if the follower found a difference or an unreadable segment. */
uint32_t core_match(struct core *core);
int core_journal(struct core *core);
int core_follow(struct core *core);
int core_prepare(struct core *core, uint64_t now_ns);

/* Also the background thread's: snapshots and archive. Returns the work done. */
uint32_t core_snapshot(struct core *core, uint64_t now_ns);

/* The history thread's: writes rows of the past to their file. Returns the rows written or -errno.
 * At the end of a clean stop everything is written and durable. */
int core_keep_history(struct core *core, uint64_t now_ns);
int core_end_history(struct core *core);

/* The scrub thread's: reads a piece of what lies still, and logs what is wrong with it. Returns the
 * work done. */
uint64_t core_scrub(struct core *core, uint64_t now_ns);

/* Also the history thread's: signs and keeps heads. Returns their number or -errno. */
int core_keep_heads(struct core *core, uint64_t now_ns);

/* Begins a clean stop, after which no command may come: journal and follower step until
 * core_stopped. */
void core_stop(struct core *core);
bool core_stopped(const struct core *core);

/* After core_stopped, when no step runs any more: makes the head of the closing frame, compares
 * the images of both engines and writes the replica's as a snapshot that ends with the closing
 * frame (docs/decisions/0042). Unmaps the primary. After a refusal the journal is unharmed;
 * follower.diverged says whether the images differ. */
CC_MUST_USE enum refusal_kind core_write_snapshot(struct core *core, struct refusal *refusal);

/* Frees everything, after all steps have ended. Works in every state after core_create. */
void core_destroy(struct core *core);

#endif
