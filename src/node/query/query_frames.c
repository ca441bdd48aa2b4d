#include "node/query/query_frames.h"

#include <errno.h>

/* Bytes of frames in an answer: its JSON is no longer than that of other lists. */
enum { FRAMES_BYTES_MAX = 256 * 1024 };

static_assert(sizeof(struct row_frames) + FRAMES_BYTES_MAX <= REPLY_BUFFER_BYTES, "fits");

int query_frames_init(struct query_frames *frames, struct journal *journal,
                      const struct signer_ed25519 *signer)
{
    const struct journal_config *config = journal_config_of(journal);

    frames->journal = journal;
    frames->signer = signer;
    int failed = frame_reader_init(&frames->reader, journal);
    if (failed == 0)
        failed = archive_reader_init(&frames->archive, config->disk, config->exchange);
    return failed;
}

void query_frames_free(struct query_frames *frames)
{
    archive_reader_free(&frames->archive);
    frame_reader_free(&frames->reader);
}

/* A task keeps where it searches in `at` and `below_sequence`; of a seal, the segment that is open
 * and when the request came. */
static void set_cursor(struct query_task *task, const struct frame_cursor *cursor)
{
    task->at = cursor->segment;
    task->below_sequence = cursor->offset;
}

static void begin_seal(struct query_task *task, const struct query_sources *sources)
{
    struct query_frames *frames = sources->frames;

    task->at = journal_written_segment(frames->journal);
    task->below_sequence = sources->now_ns;
    task->offset =
        frames->sealed_ns == 0 || sources->now_ns - frames->sealed_ns >= QUERY_FRAMES_SEAL_NS;
    if (task->offset == 0)
        return;
    frames->sealed_ns = sources->now_ns;
    journal_seal(frames->journal);
    if (sources->tick_wanted != NULL) /* so that a frame comes, if nothing else happens */
        atomic_store_explicit(sources->tick_wanted, true, memory_order_relaxed);
}

void query_frames_begin(struct query_task *task, const struct query_sources *sources)
{
    if (sources->frames == NULL)
        return;
    if (task->query.kind == QUERY_seal) {
        begin_seal(task, sources);
        return;
    }
    struct frame_cursor cursor =
        frame_reader_begin(&sources->frames->reader, task->query.before_sequence);
    set_cursor(task, &cursor);
}

static bool step_seal(struct query_task *task, const struct query_sources *sources)
{
    uint64_t open = journal_written_segment(sources->frames->journal);
    struct row_seal row = { .open_segment = open, .sealed = open > task->at };

    if (!row.sealed && task->offset != 0 &&
        sources->now_ns - task->below_sequence < QUERY_FRAMES_WAIT_NS)
        return false;
    query_task_put(task, &row, sizeof row);
    return true;
}

static bool step_frames(struct query_task *task, const struct query_sources *sources)
{
    struct frame_cursor cursor = { task->query.before_sequence, task->at, task->below_sequence };
    struct frame_stretch found;
    struct row_frames row;
    int done = frame_reader_step(&sources->frames->reader, &cursor, (uint32_t)task->query.offset,
                                 task->rows + sizeof row, FRAMES_BYTES_MAX, &found);

    set_cursor(task, &cursor);
    if (done == 0)
        return false;
    if (done < 0) {
        query_task_refuse(task, done == -ENOENT || done == -ERANGE ? PROBLEM_not_found
                                                                   : PROBLEM_internal_error);
        return true;
    }
    row = (struct row_frames){ .first_frame = task->query.before_sequence,
                               .last_frame = found.bytes != 0 ? found.last_frame
                                                              : task->query.before_sequence - 1,
                               .segment = found.segment,
                               .offset = found.offset,
                               .last_sequence = found.last_sequence,
                               .boot = found.boot,
                               .block_bytes = found.block_bytes,
                               .first_length = found.first_length,
                               .bytes = found.bytes };
    memcpy(task->rows, &row, sizeof row);
    task->reply.row_bytes = (uint32_t)sizeof row + found.bytes;
    task->reply.row_count = 1;
    return true;
}

bool query_frames_step(struct query_task *task, const struct query_sources *sources)
{
    if (sources->frames == NULL) {
        query_task_refuse(task, PROBLEM_not_found);
        return true;
    }
    return task->query.kind == QUERY_seal ? step_seal(task, sources) : step_frames(task, sources);
}
