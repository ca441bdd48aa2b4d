/* rebuild.h - converts a journal record to the command that the engine applied, and back.
 *
 * Used by sequencer, follower, recovery and replay. What a record does not hold (hashes, validity
 * of keys) is computed again from it by crypto/derive.h. Any thread, no state. */
#ifndef NODE_RECOVER_REBUILD_H
#define NODE_RECOVER_REBUILD_H

#include "base/message.h"
#include "base/mix.h"
#include "store/record.h"

enum { REBUILD_COMMAND_BYTES = (int)sizeof(struct command) + RECORD_BYTES_MAX };

/* Memory for any rebuilt command. */
struct rebuild_buffer {
    alignas(CC_CACHE_LINE) uint8_t bytes[REBUILD_COMMAND_BYTES];
};

/* Makes the command of `record` in `buffer`, with its t_ns, COMMAND_REPLAYED set, token and ticks
 * zero. Valid until the buffer is used again. */
struct command *rebuild_command(struct rebuild_buffer *buffer, const struct record_view *record,
                                struct mix_key key);

/* Makes the record of a command. It points into the command's bytes; t_ns is copied. */
void rebuild_record(struct record_view *record, const struct command *command);

#endif
