/* kill -9 under load, start again, CYCLES times: every acknowledged order is there, every replayed
 * id answers duplicate_request_id with its original outcome, /audit balances.
 *
 * `heavy_system_kill9 [CYCLES]` (PERPD_KILL_CYCLES, 100); perpd is taken from the build directory
 * (PERPD_BUILD). */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/json_scan.h"
#include "check.h"
#include "perp/bench/rig.h"

enum {
    CYCLES = 100, /* docs/reliability.md */
    TRADERS = 3,
    PIPELINE = 16, /* requests of a connection in flight */
    SENT_MAX = 20000,
    PRICE_RAW = 1000000, /* 100,000.0 USDC */
    ASSET = 1,
    REPLAY_S = 115, /* from the first request of a cycle on, ids are taken for 120 s */
    LOOKS = 60,     /* acknowledged orders read back a trader a cycle */
    ROOM_BYTES = 8192,
    OTHERS_ODDS = 5, /* one request in so many is no plain order */
    OTHERS_COUNT = 9,
    OTHERS_LEAST = 50, /* of each, in many cycles */
    ANSWERED_LEAST = 400,
    LOAD_S = 20,
};

struct sent {
    struct draft draft;
    struct outcome outcome;
    bool acknowledged;
};

struct load {
    struct rig *rig;
    struct rig_trader trader;
    struct sent *sent; /* [SENT_MAX] */
    uint32_t sent_count;
    uint32_t answered_count; /* of them; answers come in order */
    uint64_t random;
    struct uuid conditional;          /* the newest */
    uint64_t completed[OTHERS_COUNT]; /* as `others` */
};

static uint64_t next_random(struct load *load)
{
    load->random = load->random * 6364136223846793005u + 1442695040888963407u;
    return load->random >> 33;
}

/* What else a trader sends: an order that waits, or its end; a batch; cash on its way; a portfolio;
 * what protects it. */
static const uint16_t others[] = {
    REQUEST_place_conditional_order,
    REQUEST_conditional_order_cancel,
    REQUEST_order_batch,
    REQUEST_transfer,
    REQUEST_withdraw,
    REQUEST_create_portfolio,
    REQUEST_schedule_cancel_all,
    REQUEST_set_mmp,
    REQUEST_reset_mmp,
};

static_assert(CC_COUNT(others) == OTHERS_COUNT, "each is counted");

static void draw_batch(struct load *load, const struct uuid *id, struct draft *draft)
{
    const struct draft_portfolio place = { .account_id = load->trader.account_id };

    draft_begin_batch(draft, id, 2);
    draft_set_portfolio(draft, "portfolio_id", &place);
    for (uint32_t i = 0; i < 2; i++) {
        uint8_t *item = draft_item(draft, i);
        struct uuid order = rig_id(rig_now_ns() / 1000000);
        cc_store16(item + 4, ASSET);
        cc_store64(item + 8, PRICE_RAW - 2000 + next_random(load) % 1000);
        cc_store64(item + 16, 2000);
        cc_store64(item + 24, UINT64_MAX);
        memcpy(item + 32, order.bytes, sizeof order.bytes);
    }
}

static void draw_conditional(struct load *load, const struct uuid *id, struct draft *draft)
{
    draft_set(draft, "trigger_price", PRICE_RAW - 5 - next_random(load) % 40);
    draft_set(draft, "quantity", (uint64_t) - (int64_t)(2000));
    draft_set(draft, "expiry", UINT64_MAX);
    draft_set(draft, "order_type", 3);     /* STOP_MARKET, */
    draft_set(draft, "trigger_source", 1); /* of the last price: most fire soon */
    load->conditional = *id;
}

