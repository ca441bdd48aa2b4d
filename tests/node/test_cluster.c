/* Three whole nodes (cluster_member.h) on a simulated etcd that delays, loses, doubles and holds
 * back, with clocks of their own and disks that lose power, while they stand, die, are cut off and
 * hand over: one leads a term, nothing that was acknowledged is lost or executed twice, and all
 * have the same journal and state (replication.md).
 *
 * PERPD_CLUSTER_SEEDS: how many seeds, PERPD_CLUSTER_SEED: the first (1), PERPD_CLUSTER_LOG: the
 * nodes log. */
#include <fcntl.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/uuid.h"
#include "check.h"
#include "cluster_member.h"
#include "crypto/derive.h"
#include "node/recover/fold.h"
#include "node/recover/rebuild.h"
#include "store/journal_cluster.h"
#include "store/segment.h"
#include "support/sim/etcd_sim.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SEEDS = 3 };
#else
enum { SEEDS = 64 };
#endif

enum {
    NODES = 3,
    STEPS = 5000,
    CLIENTS = 6,
    REQUESTS_MAX = 8192,
    FRAMES_MAX = 8192,
    CALM_STEPS = 20000,
    CREATED = STATUS_account_created_session_failed, /* for the session has no key */
    KEY_BYTES = 33,
    BODY_BYTES = 80,
};

#define START_NS UINT64_C(1755582431232000000)

static const uint64_t MS = 1000 * 1000;

/* A creation of an account with keys of its own, which a client sends until it is answered. */
struct sent {
    struct uuid id;
    uint64_t acked_before; /* the highest sequence that was acknowledged when it was sent first */
    uint64_t sequence;     /* of the log; 0: not there */
    bool is_acked;
};

/* An answer that may not leave yet. */
struct held {
    uint64_t request, release_sequence, sequence;
};

struct client {
    uint64_t request; /* of requests[] */
    uint64_t sent_ns; /* 0: to nobody yet */
};

static struct etcd_sim *sim;
static struct cluster_member nodes[NODES];
static struct held held[NODES][CLUSTER_MEMBER_RING];
static uint32_t held_count[NODES];
static struct sent requests[REQUESTS_MAX];
static struct client clients[CLIENTS];
static struct mix_key hash_key;
static uint64_t seed, random_state, steps, request_count, acked_most, term_most;
static uint64_t frame_last[FRAMES_MAX]; /* sequence of each frame of the log */
static bool has_early_end, is_calm;
static struct {
    uint64_t terms, acks, again, starts, deposed, handovers, gaps, losses;
} count;

static uint64_t below(uint64_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % limit;
}

/* What a node was doing when a seed failed. */
static void show(const struct cluster_member *member)
{
    struct replicator_facts facts;

    if (!member->runs)
        return;
    replicator_facts(member->node.replicator, &facts);
    fprintf(stderr, "%s: phase %d, term %lu, state %u, frames %lu, %lu count, %lu on disk\n",
            member->name, phase_now(&member->node.phase), facts.term, facts.state,
            facts.received_frame, facts.released_frame, facts.durable_frame);
}

static void expect(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "seed %lu, %lu ms: %s\n", seed, etcd_sim_now(sim) / MS, what);
    for (int i = 0; i < NODES; i++)
        show(&nodes[i]);
    exit(1);
}

/* ---- what etcd sees -------------------------------------------------------------------------- */

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
    uint64_t number = repl_key_number("x", row->key);
    struct repl_key leader = repl_key_of("x", "leader");
    const uint8_t *bytes = row->value.bytes;

    (void)context;
    if (!row->is_delete && row->key.count == strlen(leader.text) &&
        memcmp(row->key.bytes, leader.text, row->key.count) == 0) {
        expect(leading_term() > term_most, "terms rise");
        term_most = leading_term();
        count.terms++;
    }
    if (number == 0)
        return;
    CHECK(number < FRAMES_MAX);
    if (row->is_delete) {
        expect(frame_last[number] > acked_most, "a frame that counts is deleted");
        count.gaps++;
        return;
    }
    expect(row->version == 1, "a frame is written once");
    expect(frame_claimed_number(bytes) == number, "a frame has its own key");
    expect(cc_load64(bytes + 32) == leading_term(), "a frame is written by who leads");
    frame_last[number] = cc_load64(bytes + 64);
}

