/* X-Min-Sequence: a GET waits at most one second for the sequence that it asks for (wire.md W7):
 * which values are refused, when it is answered, what waits with it, how many may wait. And which
 * reads a node of a cluster refuses for their age, and what a leader that gives up answers
 * (replication.md). */
#include <stdio.h>

#include "check.h"
#include "crypto/secret.h"
#include "net/fixture.h"

enum { NOW = 4720, WIRES = SEQUENCE_WAIT_MAX + 2 };

static struct fixture fixture;
static struct protocol *protocol;
static struct wire wires[WIRES];

/* Sends a request with the X-Min-Sequence lines to an open connection. */
static int request(char text[1024], const char *method, const char *target, const char *lines)
{
    return snprintf(text, 1024, "%s %s HTTP/1.1\r\nHost: x\r\nX-API-KEY: %s\r\n%s\r\n", method,
                    target, fixture.api_key, lines);
}

static void ask(struct wire *wire, const char *method, const char *target, const char *lines)
{
    char text[1024];
    int count = request(text, method, target, lines);
    wire_send(wire, text, (size_t)count, 0);
}

/* Sends a GET that asks for a sequence. */
static void ask_for(struct wire *wire, const char *target, uint64_t sequence)
{
    char line[64];
    (void)snprintf(line, sizeof line, "X-Min-Sequence: %llu\r\n", (unsigned long long)sequence);
    ask(wire, "GET", target, line);
}

static bool says(const struct wire_answer *answer, int status, const char *part)
{
    bool good =
        answer->status == status && (wire_has(answer, part) || strstr(answer->head, part) != NULL);
    if (!good)
        fprintf(stderr, "%d %.*s\n", answer->status, (int)answer->body_bytes, answer->body);
    return good;
}

/* A read of the follower and one of the net thread. */
static const char *const targets[] = { "/api/v1/account", "/api/v1/exchange" };

static void bad_values_are_refused(void)
{
    static const struct {
        int line;
        const char *name, *method, *lines;
        int status;
        const char *part;
    } rows[] = {
#define R(name, method, lines, status, part) { __LINE__, name, method, lines, status, part }
#define BAD                                  "\"parameter\":\"X-Min-Sequence\"}"
        R("empty", "GET", "X-Min-Sequence:\r\n", 400, BAD),
        R("signed", "GET", "X-Min-Sequence: -1\r\n", 400, BAD),
        R("plus", "GET", "X-Min-Sequence: +1\r\n", 400, BAD),
        R("a word", "GET", "X-Min-Sequence: now\r\n", 400, BAD),
        R("two numbers", "GET", "X-Min-Sequence: 1, 2\r\n", 400, BAD),
        R("hex", "GET", "X-Min-Sequence: 0x1\r\n", 400, BAD),
        R("2^64", "GET", "X-Min-Sequence: 18446744073709551616\r\n", 400, BAD),
        R("two lines", "GET", "X-Min-Sequence: 1\r\nx-min-sequence: 1\r\n", 400,
          "\"code\":\"malformed_request\""),
        R("0", "GET", "X-Min-Sequence: 0\r\n", 200, "{"),
        R("the newest", "GET", "x-MIN-sequence:  4720 \r\n", 200, "{"),
        R("no read", "OPTIONS", "X-Min-Sequence: now\r\n", 204, "Allow: GET"),
    };
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        for (size_t k = 0; k < CC_COUNT(targets); k++) {
            struct wire wire;
            struct wire_answer answer;
            wire_open(&wire, &fixture, protocol, false);
            ask(&wire, rows[i].method, targets[k], rows[i].lines);
            CHECK_ROW(&rows[i], wire_answer(&wire, &answer, false));
            CHECK_ROW(&rows[i], says(&answer, rows[i].status, rows[i].part));
            wire_free(&wire);
        }
    }
}

/* It is answered once the sequence is durable, with X-Sequence at or above it. A request after it
 * is answered after it; no thread waits. */
