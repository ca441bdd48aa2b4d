/* plain.h - plain JSON writes: commands 2001, 2002, 2003, 2009 and 2010 and their outcome as HTTP
 * (interface.md, Plain JSON writes; wire.md W3b, W7, W10; json.md J3; rules.md R11). Net thread.
 *
 *   PUT leverage, POST close, reopen ── command ──> answer: the setting, the status
 *   POST faucet, PATCH name          ── command ──> answer ── query ──> reply: the balance
 *
 * Order. A write takes its turn among the signed requests of its connection (intake.h). JSON first,
 *        then the credential: scope, pin. Portfolio, market, leverage and amount are the engine's
 *        to judge, the credential once more. A balance is asked for when the write's answer may
 *        leave, so it shows it. */
#ifndef NET_PLAIN_H
#define NET_PLAIN_H

#include "net/gate.h"

/* Takes one request with its complete body; intake has room. It becomes a pending of the
 * connection, whatever its outcome. `head_text` is the first byte of the head. */
void plain_take(struct gate *gate, struct conn *conn, const char *head_text, const char *body,
                size_t count);

/* Reads the JSON body of the code; false with malformed_json or invalid_parameter in *mistake. A
 * market that cannot exist is empty. What the body has no member for is zero. */
CC_MUST_USE bool plain_read(struct pending_plain *plain, uint16_t code, const char *text,
                            size_t count, struct mistake *mistake);

/* What an answer means: true for 200, else the problem in *mistake. */
CC_MUST_USE bool plain_succeeded(const struct answer *answer, struct mistake *mistake);

/* Turns a write that is done and shows a balance into the read of it, for ask_release. False: its
 * answer says everything. */
CC_MUST_USE bool plain_asks(struct pending *pending);

/* The answer of a write that needs no read, as JSON. */
void plain_write(struct writer *writer, uint16_t code, const struct pending_plain *plain);

#endif
