/* Twice the orders that it can take: what is answered is right, what does not fit is answered
 * request_dropped or waits in the socket, memory stays, and what was acknowledged is there. Each
 * connection has an account of its own, so that none comes to limits.write_rate
 * before perpd is overloaded.
 *
 * `heavy_system_overload [SECONDS]` (PERPD_OVERLOAD_SECONDS, 15) of overload after a warm-up; perpd
 * from PERPD_BUILD. Tables come into use with requests, not with time: the warm-up
 * and each part of the overload last until so many were answered, however slow the machine is. The
 * heap stays as it is after the warm-up, in at least half of the parts: it grows in one when the
 * history's thread commits more rows at once than before, and for the time in which a segment is
 * packed. From 300 s on every row of history has been written by the end of the warm-up, and all of
 * the memory may grow by 1 % (docs/reliability.md: 600); in a shorter run the pages of the tables,
 * whose size is fixed, come into use still. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/region.h"
#include "check.h"
#include "perp/bench/reading.h"
#include "perp/bench/rig.h"

enum {
    SECONDS = 15,
    STRICT_S = 300,
    CAPACITY_S = 3,
    WARM_REQUESTS = 30000,
    STRICT_WARM_REQUESTS = 6000000, /* 2^20 fills, the rarest of the rows that history keeps */
    LOOK_MS = 100,
    PATIENCE_MS = 60000,   /* for an answer: of a machine, not of the server */
    RESENT_MS_MAX = 20000, /* age of an id that is sent again: its window is 30 s (wire.md W5) */
    SENDERS = 2,
    CONNECTIONS = 24,    /* of a sender */
    WINDOW = 256,        /* requests of a connection whose answers are not read */
    PRICE_RAW = 1000000, /* 100,000.0 USDC */
    ASSET = 1,
    KEPT_MAX = 1024,   /* acknowledged and dropped requests that are looked at afterwards */
    CANCEL_EVERY = 40, /* orders of a connection between two cancellations of all */
    PARTS = 4,         /* of the overload, each of at least so many requests */
    PART_REQUESTS = 4000,
    REST_BYTES_MAX = 3 << 18, /* that the heap may grow by in a part, and a request of it by */
    REST_BYTES_A_REQUEST = 32,
};

struct kept {
    struct draft draft;
    struct outcome outcome;
};

struct lane {
    struct client client;
    struct rig_trader trader;
    struct draft drafts[WINDOW]; /* in flight, a ring */
    uint64_t sent, answered;
    uint64_t begun_ns;
};

struct sender {
    pthread_t thread;
    struct rig *rig;
    struct lane lanes[CONNECTIONS];
    struct kept accepted[KEPT_MAX], dropped[KEPT_MAX];
    uint64_t accepted_count, dropped_count, rejected_count, problem_count;
    uint64_t late; /* requests that were due and had no room in their window */
    uint64_t random;
    double rate; /* requests/s of each lane; 0: as many as its window takes */
    _Atomic bool *over;
    _Atomic uint64_t answered;
};

static uint64_t next_random(struct sender *sender)
{
    sender->random = sender->random * 6364136223846793005u + 1442695040888963407u;
    return sender->random >> 33;
}

static void sign_next(struct sender *sender, struct lane *lane, struct draft *draft)
{
    struct uuid id = rig_id(rig_now_ns() / 1000000);
    bool buys = (next_random(sender) & 1) != 0;
    bool crosses = next_random(sender) % 5 == 0;
    uint64_t away = 1 + next_random(sender) % 20;
    int64_t quantity = (int64_t)(20 + next_random(sender) % 200);
    struct rig_order order = {
        .price_raw = buys == crosses ? PRICE_RAW + away : PRICE_RAW - away,
        .quantity_raw = buys ? quantity : -quantity,
        .expiry = crosses ? 0 : UINT64_MAX,
        .asset = ASSET,
    };

    if (lane->sent % CANCEL_EVERY != CANCEL_EVERY - 1) {
        rig_order(&lane->trader, &order, &id, draft);
    } else { /* the book stays as large as it is */
        struct draft_portfolio portfolio = { .account_id = lane->trader.account_id };
        draft_begin(draft, REQUEST_cancel_all_orders, SIGNATURE_ED25519, &id);
        draft_set_portfolio(draft, "portfolio_id", &portfolio);
        draft_set(draft, "asset", ASSET);
    }
    CHECK(draft_sign(draft, &lane->trader.session, NULL));
}

