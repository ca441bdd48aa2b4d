#include "repl/retain.h"

#include "repl/etcd_call.h"

enum { PAGE_ROWS = 128 };

/* The only writer of the state. The table must allow the move (INVARIANT). */
static void move(struct retain *retain, enum retain_state next)
{
#define TO(name)             (1U << RETAIN_##name)
#define X(name, next_states) next_states,
    static const unsigned allowed[RETAIN_STATE_COUNT] = { RETAIN_STATE_LIST(X) };
#undef X
#undef TO

    INVARIANT((unsigned)retain->state < RETAIN_STATE_COUNT && (unsigned)next < RETAIN_STATE_COUNT);
    INVARIANT((allowed[retain->state] >> next & 1U) != 0);
    retain->state = next;
}

void retain_begin(struct retain *retain, struct etcd *etcd, const char *cluster, int64_t epoch,
                  uint64_t keep_bytes)
{
    *retain = (struct retain){
        .etcd = etcd, .cluster = cluster, .epoch = epoch, .keep_bytes = keep_bytes
    };
}

void retain_end(struct retain *retain)
{
    if (retain->is_asked)
        (void)etcd_cancel(retain->etcd, repl_tag(REPL_RETAIN, retain->tag));
    retain->is_asked = false;
    retain->etcd = NULL;
}

bool retain_wants(const struct retain *retain)
{
    return retain->etcd != NULL && retain->state >= RETAIN_RESTS && !retain->is_offered;
}

bool retain_offer(struct retain *retain, const struct cluster_segment *segment)
{
    INVARIANT(retain_wants(retain));
    if (retain->has_newest && (segment->segment != retain->newest.segment + 1 ||
                               segment->first_frame != retain->newest.last_frame + 1))
        return false;
    retain->offer = *segment;
    retain->offer.log_bytes += retain->has_newest ? retain->newest.log_bytes : 0;
    retain->is_offered = true;
    return true;
}

/* ---- asking ---------------------------------------------------------------------------------- */

static void ask(struct retain *retain, const struct etcd_request *request)
{
    retain->is_asked =
        etcd_submit(retain->etcd, request, repl_tag(REPL_RETAIN, retain->tag + 1)) == 0;
    retain->tag += retain->is_asked; /* else asked again in the next step */
}

static void ask_lowest(struct retain *retain)
{
    struct repl_key_page page;

    repl_key_page_log(&page, retain->cluster, 0, 1);
    ask(retain, &page.request);
}

static void ask_segments(struct retain *retain)
{
    struct repl_key_page page;

    repl_key_page_segments(&page, retain->cluster, retain->page_from, PAGE_ROWS);
    ask(retain, &page.request);
}

static void ask_pointer(struct retain *retain)
{
    struct repl_key key = repl_key_segment(retain->cluster, retain->low);
    const struct etcd_request request = { .kind = ETCD_RANGE, .key = etcd_text(key.text) };

    ask(retain, &request);
}

/* One change under the fence. */
static void ask_change(struct retain *retain, const struct etcd_op *change)
{
    struct repl_key leader = repl_key_of(retain->cluster, "leader");
    const struct etcd_compare mine = { etcd_text(leader.text), ETCD_CREATE_REVISION,
                                       retain->epoch };
    const struct etcd_transaction transaction = {
        .compares = &mine, .compare_count = 1, .then = change, .then_count = 1
    };
    const struct etcd_request request = { .kind = ETCD_TRANSACTION, .transaction = &transaction };

    ask(retain, &request);
}

static void ask_put(struct retain *retain)
{
    struct repl_key key = repl_key_segment(retain->cluster, retain->offer.segment);
    uint8_t row[CLUSTER_SEGMENT_BYTES];

    cluster_row_segment_encode(row, &retain->offer);
    const struct etcd_op put = { .verb = ETCD_PUT,
                                 .key = etcd_text(key.text),
                                 .value = { row, sizeof row } };
    ask_change(retain, &put);
}

/* The frames below it are deleted next. */
static uint64_t delete_end(const struct retain *retain)
{
    uint64_t end = retain->goes.last_frame + 1;

    return end > retain->lowest + RETAIN_A_TIME ? retain->lowest + RETAIN_A_TIME : end;
}

/* From 0 on: what came back late goes too. */
static void ask_delete(struct retain *retain)
{
    struct repl_key from = repl_key_frame(retain->cluster, 0);
    struct repl_key end = repl_key_frame(retain->cluster, delete_end(retain));
    const struct etcd_op change = { .verb = ETCD_DELETE,
                                    .key = etcd_text(from.text),
                                    .end = etcd_text(end.text) };

    ask_change(retain, &change);
}

static void ask_compaction(struct retain *retain)
{
    const struct etcd_request request = { .kind = ETCD_COMPACT, .revision = retain->revision };

    ask(retain, &request);
}

/* Whether the frames of the lowest segment may be beyond need; else there is no use in a look. */
static bool may_go(const struct retain *retain, uint64_t landed)
{
    return retain->has_newest && retain->low <= retain->newest.segment &&
           retain->newest.log_bytes >= retain->keep_bytes &&
           landed >= retain->lowest + RETAIN_FRAMES_MIN;
}

/* Whether the segment that was looked at is beyond need. */
static bool goes(const struct retain *retain, uint64_t landed)
{
    return retain->newest.log_bytes - retain->goes.log_bytes >= retain->keep_bytes &&
           landed >= retain->goes.last_frame + RETAIN_FRAMES_MIN;
}

