/* Elections among nodes whose clocks are judged off, or of two rules_versions, on a simulated etcd
 * (replication.md, Clocks, Session and election): who leads, and after how long. */
#include <stdio.h>

#include "check.h"
#include "repl/elect.h"
#include "repl/etcd_call.h"
#include "repl/lateness.h"
#include "support/sim/etcd_sim.h"

enum { NODES = 3, BOUND_MS = 200 };

static const uint64_t MS = 1000 * 1000;

struct node {
    char name[8];
    struct etcd *etcd; /* NULL: dead */
    struct elect elect;
    int64_t off_ms;
    bool is_behind, is_no_candidate, is_unjudged;
    uint32_t rules_version;
};

static struct etcd_sim *sim;
static struct node nodes[NODES];

static void start(int i)
{
    struct node *node = &nodes[i];

    snprintf(node->name, sizeof node->name, "n%d", i);
    node->etcd = etcd_sim_connect(sim);
    elect_begin(&node->elect, &(struct elect_config){
                                  .etcd = node->etcd,
                                  .cluster = "x",
                                  .node = node->name,
                                  .lease_s = 1,
                                  .is_candidate = !node->is_no_candidate,
                                  .rules_version = node->rules_version,
                                  .public_address = "127.0.0.1:1",
                                  .admin_address = "127.0.0.1:2",
                              });
}

static void kill_node(int i)
{
    etcd_close(nodes[i].etcd);
    nodes[i].etcd = NULL;
}

static void turn(struct node *node)
{
    uint64_t now = etcd_sim_now(sim);
    struct etcd_done done[8];
    int count = etcd_reap(node->etcd, done, 8);

    for (int i = 0; i < count; i++)
        elect_done(&node->elect, &done[i], now);
    const struct elect_status status = {
        .clock_difference_ns = node->off_ms * (int64_t)MS,
        .clock_wait_ns = lateness_wait(node->off_ms * (int64_t)MS, BOUND_MS * MS),
        .is_judged = !node->is_unjudged,
        .is_current = !node->is_behind,
        .is_alive = true,
        .creates = node == &nodes[0],
        .create_term = 1,
    };
    elect_step(&node->elect, &status, now, now);
}

/* Who leads; -1: nobody. */
static int leader(void)
{
    for (int i = 0; i < NODES; i++)
        if (nodes[i].etcd != NULL && nodes[i].elect.state == ELECT_ELECTED)
            return i;
    return -1;
}

static void pass(uint64_t ms)
{
    for (uint64_t i = 0; i < ms; i++) {
        etcd_sim_advance(sim, MS);
        for (int k = 0; k < NODES; k++)
            if (nodes[k].etcd != NULL)
                turn(&nodes[k]);
    }
}

/* Milliseconds until one leads, at most 60,000. */
static uint64_t until_led(void)
{
    uint64_t passed = 0;

    for (; leader() < 0 && passed < 60000; passed++)
        pass(1);
    return passed;
}

/* Node 0 leads, well; then the clocks of 1 and 2 are judged off by these, and it dies. */
static void begin(int64_t off1_ms, int64_t off2_ms)
{
    sim = etcd_sim_create(&(struct etcd_sim_config){ .seed = 1, .faults = { .delay_ms = 2 } });
    memset(nodes, 0, sizeof nodes);
    start(0);
    CHECK(until_led() < 3000 && leader() == 0);
    start(1);
    start(2);
    nodes[1].off_ms = off1_ms;
    nodes[2].off_ms = off2_ms;
    pass(3000); /* each shows its clock */
}

static void end(void)
{
    for (int i = 0; i < NODES; i++)
        if (nodes[i].etcd != NULL)
            kill_node(i);
    etcd_sim_destroy(sim);
}

/* Both are off: nobody for 5 s and what the nearer one is off, then that one, though its name is
 * the later. The lease of the dead one lasts a second. */
static void least_off_leads(void)
{
    const int64_t offs[][2] = { { 2000, 300 }, { -2000, 300 }, { 2000, -300 }, { -900, -300 } };

    for (size_t i = 0; i < CC_COUNT(offs); i++) {
        begin(offs[i][0], offs[i][1]);
        kill_node(0);
        pass(5000 + 300);
        CHECK(leader() == -1);
        CHECK(until_led() <= 1500 && leader() == 2);
        end();
    }
}

/* One that is well leads as ever, and the other one never does while it is there. */
static void well_leads_at_once(void)
{
    begin(-2000, 200);
    kill_node(0);
    CHECK(until_led() <= 1500 && leader() == 2);
    pass(60000);
    CHECK(nodes[1].elect.state == ELECT_FOLLOWS);
    end();
}

