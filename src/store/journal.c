#include "store/journal.h"

#include <errno.h>
#include <stdlib.h>

#include "store/journal_state.h"

enum {
    DRAIN_TURNS = 100, /* of journal_destroy */
    DRAIN_TURN_NS = 100 * 1000000
};

/* ---- the matcher's side ---------------------------------------------------------------------- */

uint8_t *journal_reserve(struct journal *journal, uint32_t bytes)
{
    uint64_t tail = LOAD(journal->tail, relaxed); /* relaxed: only this thread writes it */
    uint64_t end = tail + bytes;

    INVARIANT(bytes >= 8 && bytes <= RECORD_BYTES_MAX && bytes % 8 == 0);
    if (end - journal->gathered_seen > journal->config.buffer_bytes) {
        journal->gathered_seen = LOAD(journal->gathered, acquire); /* pairs: gather */
        if (end - journal->gathered_seen > journal->config.buffer_bytes) {
            STORE(journal->full, LOAD(journal->full, relaxed) + 1, relaxed);
            return NULL;
        }
    }
    journal->reserved_bytes = bytes;
    return journal->scratch;
}

void journal_publish(struct journal *journal)
{
    uint64_t tail = LOAD(journal->tail, relaxed);
    uint64_t end = tail + journal->reserved_bytes;

    INVARIANT(journal->reserved_bytes > 0);
    INVARIANT(!LOAD(journal->stopping, relaxed));
    INVARIANT(cc_load32(journal->scratch + 8) == journal->reserved_bytes);
    /* Relaxed is enough: each word below is a release, so a reader that saw one sees this. */
    STORE(journal->claimed, end, relaxed);
    record_buffer_put(&journal->buffer, tail, journal->scratch,
                      journal->reserved_bytes); /* pairs: journal_copy */
    STORE(journal->tail, end, release);         /* pairs: gather */
    journal->reserved_bytes = 0;
}

void journal_stop(struct journal *journal)
{
    STORE(journal->stopping, true, release); /* pairs: journal_step */
}

/* ---- completions ----------------------------------------------------------------------------- */

/* The sequence first: who finds a record, here or in the file, finds it durable. */
void journal_release(struct journal *journal, const struct flight *flight)
{
    if (journal->config.frames != NULL && journal->config.durability != JOURNAL_NONE)
        frame_board_add(journal->config.frames, &flight->header, flight->tail.hash);
    STORE(journal->durable_seq, flight->header.last_sequence, release); /* pairs: its readers */
    STORE(journal->durable_position, flight->end_position, release);    /* pairs: journal_copy */
}

/* The oldest frames that are done leave, in order; the first that is not holds the later ones. */
static int flights_retire(struct journal *journal)
{
    int work = 0;

    while (journal->flight_count > 0 && flight_at(journal, 0)->done) {
        struct flight *flight = flight_at(journal, 0);

        if (journal->config.durability != JOURNAL_NONE) {
            if (journal_is_clustered(journal) && journal->released == 0)
                break; /* it is here, but does not count yet */
            journal->released -= journal_is_clustered(journal);
            journal->durable = flight->tail;
            journal->durable_segment = flight->header.segment;
            if (journal->config.durability == JOURNAL_LOCAL)
                journal_release(journal, flight);
        }
        STORE(journal->written_seq, flight->header.last_sequence, release); /* pairs: its reader */
        STORE(journal->written_segment, flight->header.segment, release);   /* pairs: its reader */
        if (flight->closes_file)
            disk_close(journal->config.disk, flight->file);
        journal->closed = flight->header.record_count == 0;
        journal->flight_first = (journal->flight_first + 1) & (journal->slot_count - 1);
        journal->flight_count--;
        work++;
    }
    STORE(journal->counters.in_flight, journal->flight_count, relaxed);
    return work;
}

/* A tag is the place in flights[]. */
static struct flight *flight_of(struct journal *journal, uint64_t tag)
{
    INVARIANT(tag < journal->slot_count);
    INVARIANT(((tag - journal->flight_first) & (journal->slot_count - 1)) < journal->flight_count);
    return &journal->flights[tag];
}

static int completions_reap(struct journal *journal)
{
    struct disk_done done[DISK_WRITES_MAX];
    int count;

    if (journal->flight_count == 0 && !journal->witness.in_flight)
        return 0;
    count = disk_reap(journal->config.disk, done, CC_COUNT(done));
    for (int i = 0; i < count; i++) {
        if (done[i].tag == WITNESS_WRITER_TAG) {
            int error = witness_writer_done(&journal->witness, done[i].result);

            if (error < 0)
                return error;
            continue;
        }
        struct flight *flight = flight_of(journal, done[i].tag);

        INVARIANT(!flight->done);
        if (done[i].result < 0)
            return (int)done[i].result;
        if (done[i].result != flight->length)
            return -EIO; /* a short write: what follows it is not known */
        flight->done = true;
    }
    return count;
}

