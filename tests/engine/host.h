/* host.h - an engine with small tables for tests: its memory, clock, ids, commands and effects.
 *
 * host_open applies 2014, 2013 and one market BTC-PERP (asset 1, price_decimals 1, size_decimals 5)
 * as W10 has it. Every command goes through engine_peek first, as the matcher does it. After every
 * command I1 to I10 are checked. */
#ifndef TESTS_ENGINE_HOST_H
#define TESTS_ENGINE_HOST_H

#include "engine/engine.h"
#include "engine/view/watch.h"

enum {
    HOST_EFFECTS_MAX = 1 << 14,
    HOST_BTC = 1,
    HOST_GTC = -1,
};

#define HOST_START_NS  UINT64_C(1755582431240000000) /* 2025-08-19 */
#define HOST_SECOND_NS UINT64_C(1000000000)
#define HOST_USDC      UINT64_C(1000000)

struct host_effect {
    uint16_t code;
    uint16_t asset_id;
    uint32_t index;
    uint64_t sequence;
    uint32_t record;
    uint8_t bytes[EFFECT_BODY_BYTES];
};

struct host {
    struct engine_sink sink; /* first */
    struct engine *engine;
    void *memory;
    size_t bytes;
    struct mix_key key;
    uint64_t clock_ns;           /* of the next command */
    uint64_t id_count;           /* request ids made */
    bool is_peeked;              /* the last command was answered by the peek */
    bool skip_audit;             /* for runs of many commands */
    bool wants_evidence;         /* every signed command asks for it */
    struct watch watch;          /* I7, I8 and I10 of every command, as skip_audit has it */
    struct host *mirror;         /* peeks and applies every command too, to the same end; or NULL */
    struct engine_result result; /* of the last command */
    uint8_t id[16];              /* its request id */
    uint32_t effect_count;       /* of the last command */
    struct host_effect effects[HOST_EFFECTS_MAX];
};

/* One signed request. A zero `id` gets a fresh one. */
struct host_request {
    uint16_t code;
    uint8_t kind; /* enum command_kind; left out: COMMAND_SIGNED */
    uint8_t flags;
    const void *body;
    uint32_t body_bytes;
    const uint8_t *key;
    uint32_t key_bytes;
    const uint8_t *extra;
    uint32_t extra_bytes;
    const uint8_t *id; /* NULL: fresh */
};

struct host_order {
    uint64_t price;
    int64_t quantity;
    uint64_t expiry; /* 0 IOC, 1 FOK, UINT64_MAX GTC */
    uint8_t post_only, reduce_only, stp;
    uint16_t asset; /* 0: HOST_BTC */
};

/* `overrides`: lines "key=value\n" that replace defaults of record 2013, or NULL. */
void host_open(struct host *host, const char *overrides);
/* The same without any command applied. */
void host_open_bare(struct host *host, const char *overrides);
/* That, laid out for `capacity`; NULL: for the configuration of these overrides. */
void host_open_for(struct host *host, const struct option_engine *capacity, const char *overrides);
void host_close(struct host *host);

/* A body of record 2013 with these overrides; gives its padded length (at most 4120). */
uint32_t host_configuration(const char *overrides, uint8_t body[4120]);

/* Gives the status; the rest is in host->result. */
enum status host_signed(struct host *host, const struct host_request *request);
/* A command of the node. */
enum status host_unsigned(struct host *host, uint16_t code, const void *body, uint32_t body_bytes);

/* Text of a 1001, by the node. */
enum status host_market(struct host *host, const char *json);
/* J5's BTC-PERP record. */
extern const char host_btc_record[];

/* Keys of the n-th account: its master and session key. */
void host_master_key(uint32_t n, uint8_t key[33]);
void host_session_key(uint32_t n, uint8_t key[32]);
extern const uint8_t host_operator_key[32], host_oracle_key[32], host_treasury_key[32];

/* Asks for account n with a session. */
enum status host_sign_up(struct host *host, uint32_t n);
/* Creates account n with a session; gives its id. CHECKs success. */
uint64_t host_account(struct host *host, uint32_t n);
enum status host_deposit(struct host *host, uint64_t account, uint64_t amount);
enum status host_oracle(struct host *host, uint16_t asset, uint64_t price);
enum status host_limit(struct host *host, uint32_t n, const struct host_order *order);
/* Cancels the order with this id of account n. */
enum status host_cancel(struct host *host, uint32_t n, const uint8_t id[16]);
enum status host_cancel_all(struct host *host, uint32_t n, uint16_t asset, uint8_t side);
/* Moves the clock and applies a tick of time. */
void host_tick(struct host *host, uint64_t later_ns);

/* The k-th effect of the last command with this code, NULL: none. */
const struct host_effect *host_effect(const struct host *host, enum effect_code code, uint32_t k);

void host_image_hash(const struct host *host, uint8_t hash[32]);

#endif
