/* sim_world.h - the parts of a simulated run to each other: its state, and what each file of the
 * simulator does to it.
 *
 *   sim.c        the scheduler: which step is next, the trace, the end of a run
 *   sim_life.c   starts, deaths, clean stops, other configurations, faults of disk and clock
 *   sim_port.c   net threads without sockets, their clients, HTTP both ways
 *   sim_watch.c  a subscriber of streams
 *   sim_check.c  what must hold
 *   sim_fold.c   snapshots, archive, states folded from them */
#ifndef TESTS_NODE_SIM_WORLD_H
#define TESTS_NODE_SIM_WORLD_H

#include "net/protocol.h"
#include "node/run/market_file.h"
#include "sim.h"
#include "sim_link.h"
#include "sim_scrub.h"
#include "sim_traffic.h"
#include "sim_watch.h"

enum {
    SIM_PORTS = 2,   /* net threads with clients that speak HTTP */
    SIM_CLIENTS = 4, /* connections of a port */
    SIM_CLIENT_REQUESTS = 32,
    SIM_CLIENT_BYTES = 32768,
    SIM_BOUNDARIES_MAX = 1 << 16,
    SIM_QUIESCE_TURNS = 1 << 14,
};

/* What the primary's effects hash was after a sequence. */
struct sim_boundary {
    uint64_t sequence;
    uint64_t lanes[8];
};

/* A connection's other end. */
struct sim_client {
    struct conn *conn; /* NULL: closed */
    char sending[SIM_CLIENT_BYTES];
    uint32_t send_count, sent;
    char received[SIM_CLIENT_BYTES];
    uint32_t received_count;
    uint32_t waiting[SIM_CLIENT_REQUESTS]; /* entries in the order of their requests */
    uint32_t waiting_count;
};

struct sim_port {
    struct sim_link link;
    struct protocol *protocol;
    struct sim_client clients[SIM_CLIENTS];
};

/* What a seed decides once, and what a restart may change. */
struct sim_profile {
    uint32_t block_bytes;
    uint32_t segment_bytes;
    bool real_signatures;
    bool audits_every_command;
    bool has_classes; /* accounts, by what they brought in */
    /* Of a start. */
    uint32_t slots;
    uint32_t buffer_bytes;
    uint32_t frame_bytes;
    uint32_t frames_in_flight;
    uint32_t group_bytes;
    int follower_commands;
    uint32_t latency;
    uint32_t accounts, portfolios, orders, positions, credentials, deposits, duplicate_slots;
    uint32_t tail_segments; /* sealed ones that a snapshot is made for */
    uint64_t history_replay_bytes;
    uint32_t open_orders, makers_max, work_per_command, sessions, clock_past_ms;
};

/* The snapshotter's child. */
struct sim_child {
    uint64_t last_segment;
    bool is_running, succeeded;
};

struct sim {
    struct sim_outcome *outcome;
    uint32_t disabled;      /* enum sim_event bits */
    struct clock clock;     /* the node's: matcher and follower */
    struct clock net_clock; /* of clients and net threads; never goes back */
    struct disk *disk;
    struct core core;
    struct traffic traffic;
    struct market_file markets;
    struct sim_profile profile;
    struct sim_link link; /* a net thread that is nothing but its rings; reads go through it */
    struct sim_port ports[SIM_PORTS];
    struct sim_watch *watch;         /* NULL: nobody subscribes */
    struct sim_boundary *boundaries; /* ascending sequence */
    uint32_t boundary_count;
    uint32_t answered_from;   /* first entry that may still be TRAFFIC_ANSWERED */
    uint64_t opened_sequence; /* last command of this start's own */
    uint64_t audited;         /* sequence of the last audit */
    uint64_t full_until;      /* step at which the disk has space again; 0: it has */
    uint64_t slow_until;
    bool is_faulty; /* an error of the disk is expected */
    bool is_calm;   /* it stops cleanly: no fault is made */
    bool is_dead;   /* the process met one and ends */
    struct sim_child child;
    char history_folder[48]; /* real files: LMDB has no other; empty: the run keeps no history */
    bool has_gap;            /* in the history's file: fills may not be kept */
    struct sim_scrub scrub;
};