/* Tells the witness, and ends a stop once that has named the closing frame. With `none` nothing was
 * promised, and the witness keeps what the start found. 1: submitted; 0; -errno. */
static int witness_report(struct journal *journal)
{
    struct witness_writer *witness = &journal->witness;
    bool is_told = journal->config.durability == JOURNAL_NONE;
    int work = 0;

    if (!is_told) {
        work = witness_writer_step(witness, &journal->durable, journal->durable_segment,
                                   journal->closed);
        is_told = witness->frame == journal->durable.number && !witness->in_flight;
    }
    if (work == 0 && is_told && journal->closed && journal->closing) /* not an adopted one */
        STORE(journal->stopped, true, release);
    return work;
}

/* ---- gathering ------------------------------------------------------------------------------- */

/* Bytes on disk of a frame of so many record bytes. */
static uint32_t frame_length(const struct journal *journal, uint32_t record_bytes)
{
    uint32_t block = journal->block_bytes;

    return (FRAME_HEADER_BYTES + record_bytes + block - 1) / block * block;
}

int journal_provide_segment(struct journal *journal, uint32_t record_bytes)
{
    uint32_t length = frame_length(journal, record_bytes);
    bool fits = journal->file >= 0 && journal->offset + length <= journal->config.segment_bytes;
    /* A leader leaves one ready for what fills the next. */
    bool seals = fits && journal->offset > SEGMENT_FRAMES_OFFSET &&
                 LOAD(journal->seal_wanted, relaxed) &&
                 segment_pool_ready(journal->config.pool) > (journal->leads ? 1U : 0U);
    uint32_t block_bytes = 0;
    int file;

    if (fits && !seals)
        return 1;
    file = segment_pool_pop(journal->config.pool, journal->segment + (journal->file >= 0),
                            &block_bytes);
    if (file == -EAGAIN)
        return fits; /* a seal waits until a segment is ready; nothing waits for a seal */
    if (file < 0)
        return file;
    if (journal->file >= 0) {
        STORE(journal->seal_wanted, false, relaxed);
        struct flight *last = flight_at(journal, journal->flight_count - 1);

        if (journal->flight_count > 0 && last->file == journal->file)
            last->closes_file = true;
        else
            disk_close(journal->config.disk, journal->file);
        journal->segment++;
        journal->offset = SEGMENT_FRAMES_OFFSET;
    }
    journal->file = file;
    if (block_bytes < journal->block_min)
        block_bytes = journal->block_min;
    journal->block_bytes = block_bytes;
    STORE(journal->counters.segments, LOAD(journal->counters.segments, relaxed) + 1, relaxed);
    /* A position left by a device of smaller blocks: the rest of that segment stays zero. */
    if (journal->offset % block_bytes != 0)
        journal->offset = journal->config.segment_bytes;
    return journal_provide_segment(journal, record_bytes);
}

static void counters_add(struct journal *journal, const struct frame_header *header)
{
    struct counters *counters = &journal->counters;

    STORE(counters->frames, LOAD(counters->frames, relaxed) + 1, relaxed);
    STORE(counters->records, LOAD(counters->records, relaxed) + header->record_count, relaxed);
    STORE(counters->record_bytes, LOAD(counters->record_bytes, relaxed) + header->record_bytes,
          relaxed);
    STORE(counters->written_bytes, LOAD(counters->written_bytes, relaxed) + header->length,
          relaxed);
    STORE(counters->in_flight, journal->flight_count, relaxed);
}

void journal_chain(struct journal *journal, struct flight *flight,
                   const struct frame_header *header, const uint8_t *bytes, uint64_t end_position)
{
    frame_tail_advance(&journal->tail_frame, header, bytes);
    flight->header = *header;
    flight->tail = journal->tail_frame;
    flight->end_position = end_position;
    journal->offset += header->length;
    counters_add(journal, header);
    STORE(journal->gathered, end_position, release); /* pairs: journal_reserve */
}

int journal_write(struct journal *journal, const struct flight *flight)
{
    return disk_submit(journal->config.disk, flight->file, flight->offset, flight->bytes,
                       flight->length, (uint64_t)(flight - journal->flights),
                       journal->config.durability != JOURNAL_NONE);
}

/* Makes the sealed frame in the next free flight the chain's last, and hands it to the disk.
 * `end_position`: in the buffer, after its last record. 0 or -errno. */