/* ---- clients --------------------------------------------------------------------------------- */

static void send_to(struct cluster_member *member, struct client *client)
{
    static struct rebuild_buffer buffer;
    struct command *command = (struct command *)(void *)buffer.bytes;
    struct sent *request = &requests[client->request];
    uint8_t *to = command->bytes;

    memset(&buffer, 0, sizeof buffer);
    command->code = REQUEST_create_account_secp256k1;
    command->kind = COMMAND_SIGNED;
    command->payload_bytes = REQUEST_BODY_AT + BODY_BYTES;
    command->key_bytes = KEY_BYTES;
    command->token = client->request;
    to[0] = REQUEST_VERSION;
    to[1] = SIGNATURE_SECP256K1;
    cc_store16(to + 2, command->code);
    memcpy(to + REQUEST_HEADER_BYTES, request->id.bytes, sizeof request->id.bytes);
    to[command->payload_bytes] = 2;
    cc_store64(to + command->payload_bytes + 1, client->request + 1);
    command->slot_count =
        (uint16_t)command_slots(command_bytes(command) - (uint32_t)sizeof *command);
    derive_command(command, hash_key);
    struct ring *ring = &member->node.nets[0].commands;
    void *slots = ring_claim(ring, command->slot_count);
    if (slots == NULL)
        return;
    memcpy(slots, command, command_bytes(command));
    ring_publish(ring);
    count.again += client->sent_ns != 0;
    client->sent_ns = etcd_sim_now(sim);
}

static void begin_request(struct client *client)
{
    uint8_t random[10] = { 0 };

    CHECK(request_count < REQUESTS_MAX);
    cc_store64(random, request_count + 1);
    client->request = request_count++;
    client->sent_ns = 0;
    requests[client->request] = (struct sent){
        .id = uuid_make_v7((START_NS + etcd_sim_now(sim)) / MS, random),
        .acked_before = acked_most,
    };
}

static bool serves(const struct cluster_member *member)
{
    return member->runs && phase_now(&member->node.phase) == PHASE_OPEN &&
           replicator_is_fresh(member->node.replicator);
}

/* Who has no answer for 700 ms sends the same bytes again, here perhaps. */
static void send_some(struct cluster_member *member)
{
    for (int i = 0; i < CLIENTS; i++) {
        struct client *client = &clients[i];
        bool is_late = etcd_sim_now(sim) - client->sent_ns > 700 * MS;
        if ((client->sent_ns == 0 || is_late) && below(12) == 0)
            send_to(member, client);
    }
}

static void take_answers(struct cluster_member *member)
{
    size_t n = (size_t)(member - nodes);
    struct ring *ring = &member->node.nets[0].answers;
    uint64_t ready = ring_ready(ring);

    for (uint64_t i = 0; i < ready; i++) {
        const struct answer *answer = ring_at(ring, i);
        bool is_made = answer->status == CREATED;
        bool is_there =
            answer->status == STATUS_duplicate_request_id && answer->original_status == CREATED;
        if (answer->status == STATUS_request_dropped)
            continue;
        if (!is_made && !is_there)
            fprintf(stderr, "status %d\n", answer->status);
        expect(is_made || is_there, "a request has its first outcome");
        CHECK(held_count[n] < CLUSTER_MEMBER_RING);
        held[n][held_count[n]++] = (struct held){ answer->token, answer->release_sequence,
                                                  is_made ? answer->sequence : 0 };
    }
    if (ready != 0)
        ring_release(ring, ready);
}

static void acknowledge(const struct held *answer)
{
    struct sent *request = &requests[answer->request];

    expect(!request->is_acked || request->sequence == 0 || answer->sequence == 0 ||
               request->sequence == answer->sequence,
           "a request is executed once");
    expect(answer->sequence == 0 || answer->sequence > request->acked_before,
           "the order is that of real time");
    if (answer->sequence != 0)
        request->sequence = answer->sequence;
    request->is_acked = true;
    if (answer->release_sequence > acked_most) /* a duplicate too was seen */
        acked_most = answer->release_sequence;
    count.acks++;
    for (int i = 0; i < CLIENTS; i++)
        if (clients[i].request == answer->request)
            begin_request(&clients[i]);
}

