/* The leader's writes and the standby's reading, one rule at a time, on a simulated etcd that does
 * what it is asked (replication.md, Writing; Reading of a standby). */
#include "check.h"
#include "repl/etcd_call.h"
#include "repl/lead.h"
#include "repl/retain.h"
#include "repl/tail.h"
#include "support/sim/etcd_sim.h"

static const uint64_t MS = 1000 * 1000;
static struct etcd_sim *sim;
static struct etcd *etcd;
static struct lead lead;
static struct tail tail;
static struct retain retain;
static uint64_t landed;

static void open_world(void)
{
    const struct etcd_sim_config config = { .seed = 1 };
    sim = etcd_sim_create(&config);
    etcd = etcd_sim_connect(sim);
}

static void close_world(void)
{
    tail_end(&tail);
    etcd_close(etcd);
    etcd_sim_destroy(sim);
}

static void put(const struct repl_key *key, const char *value)
{
    etcd_sim_put(sim, etcd_text(key->text), etcd_text(value));
}

static void put_frame(uint64_t number)
{
    struct repl_key key = repl_key_frame("x", number);
    put(&key, "frame");
}

/* The epoch of a leader that is there. */
static int64_t epoch_of_leader(void)
{
    struct repl_key key = repl_key_of("x", "leader");
    put(&key, "me");
    return etcd_sim_revision(sim);
}

static void pass(uint64_t ms)
{
    struct etcd_done done[8];
    for (uint64_t i = 0; i < ms; i++) {
        etcd_sim_advance(sim, MS);
        int count = etcd_reap(etcd, done, 8);
        for (int k = 0; k < count; k++)
            if (repl_unit_of(done[k].tag) == REPL_LEAD)
                lead_done(&lead, &done[k], etcd_sim_now(sim));
            else if (repl_unit_of(done[k].tag) == REPL_RETAIN)
                retain_done(&retain, &done[k], etcd_sim_now(sim));
            else
                tail_done(&tail, &done[k], etcd_sim_now(sim));
        if (lead.etcd != NULL)
            lead_step(&lead, etcd_sim_now(sim));
        if (tail.etcd != NULL)
            tail_step(&tail, etcd_sim_now(sim));
        if (retain.etcd != NULL)
            retain_step(&retain, landed, etcd_sim_now(sim));
    }
}

static bool send(uint64_t number, const char *bytes)
{
    return lead_send(&lead, (const uint8_t *)bytes, strlen(bytes), number, etcd_sim_now(sim));
}

static const struct etcd_row *frame_in_log(uint64_t number)
{
    struct repl_key key = repl_key_frame("x", number);
    return etcd_sim_get(sim, etcd_text(key.text));
}

/* The first of a term goes alone and clears what lies behind it; then a window goes. */
static void first_of_a_term(void)
{
    open_world();
    put_frame(12);
    put_frame(14);
    lead_begin(&lead, etcd, "x", epoch_of_leader(), 10);
    CHECK(send(11, "first") && !send(12, "second"));
    pass(2);
    CHECK(lead.landed == 11 && frame_in_log(12) == NULL && frame_in_log(14) == NULL);
    CHECK(send(12, "second") && send(13, "third") && lead_oldest_ns(&lead, etcd_sim_now(sim)) == 0);
    pass(2);
    CHECK(lead.landed == 13 && lead.state == LEAD_GOES && lead.found_there == 0);
    for (uint64_t number = 14; number < 14 + LEAD_FRAMES_MAX; number++)
        CHECK(send(number, "more"));
    CHECK(!send(14 + LEAD_FRAMES_MAX, "too many"));
    pass(2);
    CHECK(lead.landed == 13 + LEAD_FRAMES_MAX);
    close_world();
}

/* A frame that is there already is landed if it has the bytes sent, else another wrote it. */
static void found_there(void)
{
    open_world();
    lead_begin(&lead, etcd, "x", epoch_of_leader(), 0);
    put_frame(1);
    CHECK(send(1, "frame"));
    pass(2);
    CHECK(lead.landed == 1 && lead.found_there == 1 && lead.state == LEAD_GOES);
    put_frame(2);
    CHECK(send(2, "other"));
    pass(2);
    CHECK(lead.landed == 1 && lead.state == LEAD_LOST && !send(3, "never"));
    close_world();
}

/* Without the key of its epoch nothing is written, though the frame's own key is free. */
static void deposed(void)
{
    open_world();
    lead_begin(&lead, etcd, "x", epoch_of_leader() + 1, 0);
    CHECK(send(1, "frame"));
    pass(2);
    CHECK(lead.state == LEAD_LOST && lead.landed == 0 && frame_in_log(1) == NULL);
    close_world();
}

