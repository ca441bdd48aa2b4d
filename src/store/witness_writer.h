/* witness_writer.h - the journal thread's writes to the file `witness`, beside its frames.
 *
 *   a frame is durable ──> due? ──> disk_submit(WITNESS_WRITER_TAG) ──> reaped: the slot counts
 *      due: first frame of a segment (the one before is sealed), the closing frame, or a second
 *      since the last write; without a new frame a minute since it, to tell the time
 *
 * Wait.   Nothing blocks but opening; no frame and no answer waits for a slot.
 * Owner.  The journal's thread.
 * Errors. As the journal's: -errno, and the journal is at fault. */
#ifndef STORE_WITNESS_WRITER_H
#define STORE_WITNESS_WRITER_H

#include "base/clock.h"
#include "store/frame.h"
#include "store/witness.h"

#define WITNESS_WRITER_TAG UINT64_MAX /* of disk_submit; frames have their numbers */

enum { WITNESS_INTERVAL_NS = 1000 * 1000 * 1000 };

#define WITNESS_IDLE_NS (60 * UINT64_C(1000000000))

struct witness_writer {
    struct disk *disk;
    const struct exchange_file *exchange;
    const struct clock *clock; /* NULL: written for segments and the closing frame only */
    uint64_t boot;
    struct slot_location location;
    uint64_t frame;      /* that the newest slot names */
    uint64_t segment;    /* of the frame that was submitted last */
    uint64_t written_ns; /* CLOCK_MONOTONIC of the last submission */
    uint8_t *bytes;      /* of the slot in flight */
    uint32_t at;         /* that slot */
    uint64_t flying;     /* the frame it names */
    bool in_flight;
    int file; /* -1: none */
};

/* Opens the file, which recovery has written: `location` and `tail` say what is in it. Returns 0 or
 * -errno; witness_writer_close is due either way. */
CC_MUST_USE int witness_writer_open(struct witness_writer *writer, const struct frame_tail *tail,
                                    uint64_t segment);
void witness_writer_close(struct witness_writer *writer);

/* Submits a slot that names `durable`, the last durable frame, if one is due. `is_last`: it is the
 * closing frame. Returns 1, 0 when none is due, or -errno. */
CC_MUST_USE int witness_writer_step(struct witness_writer *writer, const struct frame_tail *durable,
                                    uint64_t segment, bool is_last);

/* Takes the result of the write that was reaped. Returns 0 or -errno. */
CC_MUST_USE int witness_writer_done(struct witness_writer *writer, int64_t result);

#endif
