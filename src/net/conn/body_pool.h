/* body_pool.h - the bodies of requests that become no command, where they have one: kept from the
 * last byte of the request until its answer is written.
 *
 * An address may keep one more while it has less than half as many as are free: one alone has a
 * third of them. What comes from admin.listen counts as one address more.
 *
 * Owner. The net thread. A body belongs to one pending (pending_local.body, pending.payload). The
 *        follower reads that of a query until it publishes the reply.
 * Bound. BODY_POOL_COUNT bodies of BODY_BYTES; body_pool_add refuses more, and looks at each. The
 *        memory is mapped at the start and resident only where it was used. */
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

/* Why a body is not kept, or that it is. */
enum body_room { BODY_ROOM, BODY_ROOM_FULL, BODY_ROOM_OF_ADDRESS };

struct body_pool {
    struct body *items;
    uint64_t addresses[BODY_POOL_COUNT]; /* whose each is; of those in use */
    uint64_t used;                       /* bit i: body i is in use */
    uint16_t free[BODY_POOL_COUNT];
    uint16_t free_count;
};

/* 0 or -ENOMEM. */
CC_MUST_USE int body_pool_init(struct body_pool *pool);
void body_pool_destroy(struct body_pool *pool);

/* Copies `count` bytes, at most BODY_BYTES, for a client's address (rate_limit.h) or
 * QUERY_ADMIN_ADDRESS. *index becomes the body's, or BODY_NONE where there is no room. */
CC_MUST_USE enum body_room body_pool_add(struct body_pool *pool, uint64_t address, const char *text,
                                         size_t count, uint16_t *index);

static inline const struct body *body_pool_at(const struct body_pool *pool, uint16_t index)
{
    INVARIANT(index < BODY_POOL_COUNT);
    return &pool->items[index];
}

/* Wipes and frees a body; BODY_NONE is ignored. */
void body_pool_free(struct body_pool *pool, uint16_t index);

#endif
