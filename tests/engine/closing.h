/* closing.h - short ways to bring a market to CLOSED, and to look at what is left (rules.md R9), on
 * top of trade.h. */
#ifndef TESTS_ENGINE_CLOSING_H
#define TESTS_ENGINE_CLOSING_H

#include "trade.h"

/* Code 1002 of the operator for HOST_BTC. */
enum status closing_set(struct host *host, uint8_t state, uint8_t force);

/* CLOSED, by force. */
enum status closing_now(struct host *host);

/* Ticks until no deferred work is left. */
void closing_work(struct host *host);

/* A tick at each of the next full seconds. */
void closing_seconds(struct host *host, uint32_t count);

/* As if the index had stood here for the last minute, and the closing were announced now. */
void closing_samples(struct host *host, uint64_t price);

/* 1 is long 1,000,000 (10 BTC), 2 and 3 are short 333,333 and 666,667. Fees: 1 as maker 150 ppm of
 * 1,000,000 USDC; 2 and 3 as takers 450 ppm of 333,333 and 666,667 USDC. */
void closing_open_three(struct host *host, const char *options);

/* CHECKs that nobody holds a position, nothing rests and the pool is empty. */
void closing_check_empty(struct host *host);

#endif
