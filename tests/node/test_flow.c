/* Flow control between two net threads and the rest (roles.md, Flow control): whoever does
 * not take what is his stalls himself and nobody else, and nothing stops the matcher for good. The
 * test plays both net threads and keeps their law: no command without a free answer slot, no query
 * without a free reply slot. */
#include <errno.h>

#include "base/problem.h"
#include "base/query_message.h"
#include "check.h"
#include "node/core_rig.h"

enum {
    LINKS = 2,
    SLOTS = 64,         /* of answers, queries and replies: the credits of a link */
    TURN_COMMANDS = 16, /* wire.md W10, Fairness: at most 16 commands a ring a turn */
};

/* A net thread. */
static struct client {
    struct core_rig_link *link;
    uint64_t sent, answered;
    uint64_t last_sequence; /* of the answers taken: they come in order */
} clients[LINKS];

/* An exchange whose follower takes `commands_a_turn`; nothing is started. */
static void rig_prepare(int commands_a_turn)
{
    static const char *const engine[] = { "--limits.duplicate_slots=65536", NULL };

    core_rig_make_with(&(struct core_rig_options){ .disk_seed = 3,
                                                   .accounts = 8192,
                                                   .credentials = 32768,
                                                   .engine = engine,
                                                   .link_count = LINKS,
                                                   .slots = SLOTS,
                                                   .follower_commands_a_turn = commands_a_turn,
                                                   .has_no_snapshots = true });
    for (size_t i = 0; i < LINKS; i++)
        clients[i] = (struct client){ .link = &core_rig.links[i] };
}

/* One that is open. */
static void rig_make(int commands_a_turn)
{
    rig_prepare(commands_a_turn);
    core_rig_start();
}

static void rig_free(void)
{
    core_destroy(&core_rig.core);
    core_rig_free();
}

/* One account more, through a link. False without a credit or without room in the ring: what a net
 * thread does not send. */
static bool send_command(struct client *client)
{
    if (client->sent - client->answered == SLOTS || !core_rig_send_account(client->link))
        return false;
    client->sent++;
    return true;
}

/* Takes the answers whose commands are durable, in order. */
static uint32_t take_answers(struct client *client)
{
    struct ring *answers = &client->link->answers;
    uint32_t taken = 0;

    while (ring_ready(answers) != 0) {
        const struct answer *answer = ring_at(answers, 0);
        if (answer->release_sequence > journal_durable_seq(core_rig.core.journal))
            break;
        CHECK(answer->status == STATUS_account_created_session_failed);
        CHECK(answer->sequence > client->last_sequence);
        client->last_sequence = answer->sequence;
        ring_release(answers, 1);
        client->answered++;
        taken++;
    }
    return taken;
}

static void step_journal(void)
{
    CHECK(core_journal(&core_rig.core) >= 0);
    CHECK(core_prepare(&core_rig.core, clock_monotonic_ns(&core_rig.clock)) >= 0);
}

/* A query of a kind that needs nothing, stamped with what is durable. */
static void send_query(struct client *client)
{
    struct query *query = ring_claim(&client->link->queries, 1);

    CHECK(query != NULL);
    *query = (struct query){ .stamp = journal_durable_seq(core_rig.core.journal),
                             .kind = QUERY_markets,
                             .pin = -1 };
    ring_publish(&client->link->queries);
}

/* The next reply; its buffer is kept unless `give`. */
static struct reply take_reply(struct client *client, bool give)
{
    struct core_rig_link *link = client->link;

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
    struct client *stalled = &clients[0], *other = &clients[1];
    uint64_t answered = 0;

    rig_make(FOLLOWER_COMMANDS_A_TURN);
    for (int round = 0; round < 50; round++) {
        while (send_command(stalled))
            continue;
        for (int i = 0; i < TURN_COMMANDS; i++)
            CHECK(send_command(other));
        for (int turn = 0; turn < 8; turn++)
            (void)core_match(&core_rig.core);
        core_rig_settle();
        answered += take_answers(other);
    }
    CHECK(answered == 50 * TURN_COMMANDS);
    CHECK(stalled->sent == SLOTS);
    CHECK(ring_ready(&stalled->link->answers) == SLOTS); /* none was lost, none came too many */
    CHECK(take_answers(stalled) == SLOTS);
    CHECK(send_command(stalled)); /* and its credits are back */
    rig_free();
}

