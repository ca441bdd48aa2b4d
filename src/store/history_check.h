/* history_check.h - whether the history's file is whole, before LMDB maps it.
 *
 *   meta pages ──> roots of tables ──> branch pages ──> leaf pages ──> rows
 *              └─> list of free pages
 *
 * LMDB trusts what is in its pages: a damaged one ends the process, or leads a read to other rows.
 * So each page that its trees reach is read first, as bytes with every number checked.
 *
 * Order.  It finds: a page that is another's, is reached twice or is also free; a key out of order;
 *         a row whose CRC is wrong; a table whose rows are not those that the head counts.
 * Wait.   Reads each page once; no page, however damaged, makes it read more.
 * Errors. 0: whole, or there is no file; -EBADMSG: damaged; else -errno. Nothing is logged. */
#ifndef STORE_HISTORY_CHECK_H
#define STORE_HISTORY_CHECK_H

#include "base/hash_vote.h"
#include "store/history_file.h"
#include "store/history_sums.h"

enum {
    HISTORY_LIST_KEY_BYTES = 20,
    HISTORY_KEY_BYTES_MAX = HISTORY_LIST_KEY_BYTES + HISTORY_PLACE_ID_BYTES,
    HISTORY_CRC_BYTES = 4,
    HISTORY_MARKS = 24,
};

/* The bytes of a key of the table; the last 12 are a sequence and an index. */
static inline size_t history_check_key_bytes(enum history_table table)
{
    return table < HISTORY_LISTS ? HISTORY_LIST_KEY_BYTES : HISTORY_KEY_BYTES_MAX;
}

/* Whether the slots of the table count minutes or hours. */
static inline bool history_check_is_timed(enum history_table table)
{
    return table == HISTORY_MINUTES || table == HISTORY_HOURS;
}

/* Whether a row of the table is written when it ends, to where it was placed or, of private events,
 * to the seq of the first. */
static inline bool history_check_is_placed(enum history_table table)
{
    return table == HISTORY_ORDERS || table == HISTORY_WITHDRAWALS || table == HISTORY_PRIVATE;
}

/* Whether the rows of the table, but no gap, begin with the sequence of their command. */
static inline bool history_check_has_sequence(enum history_table table)
{
    return history_check_is_placed(table) || history_check_is_timed(table);
}

/* The value of "head" in the table `head`. */
struct history_head {
    uint32_t format;
    uint32_t crc; /* of all, with 0 here */
    uint8_t exchange_id[HISTORY_ID_BYTES];
    uint64_t applied;
    uint64_t from;                          /* rows from this sequence on are all there */
    uint64_t rows[HISTORY_TABLES];          /* with gaps */
    uint64_t sums[HISTORY_TABLES];          /* of the CRCs of the rows */
    uint64_t gap_ms;                        /* history_file_gap_ms */
    uint64_t gap_accounts;                  /* history_file_gap_accounts */
    struct hash_point mark;                 /* history_file_mark */
    uint64_t marked;                        /* commits with another mark than the one before */
    struct hash_point marks[HISTORY_MARKS]; /* of these: at k, of 2^k to 2^(k + 1) before */
};

/* The CRC of a row in its slot. */
CC_MUST_USE uint32_t history_check_row_crc(enum history_table table, const uint8_t *key,
                                           const void *row, size_t bytes);
CC_MUST_USE uint32_t history_check_head_crc(const struct history_head *head);

/* What a check has passed over. */
struct history_totals {
    struct history_head head;       /* all 0: a file without a commit, or none */
    uint64_t pages[HISTORY_TABLES]; /* of 4,096 bytes, in use by each table */
    uint64_t file_bytes;
    bool is_there;
};

/* Checks the file at `path`. Fills *totals, if it is whole, and learns its pages into *sums; both
 * may be NULL. */
CC_MUST_USE int history_check(const char *path, struct history_totals *totals,
                              struct history_sums *sums);

#endif
