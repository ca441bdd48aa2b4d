/* pending.h - requests in flight: from the last byte of a request to the first byte of its answer.
 *
 * The pendings of a connection are a list in request order; only the oldest is answered. An outcome
 * is kept in its smallest form (an answer, a reply, a problem) until it is written as JSON.
 *
 * Owner. The net thread. The token of a command or query holds the pending's index and generation:
 *        it remains valid after the connection closes, and no token fits another request.
 * Bound. PENDING_MAX at a time. A full pool pauses reading. */
#ifndef NET_CONN_PENDING_H
#define NET_CONN_PENDING_H

#include "base/cluster_option.h"
#include "base/keyring.h"
#include "base/query_message.h"
#include "crypto/signing_mistake.h"
#include "net/conn/body_pool.h"
#include "net/conn/conn.h"
#include "net/conn/pending_state.h"
#include "net/http/asset.h"

enum { PENDING_MAX = 32768 };

#define PENDING_NONE CONN_NONE

struct pending_local {
    uint8_t kind; /* enum route_kind */
    uint16_t code;
    uint16_t body;                     /* in context.bodies, or BODY_NONE */
    struct signing_finding finding;    /* ROUTE_DEBUG */
    bool octets;                       /* ROUTE_DEBUG: the body is a frame */
    bool elsewhere;                    /* ROUTE_PAGE: the page is at http://localhost */
    uint16_t port;                     /* with `elsewhere` */
    char node[CLUSTER_NODE_BYTES + 1]; /* ROUTE_HANDOVER: that is to lead */
    uint64_t at_ns;                    /* ROUTE_MAINTENANCE: when it begins, 0: withdrawn */
    struct asset_choice asset;         /* ROUTE_PAGE, ROUTE_FILE */
    uint64_t address;                  /* of the connection */
};

enum { PENDING_NAME_BYTES = 32 };

/* The parameters of a plain JSON write; its answer shows them (plain_body.h). */
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
    uint32_t next; /* in the connection's list or in the free list */
    uint32_t conn; /* CONN_NONE: the connection has closed */
    uint32_t generation;
    uint8_t state; /* enum pending_state; written by pending_move only */
    uint8_t kind;  /* enum pending_kind */
    bool last;     /* the connection closes after this answer */
    bool no_body;  /* HEAD */
    uint8_t minor; /* HTTP/1.minor, for the Connection header */
    bool has_secret;
    bool is_logout;   /* code 14 on /logout */
    bool has_device;  /* a logout that presents a device key: `secret` is its hash */
    bool by_device;   /* a plain write of a device key */
    bool sets_cookie; /* a login whose answer may set one */
    bool is_kept;     /* a read of the receipt of a write, whose answer is kept */
    bool is_checked;  /* a read whose key need not be checked again */
    bool wrote;       /* a read that shows the result of its own write (plain_body.h) */
    bool pipelined;   /* a read sent before an earlier request was answered; counted in the pool */
    uint16_t payload; /* of a read: what its query brings, in context.bodies, or BODY_NONE */
    uint32_t expected_bytes; /* of a read that was sent; counted in its connection */
    uint32_t share;          /* reply_share.h: row of the address that holds its reply buffer, or
                                PENDING_NONE; the next five are of a read that waits for one */
    uint32_t wait_row;
    uint32_t wait_next, wait_previous; /* of its address */
    uint32_t newer, older;             /* of all */
    uint64_t received_ticks;
    uint64_t deadline_ns;          /* PENDING_CREDIT, and PENDING_HELD with a min_sequence */
    uint64_t min_sequence;         /* of a held request: durable() must reach it; 0: none */
    const char *allow;             /* with 405 and OPTIONS */
    uint8_t origin;                /* as in struct conn */
    bool asks_timing;              /* X-Timing: 1 */
    struct client_rate_state rate; /* shown by its answer; limit 0: none */
    bool is_op;                    /* a write of a stream: op_id is that of its message */
    bool is_page;                  /* a stream's read of private events, which no op awaits */
    bool is_op_frame;              /* that message is binary, and named by op_request */
    bool has_op_id;
    union {
        int64_t op_id;
        uint8_t op_request[16];
    };
    union {
        struct {
            struct answer answer;
            union {
                uint8_t secret[32];
                struct pending_plain plain; /* codes 2001 to 2010 */
            };
            uint8_t request_id[16]; /* of a signed request */
            uint64_t account_id;    /* that was charged for it; 0: none */
            uint64_t places;        /* items of a batch that place orders; else bit 0 or none */
            uint8_t ack_form;       /* enum ack_form (ack.h) */
        };
        struct {
            union {
                struct query query;
                struct reply reply;
            };
            struct keyring_key caller; /* API key that asks; kind 0: none */
        };
        struct problem_detail problem;
        struct pending_local local;
    };
};

struct pending_pool {
    struct pending *items;
    struct pending_kept *kept; /* of the item with the same index: what is_kept says */
    uint32_t capacity;
    uint32_t free_head;
    uint32_t touched; /* ever used */
    uint32_t used;
    uint32_t pipelined; /* how many are `pipelined` */
};

/* 0 or -ENOMEM. */
CC_MUST_USE int pending_pool_init(struct pending_pool *pool, uint32_t capacity);
void pending_pool_free(struct pending_pool *pool);

/* The pending at `index`, which was in use at least once. */
static inline struct pending *pending_at(const struct pending_pool *pool, uint32_t index)
{
    INVARIANT(index < pool->touched);
    return &pool->items[index];
}

/* Moves the request to the state. The table must allow the move, and the request must fit the
 * state. */
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

/* Appends a new pending to the connection's list; one must be available. The caller fills its
 * outcome. */
struct pending *pending_add(struct pending_pool *pool, struct conn *conn, enum pending_kind kind,
                            enum pending_state state);

/* The pending of a write of this thread's own, which is in no list and has no connection. One must
 * be available. */
struct pending *pending_add_own(struct pending_pool *pool, uint64_t received_ticks);

/* A write that was sent and has its answer becomes a held read of its receipt, of the account; the
 * answer and the secret are kept until it is freed. Its connection is open. */
void pending_become_receipt(struct pending_pool *pool, struct pending *pending,
                            uint64_t account_id);

/* The answer and the secret of a write, also of one that became such a read. */
const struct answer *pending_answer(const struct pending_pool *pool, const struct pending *pending);
const uint8_t *pending_secret(const struct pending_pool *pool, const struct pending *pending);

/* Puts a problem, for the caller to fill, in the place of a write of the connection that was sent
 * (`before`: the one before it in the list, NULL: it is the oldest). That one is freed when its
 * answer comes. One must be available. Returns the problem's. */
struct pending *pending_replace(struct pending_pool *pool, struct conn *conn,
                                struct pending *before, struct pending *sent);

/* Removes the oldest pending from its connection's list and frees it. */
void pending_remove_first(struct pending_pool *pool, struct conn *conn);

/* Frees a pending that is in no list. Its secret is wiped. */
void pending_free(struct pending_pool *pool, struct pending *pending);

uint64_t pending_token(const struct pending_pool *pool, const struct pending *pending);

/* The pending of a token, which must be in flight: tokens come from our own rings only. */
struct pending *pending_of(struct pending_pool *pool, uint64_t token);

/* Whether the pending of a token that was once in flight still is, in whichever state. */
CC_MUST_USE bool pending_lives(const struct pending_pool *pool, uint64_t token);

static inline uint32_t pending_index(const struct pending_pool *pool, const struct pending *pending)
{
    return (uint32_t)(pending - pool->items);
}

#endif