static void answers_when_reached(void)
{
    for (size_t k = 0; k < CC_COUNT(targets); k++) {
        struct wire wire, other;
        struct wire_answer answer;
        fixture.applied = fixture.durable = NOW;
        wire_open(&wire, &fixture, protocol, false);
        wire_open(&other, &fixture, protocol, false);
        ask_for(&wire, targets[k], NOW + 2);
        ask(&wire, "GET", "/api/v1/time", "");
        CHECK(!wire_answer(&wire, &answer, false) && protocol->pipeline.reads.sequences.count == 1);
        ask(&other, "GET", targets[k], "");
        CHECK(wire_answer(&other, &answer, false) && answer.status == 200);
        fixture.applied = fixture.durable = NOW + 1;
        wire_turn(&wire);
        CHECK(!wire_answer(&wire, &answer, false));
        fixture.durable = NOW + 2; /* the follower is not there yet */
        for (unsigned i = 0; i < 4; i++)
            wire_turn(&wire);
        CHECK(wire_answer(&wire, &answer, false) == (k == 1));
        fixture.applied = NOW + 2;
        for (unsigned i = 0; i < 4; i++)
            wire_turn(&wire);
        CHECK(k == 1 || wire_answer(&wire, &answer, false));
        CHECK(says(&answer, 200, "X-Sequence: 4722\r\n"));
        CHECK(wire_answer(&wire, &answer, false) && says(&answer, 200, "time_ns"));
        CHECK(protocol->pipeline.reads.sequences.count == 0);
        wire_free(&wire);
        wire_free(&other);
    }
}

static void refuses_after_one_second(void)
{
    for (size_t k = 0; k < CC_COUNT(targets); k++) {
        struct wire wire;
        struct wire_answer answer;
        fixture.applied = fixture.durable = NOW;
        wire_open(&wire, &fixture, protocol, false);
        ask_for(&wire, targets[k], UINT64_MAX);
        uint64_t began_ns = protocol->context.now_ns;
        CHECK(protocol_deadline_ns(protocol) == began_ns + SEQUENCE_WAIT_NS);
        clock_advance(&fixture.clock, SEQUENCE_WAIT_NS - 1);
        wire_turn(&wire);
        CHECK(!wire_answer(&wire, &answer, false));
        clock_advance(&fixture.clock, 1);
        wire_turn(&wire);
        CHECK(wire_answer(&wire, &answer, false) && says(&answer, 503, "\"code\":\"not_ready\""));
        CHECK(wire_has(&answer, "X-Min-Sequence is 18446744073709551615, and sequence 4720 is"));
        ask(&wire, "GET", targets[k], ""); /* the connection goes on */
        CHECK(wire_answer(&wire, &answer, false) && answer.status == 200);
        wire_free(&wire);
    }
}

/* A connection that closes waits no more, and leaves no request. */
static void close_ends_the_wait(void)
{
    fixture.applied = fixture.durable = NOW;
    for (size_t k = 0; k < CC_COUNT(targets); k++) {
        struct wire wire;
        wire_open(&wire, &fixture, protocol, false);
        ask_for(&wire, targets[k], NOW + 1);
        CHECK(protocol->pipeline.reads.sequences.count == 1);
        wire_free(&wire);
        CHECK(protocol->pipeline.reads.sequences.count == 0);
        CHECK(protocol->context.pendings.used == 0);
    }
}

/* How many reads of targets[kind] wait, in `wires` from `from` on, before one is refused in these
 * words. Each is of the address, or of one of its own: 0. */
static unsigned let_wait(unsigned from, size_t kind, uint64_t address, const char *words)
{
    struct wire_answer answer;

    for (unsigned i = from;; i++) {
        CHECK(i < WIRES);
        wire_open(&wires[i], &fixture, protocol, false);
        wires[i].conn->address = address != 0 ? address : 1000000 + i;
        ask_for(&wires[i], targets[kind], NOW + 1 + i);
        if (wire_answer(&wires[i], &answer, false)) {
            CHECK(says(&answer, 503, words)); /* its bytes are the wire's */
            wire_free(&wires[i]);
            return i - from;
        }
    }
}

/* Ends the first `count` wires. Those before `given` have been refused for others' sake, and no
 * other has been answered. */
static void end_waits(unsigned count, unsigned given)
{
    struct wire_answer answer;

    for (unsigned i = 0; i < count; i++) {
        wire_turn(&wires[i]);
        CHECK(wire_answer(&wires[i], &answer, false) == (i < given));
        CHECK(i >= given || says(&answer, 503, "another read has the slot of this one"));
        wire_free(&wires[i]);
    }
    CHECK(protocol->pipeline.reads.sequences.count == 0);
}

