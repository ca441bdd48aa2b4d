#include "store/journal.h"

#include <errno.h>
#include <stdlib.h>

#include "store/record_buffer.h"

#define LOAD(place, order)         atomic_load_explicit(&(place), memory_order_##order)
#define STORE(place, value, order) atomic_store_explicit(&(place), value, memory_order_##order)

enum {
    DRAIN_TURNS = 100, /* of journal_destroy */
    DRAIN_TURN_NS = 100 * 1000000
};

/* A frame in flight. */
struct flight {
    uint8_t *bytes; /* frame_bytes_max, aligned for direct writes */
    struct frame_header header;
    struct frame_tail tail; /* the frame itself */
    uint64_t end_position;  /* in the buffer, after its last record */
    int file;
    bool closes_file; /* it is the last frame of its segment */
    bool done;        /* reaped */
};

/* Counters are written by the journal thread (`full`: by the matcher's) and read by any. */
struct counters {
    _Atomic uint64_t frames;
    _Atomic uint64_t records;
    _Atomic uint64_t record_bytes;
    _Atomic uint64_t written_bytes;
    _Atomic uint64_t segments;
    _Atomic uint64_t starved;
    _Atomic uint32_t in_flight;
};

struct journal {
    struct journal_config config;
    struct record_buffer buffer;
    uint32_t frame_bytes_max;

    /* The matcher's. `claimed` announces what the coming words overwrite: see journal_copy. */
    CC_NO_SHARE _Atomic uint64_t tail;
    _Atomic uint64_t claimed;
    _Atomic uint64_t full;
    uint64_t gathered_seen;
    uint32_t reserved_bytes;
    _Atomic bool stopping;
    alignas(8) uint8_t scratch[RECORD_BYTES_MAX];

    /* The journal thread's, read by others. */
    CC_NO_SHARE _Atomic uint64_t gathered;
    _Atomic uint64_t durable_position;
    _Atomic uint64_t durable_seq;
    _Atomic uint64_t written_seq;
    _Atomic int error;
    _Atomic bool stopped;
    struct counters counters;

    /* The journal thread's alone. */
    CC_NO_SHARE struct frame_tail tail_frame; /* the last frame submitted */
    struct frame_tail durable;                /* the last durable frame; `none`: the start's */
    uint64_t durable_segment;                 /* where it is */
    struct witness_writer witness;
    uint64_t segment;      /* the current one */
    uint64_t offset;       /* of the next frame in it */
    uint32_t block_bytes;  /* frames are multiples of it */
    int file;              /* of the current segment; -1: not yet taken */
    bool closing;          /* the closing frame was submitted */
    bool closed;           /* and written */
    uint32_t flight_first; /* the oldest of flights[] */
    uint32_t flight_count;
    struct flight flights[JOURNAL_FRAMES_MAX];
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

static int fault(struct journal *journal, int error)
{
    INVARIANT(error < 0);
    STORE(journal->error, error, release);
    return error;
}

/* The sequence first: who finds a record, here or in the file, finds it durable. */
static void release_to(struct journal *journal, const struct flight *flight)
{
    if (journal->config.frames != NULL && journal->config.durability == JOURNAL_LOCAL)
        frame_board_add(journal->config.frames, &flight->header, flight->tail.hash);
    STORE(journal->durable_seq, flight->header.last_sequence, release); /* pairs: its readers */
    STORE(journal->durable_position, flight->end_position, release);    /* pairs: journal_copy */
}

/* The oldest frames that are done leave, in order; the first that is not holds the later ones. */
static int flights_retire(struct journal *journal)
{
    int work = 0;

    while (journal->flight_count > 0 && journal->flights[journal->flight_first].done) {
        struct flight *flight = &journal->flights[journal->flight_first];

        if (journal->config.durability == JOURNAL_LOCAL) {
            journal->durable = flight->tail;
            journal->durable_segment = flight->header.segment;
            release_to(journal, flight);
        }
        STORE(journal->written_seq, flight->header.last_sequence, release); /* pairs: its reader */
        if (flight->closes_file)
            disk_close(journal->config.disk, flight->file);
        journal->closed = flight->header.record_count == 0;
        journal->flight_first = (journal->flight_first + 1) % JOURNAL_FRAMES_MAX;
        journal->flight_count--;
        work++;
    }
    STORE(journal->counters.in_flight, journal->flight_count, relaxed);
    return work;
}

/* A tag is the number of the frame. */
static struct flight *flight_of(struct journal *journal, uint64_t tag)
{
    uint64_t oldest = journal->flights[journal->flight_first].header.number;

    INVARIANT(tag >= oldest && tag - oldest < journal->flight_count);
    return &journal->flights[(journal->flight_first + (tag - oldest)) % JOURNAL_FRAMES_MAX];
}

static int completions_reap(struct journal *journal)
{
    struct disk_done done[JOURNAL_FRAMES_MAX + 1];
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
        if (done[i].result != flight->header.length)
            return -EIO; /* a short write: what follows it is not known */
        flight->done = true;
    }
    return count;
}

