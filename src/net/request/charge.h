/* charge.h - what a request costs the address or the key that it came from (W8): reads, requests
 * with mistakes, signed requests, new accounts.
 *
 * Above its rate a request is answered 429. An address that its bucket has refused CHARGE_PATIENCE
 * times in a row is answered no more: its connections are not read on until the bucket has a token
 * for them (protocol.c). Nothing is charged on the admin listener, nor with limits.rate_limits=off.
 *
 * Owner. The net thread. The buckets are those of all network threads (base/client_rate.h). */
#ifndef NET_REQUEST_CHARGE_H
#define NET_REQUEST_CHARGE_H

#include "net/conn/context.h"

enum { CHARGE_PATIENCE = 10 };

/* Charges a read to its key, to its address where *caller has kind 0 or is NULL; passing over
 * `offset` rows costs one more for each full 10,000, at most 100. False: *problem has 429; if it
 * was the key's, the address has paid for it as for a frame (charge_frame), so that the connection
 * waits once that has refused too often. */
CC_MUST_USE bool charge_read(struct context *context, struct conn *conn,
                             const struct keyring_key *caller, uint64_t offset,
                             struct problem_detail *problem);

/* Charges a subscription of a stream, one read, to the key of its login, to its address where
 * *login has kind 0. False: as charge_read. */
CC_MUST_USE bool charge_subscription(struct context *context, struct conn *conn,
                                     const struct keyring_key *login,
                                     struct problem_detail *problem);

/* Charges the address for what is not refused for it, one public read: of a stream a control frame,
 * a piece of a message, the ops ping and login; a refusal of a key's bucket. The connection waits
 * once the bucket has refused too often. */
void charge_frame(struct context *context, struct conn *conn);

/* Charges the address one public read for what was done already, SECURE_SMALL_A_TOKEN small records
 * of TLS; the bucket may owe it. The connection waits as with charge_frame. */
void charge_records(struct context *context, struct conn *conn);

/* Counts in *past one more event of the time before a resume that the stream was sent: each full
 * 100 cost a read, as rows of a list do, of the key of its login, of its address where *login has
 * kind 0. The bucket may owe it. */
void charge_past(struct context *context, const struct conn *conn, const struct keyring_key *login,
                 uint32_t *past);

/* Charges a list that has been answered, to the bucket of its read: one for each full 100 rows
 * after the first 100, and, of a page, one for each full 10,000 rows that were looked at to find
 * it, less what its offset has cost. The bucket may owe them. *state becomes the bucket's, if
 * anything was charged. */
void charge_answer(struct context *context, const struct query *query,
                   const struct keyring_key *caller, const struct reply *reply,
                   struct client_rate_state *state);

/* A request is refused with *problem. What is the client's mistake (400, 401, 403, 404, 405, 413,
 * 415, 421, 431) costs its address a public read; if there is none left *problem becomes 429. */
void charge_mistake(struct context *context, struct conn *conn, struct problem_detail *problem);

/* Charges the address for one signed request. False: *problem has 429. */
CC_MUST_USE bool charge_signature(struct context *context, struct conn *conn,
                                  struct problem_detail *problem);

/* Charges the address for one account. `conn` may be NULL: it has closed. Returns 0, or the ms
 * until the address may make one; the caller counts the refusal. */
CC_MUST_USE uint64_t charge_creation(struct context *context, struct conn *conn, uint64_t address);

/* The connection has been paused until conn->pause_ns, which has passed. True: it has its token and
 * may be read on; false: it waits until the new conn->pause_ns. */
CC_MUST_USE bool charge_redeem(struct context *context, struct conn *conn);

#endif