static void draw_other(struct load *load, uint16_t code, const struct uuid *id, struct draft *draft)
{
    const struct draft_portfolio place = { .account_id = load->trader.account_id };
    const struct draft_portfolio second = { .account_id = place.account_id, .portfolio_index = 1 };

    if (code == REQUEST_order_batch) {
        draw_batch(load, id, draft);
        return;
    }
    draft_begin(draft, code, SIGNATURE_ED25519, id);
    if (code == REQUEST_transfer) {
        draft_set_portfolio(draft, "from", &place);
        draft_set_portfolio(draft, "to", &second);
        draft_set(draft, "amount", 1000000 + next_random(load) % 1000);
        return;
    }
    if (code == REQUEST_create_portfolio) {
        draft_set(draft, "account_id", place.account_id);
        return;
    }
    draft_set_portfolio(draft, "portfolio_id", &place);
    if (code == REQUEST_withdraw) {
        static const uint8_t destination[20] = { 0xD0 };
        draft_set(draft, "amount", 1000000 + next_random(load) % 1000);
        draft_set_bytes(draft, "destination", destination, sizeof destination);
    } else if (code == REQUEST_schedule_cancel_all)
        draft_set(draft, "deadline_ns", rig_now_ns() + UINT64_C(1100000000));
    else
        draft_set(draft, "asset", ASSET);
    if (code == REQUEST_place_conditional_order)
        draw_conditional(load, id, draft);
    else if (code == REQUEST_conditional_order_cancel)
        draft_set_bytes(draft, "order_id", load->conditional.bytes, sizeof load->conditional.bytes);
    if (code == REQUEST_set_mmp) {
        draft_set(draft, "window_ms", 1000);
        draft_set(draft, "frozen_ms", 10);
        draft_set(draft, "max_quantity", 20000);
    }
}

static void draw_order(struct load *load, const struct uuid *id, struct draft *draft)
{
    int64_t quantity = (int64_t)(100 + next_random(load) % 1000);
    struct rig_order order = {
        .price_raw = PRICE_RAW - 20 + next_random(load) % 41,
        .quantity_raw = (next_random(load) & 1) != 0 ? quantity : -quantity,
        .expiry = next_random(load) % 4 == 0 ? 0 : UINT64_MAX,
        .asset = ASSET,
    };

    rig_order(&load->trader, &order, id, draft);
}

static bool queue_request(struct load *load, struct client *client)
{
    uint8_t frame[REQUEST_FRAME_MAX];
    struct sent *sent = &load->sent[load->sent_count];
    struct uuid id = rig_id(rig_now_ns() / 1000000);

    memset(sent, 0, sizeof *sent);
    if (next_random(load) % OTHERS_ODDS == 0)
        draw_other(load, others[next_random(load) % CC_COUNT(others)], &id, &sent->draft);
    else
        draw_order(load, &id, &sent->draft);
    CHECK(draft_sign(&sent->draft, &load->trader.session, NULL));
    struct client_request request = {
        .method = "POST",
        .target = sent->draft.request->path,
        .content_type = "application/octet-stream",
        .body = frame,
        .body_count = draft_frame(&sent->draft, frame),
    };
    if (client_queue(client, &request) != 0)
        return false;
    load->sent_count++;
    return true;
}

static void count_other(struct load *load, const struct sent *sent)
{
    for (size_t k = 0; k < CC_COUNT(others); k++)
        load->completed[k] += sent->draft.request->code == others[k] &&
                              sent->outcome.status == STATUS_request_completed;
}

static _Atomic uint32_t answered; /* of a cycle, of all traders */

/* Sends until the server is killed under it. */
static void *send_load(void *context)
{
    struct load *load = context;
    struct client client;

    rig_connect(load->rig, &client, false);
    if (client_connect(&client) == 0) {
        while (load->sent_count < SENT_MAX) {
            struct client_answer answer;
            while (client.pending < PIPELINE && load->sent_count < SENT_MAX)
                CHECK(queue_request(load, &client));
            if (client_read(&client, &answer) != 0)
                break;
            struct sent *sent = &load->sent[load->answered_count++];
            outcome_read(&sent->outcome, &answer);
            sent->acknowledged = true;
            /* relaxed: a count that is looked at again and again */
            atomic_fetch_add_explicit(&answered, 1, memory_order_relaxed);
            count_other(load, sent);
        }
    }
    client_close(&client);
    return NULL;
}

