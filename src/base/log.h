/* log.h - one line an event on standard error: time, level, event, then key=value pairs.
 *
 *   2025-08-19T05:47:11.232Z info recovered sequence=4711 ms=12
 *
 * Only the node and the tools log. Lower layers return a result, and the layer that decides logs it
 * (docs/STYLE.md).
 *
 * Wait.  One write(2) a line, from any thread; a slow standard error delays the caller.
 * Bound. A line has at most 1,024 bytes. At most 200 lines a second are written; the rest are
 *        counted, and the first line of the next second reports how many were dropped. Errors are
 *        always written. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/compiler.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR, LOG_NOTHING };

enum {
    LOG_LINE_MAX = 1024,
    LOG_RATE_MAX = 200, /* lines a second */
};

/* Drops lines below the level, with LOG_NOTHING all of them. Default: LOG_INFO. Call it before
 * threads start. */
void log_set_level(enum log_level level);

/* Writes lines to this descriptor instead of standard error. Call it before threads start. */
void log_set_descriptor(int descriptor);

/* Writes one line; `format` makes the key=value part. Control characters are written as '?', so
 * that one event stays one line. Any thread. */
void log_line(enum log_level level, const char *event, const char *format, ...) CC_PRINTF(3, 4);

/* Returns how many lines the rate limit has dropped since the start. Any thread. */
uint64_t log_dropped(void);

#endif