/* A full ring waits for its turn behind nobody: of each ring at most 16 a turn. */
static void check_full_ring_is_fair(void)
{
    struct client *full = &clients[0], *other = &clients[1];
    uint64_t first;

    rig_make(FOLLOWER_COMMANDS_A_TURN);
    core_rig_settle();
    first = engine_sequence(core_rig.core.primary);
    uint32_t waiting = 0;
    while (send_command(full))
        waiting++;
    CHECK(waiting == SLOTS); /* credits end before the ring does */
    CHECK(send_command(other));
    (void)core_match(&core_rig.core);
    core_rig_settle();
    CHECK(take_answers(other) == 1);
    /* Ticks apart, at most one turn of the other ring was sequenced before it. */
    CHECK(other->last_sequence <= first + TURN_COMMANDS + 2);
    for (int turn = 0; turn < 8; turn++)
        (void)core_match(&core_rig.core);
    core_rig_settle();
    CHECK(take_answers(full) == SLOTS);
    rig_free();
}

/* The journal's buffer is full because the disk is slow: commands wait in their rings, credits run
 * out, and all of them are answered in order when the disk goes on. */
static void check_journal_full(void)
{
    struct client *client = &clients[0];
    uint64_t sent = 0, answered = 0;

    rig_make(FOLLOWER_COMMANDS_A_TURN);
    core_rig_settle();
    /* Nothing is written: what was answered is not released. */
    for (int turn = 0; turn < 100; turn++) {
        while (send_command(client))
            sent++;
        (void)core_match(&core_rig.core);
        CHECK(take_answers(client) == 0);
    }
    CHECK(sent == SLOTS);
    uint64_t before = published_get(&core_rig.core.matcher.counters.journal_full);
    /* The node's own ticks fill the buffer; a client's command then stays in its ring. */
    uint8_t tick[8] = { 0 };
    struct engine_result result;
    while (sequencer_author(&core_rig.core.matcher.sequencer, REQUEST_tick, tick, sizeof tick,
                            &result))
        clock_advance(&core_rig.clock, 1000);
    CHECK(send_command(&clients[1]));
    uint64_t sequence = engine_sequence(core_rig.core.primary);
    CHECK(core_match(&core_rig.core) == 0);
    CHECK(engine_sequence(core_rig.core.primary) == sequence);
    CHECK(ring_ready(&clients[1].link->commands) != 0);
    CHECK(published_get(&core_rig.core.matcher.counters.journal_full) > before);
    for (int turn = 0; turn < CORE_RIG_TURNS && answered < SLOTS; turn++) {
        step_journal();
        CHECK(core_follow(&core_rig.core) >= 0);
        answered += take_answers(client);
    }
    CHECK(answered == SLOTS);
    (void)core_match(&core_rig.core);
    core_rig_settle();
    CHECK(take_answers(&clients[1]) == 1);
    rig_free();
}

/* A net thread that keeps every reply buffer gets 503 for the next; another has its own pool. */
static void check_pool_empty(void)
{
    struct client *keeper = &clients[0], *other = &clients[1];

    rig_make(FOLLOWER_COMMANDS_A_TURN);
    core_rig_settle();
    for (uint32_t i = 0; i < REPLY_BUFFERS; i++) {
        send_query(keeper);
        CHECK(core_follow(&core_rig.core) >= 0);
        CHECK(take_reply(keeper, false).problem == PROBLEM_none);
    }
    send_query(keeper);
    send_query(other);
    CHECK(core_follow(&core_rig.core) >= 0);
    struct reply refused = take_reply(keeper, false);
    CHECK(refused.problem == PROBLEM_not_ready && refused.cause == REPLY_POOL_EMPTY);
    CHECK(refused.buffer == REPLY_NO_BUFFER);
    struct reply served = take_reply(other, true);
    CHECK(served.problem == PROBLEM_none && served.row_count == core_rig.markets.market_count);
    reply_pool_free(&keeper->link->pool, 0);
    send_query(keeper);
    CHECK(core_follow(&core_rig.core) >= 0);
    CHECK(take_reply(keeper, false).buffer == 0);
    rig_free();
}

/* A follower that takes one command a turn falls behind: orders go on, a read waits and then is
 * refused with the lag; when it has caught up the next is answered. A net thread that takes no
 * replies is refused nothing and disturbs nobody. */
