#include "repl/lead.h"

#include <errno.h>

#include "repl/etcd_call.h"

/* The only writer of the state. The table must allow the move (INVARIANT). */
static void move(struct lead *lead, enum lead_state next)
{
#define TO(name)             (1U << LEAD_##name)
#define X(name, next_states) next_states,
    static const unsigned allowed[LEAD_STATE_COUNT] = { LEAD_STATE_LIST(X) };
#undef X
#undef TO

    INVARIANT((unsigned)lead->state < LEAD_STATE_COUNT && (unsigned)next < LEAD_STATE_COUNT);
    INVARIANT((allowed[lead->state] >> next & 1U) != 0);
    lead->state = next;
}

void lead_begin(struct lead *lead, struct etcd *etcd, const char *cluster, int64_t epoch,
                uint64_t last)
{
    *lead = (struct lead){
        .etcd = etcd,
        .cluster = cluster,
        .epoch = epoch,
        .first = last + 1,
        .landed = last,
        .text = "",
    };
}

static struct lead_frame *frame_at(struct lead *lead, uint64_t number)
{
    return &lead->frames[number % LEAD_FRAMES_MAX];
}

static int submit(struct lead *lead, const struct lead_frame *frame)
{
    struct repl_key leader = repl_key_of(lead->cluster, "leader");
    struct repl_key key = repl_key_frame(lead->cluster, frame->number);
    struct repl_key behind = repl_key_frame(lead->cluster, frame->number + 1);
    struct repl_key end = repl_key_log_end(lead->cluster);
    const struct etcd_compare compares[] = {
        { etcd_text(leader.text), ETCD_CREATE_REVISION, lead->epoch },
        { etcd_text(key.text), ETCD_VERSION, 0 },
    };
    const struct etcd_op then[] = {
        { .verb = ETCD_PUT, .key = etcd_text(key.text), .value = { frame->bytes, frame->count } },
        { .verb = ETCD_DELETE, .key = etcd_text(behind.text), .end = etcd_text(end.text) },
    };
    const struct etcd_op otherwise[] = {
        { .verb = ETCD_GET, .key = etcd_text(key.text) },
    };
    const struct etcd_transaction transaction = {
        .compares = compares,
        .compare_count = CC_COUNT(compares),
        .then = then,
        .then_count = frame->number == lead->first ? 2 : 1,
        .otherwise = otherwise,
        .otherwise_count = CC_COUNT(otherwise),
    };
    const struct etcd_request request = { .kind = ETCD_TRANSACTION, .transaction = &transaction };

    return etcd_submit(lead->etcd, &request, repl_tag(REPL_LEAD, frame->number));
}

static void fail(struct lead *lead, const char *text)
{
    if (lead->state != LEAD_GOES)
        return;
    move(lead, LEAD_FAILED);
    lead->text = text;
}

bool lead_send(struct lead *lead, const uint8_t *bytes, size_t count, uint64_t number,
               uint64_t now_ns)
{
    struct lead_frame *frame = frame_at(lead, number);

    INVARIANT(number > lead->landed);
    if (lead->state != LEAD_GOES || number - lead->landed > LEAD_FRAMES_MAX)
        return false;
    if (number > lead->first && lead->landed < lead->first)
        return false; /* the first one, when it lands, deletes what is after it */
    INVARIANT(frame->bytes == NULL);
    *frame =
        (struct lead_frame){ .bytes = bytes, .count = count, .number = number, .sent_ns = now_ns };
    int error = submit(lead, frame);
    if (error == 0)
        return true;
    frame->bytes = NULL;
    if (error != -EAGAIN)
        fail(lead, error == -EMSGSIZE ? "a frame is longer than a request may be" : "no memory");
    return false;
}

/* What log/n holds in the answer of a transaction that did not put it. */
static bool is_mine(const struct lead_frame *frame, const struct etcd_done *done)
{
    return done->row_count == 1 && done->rows[0].value.count == frame->count &&
           memcmp(done->rows[0].value.bytes, frame->bytes, frame->count) == 0;
}

static void advance(struct lead *lead, uint64_t now_ns)
{
    for (;;) {
        struct lead_frame *frame = frame_at(lead, lead->landed + 1);
        if (frame->bytes == NULL || frame->number != lead->landed + 1 || !frame->has_landed)
            return;
        if (lead->commits != NULL)
            histogram_add(lead->commits, now_ns > frame->sent_ns ? now_ns - frame->sent_ns : 0);
        frame->bytes = NULL;
        lead->landed++;
    }
}

static void accept_answer(struct lead *lead, struct lead_frame *frame, const struct etcd_done *done,
                          uint64_t now_ns)
{
    if (!done->succeeded && !is_mine(frame, done)) {
        move(lead, LEAD_LOST);
        return;
    }
    lead->found_there += !done->succeeded;
    frame->has_landed = true;
    advance(lead, now_ns);
}

void lead_done(struct lead *lead, const struct etcd_done *done, uint64_t now_ns)
{
    uint64_t number = done->tag & ~(UINT64_C(0xFF) << 56);
    struct lead_frame *frame = frame_at(lead, number);

    if (frame->bytes == NULL || frame->number != number || frame->has_landed)
        return; /* of a term before */
    switch (done->result) {
    case ETCD_OK:
        if (lead->state == LEAD_GOES)
            accept_answer(lead, frame, done, now_ns);
        return;
    case ETCD_NO_SPACE:
    case ETCD_LATE:
        frame->again_ns = now_ns + LEAD_SPACE_RETRY_NS;
        return;
    case ETCD_TOO_LARGE:
        fail(lead, "etcd refused a frame as too large (--max-request-bytes)");
        return;
    case ETCD_DENIED:
        fail(lead, "etcd denied a write to the log");
        return;
    case ETCD_COMPACTED:
    case ETCD_NO_LEASE:
    case ETCD_REFUSED:
        fail(lead, "etcd refused a write to the log");
        return;
    }
}

void lead_step(struct lead *lead, uint64_t now_ns)
{
    for (uint32_t i = 0; i < LEAD_FRAMES_MAX && lead->state == LEAD_GOES; i++) {
        struct lead_frame *frame = &lead->frames[i];
        if (frame->bytes != NULL && frame->again_ns != 0 && now_ns >= frame->again_ns &&
            submit(lead, frame) == 0)
            frame->again_ns = 0;
    }
}

uint64_t lead_oldest_ns(const struct lead *lead, uint64_t now_ns)
{
    const struct lead_frame *frame = &lead->frames[(lead->landed + 1) % LEAD_FRAMES_MAX];

    if (frame->bytes == NULL || frame->number != lead->landed + 1 || now_ns <= frame->sent_ns)
        return 0;
    return now_ns - frame->sent_ns;
}