/* However many reads of an address or of an account wait, the next one has room. 342 is the least
 * count whose double is not below what is left of 1,024, 228 the same of 682, 152 of 454. The third
 * is left less than half of what the first has: 13 of those give their slots to it, which then has
 * 165 beside 329. Each of those that wait is answered in its time. */
static void few_wait(void)
{
    struct wire_answer answer;
    unsigned waiting = 0;
    fixture.applied = fixture.durable = NOW;
    waiting += let_wait(waiting, 1, 1, "as many reads of this address");
    CHECK(waiting == 342);
    waiting += let_wait(waiting, 0, 0, "as many reads of this account");
    CHECK(waiting == 342 + 228);
    CHECK(let_wait(waiting, 0, 2, "as many reads of this account") == 0);
    waiting += let_wait(waiting, 1, 2, "as many reads of this address");
    CHECK(waiting == 342 + 228 + 152 + 13);
    fixture.applied = NOW + WIRES;
    for (unsigned i = 0; i < waiting; i++) {
        fixture.durable = NOW + 1 + i;
        for (unsigned turn = 0; turn < (i < 342 || i >= 570 ? 1 : 4); turn++)
            wire_turn(&wires[i]);
        CHECK(wire_answer(&wires[i], &answer, false));
        CHECK(i < 13 ? says(&answer, 503, "another read has the slot of this one")
                     : says(&answer, 200, "{"));
        wire_free(&wires[i]);
    }
    CHECK(protocol->pipeline.reads.sequences.count == 0);
}

/* 16 addresses, each with as many as it may have, have all slots. Who comes then waits all the
 * same: the first, which has most, gives for it. */
static void who_comes_last_has_room(void)
{
    static const unsigned parts[] = { 342, 228, 152, 101, 67, 45, 30, 20, 13, 9, 6, 4, 3, 2, 1, 1 };
    struct wire_answer answer;
    unsigned waiting = 0;
    fixture.applied = fixture.durable = NOW;
    for (unsigned k = 0; k < CC_COUNT(parts); k++)
        for (unsigned i = 0; i < parts[k]; i++, waiting++) {
            wire_open(&wires[waiting], &fixture, protocol, false);
            wires[waiting].conn->address = 1 + k;
            ask_for(&wires[waiting], targets[1], NOW + 1);
        }
    CHECK(waiting == SEQUENCE_WAIT_MAX);
    for (unsigned i = 0; i < 2; i++, waiting++) {
        wire_open(&wires[waiting], &fixture, protocol, false);
        wires[waiting].conn->address = 100;
        ask_for(&wires[waiting], targets[1], NOW + 1);
        CHECK(!wire_answer(&wires[waiting], &answer, false));
    }
    end_waits(waiting, 2);
}

/* 1,024 addresses with a read each: nobody gives for another address, one for an account. */
static void an_account_has_room(void)
{
    fixture.applied = fixture.durable = NOW;
    CHECK(let_wait(0, 1, 0, "too many reads wait for their") == SEQUENCE_WAIT_MAX);
    CHECK(let_wait(SEQUENCE_WAIT_MAX, 0, 0, "too many reads wait for their") == 1);
    end_waits(SEQUENCE_WAIT_MAX + 1, 1);
}

/* A key that is revoked while its read waits answers nothing more. */
static void a_revoked_key_is_refused(void)
{
    struct wire wire;
    struct wire_answer answer;
    uint8_t hash[32];
    fixture.applied = fixture.durable = NOW;
    wire_open(&wire, &fixture, protocol, false);
    ask_for(&wire, targets[0], NOW + 1);
    CHECK(protocol->pipeline.reads.sequences.count == 1);
    secret_hash(hash, fixture.config.secret_key, fixture.api_secret);
    const struct keyring_key key = keyring_key(KEYRING_API, 0, hash);
    CHECK(keyring_end(fixture.keyring, &key, NOW + 1));
    fixture.applied = fixture.durable = NOW + 1;
    for (unsigned i = 0; i < 4; i++)
        wire_turn(&wire);
    CHECK(wire_answer(&wire, &answer, false) && says(&answer, 401, "invalid_api_key"));
    wire_free(&wire);
}

/* ---- a node of a cluster --------------------------------------------------------------------- */

static struct net_standing standing;
static bool is_fresh;

static bool cluster_leads(void *context, const char **leader)
{
    (void)context;
    *leader = NULL;
    return !standing.is_replica;
}

