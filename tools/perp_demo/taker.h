/* taker.h - those who cross the book: takers of ordinary size, and a whale that sweeps levels.
 *
 * Owner. The bot's thread. */
#ifndef PERP_DEMO_TAKER_H
#define PERP_DEMO_TAKER_H

#include "perp_demo/bot.h"

/* A pipeline of orders in markets drawn at random, now and then a wrong one: refusals belong to
 * every day. */
void taker_crowd(struct bot *bot);

/* Rarely, one order larger than most of what a side of a book holds. */
void taker_whale(struct bot *bot);

#endif
