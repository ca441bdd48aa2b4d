/* body_pool.h - the bodies of requests that become no command, where they have one: kept from the
 * last byte of the request until its answer is written.
 *
 * Owner. The net thread. A body belongs to one pending (pending_local.body, pending.payload). The
 *        follower reads that of a query until it publishes the reply.
 * Bound. BODY_POOL_COUNT bodies of BODY_BYTES; body_pool_add refuses more. The memory is mapped at
 *        the start and resident only where it was used. */
#ifndef NET_CONN_BODY_POOL_H
#define NET_CONN_BODY_POOL_H

#include "base/request.h"

enum {
    BODY_POOL_COUNT = 64,
    BODY_BYTES = REQUEST_PASSKEY_ENVELOPE_MAX, /* the longest body of any request */
    BODY_NONE = 0xffff,
};

struct body {
    char text[BODY_BYTES];
    uint32_t count; /* bytes in use */
};

struct body_pool {
    struct body *items;
    uint16_t free[BODY_POOL_COUNT];
    uint16_t free_count;
};

/* 0 or -ENOMEM. */
CC_MUST_USE int body_pool_init(struct body_pool *pool);
void body_pool_destroy(struct body_pool *pool);

/* Copies `count` bytes, at most BODY_BYTES. Returns the body's index, or BODY_NONE without room. */
CC_MUST_USE uint16_t body_pool_add(struct body_pool *pool, const char *text, size_t count);

static inline const struct body *body_pool_at(const struct body_pool *pool, uint16_t index)
{
    INVARIANT(index < BODY_POOL_COUNT);
    return &pool->items[index];
}

/* Wipes and frees a body; BODY_NONE is ignored. */
void body_pool_free(struct body_pool *pool, uint16_t index);

#endif
