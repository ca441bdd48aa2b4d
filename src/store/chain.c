#include "store/chain.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "store/segment.h"

enum { WINDOW_BYTES_MAX = 4 << 20 /* of a segment file, in memory at a time */ };

/* What the newest boot knew to be durable (journal.md, Recovery, step 4: B and D). */
struct known {
    uint64_t boot;
    uint64_t durable_frame;
};

struct chain {
    struct chain_config config;
    struct refusal *refusal;
    struct archive archive;
    uint64_t journal_first; /* segments [first, end) stood in journal/ at the beginning */
    uint64_t journal_end;
    struct journal_position position; /* after the last frame that was given */
    struct known known;               /* as its frames say */
    struct known scanned;             /* the same and those after the position */
    bool bounded;                     /* the chain ends here because last_segment does */
    bool quiet; /* nothing after the position says that a frame is missing there */

    /* The segment that is open: a window of its file, or the whole of it from the archive. */
    uint64_t segment; /* UINT64_MAX: none */
    bool archived;
    bool blank; /* without a header yet: no frames */
    int file;   /* -1: none */
    uint32_t block_bytes;
    uint8_t *window;
    size_t window_max;
    uint64_t window_at;
    size_t window_count;
    uint8_t *whole; /* made when the archive is first read */
};

static int refused(struct chain *chain, const char *what, int error)
{
    (void)refusal_machine(chain->refusal, what, error);
    return -1;
}

static void known_add(struct known *known, const struct frame_header *header)
{
    if (header->boot > known->boot) {
        known->boot = header->boot;
        known->durable_frame = header->durable_frame;
    } else if (header->boot == known->boot && header->durable_frame > known->durable_frame) {
        known->durable_frame = header->durable_frame;
    }
}

/* ---- one segment ----------------------------------------------------------------------------- */

static void source_close(struct chain *chain)
{
    if (chain->file >= 0)
        disk_close(chain->config.disk, chain->file);
    chain->file = -1;
    chain->segment = UINT64_MAX;
    chain->archived = false;
    chain->blank = false;
    chain->window_count = 0;
}

/* Brings at least `count` bytes of the open segment from `offset` on into memory, or all up to its
 * end; *available: how many are there. NULL: refused. */
static const uint8_t *bytes_at(struct chain *chain, uint64_t offset, size_t count,
                               size_t *available)
{
    const uint64_t end = chain->config.segment_bytes;
    uint64_t wanted_end = end - offset < count ? end : offset + count;
    uint64_t at = offset & ~(uint64_t)(DISK_ALIGNMENT - 1);
    size_t bytes = chain->window_max;
    int64_t got;

    INVARIANT(offset < end);
    if (chain->archived) {
        *available = end - offset;
        return chain->whole + offset;
    }
    if (offset < chain->window_at || wanted_end > chain->window_at + chain->window_count) {
        if (chain->quiet) /* asked again and again: no more than is needed */
            bytes = (wanted_end - at + DISK_ALIGNMENT - 1) & ~(size_t)(DISK_ALIGNMENT - 1);
        if (bytes > end - at)
            bytes = end - at;
        got = disk_read(chain->config.disk, chain->file, at, chain->window, bytes);
        if (got >= 0 && (size_t)got != bytes)
            got = -EIO;
        chain->window_at = at;
        chain->window_count = got < 0 ? 0 : (size_t)got;
        if (got < 0) {
            (void)refused(chain, "reading a segment", (int)got);
            return NULL;
        }
    }
    *available = chain->window_at + chain->window_count - offset;
    return chain->window + (offset - chain->window_at);
}

/* Whether every byte after the header is zero: 1, 0, -1 when a read is refused. */
static int is_empty(struct chain *chain)
{
    uint64_t offset = SEGMENT_FRAMES_OFFSET;

    while (offset < chain->config.segment_bytes) {
        size_t available;
        const uint8_t *bytes = bytes_at(chain, offset, DISK_ALIGNMENT, &available);

        if (!bytes)
            return -1;
        if (!cc_is_zero(bytes, available))
            return 0;
        offset += available;
    }
    return 1;
}

