/* traffic.h - random trading over one and over three markets: orders of every kind, also such that
 * wait for a price, amendments, cancellations, leverage, indexes that jump, deposits, time.
 * Accounts are short of cash, so margin refuses. The same commands for the same seed, whatever the
 * compiler: each number is drawn in a statement of its own. */
#ifndef TESTS_ENGINE_TRAFFIC_H
#define TESTS_ENGINE_TRAFFIC_H

#include "keys.h"
#include "trade.h"

enum { TRAFFIC_IDS = 256, TRAFFIC_ETH = 2, TRAFFIC_SOL = 3 };

struct traffic {
    struct host host;
    uint64_t seed;
    uint32_t markets;
    uint32_t id_count; /* orders placed; the newest TRAFFIC_IDS of them: */
    uint8_t ids[TRAFFIC_IDS][16];
    uint8_t owners[TRAFFIC_IDS];
    uint8_t assets[TRAFFIC_IDS];
    uint32_t wait_count; /* orders that wait for a price, likewise */
    uint8_t wait_ids[TRAFFIC_IDS][16];
    uint8_t wait_owners[TRAFFIC_IDS];
    uint32_t kept_place, entered_anew, used_up; /* by replacements */
    uint32_t leverage_set, leverage_refused;
    struct keys_id keys[TRADE_ACCOUNTS + 1];
};

/* Opens the host with traders and markets (1 or 3). */
void traffic_open(struct traffic *traffic, uint64_t seed, uint32_t markets, const char *overrides);

/* The next command. Gives its status; TRADE_OK where it has none of an order. */
enum status traffic_command(struct traffic *traffic);

#endif