static int launch(struct journal *journal, const struct frame_header *header, uint64_t end_position)
{
    struct flight *flight = flight_at(journal, journal->flight_count);
    int error;

    INVARIANT(journal->flight_count < journal->slot_count);
    INVARIANT(journal->offset + header->length <= journal->config.segment_bytes);
    flight->offset = journal->offset;
    flight->length = header->length;
    flight->file = journal->file;
    flight->closes_file = false;
    flight->done = false;
    error = journal_write(journal, flight);
    if (error < 0)
        return error;
    journal->flight_count++;
    journal_chain(journal, flight, header, flight->bytes, end_position);
    if (journal->config.durability == JOURNAL_NONE)
        journal_release(journal, flight);
    return 0;
}

/* Builds the frame of the `record_bytes` at `position` and hands it to the disk. */
static int frame_submit(struct journal *journal, uint64_t position, uint32_t record_bytes,
                        uint32_t record_count)
{
    struct flight *flight = flight_at(journal, journal->flight_count);
    uint32_t length = frame_length(journal, record_bytes);
    uint32_t used = FRAME_HEADER_BYTES + record_bytes;
    struct frame_header header = {
        .boot = journal->config.boot,
        .segment = journal->segment,
        .number = journal->tail_frame.number + 1,
        .first_sequence = journal->tail_frame.last_sequence + 1,
        .last_sequence = journal->tail_frame.last_sequence + record_count,
        .durable_frame =
            journal_is_clustered(journal) ? journal->released_frame : journal->durable.number,
        .length = length,
        .record_count = record_count,
        .record_bytes = record_bytes,
    };

    memcpy(header.journal_id, journal->config.exchange->journal_id, sizeof header.journal_id);
    memcpy(header.previous_hash, journal->tail_frame.hash, sizeof header.previous_hash);
    record_buffer_copy(&journal->buffer, position, flight->bytes + FRAME_HEADER_BYTES,
                       record_bytes);
    memset(flight->bytes + used, 0, length - used);
    frame_seal(flight->bytes, &header);
    return launch(journal, &header, position + record_bytes);
}

/* One frame of what was published. 1: submitted; 0: nothing to do, or no room; -errno. */
static int gather(struct journal *journal)
{
    uint64_t position = LOAD(journal->gathered, relaxed); /* relaxed: only this thread writes it */
    uint64_t tail = LOAD(journal->tail, acquire);         /* pairs: journal_publish */
    uint32_t record_count;
    uint32_t record_bytes;
    int error;

    if (tail == position || !journal->leads ||
        journal_in_flight(journal) >= journal->config.frames_in_flight)
        return 0;
    if (journal_in_flight(journal) > 0 && tail - position < journal->config.group_bytes)
        return 0;
    if (journal_is_clustered(journal) && !journal_cluster_has_slot(journal))
        return 0;
    record_bytes =
        record_buffer_measure(&journal->buffer, position, tail,
                              journal->frame_bytes_max - FRAME_HEADER_BYTES, &record_count);
    INVARIANT(record_count > 0);
    error = journal_provide_segment(journal, record_bytes);
    if (error == 0)
        STORE(journal->counters.starved, LOAD(journal->counters.starved, relaxed) + 1, relaxed);
    if (error <= 0)
        return error;
    error = frame_submit(journal, position, record_bytes, record_count);
    return error < 0 ? error : 1;
}

/* The closing frame of a clean stop, once everything before it is durable. */
static int close_chain(struct journal *journal)
{
    uint64_t position = LOAD(journal->gathered, relaxed);
    int error;

    if (journal->closing || journal->flight_count > 0 || LOAD(journal->tail, acquire) != position)
        return 0;
    error = journal_provide_segment(journal, 0);
    if (error <= 0)
        return error;
    error = frame_submit(journal, position, 0, 0);
    journal->closing = error == 0;
    return error < 0 ? error : 1;
}

int journal_step(struct journal *journal)
{
    /* Before `tail` is looked at: what was published before the stop is seen with it. */
    bool stopping = LOAD(journal->stopping, acquire); /* pairs: journal_stop */
    int work;
    int done;

    if (LOAD(journal->error, relaxed) != 0)
        return LOAD(journal->error, relaxed);
    work = completions_reap(journal);
    if (work < 0)
        return journal_fault(journal, work);
    if (journal_is_clustered(journal))
        work += journal_cluster_release(journal);
    (void)flights_retire(journal);
    done = journal_is_clustered(journal) ? journal_cluster_write(journal) : 0;
    if (done < 0)
        return journal_fault(journal, done);
    work += done;
    done = witness_report(journal);
    if (done < 0)
        return journal_fault(journal, done);
    work += done;
    do {
        done = gather(journal);
        work += done;
    } while (done > 0);
    if (done == 0 && stopping) {
        done = close_chain(journal);
        work += done;
    }
    return done < 0 ? journal_fault(journal, done) : work;
}

