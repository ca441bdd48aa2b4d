/* How a whole cluster stands, of the keys and members of a simulated etcd (replication.md,
 * Survey). */
#include <stdio.h>

#include "check.h"
#include "repl/survey.h"
#include "support/sim/etcd_sim.h"

static struct etcd_sim *sim;
static struct etcd *etcd;

static void open_world(void)
{
    const struct etcd_sim_config config = { .seed = 1 };
    sim = etcd_sim_create(&config);
    etcd = etcd_sim_connect(sim);
}

static void close_world(void)
{
    etcd_close(etcd);
    etcd_sim_destroy(sim);
}

static void put(const struct repl_key *key, const void *value, size_t count)
{
    etcd_sim_put(sim, etcd_text(key->text), (struct etcd_bytes){ value, count });
}

static void put_node(const char *name, enum cluster_state state, uint64_t frame)
{
    struct cluster_node node = { .state = (uint8_t)state, .received_frame = frame };
    uint8_t value[CLUSTER_NODE_ROW_BYTES];
    char key[64];

    snprintf(node.node, sizeof node.node, "%s", name);
    snprintf(node.public_address, sizeof node.public_address, "127.0.0.1:8080");
    snprintf(key, sizeof key, "node/%s", name);
    cluster_row_node_encode(value, &node);
    struct repl_key full = repl_key_of("x", key);
    put(&full, value, sizeof value);
}

static void put_segment(uint64_t number)
{
    const struct cluster_segment segment = { .segment = number,
                                             .first_frame = number * 10 + 1,
                                             .last_frame = number * 10 + 10,
                                             .first_sequence = 1,
                                             .last_sequence = 2,
                                             .last_t_ns = 1000 + number,
                                             .file_bytes = 100,
                                             .log_bytes = 100 };
    uint8_t value[CLUSTER_SEGMENT_BYTES];
    struct repl_key key = repl_key_segment("x", number);

    cluster_row_segment_encode(value, &segment);
    put(&key, value, sizeof value);
}

static void put_leader(const char *name, uint64_t term)
{
    struct cluster_leader leader = { .term = term, .rules_version = 7 };
    uint8_t value[CLUSTER_LEADER_BYTES];
    struct repl_key key = repl_key_of("x", "leader");

    snprintf(leader.node, sizeof leader.node, "%s", name);
    snprintf(leader.public_address, sizeof leader.public_address, "127.0.0.1:8080");
    snprintf(leader.admin_address, sizeof leader.admin_address, "127.0.0.1:8081");
    cluster_row_leader_encode(value, &leader);
    put(&key, value, sizeof value);
}

/* Nodes, leader and the newest of more segments than a page has. */
static void shows_the_keys(void)
{
    struct survey survey = { 0 };

    open_world();
    survey_keys(&survey, "x", etcd);
    CHECK(survey.has_answer && !survey.has_leader && !survey.has_vault && survey.node_count == 0);
    CHECK(survey_current(&survey) == 0);
    put_node("a", CLUSTER_LEADING, 70);
    put_node("b", CLUSTER_CURRENT, 69);
    put_node("c", CLUSTER_BEHIND, 5);
    put_leader("a", 4);
    for (uint64_t i = 3; i < 3 + ETCD_ROWS_MAX + 2; i++)
        put_segment(i);
    survey_keys(&survey, "x", etcd);
    CHECK(survey.node_count == 3 && survey_current(&survey) == 2 && survey.nodes_more == 0);
    CHECK(survey.nodes[1].received_frame == 69 && survey.nodes[2].state == CLUSTER_BEHIND);
    CHECK(survey.has_leader && survey.term == 4 && strcmp(survey.leader, "a") == 0);
    CHECK(survey.has_vault && survey.vault_segment == 3 + ETCD_ROWS_MAX + 1);
    CHECK(survey.vault_last_frame == 10 * survey.vault_segment + 10);
    /* What is gone is shown no more; of the vault the newest that was seen stays. */
    struct repl_key leader = repl_key_of("x", "leader");
    etcd_sim_delete(sim, etcd_text(leader.text), (struct etcd_bytes){ 0 });
    survey_keys(&survey, "x", etcd);
    CHECK(!survey.has_leader && survey.node_count == 3 && survey.has_vault);
    survey_members(&survey, etcd);
    CHECK(survey_status(&survey, etcd) == survey.members[0].id);
    CHECK(survey.member_count == 1 && survey.members[0].answers);
    close_world();
}

static void put_snapshot(uint64_t sequence, bool is_whole)
{
    const struct cluster_snapshot snapshot = { .sequence = sequence,
                                               .frame = sequence / 2,
                                               .next_segment = 4,
                                               .bytes = 5000,
                                               .rules_version = 7,
                                               .node = "a" };
    uint8_t value[CLUSTER_SNAPSHOT_BYTES];
    struct repl_key key = repl_key_snapshot("x", sequence);

    cluster_row_snapshot_encode(value, &snapshot);
    value[40] ^= is_whole ? 0 : 1;
    put(&key, value, sizeof value);
}

