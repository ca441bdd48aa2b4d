/* What an address may cost (rules.md R11; wire.md W8: 200 unknown keys and 1,000 wrong signatures a
 * second, per network thread divided by their number). Times are of a simulated clock; the numbers
 * are worked out from the rates. */
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/status.h"
#include "check.h"
#include "net/fixture.h"
#include "net/request/charge.h"
#include "net/request/rate_limit.h"
#include "net/stream_wire.h"

#define ORDER_PATH  "/api/v1/trading/order/place/limit"
#define ORACLE_PATH "/api/v1/operator"
#define OCTETS      "application/octet-stream"
#define MS          UINT64_C(1000000)
#define START       (1000 * MS)

static const struct mix_key hash_key = { 7, 9 };

static struct rate_limit *make(uint32_t unknown, uint32_t bad, uint32_t threads)
{
    struct rate_limit *limits;
    const uint32_t rates[RATE_LIMIT_KINDS] = { unknown, bad };
    CHECK(rate_limit_create(&limits, rates, threads, hash_key) == 0);
    return limits;
}

/* Takes what the address may have at once. */
static uint32_t drain(struct rate_limit *limits, uint64_t address, enum rate_limit_kind kind,
                      uint64_t now_ns)
{
    uint32_t count = 0;
    for (; rate_limit_wait_ms(limits, address, kind, now_ns) == 0 && count < 100000; count++)
        rate_limit_charge(limits, address, kind, now_ns);
    return count;
}

/* 200/s: one costs 5 ms, a second's worth may come at once. */
static void rates(void)
{
    struct rate_limit *limits = make(200, 1000, 1);
    CHECK(drain(limits, 1, RATE_LIMIT_UNKNOWN_KEY, START) == 200);
    CHECK(rate_limit_wait_ms(limits, 1, RATE_LIMIT_UNKNOWN_KEY, START) == 5);
    CHECK(rate_limit_wait_ms(limits, 1, RATE_LIMIT_UNKNOWN_KEY, START + 3 * MS) == 2);
    CHECK(drain(limits, 1, RATE_LIMIT_UNKNOWN_KEY, START + 5 * MS) == 1);
    CHECK(drain(limits, 1, RATE_LIMIT_UNKNOWN_KEY, START + 105 * MS) == 20);
    CHECK(drain(limits, 1, RATE_LIMIT_UNKNOWN_KEY, START + 60000 * MS) == 200); /* no more */
    CHECK(drain(limits, 2, RATE_LIMIT_UNKNOWN_KEY, START) == 200);              /* another's */
    CHECK(drain(limits, 1, RATE_LIMIT_BAD_SIGNATURE, START) == 1000);
    rate_limit_destroy(limits);

    limits = make(200, 0, 4); /* a quarter: one costs 20 ms; no limit on the other */
    CHECK(drain(limits, 1, RATE_LIMIT_UNKNOWN_KEY, START) == 50);
    CHECK(rate_limit_wait_ms(limits, 1, RATE_LIMIT_UNKNOWN_KEY, START) == 20);
    CHECK(drain(limits, 1, RATE_LIMIT_BAD_SIGNATURE, START) == 100000);
    rate_limit_destroy(limits);

    limits = make(1, 1, 4); /* less than one a second a thread: one each 4 s */
    CHECK(drain(limits, 1, RATE_LIMIT_UNKNOWN_KEY, START) == 1);
    CHECK(rate_limit_wait_ms(limits, 1, RATE_LIMIT_UNKNOWN_KEY, START) == 4000);
    CHECK(drain(limits, 1, RATE_LIMIT_UNKNOWN_KEY, START + 4000 * MS) == 1);
    rate_limit_destroy(limits);
}

/* What passed beyond the limit is not paid back for longer than the second, and who owes is not
 * forgotten for those who owe less, however many they are. */
static void debts(void)
{
    struct rate_limit *limits = make(200, 1000, 1);
    for (unsigned i = 0; i < 5000; i++)
        rate_limit_charge(limits, 1, RATE_LIMIT_BAD_SIGNATURE, START);
    CHECK(rate_limit_wait_ms(limits, 1, RATE_LIMIT_BAD_SIGNATURE, START) <= 2);
    CHECK(rate_limit_wait_ms(limits, 1, RATE_LIMIT_BAD_SIGNATURE, START) > 0);
    CHECK(drain(limits, 2, RATE_LIMIT_UNKNOWN_KEY, START) == 200);
    for (uint64_t other = 100; other < 100 + 4 * RATE_LIMIT_ADDRESSES; other++)
        rate_limit_charge(limits, other, RATE_LIMIT_UNKNOWN_KEY, START);
    CHECK(rate_limit_wait_ms(limits, 2, RATE_LIMIT_UNKNOWN_KEY, START) == 5);
    rate_limit_destroy(limits);
    rate_limit_destroy(NULL);
}

