/* private_block.h - private events of one account that follow each other, as one row of the
 * history's file.
 *
 *   row     sequence u64[0] of the command of the last event, then events
 *   event   kind u8, changed words (5 bytes, bit k: word k of struct private_event), and of each of
 *           those: changed bytes (1 byte, bit k: byte k), then these
 *
 * What an event shares with those before it is not written: words of its head are compared with
 * the event before it, all others with the newest of its kind in the row, both zero at first, but
 * for account and seq. So an event takes about 50 bytes, not 272.
 *
 * Pure. A block belongs to one thread. */
#ifndef NODE_HISTORY_PRIVATE_BLOCK_H
#define NODE_HISTORY_PRIVATE_BLOCK_H

#include "base/private_log.h"

enum {
    PRIVATE_BLOCK_BYTES = 984, /* of a row, at most: four of them fill a page of the file */
    PRIVATE_BLOCK_EVENTS = 48, /* of a row, at most */
    PRIVATE_BLOCK_KINDS = PRIVATE_SESSION + 1,
};

struct private_block {
    uint64_t account_id;
    uint64_t first_seq;
    uint32_t count; /* events */
    uint32_t bytes; /* of the row */
    struct private_event last;
    struct private_event newest[PRIVATE_BLOCK_KINDS]; /* by kind */
    uint8_t row[PRIVATE_BLOCK_BYTES];
};

/* Makes it empty. Its first event will be that of the account with first_seq. */
void private_block_begin(struct private_block *block, uint64_t account_id, uint64_t first_seq);

/* Adds the event that follows. False: it is another's, does not follow, or does not fit; the block
 * is unchanged. An empty block has room for any event. */
CC_MUST_USE bool private_block_add(struct private_block *block, const struct private_event *event);

/* Reads a row of the account whose first event has first_seq. Returns how many events there are, at
 * least 1, or -EBADMSG: it is no such row. */
CC_MUST_USE int private_block_read(uint64_t account_id, uint64_t first_seq, const uint8_t *row,
                                   size_t bytes, struct private_event events[PRIVATE_BLOCK_EVENTS]);

#endif
