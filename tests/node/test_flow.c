/* Flow control between two net threads and the rest (roles.md, Flow control): whoever does
 * not take what is his stalls himself and nobody else, and nothing stops the matcher for good. The
 * test plays both net threads and keeps their law: no command without a free answer slot, no query
 * without a free reply slot. */
#include <stdlib.h>

#include "base/config.h"
#include "base/problem.h"
#include "base/query_message.h"
#include "check.h"
#include "crypto/derive.h"
#include "node/run/core.h"
#include "node/run/market_file.h"
#include "support/sim/disk_sim.h"

enum {
    LINKS = 2,
    SLOTS = 64, /* of answers, queries and replies: the credits of a link */
    COMMAND_RING_SLOTS = 256,
    SEGMENT_BYTES = 64 << 10,
    BUFFER_BYTES = 64 << 10,
    TURNS = 4000,
    TURN_COMMANDS = 16, /* wire.md W10, Fairness: at most 16 commands a ring a turn */
};

#define START_NS UINT64_C(1755582431232000000)
#define LAG_NS   UINT64_C(1000000000)

struct link {
    struct ring commands, answers, queries, replies;
    void *memory[4];
    struct reply_pool pool;
    void *pool_memory;
    uint64_t sent, answered;
    uint64_t last_sequence; /* of the answers taken: they come in order */
};

static struct rig {
    struct clock clock;
    struct disk *disk;
    struct core core;
    struct market_file markets;
    struct link links[LINKS];
    struct refusal refusal;
    uint64_t accounts;
} rig;

static void link_make(struct link *link)
{
    struct ring *rings[] = { &link->commands, &link->answers, &link->queries, &link->replies };

    *link = (struct link){ .pool_memory = aligned_alloc(64, REPLY_POOL_BYTES) };
    CHECK(link->pool_memory != NULL);
    reply_pool_init(&link->pool, link->pool_memory);
    for (size_t i = 0; i < CC_COUNT(rings); i++) {
        uint32_t slots = i == 0 ? COMMAND_RING_SLOTS : SLOTS;
        link->memory[i] = aligned_alloc(64, ring_bytes(slots, MESSAGE_SLOT_BYTES));
        CHECK(link->memory[i] != NULL);
        ring_init(rings[i], link->memory[i], slots, MESSAGE_SLOT_BYTES);
    }
}

static void link_free(struct link *link)
{
    for (size_t i = 0; i < CC_COUNT(link->memory); i++)
        free(link->memory[i]);
    free(link->pool_memory);
}

static void configure(void)
{
    static struct config config;
    uint8_t body[CONFIG_ENGINE_TEXT_MAX];
    const char *argv[] = {
        "core",
        "--engine.accounts=8192",
        "--engine.portfolios=8192",
        "--engine.orders=1024",
        "--engine.positions=64",
        "--engine.credentials=32768",
        "--engine.deposits=64",
        "--engine.ladder_pages=256",
        "--limits.duplicate_slots=65536",
    };
    CHECK(config_load(&config, (int)CC_COUNT(argv), argv, NULL) == CONFIG_RUN);
    ptrdiff_t bytes = config_engine_text(&config, rig.core.exchange.exchange_id, body);
    CHECK(bytes > 0);
    CHECK(core_configure(&rig.core, body, (uint32_t)bytes));
    config_free(&config);
}

