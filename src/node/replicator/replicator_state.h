/* replicator_state.h - the parts of a replicator, for its own files only. */
#ifndef NODE_REPLICATOR_REPLICATOR_STATE_H
#define NODE_REPLICATOR_REPLICATOR_STATE_H

#include "base/published.h"
#include "node/replicator/disk_stall.h"
#include "node/replicator/replicator.h"
#include "node/replicator/vault_reader.h"
#include "repl/elect.h"
#include "repl/etcd_call.h"
#include "repl/lateness.h"
#include "repl/lead.h"
#include "repl/retain.h"
#include "repl/tail.h"
#include "repl/vote.h"

/* A standby's reading of the vault: frames that are in the log no more. */
struct vault_reading {
    bool reads;
    bool is_asked; /* for the pointer of the segment */
    bool is_told;  /* logged once that the vault does not answer */
    uint64_t tag;
    uint64_t again_ns;
    uint64_t segment;
    uint64_t begun; /* the last frame when it began */
    uint8_t *bytes; /* of the segment; NULL: it is to be read */
    uint32_t offset;
};

/* What the vault's thread is to put, and what it has put. Owner: `wanted` the journal's thread,
 * `offer` the vault's until is_offered. */
struct vault_mail {
    _Atomic uint64_t wanted; /* segment + 1; VAULT_WANTS_FIRST: the lowest there is; 0: none */
    struct cluster_segment offer;
    _Atomic bool is_offered;
};

#define VAULT_WANTS_FIRST UINT64_MAX

/* An order to hand over, from any thread to the journal's. */
enum hand_state { HAND_NONE, HAND_WRITTEN, HAND_WANTED };
struct hand_mail {
    _Atomic uint32_t state; /* enum hand_state; WRITTEN: an asker fills `node` */
    char node[CLUSTER_LABEL_BYTES + 1];
};

/* An upgrade to a later rules_version (replication.md, Another binary). */
struct replicator_upgrade {
    bool waits;        /* for its snapshot */
    bool is_caught_up; /* and has had all frames once */
    bool has_row;
    struct cluster_snapshot row;
    uint64_t tag; /* of the read under way; 0: none */
    uint64_t count, again_ns;
    int64_t lease, revision; /* of a leader's key that keeps the lead */
};

enum {
    REPLICATOR_ANSWERS_A_TURN = 32,
    REPLICATOR_ADOPTED_A_TURN = 64,
    REPLICATOR_ADDRESSES_MAX = 32
};

struct replicator {
    struct replicator_config config;
    struct etcd *etcd;
    struct journal *journal; /* NULL until replicator_attach */
    int file;                /* epoll of etcd's file and the thread's wake file; -1: not begun */
    char public_address[CLUSTER_PLACE_BYTES], admin_address[CLUSTER_PLACE_BYTES];

    struct elect elect;
    struct tail tail;
    struct lead lead;
    struct retain retain;
    struct disk_stall disk_stall;
    struct vote vote;
    struct vault_reading vault;
    struct vault_reader reader;
    struct vault_mail mail;
    struct hand_mail hand;
    struct replicator_upgrade upgrade;
    bool is_finishing; /* elected: the tail reads to the end */
    bool takes;
    bool forms; /* the journal leads */
    bool leads;
    struct replicator_lead won;
    uint64_t last_frame; /* of the terms before */
    struct {
        const uint8_t *bytes; /* lent by the journal, not sent yet; NULL: none */
        size_t count;
        uint64_t number;
    } next;
    struct replicator_end end;

    struct lateness lateness;

    char addresses[REPLICATOR_ADDRESSES_MAX][CLUSTER_PLACE_BYTES]; /* each stays */
    uint32_t address_count;

    /* Read by any thread. */
    struct hash_vote hash_vote;
    CC_NO_SHARE const char *_Atomic leader;
    _Atomic uint64_t deadline_boot_ns;
    _Atomic bool is_stuck;
    _Atomic bool gave_up;
    struct published term, received, released, durable, found_there, elections, oldest;
    struct published state, connected;
    struct published lowest, vaulted, deleted;
    struct histogram commits;
    _Atomic int64_t clock_difference_ns;
};

/* Ends it: replicator_step gives -1 from now on, as this does. */
CC_PRINTF(3, 4)
int replicator_fail(struct replicator *replicator, int exit_code, const char *format, ...);

/* A leader's turn of a handover: gives the lead away once everything of its term counts. */
int replicator_hand_step(struct replicator *replicator, const struct replicator_words *words);

/* A standby has adopted this frame just now: how late it came. */
void replicator_clock_look(struct replicator *replicator, const uint8_t *bytes, size_t count);

/* It leads: what was judged of its clock ends, for no frame of another leader comes that could. */
void replicator_clock_end(struct replicator *replicator);

/* A node that was elected says what is wrong or unknown of its clock. */
void replicator_clock_say(const struct replicator *replicator);

/* Asks for the snapshot of an upgrade when it is time to; takes an answer of REPL_UPGRADE. */
void replicator_upgrade_look(struct replicator *replicator, uint64_t now_ns);
void replicator_upgrade_done(struct replicator *replicator, const struct etcd_done *done);

/* A standby has no lead to give. */
void replicator_hand_forget(struct replicator *replicator);

/* A leader's turn of the vote on its state. 0, or -1. */
CC_MUST_USE int replicator_vote_step(struct replicator *replicator, uint64_t now_ns);

/* The next frame is in the log no more: it comes from the vault. */
void replicator_vault_begin(struct replicator *replicator);

/* A turn of that. The work done, or -1. */
CC_MUST_USE int replicator_vault_step(struct replicator *replicator, uint64_t now_ns);

/* Takes an answer of REPL_VAULT. */
void replicator_vault_done(struct replicator *replicator, const struct etcd_done *done,
                           uint64_t now_ns);
void replicator_vault_end(struct replicator *replicator);

/* A leader's turn of the retention. */
void replicator_vault_keep(struct replicator *replicator, uint64_t now_ns);

/* What the keys of this exchange must be in etcd. */
void replicator_identity(const struct replicator *replicator, struct cluster_identity *identity);

#endif
