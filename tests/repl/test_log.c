/* Three nodes keep one log through a simulated etcd that delays, loses, doubles and holds back,
 * while nodes stop, die and are cut off: what counts is never lost or altered (replication.md, What
 * holds).
 *
 * PERPD_REPL_SEEDS: how many seeds (1,000, with a sanitizer 64), PERPD_REPL_SEED: the first (1). */
#include "check.h"
#include "repl/elect.h"
#include "repl/etcd_call.h"
#include "repl/lead.h"
#include "repl/tail.h"
#include "support/sim/etcd_sim.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SEEDS = 64 };
#else
enum { SEEDS = 1000 };
#endif

enum { NODES = 3, FRAMES_MAX = 8192, STEPS = 3000, WINDOW = 4, FRAME_BYTES = 128 };

static const uint64_t MS = 1000 * 1000;

/* A frame of the test: what it is, and the hash of the one before. */
struct frame {
    uint64_t number, term, previous, salt;
    uint8_t rest[FRAME_BYTES - 4 * sizeof(uint64_t)];
};

struct node {
    char name[16];
    struct etcd *etcd; /* NULL: dead */
    struct elect elect;
    struct lead lead;
    struct tail tail;
    bool leads, is_finishing, is_cut, hands;
    uint64_t last; /* of frames[]: formed or taken */
    uint64_t sent;
    uint64_t acked;      /* of this term */
    uint64_t resumes_ns; /* it stands until then */
    uint64_t clock_wait_ns;
    struct frame frames[FRAMES_MAX];
};

static struct etcd_sim *sim;
static struct node nodes[NODES];
static uint64_t seed, random_state, terms, acks, deposed, gaps, handovers;
static bool has_early_end;
static uint64_t acked_hash[FRAMES_MAX], acked_most, term_most;

static uint64_t below(uint64_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % limit;
}

static uint64_t hash_of(const struct frame *frame)
{
    uint64_t hash = 14695981039346656037u;
    const uint8_t *bytes = (const uint8_t *)frame;
    for (size_t i = 0; i < sizeof *frame; i++)
        hash = (hash ^ bytes[i]) * 1099511628211u;
    return hash;
}

static void expect(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "seed %llu, %llu ms: %s\n", (unsigned long long)seed,
            (unsigned long long)(etcd_sim_now(sim) / MS), what);
    exit(1);
}

/* ---- what etcd sees -------------------------------------------------------------------------- */

static bool frame_in_log(uint64_t number, struct frame *frame)
{
    struct repl_key key = repl_key_frame("x", number);
    const struct etcd_row *row = etcd_sim_get(sim, etcd_text(key.text));
    if (row == NULL)
        return false;
    CHECK(row->value.count == sizeof *frame);
    memcpy(frame, row->value.bytes, sizeof *frame);
    return true;
}

static uint64_t leading_term(void)
{
    struct repl_key key = repl_key_of("x", "leader");
    const struct etcd_row *row = etcd_sim_get(sim, etcd_text(key.text));
    struct cluster_leader leader;
    if (row == NULL)
        return 0;
    expect(cluster_row_leader_decode(&leader, row->value), "the key leader is whole");
    return leader.term;
}

static void observe(void *context, const struct etcd_row *row)
{
    (void)context;
    uint64_t number = repl_key_number("x", row->key);
    struct repl_key leader = repl_key_of("x", "leader");
    struct frame frame;
    if (!row->is_delete && row->key.count == strlen(leader.text) &&
        memcmp(row->key.bytes, leader.text, row->key.count) == 0) {
        expect(leading_term() > term_most, "terms rise");
        term_most = leading_term();
    }
    if (number == 0)
        return;
    if (row->is_delete) {
        expect(number > acked_most, "a frame that counts is deleted");
        gaps++;
        return;
    }
    memcpy(&frame, row->value.bytes, sizeof frame);
    expect(row->version == 1, "a frame is written once");
    expect(frame.number == number, "a frame has its own key");
    expect(frame.term == leading_term(), "a frame is written by who leads");
}

