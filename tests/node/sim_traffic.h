/* sim_traffic.h - the clients of a simulated exchange: random commands, and what became of them. */
#ifndef TESTS_NODE_SIM_TRAFFIC_H
#define TESTS_NODE_SIM_TRAFFIC_H

#include "base/message.h"
#include "base/mix.h"
#include "base/uuid.h"

enum {
    TRAFFIC_ACCOUNTS = 4,
    TRAFFIC_SENT_MAX = 1 << 14,
    TRAFFIC_COMMAND_BYTES = 512,
    TRAFFIC_ASSET = 1,
    TRAFFIC_MID_RAW = 1000000, /* 100,000.0 USDC */
};

/* What a client knows of a request it sent. */
enum traffic_state {
    TRAFFIC_SENT,     /* in the ring, or applied */
    TRAFFIC_ANSWERED, /* its answer waits for durability */
    TRAFFIC_ACKED,    /* the answer has left */
    TRAFFIC_LOST,     /* a crash came first: the outcome is unknown */
};

struct traffic_sent {
    alignas(8) uint8_t bytes[TRAFFIC_COMMAND_BYTES]; /* struct command */
    uint8_t state;                                   /* enum traffic_state */
    bool is_retry;
    uint32_t original; /* of a retry: the entry it repeats */
    struct answer answer;
};

struct traffic_account {
    uint8_t master[33];
    uint8_t session[32];
    uint64_t id;  /* 0: not known yet */
    bool created; /* the creation was sent */
    bool funded;
};

struct traffic {
    uint64_t random;
    struct mix_key key;
    uint8_t operator_key[32];
    uint8_t oracle_key[32];
    struct traffic_account accounts[TRAFFIC_ACCOUNTS];
    struct traffic_sent *sent; /* [TRAFFIC_SENT_MAX] */
    uint32_t sent_count;
    uint64_t index_raw;
    uint64_t published_ns;
    uint64_t deposits;
};

void traffic_init(struct traffic *traffic, uint64_t seed);
void traffic_free(struct traffic *traffic);

uint64_t traffic_random(struct traffic *traffic);
static inline uint64_t traffic_below(struct traffic *traffic, uint64_t bound)
{
    return traffic_random(traffic) % bound;
}

/* The next request at `now_ns`, as a new entry; NULL when TRAFFIC_SENT_MAX are used up. Its token
 * is the entry's number. */
struct traffic_sent *traffic_next(struct traffic *traffic, uint64_t now_ns);

static inline struct command *traffic_command(struct traffic_sent *sent)
{
    return (struct command *)(void *)sent->bytes;
}

/* The client takes notice of an acknowledgement (account ids). */
void traffic_learn(struct traffic *traffic, const struct traffic_sent *sent);

#endif
