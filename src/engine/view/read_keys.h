/* read_keys.h - the credentials of an account as rows, as of the last applied command.
 *
 * The thread that owns the engine calls these functions between commands. They change nothing. The
 * caller owns the rows. A pinned caller sees the credentials of its own pin alone.
 *
 * Units.  `pin` is a subaccount index, or -1 for all. `*cursor` starts at 0; the caller does not
 *         change it between calls.
 * Errors. False after the last one, or if there is no such account; *row is then unspecified. */
#ifndef ENGINE_VIEW_READ_KEYS_H
#define ENGINE_VIEW_READ_KEYS_H

#include "base/compiler.h"
#include "base/row.h"

struct engine;

/* Shows the next live session, newest first. */
CC_MUST_USE bool read_keys_session(const struct engine *engine, uint64_t account_id, int32_t pin,
                                   uint32_t *cursor, struct row_session *row);

/* Shows the next live master key, oldest first. */
CC_MUST_USE bool read_keys_master(const struct engine *engine, uint64_t account_id, int32_t pin,
                                  uint32_t *cursor, struct row_master_key *row);

/* Shows the next live API key, newest first; read_keys_device_key the next live device key. */
CC_MUST_USE bool read_keys_api_key(const struct engine *engine, uint64_t account_id, int32_t pin,
                                   uint32_t *cursor, struct row_api_key *row);
CC_MUST_USE bool read_keys_device_key(const struct engine *engine, uint64_t account_id, int32_t pin,
                                      uint32_t *cursor, struct row_api_key *row);

#endif
