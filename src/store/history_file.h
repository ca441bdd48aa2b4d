/* history_file.h - rows of the past, in a file that outlives the process (LMDB, history/data.mdb).
 *
 *   table, key (account or market), (sequence, index) ──> bytes of a row, never changed
 *   table by id, id, key (account), (sequence, index) ──> the same
 *
 * The sequence of a location is that of the command that made the row. But an order or a withdrawal
 * lies where it was placed, a piece of a candle at the minute or hour that it is of, and a row of
 * private events at the account's seq of its first: the sequence of the location is that number.
 * Their rows begin with the sequence u64 of the command that made them, or the last of the events.
 *
 * Rows are made again from the journal, so the file may lag: each commit carries `applied`, and
 * rows above it are not in the file. Rows that the file will never get, because a start began with
 * a newer state, are named by a *gap*. It stands for an unknown number of rows of its key at or
 * below its sequence and above another, `after`. Tables by id have no gaps of their own: an id that
 * is dated at or before gap_ms and is not there may be one of the rows that never came. Nor have
 * orders and withdrawals: of the first gap_accounts accounts, those that were placed below `from`
 * may be missing.
 * A gap of a table of candles names minutes or hours as its locations do, and a cut leaves it.
 * Private events have no gaps: their numbers tell what is missing.
 *
 * Order.  A commit is all or nothing. A crash of the machine may undo the newest commits that
 *         were not synced, whole and newest first.
 * Owner.  Begin to commit belong to one thread at a time; cursors read beside it
 *         (history_cursor.h).
 * Wait.   Commits block as files do.
 * Errors. 0 or -errno; -EBADMSG: the file is damaged or another's; nothing is logged. */
#ifndef STORE_HISTORY_FILE_H
#define STORE_HISTORY_FILE_H

#include "base/hash_vote.h"

enum history_table {
    HISTORY_FILLS,        /* key: account */
    HISTORY_TRADES,       /* asset id */
    HISTORY_PAYMENTS,     /* account */
    HISTORY_RATES,        /* asset id */
    HISTORY_FUND,         /* 0 */
    HISTORY_FEES,         /* 0 */
    HISTORY_LIQUIDATIONS, /* asset id */
    HISTORY_CASH,         /* account */
    HISTORY_ORDERS,       /* account */
    HISTORY_REFUSALS,     /* account */
    HISTORY_MINUTES,      /* asset id; placed by unix minutes */
    HISTORY_HOURS,        /* asset id; placed by unix hours */
    HISTORY_WITHDRAWALS,  /* 0 */
    HISTORY_PRIVATE,      /* account; placed by its seq */
    HISTORY_LISTS,
    HISTORY_REQUESTS = HISTORY_LISTS, /* by id: the request's, account */
    HISTORY_ORDER_IDS,                /* the order's, account */
    HISTORY_TABLES
};

enum { HISTORY_ROW_BYTES_MAX = 984, HISTORY_ID_BYTES = 32, HISTORY_PLACE_ID_BYTES = 16 };

struct history_file;

/* Where a row lies. */
struct history_location {
    enum history_table table;
    uint64_t key;
    uint64_t sequence;
    uint32_t index;
    uint8_t id[HISTORY_PLACE_ID_BYTES]; /* of a table by id */
};

/* Checks (history_check.h) and opens the file in `folder`, or makes both. `exchange_id` has
 * HISTORY_ID_BYTES. After -EBADMSG the
 * caller may call history_folder_set_aside and open again. */
CC_MUST_USE int history_file_open(struct history_file **file, const char *folder,
                                  const uint8_t *exchange_id);
void history_file_close(struct history_file *file);

/* The sequence up to which every row is in the file, but for gaps. The writer's thread. */
uint64_t history_file_applied(const struct history_file *file);

/* The sequence from which on every row is there: above the newest gap. The writer's thread. */
uint64_t history_file_from(const struct history_file *file);

/* The newest date, in ms, of an id whose row may be in a gap; 0: there is no gap. The writer's
 * thread. */
uint64_t history_file_gap_ms(const struct history_file *file);

/* How many accounts there were at the newest gap; 0: there is none. The writer's thread. */
uint64_t history_file_gap_accounts(const struct history_file *file);

/* Whose rows these are: the state behind `applied`. It is written before a commit with that
 * sequence and is in that commit; sequence 0: there is none. The writer's thread. */
CC_MUST_USE struct hash_point *history_file_mark(struct history_file *file);

/* Begins a write; history_file_commit or history_file_cancel ends it. -EAGAIN: a cursor views a
 * commit that is older than the two newest. */
CC_MUST_USE int history_file_begin(struct history_file *file);

/* Adds a row of 1 to HISTORY_ROW_BYTES_MAX bytes with an index below UINT32_MAX. The same location
 * again replaces it. A piece of a candle in the last minute or hour of a gap is not added. */
CC_MUST_USE int history_file_put(struct history_file *file, const struct history_location *location,
                                 const void *row, size_t bytes);

/* Adds a gap: rows above `after` and up to `sequence`, of candles minutes or hours, will never be
 * there. */
CC_MUST_USE int history_file_put_gap(struct history_file *file, enum history_table table,
                                     uint64_t key, uint64_t sequence, uint64_t after);

/* Adds a gap to orders and the tables by id: ids of their rows up to `sequence` that will never be
 * there are dated `newest_ms` at most, and belong to the first `accounts` accounts. */
void history_file_put_id_gap(struct history_file *file, uint64_t sequence, uint64_t newest_ms,
                             uint64_t accounts);

/* Removes rows of the table and key whose locations have a lower sequence, the oldest first and at
 * most `most` of them. */
CC_MUST_USE int history_file_drop(struct history_file *file, enum history_table table, uint64_t key,
                                  uint64_t sequence, uint32_t most);

/* A write of its own: `applied` becomes the newest one at or below `sequence` whose mark the file
 * still has, and mark that one, or 0. Every row above is removed; a gap goes on below. Slow. */
CC_MUST_USE int history_file_go_back(struct history_file *file, uint64_t sequence);

/* Commits with this `applied`. After a failure the write has ended: nothing was written, or cursors
 * show it once a begin has succeeded, and `applied` is its own then. */
CC_MUST_USE int history_file_commit(struct history_file *file, uint64_t applied);
void history_file_cancel(struct history_file *file);

/* Makes all commits durable. */
CC_MUST_USE int history_file_sync(struct history_file *file);

#endif
