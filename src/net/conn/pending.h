/* pending.h - requests in flight: from the last byte of a request to the first of its answer.
 *
 * A connection's pendings form a list in request order; only the oldest is ever answered. What is
 * known of an outcome is kept in the smallest form (an answer, a reply, a problem) and becomes JSON
 * when its turn has come.
 *
 * Owner. The net thread. The token of a command or query names its pending and the pending's
 *        generation, so that it outlives a closed connection and no token is taken for another's.
 * Bound. PENDING_MAX at a time; a full pool pauses reading. */
#ifndef NET_CONN_PENDING_H
#define NET_CONN_PENDING_H

#include "base/keyring.h"
#include "base/query_message.h"
#include "net/conn/conn.h"
#include "net/conn/pending_state.h"

enum { PENDING_MAX = 32768 };

#define PENDING_NONE CONN_NONE

struct pending_local {
    uint8_t kind; /* enum route_kind */
    bool keyed;   /* ROUTE_LIMITS: with an API key */
    uint16_t code;
    struct keyring_key caller; /* with `keyed`: looked at again at its turn */
};

enum { PENDING_NAME_BYTES = 32 };

/* A plain JSON write as it is asked for and, when it is done, shown (plain_write.h). */
struct pending_plain {
    union {
        char market[32]; /* zero-padded, as the next */
        char name[PENDING_NAME_BYTES];
    };
    uint64_t account_id;
    uint64_t amount; /* micro-USDC */
    uint32_t subaccount_index;
    uint32_t portfolio_index;
    uint32_t leverage;
};

struct pending {
    uint32_t next; /* in the connection's list, or of the free list */
    uint32_t conn; /* CONN_NONE: the connection is gone */
    uint32_t generation;
    uint8_t state; /* enum pending_state; written by pending_move only */
    uint8_t kind;  /* enum pending_kind */
    bool last;     /* the connection closes behind this answer */
    bool no_body;  /* HEAD */
    uint8_t minor; /* HTTP/1.minor, for the Connection header */
    bool has_secret;
    bool wrote;              /* a read of what its own write has changed (plain_write.h) */
    bool pipelined;          /* a read asked before one in front of it was answered: counted */
    uint32_t expected_bytes; /* of a read that was asked: counted in its connection */
    uint64_t received_ticks;
    uint64_t deadline_ns; /* PENDING_CREDIT */
    const char *allow;    /* with 405 */
    union {
        struct {
            struct answer answer;
            union {
                uint8_t secret[32];
                struct pending_plain plain; /* codes 2001 to 2010 */
            };
            uint8_t request_id[16]; /* of a signed request */
            uint8_t ack_form;       /* enum ack_form (ack.h) */
        };
        struct {
            struct query query;
            struct keyring_key caller; /* API key to look at again; kind 0: none */
        };
        struct reply reply;
        struct problem_detail problem;
        struct pending_local local;
    };
};

struct pending_pool {
    struct pending *items;
    uint32_t capacity;
    uint32_t free_head;
    uint32_t touched; /* ever used */
    uint32_t used;
    uint32_t pipelined; /* those that are */
};

/* 0 or -ENOMEM. */
CC_MUST_USE int pending_pool_init(struct pending_pool *pool, uint32_t capacity);
void pending_pool_free(struct pending_pool *pool);

/* The pending at the index, which has been used before. */
static inline struct pending *pending_at(const struct pending_pool *pool, uint32_t index)
{
    INVARIANT(index < pool->touched);
    return &pool->items[index];
}

/* Moves the request to the state, where the table allows it and the request fits it. */
static inline void pending_move(struct pending *pending, enum pending_state next)
{
    INVARIANT(pending_state_may_become((enum pending_state)pending->state, next));
    INVARIANT(
        pending_state_fits(next, (enum pending_kind)pending->kind, pending->conn != CONN_NONE));
    pending->state = (uint8_t)next;
}

static inline bool pending_available(const struct pending_pool *pool)
{
    return pool->used < pool->capacity;
}

/* A new pending at the end of the connection's list; one must be available. Its outcome members are
 * the caller's to fill. */
struct pending *pending_add(struct pending_pool *pool, struct conn *conn, enum pending_kind kind,
                            enum pending_state state);

/* Takes the oldest pending off its connection's list and gives it back; a secret is wiped. */
void pending_remove_first(struct pending_pool *pool, struct conn *conn);

/* Gives back a pending whose connection is gone. */
void pending_free(struct pending_pool *pool, struct pending *pending);

uint64_t pending_token(const struct pending_pool *pool, const struct pending *pending);

/* The pending of a token; it must be in flight (INVARIANT: our own rings bring it). */
struct pending *pending_of(struct pending_pool *pool, uint64_t token);

static inline uint32_t pending_index(const struct pending_pool *pool, const struct pending *pending)
{
    return (uint32_t)(pending - pool->items);
}

#endif