static void refusals(void)
{
    open_world();
    lead_begin(&lead, etcd, "x", epoch_of_leader(), 0);
    etcd_sim_set_full(sim, true);
    CHECK(send(1, "frame"));
    pass(500);
    CHECK(lead.state == LEAD_GOES && lead.landed == 0);
    CHECK(lead_oldest_ns(&lead, etcd_sim_now(sim)) == 500 * MS);
    etcd_sim_set_full(sim, false);
    pass(600);
    CHECK(lead.landed == 1);
    const enum etcd_result results[] = { ETCD_DENIED, ETCD_TOO_LARGE, ETCD_REFUSED };
    for (size_t i = 0; i < CC_COUNT(results); i++) {
        lead_begin(&lead, etcd, "x", epoch_of_leader(), 10 * (i + 1));
        etcd_sim_refuse(sim, results[i]);
        CHECK(send(10 * (i + 1) + 1, "frame"));
        pass(2);
        CHECK(lead.state == LEAD_FAILED && lead.text[0] != 0 && lead.landed == 10 * (i + 1));
        etcd_sim_refuse(sim, ETCD_OK);
    }
    close_world();
}

/* Takes what there is; the frames that were given. */
static uint64_t take_all(void)
{
    const uint8_t *bytes = NULL;
    size_t count = 0;
    uint64_t taken = 0;
    for (int i = 0; i < 200; i++) {
        pass(1);
        for (; tail_next(&tail, &bytes, &count); taken++) {
            CHECK(count == 5 && memcmp(bytes, "frame", 5) == 0);
            tail_pop(&tail);
        }
    }
    return taken;
}

/* A frame behind a gap waits, is dropped with the log, or is given when the gap closes. */
static void gaps(void)
{
    open_world();
    lead = (struct lead){ 0 };
    for (uint64_t number = 1; number <= 100; number++)
        put_frame(number);
    put_frame(102);
    put_frame(103);
    tail_begin(&tail, etcd, "x", 0);
    CHECK(take_all() == 100 && tail.next == 101 && tail_is_at_end(&tail));
    CHECK(tail.page_rows == 128); /* 32 short ones, 64, then 6 of 128 */
    struct repl_key from = repl_key_frame("x", 103), end = repl_key_log_end("x");
    etcd_sim_delete(sim, etcd_text(from.text), etcd_text(end.text));
    put_frame(101);
    CHECK(take_all() == 2 && tail.next == 103 && tail_is_at_end(&tail));
    put_frame(104);
    CHECK(take_all() == 0);
    tail_finish(&tail);
    CHECK(take_all() == 0 && tail_is_finished(&tail) && tail.next == 103);
    close_world();
}

/* After an answer that was too large pages stay as small as the one that came. */
static void too_large(void)
{
    open_world();
    lead = (struct lead){ 0 };
    for (uint64_t number = 1; number <= 100; number++)
        put_frame(number);
    tail_begin(&tail, etcd, "x", 0);
    for (uint32_t rows = 32; rows > 8; rows /= 2) {
        struct etcd_done refused = { .kind = ETCD_RANGE, .result = ETCD_TOO_LARGE };
        CHECK(tail.page_rows == rows);
        tail_step(&tail, UINT64_MAX);
        refused.tag = repl_tag(REPL_TAIL, tail.tag);
        tail_done(&tail, &refused, etcd_sim_now(sim));
    }
    pass(1000);
    CHECK(take_all() == 100 && tail_is_at_end(&tail));
    CHECK(tail.page_rows <= 8);
    close_world();
}

/* What retention deleted is gone, however much of it; what a leader has under way is not. */
static void gone(void)
{
    const uint64_t firsts[] = { 2, 17, 3000 };
    for (size_t i = 0; i < CC_COUNT(firsts); i++) {
        open_world();
        put_frame(firsts[i]);
        tail_begin(&tail, etcd, "x", 0);
        CHECK(take_all() == 0);
        CHECK((tail.state == TAIL_GONE) == (firsts[i] >= 17));
        close_world();
    }
    open_world();
    for (uint64_t number = 5; number < 60; number++)
        put_frame(number);
    tail_begin(&tail, etcd, "x", 3);
    CHECK(take_all() == 0 && tail.state == TAIL_GONE);
    tail_begin(&tail, etcd, "x", 4);
    CHECK(take_all() == 55 && tail_is_at_end(&tail));
    /* A watch that lost its revisions begins again. */
    etcd_sim_compact(sim, true);
    put_frame(60);
    CHECK(take_all() == 1 && tail_is_at_end(&tail));
    struct repl_key stranger = repl_key_of("x", "log/readme");
    put(&stranger, "?");
    tail_finish(&tail);
    CHECK(take_all() == 0 && tail.state == TAIL_FAILED && tail.text[0] != 0);
    close_world();
}