/* ---- a node ---------------------------------------------------------------------------------- */

static void begin(struct node *node)
{
    const struct elect_config config = {
        .etcd = node->etcd = etcd_sim_connect(sim),
        .cluster = "x",
        .node = node->name,
        .rules_version = 7,
        .lease_s = 1,
        .is_candidate = true,
        .public_address = "127.0.0.1:1",
        .admin_address = "127.0.0.1:2",
    };
    elect_begin(&node->elect, &config);
    tail_begin(&node->tail, node->etcd, "x", node->last);
    node->leads = node->is_finishing = node->is_cut = node->hands = false;
}

/* As a process that ends. What had not landed as far as it knows, it cuts at its rejoin. */
static void end(struct node *node)
{
    if (node->etcd == NULL)
        return;
    if (node->leads)
        node->last = node->lead.landed;
    tail_end(&node->tail);
    etcd_close(node->etcd);
    node->etcd = NULL;
}

static void follow(struct node *node)
{
    const uint8_t *bytes = NULL;
    size_t count = 0;
    tail_step(&node->tail, etcd_sim_now(sim));
    while (tail_next(&node->tail, &bytes, &count)) {
        struct frame frame;
        CHECK(count == sizeof frame && node->last + 1 < FRAMES_MAX);
        memcpy(&frame, bytes, sizeof frame);
        expect(frame.number == node->last + 1, "frames come in order");
        expect(node->last == 0 || frame.previous == hash_of(&node->frames[node->last]),
               "a frame follows the one before");
        expect(frame.number > acked_most || acked_hash[frame.number] == hash_of(&frame),
               "a standby takes what was acknowledged");
        node->frames[++node->last] = frame;
        tail_pop(&node->tail);
    }
}

static bool has_read_deadline(const struct node *node)
{
    return node->etcd != NULL && node->elect.state == ELECT_ELECTED &&
           node->elect.deadline_boot_ns > etcd_sim_now(sim);
}

/* A node that stood while its lease ended, and read the log before that, takes the lead without
 * knowing that another has it. It has less than what was acknowledged since; the fence refuses each
 * of its frames (observe: a frame is written by who leads), and its read deadline is over. */
static void take_lead(struct node *node)
{
    if (!node->is_finishing) {
        tail_finish(&node->tail);
        node->is_finishing = true;
    }
    follow(node);
    if (!tail_is_finished(&node->tail))
        return;
    bool is_leading = leading_term() == node->elect.term;
    expect(!is_leading || node->last >= acked_most, "a new leader has all that was acknowledged");
    expect(is_leading || has_early_end || !has_read_deadline(node), "who leads no more reads");
    while (is_leading && acked_most < node->last) { /* landed and contiguous: it counts */
        acked_most++;
        acked_hash[acked_most] = hash_of(&node->frames[acked_most]);
    }
    lead_begin(&node->lead, node->etcd, "x", node->elect.epoch, node->last);
    tail_end(&node->tail);
    node->sent = node->acked = node->last;
    node->leads = true;
    terms++;
}

static void acknowledge(struct node *node)
{
    while (node->acked < node->lead.landed) {
        uint64_t number = ++node->acked;
        uint64_t hash = hash_of(&node->frames[number]);
        struct frame there;
        expect(frame_in_log(number, &there) && hash_of(&there) == hash,
               "what is acknowledged is in the log");
        expect(number > acked_most || acked_hash[number] == hash,
               "one number is acknowledged with one frame");
        acked_hash[number] = hash;
        if (number > acked_most) {
            expect(number == acked_most + 1, "acknowledgements are contiguous");
            acked_most = number;
        }
        acks++;
    }
}

/* It leads no more: what it has formed counts, and all else comes from the log. */
static void stand_by_again(struct node *node)
{
    expect(node->lead.landed == node->last && acked_most >= node->last,
           "who hands over has nothing that does not count");
    node->leads = node->is_finishing = node->hands = false;
    tail_begin(&node->tail, node->etcd, "x", node->last);
}