static time_t monotonic_s(void)
{
    struct timespec now;

    CHECK(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    return now.tv_sec;
}

/* The same bytes again: executed once, with the outcome that was acknowledged. After `end_s` their
 * ids may be too old to say so; then only what was acknowledged by then counts as replayed. */
static uint32_t replay(struct rig *rig, struct load *load, time_t end_s)
{
    static uint8_t frame[REQUEST_FRAME_MAX];
    struct client client;
    struct client_answer answer;
    struct outcome outcome;

    rig_connect(rig, &client, false);
    CHECK(client_connect(&client) == 0);
    for (uint32_t from = 0; from < load->answered_count; from += PIPELINE) {
        uint32_t end =
            from + PIPELINE < load->answered_count ? from + PIPELINE : load->answered_count;
        for (uint32_t i = from; i < end; i++) {
            struct client_request request = {
                .method = "POST",
                .target = load->sent[i].draft.request->path,
                .content_type = "application/octet-stream",
                .body = frame,
                .body_count = draft_frame(&load->sent[i].draft, frame),
            };
            CHECK(client_queue(&client, &request) == 0);
        }
        for (uint32_t i = from; i < end; i++) {
            const struct outcome *first = &load->sent[i].outcome;
            CHECK(client_read(&client, &answer) == 0);
            outcome_read(&outcome, &answer);
            if (first->sequence != 0 && monotonic_s() >= end_s) {
                client_close(&client);
                return i;
            }
            if (first->sequence == 0)
                continue; /* refused without a sequence: its id is unused */
            CHECK(outcome.kind == OUTCOME_DUPLICATE);
            CHECK(outcome.original == first->status);
            CHECK(outcome.original_processed_at_ns == first->processed_at_ns);
        }
    }
    client_close(&client);
    return load->answered_count;
}

/* Acknowledged placements are readable, with the sequence that was acknowledged. */
static uint32_t look(struct rig *rig, struct load *load)
{
    static char text[ROOM_BYTES];
    char target[128], id_text[UUID_TEXT_BYTES + 1];
    struct client client;
    uint32_t looked = 0;

    rig_connect(rig, &client, false);
    for (uint32_t k = 0; k < LOOKS && load->answered_count != 0; k++) {
        uint32_t i = (uint32_t)(next_random(load) % load->answered_count);
        struct sent *sent = &load->sent[i];
        if (sent->outcome.status != STATUS_request_completed ||
            sent->draft.request->code != REQUEST_place_limit_order)
            continue;
        struct uuid id = draft_id(&sent->draft);
        uuid_format(&id, id_text);
        snprintf(target, sizeof target, "/api/v1/orders/%s", id_text);
        struct json_member member = JSON_MEMBER("sequence");
        uint64_t sequence = 0;
        CHECK(rig_get(&client, target, load->trader.api_key, text, sizeof text) == 200);
        CHECK(json_scan_members(text, strlen(text), &member, 1, NULL) == JSON_OK);
        CHECK(json_scan_uint64(&member.value, &sequence));
        CHECK(sequence == sent->outcome.sequence);
        looked++;
    }
    client_close(&client);
    return looked;
}

static void audit(struct rig *rig)
{
    static char text[ROOM_BYTES];
    struct client client;
    rig_connect(rig, &client, true);
    CHECK(rig_get(&client, "/audit", NULL, text, sizeof text) == 200);
    CHECK(strstr(text, "\"i1\":true,\"i2\":true,\"i3\":true,\"i4\":true,\"i5\":true,\"i6\":true") !=
          NULL);
    CHECK(strstr(text, "\"recount_differences\":0") != NULL);
    client_close(&client);
}

/* After a time that differs, and once so many were answered, however slow the machine. */
static void kill_under_load(struct rig *rig, struct load loads[TRADERS], uint32_t cycle)
{
    time_t end_s = monotonic_s() + LOAD_S;

    pthread_t threads[TRADERS];

    atomic_store_explicit(&answered, 0, memory_order_relaxed); /* before its threads begin */
    for (int i = 0; i < TRADERS; i++) {
        loads[i].sent_count = 0;
        loads[i].answered_count = 0;
        CHECK(pthread_create(&threads[i], NULL, send_load, &loads[i]) == 0);
    }
    usleep(60000 + 17000 * (cycle % 9));
    while (atomic_load_explicit(&answered, memory_order_relaxed) < ANSWERED_LEAST &&
           monotonic_s() < end_s)
        usleep(1000);
    rig_end(rig, SIGKILL);
    for (int i = 0; i < TRADERS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
}

static void open_traders(struct rig *rig, struct load loads[TRADERS])
{
    struct client client;
    rig_connect(rig, &client, false);
    rig_oracle(rig, &client, ASSET, PRICE_RAW);
    for (int i = 0; i < TRADERS; i++) {
        loads[i] = (struct load){ .rig = rig, .random = (uint64_t)i + 1 };
        loads[i].sent = calloc(SENT_MAX, sizeof *loads[i].sent);
        CHECK(loads[i].sent != NULL);
        rig_open_account(rig, &client, &loads[i].trader);
        rig_deposit(rig, &client, loads[i].trader.account_id, 10000000);
    }
    client_close(&client);
}

int main(int argc, char **argv)
{
    static struct load loads[TRADERS];
    /* Ids are taken for two minutes, in which a slow machine starts again. */
    static const char *const options[] = { "--exchange.oracle_max_age_ms=0",
                                           "--exchange.clock_past_ms=120000",
                                           "--limits.total_rate=30000", "--limits.write_rate=3400",
                                           NULL };
    const char *asked = getenv("PERPD_KILL_CYCLES");
    uint32_t cycles = argc > 1        ? (uint32_t)atoi(argv[1])
                      : asked != NULL ? (uint32_t)atoi(asked)
                                      : CYCLES;
    uint64_t acknowledged = 0, replayed = 0, unanswered = 0, looked = 0;
    char perpd[RIG_PATH_BYTES];
    struct rig rig;
    const char *build = getenv("PERPD_BUILD");

    signal(SIGPIPE, SIG_IGN);
    snprintf(perpd, sizeof perpd, "%s/perpd", build != NULL ? build : ".");
    rig_init(&rig, perpd, build != NULL ? build : "/tmp");
    CHECK(rig_start(&rig, options));
    open_traders(&rig, loads);
    for (uint32_t cycle = 0; cycle < cycles; cycle++) {
        time_t end_s = monotonic_s() + REPLAY_S;
        kill_under_load(&rig, loads, cycle);
        CHECK(rig_start(&rig, options));
        for (int i = 0; i < TRADERS; i++) {
            acknowledged += loads[i].answered_count;
            unanswered += loads[i].sent_count - loads[i].answered_count;
            looked += look(&rig, &loads[i]);
            replayed += replay(&rig, &loads[i], end_s);
        }
        audit(&rig);
    }
    CHECK(rig_end(&rig, SIGTERM) == 0); /* a clean stop: exit code 0 */
    printf("cycles %u acknowledged %lu replayed %lu unanswered_at_kill %lu read_back %lu\n", cycles,
           acknowledged, replayed, unanswered, looked);
    /* Of use only under load: requests were in flight when it was killed. */
    CHECK(acknowledged > 50u * cycles && unanswered > cycles && looked > 10u * cycles);
    CHECK(replayed > acknowledged / 2); /* the rest: starts of a machine that had no time */
    for (size_t k = 0; k < CC_COUNT(others); k++) {
        uint64_t completed = 0;
        for (int i = 0; i < TRADERS; i++)
            completed += loads[i].completed[k];
        printf("code %u completed %lu\n", others[k], completed);
        CHECK(completed >= (cycles < OTHERS_LEAST ? cycles : OTHERS_LEAST));
    }
    rig_remove(&rig);
    for (int i = 0; i < TRADERS; i++)
        free(loads[i].sent);
    return 0;
}