/* Checks the header of the open file. 1, or -1 when it is refused. */
static int header_check(struct chain *chain, uint64_t number)
{
    struct refusal *refusal = chain->refusal;
    struct segment_header header;
    size_t available;
    const uint8_t *bytes;
    int64_t size = disk_size(chain->config.disk, chain->file);

    refusal->segment = number;
    if (size < 0)
        return refused(chain, "reading a segment", (int)size);
    if (size != chain->config.segment_bytes) {
        (void)refusal_set(refusal, REFUSAL_segment_size,
                          "segment %" PRIu64 " has %" PRId64 " bytes instead of %" PRIu32, number,
                          size, chain->config.segment_bytes);
        return -1;
    }
    bytes = bytes_at(chain, 0, SEGMENT_FRAMES_OFFSET + DISK_ALIGNMENT, &available);
    if (!bytes)
        return -1;
    chain->block_bytes = chain->config.disk->block_bytes;
    chain->blank = cc_is_zero(bytes, SEGMENT_FRAMES_OFFSET + DISK_ALIGNMENT);
    if (chain->blank)
        return 1;
    if (segment_decode(&header, bytes) < 0 ||
        !segment_belongs(&header, chain->config.exchange, number)) {
        int empty = is_empty(chain);

        chain->blank = empty > 0;
        if (empty != 0)
            return empty;
        (void)refusal_set(refusal, REFUSAL_segment_header,
                          "segment %" PRIu64 ", offset 0: damaged, or of another journal or number",
                          number);
        return -1;
    }
    chain->block_bytes = header.block_bytes;
    return 1;
}

/* The list may have grown since it was read. */
static int archive_holds(struct chain *chain, uint64_t number)
{
    if (archive_find(&chain->archive, number))
        return 1;
    archive_close(&chain->archive);
    memset(&chain->archive, 0, sizeof chain->archive);
    if (archive_open(&chain->archive, chain->config.disk, chain->config.exchange, chain->refusal) !=
        REFUSAL_none)
        return -1;
    return archive_find(&chain->archive, number) != NULL;
}

static int archived_open(struct chain *chain, uint64_t number)
{
    struct segment_header header;
    int found = archive_holds(chain, number);

    if (found <= 0)
        return found;
    if (!chain->whole)
        chain->whole = segment_memory(chain->config.segment_bytes);
    if (!chain->whole)
        return refused(chain, "memory for a segment", -ENOMEM);
    if (archive_load(&chain->archive, chain->config.disk, chain->config.exchange, number,
                     chain->config.segment_bytes, chain->whole, chain->refusal) != REFUSAL_none)
        return -1;
    if (segment_decode(&header, chain->whole) < 0 ||
        !segment_belongs(&header, chain->config.exchange, number)) {
        chain->refusal->segment = number;
        (void)refusal_set(chain->refusal, REFUSAL_archive_damaged,
                          "segment %" PRIu64 ": its header is wrong", number);
        return -1;
    }
    chain->archived = true;
    chain->segment = number;
    chain->block_bytes = header.block_bytes;
    return 1;
}

/* Opens a segment where it is now: in journal/, or in the archive when it was retired. 1, 0
 * when it is in neither, -1 when it is refused. */
static int source_open(struct chain *chain, uint64_t number)
{
    char path[DISK_PATH_BYTES];
    int found;

    if (chain->segment == number)
        return 1;
    source_close(chain);
    segment_path(path, number, true);
    chain->file = disk_open(chain->config.disk, path, DISK_DIRECT);
    if (chain->file == -ENOENT)
        return archived_open(chain, number);
    if (chain->file < 0)
        return refused(chain, "opening a segment", chain->file);
    found = header_check(chain, number);
    if (found > 0)
        chain->segment = number;
    return found;
}

/* ---- where the chain begins ------------------------------------------------------------------ */

/* Called for each whole frame of a segment; true ends the walk. */
typedef bool frame_visit(struct chain *chain, const struct frame_header *header,
                         const uint8_t *bytes, uint64_t offset);

/* Looks at every block of the open segment from `offset` on, for whole frames. 1 when the visitor
 * ended it, 0 at the end, -1 when a read is refused. */