/* An open exchange whose follower takes `commands_a_turn`. */
static void rig_make(int commands_a_turn)
{
    struct disk_sim_config disk = { .seed = 3, .block_bytes = 512, .latency_max = 3 };

    clock_init_simulated(&rig.clock, START_NS);
    rig.disk = disk_sim_create(&disk);
    CHECK(rig.disk != NULL);
    CHECK(market_file_load(&rig.markets, ""));
    rig.accounts = 0;
    const struct core_config config = {
        .disk = rig.disk,
        .clock = &rig.clock,
        .markets = rig.markets.markets,
        .market_count = rig.markets.market_count,
        .durability = JOURNAL_LOCAL,
        .segment_bytes = SEGMENT_BYTES,
        .journal_buffer_bytes = BUFFER_BYTES,
        .frames_in_flight = JOURNAL_FRAMES_MAX,
        .group_bytes = 1,
        .frame_bytes_max = 16 << 10,
        .history_rows = 1 << 10,
        .follower_lag_max_ns = LAG_NS,
        .follower_commands_a_turn = commands_a_turn,
    };
    CHECK(core_create(&rig.core, &config, &rig.refusal) == REFUSAL_none);
    configure();
    CHECK(core_make_keyring(&rig.core) == 0);
    CHECK(core_recover(&rig.core, &rig.refusal) == REFUSAL_none);
    for (size_t i = 0; i < LINKS; i++) {
        struct link *link = &rig.links[i];
        link_make(link);
        struct follower_link follower = { &link->queries, &link->replies, &link->pool };
        core_link(&rig.core, &follower, &link->commands, &link->answers);
    }
    CHECK(core_open(&rig.core) == CORE_OPENED);
}

static void rig_free(void)
{
    core_destroy(&rig.core);
    disk_sim_destroy(rig.disk);
    market_file_free(&rig.markets);
    for (size_t i = 0; i < LINKS; i++)
        link_free(&rig.links[i]);
}

/* One account more, through a link (W3, code 11; its signature was net's to verify). False without
 * a credit or without room in the ring: what a net thread does not send. */
static bool send_command(struct link *link)
{
    static struct rebuild_buffer buffer;
    struct command *command = (struct command *)(void *)buffer.bytes;
    uint8_t random[10] = { 0 };

    if (link->sent - link->answered == SLOTS)
        return false;
    memset(&buffer, 0, sizeof buffer);
    cc_store64(random, rig.accounts + 1);
    struct uuid id = uuid_make_v7(clock_now_ns(&rig.clock) / 1000000, random);
    command->code = REQUEST_create_account_secp256k1;
    command->kind = COMMAND_SIGNED;
    command->payload_bytes = REQUEST_BODY_AT + 80;
    command->key_bytes = 33;
    uint8_t *to = command->bytes;
    to[0] = REQUEST_VERSION;
    to[1] = SIGNATURE_SECP256K1;
    cc_store16(to + 2, command->code);
    memcpy(to + REQUEST_HEADER_BYTES, id.bytes, sizeof id.bytes);
    to[command->payload_bytes] = 2;
    cc_store64(to + command->payload_bytes + 1, rig.accounts + 1);
    command->slot_count =
        (uint16_t)command_slots(command_bytes(command) - (uint32_t)sizeof *command);
    derive_command(command, mix_key_load(rig.core.exchange.hash_key));
    void *slots = ring_claim(&link->commands, command->slot_count);
    if (slots == NULL)
        return false;
    memcpy(slots, command, command_bytes(command));
    ring_publish(&link->commands);
    rig.accounts++;
    link->sent++;
    return true;
}

/* Takes the answers whose commands are durable, in order. */
static uint32_t take_answers(struct link *link)
{
    uint32_t taken = 0;

    while (ring_ready(&link->answers) != 0) {
        const struct answer *answer = ring_at(&link->answers, 0);
        if (answer->release_sequence > journal_durable_seq(rig.core.journal))
            break;
        CHECK(answer->status == STATUS_account_created_session_failed);
        CHECK(answer->sequence > link->last_sequence);
        link->last_sequence = answer->sequence;
        ring_release(&link->answers, 1);
        link->answered++;
        taken++;
    }
    return taken;
}

static void step_journal(void)
{
    CHECK(core_journal(&rig.core) >= 0);
    CHECK(core_prepare(&rig.core, clock_monotonic_ns(&rig.clock)) >= 0);
}

static void settle(void)
{
    for (int turn = 0; turn < TURNS; turn++) {
        step_journal();
        CHECK(core_follow(&rig.core) >= 0);
        if (engine_sequence(rig.core.replica) == engine_sequence(rig.core.primary))
            return;
    }
    CHECK(!"everything published becomes durable and applied");
}

