#include "repl/tail.h"

#include <stdlib.h>

#include "repl/etcd_call.h"

/* The only writer of the state. The table must allow the move (INVARIANT). */
static void move(struct tail *tail, enum tail_state next)
{
#define TO(name)             (1U << TAIL_##name)
#define X(name, next_states) next_states,
    static const unsigned allowed[TAIL_STATE_COUNT] = { TAIL_STATE_LIST(X) };
#undef X
#undef TO

    INVARIANT((unsigned)tail->state < TAIL_STATE_COUNT && (unsigned)next < TAIL_STATE_COUNT);
    INVARIANT((allowed[tail->state] >> next & 1U) != 0);
    tail->state = next;
}

static struct tail_frame *slot_of(struct tail *tail, uint64_t number)
{
    return &tail->frames[number % TAIL_FRAMES_MAX];
}

static void drop(struct tail *tail, struct tail_frame *frame)
{
    if (frame->bytes == NULL)
        return;
    tail->held_bytes -= frame->count;
    tail->held--;
    free(frame->bytes);
    frame->bytes = NULL;
}

static void drop_all(struct tail *tail)
{
    for (uint32_t i = 0; i < TAIL_FRAMES_MAX; i++)
        drop(tail, &tail->frames[i]);
}

void tail_begin(struct tail *tail, struct etcd *etcd, const char *cluster, uint64_t last)
{
    *tail = (struct tail){
        .etcd = etcd,
        .cluster = cluster,
        .next = last + 1,
        .page_rows = TAIL_PAGE_ROWS,
        .rows_max = TAIL_PAGE_ROWS_MAX,
        .is_whole = true,
        .text = "",
    };
}

/* The request under way counts no more. */
static void forget_request(struct tail *tail)
{
    if (tail->state == TAIL_READS || tail->state == TAIL_WATCHES)
        (void)etcd_cancel(tail->etcd, repl_tag(REPL_TAIL, tail->tag));
    tail->tag++;
}

void tail_end(struct tail *tail)
{
    if (tail->etcd == NULL)
        return;
    forget_request(tail);
    drop_all(tail);
    *tail = (struct tail){ 0 };
}

static void fail(struct tail *tail, const char *text)
{
    forget_request(tail);
    move(tail, TAIL_FAILED);
    tail->text = text;
}

/* Begins again with ranges, from the next frame on. */
static void begin_again(struct tail *tail, uint64_t now_ns)
{
    forget_request(tail);
    drop_all(tail);
    move(tail, TAIL_IDLE);
    tail->is_whole = true;
    tail->revision = 0;
    tail->page_from = 0;
    tail->has_gap = false;
    tail->again_ns = now_ns;
}

/* ---- asking ---------------------------------------------------------------------------------- */

static bool ask(struct tail *tail, const struct etcd_request *request, enum tail_state state)
{
    if (etcd_submit(tail->etcd, request, repl_tag(REPL_TAIL, tail->tag)) != 0)
        return false; /* asked again in the next step */
    move(tail, state);
    return true;
}

static void ask_page(struct tail *tail)
{
    uint64_t from = tail->page_from != 0 ? tail->page_from : tail->next;
    struct repl_key_page page;

    repl_key_page_log(&page, tail->cluster, from, tail->page_rows);
    page.request.revision = tail->revision;
    (void)ask(tail, &page.request, TAIL_READS);
}

static void ask_watch(struct tail *tail)
{
    struct repl_key key = repl_key_frame(tail->cluster, tail->next);
    struct repl_key end = repl_key_log_end(tail->cluster);
    const struct etcd_request request = {
        .kind = ETCD_WATCH,
        .key = etcd_text(key.text),
        .end = etcd_text(end.text),
        .revision = tail->revision + 1,
    };

    if (!ask(tail, &request, TAIL_WATCHES))
        tail->page_from = UINT64_MAX; /* the pages are read: the watch is asked for again */
}

static bool is_full(const struct tail *tail)
{
    return tail->held_bytes >= TAIL_BYTES_MAX || tail->held >= TAIL_FRAMES_MAX / 2;
}

void tail_step(struct tail *tail, uint64_t now_ns)
{
    if (tail->state != TAIL_IDLE || now_ns < tail->again_ns || is_full(tail))
        return;
    if (tail->page_from == UINT64_MAX)
        ask_watch(tail);
    else
        ask_page(tail);
}

/* ---- answers --------------------------------------------------------------------------------- */

/* False without memory. */
static bool hold(struct tail *tail, uint64_t number, struct etcd_bytes value)
{
    struct tail_frame *frame = slot_of(tail, number);

    drop(tail, frame);
    frame->bytes = malloc(value.count != 0 ? value.count : 1);
    if (frame->bytes == NULL)
        return false;
    memcpy(frame->bytes, value.bytes, value.count);
    frame->count = value.count;
    frame->number = number;
    tail->held_bytes += value.count;
    tail->held++;
    return true;
}

/* One row. False: it cannot be kept, or nothing follows it, and ranges begin again later. */
static bool accept_row(struct tail *tail, const struct etcd_row *row)
{
    uint64_t number = repl_key_number(tail->cluster, row->key);

    if (number == 0 || number < tail->next)
        return true;
    struct tail_frame *frame = slot_of(tail, number);
    if (row->is_delete) {
        if (frame->bytes != NULL && frame->number == number)
            drop(tail, frame);
        return number != tail->next; /* only retention deletes that one */
    }
    if (number - tail->next >= TAIL_FRAMES_MAX || tail->held_bytes >= 2 * TAIL_BYTES_MAX)
        return false;
    return hold(tail, number, row->value);
}