/* ---- what others see ------------------------------------------------------------------------- */

bool journal_idle(const struct journal *journal)
{
    if (LOAD(journal->error, acquire) != 0)
        return true;
    return journal->flight_count == 0 && !journal->witness.in_flight &&
           LOAD(journal->tail, acquire) == LOAD(journal->gathered, relaxed) &&
           (!LOAD(journal->stopping, acquire) || LOAD(journal->stopped, relaxed));
}

uint64_t journal_wanted_bytes(const struct journal *journal)
{
    uint32_t in_flight = journal_in_flight(journal);

    if (in_flight >= journal->config.frames_in_flight)
        return UINT64_MAX;
    return in_flight == 0 ? 1 : journal->config.group_bytes;
}

uint64_t journal_waiting_bytes(const struct journal *journal)
{
    /* relaxed: the caller's own. Acquire: an older `gathered` only makes it more. */
    return LOAD(journal->tail, relaxed) - LOAD(journal->gathered, acquire);
}

uint64_t journal_durable_seq(const struct journal *journal)
{
    return LOAD(journal->durable_seq, acquire); /* pairs: journal_release */
}

uint64_t journal_written_seq(const struct journal *journal)
{
    return LOAD(journal->written_seq, acquire); /* pairs: flights_retire */
}

void journal_seal(struct journal *journal)
{
    STORE(journal->seal_wanted, true, relaxed); /* orders nothing: the next frame or a later one */
}

uint64_t journal_written_segment(const struct journal *journal)
{
    return LOAD(journal->written_segment, acquire); /* pairs: flights_retire */
}

bool journal_stopped(const struct journal *journal)
{
    return LOAD(journal->stopped, acquire);
}

struct frame_tail journal_tail(const struct journal *journal)
{
    INVARIANT(journal_stopped(journal));
    return journal->tail_frame;
}

int journal_error(const struct journal *journal)
{
    return LOAD(journal->error, acquire);
}

struct journal_counters journal_counters(const struct journal *journal)
{
    const struct counters *counters = &journal->counters;

    return (struct journal_counters){
        .frames = LOAD(counters->frames, relaxed),
        .records = LOAD(counters->records, relaxed),
        .record_bytes = LOAD(counters->record_bytes, relaxed),
        .written_bytes = LOAD(counters->written_bytes, relaxed),
        .segments = LOAD(counters->segments, relaxed),
        .full = LOAD(journal->full, relaxed),
        .starved = LOAD(counters->starved, relaxed),
        .in_flight = LOAD(counters->in_flight, relaxed),
    };
}

const struct journal_config *journal_config_of(const struct journal *journal)
{
    return &journal->config;
}

/* The matcher may overwrite the words while they are copied. It announces that in `claimed` before
 * the first of them, and each word is stored with release and loaded with acquire: a copy that
 * holds one new word is followed by a load that sees the announcement. No lock, no fence, and no
 * race in the language's sense. */
int journal_copy(const struct journal *journal, uint64_t position, uint8_t *out)
{
    const uint64_t capacity = journal->config.buffer_bytes;
    uint32_t length;

    if (position >= LOAD(journal->durable_position, acquire)) /* pairs: journal_release */
        return 0;
    length = record_buffer_length(&journal->buffer, position);
    if (LOAD(journal->claimed, relaxed) > position + capacity) /* relaxed: ordered, see above */
        return -EOVERFLOW;
    INVARIANT(length >= RECORD_HEADER_BYTES && length % 8 == 0 && length <= RECORD_BYTES_MAX);
    record_buffer_load(&journal->buffer, position, out, length);
    if (LOAD(journal->claimed, relaxed) > position + capacity)
        return -EOVERFLOW;
    return (int)length;
}

/* ---- life ------------------------------------------------------------------------------------ */

static void memory_free(struct journal *journal)
{
    for (uint32_t i = 0; i < journal->slot_count; i++)
        free(journal->flights[i].bytes);
    record_buffer_free(&journal->buffer);
    free(journal);
}