static void release_answers(struct cluster_member *member)
{
    size_t n = (size_t)(member - nodes);
    uint64_t released = journal_durable_seq(member->node.core.journal);
    uint32_t kept = 0;

    for (uint32_t i = 0; i < held_count[n]; i++) {
        if (held[n][i].release_sequence <= released)
            acknowledge(&held[n][i]);
        else
            held[n][kept++] = held[n][i];
    }
    held_count[n] = kept;
}

/* ---- the nodes ------------------------------------------------------------------------------- */

static void end(struct cluster_member *member, bool is_power_loss)
{
    int code = phase_exit_code(&member->node.phase);
    bool has_failed = phase_now(&member->node.phase) == PHASE_FAILED;

    if (has_failed && code != NODE_EXIT_DEPOSED)
        fprintf(stderr, "%s: exit %d: %s\n", member->name, code,
                replicator_end(member->node.replicator)->text);
    expect(!has_failed || code == NODE_EXIT_DEPOSED, "a node ends because another leads");
    count.deposed += has_failed;
    held_count[member - nodes] = 0;
    cluster_member_end(member, is_power_loss, below(UINT64_MAX));
    member->resumes_ns = etcd_sim_now(sim) + (is_calm ? 0 : below(2000) * MS);
}

static void check(const struct cluster_member *member)
{
    struct replicator_facts facts;
    int readers = 0;

    for (int i = 0; i < NODES; i++)
        readers += serves(&nodes[i]);
    expect(readers <= 1 || has_early_end, "one node at most serves as the leader");
    if (!serves(member))
        return;
    expect(has_early_end || engine_sequence(member->node.core.primary) >= acked_most,
           "who leads has all that was acknowledged");
    replicator_facts(member->node.replicator, &facts);
    expect(facts.clock_difference_ns == 0, "a leader is judged by no clock");
}

static void turn(struct cluster_member *member)
{
    if (!member->runs) {
        count.starts++;
        if (!cluster_member_start(member))
            fprintf(stderr, "%s: %s\n", member->name, member->node.refusal.text);
        expect(member->node.refusal.kind == REFUSAL_none, "a node starts");
        return;
    }
    if (member->dies || phase_now(&member->node.phase) == PHASE_FAILED) {
        if (!member->has_asked)
            end(member, below(2) == 0);
        return;
    }
    if (serves(member))
        send_some(member);
    cluster_member_turn(member, (uint32_t)(below(8) & below(8)));
    if (!phase_serves(phase_now(&member->node.phase)))
        return;
    take_answers(member);
    release_answers(member);
    check(member);
}

/* ---- the world ------------------------------------------------------------------------------- */

static void strike(void)
{
    struct cluster_member *member = &nodes[below(NODES)];
    uint64_t now = etcd_sim_now(sim);
    bool is_leader = below(2) == 0; /* if there is one */

    for (int i = 0; i < NODES && is_leader; i++)
        if (serves(&nodes[i]))
            member = &nodes[i];
    switch (below(12)) {
    case 0:
    case 1: /* it dies, and starts again later */
        member->dies = member->runs;
        count.losses += member->runs;
        break;
    case 2:
    case 3: /* it stands */
        member->resumes_ns = now + below(3000) * MS;
        break;
    case 4:
    case 5:
        cluster_member_cut(member, !member->is_cut);
        break;
    case 6:
        etcd_sim_set_leader(sim, below(2) == 0);
        break;
    case 7:
        etcd_sim_compact(sim, below(2) == 0);
        break;
    case 8:
        etcd_sim_delay_leases(sim, below(2) * below(2000) * MS);
        break;
    case 9:
        if (has_early_end) /* of any session */
            (void)etcd_sim_end_lease(sim, (int64_t)below(40));
        break;
    default:
        if (serves(member))
            count.handovers +=
                replicator_hand_ask(member->node.replicator, nodes[below(NODES)].name);
        break;
    }
}

