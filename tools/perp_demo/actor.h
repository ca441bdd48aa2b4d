/* actor.h - a process of the demo: the oracle, a maker, a taker or the whale, started by the stage.
 *
 *   perp-demo ROLE NAME URL KEY_FILE API_KEY_FILE ACCOUNT FEED_FILE SEED PATIENCE_MS
 *
 * Talks to the stage in lines. Standard input: "stop" (cancel everything, read every order to its
 * end), "flatten PRICE ..." (raw, one a market: place what brings the positions to 0), "settle"
 * (read those orders and the balance), end of file (exit). Standard output:
 *   stat SENT TRADES PROBLEMS POSTPONED P50_NS P99_NS   five times a second; its round trips
 *   status NAME COUNT                          each that changed
 *   trade MARKET SIZE NOTIONAL                 takers: place of the market, signed raw, micro-USDC
 *   own MARKET POSITION NOTIONAL GROSS         own books, before stopped and settled
 *   stopped
 *   flattening                                 the orders are acknowledged
 *   settled CASH
 * Messages for people go to standard error. */
#ifndef PERP_DEMO_ACTOR_H
#define PERP_DEMO_ACTOR_H

/* Runs until the stage ends it; the exit code. */
int actor_run(int argc, char **argv);

#endif
