/* replicator_state.h - the parts of a replicator, for its own files only. */
#ifndef NODE_REPLICATOR_REPLICATOR_STATE_H
#define NODE_REPLICATOR_REPLICATOR_STATE_H

#include "base/published.h"
#include "node/replicator/replicator.h"
#include "repl/elect.h"
#include "repl/etcd_call.h"
#include "repl/lead.h"
#include "repl/tail.h"

enum {
    REPLICATOR_ANSWERS_A_TURN = 32,
    REPLICATOR_ADOPTED_A_TURN = 64,
    REPLICATOR_ADDRESSES_MAX = 32,
    REPLICATOR_CLOCKS = 64
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

    int64_t clocks[REPLICATOR_CLOCKS]; /* node clock less t of a frame at its arrival */
    uint64_t clock_count;

    char addresses[REPLICATOR_ADDRESSES_MAX][CLUSTER_PLACE_BYTES]; /* each stays */
    uint32_t address_count;

    /* Read by any thread. */
    CC_NO_SHARE const char *_Atomic leader;
    _Atomic uint64_t deadline_boot_ns;
    _Atomic bool is_stuck;
    struct published term, received, released, durable, found_there, elections, oldest;
    struct published state, connected;
    _Atomic int64_t clock_difference_ns;
};

/* What the keys of this exchange must be in etcd. */
void replicator_identity(const struct replicator *replicator, struct cluster_identity *identity);

#endif