static void hand_turn(struct node *node)
{
    const char *other = nodes[below(NODES)].name; /* itself too: then all wait for it */
    if (node->elect.state == ELECT_ELECTED && node->sent == node->last &&
        node->lead.landed == node->last && elect_ballot_hand(&node->elect, other, node->last))
        handovers++;
}

static void lead_turn(struct node *node)
{
    uint64_t now = etcd_sim_now(sim);
    bool forms = !node->hands && node->last < node->lead.landed + WINDOW;
    if (forms && node->last + 1 < FRAMES_MAX && below(3) != 0) {
        struct frame *frame = &node->frames[++node->last];
        *frame = (struct frame){ .number = node->last,
                                 .term = node->elect.term,
                                 .previous =
                                     node->last == 1 ? 0 : hash_of(&node->frames[node->last - 1]),
                                 .salt = below(UINT64_MAX) };
    }
    while (node->sent < node->last &&
           lead_send(&node->lead, (const uint8_t *)&node->frames[node->sent + 1],
                     sizeof(struct frame), node->sent + 1, now))
        node->sent++;
    lead_step(&node->lead, now);
    acknowledge(node);
    if (node->hands)
        hand_turn(node);
}

static void dispatch(struct node *node, const struct etcd_done *done)
{
    uint64_t now = etcd_sim_now(sim);
    if (repl_unit_of(done->tag) == REPL_LEAD)
        lead_done(&node->lead, done, now);
    else if (repl_unit_of(done->tag) == REPL_ELECT)
        elect_done(&node->elect, done, now);
    else
        tail_done(&node->tail, done, now);
}

static void turn(struct node *node)
{
    struct etcd_done done[8];
    uint64_t now = etcd_sim_now(sim);
    int count = etcd_reap(node->etcd, done, 8);
    for (int i = 0; i < count; i++)
        dispatch(node, &done[i]);
    if (node->leads)
        acknowledge(node);
    const struct elect_status status = {
        .received_frame = node->last,
        .durable_frame = node->last,
        .applied = node->last,
        .wall_ns = now,
        .is_current = !node->leads && tail_is_at_end(&node->tail),
        .clock_wait_ns = node->clock_wait_ns,
        .is_alive = true,
        .creates = node == &nodes[0],
        .create_term = 1,
    };
    elect_step(&node->elect, &status, now, now);
    bool is_lost = node->elect.state == ELECT_LOST || node->elect.state == ELECT_FAILED ||
                   (node->leads && node->lead.state != LEAD_GOES) ||
                   node->tail.state == TAIL_GONE || node->tail.state == TAIL_FAILED;
    if (is_lost) {
        deposed++;
        end(node);
        begin(node);
    } else if (node->leads && node->elect.state == ELECT_FOLLOWS) {
        stand_by_again(node);
    } else if (node->leads) {
        lead_turn(node);
    } else if (node->elect.state == ELECT_ELECTED) {
        take_lead(node);
    } else {
        follow(node);
    }
}

/* ---- the world ------------------------------------------------------------------------------- */

static void strike(void)
{
    struct node *node = &nodes[below(NODES)];
    uint64_t now = etcd_sim_now(sim);
    switch (below(13)) {
    case 0: /* it dies, and starts again later */
        end(node);
        node->resumes_ns = now + below(2000) * MS;
        break;
    case 1:
    case 2: /* it stands */
        node->resumes_ns = now + below(3000) * MS;
        break;
    case 3:
    case 4:
        if (node->etcd != NULL) {
            node->is_cut = !node->is_cut;
            etcd_sim_cut(node->etcd, node->is_cut);
        }
        break;
    case 5:
        etcd_sim_set_leader(sim, below(2) == 0);
        break;
    case 6:
        etcd_sim_compact(sim, below(2) == 0);
        break;
    case 7:
        etcd_sim_delay_leases(sim, below(2) * below(2000) * MS);
        break;
    case 8:
        if (has_early_end && node->etcd != NULL && node->elect.lease != 0)
            (void)etcd_sim_end_lease(sim, node->elect.lease);
        break;
    case 9:                /* its clock is judged again */
        if (seed % 3 == 0) /* else the others lead less often */
            node->clock_wait_ns = below(2) * below(20000) * MS;
        break;
    default: /* it hands over, if it leads */
        node->hands |= node->leads && node->etcd != NULL;
        break;
    }
}

