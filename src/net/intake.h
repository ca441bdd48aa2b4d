/* intake.h - requests on their way to the command ring: decode, check, verify, push.
 *
 *   staging slot ── envelope, admission ── keyring ──┬─ known Ed25519 key: this turn's batch ─┐
 *                                                    └─ slow: one a turn ─────────────────────┤
 *   command ring <── first in, first out, while there are credits <───────────────────────────┘
 *
 * Slow are Secp256k1 signatures, keys that the keyring does not have, and whatever a connection
 * sends behind a signature that was wrong, until one is right: whoever sends those delays nobody
 * else by more than one verification a turn, and holds at most half of the slots.
 *
 * What an address asks for in vain is bounded (allowance.h): above it, requests under keys that
 * nobody has, and those behind a wrong signature, are refused unverified (signer_key.h).
 *
 * A command that no client signs stands among the known keys, and is good when its turn comes.
 *
 * Order.  Jobs are pushed in the order they were taken. Only a slow job may wait for a later turn
 *         unverified; its connection is not read on until then (roles.md).
 * Wait.   A job that finds no credit stays in its slot; after net.credit_wait_ms it is answered
 *         request_dropped. No free slot: the connection is stalled, others go on.
 * Owner.  The net thread.
 * Bound.  INTAKE_JOBS slots; a turn verifies at most NET_TURN_REQUESTS + NET_TURN_SLOW, the former
 *         in one call: what arrived, however few, never waiting for more. */
#ifndef NET_INTAKE_H
#define NET_INTAKE_H

#include "net/gate.h"

enum { INTAKE_JOBS = 256, INTAKE_SLOW_MAX = INTAKE_JOBS / 2 };

/* 0 or -ENOMEM. */
CC_MUST_USE int intake_create(struct intake **intake, const struct net_config *config);
void intake_destroy(struct intake *intake);

/* May another signed request be taken. */
CC_MUST_USE bool intake_has_room(const struct intake *intake);

/* Takes one signed request with its complete body; a slot is free. It becomes a pending of the
 * connection, whatever its outcome. False: it is a slow one and too many of those wait; the
 * connection stands in the queue `slow` and nothing else happened. */
CC_MUST_USE bool intake_take(struct gate *gate, struct conn *conn, const char *body, size_t count);

/* Takes a command that no client signs (W3b), checked as far as net can; a slot is free. Gives its
 * pending, which waits for the answer like that of a signed request. */
struct pending *intake_take_plain(struct gate *gate, struct conn *conn, uint16_t code,
                                  const uint8_t *body, uint16_t body_bytes);

/* Begins a turn: the tables of keys that the last one has found may be freed. */
void intake_begin(struct gate *gate);

/* Verifies what was taken, pushes what may go, drops what waited too long. Gives the work done. */
uint32_t intake_run(struct gate *gate);

/* An answer of the matcher whose release_sequence is durable. */
void intake_answer(struct gate *gate, const struct answer *answer);

/* The next credit wait that ends, clock_monotonic_ns; UINT64_MAX: none. */
uint64_t intake_deadline_ns(const struct intake *intake);

/* Jobs that a turn could go on with. */
CC_MUST_USE bool intake_has_work(const struct gate *gate);

#endif
