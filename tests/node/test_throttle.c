/* The halved rate of a leader whose etcd is nearly full (replication.md, Quota). */
#include "check.h"
#include "node/run/throttle.h"

static const uint64_t MS = 1000000;

/* What is sequenced in `ms` by a matcher that always has work and does `turn` commands a turn. */
static uint64_t sequenced(struct throttle *throttle, bool halves, uint64_t *sequence,
                          uint64_t *now_ns, uint64_t ms, uint64_t turn)
{
    uint64_t begun = *sequence;

    for (uint64_t i = 0; i < ms; i++, *now_ns += MS)
        if (!throttle_holds(throttle, halves, *sequence, *now_ns))
            *sequence += turn;
    return *sequence - begun;
}

int main(void)
{
    static const struct {
        uint64_t turn, least, most; /* a turn each ms; in 10 s with half the rate */
    } rows[] = {
        { 4, 20000 - 8, 20000 + 8 },
        { 1, 5000 - 2, 5000 + 2 },
        { 300, 1500000 - 600, 1500000 + 600 }, /* a turn is more than what is left of the half */
    };
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        struct throttle throttle = { 0 };
        uint64_t sequence = 77, now_ns = 5000 * MS;
        CHECK(sequenced(&throttle, false, &sequence, &now_ns, 3000, rows[i].turn) ==
              3000 * rows[i].turn);
        uint64_t got = sequenced(&throttle, true, &sequence, &now_ns, 10000, rows[i].turn);
        CHECK(got >= rows[i].least && got <= rows[i].most);
        /* The half is of the rate before, however long it lasts; then all goes again. */
        CHECK(sequenced(&throttle, true, &sequence, &now_ns, 10000, rows[i].turn) <= rows[i].most);
        CHECK(sequenced(&throttle, false, &sequence, &now_ns, 1000, rows[i].turn) ==
              1000 * rows[i].turn);
    }
    /* Ticks go on where nothing was sequenced before; a pause saves up no more than 100 ms. */
    struct throttle idle = { 0 };
    uint64_t sequence = 1, now_ns = 5000 * MS;
    for (int i = 0; i < 2000; i++, now_ns += MS)
        CHECK(!throttle_holds(&idle, false, sequence, now_ns));
    uint64_t got = sequenced(&idle, true, &sequence, &now_ns, 10000, 1);
    CHECK(got >= 199 && got <= 202);
    now_ns += 60000 * MS;
    CHECK(sequenced(&idle, true, &sequence, &now_ns, 1, 1) == 1);
    CHECK(sequenced(&idle, true, &sequence, &now_ns, 1000, 1) <= 23);
    return 0;
}
