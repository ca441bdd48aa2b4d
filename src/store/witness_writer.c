#include "store/witness_writer.h"

#include <errno.h>
#include <stdlib.h>

int witness_writer_open(struct witness_writer *writer, const struct frame_tail *tail,
                        uint64_t segment)
{
    writer->frame = tail->number;
    writer->segment = segment;
    writer->written_ns = writer->clock != NULL ? clock_monotonic_ns(writer->clock) : 0;
    writer->file = -1;
    writer->bytes = aligned_alloc(DISK_ALIGNMENT, SLOT_BYTES);
    if (writer->bytes == NULL)
        return -ENOMEM;
    writer->file = disk_open(writer->disk, "witness", DISK_WRITE | DISK_DIRECT);
    return writer->file < 0 ? writer->file : 0;
}

void witness_writer_close(struct witness_writer *writer)
{
    if (writer->file >= 0)
        disk_close(writer->disk, writer->file);
    free(writer->bytes);
}

static bool is_due(const struct witness_writer *writer, uint64_t segment, bool is_last)
{
    if (is_last || segment != writer->segment)
        return true;
    return writer->clock != NULL &&
           clock_monotonic_ns(writer->clock) - writer->written_ns >= WITNESS_INTERVAL_NS;
}

/* Whether the newest slot is to be written again, for its time: no frame has come since. */
static bool is_old(const struct witness_writer *writer, const struct frame_tail *durable)
{
    return writer->clock != NULL && durable->number == writer->frame && durable->number != 0 &&
           clock_monotonic_ns(writer->clock) - writer->written_ns >= WITNESS_IDLE_NS;
}

int witness_writer_step(struct witness_writer *writer, const struct frame_tail *durable,
                        uint64_t segment, bool is_last)
{
    struct witness witness = { .frame = durable->number,
                               .sequence = durable->last_sequence,
                               .boot = writer->boot };

    if (writer->in_flight || (durable->number > writer->frame ? !is_due(writer, segment, is_last)
                                                              : !is_old(writer, durable)))
        return 0;
    if (writer->clock != NULL) {
        witness.wall_ns = clock_now_ns(writer->clock);
        writer->written_ns = clock_monotonic_ns(writer->clock);
    }
    memcpy(witness.hash, durable->hash, sizeof witness.hash);
    witness_encode(writer->bytes, writer->exchange, &witness);
    writer->at = witness_seal(writer->bytes, &writer->location);
    writer->flying = durable->number;
    writer->segment = segment;
    int error = disk_submit(writer->disk, writer->file, (uint64_t)writer->at * SLOT_BYTES,
                            writer->bytes, SLOT_BYTES, WITNESS_WRITER_TAG, true);
    writer->in_flight = error == 0;
    return error == 0 ? 1 : error;
}

int witness_writer_done(struct witness_writer *writer, int64_t result)
{
    INVARIANT(writer->in_flight);
    writer->in_flight = false;
    if (result < 0)
        return (int)result;
    if (result != SLOT_BYTES)
        return -EIO;
    writer->location =
        (struct slot_location){ .counter = writer->location.counter + 1, .at = writer->at };
    writer->frame = writer->flying;
    return 0;
}