/* Everything works again. */
static void calm_down(void)
{
    is_calm = true;
    etcd_sim_set_faults(sim, &(struct etcd_sim_faults){ .delay_ms = 5 });
    etcd_sim_set_leader(sim, true);
    etcd_sim_delay_leases(sim, 0);
    for (int i = 0; i < NODES; i++) {
        nodes[i].resumes_ns = 0;
        cluster_member_cut(&nodes[i], false);
    }
}

static void pass(void)
{
    uint64_t step_ns = (1 + below(3)) * MS;

    etcd_sim_advance(sim, step_ns);
    for (int i = 0; i < NODES; i++)
        cluster_member_advance(&nodes[i], step_ns);
    if (++steps == STEPS)
        calm_down();
    if (!is_calm && below(100) == 0)
        strike();
    for (int i = 0; i < NODES; i++)
        if (!nodes[i].is_blocked && etcd_sim_now(sim) >= nodes[i].resumes_ns)
            turn(&nodes[i]);
}

/* ---- at the end ------------------------------------------------------------------------------ */

/* All have the same frames on their disks. */
static bool is_level(void)
{
    uint64_t durable[NODES];

    for (int i = 0; i < NODES; i++) {
        const struct core *core = &nodes[i].node.core;
        if (!nodes[i].runs || nodes[i].has_asked || !phase_serves(phase_now(&nodes[i].node.phase)))
            return false;
        durable[i] = journal_cluster_durable_frame(core->journal);
        if (durable[i] != durable[0] ||
            durable[i] != journal_cluster_last_frame(core->journal).number ||
            engine_sequence(core->replica) != engine_sequence(core->primary) ||
            engine_sequence(core->primary) != engine_sequence(nodes[0].node.core.primary))
            return false;
    }
    return true;
}

static void compare_journals(void)
{
    static uint8_t bytes[2][1 << 16];
    char path[DISK_PATH_BYTES];

    for (uint64_t segment = 0;; segment++) {
        segment_path(path, segment, true);
        for (int i = 0; i < NODES; i++)
            if (!disk_sim_exists(nodes[i].disk, path))
                return;
        uint64_t size = disk_sim_file_bytes(nodes[0].disk, path);
        for (uint64_t at = SEGMENT_FRAMES_OFFSET; at < size; at += sizeof bytes[0]) {
            size_t piece = size - at < sizeof bytes[0] ? size - at : sizeof bytes[0];
            disk_sim_peek(nodes[0].disk, path, at, bytes[0], piece);
            for (int i = 1; i < NODES; i++) {
                disk_sim_peek(nodes[i].disk, path, at, bytes[1], piece);
                expect(memcmp(bytes[0], bytes[1], piece) == 0, "journals are equal byte for byte");
            }
        }
    }
}

static void compare_states(void)
{
    uint8_t first[HASH_BYTES], hash[HASH_BYTES];

    fold_image_hash(nodes[0].node.core.primary, first);
    for (int i = 0; i < NODES; i++) {
        fold_image_hash(nodes[i].node.core.primary, hash);
        expect(memcmp(first, hash, sizeof hash) == 0, "the engines have one state");
        fold_image_hash(nodes[i].node.core.replica, hash);
        expect(memcmp(first, hash, sizeof hash) == 0, "the replicas have that state");
    }
}

static void find_request(const struct record_view *record, uint64_t sequence)
{
    if (record->code != REQUEST_create_account_secp256k1)
        return;
    uint64_t number = cc_load64(record->key + 1) - 1;
    CHECK(number < request_count);
    struct sent *request = &requests[number];
    expect(memcmp(record->payload + REQUEST_HEADER_BYTES, request->id.bytes, 16) == 0,
           "the log has what was sent");
    expect(request->sequence == 0 || request->sequence == sequence,
           "a request is in the log once, where its answer said");
    expect(sequence > request->acked_before, "the log's order is that of real time");
    request->sequence = sequence;
}

