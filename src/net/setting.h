/* setting.h - PUT /api/v1/leverage: a plain JSON write as command 2001 and its outcome as HTTP
 * (interface.md, Leverage setting; wire.md W3b, W10; rules.md R11, 2001). Net thread.
 *
 * Order. It takes its turn among the signed requests of its connection (intake.h). JSON first, then
 *        the credential: scope, pin. Portfolio, market and leverage are the engine's to judge, the
 *        credential once more. */
#ifndef NET_SETTING_H
#define NET_SETTING_H

#include "net/gate.h"

/* Takes one request with its complete body; intake has room. It becomes a pending of the
 * connection, whatever its outcome. `head_text` is the first byte of the head. */
void setting_take(struct gate *gate, struct conn *conn, const char *head_text, const char *body,
                  size_t count);

/* Reads the JSON body; false with malformed_json or invalid_parameter in *mistake. A market
 * that cannot exist is empty. */
CC_MUST_USE bool setting_read(struct pending_setting *setting, const char *text, size_t count,
                              struct mistake *mistake);

/* What an answer to 2001 means: true for 200, else the problem in *mistake. */
CC_MUST_USE bool setting_succeeded(const struct answer *answer, struct mistake *mistake);

/* The stored setting as JSON. */
void setting_write(struct writer *writer, const struct pending_setting *setting);

#endif