static bool cluster_is_fresh(void *context)
{
    (void)context;
    return standing.is_replica || is_fresh;
}

static void cluster_standing(void *context, struct net_standing *out)
{
    (void)context;
    *out = standing;
}

/* A replica's read above cluster.staleness_ms answers 503, one that names a sequence too; every
 * answer has the term, that of a replica its age. */
static void old_reads_are_refused(void)
{
    static const struct {
        int line;
        const char *name, *lines;
        struct net_standing standing, later; /* when it is asked, and when the reply comes */
        bool is_fresh, later_is_fresh;
        int status;
        const char *part, *absent; /* of the head */
    } rows[] = {
#undef R
#define R(...) { __LINE__, __VA_ARGS__ }
#define OF(term, staleness_ns)   \
    {                            \
        term, true, staleness_ns \
    } /* a replica */
#define LEADER(term)   \
    {                  \
        term, false, 0 \
    }
        R("as old as may be", "", OF(7, 250000000), OF(7, 250000000), false, false, 200,
          "X-Term: 7\r\nX-Staleness-Ms: 250\r\n", "Retry-After"),
        R("older", "", OF(7, 250000001), OF(7, 250000001), false, false, 503,
          "X-Term: 7\r\nX-Staleness-Ms: 251\r\n", "Retry-After"),
        R("older, of a sequence", "X-Min-Sequence: 1\r\n", OF(7, 251000000), OF(7, 251000000),
          false, false, 503, "X-Staleness-Ms: 251\r\n", "Retry-After"),
        R("older when its reply comes", "", OF(7, 250000000), OF(7, 250000001), false, false, 503,
          "X-Term: 7\r\nX-Staleness-Ms: 251\r\n", "Retry-After"),
        R("the same, of a sequence", "X-Min-Sequence: 1\r\n", OF(7, 0), OF(7, 250000001), false,
          false, 503, "X-Staleness-Ms: 251\r\n", "Retry-After"),
        R("leader", "", LEADER(18446744073709551615u), LEADER(18446744073709551615u), true, true,
          200, "X-Term: 18446744073709551615\r\n", "X-Staleness-Ms"),
        R("leader, its lease over", "", LEADER(8), LEADER(8), false, false, 503,
          "Retry-After: 1\r\n", "X-Staleness-Ms"),
        R("leader, its lease over when the reply comes", "", LEADER(8), LEADER(8), true, false, 503,
          "Retry-After: 1\r\n", "X-Staleness-Ms"),
        R("the same, of a sequence", "X-Min-Sequence: 1\r\n", LEADER(8), LEADER(8), true, false,
          200, "X-Term: 8\r\n", "X-Staleness-Ms"),
        R("leader that gave the lead away", "", LEADER(8), OF(9, 251000000), true, true, 503,
          "X-Term: 9\r\nX-Staleness-Ms: 251\r\n", "Retry-After"),
    };
    fixture.applied = fixture.durable = NOW;
    protocol->config.staleness_ms = 250;
    protocol->config.source.leads = cluster_leads;
    protocol->config.source.is_fresh = cluster_is_fresh;
    protocol->config.source.standing = cluster_standing;
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        struct wire wire;
        char text[1024];
        struct wire_answer answer;
        standing = rows[i].standing;
        is_fresh = rows[i].is_fresh;
        wire_open(&wire, &fixture, protocol, false);
        wire_feed(&wire, text, (size_t)request(text, "GET", targets[0], rows[i].lines));
        standing = rows[i].later;
        is_fresh = rows[i].later_is_fresh;
        for (unsigned turn = 0; turn < 4; turn++)
            wire_turn(&wire);
        CHECK_ROW(&rows[i], wire_answer(&wire, &answer, false));
        CHECK_ROW(&rows[i], answer.status == rows[i].status);
        CHECK_ROW(&rows[i], strstr(answer.head, rows[i].part) != NULL);
        CHECK_ROW(&rows[i], strstr(answer.head, rows[i].absent) == NULL);
        CHECK_ROW(&rows[i], answer.status != 503 || wire_has(&answer, "\"code\":\"not_ready\""));
        if (rows[i].later.is_replica && answer.status == 503)
            CHECK_ROW(&rows[i], wire_has(&answer, "\"lag_ms\":251"));
        wire_free(&wire);
    }
    protocol->config.source.leads = NULL;
    protocol->config.source.is_fresh = NULL;
    protocol->config.source.standing = NULL;
}