static void config_check(const struct journal_config *config)
{
    INVARIANT(config->buffer_bytes >= JOURNAL_BUFFER_BYTES_MIN &&
              (config->buffer_bytes & (config->buffer_bytes - 1)) == 0);
    INVARIANT(
        config->frames_in_flight >= 1 &&
        config->frames_in_flight <=
            (config->durability >= JOURNAL_REPLICATED ? JOURNAL_WINDOW_MAX : JOURNAL_FRAMES_MAX));
    INVARIANT(config->segment_bytes >= SEGMENT_BYTES_MIN);
    INVARIANT(config->position.offset >= SEGMENT_FRAMES_OFFSET &&
              config->position.offset <= config->segment_bytes);
    INVARIANT(config->boot > config->position.tail.boot ||
              config->durability >= JOURNAL_REPLICATED); /* there the term counts */
}

static uint32_t frame_limit(const struct journal_config *config)
{
    uint32_t limit = config->frame_bytes_max ? config->frame_bytes_max : FRAME_BYTES_MAX;

    if (limit > FRAME_BYTES_MAX)
        limit = FRAME_BYTES_MAX;
    if (limit > config->segment_bytes - SEGMENT_FRAMES_OFFSET)
        limit = config->segment_bytes - SEGMENT_FRAMES_OFFSET;
    limit -= limit % DISK_BLOCK_BYTES_MAX;
    INVARIANT(limit >= FRAME_HEADER_BYTES + RECORD_BYTES_MAX);
    return limit;
}

struct journal *journal_create(const struct journal_config *config)
{
    struct journal *journal = aligned_alloc(alignof(struct journal), sizeof *journal);
    bool complete;

    config_check(config);
    if (!journal)
        return NULL;
    memset(journal, 0, sizeof *journal);
    journal->config = *config;
    journal->frame_bytes_max = frame_limit(config);
    journal->slot_count = JOURNAL_FRAMES_MAX;
    journal->block_min = config->disk->block_bytes;
    journal->leads = true;
    uint32_t flight_bytes = journal->frame_bytes_max;
    if (journal_is_clustered(journal))
        flight_bytes = journal_cluster_join(journal);
    complete = record_buffer_make(&journal->buffer, config->buffer_bytes);
    for (uint32_t i = 0; i < journal->slot_count; i++) {
        journal->flights[i].bytes = aligned_alloc(DISK_ALIGNMENT, flight_bytes);
        complete = complete && journal->flights[i].bytes;
    }
    if (!complete) {
        memory_free(journal);
        return NULL;
    }
    /* Every page is touched here, so that none is faulted in beside a command. */
    for (uint32_t i = 0; i < journal->slot_count; i++)
        memset(journal->flights[i].bytes, 0, flight_bytes);
    journal->file = -1;
    journal->block_bytes = journal->block_min;
    journal->segment = config->position.segment;
    journal->offset = config->position.offset;
    journal->tail_frame = config->position.tail;
    journal->durable = config->position.tail;
    journal->durable_segment = config->position.segment;
    journal->witness = (struct witness_writer){ .disk = config->disk,
                                                .exchange = config->exchange,
                                                .clock = config->clock,
                                                .boot = config->boot,
                                                .location = config->witness };
    int error = witness_writer_open(&journal->witness, &journal->durable, journal->segment);
    if (error < 0)
        atomic_init(&journal->error, error);
    atomic_init(&journal->durable_seq, config->position.tail.last_sequence);
    atomic_init(&journal->written_seq, config->position.tail.last_sequence);
    atomic_init(&journal->written_segment, config->position.segment);
    return journal;
}

/* Waits until the disk reads the frames no more; false if it never said so. */
static bool flights_drain(struct journal *journal)
{
    struct disk *disk = journal->config.disk;
    struct disk_done done[DISK_WRITES_MAX];
    uint32_t left = journal->flight_count + journal->witness.in_flight;

    for (uint32_t i = 0; i < journal->flight_count; i++)
        left -= flight_at(journal, i)->done || flight_at(journal, i)->is_waiting;
    for (int turn = 0; turn < DRAIN_TURNS && left > 0; turn++) {
        int count = disk_reap(disk, done, CC_COUNT(done));

        if (count > 0)
            left -= (uint32_t)count;
        else if (count < 0 || disk_wait(disk, -1, DRAIN_TURN_NS) == -ENOENT)
            return count == 0; /* -ENOENT: they died with a simulated process */
    }
    return left == 0;
}

void journal_destroy(struct journal *journal)
{
    struct disk *disk = journal->config.disk;

    if (!flights_drain(journal))
        return; /* the disk may still read the frames: they are left to it */
    for (uint32_t i = 0; i < journal->flight_count; i++) {
        struct flight *flight = flight_at(journal, i);

        if (flight->closes_file)
            disk_close(disk, flight->file);
    }
    witness_writer_close(&journal->witness);
    if (journal->file >= 0)
        disk_close(disk, journal->file);
    memory_free(journal);
}
