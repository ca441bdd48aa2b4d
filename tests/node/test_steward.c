/* What a steward does with the snapshots that it is offered (replication.md, Snapshots in the
 * vault), against a simulated etcd. */
#include <stdio.h>

#include "check.h"
#include "node/replicator/steward.h"
#include "support/sim/etcd_sim.h"

static struct etcd_sim *sim;
static struct clock now;
static struct steward steward;

static void open_world(void)
{
    const struct etcd_sim_config config = { .seed = 1 };

    sim = etcd_sim_create(&config);
    clock_init_simulated(&now, ETCD_SIM_BEGIN_NS);
    memset(&steward, 0, sizeof steward);
    steward.config = (struct steward_config){
        .clock = &now, .cluster = "x", .node = "a", .quota = 1 << 30, .clock_ns = 1000000
    };
    steward.any = etcd_sim_connect(sim);
}

static void close_world(void)
{
    steward_end(&steward);
    etcd_sim_destroy(sim);
}

/* One step, a second after the one before. True: nothing waits to be put. */
static bool step(void)
{
    clock_advance(&now, STEWARD_STEP_NS);
    CHECK(steward_step(&steward) == 1 && steward.survey.has_answer);
    return !atomic_load(&steward.is_offered);
}

static bool offers(uint64_t sequence, bool is_in_vault)
{
    const struct cluster_snapshot snapshot = { .sequence = sequence,
                                               .frame = sequence / 2,
                                               .next_segment = 4,
                                               .bytes = 5000,
                                               .rules_version = 7,
                                               .node = "a" };

    return steward_offer(&steward, &snapshot, is_in_vault);
}

/* Which of the snapshots 100, 200 .. 600 have a key, oldest first: "2 3 4 ". */
static const char *keys(void)
{
    static char text[32];
    size_t used = 0;

    text[0] = 0;
    for (unsigned i = 1; i <= 6; i++) {
        struct repl_key key = repl_key_snapshot("x", i * 100);
        if (etcd_sim_get(sim, etcd_text(key.text)) != NULL)
            used += (size_t)snprintf(text + used, sizeof text - used, "%u ", i);
    }
    return text;
}

/* Three of them are kept. One that is older than the newest is not put, and nothing waits. */
static void keeps_the_newest(void)
{
    static const uint64_t late[] = { 50, 150, 199, 200, 250, 299, 300 };

    open_world();
    CHECK(offers(100, true) && !offers(200, true) && step());
    for (uint64_t sequence = 200; sequence <= 300; sequence += 100)
        CHECK(offers(sequence, true) && step());
    CHECK(strcmp(keys(), "1 2 3 ") == 0);
    for (size_t i = 0; i < CC_COUNT(late); i++) {
        int64_t revision = etcd_sim_revision(sim);
        CHECK(offers(late[i], true));
        CHECK(step());
        CHECK(etcd_sim_revision(sim) == revision);
    }
    CHECK(offers(400, true) && step() && strcmp(keys(), "2 3 4 ") == 0);
    CHECK(offers(500, true) && step() && strcmp(keys(), "3 4 5 ") == 0);
    close_world();
    open_world(); /* beside fewer than three, too */
    CHECK(offers(200, true) && step());
    CHECK(offers(100, true) && step() && strcmp(keys(), "2 ") == 0);
    close_world();
}

/* What etcd refuses for good is given up; what it does not take now is put when it does. */
static void refusals(void)
{
    open_world();
    for (int is_in_vault = 0; is_in_vault < 2; is_in_vault++) {
        etcd_sim_refuse(sim, ETCD_REFUSED);
        CHECK(offers(100, is_in_vault));
        CHECK(step());
        CHECK(atomic_exchange(&steward.is_refused, false));
        etcd_sim_refuse(sim, ETCD_NO_SPACE);
        CHECK(offers(200, is_in_vault));
        CHECK(!step());
        CHECK(!step() && !offers(300, is_in_vault));
        etcd_sim_refuse(sim, ETCD_OK);
        CHECK(step());
        CHECK(!atomic_load(&steward.is_refused));
        CHECK(strcmp(keys(), is_in_vault ? "2 " : "") == 0);
    }
    struct repl_key image = repl_key_of("x", "image/a");
    CHECK(etcd_sim_get(sim, etcd_text(image.text)) != NULL);
    close_world();
}

int main(void)
{
    keeps_the_newest();
    refusals();
    return 0;
}
