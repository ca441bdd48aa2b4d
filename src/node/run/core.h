/* core.h - one exchange without its network: engine, journal, matcher, follower, recovery.
 *
 *   matcher's thread      journal's           follower's         background thread
 *   core_match()          core_journal()      core_follow()      core_prepare()
 *      rings to net ──> journal buffer ──> disk ──> follower ──> rings to net
 *
 * perpd runs it on threads with the real disk and clock, the simulator runs the same steps in one
 * thread under a seeded scheduler: everything it needs of the world is in struct core_config.
 *
 * Order.  core_create, core_configure, core_make_keyring, core_recover (blocking), core_link for
 *         each net thread, core_open, then the steps; core_stop ends them cleanly; core_destroy
 *         gives everything back.
 * Owner.  Each step belongs to one thread, several to the same if need be; the calls before
 *         core_open to one thread at a time.
 * Bound.  All memory is taken by core_create and core_recover. */
#ifndef NODE_RUN_CORE_H
#define NODE_RUN_CORE_H

#include "node/match/matcher.h"
#include "node/match/primary_sink.h"
#include "node/recover/recover.h"
#include "node/recover/snapshotter.h"
#include "node/serve/follower.h"
#include "store/recovery.h"

/* One market record as JSON text, for an empty data directory (code 1001). */
struct core_market {
    const char *text;
    uint32_t text_bytes;
};

struct core_config {
    struct disk *disk;
    const struct clock *clock;
    const uint8_t *exchange_id;        /* option exchange.id; NULL: none */
    const struct core_market *markets; /* in asset_id order */
    uint32_t market_count;
    enum journal_durability durability;
    uint32_t segment_bytes;
    uint64_t segment_bytes_per_s; /* preparation; 0: unbounded */
    uint64_t journal_buffer_bytes;
    uint32_t frames_in_flight;
    uint32_t group_bytes;
    uint32_t frame_bytes_max;      /* 0: the format's */
    uint32_t history_rows;         /* that are kept of each kind, a power of two */
    uint64_t history_replay_bytes; /* a journal that is whole from its first record and no longer is
                                      replayed for its history, snapshot or not; 0: never */
    bool recovers_on_two_threads;  /* one for each engine */
    uint64_t snapshot_tail_bytes;  /* store.snapshot_tail */
    uint64_t archive_keep_ns;      /* store.archive_keep; 0: for ever */
    struct snapshotter_host snapshotter; /* begin NULL: no snapshots while it runs */
    uint64_t follower_lag_max_ns;
    int follower_commands_a_turn;
    struct key_keeper *key_keeper; /* NULL: sessions' keys have no tables */
    bool is_staged;                /* exchange.restart=staged */
    const _Atomic bool *give_up;   /* true: core_recover ends, record_refused; NULL: never */
};

struct core {
    struct core_config config;
    struct exchange_file exchange;
    bool is_new; /* the data directory was made by this start */
    struct recovery_result recovered;
    struct keyring *keyring;
    uint32_t keyring_places;
    struct primary_sink primary_sink;
    struct recover_engines engines;
    struct engine *primary; /* of `engines`, once recovered */
    struct engine *replica;
    struct segment_pool *pool;
    struct journal *journal;
    struct matcher matcher;
    struct follower follower;
    uint8_t configuration[REQUEST_BODY_MAX]; /* body of record 2013 of this start */
    uint32_t configuration_bytes;
    struct option_engine options; /* the same, parsed */
    enum option short_option;     /* with CORE_CAPACITY_TOO_SMALL */
    uint64_t market_rejects;      /* records of exchange.markets that the engine refused */
    struct snapshotter snapshotter;
};

/* Opens the data directory (lock, `exchange`). Refusals as exchange_file_open; on any of them there
 * is nothing to destroy. */
CC_MUST_USE enum refusal_kind core_create(struct core *core, const struct core_config *config,
                                          struct refusal *refusal);

/* The engine options of this start: the body of a record 2013. False when it does not parse. */
CC_MUST_USE bool core_configure(struct core *core, const uint8_t *body, uint32_t body_bytes);

/* The keyring, empty until core_open: net takes a pointer to it before recovery. 0 or -ENOMEM. */
CC_MUST_USE int core_make_keyring(struct core *core);

/* The state of the newest whole snapshot, or of none, the journal behind it, and the writer of what
 * comes (recover.h). Blocking. */
CC_MUST_USE enum refusal_kind core_recover(struct core *core, struct refusal *refusal);

/* Rings to one net thread. */
void core_link(struct core *core, const struct follower_link *link, struct ring *commands,
               struct ring *answers);

/* Why a start with these options was refused; exit 2. */
enum core_opening {
    CORE_OPENED,
    CORE_CLOCK_BEHIND,       /* not yet: the clock is before the last journalled t (W5) */
    CORE_CAPACITY_TOO_SMALL, /* an engine capacity is below use */
    CORE_MARKET_REFUSED,     /* exchange.markets has a record that 1001 refuses */
    CORE_DISK_FAILED,        /* what a staged start keeps could not be read or written */
};

/* Sequences the commands of a start: 2014, 2013 if an engine option differs, and for a new
 * directory one 1001 a market, else for a staged restart the 1002s that close the markets. Starts
 * the graces of the previous run's disconnect arms (disconnect_restart.h). */
CC_MUST_USE enum core_opening core_open(struct core *core);

/* Steps. Each gives the work done, 0 for none; core_journal gives -errno after a failed write or
 * sync, core_follow -errno when the follower found a difference or an unreadable segment. */
uint32_t core_match(struct core *core);
int core_journal(struct core *core);
int core_follow(struct core *core);
int core_prepare(struct core *core, uint64_t now_ns);

/* The background thread's too: snapshots and archive. The work done. */
uint32_t core_snapshot(struct core *core, uint64_t now_ns);

/* A clean stop, once no command can come any more: journal and follower step on until
 * core_stopped. */
void core_stop(struct core *core);
bool core_stopped(const struct core *core);

/* After core_stopped, when no step runs any more: compares the images of both engines and writes
 * the replica's as a snapshot that ends with the closing frame (docs/decisions/0042). The primary's
 * memory is given back. On a refusal the journal is as good as before; follower.diverged says that
 * the two differ. */
CC_MUST_USE enum refusal_kind core_write_snapshot(struct core *core, struct refusal *refusal);

/* After every step has ended; works in every state after core_create. */
void core_destroy(struct core *core);

#endif