/* Whether retention has deleted the next frame. All pages are of one revision. A leader sends at
 * most TAIL_GAP_MAX frames from the first on that has not landed: what is further on than a frame
 * that is not there was sent when that one had landed. */
static bool is_gone(const struct tail *tail, uint64_t last)
{
    return tail->has_gap && last >= tail->next + TAIL_GAP_MAX;
}

/* Another number of rows, if the page of so many was far from its size. */
static void fit_page(struct tail *tail, uint32_t rows, size_t bytes)
{
    if (rows < tail->page_rows)
        return;
    if (bytes > 2 * (size_t)TAIL_PAGE_BYTES && rows > 1)
        tail->page_rows = rows / 2;
    else if (bytes < TAIL_PAGE_BYTES / 2 && 2 * rows <= tail->rows_max)
        tail->page_rows = 2 * rows;
}

static void accept_page(struct tail *tail, const struct etcd_done *done, uint64_t now_ns)
{
    uint64_t first = 0, last = 0;
    size_t bytes = 0;

    move(tail, TAIL_IDLE);
    for (uint32_t i = 0; i < done->row_count; i++) {
        last = repl_key_number(tail->cluster, done->rows[i].key);
        first = i == 0 ? last : first;
        bytes += done->rows[i].value.count;
        if (last == 0) {
            fail(tail, "the log has a key that is no frame's");
            return;
        }
    }
    fit_page(tail, done->row_count, bytes);
    if (tail->page_from == 0)
        tail->has_gap = first > tail->next;
    if (is_gone(tail, last)) {
        move(tail, TAIL_GONE);
        return;
    }
    for (uint32_t i = 0; i < done->row_count; i++)
        if (!accept_row(tail, &done->rows[i])) {
            begin_again(tail, now_ns + TAIL_RETRY_NS);
            return;
        }
    if (tail->revision == 0)
        tail->revision = done->revision;
    if (done->more && done->row_count > 0) {
        tail->page_from = last + 1;
        return;
    }
    tail->page_from = UINT64_MAX;
    if (tail->finishes)
        move(tail, TAIL_FINISHED);
}

static void accept_events(struct tail *tail, const struct etcd_done *done, uint64_t now_ns)
{
    for (uint32_t i = 0; i < done->row_count; i++)
        if (!accept_row(tail, &done->rows[i])) {
            begin_again(tail, now_ns + TAIL_RETRY_NS);
            return;
        }
    if (done->row_count > 0) /* else it is set, again perhaps, in the middle of a revision */
        tail->is_whole = !done->more;
    if (is_full(tail) && tail->is_whole) /* ranges begin when this is taken */
        begin_again(tail, now_ns + TAIL_RETRY_NS);
}

void tail_done(struct tail *tail, const struct etcd_done *done, uint64_t now_ns)
{
    if (done->tag != repl_tag(REPL_TAIL, tail->tag))
        return;
    if (done->kind == ETCD_RANGE && done->result == ETCD_OK) {
        tail->tag++;
        accept_page(tail, done, now_ns);
        return;
    }
    if (done->kind == ETCD_WATCH && done->result == ETCD_OK) {
        accept_events(tail, done, now_ns);
        return;
    }
    if (done->result == ETCD_DENIED) {
        fail(tail, "etcd denied the reading of the log");
        return;
    }
    if (done->result == ETCD_TOO_LARGE && tail->page_rows == 1) {
        fail(tail, "a frame of the log is longer than an answer may be");
        return;
    }
    move(tail, TAIL_IDLE); /* it has ended: nothing to cancel */
    if (done->result == ETCD_TOO_LARGE)
        tail->rows_max = tail->page_rows = (tail->page_rows + 1) / 2;
    begin_again(tail, now_ns + TAIL_RETRY_NS);
}

/* ---- giving ---------------------------------------------------------------------------------- */

bool tail_next(struct tail *tail, const uint8_t **bytes, size_t *count)
{
    struct tail_frame *frame = slot_of(tail, tail->next);

    if (!tail->is_whole || frame->bytes == NULL || frame->number != tail->next)
        return false;
    *bytes = frame->bytes;
    *count = frame->count;
    return true;
}

void tail_pop(struct tail *tail)
{
    struct tail_frame *frame = slot_of(tail, tail->next);

    INVARIANT(frame->bytes != NULL && frame->number == tail->next);
    drop(tail, frame);
    tail->next++;
}

void tail_finish(struct tail *tail)
{
    if (tail->state == TAIL_FAILED || tail->state == TAIL_GONE)
        return;
    begin_again(tail, 0);
    tail->finishes = true;
}

static bool has_next(const struct tail *tail)
{
    const struct tail_frame *frame = &tail->frames[tail->next % TAIL_FRAMES_MAX];

    return frame->bytes != NULL && frame->number == tail->next;
}

bool tail_is_finished(const struct tail *tail)
{
    return tail->state == TAIL_FINISHED && !has_next(tail);
}

bool tail_is_at_end(const struct tail *tail)
{
    return tail->state == TAIL_WATCHES && tail->is_whole && !has_next(tail);
}
