/* exchange_random.h - random commands for an exchange, by the seed in it: orders that rest, cross,
 * are refused, canceled and replaced in two markets. */
#ifndef TESTS_NODE_EXCHANGE_RANDOM_H
#define TESTS_NODE_EXCHANGE_RANDOM_H

#include "exchange.h"

void exchange_random_run(struct exchange *exchange, uint32_t commands);

#endif
