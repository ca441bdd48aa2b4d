/* job.h - accepted writes until their command is in the ring: decoded, verified, sent.
 *
 *   slot ── envelope, admission ── keyring ──┬─ fresh: this turn's batch ─┐  verify.h
 *                                            └─ slow: one a turn ─────────┤
 *   command ring <── good: addresses in turn, while there are credits <───┘  command_send.h
 *
 * A job is slow if a master key signed it, if two paths verify it, if its key is unknown, or if the
 * newest verified signature of its connection was wrong. Slow jobs are verified one a turn and hold
 * at most half of the slots, so that they delay other clients by at most one verification a turn.
 *
 * Unknown keys and bad signatures are limited per address (rate_limit.h). Above the limit a slow
 * job is refused unverified (key_lookup.h). Slow jobs stand in line by turns of their addresses.
 * Where all their places are taken, the last in line yields to one of an address that has fewer: it
 * is refused.
 *
 * Plain JSON writes have no signature: they share the fresh queue and skip verification.
 *
 * Order.  Jobs are pushed in the order in which they were accepted. Only a slow job may wait for a
 *         later turn unverified; its connection is not read until then (roles.md, Order within a
 *         connection).
 * Wait.   Without a free slot the connection is in CONN_STALLED; others continue.
 * Owner.  The net thread.
 * Bound.  JOBS_MAX slots. */
#ifndef NET_COMMAND_JOB_H
#define NET_COMMAND_JOB_H

#include "base/message.h"
#include "base/status.h"
#include "crypto/ed25519.h"
#include "net/request/envelope.h"
#include "net/request/rate_limit.h"
#include "net/response/pipeline.h"

enum { JOBS_MAX = 256, JOBS_SLOW_MAX = JOBS_MAX / 2 };

enum { JOB_MESSAGE_BYTES = sizeof(struct command) + ENVELOPE_SPACE + SECRET_HASH_BYTES };

/* One accepted request. `message` is the command as it will be in the ring. */
struct job {
    alignas(8) uint8_t message[(JOB_MESSAGE_BYTES + 7) / 8 * 8];
    const struct request *request;
    const struct ed25519_table *table; /* of its key, found in this turn; or NULL */
    uint64_t address;                  /* its client's (rate_limit.h) */
    uint64_t deadline_ns;              /* end of its wait for a credit; 0: it does not wait */
    uint64_t turn;                     /* of those that wait in a line, the least is first */
    uint32_t pending;
    bool key_sent; /* the client sent the key; a passkey may leave it to its credential id */
    bool known;    /* its key was known when the request was accepted */
    bool plain;    /* it has no signature */
};

/* A queue of job numbers, with room for all jobs. */
struct job_queue {
    uint16_t items[JOBS_MAX];
    uint32_t head, tail;
};

struct job_table {
    struct context *context;
    struct pipeline *pipeline;
    struct rate_limit *limits;
    struct job items[JOBS_MAX];
    uint16_t free[JOBS_MAX];
    uint32_t free_count;
    struct job_queue fresh; /* known Ed25519 keys, not verified; writes without a signature */
    struct job_queue slow;  /* not verified, one a turn; in the order of their turns */
    uint64_t slow_turn;     /* of the last one that was taken of those */
    struct job_queue good;  /* verified, to be pushed */
    uint32_t lined_up;      /* those of `good` before it are in the order of their turns */
    uint64_t turn;          /* of the last one that was pushed of those that waited */
};

/* 0 or -ENOMEM. */
CC_MUST_USE int job_table_create(struct job_table **jobs, struct pipeline *pipeline);
void job_table_destroy(struct job_table *jobs);

/* Whether another request can be accepted. */
static inline bool job_table_has_room(const struct job_table *jobs)
{
    return jobs->free_count > 0;
}

/* Whether a slow job of the address would find a place, its own or one that another yields. */
CC_MUST_USE bool job_table_has_slow_room(const struct job_table *jobs, uint64_t address);

/* Accepts one signed request with its complete head and body; a slot is free. It becomes a
 * pending of the
 * connection, whatever its outcome. False: it is slow and too many slow jobs wait; the connection
 * is then in CONN_SLOW and nothing else has changed. */
CC_MUST_USE bool job_accept(struct job_table *jobs, struct conn *conn, const char *head_text,
                            const char *body, size_t count);

/* The same for an envelope that is a message of a stream, of any code that has a path; the answer
 * is for the op with that id. */
CC_MUST_USE bool job_accept_op(struct job_table *jobs, struct conn *conn, const char *body,
                               size_t count, bool wants_full, int64_t op_id);

/* The same for a binary frame, whose answer has the form of a binary acknowledgement. */
CC_MUST_USE bool job_accept_op_frame(struct job_table *jobs, struct conn *conn,
                                     const uint8_t *frame, size_t count);

/* Accepts a command without a signature (W3b), checked as far as net can; a slot is free. Returns
 * its pending, which waits for the answer like that of a signed request. */
struct pending *job_accept_plain(struct job_table *jobs, struct conn *conn, uint16_t code,
                                 const uint8_t *body, uint16_t body_bytes);

/* Sends the 2011 that ends the arm if that sequence has set it; a slot and a pending are free.
 * Nobody is answered. */
void job_accept_end(struct job_table *jobs, const uint8_t arm_id[16], uint64_t armed_sequence);

/* ---- for verify.c and command_send.c --------------------------------------------------------- */

/* Frees the slot and resumes connections that wait for one. */
void job_free(struct job_table *jobs, uint32_t number);

/* Gives the job at place `at` of the queue its turn, and moves it behind those of that turn or an
 * earlier one. The jobs before it stand in line; `last` is the turn of the last one taken. */
void job_line_up(struct job_table *jobs, struct job_queue *queue, uint32_t at, uint64_t last);

/* Takes the first slow job; there is one. */
CC_MUST_USE uint32_t job_pop_slow(struct job_table *jobs);

/* Answers the job's request; no command is sent. The request type and the times are filled in. */
void job_finish(struct job_table *jobs, struct job *job, struct answer answer);

/* The same with a status alone. */
void job_refuse(struct job_table *jobs, struct job *job, enum status status);

/* Answers that the signature is wrong: `problem` and `detail` say why. */
void job_refuse_signature(struct job_table *jobs, struct job *job, enum problem problem,
                          const char *detail);

static inline struct command *job_command(struct job *job)
{
    return (void *)job->message;
}

static inline struct pending *job_pending(const struct job_table *jobs, const struct job *job)
{
    return pending_at(&jobs->context->pendings, job->pending);
}

static inline uint32_t job_queue_count(const struct job_queue *queue)
{
    return queue->tail - queue->head;
}

static inline void job_queue_push(struct job_queue *queue, uint32_t number)
{
    INVARIANT(job_queue_count(queue) < JOBS_MAX && number < JOBS_MAX);
    queue->items[queue->tail++ % JOBS_MAX] = (uint16_t)number;
}

/* The oldest job of the queue, which is not empty. */
static inline uint32_t job_queue_first(const struct job_queue *queue)
{
    INVARIANT(job_queue_count(queue) > 0);
    return queue->items[queue->head % JOBS_MAX];
}

static inline uint32_t job_queue_pop(struct job_queue *queue)
{
    uint32_t number = job_queue_first(queue);
    queue->head++;
    return number;
}

#endif
