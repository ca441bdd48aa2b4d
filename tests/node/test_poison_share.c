/* How a node tells its cluster of a request that it ended on, and what the others take of it
 * (replication.md, A poison command), against a simulated etcd. */
#include <stdio.h>

#include "base/log.h"
#include "base/option.h"
#include "check.h"
#include "node/run/poison_share.h"
#include "repl/etcd_call.h"
#include "repl/repl_key.h"
#include "support/sim/etcd_sim.h"

#define S       UINT64_C(1000000000)
#define NOW_NS  (UINT64_C(1755582431) * S)
#define STEP_NS (S / 4)

enum { STEPS_A_S = 4, FIRST_LEASES = 3000 /* the numbers of the first ones end below */ };

struct side {
    struct poison_share share;
    struct poison_file file;
    struct etcd *etcd;
};

static struct etcd_sim *sim;
static struct side one, other;

static void open_world(void)
{
    const struct etcd_sim_config config = { .seed = 1 };

    sim = etcd_sim_create(&config);
    memset(&one, 0, sizeof one);
    memset(&other, 0, sizeof other);
    one.etcd = etcd_sim_connect(sim);
    other.etcd = etcd_sim_connect(sim);
}

static void close_world(void)
{
    etcd_close(one.etcd);
    etcd_close(other.etcd);
    etcd_sim_destroy(sim);
}

static struct poison_row row_of(uint64_t number, uint64_t found_ns, bool has_id)
{
    struct poison_row row = {
        .account = number, .found_ns = found_ns, .code = 34, .has_id = has_id
    };
    cc_store64(row.id, number);
    return row;
}

static void note(struct side *side, uint64_t number, uint64_t found_ns, bool has_id)
{
    struct poison_row row = row_of(number, found_ns, has_id);
    poison_file_add(&side->file, &row);
}

static bool knows(const struct side *side, uint64_t number)
{
    struct poison_row row = row_of(number, 0, true);
    return poison_file_has(&side->file, row.account, row.id);
}

/* Each key that came is taken before the next. */
static void run(struct side *side, uint32_t steps)
{
    for (uint32_t i = 0; i < steps; i++) {
        etcd_sim_advance(sim, STEP_NS);
        poison_share_step(&side->share, side->etcd, "x", etcd_sim_now(sim));
        poison_share_accept(&side->share, &side->file);
    }
}

static void put_strange(uint64_t number, size_t bytes, uint64_t code)
{
    struct poison_row row = row_of(number, 0, true);
    uint8_t value[POISON_SHARE_BYTES + 1] = { 0 };
    char name[32];

    snprintf(name, sizeof name, "poison/%016lx", number);
    struct repl_key key = repl_key_of("x", name);
    cc_store64(value, number);
    memcpy(value + 8, row.id, sizeof row.id);
    cc_store64(value + 24, code);
    etcd_sim_put(sim, etcd_text(key.text), (struct etcd_bytes){ value, bytes });
}

/* Newer requests with an id, at most POISON_SHARE_OWN; told again until etcd takes them. */
static void tells(void)
{
    open_world();
    note(&one, 1, NOW_NS - POISON_SHARE_S * S, true);
    note(&one, 2, NOW_NS - POISON_SHARE_S * S + 1, true);
    note(&one, 3, NOW_NS, false);
    poison_share_begin(&one.share, &one.file, NOW_NS);
    CHECK(one.share.own_count == 1);
    etcd_sim_refuse(sim, ETCD_NO_SPACE);
    run(&one, 4);
    run(&other, 4);
    CHECK(one.share.own_count == 1 && other.file.row_count == 0);
    etcd_sim_refuse(sim, ETCD_OK);
    run(&one, 4);
    run(&other, 1);
    CHECK(knows(&other, 2) && other.file.row_count == 1 && other.file.rows[0].code == 34);
    CHECK(one.file.row_count == 3); /* its own is not added again */
    close_world();
    open_world();
    for (uint64_t i = 1; i <= POISON_SHARE_OWN + 1; i++)
        note(&one, i, NOW_NS, true);
    poison_share_begin(&one.share, &one.file, NOW_NS);
    run(&one, 1);
    CHECK(one.share.own_count == POISON_SHARE_OWN - 1); /* a stop waits for one */
    run(&one, POISON_SHARE_OWN - 1);
    run(&other, 2 * POISON_SHARE_OWN);
    CHECK(other.file.row_count == POISON_SHARE_OWN && !knows(&other, 1));
    close_world();
}