static void check_follower_behind(void)
{
    struct client *writer = &clients[0], *reader = &clients[1];
    uint64_t answered = 0;

    rig_make(1);
    core_rig_settle();
    /* Several times the journal's buffer: the follower is overrun and reads the segments. */
    for (int round = 0; round < 40; round++) {
        while (send_command(writer))
            continue;
        for (int turn = 0; turn < 8; turn++)
            (void)core_match(&core_rig.core);
        for (int turn = 0; turn < 64; turn++)
            step_journal();
        answered += take_answers(writer);
        clock_advance(&core_rig.clock, 1000000);
    }
    CHECK(answered > 20 * SLOTS);
    CHECK(engine_sequence(core_rig.core.replica) + 10 * SLOTS <
          engine_sequence(core_rig.core.primary));

    send_query(reader);
    CHECK(core_follow(&core_rig.core) >= 0);
    CHECK(ring_ready(&reader->link->replies) ==
          0); /* behind, but not by more than the bound: it waits */
    clock_advance(&core_rig.clock, CORE_RIG_LAG_NS + 50000000);
    CHECK(core_follow(&core_rig.core) >= 0);
    struct reply refused = take_reply(reader, true);
    CHECK(refused.problem == PROBLEM_not_ready && refused.cause == REPLY_LAG);
    CHECK(refused.lag_ms >= 1000);
    core_rig_settle();
    send_query(reader);
    CHECK(core_follow(&core_rig.core) >= 0);
    struct reply served = take_reply(reader, true);
    CHECK(served.problem == PROBLEM_none);
    CHECK(served.applied == engine_sequence(core_rig.core.primary));
    rig_free();
}

/* Replies that nobody takes fill their own ring: credits end there, the other link is served. */
static void check_replies_not_taken(void)
{
    struct client *stalled = &clients[0], *other = &clients[1];

    rig_make(FOLLOWER_COMMANDS_A_TURN);
    core_rig_settle();
    for (uint32_t i = 0; i < SLOTS; i++)
        send_query(stalled);
    for (int round = 0; round < 100; round++) {
        send_query(other);
        CHECK(core_follow(&core_rig.core) >= 0);
        CHECK(take_reply(other, true).problem == PROBLEM_none);
    }
    CHECK(ring_ready(&stalled->link->replies) == SLOTS);
    rig_free();
}

/* A leader that gave the lead away has commands in its rings: as a standby it executes none, and
 * each is answered (replication.md, Handover). */
static void check_standby_drops(void)
{
    rig_prepare(FOLLOWER_COMMANDS_A_TURN);
    CHECK(core_rig_recover() == REFUSAL_none);
    CHECK(core_stand_by(&core_rig.core) == CORE_OPENED);
    for (int i = 0; i < LINKS; i++)
        CHECK(send_command(&clients[i]) && send_command(&clients[i]));
    uint64_t sequence = engine_sequence(core_rig.core.primary);
    CHECK(core_follow_log(&core_rig.core) == 2 * LINKS);
    for (int i = 0; i < LINKS; i++) {
        struct ring *answers = &clients[i].link->answers;
        CHECK(ring_ready(&clients[i].link->commands) == 0 && ring_ready(answers) == 2);
        for (uint64_t at = 0; at < 2; at++) {
            const struct answer *answer = ring_at(answers, at);
            CHECK(answer->status == STATUS_request_dropped && answer->sequence == 0);
            CHECK(answer->release_sequence <= sequence);
        }
    }
    CHECK(engine_sequence(core_rig.core.primary) == sequence);
    CHECK(core_follow_log(&core_rig.core) == 0);
    rig_free();
}

/* A state of another rules_version takes no record of its own version: none comes before a 2014 of
 * this one (replication.md, Another binary). A state of this one takes it. */
static void check_state_of_other_rules(void)
{
    struct following following = { 0 };
    struct core *core = &core_rig.core;

    rig_make(FOLLOWER_COMMANDS_A_TURN);
    core_rig_settle();
    following.engine = core->replica;
    following.sink = &core->follower.sink.sink;
    following.key = mix_key_load(core->exchange.hash_key);
    following.layout = core->engines.layout;
    for (uint32_t version = ENGINE_RULES_VERSION - 1; version <= ENGINE_RULES_VERSION; version++) {
        CHECK(following_begin_again(&following, core->journal) == 0);
        following.rules_version = version;
        uint64_t sequence = engine_sequence(core->replica);
        bool is_of_this = version == ENGINE_RULES_VERSION;
        CHECK(send_command(&clients[0]) && core_match(core) > 0);
        while (journal_durable_seq(core->journal) < engine_sequence(core->primary))
            step_journal();
        CHECK(following_step(&following) == (is_of_this ? 1 : -EBADMSG));
        CHECK(is_of_this || following.refused == REPLAY_rules_version);
        CHECK(engine_sequence(core->replica) == sequence + is_of_this);
        CHECK(is_of_this || core_follow(core) > 0);
        following_end(&following);
    }
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
    check_standby_drops();
    check_state_of_other_rules();
    return 0;
}
