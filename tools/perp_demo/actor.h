/* actor.h - a process of the demo: the oracle, a maker, a taker or the whale, started by the scene.
 *
 *   perp-demo ROLE NAME URL KEY_FILE API_KEY_FILE ACCOUNT FEED_FILE SEED PATIENCE_MS
 *
 * Talks to the scene in lines. Standard input:
 *   stop               cancel everything, read every order to its end and the positions
 *   prove              ask again for what was acknowledged before a connection was lost
 *   flatten PRICE ...  raw, one a market: place what brings the positions to 0
 *   finish             read those orders, the balance, and all orders and fills
 *   (end of file)      exit
 * Standard output; MARKET is the market's index, sizes are raw and signed, money is micro-USDC:
 *   stat SENT TRADES PROBLEMS POSTPONED P50_NS P99_NS     five times a second; its round trips
 *   status NAME COUNT                                     each that changed
 *   trade MARKET SIZE NOTIONAL                            takers
 *   own MARKET POSITION NOTIONAL GROSS                    own books, before stopped and finished
 *   position MARKET SIZE                                  GET /positions, before stopped
 *   stopped
 *   proof FIRST LOST BEFORE AFTER UNUSED ASKED FOUND MISSING DIFFERENT
 *                                                         receipt.h, statement.h
 *   proved
 *   flattening                                            the orders are acknowledged
 *   orders MARKET COUNT SIZE NOTIONAL 0                   GET /orders, before finished
 *   fills MARKET COUNT SIZE NOTIONAL FEES                 GET /fills, before finished
 *   statement COMPLETE ODD_FEES OUT_OF_TURN ACCEPTED      statement.h; own count of accepted orders
 *   finished CASH
 * Messages for people go to standard error. */
#ifndef PERP_DEMO_ACTOR_H
#define PERP_DEMO_ACTOR_H

enum { ACTOR_ARGUMENTS = 10 }; /* of the command line, the program's name among them */

/* Runs until the scene ends it; the exit code. */
int actor_run(int argc, char **argv);

#endif