/* What the log says, against what the clients were told. */
static void judge_log(void)
{
    static uint8_t bytes[1 << 20];
    const struct frame_tail last = journal_cluster_last_frame(nodes[0].node.core.journal);
    struct repl_key key = repl_key_of("x", "genesis");
    struct cluster_genesis genesis;

    CHECK(cluster_row_genesis_decode(&genesis, etcd_sim_get(sim, etcd_text(key.text))->value));
    for (uint64_t number = genesis.frame + 1; number <= last.number; number++) {
        struct repl_key frame = repl_key_frame("x", number);
        const struct etcd_row *row = etcd_sim_get(sim, etcd_text(frame.text));
        expect(row != NULL && row->value.count <= sizeof bytes, "the log has no gap");
        memcpy(bytes, row->value.bytes, row->value.count);
        uint64_t sequence = frame_claimed_sequence(bytes);
        for (size_t at = FRAME_HEADER_BYTES; at < row->value.count; sequence++) {
            struct record_view record;
            CHECK(record_decode(&record, bytes + at, row->value.count - at) == 0);
            find_request(&record, sequence);
            at += record.length;
        }
    }
    for (uint64_t i = 0; i < request_count; i++)
        expect(!requests[i].is_acked || requests[i].sequence != 0,
               "what was acknowledged is in the log");
}

static void run(void)
{
    random_state = seed * 0x9E3779B97F4A7C15 | 1;
    has_early_end = seed % 4 == 0;
    is_calm = false;
    steps = request_count = acked_most = term_most = 0;
    memset(frame_last, 0, sizeof frame_last);
    memset(held_count, 0, sizeof held_count);
    const struct etcd_sim_config config = {
        .seed = seed,
        .faults = { .delay_ms = (uint32_t)below(40),
                    .lost = (uint32_t)below(40),
                    .doubled = (uint32_t)below(60),
                    .held = (uint32_t)below(60),
                    .held_ms = 4000 },
    };
    sim = etcd_sim_create(&config);
    etcd_sim_set_observer(sim, observe, NULL);
    struct disk *exchange = cluster_member_exchange(seed, START_NS);
    for (int i = 0; i < NODES; i++) {
        static const char *const names[NODES] = { "n0", "n1", "n2" };
        cluster_member_make(&nodes[i], sim, exchange, names[i], i == 0);
        nodes[i].wall_ns = START_NS + 1000 * MS + below(400) * MS;
        nodes[i].drift_ppm = (int64_t)below(1001) - 500;
    }
    struct exchange_file file;
    CHECK(exchange_file_read(exchange, &file) == 0);
    hash_key = mix_key_load(file.hash_key);
    for (int i = 0; i < CLIENTS; i++)
        begin_request(&clients[i]);
    while (steps < STEPS)
        pass();
    uint64_t before = count.acks;
    for (int i = 0; i < CALM_STEPS && count.acks < before + 20; i++)
        pass();
    expect(count.acks >= before + 20, "service comes back");
    for (int i = 0; i < CALM_STEPS && !is_level(); i++)
        pass();
    expect(is_level(), "standbys follow");
    compare_states();
    compare_journals();
    judge_log();
    for (int i = 0; i < NODES; i++) {
        held_count[i] = 0;
        cluster_member_end(&nodes[i], false, seed);
        cluster_member_free(&nodes[i]);
    }
    disk_sim_destroy(exchange);
    etcd_sim_destroy(sim);
}

static uint64_t number_of(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text == NULL ? otherwise : strtoull(text, NULL, 10);
}

int main(void)
{
    uint64_t seeds = number_of("PERPD_CLUSTER_SEEDS", SEEDS);
    uint64_t first = number_of("PERPD_CLUSTER_SEED", 1);

    if (getenv("PERPD_CLUSTER_LOG") == NULL)
        log_set_descriptor(open("/dev/null", O_WRONLY | O_CLOEXEC));
    cluster_member_init(pass);
    for (seed = first; seed < first + seeds; seed++)
        run();
    printf("%lu seeds: %lu terms, %lu acknowledged, %lu sent again, %lu starts, %lu nodes deposed, "
           "%lu killed, %lu handovers asked, %lu frames deleted\n",
           seeds, count.terms, count.acks, count.again, count.starts, count.deposed, count.losses,
           count.handovers, count.gaps);
    return 0;
}