static void queue(struct client *client, struct draft *draft)
{
    uint8_t frame[REQUEST_FRAME_MAX];
    struct client_request request = {
        .method = "POST",
        .target = draft->request->path,
        .content_type = "application/octet-stream",
        .body = frame,
        .body_count = draft_frame(draft, frame),
    };
    CHECK(client_queue(client, &request) == 0);
}

static void keep(struct kept *kept, uint64_t *count, uint64_t random, const struct draft *draft,
                 const struct outcome *outcome)
{
    uint64_t at = *count < KEPT_MAX ? *count : random % KEPT_MAX;

    (*count)++;
    if (draft->request->code == REQUEST_place_limit_order)
        kept[at] = (struct kept){ .draft = *draft, .outcome = *outcome };
}

static void read_one(struct sender *sender, struct lane *lane)
{
    struct client_answer answer;
    struct outcome outcome;
    struct draft *draft = &lane->drafts[lane->answered % WINDOW];

    CHECK(client_read(&lane->client, &answer) == 0); /* nobody is hung up on */
    outcome_read(&outcome, &answer);
    lane->answered++;
    atomic_fetch_add_explicit(&sender->answered, 1, memory_order_relaxed);
    uint64_t random = next_random(sender);
    if (outcome.status == STATUS_request_completed)
        keep(sender->accepted, &sender->accepted_count, random, draft, &outcome);
    else if (outcome.status == STATUS_request_dropped)
        keep(sender->dropped, &sender->dropped_count, random, draft, &outcome);
    else if (outcome.kind == OUTCOME_REJECTED)
        sender->rejected_count++;
    else if (outcome.kind == OUTCOME_PROBLEM && outcome.http_status == 400 &&
             strcmp(outcome.word, "request_timestamp_out_of_window") == 0)
        sender->problem_count++; /* it waited longer than its window in the socket */
    else
        CHECK(!"an answer of a kind that an overload may not give");
}

static uint64_t due(const struct sender *sender, const struct lane *lane)
{
    if (sender->rate == 0)
        return UINT64_MAX;
    return (uint64_t)((double)(rig_now_ns() - lane->begun_ns) / 1e9 * sender->rate);
}

static void *send_orders(void *context)
{
    struct sender *sender = context;

    for (int i = 0; i < CONNECTIONS; i++) {
        struct lane *lane = &sender->lanes[i];
        lane->sent = lane->answered = 0;
        lane->begun_ns = rig_now_ns();
        rig_connect(sender->rig, &lane->client, false);
        lane->client.timeout_ms = PATIENCE_MS;
        CHECK(client_connect(&lane->client) == 0);
    }
    while (!atomic_load_explicit(sender->over, memory_order_relaxed)) {
        for (int i = 0; i < CONNECTIONS; i++) {
            struct lane *lane = &sender->lanes[i];
            uint64_t goal = due(sender, lane);
            for (; lane->sent < goal && lane->sent - lane->answered < WINDOW; lane->sent++) {
                struct draft *draft = &lane->drafts[lane->sent % WINDOW];
                sign_next(sender, lane, draft);
                queue(&lane->client, draft);
            }
            sender->late += goal > lane->sent;
            /* Half a window stays in flight: the server has always something to read. */
            while (lane->sent - lane->answered > WINDOW / 2)
                read_one(sender, lane);
        }
    }
    for (int i = 0; i < CONNECTIONS; i++) {
        struct lane *lane = &sender->lanes[i];
        while (lane->answered < lane->sent)
            read_one(sender, lane);
        client_close(&lane->client);
    }
    return NULL;
}

/* What perpd's memory is for (/metrics): parts of a fixed size, of which pages come into use with
 * requests, and the rest of the process. Pages of files that it maps, as those of the history, are
 * the kernel's to drop. */
struct memory {
    double parts[REGION_PARTS_COUNT];
    double all, rest;  /* bytes that no file backs; of them those of no part */
    uint64_t answered; /* requests before it */
};

static uint64_t answered(const struct sender senders[SENDERS])
{
    uint64_t sum = 0;
    for (int i = 0; i < SENDERS; i++)
        sum += atomic_load_explicit(&senders[i].answered, memory_order_relaxed);
    return sum;
}

static void read_memory(struct rig *rig, const struct sender senders[SENDERS],
                        struct memory *memory)
{
    struct client client;
    struct reading reading;

