/* log.h - one line an event on standard error: time, level, event, then key=value pairs.
 *
 *   2025-08-19T05:47:11.232Z info recovered sequence=4711 ms=12
 *
 * Only the node and what is above it log: lower layers return what happened and the layer that
 * decides says so (docs/STYLE.md).
 *
 * Wait.  One write(2) a line, from any thread; a slow standard error slows the caller.
 * Bound. A line has at most 1,024 bytes; at most 200 lines a second are written, the rest is
 *        counted and the next second's first line says how many were left out. Errors are
 *        always written. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/cc.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

enum {
    LOG_LINE_MAX = 1024,
    LOG_RATE_MAX = 200, /* lines a second */
};

/* Lines below the level are not written. Default: LOG_INFO. Before threads start. */
void log_set_level(enum log_level level);

/* Lines go to this descriptor instead of standard error. Before threads start. */
void log_set_descriptor(int descriptor);

/* Writes one line; `format` makes the key=value part. Control characters in the result are written
 * as '?', so that a line stays a line. */
void log_line(enum log_level level, const char *event, const char *format, ...) CC_PRINTF(3, 4);

/* Lines left out by the rate bound since the start. */
uint64_t log_dropped(void);

#endif
