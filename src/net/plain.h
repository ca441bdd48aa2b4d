/* plain.h - takes plain JSON writes: commands 2001, 2002, 2003, 2009 and 2010 (interface.md, Plain
 * JSON writes; wire.md W3b, W7, W10; rules.md R11). Net thread.
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

#endif