/* How many leases there are; none is there any more. */
static uint32_t end_leases(void)
{
    uint32_t count = 0;

    for (int64_t lease = 0; lease < FIRST_LEASES; lease++)
        if (etcd_sim_end_lease(sim, lease))
            count++;
    return count;
}

/* While etcd refuses the key, tries come ever later, for each takes a lease: nine in a minute; then
 * one each 16 s. It is taken once etcd does, and the next row goes at once. */
static void waits(void)
{
    open_world();
    note(&one, 1, NOW_NS, true);
    note(&one, 2, NOW_NS, true);
    poison_share_begin(&one.share, &one.file, NOW_NS);
    etcd_sim_refuse(sim, ETCD_DENIED);
    run(&one, 60 * STEPS_A_S);
    uint32_t count = end_leases();
    CHECK(count >= 6 && count <= 9);
    run(&one, 64 * STEPS_A_S);
    CHECK(end_leases() == 4);
    etcd_sim_refuse(sim, ETCD_OK);
    run(&one, 16 * STEPS_A_S + 1);
    CHECK(one.share.own_count == 0);
    run(&other, 4);
    CHECK(knows(&other, 1) && knows(&other, 2));
    close_world();
}

/* A node that begins later still learns of it, for as long as the id can be taken; then it is
 * cleared. */
static void lives(void)
{
    const uint64_t taken_ms = option_row(OPTION_exchange_clock_past_ms)->maximum +
                              option_row(OPTION_exchange_clock_future_ms)->maximum;

    open_world();
    note(&one, 1, NOW_NS, true);
    poison_share_begin(&one.share, &one.file, NOW_NS);
    run(&one, 1);
    etcd_sim_advance(sim, taken_ms * 1000000);
    run(&other, 1);
    CHECK(knows(&other, 1));
    memset(&other.share, 0, sizeof other.share);
    memset(&other.file, 0, sizeof other.file);
    etcd_sim_advance(sim, POISON_SHARE_S * S);
    run(&other, 2);
    CHECK(other.file.row_count == 0);
    close_world();
}

/* What anybody else puts there is passed over; however much it is, nothing more than requests with
 * their ids is refused, and no start. */
static void strangers(void)
{
    open_world();
    put_strange(1, POISON_SHARE_BYTES - 1, 34);
    put_strange(2, POISON_SHARE_BYTES + 1, 34);
    put_strange(3, 0, 34);
    put_strange(4, POISON_SHARE_BYTES, UINT16_MAX + 1);
    run(&other, 8);
    CHECK(other.file.row_count == 0);
    for (uint64_t i = 0; i < POISON_ROWS_MAX; i++)
        note(&other, 1000 + i, NOW_NS, true);
    put_strange(5, POISON_SHARE_BYTES, UINT16_MAX);
    run(&other, 8);
    CHECK(other.file.row_count == POISON_ROWS_MAX && poison_file_stop(&other.file) == NULL);
    close_world();
    open_world();
    for (uint64_t i = 1; i <= 2 * POISON_SHARE_MAX; i++)
        put_strange(i, POISON_SHARE_BYTES, 34);
    run(&other, 4 * POISON_SHARE_MAX);
    CHECK(other.file.row_count == POISON_SHARE_MAX && poison_file_stop(&other.file) == NULL);
    close_world();
}

int main(void)
{
    log_set_level(LOG_NOTHING); /* what is told of faults made here is no news */
    tells();
    waits();
    lives();
    strangers();
    return 0;
}
