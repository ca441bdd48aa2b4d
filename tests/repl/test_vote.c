/* The vote on a leader's state, on a simulated etcd (replication.md, Hash vote): who is waited for,
 * how long, and when the leader is the odd one. */
#include <stdio.h>

#include "check.h"
#include "repl/etcd_call.h"
#include "repl/vote.h"
#include "support/sim/etcd_sim.h"

static const uint64_t MS = 1000 * 1000;
static struct etcd_sim *sim;
static struct etcd *etcd;
static struct vote vote;

enum { AT = 2 * VOTE_NEAR, BEFORE = AT - 1 };

/* A node shows the state `hash` at a sequence. */
static void show_at(const char *name, enum cluster_state state, uint64_t applied, uint64_t sequence,
                    uint8_t hash)
{
    struct cluster_node node = { .state = (uint8_t)state,
                                 .applied = applied,
                                 .hash_sequence = sequence,
                                 .effects_hash = { hash } };
    uint8_t value[CLUSTER_NODE_ROW_BYTES];
    char key[64];

    snprintf(node.node, sizeof node.node, "%s", name);
    snprintf(node.public_address, sizeof node.public_address, "127.0.0.1:8080");
    snprintf(key, sizeof key, "node/%s", name);
    cluster_row_node_encode(value, &node);
    struct repl_key full = repl_key_of("x", key);
    etcd_sim_put(sim, etcd_text(full.text), (struct etcd_bytes){ value, sizeof value });
}

static void show(const char *name, enum cluster_state state, uint64_t sequence, uint8_t hash)
{
    show_at(name, state, AT, sequence, hash);
}

static void pass(uint64_t ms)
{
    struct etcd_done done[8];

    for (uint64_t i = 0; i < ms; i++) {
        etcd_sim_advance(sim, MS);
        int count = etcd_reap(etcd, done, 8);
        for (int k = 0; k < count; k++)
            vote_done(&vote, &done[k]);
        vote_step(&vote, etcd_sim_now(sim));
    }
}

/* "a" leads, and votes on its state 1. */
static void begin(void)
{
    const struct etcd_sim_config config = { .seed = 1 };
    const uint8_t hash[32] = { 1 };

    sim = etcd_sim_create(&config);
    etcd = etcd_sim_connect(sim);
    vote = (struct vote){ .etcd = etcd, .cluster = "x", .node = "a" };
    show("a", CLUSTER_LEADING, AT, 1);
    vote_begin(&vote, AT, hash, etcd_sim_now(sim));
}

static void end(void)
{
    vote_end(&vote);
    etcd_close(etcd);
    etcd_sim_destroy(sim);
}

/* Nodes close behind are waited for, others are not. */
static void waits_for_those_that_follow(void)
{
    begin();
    show("b", CLUSTER_CURRENT, 0, 0);
    show_at("c", CLUSTER_BEHIND, AT - VOTE_NEAR, 0, 0);
    show_at("d", CLUSTER_BEHIND, AT - VOTE_NEAR - 1, 0, 0);
    show("e", CLUSTER_STARTING, 0, 0);
    pass(100);
    CHECK(vote.state == VOTE_OPEN);
    show("b", CLUSTER_CURRENT, AT, 1);
    pass(50);
    CHECK(vote.state == VOTE_OPEN);
    show("c", CLUSTER_BEHIND, AT, 1);
    pass(50);
    CHECK(vote.state == VOTE_AGREED);
    end();
    begin(); /* alone */
    pass(50);
    CHECK(vote.state == VOTE_AGREED);
    end();
}

/* One other is not enough, two that differ from each other are not, two that agree are. */
static void two_outvote_one(void)
{
    begin();
    show("b", CLUSTER_CURRENT, AT, 2);
    show("c", CLUSTER_CURRENT, AT, 1);
    pass(50);
    CHECK(vote.state == VOTE_AGREED);
    end();
    begin();
    show("b", CLUSTER_CURRENT, AT, 2);
    show("c", CLUSTER_CURRENT, AT, 3);
    pass(50);
    CHECK(vote.state == VOTE_AGREED);
    end();
    begin();
    show("b", CLUSTER_CURRENT, BEFORE, 2); /* of another sequence */
    show("c", CLUSTER_CURRENT, AT, 2);
    pass(50);
    CHECK(vote.state == VOTE_OPEN);
    show("b", CLUSTER_CURRENT, AT, 2);
    pass(50);
    CHECK(vote.state == VOTE_ODD);
    end();
    begin();
    show("b", CLUSTER_CURRENT, AT, 1);
    show("c", CLUSTER_CURRENT, AT, 2);
    show("d", CLUSTER_CURRENT, AT, 1);
    show("e", CLUSTER_CURRENT, AT, 2);
    pass(50);
    CHECK(vote.state == VOTE_ODD);
    end();
}

/* Neither a node that does not come nor an etcd that does not answer holds a leader for long. */
static void it_ends(void)
{
    begin();
    show("b", CLUSTER_CURRENT, 0, 0);
    pass(VOTE_WAIT_NS / MS - 1);
    CHECK(vote.state == VOTE_OPEN);
    pass(1);
    CHECK(vote.state == VOTE_AGREED);
    end();
    begin();
    etcd_sim_cut(etcd, true);
    pass(VOTE_WAIT_NS / MS);
    CHECK(vote.state == VOTE_AGREED && !vote.is_asked);
    end();
}

int main(void)
{
    waits_for_those_that_follow();
    two_outvote_one();
    it_ends();
    return 0;
}
