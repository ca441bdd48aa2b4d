/* plain_write.h - accepts plain JSON writes: commands 2001, 2002, 2003, 2009 and 2010
 * (interface.md, Plain JSON writes; wire.md W3b, W7, W10; rules.md R11). Net thread.
 *
 *   PUT leverage, POST close, reopen ── command ──> answer: the setting, the status
 *   POST faucet, PATCH name          ── command ──> answer ── query ──> reply: the balance
 *
 * Order. A write is a job among the signed requests of its connection (job.h). First its JSON
 *        is checked, then the credential: scope, pin. The engine judges portfolio, market, leverage
 *        and amount, and the credential again. The balance is queried when the write's answer may
 *        leave, so that it shows the write. */
#ifndef NET_COMMAND_PLAIN_WRITE_H
#define NET_COMMAND_PLAIN_WRITE_H

#include "net/command/job.h"

/* Accepts one request with its complete body; a job slot is free. It becomes a pending of the
 * connection, whatever its outcome. `head_text` is the first byte of the head. */
void plain_write_accept(struct job_table *jobs, struct conn *conn, const char *head_text,
                        const char *body, size_t count);

#endif