static int frames_scan(struct chain *chain, uint64_t offset, frame_visit *visit)
{
    const struct chain_config *config = &chain->config;

    if (chain->blank)
        return 0;
    for (; offset < config->segment_bytes; offset += chain->block_bytes) {
        struct frame_header header;
        size_t available;
        const uint8_t *bytes = bytes_at(chain, offset, FRAME_BYTES_MAX, &available);

        if (!bytes)
            return -1;
        if (frame_decode(&header, bytes, available,
                         exchange_file_journal(config->exchange, chain->segment), chain->segment,
                         chain->block_bytes) == 0 &&
            visit(chain, &header, bytes, offset))
            return 1;
    }
    return 0;
}

static bool locate_visit(struct chain *chain, const struct frame_header *header,
                         const uint8_t *bytes, uint64_t offset)
{
    struct frame_tail *tail = &chain->position.tail;

    if (header->number != chain->config.after_frame)
        return false;
    frame_tail_advance(tail, header, bytes);
    chain->position.segment = chain->segment;
    chain->position.offset = offset + header->length;
    return memcmp(tail->hash, chain->config.after_hash, sizeof tail->hash) == 0;
}

/* The number that the first frame of the open segment claims; 0: none. False: refused. */
static bool first_claimed(struct chain *chain, uint64_t *number)
{
    const uint8_t *bytes;
    size_t available;

    *number = 0;
    if (chain->blank)
        return true;
    bytes = bytes_at(chain, SEGMENT_FRAMES_OFFSET, FRAME_HEADER_BYTES, &available);
    if (bytes)
        *number = frame_claimed_number(bytes);
    return bytes != NULL;
}

/* Looks in journal/ for after_frame: in the last segment that begins at or below it; then, for its
 * first frame may be damaged, in those that begin with none. 1, 0 when it is not there, -1. */
static int locate_in_journal(struct chain *chain)
{
    int found = 0;

    for (int headless = 0; headless < 2; headless++) {
        for (uint64_t n = chain->journal_end; n-- > chain->journal_first;) {
            uint64_t first;

            found = source_open(chain, n);
            if (found < 0 || (found > 0 && !first_claimed(chain, &first)))
                return -1;
            if (found == 0 || (first == 0) != headless || first > chain->config.after_frame)
                continue;
            found = frames_scan(chain, SEGMENT_FRAMES_OFFSET, locate_visit);
            if (found != 0)
                return found;
            if (!headless)
                break;
        }
    }
    return 0;
}

static int locate_in_archive(struct chain *chain)
{
    for (uint64_t i = 0; i < chain->archive.count; i++) {
        const struct archive_row *row = &chain->archive.rows[i];

        if (row->last_frame < chain->config.after_frame)
            continue;
        if (row->first_frame > chain->config.after_frame)
            return 0;
        int found = source_open(chain, row->segment);

        return found <= 0 ? found : frames_scan(chain, SEGMENT_FRAMES_OFFSET, locate_visit);
    }
    return 0;
}

static enum refusal_kind locate_after(struct chain *chain)
{
    int found = locate_in_journal(chain);

    if (found == 0)
        found = locate_in_archive(chain);
    if (found < 0)
        return chain->refusal->kind;
    if (found > 0)
        return REFUSAL_none;
    return refusal_set(chain->refusal, REFUSAL_snapshot_ahead,
                       "frame %" PRIu64 " with the hash that it must have stands neither in the "
                       "journal nor in the archive",
                       chain->config.after_frame);
}

static enum refusal_kind locate_beginning(struct chain *chain)
{
    uint64_t first = chain->journal_first;

    if (chain->archive.count > 0 && chain->archive.rows[0].segment < first)
        first = chain->archive.rows[0].segment;
    chain->position.offset = SEGMENT_FRAMES_OFFSET;
    frame_tail_start(&chain->position.tail, chain->config.exchange->exchange_id);
    if (first == 0 || first == UINT64_MAX)
        return REFUSAL_none;
    chain->refusal->segment = 0;
    return refusal_set(chain->refusal, REFUSAL_segment_missing,
                       "the first segment in journal and archive is %" PRIu64
                       ", and all from 0 on are needed",
                       first);
}