void retain_step(struct retain *retain, uint64_t landed, uint64_t now_ns)
{
    if (retain->is_asked || now_ns < retain->again_ns)
        return;
    if (retain->state == RETAIN_RESTS && retain->is_offered)
        move(retain, RETAIN_PUTS);
    else if (retain->state == RETAIN_RESTS && retain->goes.last_frame != 0 && goes(retain, landed))
        move(retain, RETAIN_DELETES);
    else if (retain->state == RETAIN_RESTS && retain->goes.last_frame == 0 &&
             may_go(retain, landed))
        move(retain, RETAIN_LOOKS);
    switch (retain->state) {
    case RETAIN_LOWEST:
        ask_lowest(retain);
        return;
    case RETAIN_SEGMENTS:
        ask_segments(retain);
        return;
    case RETAIN_PUTS:
        ask_put(retain);
        return;
    case RETAIN_LOOKS:
        ask_pointer(retain);
        return;
    case RETAIN_DELETES:
        ask_delete(retain);
        return;
    case RETAIN_COMPACTS:
        ask_compaction(retain);
        return;
    case RETAIN_RESTS:
    case RETAIN_STATE_COUNT:
        return;
    }
}

/* ---- answers --------------------------------------------------------------------------------- */

static void accept_segments(struct retain *retain, const struct etcd_done *done, uint64_t now_ns)
{
    for (uint32_t i = 0; i < done->row_count; i++) {
        struct cluster_segment segment;
        if (!cluster_row_segment_decode(&segment, done->rows[i].value)) {
            retain->again_ns = now_ns + RETAIN_RETRY_NS;
            return; /* not of this binary: nothing is put after it, nothing is deleted */
        }
        if (!retain->has_newest || segment.last_frame < retain->lowest)
            retain->low = segment.segment + (segment.last_frame < retain->lowest);
        retain->newest = segment;
        retain->has_newest = true;
    }
    retain->page_from = retain->has_newest ? retain->newest.segment + 1 : 0;
    if (!done->more)
        move(retain, RETAIN_RESTS);
}

/* The fence held, or another leads, which `lead` finds out by itself: then nothing was done. */
static bool was_done(struct retain *retain, const struct etcd_done *done, uint64_t now_ns)
{
    if (!done->succeeded)
        retain->again_ns = now_ns + RETAIN_RETRY_NS;
    return done->succeeded;
}

static void accept_put(struct retain *retain)
{
    if (!retain->has_newest || retain->offer.last_frame < retain->lowest)
        retain->low = retain->offer.segment + (retain->offer.last_frame < retain->lowest);
    retain->newest = retain->offer;
    retain->has_newest = true;
    retain->is_offered = false;
    move(retain, RETAIN_RESTS);
}

static void accept_pointer(struct retain *retain, const struct etcd_done *done, uint64_t now_ns)
{
    move(retain, RETAIN_RESTS);
    if (done->row_count == 1 && cluster_row_segment_decode(&retain->goes, done->rows[0].value) &&
        retain->goes.segment == retain->low)
        return;
    retain->goes = (struct cluster_segment){ 0 };
    retain->again_ns = now_ns + RETAIN_RETRY_NS;
}

static void accept_delete(struct retain *retain, const struct etcd_done *done)
{
    uint64_t end = delete_end(retain);

    retain->deleted += end - retain->lowest;
    retain->lowest = end;
    retain->revision = done->revision;
    if (retain->lowest > retain->goes.last_frame)
        move(retain, RETAIN_COMPACTS);
}

static void end_segment(struct retain *retain)
{
    retain->low = retain->goes.segment + 1;
    retain->goes = (struct cluster_segment){ 0 };
    move(retain, RETAIN_RESTS);
}

static void accept(struct retain *retain, const struct etcd_done *done, uint64_t now_ns)
{
    switch (retain->state) {
    case RETAIN_LOWEST:
        retain->lowest =
            done->row_count == 0 ? 1 : repl_key_number(retain->cluster, done->rows[0].key);
        move(retain, RETAIN_SEGMENTS);
        return;
    case RETAIN_SEGMENTS:
        accept_segments(retain, done, now_ns);
        return;
    case RETAIN_PUTS:
        if (was_done(retain, done, now_ns))
            accept_put(retain);
        return;
    case RETAIN_LOOKS:
        accept_pointer(retain, done, now_ns);
        return;
    case RETAIN_DELETES:
        if (was_done(retain, done, now_ns))
            accept_delete(retain, done);
        return;
    case RETAIN_COMPACTS:
        end_segment(retain);
        return;
    case RETAIN_RESTS:
    case RETAIN_STATE_COUNT:
        return;
    }
}

void retain_done(struct retain *retain, const struct etcd_done *done, uint64_t now_ns)
{
    if (done->tag != repl_tag(REPL_RETAIN, retain->tag) || !retain->is_asked)
        return; /* of a term before */
    retain->is_asked = false;
    if (done->result == ETCD_OK)
        accept(retain, done, now_ns);
    else if (retain->state == RETAIN_COMPACTS && done->result == ETCD_COMPACTED)
        end_segment(retain); /* it was done, and the answer was lost */
    else
        retain->again_ns = now_ns + RETAIN_RETRY_NS;
}