static void check_world(void)
{
    int readers = 0;
    for (int i = 0; i < NODES; i++)
        readers += has_read_deadline(&nodes[i]);
    expect(readers <= 1 || has_early_end, "one node at most may serve reads");
}

static void step(bool is_calm)
{
    etcd_sim_advance(sim, (1 + below(10)) * MS);
    if (!is_calm && below(60) == 0)
        strike();
    for (int i = 0; i < NODES; i++) {
        struct node *node = &nodes[i];
        if (etcd_sim_now(sim) < node->resumes_ns)
            continue;
        if (node->etcd == NULL)
            begin(node);
        turn(node);
        check_world();
    }
}

/* Everything works again: one leads, and all take what it writes. */
static void calm_down(void)
{
    etcd_sim_set_faults(sim, &(struct etcd_sim_faults){ .delay_ms = 5 });
    etcd_sim_set_leader(sim, true);
    etcd_sim_delay_leases(sim, 0);
    for (int i = 0; i < NODES; i++) {
        nodes[i].resumes_ns = 0;
        if (nodes[i].is_cut && nodes[i].etcd != NULL)
            etcd_sim_cut(nodes[i].etcd, nodes[i].is_cut = false);
    }
    uint64_t before = acked_most;
    /* 5.5 ms each: a second of leases, and 30 s at most if all clocks are off. */
    for (int i = 0; i < 8000 && acked_most < before + 20; i++)
        step(true);
    expect(acked_most >= before + 20, "service comes back");
    for (int i = 0; i < 2000; i++) {
        bool is_level = true;
        step(true);
        for (int k = 0; k < NODES; k++)
            is_level &= nodes[k].last + 2 * WINDOW >= acked_most;
        if (is_level)
            break;
    }
    for (int i = 0; i < NODES; i++) {
        expect(nodes[i].last + 2 * WINDOW >= acked_most, "standbys follow");
        for (uint64_t n = 1; n <= acked_most && n <= nodes[i].last; n++)
            expect(hash_of(&nodes[i].frames[n]) == acked_hash[n], "all nodes have one log");
    }
}

static void run(void)
{
    random_state = seed * 0x9E3779B97F4A7C15 | 1;
    has_early_end = seed % 4 == 0;
    acked_most = term_most = 0;
    const struct etcd_sim_config config = {
        .seed = seed,
        .faults = { .delay_ms = (uint32_t)below(60),
                    .lost = (uint32_t)below(60),
                    .doubled = (uint32_t)below(60),
                    .held = (uint32_t)below(60),
                    .held_ms = 4000 },
    };
    sim = etcd_sim_create(&config);
    etcd_sim_set_observer(sim, observe, NULL);
    memset(nodes, 0, sizeof nodes);
    for (int i = 0; i < NODES; i++) {
        (void)snprintf(nodes[i].name, sizeof nodes[i].name, "n%d", i);
        begin(&nodes[i]);
    }
    for (int i = 0; i < STEPS; i++)
        step(false);
    calm_down();
    for (int i = 0; i < NODES; i++)
        end(&nodes[i]);
    etcd_sim_destroy(sim);
}

static uint64_t number_of(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text == NULL ? otherwise : strtoull(text, NULL, 10);
}

int main(void)
{
    uint64_t count = number_of("PERPD_REPL_SEEDS", SEEDS);
    uint64_t first = number_of("PERPD_REPL_SEED", 1);
    for (seed = first; seed < first + count; seed++)
        run();
    printf(
        "%llu seeds: %llu terms, %llu acknowledged, %llu nodes began again, %llu frames deleted, "
        "%llu handovers\n",
        (unsigned long long)count, (unsigned long long)terms, (unsigned long long)acks,
        (unsigned long long)deposed, (unsigned long long)gaps, (unsigned long long)handovers);
    return 0;
}