/* The newest ones, however many there are; who may put the next one. */
static void snapshots(void)
{
    struct survey survey = { 0 };

    open_world();
    put_node("a", CLUSTER_LEADING, 70);
    survey_keys(&survey, "x", etcd);
    CHECK(survey.has_answer && survey.snapshot_count == 0);
    CHECK(survey_first_standby(&survey) == NULL);
    put_node("b", CLUSTER_BEHIND, 5);
    put_node("d", CLUSTER_CURRENT, 70);
    put_node("c", CLUSTER_CURRENT, 70);
    for (uint64_t sequence = 100; sequence <= 500; sequence += 100)
        put_snapshot(sequence, sequence != 400);
    survey_keys(&survey, "x", etcd);
    CHECK(survey.snapshot_count == 3 && survey.snapshot_sequence[0] == 500);
    CHECK(survey.snapshot_sequence[1] == 300 && survey.snapshot_sequence[2] == 200);
    CHECK(survey.snapshot.frame == 250 && survey.snapshot.next_segment == 4);
    CHECK(strcmp(survey_first_standby(&survey), "c") == 0);
    close_world();
}

static void put_image(const char *node, uint64_t sequence, uint8_t hash)
{
    struct cluster_snapshot snapshot = {
        .sequence = sequence, .frame = 9, .next_segment = 1, .image_hash = { hash }
    };
    uint8_t value[CLUSTER_SNAPSHOT_BYTES];
    char name[64];

    snprintf(snapshot.node, sizeof snapshot.node, "%s", node);
    snprintf(name, sizeof name, "image/%s", node);
    struct repl_key key = repl_key_of("x", name);
    cluster_row_snapshot_encode(value, &snapshot);
    put(&key, value, sizeof value);
}

/* What other nodes have of the snapshot that one has. */
static void images(void)
{
    struct survey survey = { 0 };
    const uint8_t five[32] = { 5 };
    const char *other;

    open_world();
    survey_keys(&survey, "x", etcd);
    CHECK(survey_same_image(&survey, "a", 100, five, &other) == 0 && other == NULL);
    put_image("a", 100, 5);
    put_image("b", 100, 5);
    put_image("c", 100, 6);
    put_image("d", 100, 7);
    put_image("e", 90, 5);
    survey_keys(&survey, "x", etcd);
    CHECK(survey.image_count == 5);
    CHECK(survey_same_image(&survey, "a", 100, five, &other) == 1 && strcmp(other, "c") == 0);
    CHECK(survey_same_image(&survey, "c", 100, five, &other) == 2 && strcmp(other, "d") == 0);
    CHECK(survey_same_image(&survey, "a", 90, five, &other) == 1 && other == NULL);
    CHECK(survey_same_image(&survey, "a", 80, five, &other) == 0 && other == NULL);
    close_world();
}

static void more_nodes_than_are_shown(void)
{
    struct survey survey = { 0 };
    char name[16];

    open_world();
    for (int i = 0; i < SURVEY_NODES_MAX + 3; i++) {
        snprintf(name, sizeof name, "n%02d", i);
        put_node(name, CLUSTER_CURRENT, 1);
    }
    survey_keys(&survey, "x", etcd);
    CHECK(survey.node_count == SURVEY_NODES_MAX && survey.nodes_more == 3);
    close_world();
}

static void put_joined(const char *name)
{
    char text[64];

    snprintf(text, sizeof text, "member/%s", name);
    struct repl_key key = repl_key_of("x", text);
    put(&key, "joined", 6);
}

static void put_bytes(const char *key, size_t count)
{
    etcd_sim_put(sim, (struct etcd_bytes){ key, count }, (struct etcd_bytes){ "joined", 6 });
}

/* A node that joined is missed while it has no session; names that no node can have are none. */
static void who_has_joined(void)
{
    struct survey survey = { 0 };
    char name[CLUSTER_LABEL_BYTES + 1];

    open_world();
    put_node("a", CLUSTER_LEADING, 70);
    put_joined("a");
    put_joined("b-234567890abcde"); /* as long as a name may be */
    put_joined("");
    put_joined("c-234567890abcdef");
    put_joined("<b>");
    put_joined("d\n");
    put_bytes("perp/x/member/a\0b", 17);
    survey_keys(&survey, "x", etcd);
    CHECK(survey.joined_count == 2 && survey.joined_more == 0);
    CHECK(survey_has_joined(&survey, "a") && survey_has_node(&survey, "a"));
    CHECK(strcmp(survey.joined[1], "b-234567890abcde") == 0);
    CHECK(survey_has_joined(&survey, "b-234567890abcde"));
    CHECK(!survey_has_node(&survey, "b-234567890abcde") && !survey_has_joined(&survey, "b"));
    for (int i = 0; i < SURVEY_NODES_MAX; i++) {
        snprintf(name, sizeof name, "n%02d", i);
        put_joined(name);
    }
    survey_keys(&survey, "x", etcd);
    CHECK(survey.joined_count == SURVEY_NODES_MAX && survey.joined_more == 2);
    close_world();
}

