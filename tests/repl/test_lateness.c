/* How far a clock is judged off by the lateness of frames (replication.md, Clocks). */
#include "check.h"
#include "repl/lateness.h"

static const uint64_t MS = 1000 * 1000;
static struct lateness lateness;
static uint64_t now_ns;

/* Frames of a term, ten a second for so long, each so late; what is judged then. */
static int64_t frames(uint64_t term, uint64_t seconds, int64_t late_ms)
{
    for (uint64_t i = 0; i < 10 * seconds; i++) {
        now_ns += 100 * MS;
        lateness_add(&lateness, term, late_ms * (int64_t)MS, now_ns);
    }
    return lateness.difference_ns / (int64_t)MS;
}

static void begin(void)
{
    lateness = (struct lateness){ 0 };
    now_ns = 77777 * MS;
}

/* One that came in time counts for 15 to 16 s, however many come late behind it. */
static void least_of_seconds(void)
{
    begin();
    CHECK(frames(1, 1, 3) == 3);
    CHECK(frames(1, 14, 500) == 3);
    CHECK(frames(1, 3, 500) == 500);
    CHECK(frames(1, 1, -40) == -40);
    begin();
    for (int i = 0; i < 10000; i++) /* ten thousand in one second push nothing out */
        lateness_add(&lateness, 1, i == 0 ? 7 : (int64_t)MS, now_ns += 1);
    CHECK(lateness.difference_ns == 7);
}

/* Nothing that came before a pause counts once frames come again; without frames the judgement
 * stands. */
static void a_pause(void)
{
    begin();
    CHECK(frames(1, 2, 2000) == 2000);
    now_ns += 17000 * MS;
    CHECK(lateness.difference_ns == 2000 * (int64_t)MS);
    CHECK(frames(1, 1, 3000) == 3000);
}

/* The first frames of a node are judged at once. Another leader's clock is another one: the former
 * judgement stands for a second of its frames, and then counts no more. */
static void another_term(void)
{
    begin();
    lateness_add(&lateness, 1, -2000 * (int64_t)MS, now_ns);
    CHECK(lateness.difference_ns == -2000 * (int64_t)MS);
    CHECK(frames(1, 2, -1990) == -2000);
    CHECK(frames(2, 1, 30) == -2000);
    CHECK(frames(2, 1, 30) == 30);
    CHECK(frames(3, 1, 900) == 30);
    CHECK(frames(3, 1, 900) == 900);
}

static void waits(void)
{
    const uint64_t bound_ns = 200 * MS;

    CHECK(lateness_wait(0, bound_ns) == 0);
    CHECK(lateness_wait(200 * (int64_t)MS, bound_ns) == 0);
    CHECK(lateness_wait(-200 * (int64_t)MS, bound_ns) == 0);
    CHECK(lateness_wait(200 * (int64_t)MS + 1, bound_ns) == 5200 * MS + 1);
    CHECK(lateness_wait(-3000 * (int64_t)MS, bound_ns) == 8000 * MS);
    CHECK(lateness_wait(3600000 * (int64_t)MS, bound_ns) == 20000 * MS);
    CHECK(lateness_wait(INT64_MIN, bound_ns) == 20000 * MS);
}

int main(void)
{
    least_of_seconds();
    a_pause();
    another_term();
    waits();
    return 0;
}