/* ---- the files ------------------------------------------------------------------------------- */

/* The journal first: what is retired after this is in the archive's list, read afterwards. */
static enum refusal_kind files_list(struct chain *chain)
{
    struct segment_range range;
    int error = segment_range_of(chain->config.disk, &range);

    if (error < 0 && error != -ENOENT)
        return refusal_machine(chain->refusal, "listing journal", error);
    chain->journal_first = range.min;
    chain->journal_end = range.count > 0 ? range.max + 1 : range.min;
    if (range.count > 0 && range.max - range.min + 1 != range.count) {
        chain->refusal->segment = range.min;
        return refusal_set(chain->refusal, REFUSAL_segment_missing,
                           "%" PRIu64 " segments, numbered %" PRIu64 " to %" PRIu64, range.count,
                           range.min, range.max);
    }
    return archive_open(&chain->archive, chain->config.disk, chain->config.exchange,
                        chain->refusal);
}

enum refusal_kind chain_open(struct chain **out, const struct chain_config *config,
                             struct refusal *refusal)
{
    struct chain *chain = calloc(1, sizeof *chain);
    enum refusal_kind kind = REFUSAL_none;

    INVARIANT(config->segment_bytes >= SEGMENT_BYTES_MIN &&
              config->segment_bytes % SEGMENT_FRAMES_OFFSET == 0);
    *out = NULL;
    refusal_clear(refusal);
    if (!chain)
        return refusal_machine(refusal, "memory for the chain", -ENOMEM);
    chain->config = *config;
    chain->refusal = refusal;
    chain->file = -1;
    source_close(chain);
    chain->window_max =
        config->segment_bytes < WINDOW_BYTES_MAX ? config->segment_bytes : WINDOW_BYTES_MAX;
    chain->window = aligned_alloc(DISK_ALIGNMENT, chain->window_max);
    if (!chain->window)
        kind = refusal_machine(refusal, "memory for the chain", -ENOMEM);
    if (kind == REFUSAL_none)
        kind = files_list(chain);
    if (kind == REFUSAL_none)
        kind = config->after_frame == 0 ? locate_beginning(chain) : locate_after(chain);
    chain->known = (struct known){ chain->position.tail.boot, config->after_frame };
    if (kind == REFUSAL_none)
        *out = chain;
    else
        chain_close(chain);
    return kind;
}

void chain_close(struct chain *chain)
{
    source_close(chain);
    archive_close(&chain->archive);
    free(chain->window);
    free(chain->whole);
    free(chain);
}

/* ---- frame by frame -------------------------------------------------------------------------- */

/* Takes the frame at `offset` of the open segment if it is whole and chains. 1, 0, -1 refused. */
static int frame_accept(struct chain *chain, uint64_t offset, struct chain_frame *out)
{
    size_t available;
    const uint8_t *bytes = bytes_at(chain, offset, FRAME_HEADER_BYTES, &available);

    if (!bytes)
        return -1;
    if (chain->blank || frame_claimed_number(bytes) == 0)
        return 0;
    bytes = bytes_at(chain, offset, FRAME_BYTES_MAX, &available);
    if (!bytes)
        return -1;
    if (frame_decode(&out->header, bytes, available,
                     exchange_file_journal(chain->config.exchange, chain->segment), chain->segment,
                     chain->block_bytes) < 0 ||
        !frame_chains(&chain->position.tail, &out->header))
        return 0;
    out->bytes = bytes;
    out->segment = chain->segment;
    out->offset = offset;
    out->archived = chain->archived;
    frame_tail_advance(&chain->position.tail, &out->header, bytes);
    chain->position.segment = chain->segment;
    chain->position.offset = offset + out->header.length;
    known_add(&chain->known, &out->header);
    chain->quiet = false;
    return 1;
}

static int missing(struct chain *chain, uint64_t number)
{
    chain->refusal->segment = number;
    (void)refusal_set(chain->refusal, REFUSAL_segment_missing,
                      "segment %" PRIu64 " is neither in the journal nor in the archive", number);
    return -1;
}

