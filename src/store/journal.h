/* journal.h - the writer of the journal: records from the matcher to the disk, group by group.
 *
 *   matcher                       journal thread                            answers, follower
 *   out = journal_reserve(n)      journal_step():
 *   record_encode(out, ..)          reap finished writes --- durable_seq -> release answers
 *   journal_publish() -- tail -->   gather what is there into a frame       journal_durable_seq()
 *        buffer     <-- gathered -- submit it, 1..4 in flight
 *
 * A frame takes whatever was published while the frames before it were in flight: group commit
 * without timers. `durable_seq` is the last sequence of the last frame that is durable together
 * with every frame before it, in whatever order the disk completes them (journal.md, Durable).
 *
 * Order.  publish stores `tail` with release, step loads it with acquire: a record that is seen
 *         is finished. step stores `gathered` with release, reserve loads it with acquire: room
 *         that is seen is free. `durable_seq` is stored with release by step and loaded with
 *         acquire anywhere.
 * Wait.   Nothing blocks. A full buffer makes reserve return NULL: roles.md, Flow control.
 * Owner.  reserve/publish: the matcher's thread. step: one thread. The rest: any thread.
 * Fault.  After a failed write or sync, or a short write, step returns the error for ever and
 *         nothing more becomes durable; the process must exit and restart through recovery.
 * Units.  Sequences count records from 1; buffer positions are bytes since start. */
#ifndef STORE_JOURNAL_H
#define STORE_JOURNAL_H

#include "store/disk.h"
#include "store/exchange_file.h"
#include "store/frame.h"
#include "store/frame_board.h"
#include "store/segment_pool.h"
#include "store/witness_writer.h"

enum journal_durability {
    JOURNAL_NONE,            /* durable_seq follows what was handed to the kernel; durable_frame
                                stays */
    JOURNAL_LOCAL,           /* durable_seq follows the medium */
    JOURNAL_REPLICATED,      /* durable_seq follows the frames that count; written here as well */
    JOURNAL_REPLICATED_LOCAL /* the lower of both */
};

/* A build with a sanitizer has less: it marks every byte of it at each start and end. */
#ifndef STORE_BUFFER_BYTES
#define STORE_BUFFER_BYTES (64 << 20)
#endif
enum {
    JOURNAL_FRAMES_MAX = 4,  /* in flight, without a cluster */
    JOURNAL_WINDOW_MAX = 16, /* in a cluster, unreleased */
    JOURNAL_SLOTS_MAX = 16,
    JOURNAL_BUFFER_BYTES_DEFAULT = STORE_BUFFER_BYTES,
    JOURNAL_BUFFER_BYTES_MIN = 1 << 14, /* two of the largest records */
    JOURNAL_GROUP_BYTES_DEFAULT = 16384 /* see journal_config.group_bytes */
};

/* Where the journal continues: what recovery found, or frame_tail_start in a new directory. */
struct journal_position {
    struct frame_tail tail;
    uint64_t segment; /* number */
    uint64_t offset;  /* of the next frame: SEGMENT_FRAMES_OFFSET..segment_bytes */
};

struct journal_config {
    struct disk *disk;
    const struct exchange_file *exchange; /* outlives the journal */
    struct segment_pool *pool;            /* whose first segment is position.segment */
    struct journal_position position;
    struct slot_location witness; /* what recovery wrote to `witness` */
    const struct clock *clock;    /* for the witness; NULL: none is due by time */
    struct frame_board *frames;   /* gets each durable frame, but with durability none; NULL */
    enum journal_durability durability;
    uint64_t boot;         /* of this start */
    uint64_t buffer_bytes; /* a power of two */
    uint32_t segment_bytes;
    uint32_t frames_in_flight; /* 1..JOURNAL_FRAMES_MAX; in a cluster the window, at most
                                  JOURNAL_WINDOW_MAX */
    uint32_t group_bytes;      /* published bytes that open a further frame while one is in flight;
                                  with none in flight one record is enough */
    uint32_t frame_bytes_max;  /* 0: FRAME_BYTES_MAX; tests take less */
};