    rig_connect(rig, &client, true);
    CHECK(reading_fetch(&reading, &client));
    CHECK(reading_value(&reading, "perpd_memory_anonymous_bytes", &memory->all));
    memory->rest = memory->all;
    for (int part = 0; part < REGION_PARTS_COUNT; part++) {
        char series[READING_NAME_MAX];
        snprintf(series, sizeof series, "perpd_memory_resident_bytes{part=\"%s\"}",
                 region_part_name((enum region_part)part));
        CHECK(reading_value(&reading, series, &memory->parts[part]));
        memory->rest -= memory->parts[part];
    }
    reading_free(&reading);
    client_close(&client);
    memory->answered = answered(senders);
}

static void print_growth(const struct memory *warm, const struct memory *end)
{
    const double mib = 1 << 20;

    printf("resident after warm-up %.1f MiB, at the end %.1f MiB, %+.2f %%\n", warm->all / mib,
           end->all / mib, 100 * (end->all - warm->all) / warm->all);
    for (int part = 0; part < REGION_PARTS_COUNT; part++)
        if (end->parts[part] != warm->parts[part])
            printf("  %-12s %+8.1f MiB to %.1f\n", region_part_name((enum region_part)part),
                   (end->parts[part] - warm->parts[part]) / mib, end->parts[part] / mib);
    printf("  %-12s %+8.1f MiB to %.1f\n", "rest", (end->rest - warm->rest) / mib, end->rest / mib);
}

/* In how many parts the rest grew by more than it may. */
static int parts_grown(const struct memory looks[PARTS + 1])
{
    int grown = 0;

    printf("the rest grew in the parts by MiB");
    for (int part = 0; part < PARTS; part++) {
        double growth = looks[part + 1].rest - looks[part].rest;
        uint64_t requests = looks[part + 1].answered - looks[part].answered;
        printf(" %.2f", growth / (1 << 20));
        grown += growth > REST_BYTES_MAX + (double)requests * REST_BYTES_A_REQUEST;
    }
    printf("\n");
    return grown;
}

/* Lets all senders run for `seconds` and until `requests` more are answered; gives answers/s. */
static double run(struct sender senders[SENDERS], uint32_t seconds, uint64_t requests, double rate)
{
    _Atomic bool over = false;
    uint64_t before = answered(senders), begun_ns = rig_now_ns();
    uint64_t until_ns = begun_ns + seconds * UINT64_C(1000000000);

    for (int i = 0; i < SENDERS; i++) {
        senders[i].rate = rate / (SENDERS * CONNECTIONS);
        senders[i].over = &over;
        CHECK(pthread_create(&senders[i].thread, NULL, send_orders, &senders[i]) == 0);
    }
    while (rig_now_ns() < until_ns || answered(senders) - before < requests)
        usleep(LOOK_MS * 1000);
    atomic_store_explicit(&over, true, memory_order_relaxed);
    double passed_s = (double)(rig_now_ns() - begun_ns) / 1e9;
    double speed = (double)(answered(senders) - before) / passed_s;
    for (int i = 0; i < SENDERS; i++)
        CHECK(pthread_join(senders[i].thread, NULL) == 0);
    return speed;
}

/* Accepted ones were executed once; a dropped one never was: its bytes are taken as new, or refused
 * for their age. */
static void look(struct rig *rig, struct sender *sender)
{
    struct client client;
    struct client_answer answer;
    struct outcome outcome;

    rig_connect(rig, &client, false);
    client.timeout_ms = PATIENCE_MS;
    for (uint64_t i = 0; i < KEPT_MAX && i < sender->accepted_count; i++) {
        struct kept *kept = &sender->accepted[i];
        struct uuid id;
        if (kept->draft.request == NULL)
            continue;
        id = draft_id(&kept->draft);
        if (uuid_time_ms(&id) + RESENT_MS_MAX < rig_now_ns() / 1000000)
            continue; /* its window may be over */
        queue(&client, &kept->draft);
        CHECK(client_read(&client, &answer) == 0);
        outcome_read(&outcome, &answer);
        if (outcome.kind != OUTCOME_DUPLICATE)
            fprintf(stderr, "accepted request %lu of %lu ms ago: HTTP %u, %s\n", i,
                    rig_now_ns() / 1000000 - uuid_time_ms(&id), outcome.http_status, outcome.word);
        CHECK(outcome.kind == OUTCOME_DUPLICATE);
        CHECK(outcome.original == kept->outcome.status);
        CHECK(outcome.original_processed_at_ns == kept->outcome.processed_at_ns);
    }
    for (uint64_t i = 0; i < KEPT_MAX && i < sender->dropped_count; i++) {
        struct kept *kept = &sender->dropped[i];
        if (kept->draft.request == NULL)
            continue;
        queue(&client, &kept->draft);
        CHECK(client_read(&client, &answer) == 0);
        outcome_read(&outcome, &answer);
        CHECK(outcome.kind != OUTCOME_DUPLICATE);
    }
    client_close(&client);
}

