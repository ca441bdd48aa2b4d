/* history_find.h - rows of the history's file by their id, and what a start asks of it.
 *
 * Owner.  The follower's thread, before it the one that recovers. history_keep_end ends the view
 *         that these functions begin.
 * Errors. As history_keep.h. */
#ifndef NODE_HISTORY_HISTORY_FIND_H
#define NODE_HISTORY_HISTORY_FIND_H

#include "node/history/history_keep.h"

struct candle_log;
struct candle_row;
struct order_row;
struct request_row;

/* The newest request of the account and id (16 bytes) in the file, and its *results, as many as
 * it counts. With HISTORY_OLDER_LOST nothing is known of the id, and *lost is as above. The row and
 * its results are valid until the next call of this or history_keep_below. */
enum history_older history_find_request(struct history_keep *keep, uint64_t account_id,
                                        const uint8_t *id, const struct request_row **row,
                                        const uint8_t **results, uint64_t *lost);

/* The newest ended order of the account with this id (16 bytes) in the file. As above. */
enum history_older history_find_order(struct history_keep *keep, uint64_t account_id,
                                      const uint8_t *id, const struct order_row **row,
                                      uint64_t *lost);

/* The newest piece of a candle of the market below (*bucket, number) in the file. *bucket becomes
 * that of the row or, with HISTORY_OLDER_LOST, of the end of the gap; *lost is as above. The row is
 * valid until the next call of one of these. */
enum history_older history_find_piece(struct history_keep *keep, enum history_table table,
                                      uint16_t asset_id, uint64_t *bucket, uint32_t number,
                                      const struct candle_row **row, uint64_t *lost);

/* Makes the market's open pieces as they were at a sequence, for a start from a snapshot of it. If
 * the file does not reach so far, or has a gap there, they begin with what is known. */
void history_find_candles(struct history_keep *keep, struct candle_log *log, uint16_t asset_id,
                          uint64_t sequence);

/* REJECTED placements that the account had up to a sequence, as far as the file knows. */
uint64_t history_find_refusals(struct history_keep *keep, uint64_t account_id, uint64_t sequence);

#endif