/* A node that does not lead says so before it judges the id by its own clock, which may be off. */
static void a_standby_judges_no_id(void)
{
    struct wire wire;
    struct wire_answer answer;
    char text[2048];
    size_t count = fixture_order_post(&fixture, text, sizeof text);
    protocol->config.source.leads = cluster_leads;
    protocol->config.source.is_fresh = cluster_is_fresh;
    protocol->config.source.standing = cluster_standing;
    clock_advance(&fixture.clock, 3600 * (uint64_t)1000000000);
    for (int i = 0; i < 2; i++) {
        standing = (struct net_standing){ 7, i == 0, 0 };
        is_fresh = true;
        wire_open(&wire, &fixture, protocol, false);
        wire_send(&wire, text, count, 0);
        CHECK(wire_answer(&wire, &answer, false) && answer.status == (i == 0 ? 503 : 400));
        CHECK(wire_has(&answer, "of the cluster leads") == (i == 0));
        wire_free(&wire);
    }
    protocol->config.source.leads = NULL;
    protocol->config.source.is_fresh = NULL;
    protocol->config.source.standing = NULL;
}

static bool gave_up;

static bool cluster_gave_up(void *context)
{
    (void)context;
    return gave_up;
}

static void send_order(struct wire *wire, bool reaches_matcher)
{
    char text[2048];
    size_t count = fixture_order_post(&fixture, text, sizeof text);
    if (reaches_matcher) {
        wire_send(wire, text, count, 0);
        return;
    }
    wire_feed(wire, text, count);
    wire_turn_net(wire);
}

/* What was sent to the matcher, sequenced or not, is answered once a leader gives up, in its place
 * among other requests; the answer that comes later is nobody's. */
static void held_answers_are_given_up(void)
{
    struct wire wire, closed;
    struct wire_answer answer;
    uint64_t before = protocol->context.metrics.counters.outcomes_unknown;
    protocol->config.source.gave_up = cluster_gave_up;
    wire_open(&wire, &fixture, protocol, false);
    wire_open(&closed, &fixture, protocol, false);
    send_order(&wire, true);
    send_order(&closed, true);
    ask(&wire, "GET", "/api/v1/time", "");
    send_order(&wire, false); /* waits in its ring */
    wire_turn_net(&wire);
    CHECK(!wire_answer(&wire, &answer, false) && protocol->sender.commands_out == 3);
    wire_free(&closed);
    gave_up = true;
    wire_turn_net(&wire);
    CHECK(wire_answer(&wire, &answer, false) && says(&answer, 503, "\"outcome_unknown\""));
    CHECK(strstr(answer.head, "Retry-After: 1\r\n") != NULL);
    CHECK(wire_answer(&wire, &answer, false) && says(&answer, 200, "time_ns"));
    CHECK(wire_answer(&wire, &answer, false) && says(&answer, 503, "\"outcome_unknown\""));
    CHECK(protocol->context.metrics.counters.outcomes_unknown == before + 2);
    gave_up = false;
    for (unsigned i = 0; i < 4; i++)
        wire_turn(&wire);
    fixture.applied = fixture.durable = fixture.sequence;
    for (unsigned i = 0; i < 4; i++)
        wire_turn(&wire);
    CHECK(!wire_answer(&wire, &answer, false) && protocol->sender.commands_out == 0);
    send_order(&wire, true);
    fixture.applied = fixture.durable = fixture.sequence;
    wire_turn(&wire);
    CHECK(wire_answer(&wire, &answer, false) && answer.status == 200);
    wire_free(&wire);
    protocol->config.source.gave_up = NULL;
}

int main(void)
{
    fixture_init(&fixture, true, FIXTURE_SLOTS);
    protocol = fixture_protocol(&fixture, 2048);
    fixture.applied = fixture.durable = fixture.sequence = NOW;
    fixture.hold_durable = true;
    bad_values_are_refused();
    answers_when_reached();
    refuses_after_one_second();
    close_ends_the_wait();
    few_wait();
    who_comes_last_has_room();
    an_account_has_room();
    old_reads_are_refused();
    held_answers_are_given_up();
    a_revoked_key_is_refused(); /* it ends the key */
    a_standby_judges_no_id();   /* last: it sets the clock */
    fixture_end(&fixture, protocol);
    return 0;
}