/* A query of a kind that needs nothing, stamped with what is durable. */
static void send_query(struct link *link)
{
    struct query *query = ring_claim(&link->queries, 1);

    CHECK(query != NULL);
    *query = (struct query){ .stamp = journal_durable_seq(rig.core.journal),
                             .kind = QUERY_markets,
                             .pin = -1 };
    ring_publish(&link->queries);
}

/* The next reply; its buffer is kept unless `give`. */
static struct reply take_reply(struct link *link, bool give)
{
    CHECK(ring_ready(&link->replies) != 0);
    struct reply reply = *(const struct reply *)ring_at(&link->replies, 0);

    ring_release(&link->replies, 1);
    if (give && reply.buffer != REPLY_NO_BUFFER)
        reply_pool_free(&link->pool, reply.buffer);
    return reply;
}

/* Whoever takes no answers sends no more than its answer ring holds; the other goes on. */
static void check_answers_not_taken(void)
{
    struct link *stalled = &rig.links[0], *other = &rig.links[1];
    uint64_t answered = 0;

    rig_make(FOLLOWER_COMMANDS_A_TURN);
    for (int round = 0; round < 50; round++) {
        while (send_command(stalled))
            continue;
        for (int i = 0; i < TURN_COMMANDS; i++)
            CHECK(send_command(other));
        for (int turn = 0; turn < 8; turn++)
            (void)core_match(&rig.core);
        settle();
        answered += take_answers(other);
    }
    CHECK(answered == 50 * TURN_COMMANDS);
    CHECK(stalled->sent == SLOTS);
    CHECK(ring_ready(&stalled->answers) == SLOTS); /* none was lost, none came too many */
    CHECK(take_answers(stalled) == SLOTS);
    CHECK(send_command(stalled)); /* and its credits are back */
    rig_free();
}

/* A full ring waits for its turn behind nobody: of each ring at most 16 a turn. */
static void check_full_ring_is_fair(void)
{
    struct link *full = &rig.links[0], *other = &rig.links[1];
    uint64_t first;

    rig_make(FOLLOWER_COMMANDS_A_TURN);
    settle();
    first = engine_sequence(rig.core.primary);
    uint32_t waiting = 0;
    while (send_command(full))
        waiting++;
    CHECK(waiting == SLOTS); /* credits end before the ring does */
    CHECK(send_command(other));
    (void)core_match(&rig.core);
    settle();
    CHECK(take_answers(other) == 1);
    /* Ticks apart, at most one turn of the other ring was sequenced before it. */
    CHECK(other->last_sequence <= first + TURN_COMMANDS + 2);
    for (int turn = 0; turn < 8; turn++)
        (void)core_match(&rig.core);
    settle();
    CHECK(take_answers(full) == SLOTS);
    rig_free();
}

/* The journal's buffer is full because the disk is slow: commands wait in their rings, credits run
 * out, and all of them are answered in order when the disk goes on. */
static void check_journal_full(void)
{
    struct link *link = &rig.links[0];
    uint64_t sent = 0, answered = 0;

    rig_make(FOLLOWER_COMMANDS_A_TURN);
    settle();
    /* Nothing is written: what was answered is not released. */
    for (int turn = 0; turn < 100; turn++) {
        while (send_command(link))
            sent++;
        (void)core_match(&rig.core);
        CHECK(take_answers(link) == 0);
    }
    CHECK(sent == SLOTS);
    uint64_t before = atomic_load(&rig.core.matcher.counters.journal_full);
    /* The node's own ticks fill the buffer; a client's command then stays in its ring. */
    uint8_t tick[8] = { 0 };
    struct engine_result result;
    while (sequencer_author(&rig.core.matcher.sequencer, REQUEST_tick, tick, sizeof tick, &result))
        clock_advance(&rig.clock, 1000);
    CHECK(send_command(&rig.links[1]));
    uint64_t sequence = engine_sequence(rig.core.primary);
    CHECK(core_match(&rig.core) == 0);
    CHECK(engine_sequence(rig.core.primary) == sequence);
    CHECK(ring_ready(&rig.links[1].commands) != 0);
    CHECK(atomic_load(&rig.core.matcher.counters.journal_full) > before);
    for (int turn = 0; turn < TURNS && answered < SLOTS; turn++) {
        step_journal();
        CHECK(core_follow(&rig.core) >= 0);
        answered += take_answers(link);
    }
    CHECK(answered == SLOTS);
    (void)core_match(&rig.core);
    settle();
    CHECK(take_answers(&rig.links[1]) == 1);
    rig_free();
}