/* At a zero block or a segment's end the chain may go on in the next segment. */
static int frame_cross(struct chain *chain, struct chain_frame *out)
{
    const uint64_t offset = chain->position.offset;
    const uint64_t next = chain->position.segment + 1;
    const bool archived = chain->archived;
    int found;

    if (offset < chain->config.segment_bytes) {
        size_t available;
        const uint8_t *bytes = bytes_at(chain, offset, chain->block_bytes, &available);

        if (!bytes)
            return -1;
        if (!cc_is_zero(bytes, chain->block_bytes))
            return 0;
    }
    chain->bounded = next > chain->config.last_segment;
    if (chain->bounded)
        return 0;
    found = source_open(chain, next);
    if (found == 0 && archived) /* what is archived was sealed: another one followed */
        return missing(chain, next);
    return found <= 0 ? found : frame_accept(chain, SEGMENT_FRAMES_OFFSET, out);
}

/* The next frame where it is expected: 1, 0 when it is not there, -1 refused. */
static int frame_find(struct chain *chain, struct chain_frame *out)
{
    const struct journal_position *position = &chain->position;
    int found;

    chain->bounded = position->segment > chain->config.last_segment;
    if (chain->bounded)
        return 0;
    found = source_open(chain, position->segment);
    if (found == 0 && (position->tail.number > 0 || chain->archive.count > 0))
        return missing(chain, position->segment);
    if (found <= 0)
        return found;
    if (position->offset < chain->config.segment_bytes)
        found = frame_accept(chain, position->offset, out);
    else
        found = 0;
    return found == 0 ? frame_cross(chain, out) : found;
}

/* Frames of a boot below the tail's are leftovers and have no say. */
static bool durable_visit(struct chain *chain, const struct frame_header *header,
                          const uint8_t *bytes, uint64_t offset)
{
    (void)bytes;
    (void)offset;
    if (header->boot >= chain->position.tail.boot)
        known_add(&chain->scanned, header);
    return false;
}

/* Whether the frame that is expected at the position was durable (journal.md, Recovery, steps 4 and
 * 5): 1, 0, -1 refused. */
static int durable_beyond(struct chain *chain)
{
    const struct archive *archive = &chain->archive;
    uint64_t offset = chain->position.offset;

    /* What is archived was sealed: the frame after it was durable. */
    if (!chain->bounded && archive->count > 0 &&
        archive->rows[archive->count - 1].last_frame >= chain->position.tail.number)
        return 1;
    chain->scanned = chain->known;
    for (uint64_t n = chain->position.segment; n <= chain->config.last_segment; n++) {
        int found = source_open(chain, n);

        if (found == 0)
            break;
        if (found > 0)
            found = frames_scan(chain, offset, durable_visit);
        if (found < 0)
            return -1;
        offset = SEGMENT_FRAMES_OFFSET;
    }
    return chain->scanned.durable_frame > chain->position.tail.number;
}

int chain_next(struct chain *chain, struct chain_frame *out)
{
    const struct journal_position *position = &chain->position;

    for (int look = 0;; look++) {
        if (look > 0 || chain->quiet)
            source_close(chain); /* what was read may be older than what is there */
        int found = frame_find(chain, out);

        if (found != 0 || chain->quiet)
            return found;
        found = durable_beyond(chain);
        chain->quiet = found == 0;
        if (found <= 0)
            return found;
        if (look > 0)
            break;
    }
    chain->refusal->segment = position->segment;
    chain->refusal->offset = position->offset;
    (void)refusal_set(chain->refusal, REFUSAL_frame_damaged,
                      "frame %" PRIu64 ", expected in segment %" PRIu64 " at offset %" PRIu64
                      ", is missing or wrong, but was durable",
                      position->tail.number + 1, position->segment, position->offset);
    return -1;
}

struct journal_position chain_position(const struct chain *chain)
{
    struct journal_position position = chain->position;

    if (position.offset == chain->config.segment_bytes) {
        position.segment++;
        position.offset = SEGMENT_FRAMES_OFFSET;
    }
    return position;
}