/* Tells the witness, and ends a stop once that has named the closing frame. With `none` nothing was
 * promised, and the witness keeps what the start found. 1: submitted; 0; -errno. */
static int witness_tell(struct journal *journal)
{
    struct witness_writer *witness = &journal->witness;
    bool is_told = journal->config.durability == JOURNAL_NONE;
    int work = 0;

    if (!is_told) {
        work = witness_writer_step(witness, &journal->durable, journal->durable_segment,
                                   journal->closed);
        is_told = witness->frame == journal->durable.number && !witness->in_flight;
    }
    if (work == 0 && is_told && journal->closed)
        STORE(journal->stopped, true, release);
    return work;
}

/* ---- gathering ------------------------------------------------------------------------------- */

static uint32_t length_of(const struct journal *journal, uint32_t record_bytes)
{
    uint32_t block = journal->block_bytes;

    return (FRAME_HEADER_BYTES + record_bytes + block - 1) / block * block;
}

/* Goes to the next segment when a frame of so many record bytes does not fit, or when none was
 * taken yet. 1: there is room; 0: the pool has no segment ready; -errno. */
static int segment_provide(struct journal *journal, uint32_t record_bytes)
{
    bool fits = journal->offset + length_of(journal, record_bytes) <= journal->config.segment_bytes;
    uint32_t block_bytes = 0;
    int file;

    if (journal->file >= 0 && fits)
        return 1;
    file = segment_pool_pop(journal->config.pool, journal->segment + (journal->file >= 0),
                            &block_bytes);
    if (file == -EAGAIN)
        return 0;
    if (file < 0)
        return file;
    if (journal->file >= 0) {
        uint32_t last = (journal->flight_first + journal->flight_count - 1) % JOURNAL_FRAMES_MAX;

        if (journal->flight_count > 0 && journal->flights[last].file == journal->file)
            journal->flights[last].closes_file = true;
        else
            disk_close(journal->config.disk, journal->file);
        journal->segment++;
        journal->offset = SEGMENT_FRAMES_OFFSET;
    }
    journal->file = file;
    if (block_bytes < journal->config.disk->block_bytes)
        block_bytes = journal->config.disk->block_bytes;
    journal->block_bytes = block_bytes;
    STORE(journal->counters.segments, LOAD(journal->counters.segments, relaxed) + 1, relaxed);
    /* A position left by a device of smaller blocks: the rest of that segment stays zero. */
    if (journal->offset % block_bytes != 0)
        journal->offset = journal->config.segment_bytes;
    return segment_provide(journal, record_bytes);
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

/* Builds the frame of the `record_bytes` at `position` and hands it to the disk. */
static int frame_submit(struct journal *journal, uint64_t position, uint32_t record_bytes,
                        uint32_t record_count)
{
    uint32_t slot = (journal->flight_first + journal->flight_count) % JOURNAL_FRAMES_MAX;
    struct flight *flight = &journal->flights[slot];
    uint32_t length = length_of(journal, record_bytes);
    uint32_t used = FRAME_HEADER_BYTES + record_bytes;
    struct frame_header header = {
        .boot = journal->config.boot,
        .segment = journal->segment,
        .number = journal->tail_frame.number + 1,
        .first_sequence = journal->tail_frame.last_sequence + 1,
        .last_sequence = journal->tail_frame.last_sequence + record_count,
        .durable_frame = journal->durable.number,
        .length = length,
        .record_count = record_count,
        .record_bytes = record_bytes,
    };
    int error;

    INVARIANT(journal->flight_count < JOURNAL_FRAMES_MAX);
    INVARIANT(journal->offset + length <= journal->config.segment_bytes);
    memcpy(header.journal_id, journal->config.exchange->journal_id, sizeof header.journal_id);
    memcpy(header.previous_hash, journal->tail_frame.hash, sizeof header.previous_hash);
    record_buffer_take(&journal->buffer, position, flight->bytes + FRAME_HEADER_BYTES,
                       record_bytes);
    memset(flight->bytes + used, 0, length - used);
    frame_seal(flight->bytes, &header);
    frame_tail_advance(&journal->tail_frame, &header, flight->bytes);
    flight->header = header;
    flight->tail = journal->tail_frame;
    flight->end_position = position + record_bytes;
    flight->file = journal->file;
    flight->closes_file = false;
    flight->done = false;
    error = disk_submit(journal->config.disk, journal->file, journal->offset, flight->bytes, length,
                        header.number, journal->config.durability == JOURNAL_LOCAL);
    if (error < 0)
        return error;
    journal->offset += length;
    journal->flight_count++;
    counters_add(journal, &header);
    STORE(journal->gathered, flight->end_position, release); /* pairs: journal_reserve */
    if (journal->config.durability == JOURNAL_NONE)
        release_to(journal, flight);
    return 0;
}

/* One frame of what was published. 1: submitted; 0: nothing to do, or no room; -errno. */
static int gather(struct journal *journal)
{
    uint64_t position = LOAD(journal->gathered, relaxed); /* relaxed: only this thread writes it */
    uint64_t tail = LOAD(journal->tail, acquire);         /* pairs: journal_publish */
    uint32_t record_count;
    uint32_t record_bytes;
    int error;

    if (tail == position || journal->flight_count == journal->config.frames_in_flight)
        return 0;
    if (journal->flight_count > 0 && tail - position < journal->config.group_bytes)
        return 0;
    record_bytes =
        record_buffer_measure(&journal->buffer, position, tail,
                              journal->frame_bytes_max - FRAME_HEADER_BYTES, &record_count);
    INVARIANT(record_count > 0);
    error = segment_provide(journal, record_bytes);
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
    error = segment_provide(journal, 0);
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
        return fault(journal, work);
    (void)flights_retire(journal);
    done = witness_tell(journal);
    if (done < 0)
        return fault(journal, done);
    work += done;
    do {
        done = gather(journal);
        work += done;
    } while (done > 0);
    if (done == 0 && stopping) {
        done = close_chain(journal);
        work += done;
    }
    return done < 0 ? fault(journal, done) : work;
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
    if (journal->flight_count == journal->config.frames_in_flight)
        return UINT64_MAX;
    return journal->flight_count == 0 ? 1 : journal->config.group_bytes;
}

uint64_t journal_waiting_bytes(const struct journal *journal)
{
    /* relaxed: the caller's own. Acquire: an older `gathered` only makes it more. */
    return LOAD(journal->tail, relaxed) - LOAD(journal->gathered, acquire);
}

uint64_t journal_durable_seq(const struct journal *journal)
{
    return LOAD(journal->durable_seq, acquire); /* pairs: release_to */
}

uint64_t journal_written_seq(const struct journal *journal)
{
    return LOAD(journal->written_seq, acquire); /* pairs: flights_retire */
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

    if (position >= LOAD(journal->durable_position, acquire)) /* pairs: release_to */
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
    for (uint32_t i = 0; i < JOURNAL_FRAMES_MAX; i++)
        free(journal->flights[i].bytes);
    record_buffer_free(&journal->buffer);
    free(journal);
}

static void config_check(const struct journal_config *config)
{
    INVARIANT(config->buffer_bytes >= JOURNAL_BUFFER_BYTES_MIN &&
              (config->buffer_bytes & (config->buffer_bytes - 1)) == 0);
    INVARIANT(config->frames_in_flight >= 1 && config->frames_in_flight <= JOURNAL_FRAMES_MAX);
    INVARIANT(config->segment_bytes >= SEGMENT_BYTES_MIN);
    INVARIANT(config->position.offset >= SEGMENT_FRAMES_OFFSET &&
              config->position.offset <= config->segment_bytes);
    INVARIANT(config->boot > config->position.tail.boot);
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
    complete = record_buffer_make(&journal->buffer, config->buffer_bytes);
    for (uint32_t i = 0; i < JOURNAL_FRAMES_MAX; i++) {
        journal->flights[i].bytes = aligned_alloc(DISK_ALIGNMENT, journal->frame_bytes_max);
        complete = complete && journal->flights[i].bytes;
    }
    if (!complete) {
        memory_free(journal);
        return NULL;
    }
    /* Every page is touched here, so that none is faulted in beside a command. */
    for (uint32_t i = 0; i < JOURNAL_FRAMES_MAX; i++)
        memset(journal->flights[i].bytes, 0, journal->frame_bytes_max);
    journal->file = -1;
    journal->block_bytes = config->disk->block_bytes;
    journal->segment = config->position.segment;
    journal->offset = config->position.offset;
    journal->tail_frame = config->position.tail;
    journal->durable = config->position.tail;
    journal->durable_segment = config->position.segment;
    journal->witness = (struct witness_writer){ .disk = config->disk,
                                                .exchange = config->exchange,
                                                .clock = config->clock,
                                                .boot = config->boot,
                                                .place = config->witness };
    int error = witness_writer_open(&journal->witness, &journal->durable, journal->segment);
    if (error < 0)
        atomic_init(&journal->error, error);
    atomic_init(&journal->durable_seq, config->position.tail.last_sequence);
    atomic_init(&journal->written_seq, config->position.tail.last_sequence);
    return journal;
}

/* Waits until the disk reads the frames no more; false if it never said so. */
static bool flights_drain(struct journal *journal)
{
    struct disk *disk = journal->config.disk;
    struct disk_done done[JOURNAL_FRAMES_MAX + 1];
    uint32_t left = journal->flight_count + journal->witness.in_flight;

    for (uint32_t i = 0; i < journal->flight_count; i++)
        left -= journal->flights[(journal->flight_first + i) % JOURNAL_FRAMES_MAX].done;
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
        struct flight *flight = &journal->flights[(journal->flight_first + i) % JOURNAL_FRAMES_MAX];

        if (flight->closes_file)
            disk_close(disk, flight->file);
    }
    witness_writer_close(&journal->witness);
    if (journal->file >= 0)
        disk_close(disk, journal->file);
    memory_free(journal);
}