/* Without answers nothing is known, and nothing is made up. */
static void a_silent_etcd(void)
{
    struct survey survey = { 0 };

    open_world();
    put_node("a", CLUSTER_LEADING, 70);
    etcd_sim_cut(etcd, true);
    survey_keys(&survey, "x", etcd);
    survey_members(&survey, etcd);
    CHECK(survey_status(&survey, etcd) == 0);
    CHECK(!survey.has_answer && survey.node_count == 0 && survey.member_count == 0);
    close_world();
}

static void percent_and_leader(void)
{
    struct survey survey = {
        .member_count = 3,
        .members = { { .id = 1, .leader = 2, .used_bytes = 100 },
                     { .id = 2, .leader = 2, .used_bytes = 799 },
                     { .id = 3, .leader = 3, .used_bytes = -1 } },
    };

    CHECK(survey_used_percent(&survey, 1000) == 79 && survey_used_percent(&survey, 799) == 100);
    CHECK(survey_used_percent(&survey, 10) == 100);
    CHECK(survey_etcd_leader(&survey) == 2);
    survey.members[0].leader = survey.members[1].leader = survey.members[2].leader = 0;
    CHECK(survey_etcd_leader(&survey) == 0);
}

static void clocks(void)
{
    const struct cluster_node *first = NULL;
    struct survey survey = {
        .node_count = 4,
        .nodes = { { .node = "a", .state = CLUSTER_LEADING, .clock_difference_ns = 900 },
                   { .node = "b", .state = CLUSTER_CURRENT, .clock_difference_ns = 100 },
                   { .node = "c", .state = CLUSTER_CURRENT, .clock_difference_ns = -101 },
                   { .node = "d", .state = CLUSTER_BEHIND, .clock_difference_ns = 101 } },
    };

    /* A leader among them: it was elected so. */
    CHECK(survey_clocks_off(&survey, 100, &first) == 3 && first == &survey.nodes[0]);
    CHECK(survey_clocks_off(&survey, 101, &first) == 1 && first == &survey.nodes[0]);
    CHECK(survey_clocks_off(&survey, 900, &first) == 0 && first == NULL);
}

/* Both leaders on one machine: etcd's goes to a voter that answers and follows it, if this node is
 * the one that leads. */
static void place_of_leader(void)
{
    struct survey survey = {
        .has_answer = true,
        .has_leader = true,
        .leader = "a",
        .member_count = 4,
        .members = { { .id = 1, .leader = 1, .answers = true },
                     { .id = 2, .leader = 1 },
                     { .id = 3, .leader = 1, .answers = true, .is_learner = true },
                     { .id = 4, .leader = 1, .answers = true } },
    };

    CHECK(survey_place_of_leader(&survey, "a", 1) == 4);
    CHECK(survey_place_of_leader(&survey, "a", 4) == 0); /* it is on another machine */
    CHECK(survey_place_of_leader(&survey, "a", 0) == 0); /* which has not answered yet */
    CHECK(survey_place_of_leader(&survey, "b", 1) == 0); /* another node leads */
    survey.members[3].leader = 0;
    CHECK(survey_place_of_leader(&survey, "a", 1) == 0);
    survey.members[3].leader = 1;
    survey.has_leader = false;
    CHECK(survey_place_of_leader(&survey, "a", 1) == 0);
    survey.has_leader = true;
    survey.has_answer = false;
    CHECK(survey_place_of_leader(&survey, "a", 1) == 0);
}

/* Who makes room in a full etcd: the leader, without one the first current node by name. */
static void reclaimer(void)
{
    struct survey survey = {
        .has_answer = true,
        .has_leader = true,
        .leader = "c",
        .node_count = 3,
        .nodes = { { .node = "a", .state = CLUSTER_BEHIND },
                   { .node = "b", .state = CLUSTER_CURRENT },
                   { .node = "c", .state = CLUSTER_CURRENT } },
        .member_count = 2,
    };

    CHECK(!survey_is_full(&survey));
    survey.members[1].is_full = true;
    CHECK(survey_is_full(&survey) && strcmp(survey_reclaimer(&survey), "c") == 0);
    survey.has_leader = false;
    CHECK(strcmp(survey_reclaimer(&survey), "b") == 0);
    survey.nodes[1].state = survey.nodes[2].state = CLUSTER_BEHIND;
    CHECK(survey_reclaimer(&survey) == NULL);
    survey.has_leader = true;
    survey.has_answer = false;
    CHECK(survey_reclaimer(&survey) == NULL);
}

int main(void)
{
    shows_the_keys();
    snapshots();
    images();
    more_nodes_than_are_shown();
    who_has_joined();
    a_silent_etcd();
    percent_and_leader();
    place_of_leader();
    reclaimer();
    clocks();
    return 0;
}