static void audit(struct rig *rig)
{
    static char text[1 << 14];
    struct client client;
    rig_connect(rig, &client, true);
    CHECK(rig_get(&client, "/audit", NULL, text, sizeof text) == 200);
    CHECK(strstr(text, "\"i1\":true,\"i2\":true,\"i3\":true,\"i4\":true,\"i5\":true,\"i6\":true") !=
          NULL);
    client_close(&client);
}

static void open_traders(struct rig *rig, struct sender senders[SENDERS])
{
    struct client client;
    rig_connect(rig, &client, false);
    rig_oracle(rig, &client, ASSET, PRICE_RAW);
    for (int i = 0; i < SENDERS; i++) {
        senders[i].rig = rig;
        senders[i].random = (uint64_t)i + 1;
        for (int j = 0; j < CONNECTIONS; j++) {
            struct rig_trader *trader = &senders[i].lanes[j].trader;
            rig_open_account(rig, &client, trader);
            rig_deposit(rig, &client, trader->account_id, 10000000);
        }
    }
    client_close(&client);
}

struct totals {
    uint64_t accepted, rejected, dropped, problems, late;
};

static struct totals look_at_all(struct rig *rig, struct sender senders[SENDERS])
{
    struct totals totals = { 0 };

    for (int i = 0; i < SENDERS; i++) {
        look(rig, &senders[i]);
        totals.accepted += senders[i].accepted_count;
        totals.rejected += senders[i].rejected_count;
        totals.dropped += senders[i].dropped_count;
        totals.problems += senders[i].problem_count;
        totals.late += senders[i].late;
    }
    return totals;
}

static uint32_t asked_seconds(int argc, char **argv)
{
    const char *asked = argc > 1 ? argv[1] : getenv("PERPD_OVERLOAD_SECONDS");
    return asked != NULL ? (uint32_t)atoi(asked) : SECONDS;
}

int main(int argc, char **argv)
{
    static struct sender senders[SENDERS];
    static const char *const options[] = { "--exchange.oracle_max_age_ms=0", NULL };
    const char *build = getenv("PERPD_BUILD");
    uint32_t seconds = asked_seconds(argc, argv);
    bool strict = seconds >= STRICT_S;
    char perpd[RIG_PATH_BYTES];
    struct memory looks[PARTS + 1]; /* after the warm-up and after each part */
    const struct memory *warm = &looks[0], *end = &looks[PARTS];
    struct rig rig;

    signal(SIGPIPE, SIG_IGN);
    snprintf(perpd, sizeof perpd, "%s/perpd", build != NULL ? build : ".");
    rig_init(&rig, perpd, build != NULL ? build : "/tmp");
    CHECK(rig_start(&rig, options));
    open_traders(&rig, senders);
    double capacity = run(senders, CAPACITY_S, 0, 0);
    (void)run(senders, 0, strict ? STRICT_WARM_REQUESTS : WARM_REQUESTS, 2 * capacity);
    double taken = 0;
    read_memory(&rig, senders, &looks[0]);
    for (int part = 0; part < PARTS; part++) {
        taken += run(senders, seconds / PARTS, PART_REQUESTS, 2 * capacity) / PARTS;
        read_memory(&rig, senders, &looks[part + 1]);
    }
    uint64_t between = end->answered - warm->answered;
    struct totals totals = look_at_all(&rig, senders);

    audit(&rig);
    CHECK(rig_end(&rig, SIGTERM) == 0);
    printf("seconds %u capacity/s %.0f offered/s %.0f answered/s %.0f accepted %lu rejected %lu "
           "dropped %lu out_of_window %lu windows_full %lu\n",
           seconds, capacity, 2 * capacity, taken, totals.accepted, totals.rejected, totals.dropped,
           totals.problems, totals.late);
    print_growth(warm, end);
    printf("%lu requests between\n", between);
    CHECK(totals.late > 0);                          /* it was an overload, */
    CHECK(totals.accepted > answered(senders) / 10); /* and it was served */
    CHECK(parts_grown(looks) <= PARTS / 2);
    CHECK(!strict || end->all <= warm->all * 1.01);
    rig_remove(&rig);
    return 0;
}