/* The address of a peer that is connected from `name`. */
static uint64_t address_from(int family, const struct sockaddr *name, socklen_t bytes)
{
    struct sockaddr_storage bound;
    socklen_t bound_bytes = sizeof bound;
    int listener = socket(family, SOCK_STREAM, 0), client = socket(family, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, name, bytes) != 0)
        return UINT64_MAX; /* a machine without IPv6 */
    CHECK(listen(listener, 1) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)&bound, &bound_bytes) == 0);
    CHECK(connect(client, (struct sockaddr *)&bound, bound_bytes) == 0);
    int server = accept(listener, NULL, NULL);
    CHECK(server >= 0);
    struct peer peer;
    CHECK(peer_of_socket(server, &peer));
    uint64_t address = rate_limit_address(&peer);
    CHECK(close(server) == 0 && close(client) == 0 && close(listener) == 0);
    return address;
}

static void addresses(void)
{
    const struct sockaddr_in ipv4 = { .sin_family = AF_INET,
                                      .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    const struct sockaddr_in6 ipv6 = { .sin6_family = AF_INET6,
                                       .sin6_addr = IN6ADDR_LOOPBACK_INIT };
    struct sockaddr_in6 mapped = { .sin6_family = AF_INET6 };
    CHECK(inet_pton(AF_INET6, "::ffff:127.0.0.1", &mapped.sin6_addr) == 1);
    uint64_t address = address_from(AF_INET, (const void *)&ipv4, sizeof ipv4);
    CHECK(address == UINT64_C(0xffff7f000001));
    uint64_t same = address_from(AF_INET6, (const void *)&mapped, sizeof mapped);
    CHECK(same == address || same == UINT64_MAX);
    uint64_t other = address_from(AF_INET6, (const void *)&ipv6, sizeof ipv6);
    CHECK(other == 0 || other == UINT64_MAX); /* the upper half of ::1 */
    struct peer none;
    CHECK(!peer_of_socket(-1, &none) && rate_limit_address(&none) == 0);
}

/* ---- in the way of a request ----------------------------------------------------------------- */

static struct fixture fixture;
static struct protocol *protocol;

enum { UNKNOWN_RATE = 4, BAD_RATE = 8 };

static void begin(bool limited)
{
    fixture_init(&fixture, true, 1024);
    fixture.config.rate_limits = limited;
    fixture.config.unknown_key_rate = UNKNOWN_RATE;
    fixture.config.bad_signature_rate = BAD_RATE;
    protocol = fixture_protocol(&fixture, 256);
}

static void end(void)
{
    CHECK(protocol->context.pendings.used == 0 && protocol->context.conns.open_count == 0);
    fixture_protocol_free(protocol);
    fixture_free(&fixture);
}

/* A fourth of a second for one of 4/s: retry_after_ms says so, Retry-After in whole seconds. */
static void unknown_keys(void)
{
    struct wire wire, other;
    struct wire_answer answer;
    begin(true);
    wire_open_at(&wire, &fixture, protocol, 1);
    wire_open_at(&other, &fixture, protocol, 2);
    for (unsigned i = 0; i < UNKNOWN_RATE; i++) {
        answer = wire_order(&wire, &fixture.stranger, i % 2 == 0); /* wrong ones count the same */
        CHECK(answer.status == (i % 2 == 0 ? 200 : 401));
    }
    uint64_t verified = protocol->context.metrics.counters.signatures_good +
                        protocol->context.metrics.counters.signatures_bad;
    answer = wire_order(&wire, &fixture.stranger, true);
    CHECK(wire_is_limited(&answer) && wire_has(&answer, "\"retry_after_ms\":250"));
    CHECK(strstr(answer.head, "\r\nRetry-After: 1\r\n") != NULL);
    CHECK(protocol->context.metrics.counters.signatures_good +
              protocol->context.metrics.counters.signatures_bad ==
          verified);
    CHECK(protocol->context.metrics.counters.rate_limited == 1 && fixture.command_count == 0);

    /* Neither who is known at that address nor strangers elsewhere pay for it. */
    answer = wire_order(&wire, &fixture.session, true);
    CHECK(answer.status == 200 && wire_has(&answer, "request_completed"));
    answer = wire_order(&wire, &fixture.stranger, true); /* a right signature is no pass for it */
    CHECK(wire_is_limited(&answer));
    answer = wire_order(&other, &fixture.stranger, true);
    CHECK(answer.status == 200 && wire_has(&answer, "rejected_unauthorized"));
    clock_set(&fixture.clock, clock_now_ns(&fixture.clock) + 250 * MS);
    answer = wire_order(&wire, &fixture.stranger, true);
    CHECK(answer.status == 200 && wire_has(&answer, "rejected_unauthorized"));
    answer = wire_order(&wire, &fixture.stranger, true);
    CHECK(wire_is_limited(&answer));
    wire_free(&wire);
    wire_free(&other);
    end();
}

/* The operator's codes under a configured key are exempt, under any other they are a stranger's;
 * an account that is being created is one, too: its key is in no keyring. */
static void operators_and_births(void)
{
    char text[4096];
    uint8_t frame[512], price[24] = { 0 }, birth[80] = { 0 };
    struct wire wire;
    struct wire_answer answer;
    begin(true);
    wire_open_at(&wire, &fixture, protocol, 1);
    for (unsigned i = 0; i <= UNKNOWN_RATE; i++) {
        uint8_t secret[32] = { 1, (uint8_t)i };
        memcpy(birth, fixture.session.key, 32);
        size_t bytes = fixture_master_frame(&fixture, frame, REQUEST_create_account_secp256k1,
                                            secret, birth, sizeof birth);
        wire_send(&wire, text,
                  fixture_post(text, sizeof text, "/api/v1/account/create", OCTETS, frame, bytes),
                  0);
        wire_turn(&wire);
        CHECK(wire_answer(&wire, &answer, false));
        CHECK(i < UNKNOWN_RATE ? answer.status == 200 : wire_is_limited(&answer));
    }
    cc_store64(price + 8, 1000000);
    price[16] = 1;
    for (unsigned i = 0; i < 3 * UNKNOWN_RATE; i++) {
        const struct signer_ed25519 *signer = i % 3 == 2 ? &fixture.stranger : &fixture.oracle;
        size_t bytes =
            fixture_frame(&fixture, frame, REQUEST_oracle_price, signer, price, sizeof price);
        wire_send(&wire, text, fixture_post(text, sizeof text, ORACLE_PATH, OCTETS, frame, bytes),
                  0);
        wire_turn(&wire);
        CHECK(wire_answer(&wire, &answer, false));
        CHECK(i % 3 == 2 ? wire_is_limited(&answer) : answer.status == 200);
    }
    wire_free(&wire);
    end();
}

/* F2 by address: 2/s new accounts, 3 at once. One more is refused, and counted once. */
static void births_are_counted_once(void)
{
    enum { AT_ONCE = 3 };
    const struct client_rate_limit limits[CLIENT_RATE_KINDS] = {
        { 100, 100 }, { 100, 100 }, { 2, AT_ONCE }, { 100, 100 }
    };
    char text[4096];
    uint8_t frame[512], birth[80] = { 0 };
    struct wire wire;
    struct wire_answer answer;
    begin(false);
    CHECK(client_rate_create(&fixture.config.client_rates, limits, hash_key) == 0);
    fixture_protocol_free(protocol);
    protocol = fixture_protocol(&fixture, 256);
    wire_open_at(&wire, &fixture, protocol, 1);
    for (unsigned i = 0; i <= AT_ONCE; i++) {
        uint8_t secret[32] = { 1, (uint8_t)i };
        memcpy(birth, fixture.session.key, 32);
        size_t bytes = fixture_master_frame(&fixture, frame, REQUEST_create_account_secp256k1,
                                            secret, birth, sizeof birth);
        wire_send(&wire, text,
                  fixture_post(text, sizeof text, "/api/v1/account/create", OCTETS, frame, bytes),
                  0);
        wire_turn(&wire);
        CHECK(wire_answer(&wire, &answer, false));
        CHECK(wire_has(&answer, "rejected_rate_limited") == (i == AT_ONCE));
    }
    CHECK(protocol->context.metrics.counters.rate_limited == 1);
    wire_free(&wire);
    client_rate_destroy(fixture.config.client_rates);
    end();
}

/* 8/s wrong signatures under a known key are 401, further ones 429. Then a connection of that
 * address whose newest was wrong is refused unverified, a fresh one is looked at one a turn, and
 * nothing changes for whoever has shown a right one. */
static void bad_signatures(void)
{
    struct wire forger, trader, fresh, other;
    struct wire_answer answer;
    begin(true);
    wire_open_at(&forger, &fixture, protocol, 1);
    wire_open_at(&trader, &fixture, protocol, 1);
    wire_open_at(&fresh, &fixture, protocol, 1);
    wire_open_at(&other, &fixture, protocol, 2);
    answer = wire_order(&trader, &fixture.session, true);
    CHECK(answer.status == 200);
    for (unsigned i = 0; i < BAD_RATE; i++) {
        answer = wire_order(&forger, &fixture.session, false);
        CHECK(answer.status == 401 && wire_has(&answer, "\"invalid_signature\""));
    }
    answer = wire_order(&forger, &fixture.session, false);
    CHECK(wire_is_limited(&answer) && wire_has(&answer, "\"retry_after_ms\":125"));
    answer = wire_order(&forger, &fixture.session, true); /* not looked at */
    CHECK(wire_is_limited(&answer));
    CHECK(protocol->context.metrics.counters.signatures_bad == BAD_RATE &&
          protocol->context.metrics.counters.signatures_good == 1);
    answer = wire_order(&fresh, &fixture.session, true);
    CHECK(answer.status == 200 && wire_has(&answer, "request_completed"));
    answer = wire_order(&trader, &fixture.session, true);
    CHECK(answer.status == 200 && wire_has(&answer, "request_completed"));
    answer = wire_order(&other, &fixture.session, true);
    CHECK(answer.status == 200 && wire_has(&answer, "request_completed"));
    answer = wire_order(&fresh, &fixture.stranger, true); /* another bucket */
    CHECK(answer.status == 200 && wire_has(&answer, "rejected_unauthorized"));

    /* Found wrong, and no 401 any more; that takes the trust away. */
    answer = wire_order(&trader, &fixture.session, false);
    CHECK(wire_is_limited(&answer) &&
          protocol->context.metrics.counters.signatures_bad == BAD_RATE + 1);
    answer = wire_order(&trader, &fixture.session, true);
    CHECK(wire_is_limited(&answer) &&
          protocol->context.metrics.counters.signatures_bad == BAD_RATE + 1);
    clock_set(&fixture.clock, clock_now_ns(&fixture.clock) + 1000 * MS);
    answer = wire_order(&forger, &fixture.session, true);
    CHECK(answer.status == 200 && wire_has(&answer, "request_completed"));
    wire_free(&forger);
    wire_free(&trader);
    wire_free(&fresh);
    wire_free(&other);
    end();
}

/* A right signature behind a wrong one of the same turn pays for nothing: what a connection sends
 * when both are known is refused unverified, as long as the address is over. */
static void mixed_batches(void)
{
    char text[4096];
    uint8_t body[48], frame[512];
    struct wire trader, forger;
    struct wire_answer answer;
    size_t count = 0;
    begin(true);
    wire_open_at(&trader, &fixture, protocol, 1);
    wire_open_at(&forger, &fixture, protocol, 1);
    answer = wire_order(&trader, &fixture.session, true);
    CHECK(answer.status == 200);
    for (unsigned i = 0; i < BAD_RATE; i++)
        (void)wire_order(&forger, &fixture.session, false);
    fixture_order(body);
    for (unsigned i = 0; i < 2; i++) { /* wrong, right */
        size_t bytes = fixture_frame(&fixture, frame, 0, &fixture.session, body, sizeof body);
        frame[bytes - 1] ^= i == 0;
        count += fixture_post(text + count, sizeof text - count, ORDER_PATH, OCTETS, frame, bytes);
    }
    wire_send(&trader, text, count, 0);
    wire_turn(&trader);
    CHECK(wire_answer(&trader, &answer, false) && wire_is_limited(&answer));
    CHECK(wire_answer(&trader, &answer, false) && answer.status == 200);
    uint64_t bad = protocol->context.metrics.counters.signatures_bad;
    answer = wire_order(&trader, &fixture.session, false);
    CHECK(wire_is_limited(&answer) && protocol->context.metrics.counters.signatures_bad == bad);
    clock_set(&fixture.clock, clock_now_ns(&fixture.clock) + 1000 * MS);
    answer = wire_order(&trader, &fixture.session, true);
    CHECK(answer.status == 200 && wire_has(&answer, "request_completed"));
    wire_free(&trader);
    wire_free(&forger);
    end();
}

/* While the address is over, those that have shown nothing are looked at one a turn; those that
 * have shown a right signature, and operators, all in the turn that brings them. */
static void pace_of_fresh_ones(void)
{
    enum { FRESH = 6 };
    char text[4096];
    uint8_t body[48], frame[512];
    struct wire wires[FRESH], forger;
    begin(true);
    wire_open_at(&forger, &fixture, protocol, 1);
    for (unsigned i = 0; i < FRESH; i++)
        wire_open_at(&wires[i], &fixture, protocol, 1);
    for (unsigned i = 0; i < BAD_RATE; i++)
        (void)wire_order(&forger, &fixture.session, false);
    fixture_order(body);
    for (unsigned round = 0; round < 2; round++) {
        uint64_t before = protocol->context.metrics.counters.signatures_good;
        protocol_turn_begin(protocol);
        for (unsigned i = 0; i < FRESH; i++) {
            size_t bytes = fixture_frame(&fixture, frame, 0, &fixture.session, body, sizeof body);
            bytes = fixture_post(text, sizeof text, ORDER_PATH, OCTETS, frame, bytes);
            protocol_receive(protocol, wires[i].conn, text, bytes);
        }
        (void)protocol_turn_end(protocol);
        CHECK(protocol->context.metrics.counters.signatures_good - before ==
              (round == 0 ? 1 : FRESH));
        for (unsigned turn = 0; turn < FRESH; turn++)
            wire_turn(&wires[turn]);
        CHECK(protocol->context.metrics.counters.signatures_good - before == FRESH);
        CHECK(fixture.command_count == (round + 1) * FRESH);
    }
    for (unsigned i = 0; i < FRESH; i++)
        wire_free(&wires[i]);
    wire_free(&forger);
    end();
}

static size_t cancel_post(char *text, size_t capacity, uint8_t number)
{
    uint8_t frame[512], body[40] = { FIXTURE_ACCOUNT };
    body[24] = number;
    size_t bytes =
        fixture_frame(&fixture, frame, REQUEST_order_cancel, &fixture.session, body, sizeof body);
    return fixture_post(text, capacity, "/api/v1/trading/order/cancel", OCTETS, frame, bytes);
}

/* R11 step 12, W8: 10/s writes and 4 at once, so 20/s and 8 of cancels. Above it the answer is
 * rejected_rate_limited; nothing reaches the matcher, and wrong signatures cost the account
 * nothing. */
static void accounts_pay(void)
{
    char text[4096];
    struct wire wire;
    struct wire_answer answer;
    begin(true);
    const struct account_rate_limits rates = { FIXTURE_ACCOUNT + 1, 10, 4, 1000000, 1000000 };
    CHECK(account_rate_create(&fixture.config.account_rates, &rates) == 0);
    fixture_protocol_free(protocol);
    protocol = fixture_protocol(&fixture, 256);
    wire_open_at(&wire, &fixture, protocol, 1);
    for (unsigned i = 0; i < BAD_RATE / 2; i++) {
        answer = wire_order(&wire, &fixture.session, false);
        CHECK(answer.status == 401);
    }
    for (unsigned i = 0; i < 4; i++) {
        answer = wire_order(&wire, &fixture.session, true);
        CHECK(answer.status == 200 && wire_has(&answer, "\"request_completed\""));
    }
    answer = wire_order(&wire, &fixture.session, true);
    CHECK(answer.status == 200 && wire_has(&answer, "{\"status\":\"rejected_rate_limited\""));
    CHECK(wire_has(&answer, "\"retry_after_ms\":100}") && !wire_has(&answer, "\"sequence\""));
    CHECK(fixture.command_count == 4);
    for (unsigned i = 0; i <= 8; i++) {
        wire_send(&wire, text, cancel_post(text, sizeof text, (uint8_t)i), 0);
        wire_turn(&wire);
        CHECK(wire_answer(&wire, &answer, false) && answer.status == 200);
        CHECK(wire_has(&answer, i < 8 ? "\"request_completed\"" : "\"retry_after_ms\":50}"));
    }
    CHECK(fixture.command_count == 12);
    clock_set(&fixture.clock, clock_now_ns(&fixture.clock) + 100 * MS);
    answer = wire_order(&wire, &fixture.session, true);
    CHECK(wire_has(&answer, "\"request_completed\""));
    answer = wire_order(&wire, &fixture.session, true);
    CHECK(wire_has(&answer, "\"rejected_rate_limited\""));
    CHECK(protocol->context.metrics.counters.rate_limited == 3);
    wire_free(&wire);
    account_rate_destroy(fixture.config.account_rates);
    end();
}

/* A start that still replays knows no keys: whoever comes back is told to try again (R11, step 11),
 * however often he asks, and is at once as known as ever when it is through. */
static void before_recovery_is_through(void)
{
    struct wire wire;
    struct wire_answer answer;
    begin(true);
    wire_open_at(&wire, &fixture, protocol, 1);
    fixture.ready = false;
    for (unsigned i = 0; i < 4 * UNKNOWN_RATE; i++) {
        answer = wire_order(&wire, &fixture.stranger, true);
        CHECK(answer.status == 200 && wire_has(&answer, "retry_required"));
    }
    fixture.ready = true;
    for (unsigned i = 0; i < UNKNOWN_RATE; i++) {
        answer = wire_order(&wire, &fixture.stranger, true);
        CHECK(answer.status == 200 && wire_has(&answer, "rejected_unauthorized"));
    }
    answer = wire_order(&wire, &fixture.stranger, true);
    CHECK(wire_is_limited(&answer));
    wire_free(&wire);
    end();
}

static unsigned pongs_in(const struct wire *wire)
{
    unsigned count = 0;
    for (size_t i = 1; i < wire->count; i++)
        count += (uint8_t)wire->text[i - 1] == 0x8A && wire->text[i] == 0;
    return count;
}

/* What comes in one piece to a bucket of five, of which the handshake takes one: of pings, and of
 * the pieces of a message after its first, four are paid and CHARGE_PATIENCE are not; then the
 * stream waits, in the middle of a message too, and each second has one. */
static void frames_of_one_piece(bool are_pings)
{
    enum { FRAMES = 100, ANSWERED = 4 + CHARGE_PATIENCE };
    static const struct client_rate_limit limits[CLIENT_RATE_KINDS] = {
        [CLIENT_RATE_PUBLIC] = { 1, 5 },
        [CLIENT_RATE_SIGNATURE] = { 1, 1 },
        [CLIENT_RATE_CREATION] = { 1, 1 },
        [CLIENT_RATE_READ] = { 1, 1 },
    };
    uint8_t frames[FRAMES][6] = { { 0 } };
    struct client_rate *rates;
    struct wire stream;
    begin(true);
    const struct net_counters *counters = &protocol->context.metrics.counters;
    CHECK(client_rate_create(&rates, limits, fixture.config.hash_key) == 0);
    protocol->config.client_rates = rates;
    open_stream(&stream, &fixture, protocol);
    for (unsigned i = 0; i < FRAMES; i++) {
        frames[i][0] = are_pings ? 0x89 : i == 0 ? 0x01 : 0x00;
        frames[i][1] = 0x80;
    }
    wire_send(&stream, frames, sizeof frames, 0);
    for (unsigned i = 0; i < 5; i++) {
        CHECK(pongs_in(&stream) == (are_pings ? ANSWERED + i : 0));
        CHECK(counters->rate_limited == CHARGE_PATIENCE);
        clock_advance(&fixture.clock, 1000 * MS);
        wire_turn(&stream);
    }
    wire_free(&stream);
    protocol->config.client_rates = NULL;
    client_rate_destroy(rates);
    end();
}

static void off(void)
{
    struct wire wire;
    struct wire_answer answer;
    begin(false);
    wire_open_at(&wire, &fixture, protocol, 1);
    for (unsigned i = 0; i < 4 * BAD_RATE; i++) {
        answer = wire_order(&wire, &fixture.stranger, true);
        CHECK(answer.status == 200);
        answer = wire_order(&wire, &fixture.session, false);
        CHECK(answer.status == 401);
    }
    CHECK(protocol->context.metrics.counters.rate_limited == 0);
    wire_free(&wire);
    end();
}

int main(void)
{
    rates();
    debts();
    addresses();
    unknown_keys();
    operators_and_births();
    births_are_counted_once();
    bad_signatures();
    mixed_batches();
    pace_of_fresh_ones();
    before_recovery_is_through();
    accounts_pay();
    frames_of_one_piece(true);
    frames_of_one_piece(false);
    off();
    return 0;
}
