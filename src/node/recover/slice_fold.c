#include "node/recover/slice_fold.h"

#include <errno.h>

#include "base/log.h"
#include "node/recover/snapshot_image.h"

void slice_fold_init(struct slice_fold *fold, struct disk *disk,
                     const struct exchange_file *exchange, const struct frame_board *frames,
                     struct history_keep *keep)
{
    fold->disk = disk;
    fold->exchange = exchange;
    fold->frames = frames;
    fold->keep = keep;
}

/* The only writer of the state; release: what the thread did before is whole (pairs:
 * slice_fold_aim, slice_fold_poll). The table must allow the move (INVARIANT). */
static void move(struct slice_fold *fold, enum slice_fold_state next)
{
#define TO(name)             (1U << SLICE_FOLD_##name)
#define X(name, next_states) next_states,
    static const unsigned allowed[SLICE_FOLD_STATE_COUNT] = { SLICE_FOLD_STATE_LIST(X) };
#undef X
#undef TO
    uint32_t now = atomic_load_explicit(&fold->state, memory_order_relaxed); /* this thread's */

    INVARIANT(now < SLICE_FOLD_STATE_COUNT);
    INVARIANT((allowed[now] >> next & 1U) != 0);
    atomic_store_explicit(&fold->state, (uint32_t)next, memory_order_release);
}

/* ---- the background thread's ----------------------------------------------------------------- */

void slice_fold_ask(struct slice_fold *fold)
{
    move(fold, SLICE_FOLD_ASKED);
}

int slice_fold_poll(struct slice_fold *fold)
{
    /* acquire (pairs: move): the file that the follower wrote. */
    uint32_t state = atomic_load_explicit(&fold->state, memory_order_acquire);

    if (state == SLICE_FOLD_ASKED)
        return 0;
    move(fold, SLICE_FOLD_IDLE);
    return state == SLICE_FOLD_DONE ? 1 : -1;
}

void slice_fold_end(struct slice_fold *fold)
{
    atomic_store_explicit(&fold->is_ended, true, memory_order_relaxed); /* a flag alone */
}

/* ---- the follower's -------------------------------------------------------------------------- */

static bool is_ended(const struct slice_fold *fold)
{
    return atomic_load_explicit(&fold->is_ended, memory_order_relaxed); /* a flag alone */
}

static bool is_at_work(const struct slice_fold *fold)
{
    return fold->writer != NULL || fold->is_checked;
}

static void drop(struct slice_fold *fold)
{
    if (fold->writer != NULL)
        snapshot_abandon(fold->writer);
    if (fold->is_checked)
        scrub_free(&fold->check);
    fold->writer = NULL;
    fold->is_checked = fold->is_written = false;
    fold->cursor = (struct image_cursor){ 0 };
    fold->target = 0;
}

static void finish(struct slice_fold *fold, enum slice_fold_state state)
{
    drop(fold);
    move(fold, state);
}

static void fail(struct slice_fold *fold, const char *what, int error)
{
    log_line(LOG_ERROR, "snapshot", "in slices, sequence=%lu: %s: %s", fold->target, what,
             strerror(-error));
    finish(fold, SLICE_FOLD_FAILED);
}

void slice_fold_free(struct slice_fold *fold)
{
    drop(fold);
}

uint64_t slice_fold_aim(struct slice_fold *fold, uint64_t applied)
{
    /* acquire (pairs: move) */
    if (atomic_load_explicit(&fold->state, memory_order_acquire) != SLICE_FOLD_ASKED)
        return UINT64_MAX;
    if (is_at_work(fold) || fold->target >= applied)
        return fold->target;
    struct frame_location frame;
    bool is_end = frame_board_find(fold->frames, applied, &frame) && frame.last_sequence == applied;
    if (!is_end && !frame_board_find(fold->frames, applied + 1, &frame))
        return UINT64_MAX; /* no frame since the start: the next one is aimed at */
    fold->frame = frame;
    fold->target = frame.last_sequence;
    return fold->target;
}

static void begin(struct slice_fold *fold)
{
    fold->writer = snapshot_begin(fold->disk, fold->exchange, fold->target);
    if (fold->writer == NULL)
        fail(fold, "memory for its file", -ENOMEM);
    else
        log_line(LOG_INFO, "snapshot", "in slices, sequence=%lu: reads wait", fold->target);
}

static void write_piece(struct slice_fold *fold, struct engine *engine)
{
    struct snapshot_image image = snapshot_image_to(fold->writer);

    fold->is_written = image_write_piece(engine, &image.sink, &fold->cursor, SLICE_FOLD_ROWS);
    snapshot_settle(fold->writer);
}

/* The file gets its name when the history has what a start from it would not make again. */
static void name(struct slice_fold *fold, struct engine *engine)
{
    struct snapshot_writer *writer = fold->writer;

    if (fold->keep != NULL && !history_keep_has(fold->keep, fold->target))
        return;
    INVARIANT(engine_sequence(engine) == fold->target);
    fold->head =
        snapshot_image_head(engine, fold->frame.number, fold->frame.boot, fold->frame.hash);
    fold->writer = NULL; /* which snapshot_end frees */
    int failed = snapshot_end(writer, &fold->head);
    if (failed == 0)
        failed = scrub_init(&fold->check, fold->disk, fold->exchange, NULL, UINT64_MAX);
    if (failed != 0) {
        fail(fold, "writing", failed);
        return;
    }
    scrub_alone(&fold->check, SCRUB_SNAPSHOT, fold->target);
    fold->is_checked = true;
}

/* Reads a piece of the file again; at its end the image hash must be that of the rows. */
static void check_piece(struct slice_fold *fold)
{
    struct scrub *check = &fold->check;

    (void)scrub_step(check, 0);
    bool is_wrong =
        check->finding[0] != '\0' || memcmp(check->wanted, fold->head.image_hash, HASH_BYTES) != 0;
    if (is_wrong) {
        log_line(LOG_ERROR, "snapshot", "in slices: %s", check->finding);
        int failed = snapshot_remove(fold->disk, fold->target);
        fail(fold, "reading back", failed != 0 ? failed : -EBADMSG);
    } else if (check->next == check->count) {
        finish(fold, SLICE_FOLD_DONE);
    }
}

uint32_t slice_fold_step(struct slice_fold *fold, struct engine *engine)
{
    /* relaxed: aim has seen it. */
    if (atomic_load_explicit(&fold->state, memory_order_relaxed) != SLICE_FOLD_ASKED ||
        (fold->target != engine_sequence(engine) && !is_ended(fold)))
        return 0;
    if (is_ended(fold))
        finish(fold, SLICE_FOLD_FAILED);
    else if (!is_at_work(fold))
        begin(fold);
    else if (fold->is_checked)
        check_piece(fold);
    else if (!fold->is_written)
        write_piece(fold, engine);
    else
        name(fold, engine);
    return 1;
}
