/* reply_share.h - who holds the reply buffers of a network thread, and whose read waits for one.
 *
 * An address may take a buffer while it holds less than half as many as are free: alone it has a
 * third of them, two have a half together, and however many come one is left for the next. A read
 * that may not, waits: addresses take turns, the reads of one are in the order in which they came.
 * What comes from admin.listen counts as one address more.
 *
 * Owner. The net thread. A read holds its buffer from the time at which its query is sent until
 *        its answer is written, or until the follower answers without one.
 * Bound. A row for each connection and each buffer, mapped at the start: an address with a row has
 *        a connection with a read that waits, or holds a buffer. Choosing looks at no more
 *        addresses than there are buffers: one that may not take a free one holds some. */
#ifndef NET_CONN_REPLY_SHARE_H
#define NET_CONN_REPLY_SHARE_H

#include "net/conn/pending.h"

struct reply_share {
    struct reply_address *rows;
    uint32_t *buckets; /* by hash: the first row of a chain */
    size_t memory_bytes;
    uint32_t capacity, mask;
    uint32_t free_head; /* rows that were used and are not */
    uint32_t touched;
    struct mix_key hash_key;
    uint32_t buffers; /* that there are; at most REPLY_BUFFERS */
    uint32_t held;
    uint32_t turn_head, turn_tail; /* addresses whose reads wait, the next one first */
    uint32_t oldest, newest;       /* reads that wait, of all addresses */
};

/* 0 or -ENOMEM. The addresses of at most `connections` wait at a time. */
CC_MUST_USE int reply_share_init(struct reply_share *share, uint32_t connections, uint32_t buffers,
                                 struct mix_key hash_key);
void reply_share_free(struct reply_share *share);

/* Gives the read of the connection a buffer. False, and nothing has changed: its address may have
 * none at the moment, or other reads of it wait. */
CC_MUST_USE bool reply_share_claim(struct reply_share *share, const struct conn *conn,
                                   struct pending *pending);

/* The read no longer holds its buffer. */
void reply_share_release(struct reply_share *share, struct pending *pending);

/* The read, of an open connection, begins to wait. */
void reply_share_wait(struct reply_share *share, const struct pending_pool *pool,
                      const struct conn *conn, struct pending *pending);

/* The read whose turn it is to take a buffer; NULL: none is free for those who wait. */
CC_MUST_USE struct pending *reply_share_next(const struct reply_share *share,
                                             const struct pending_pool *pool);

/* The read that reply_share_next gave takes its buffer and no longer waits. Its address goes after
 * the others. */
void reply_share_accept(struct reply_share *share, const struct pending_pool *pool,
                        struct pending *pending);

/* The read has waited for the longest time; NULL: none waits. */
CC_MUST_USE struct pending *reply_share_oldest(const struct reply_share *share,
                                               const struct pending_pool *pool);

/* The read no longer waits: it was refused, or its connection closes. */
void reply_share_leave(struct reply_share *share, const struct pending_pool *pool,
                       struct pending *pending);

#endif