/* ---- sim.c ----------------------------------------------------------------------------------- */

void CC_PRINTF(2, 3) sim_fail(struct sim *sim, const char *format, ...);
void sim_note(struct sim *sim, const char *what, uint64_t a, uint64_t b);
static inline uint64_t sim_below(struct sim *sim, uint64_t bound)
{
    return traffic_below(&sim->traffic, bound);
}
static inline bool sim_may(const struct sim *sim, enum sim_event event)
{
    return (sim->disabled & (1u << event)) == 0;
}

void sim_step_match(struct sim *sim);
void sim_step_journal(struct sim *sim);
void sim_step_follow(struct sim *sim);
void sim_step_background(struct sim *sim);
void sim_take(struct sim *sim);

/* Until everything that was sent is durable, applied and answered. */
void sim_quiesce(struct sim *sim);

/* An answer has left: from here on the client counts on it. */
void sim_acknowledge(struct sim *sim, struct traffic_sent *sent);

/* ---- sim_history.c --------------------------------------------------------------------------- */

/* The file of the history, in every other run; nothing of it stays. */
void sim_history_make(struct sim *sim, uint64_t seed);
void sim_history_rot(struct sim *sim);
void sim_history_free(struct sim *sim);

/* ---- sim_life.c ------------------------------------------------------------------------------ */

void sim_profile_init(struct sim *sim, uint64_t seed);
void sim_start(struct sim *sim);
void sim_die(struct sim *sim, bool power_loss);
void sim_restart_clean(struct sim *sim);
void sim_fault_disk(struct sim *sim);
void sim_fill_disk(struct sim *sim);
/* Once in `odds`: the power goes at one of the next `calls` changes of the disk. */
bool sim_stop_soon(struct sim *sim, uint64_t odds, uint64_t calls);
/* Whether it did, for whoever asked for it; else it does no more. */
bool sim_stopped(struct sim *sim, bool was_armed);
void sim_slow_disk(struct sim *sim);
void sim_end_faults(struct sim *sim);
void sim_step_clock(struct sim *sim);
void sim_jump_clock(struct sim *sim);

/* ---- sim_port.c ------------------------------------------------------------------------------ */

/* What a net thread with these rings is told. */
struct net_config sim_port_config(struct sim *sim, struct sim_link *link);
void sim_port_make(struct sim_port *port);
void sim_port_free(struct sim_port *port);
void sim_port_open(struct sim *sim, struct sim_port *port);
void sim_port_close(struct sim_port *port);
/* Sends the request on any connection of the port; false when all are full. */
bool sim_port_send(struct sim *sim, struct sim_port *port, struct traffic_sent *sent);
/* One turn: some bytes in, the protocol's work, all bytes out. */
void sim_port_step(struct sim *sim, struct sim_port *port);
/* A client hangs up in the middle of whatever it does. */
void sim_port_hang_up(struct sim *sim, struct sim_port *port);
bool sim_port_is_idle(const struct sim_port *port);

/* ---- sim_check.c ----------------------------------------------------------------------------- */

void sim_check_note(struct sim *sim); /* the primary's hash at its sequence */
void sim_check_lanes(struct sim *sim, const struct engine *engine, const char *who);
void sim_check_audit(struct sim *sim, const struct engine *engine, const char *who);
void sim_check_recovered(struct sim *sim);
void sim_check_answer(struct sim *sim, const struct traffic_sent *sent);
void sim_check_images(struct sim *sim);
void sim_check_credentials(struct sim *sim);
/* At rest: no arm of the run before has outlived its grace (W9). */
void sim_check_arms(struct sim *sim);
void sim_image_hash(struct engine *engine, uint8_t out[32]);

/* ---- sim_fold.c ------------------------------------------------------------------------------ */

struct snapshotter_host sim_child_host(struct sim *sim);
void sim_step_child(struct sim *sim);
/* At rest, with this image: the journal is what was acknowledged, every fold gives the image. */
void sim_check_folds(struct sim *sim, const uint8_t image[32]);

#endif