/* A net thread that keeps every reply buffer gets 503 for the next; another has its own pool. */
static void check_pool_empty(void)
{
    struct link *keeper = &rig.links[0], *other = &rig.links[1];

    rig_make(FOLLOWER_COMMANDS_A_TURN);
    settle();
    for (uint32_t i = 0; i < REPLY_BUFFERS; i++) {
        send_query(keeper);
        CHECK(core_follow(&rig.core) >= 0);
        CHECK(take_reply(keeper, false).problem == PROBLEM_none);
    }
    send_query(keeper);
    send_query(other);
    CHECK(core_follow(&rig.core) >= 0);
    struct reply refused = take_reply(keeper, false);
    CHECK(refused.problem == PROBLEM_not_ready && refused.cause == REPLY_POOL_EMPTY);
    CHECK(refused.buffer == REPLY_NO_BUFFER);
    struct reply served = take_reply(other, true);
    CHECK(served.problem == PROBLEM_none && served.row_count == rig.markets.market_count);
    reply_pool_free(&keeper->pool, 0);
    send_query(keeper);
    CHECK(core_follow(&rig.core) >= 0);
    CHECK(take_reply(keeper, false).buffer == 0);
    rig_free();
}

/* A follower that takes one command a turn falls behind: orders go on, a read waits and then is
 * refused with the lag; when it has caught up the next is answered. A net thread that takes no
 * replies is refused nothing and disturbs nobody. */
static void check_follower_behind(void)
{
    struct link *writer = &rig.links[0], *reader = &rig.links[1];
    uint64_t answered = 0;

    rig_make(1);
    settle();
    /* Several times the journal's buffer: the follower is overrun and reads the segments. */
    for (int round = 0; round < 40; round++) {
        while (send_command(writer))
            continue;
        for (int turn = 0; turn < 8; turn++)
            (void)core_match(&rig.core);
        for (int turn = 0; turn < 64; turn++)
            step_journal();
        answered += take_answers(writer);
        clock_advance(&rig.clock, 1000000);
    }
    CHECK(answered > 20 * SLOTS);
    CHECK(engine_sequence(rig.core.replica) + 10 * SLOTS < engine_sequence(rig.core.primary));

    send_query(reader);
    CHECK(core_follow(&rig.core) >= 0);
    CHECK(ring_ready(&reader->replies) == 0); /* behind, but not by more than the bound: it waits */
    clock_advance(&rig.clock, LAG_NS + 50000000);
    CHECK(core_follow(&rig.core) >= 0);
    struct reply refused = take_reply(reader, true);
    CHECK(refused.problem == PROBLEM_not_ready && refused.cause == REPLY_LAG);
    CHECK(refused.lag_ms >= 1000);
    settle();
    send_query(reader);
    CHECK(core_follow(&rig.core) >= 0);
    struct reply served = take_reply(reader, true);
    CHECK(served.problem == PROBLEM_none);
    CHECK(served.applied == engine_sequence(rig.core.primary));
    rig_free();
}

/* Replies that nobody takes fill their own ring: credits end there, the other link is served. */
static void check_replies_not_taken(void)
{
    struct link *stalled = &rig.links[0], *other = &rig.links[1];

    rig_make(FOLLOWER_COMMANDS_A_TURN);
    settle();
    for (uint32_t i = 0; i < SLOTS; i++)
        send_query(stalled);
    for (int round = 0; round < 100; round++) {
        send_query(other);
        CHECK(core_follow(&rig.core) >= 0);
        CHECK(take_reply(other, true).problem == PROBLEM_none);
    }
    CHECK(ring_ready(&stalled->replies) == SLOTS);
    rig_free();
}

int main(void)
{
    check_answers_not_taken();
    check_full_ring_is_fair();
    check_journal_full();
    check_pool_empty();
    check_follower_behind();
    check_replies_not_taken();
    return 0;
}
