/* staging.h - commands on their way to the ring: decoded into a slot, verified, sent.
 *
 *   slot ── envelope, admission ── keyring ──┬─ fresh: this turn's batch ─┐  verify.h
 *                                            └─ slow: one a turn ─────────┤
 *   command ring <── good: first in, first out, while there are credits <─┘  command_send.h
 *
 * A job is slow if it needs secp256k1, if its key is unknown, or if the newest verified signature
 * of its connection was wrong. Slow jobs are verified one a turn and hold at most half of the
 * slots, so that they delay other clients by at most one verification a turn.
 *
 * What an address asks for in vain is bounded (rate_limit.h): above it, requests under keys that
 * nobody has, and those behind a wrong signature, are refused unverified (key_lookup.h).
 *
 * Plain JSON writes are not signed: they share the fresh queue, and skip verification.
 *
 * Order.  Jobs are pushed in the order they were taken. Only a slow job may wait for a later turn
 *         unverified; its connection is not read on until then (roles.md, Order within a
 *         connection).
 * Wait.   No free slot: the connection is stalled, others go on.
 * Owner.  The net thread.
 * Bound.  STAGING_JOBS slots. */
#ifndef NET_COMMAND_STAGING_H
#define NET_COMMAND_STAGING_H

#include "base/message.h"
#include "base/status.h"
#include "crypto/ed25519.h"
#include "net/request/envelope.h"
#include "net/request/rate_limit.h"
#include "net/response/pipeline.h"

enum { STAGING_JOBS = 256, STAGING_SLOW_MAX = STAGING_JOBS / 2 };

enum { STAGING_MESSAGE_BYTES = sizeof(struct command) + ENVELOPE_SPACE + SECRET_HASH_BYTES };

/* One staged request. `message` is the command as it will stand in the ring. */
struct job {
    alignas(8) uint8_t message[(STAGING_MESSAGE_BYTES + 7) / 8 * 8];
    const struct request *request;
    const struct ed25519_table *table; /* of its key, found in this turn; or NULL */
    uint64_t address;                  /* of its client (rate_limit.h) */
    uint64_t deadline_ns;              /* 0: it has not waited for a credit yet */
    uint32_t pending;
    bool passkey;
    bool known; /* its key was known when it was taken */
    bool plain; /* no client signs it */
};

/* A queue of job numbers; holds every job there is. */
struct job_queue {
    uint16_t items[STAGING_JOBS];
    uint32_t head, tail;
};

struct staging {
    struct context *context;
    struct pipeline *pipeline;
    struct rate_limit *limits;
    struct job jobs[STAGING_JOBS];
    uint16_t free[STAGING_JOBS];
    uint32_t free_count;
    struct job_queue fresh; /* known Ed25519 keys, not verified, and what needs no signature */
    struct job_queue slow;  /* not verified, one a turn */
    struct job_queue good;  /* verified, to be pushed */
};

/* 0 or -ENOMEM. */
CC_MUST_USE int staging_create(struct staging **staging, struct pipeline *pipeline);
void staging_destroy(struct staging *staging);

/* May another request be taken. */
static inline bool staging_has_room(const struct staging *staging)
{
    return staging->free_count > 0;
}

/* Takes one signed request with its complete body; a slot is free. It becomes a pending of the
 * connection, whatever its outcome. False: it is a slow one and too many of those wait; the
 * connection is in the queue CONN_SLOW and nothing else happened. */
CC_MUST_USE bool staging_take(struct staging *staging, struct conn *conn, const char *body,
                              size_t count);

/* Takes a command that no client signs (W3b), checked as far as net can; a slot is free. Gives its
 * pending, which waits for the answer like that of a signed request. */
struct pending *staging_take_plain(struct staging *staging, struct conn *conn, uint16_t code,
                                   const uint8_t *body, uint16_t body_bytes);

/* ---- for verify.c and command_send.c --------------------------------------------------------- */

/* Gives the slot back and lets connections go on that wait for one. */
void staging_free(struct staging *staging, uint32_t number);

/* Answers the job's request with a status, without a command. */
void staging_refuse(struct staging *staging, struct job *job, enum status status);

/* Answers that the signature is wrong, for the reason `detail`. */
void staging_refuse_signature(struct staging *staging, struct job *job, const char *detail);

static inline struct command *job_command(struct job *job)
{
    return (void *)job->message;
}

static inline struct pending *staging_pending(const struct staging *staging, const struct job *job)
{
    return pending_at(&staging->context->pendings, job->pending);
}

/* Ticks since `since`, at most UINT32_MAX. */
static inline uint32_t job_delta_ticks(uint64_t since)
{
    uint64_t delta = clock_ticks() - since;
    return delta > UINT32_MAX ? UINT32_MAX : (uint32_t)delta;
}

static inline uint32_t job_queue_count(const struct job_queue *queue)
{
    return queue->tail - queue->head;
}

static inline void job_queue_push(struct job_queue *queue, uint32_t number)
{
    INVARIANT(job_queue_count(queue) < STAGING_JOBS && number < STAGING_JOBS);
    queue->items[queue->tail++ % STAGING_JOBS] = (uint16_t)number;
}

/* The oldest job of the queue, which is not empty. */
static inline uint32_t job_queue_first(const struct job_queue *queue)
{
    INVARIANT(job_queue_count(queue) > 0);
    return queue->items[queue->head % STAGING_JOBS];
}

static inline uint32_t job_queue_pop(struct job_queue *queue)
{
    uint32_t number = job_queue_first(queue);
    queue->head++;
    return number;
}

#endif
