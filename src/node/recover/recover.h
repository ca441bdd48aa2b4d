/* recover.h - recovers the state of both engines at a start (journal.md, Recovery;
 * docs/decisions/0041).
 *
 *   snapshot/ newest whole one ─> primary and replica <── archive/, journal/ after it
 *        └─ none, or the journal is whole and short, or the history lacks rows that no snapshot
 *           would bring back: every record from the first on, and the newest snapshot's image
 *           hash is compared on the way
 *
 * Main or journal thread, blocking. */
#ifndef NODE_RECOVER_RECOVER_H
#define NODE_RECOVER_RECOVER_H

#include "engine/engine.h"
#include "node/history/history.h"
#include "node/recover/rebuild.h"
#include "store/recovery.h"

/* The inputs of a recovery. Everything named here outlives it. */
struct recover_config {
    struct disk *disk;
    struct exchange_file *exchange;  /* its boot is raised and written at the end */
    const struct clock *clock;       /* as in struct recovery_config */
    struct history_sink *sink;       /* takes the replica's effects; its history is created again */
    struct private_log *private_log; /* made again likewise; NULL: none */
    struct history_file *history_file; /* keeps rows of the history; NULL: none */
    struct option_engine capacities;   /* that this start wants */
    uint32_t segment_bytes;
    uint32_t history_rows;
    uint64_t private_events;       /* as the next: in struct core_config */
    uint64_t history_replay_bytes; /* as in struct core_config */
    bool remakes_history;          /* as in struct core_config */
    bool is_on_two_threads;        /* one for each engine */
    const _Atomic bool *give_up;   /* true: recovery ends with record_refused; NULL: never */
    recovery_agree *agree;         /* of a cluster (recovery.h); NULL: none */
    void *agree_context;
};

/* Both engines, their memory, and how their state was recovered. */
struct recover_engines {
    struct recover_config config;
    void *memory[2]; /* arenas of primary and replica */
    size_t memory_bytes;
    struct engine *primary;
    struct engine *replica;
    struct option_engine layout;   /* capacities that memory is laid out for */
    struct recovery_result chain;  /* what was found in the journal */
    struct rebuild_buffer rebuilt; /* the command that is being replayed */
    uint64_t snapshot_sequence;    /* that recovery began with; 0: it began with the first record */
    uint64_t replay_ns;            /* how long the records after that took */
    uint32_t rules_version;        /* of the state while it is recovered */
    uint32_t refused_version;      /* of a record that was refused with REPLAY_rules_version */
    bool is_origin_told;           /* the 2017 of the newest row of `origin` was applied */
    _Atomic uint64_t replayed;     /* sequence applied, for /readyz as the next two */
    _Atomic uint64_t replay_from;  /* recovery begins after this sequence */
    _Atomic uint64_t replay_to;    /* and ends with this one; 0: not known yet */
};

/* Recovers both engines and fills the sink's history. Refuses what recovery_run refuses; a snapshot
 * or record of another rules_version than this binary's; a record, hash or image that does not fit
 * the state. `engines` must be zeroed before its first use. recover_unmap works after a refusal
 * too. */
CC_MUST_USE enum refusal_kind recover_state(struct recover_engines *engines,
                                            const struct recover_config *config,
                                            struct refusal *refusal);

/* The share of the records to replay that is applied, 0 to 100. Any thread. */
uint32_t recover_percent(const struct recover_engines *engines);

/* Unmaps the memory of both engines, or of the primary alone. */
void recover_unmap(struct recover_engines *engines);
void recover_unmap_primary(struct recover_engines *engines);

#endif
