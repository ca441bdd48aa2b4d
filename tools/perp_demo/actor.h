/* actor.h - a process of the demo: an oracle, a maker or a taker, started by the stage.
 *
 *   perp-demo ROLE NAME URL MARKET KEY_FILE API_KEY_FILE ACCOUNT FEED_FILE SEED RATE
 *
 * Talks to the stage in lines. Standard input: "stop" (cancel everything, read every order to its
 * end), "flatten PRICE" (raw: place what brings the position to 0), "settle" (read that order and
 * the balance), end of file (exit). Standard output:
 *   stat SENT TRADES PROBLEMS POSITION P50_NS P99_NS    five times a second
 *   status NAME COUNT                                   each that changed
 *   trade SIZE NOTIONAL                                 takers: signed raw, micro-USDC
 *   stopped POSITION NOTIONAL GROSS                     own books, raw and micro-USDC
 *   flattening                                          the order is acknowledged
 *   settled POSITION NOTIONAL GROSS CASH
 * Messages for people go to standard error. */
#ifndef PERP_DEMO_ACTOR_H
#define PERP_DEMO_ACTOR_H

#include "perp_demo/bot.h"

/* Runs until the stage ends it; the exit code. */
int actor_run(int argc, char **argv);

/* One turn of each role. Levels and sizes are the demo's, not advice. */
void actor_turn_maker(struct bot *bot);
void actor_turn_taker(struct bot *bot);
void actor_turn_oracle(struct bot *bot);

#endif