/* A node that is well and reads on has 10 s more; then the other one leads, for somebody must. One
 * that is no candidate, or that is gone, is not waited for. */
static void better_ones_have_their_time(void)
{
    begin(300, 0);
    nodes[2].is_behind = true;
    pass(2000);
    kill_node(0);
    pass(10000);
    CHECK(leader() == -1);
    nodes[2].is_behind = false;
    pass(1000);
    CHECK(leader() == 2);
    end();

    begin(300, 0);
    nodes[2].is_behind = true;
    pass(2000);
    kill_node(0);
    pass(15300);
    CHECK(leader() == -1);
    CHECK(until_led() <= 1500 && leader() == 1);
    end();

    begin(300, 0);
    kill_node(2);
    nodes[2].is_no_candidate = true;
    start(2);
    pass(3000);
    kill_node(0);
    CHECK(until_led() <= 5300 + 1500 && leader() == 1);
    end();

    begin(300, 0);
    kill_node(2);
    pass(3000);
    kill_node(0);
    CHECK(until_led() <= 5300 + 1500 && leader() == 1);
    end();
}

/* A leader that comes within the wait, and goes: the wait begins again. */
static void a_wait_ends(void)
{
    begin(300, 5000);
    kill_node(0);
    pass(4000);
    start(0);
    CHECK(until_led() <= 2000 && leader() == 0);
    pass(2000);
    kill_node(0);
    pass(5300);
    CHECK(leader() == -1);
    CHECK(until_led() <= 1500 && leader() == 1);
    end();
}

/* One that waits for a better one, and must read on itself then, does not lead before it has. */
static void not_current_any_more(void)
{
    begin(300, 0);
    nodes[2].is_behind = true;
    pass(2000);
    kill_node(0);
    pass(8000);
    CHECK(nodes[1].elect.state == ELECT_STANDS);
    nodes[1].is_behind = true;
    pass(20000);
    CHECK(leader() == -1);
    nodes[1].is_behind = false;
    CHECK(until_led() <= 10000 + 1500 && leader() == 1);
    end();
}

/* A node that has judged no frame, and comes first by name: it leads behind those whose clocks are
 * judged, after 2 s for those that read on; at once where nobody's is judged. */
static void unjudged_leads_last(void)
{
    begin(0, 200);
    nodes[1].is_unjudged = true;
    pass(2000);
    kill_node(0);
    CHECK(until_led() <= 1500 && leader() == 2);
    end();

    begin(0, 0);
    nodes[1].is_unjudged = nodes[2].is_behind = true;
    pass(2000);
    kill_node(0);
    pass(2500);
    CHECK(leader() == -1);
    CHECK(until_led() <= 1000 && leader() == 1);
    end();

    begin(0, 0);
    nodes[1].is_unjudged = nodes[2].is_unjudged = true;
    pass(2000);
    kill_node(0);
    CHECK(until_led() <= 1500 && leader() == 1);
    end();
}

/* Of nodes of two rules_versions, without an order to upgrade, one of the earlier leads while it is
 * there, though its name is the later; then the other one. */
static void an_earlier_version_leads(void)
{
    begin(0, 0);
    kill_node(1);
    nodes[1].rules_version = 1;
    start(1);
    pass(3000);
    kill_node(0);
    CHECK(until_led() <= 1500 && leader() == 2);
    kill_node(2);
    CHECK(until_led() <= 3000 && leader() == 1);
    end();
}

/* Keys: the node's, on a change of state, else each second. One that is current between frames, of
 * which 100 come a second, does not change; one that stays behind does, after 500 ms. */
static void shown_rarely(void)
{
    uint64_t puts = 0, shown_ns;

    begin(0, 0);
    shown_ns = nodes[1].elect.shown_ns;
    for (int i = 0; i < 2000; i++) {
        nodes[1].is_behind = i % 2 == 0;
        pass(5);
        puts += nodes[1].elect.shown_ns != shown_ns;
        shown_ns = nodes[1].elect.shown_ns;
        CHECK(nodes[1].elect.shown_state == CLUSTER_CURRENT);
    }
    CHECK(puts >= 9 && puts <= 11);
    nodes[1].is_behind = true;
    pass(490);
    CHECK(nodes[1].elect.shown_state == CLUSTER_CURRENT);
    pass(20);
    CHECK(nodes[1].elect.shown_state == CLUSTER_BEHIND);
    end();
}

int main(void)
{
    least_off_leads();
    well_leads_at_once();
    better_ones_have_their_time();
    a_wait_ends();
    not_current_any_more();
    unjudged_leads_last();
    an_earlier_version_leads();
    shown_rarely();
    return 0;
}
