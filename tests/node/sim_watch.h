/* sim_watch.h - a subscriber of a simulated exchange: a stream of perps.bin.v1 on a net thread of
 * its own, that reads when it likes, hangs up, comes back, and lives on when the exchange dies.
 *
 * It keeps a book of `book`, and follows `trades` and `private` of an account whose key it has, on
 * each connection another's; both are resumed. What must hold: nothing that is not durable is
 * shown; each frame follows the one before it; no trade or private event is missing and none comes
 * twice, across hang-ups and deaths, unless a gap says so; no gap names private events that the
 * history has; a balance is the one before it and the amount; at rest its book and the account's
 * seq are the engine's.
 *
 * Its chances are its own: the rest of a run is what it is without it. */
#ifndef TESTS_NODE_SIM_WATCH_H
#define TESTS_NODE_SIM_WATCH_H

#include "sim_link.h"

struct sim;
struct sim_watch;

struct sim_watch *sim_watch_make(uint64_t seed);
void sim_watch_free(struct sim_watch *watch);

struct sim_link *sim_watch_link(struct sim_watch *watch);

/* A start and an end of the exchange. */
void sim_watch_open(struct sim *sim, struct sim_watch *watch);
void sim_watch_close(struct sim_watch *watch);

/* One turn: it connects, hangs up, reads or does not. */
void sim_watch_step(struct sim *sim, struct sim_watch *watch);

/* At rest: it reads what there is, and its book is compared with the follower's. */
void sim_watch_check(struct sim *sim, struct sim_watch *watch);

#endif