/* Totals since start, for metrics; each is exact, together they are not one instant. */
struct journal_counters {
    uint64_t frames; /* submitted */
    uint64_t records;
    uint64_t record_bytes;
    uint64_t written_bytes; /* frames with headers and padding */
    uint64_t segments;      /* begun */
    uint64_t full;          /* reserves that found no room */
    uint64_t starved;       /* steps that had records and no segment */
    uint32_t in_flight;     /* frames, now */
};

struct journal;

/* Allocates the buffer and the frames and touches them. Returns NULL without memory. */
CC_MUST_USE struct journal *journal_create(const struct journal_config *config);

/* Waits for writes in flight, ignores their outcome and frees everything. A simulator crashes its
 * disk first, then destroys what used it. */
void journal_destroy(struct journal *journal);

/* Reserves room for one record of `bytes` (8..RECORD_BYTES_MAX, a multiple of 8), 8-aligned.
 * Returns NULL while the buffer is full. The room is the caller's until journal_publish or the
 * next reserve. Reserve before applying a command, so that an applied command can always be
 * journalled. */
CC_MUST_USE uint8_t *journal_reserve(struct journal *journal, uint32_t bytes);

/* Publishes the record that was written into the reserved room. Its sequence is one higher than the
 * last one's: position.tail.last_sequence + number of records published. */
void journal_publish(struct journal *journal);

/* Runs one turn: reap, advance, gather, submit. Returns the work done (0: none) or the fault,
 * -errno. */
CC_MUST_USE int journal_step(struct journal *journal);

/* True when a turn could do nothing before the next publish: nothing is in flight, nothing is
 * published, and no stop has begun. The journal's thread may then sleep, after it has set its flag
 * and asked once more. Journal thread. */
CC_MUST_USE bool journal_idle(const struct journal *journal);

/* Returns how many published bytes let the next turn open a frame: 1 when none is in flight, else
 * group_bytes; UINT64_MAX when it needs a completion first. Journal thread. */
CC_MUST_USE uint64_t journal_wanted_bytes(const struct journal *journal);

/* Returns the published bytes that are in no frame yet, or a larger number. Matcher's thread. */
CC_MUST_USE uint64_t journal_waiting_bytes(const struct journal *journal);

/* Returns the last sequence that may be shown or answered; 0: none. Acquire. */
CC_MUST_USE uint64_t journal_durable_seq(const struct journal *journal);

/* Begins a clean stop. Nothing may be published afterwards; step writes the remaining records and
 * then the closing frame. journal_stopped becomes true once that frame is durable and the witness
 * names it. The frame waits
 * while the pool has no segment; a caller that cannot wait exits without it, as after a crash. */
void journal_stop(struct journal *journal);
CC_MUST_USE bool journal_stopped(const struct journal *journal);

/* Returns the last frame of the chain, once journal_stopped. */
CC_MUST_USE struct frame_tail journal_tail(const struct journal *journal);

/* Asks that the next frame begins a segment, if the open one has a frame and two are prepared:
 * then the open one is sealed when that frame is written. Only a journal that forms frames does it.
 * Any thread. */
void journal_seal(struct journal *journal);

/* Returns the segment of the last frame that is in its file; those below it are sealed. Acquire. */
CC_MUST_USE uint64_t journal_written_segment(const struct journal *journal);

/* The fault, 0 while there is none. */
CC_MUST_USE int journal_error(const struct journal *journal);

CC_MUST_USE struct journal_counters journal_counters(const struct journal *journal);

/* ---- for follow.c only ---------------------------------------------------------------------- */

/* Copies the record at buffer position `position` into `out` (RECORD_BYTES_MAX). Returns its
 * length, 0 if nothing durable is there yet, -EOVERFLOW if it was overwritten. */
CC_MUST_USE int journal_copy(const struct journal *journal, uint64_t position, uint8_t *out);

/* Returns a sequence up to which all bytes are in the segment files. Acquire. */
CC_MUST_USE uint64_t journal_written_seq(const struct journal *journal);

/* What the journal was made with. */
CC_MUST_USE const struct journal_config *journal_config_of(const struct journal *journal);

#endif
