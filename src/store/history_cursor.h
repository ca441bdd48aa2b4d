/* history_cursor.h - reads the rows of the history's file, the newest first.
 *
 *   view of one commit: its roots ──> pages, compared with what was written ──> row after row
 *
 * A search for the row below the one that was found last goes on from there.
 *
 * Owner.  A cursor belongs to one thread, which need not be the writer's.
 * Wait.   Blocks as files do.
 * Errors. 0 or -errno; -EBADMSG: the file is not as it was written. Nothing is logged. */
#ifndef STORE_HISTORY_CURSOR_H
#define STORE_HISTORY_CURSOR_H

#include "store/history_file.h"

struct history_cursor;

/* NULL without memory, or beside too many. Destroy it before the file is closed. */
struct history_cursor *history_cursor_create(struct history_file *file);
void history_cursor_destroy(struct history_cursor *cursor);

/* The newest row of location's table, key and, in a table by id, id that is below its (sequence,
 * index): 1, and *location, row (HISTORY_ROW_BYTES_MAX) and *bytes are it; or 0, there is none. If
 * a gap lies between: 1, *bytes is 0 and *location is the gap's end. Sees one commit from the first
 * call until history_cursor_end, for which the third write after it waits. */
CC_MUST_USE int history_cursor_below(struct history_cursor *cursor,
                                     struct history_location *location, void *row, size_t *bytes);
void history_cursor_end(struct history_cursor *cursor);

#endif