/* Segment n has the frames 50n + 1 to 50n + 50, of 5 bytes each. */
static bool offer(uint64_t segment)
{
    const struct cluster_segment row = { .segment = segment,
                                         .first_frame = 50 * segment + 1,
                                         .last_frame = 50 * segment + 50,
                                         .log_bytes = 250 };
    return retain_offer(&retain, &row);
}

static bool is_in_log(uint64_t first, uint64_t last)
{
    for (uint64_t number = first; number <= last; number++)
        if (frame_in_log(number) == NULL)
            return false;
    return true;
}

/* Frames go when the pointer of their segment stands, `keep` bytes of the vault's are behind them,
 * and RETAIN_FRAMES_MIN frames too; under the fence only; the next leader goes on. */
static void retention(void)
{
    open_world();
    lead = (struct lead){ 0 };
    tail = (struct tail){ 0 };
    int64_t epoch = epoch_of_leader();
    for (landed = 0; landed < 1000;)
        put_frame(++landed);
    retain_begin(&retain, etcd, "x", epoch, 500);
    CHECK(!retain_wants(&retain));
    pass(5);
    CHECK(retain_wants(&retain) && !retain.has_newest && retain.lowest == 1);
    CHECK(offer(0));
    pass(5);
    CHECK(retain_wants(&retain) && retain.has_newest && !offer(2) && !offer(0));
    CHECK(offer(1));
    pass(5);
    CHECK(is_in_log(1, 1000)); /* 250 bytes behind segment 0 */
    CHECK(offer(2));
    pass(20);
    CHECK(frame_in_log(50) == NULL && is_in_log(51, 1000));
    CHECK(retain.low == 1 && retain.deleted == 50);
    /* Another process of the same term, later: it finds what stands. */
    retain_begin(&retain, etcd, "x", epoch, 250);
    pass(20);
    CHECK(retain.newest.segment == 2 && retain.newest.log_bytes == 750 && retain.low == 2);
    CHECK(frame_in_log(100) == NULL && is_in_log(101, 1000) && retain.lowest == 101);
    /* The newest 64 frames stay although they are not needed. */
    landed = 150 + 63;
    retain_begin(&retain, etcd, "x", epoch, 0);
    pass(20);
    CHECK(is_in_log(101, 1000));
    landed++;
    pass(20);
    CHECK(frame_in_log(150) == NULL && is_in_log(151, 1000));
    /* A leader that another has followed changes nothing. */
    retain_begin(&retain, etcd, "x", epoch + 1, 0);
    landed = 1000;
    pass(20);
    CHECK(offer(3));
    pass(3000);
    struct repl_key key = repl_key_segment("x", 3);
    CHECK(is_in_log(151, 1000) && etcd_sim_get(sim, etcd_text(key.text)) == NULL);
    close_world();
    retain = (struct retain){ 0 };
}

/* The log begins behind what the exchange did alone: segments of before go into the vault first,
 * and their frames are none of the log's. */
static void retention_of_before(void)
{
    open_world();
    lead = (struct lead){ 0 };
    tail = (struct tail){ 0 };
    int64_t epoch = epoch_of_leader();
    for (landed = 120; landed < 1000;)
        put_frame(++landed);
    retain_begin(&retain, etcd, "x", epoch, 0);
    pass(5);
    CHECK(retain_wants(&retain) && retain.lowest == 121);
    CHECK(offer(0));
    pass(20);
    CHECK(offer(1));
    pass(20);
    CHECK(retain.low == 2 && retain.deleted == 0 && is_in_log(121, 1000));
    CHECK(offer(2));
    pass(20);
    CHECK(retain.low == 3 && retain.deleted == 30 && retain.lowest == 151);
    CHECK(frame_in_log(150) == NULL && is_in_log(151, 1000));
    close_world();
    retain = (struct retain){ 0 };
}

/* A standby that holds frames which retention deletes under it does not take what is left for the
 * end: its next frame is gone. */
static void retention_under_a_watch(void)
{
    open_world();
    lead = (struct lead){ 0 };
    put_frame(1);
    tail_begin(&tail, etcd, "x", 0);
    CHECK(take_all() == 1 && tail_is_at_end(&tail));
    for (uint64_t number = 2; number < 200; number++)
        put_frame(number);
    pass(100); /* they are held and not taken */
    struct repl_key from = repl_key_frame("x", 0), end = repl_key_frame("x", 100);
    etcd_sim_delete(sim, etcd_text(from.text), etcd_text(end.text));
    pass(20);
    CHECK(!tail_is_at_end(&tail));
    CHECK(take_all() == 0 && tail.state == TAIL_GONE && tail.next == 2);
    close_world();
}

int main(void)
{
    first_of_a_term();
    found_there();
    deposed();
    refusals();
    gaps();
    too_large();
    gone();
    retention();
    retention_of_before();
    retention_under_a_watch();
    return 0;
}
