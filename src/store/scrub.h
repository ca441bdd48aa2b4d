/* scrub.h - reads what lies still, again and again: archived files, sealed segments, snapshots.
 * What no start would notice for years is told when it happens (journal.md, Scrub).
 *
 *   a round: list > each file, piece by piece at the rate, past the page cache > a round is done
 *
 * An archived file has the hash that the list names. A sealed segment has a whole header, frames
 * that chain, and zeros after them. A snapshot has a whole header and the image hash that it names.
 * A file that is gone when it was found wrong was retired, pruned or dropped meanwhile, and is
 * passed over. An archived file is read in both of its folders, and taken from the other if it is
 * wrong in one.
 *
 * Wait.   A step blocks for one read of SCRUB_PIECE_BYTES, and for lists when a round begins.
 * Owner.  One thread. The counters are read by any.
 * Bound.  Memory: SCRUB_ROOM_BYTES, and 16 bytes for each of SCRUB_FILES_MAX files. More files are
 *         left out of a round.
 */
#ifndef STORE_SCRUB_H
#define STORE_SCRUB_H

#include "base/published.h"
#include "store/archive_copy.h"
#include "store/frame.h"
#include "store/snapshot.h"

enum {
    SCRUB_PIECE_BYTES = 1 << 20,
    SCRUB_ROOM_BYTES = 3 << 20, /* a frame that begins in one piece, and the next piece */
    SCRUB_FILES_MAX = 1 << 16,
    SCRUB_TEXT_BYTES = 400,
};

enum scrub_kind { SCRUB_ARCHIVED, SCRUB_COPIED, SCRUB_SEGMENT, SCRUB_SNAPSHOT };

struct scrub_target {
    uint64_t number; /* of the segment; sequence of the snapshot */
    enum scrub_kind kind;
};

struct scrub_counters {
    struct published files;    /* read to their end */
    struct published bytes;    /* read */
    struct published faults;   /* files found wrong, each time */
    struct published mended;   /* taken from the archive's other place */
    struct published round_ns; /* clock_monotonic_ns at which the last round was done; 0: none */
    struct published rounds;   /* done */
};

struct scrub {
    struct disk *disk;
    const struct exchange_file *exchange;
    const struct archive_copy *copy; /* NULL: the archive has one folder */
    uint64_t rate;                   /* bytes a second */
    uint64_t open_segment; /* those below it are sealed (journal_written_segment); the owner's */
    struct scrub_target *targets;
    uint32_t count, next;
    struct archive archive; /* of the round */
    bool is_listed;
    char finding[SCRUB_TEXT_BYTES]; /* of the last step: file, bytes, what is wrong; empty: none */
    uint64_t due_ns;                /* of the next piece */
    /* The file that is being read. */
    int file; /* -1: none */
    struct disk *file_disk;
    uint64_t size, at;
    struct hash_state hash;
    struct snapshot_head head;
    uint8_t wanted[HASH_BYTES];
    uint8_t *room;          /* aligned */
    uint64_t room_at, held; /* of a segment: bytes in the room, and where they begin */
    uint64_t parsed;        /* offset after the last frame */
    struct frame_tail tail; /* of the segment */
    uint32_t block_bytes;
    bool has_ended; /* only zeros may follow */
    struct scrub_counters counters;
};

/* 0 or -ENOMEM. `copy` may be NULL; what is named outlives the scrub. */
CC_MUST_USE int scrub_init(struct scrub *scrub, struct disk *disk,
                           const struct exchange_file *exchange, const struct archive_copy *copy,
                           uint64_t rate);
void scrub_free(struct scrub *scrub);

/* In place of a round: this file alone, which is done with when `next` is 1. */
void scrub_alone(struct scrub *scrub, enum scrub_kind kind, uint64_t number);

/* Reads the next piece if it is due, and sets `finding`. Returns the work done; 0: nothing is
 * due. */
uint64_t scrub_step(struct scrub *scrub, uint64_t now_ns);

#endif
