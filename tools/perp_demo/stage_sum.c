/* stage_sum.c - sums over all players, and the summary at the end. */
#include <stdio.h>

#include "perp_demo/stage.h"

enum { TRADES_PER_S = 50, /* what the demo must reach */ TRADES_ENOUGH = 1000 };

/* Stages of a signed request without which a summary of latencies would say nothing. */
static const char *const wanted_stages[] = { "verified", "sequenced", "matched", "released",
                                             "sent" };

uint64_t stage_sum_sent(const struct stage *stage)
{
    uint64_t sum = 0;
    for (int i = 0; i < STAGE_PLAYERS; i++)
        sum += stage->players[i].sent;
    return sum;
}

uint64_t stage_sum_trades(const struct stage *stage)
{
    uint64_t sum = 0;
    for (int i = 0; i < LISTING_MARKETS; i++)
        sum += stage->markets[i].trades;
    return sum;
}

uint64_t stage_sum_status(const struct stage *stage, enum status status)
{
    uint64_t sum = 0;
    for (int i = 0; i < STAGE_PLAYERS; i++)
        sum += stage->players[i].statuses[status];
    return sum;
}

uint64_t stage_sum_rejected(const struct stage *stage)
{
    uint64_t sum = 0;
    for (int i = 0; i < STATUS_COUNT; i++) {
        if (i != STATUS_request_completed)
            sum += stage_sum_status(stage, (enum status)i);
    }
    return sum;
}

static double seconds_of(const struct stage *stage)
{
    return (double)(stage->end_ns - stage->begin_ns) / 1e9;
}

static void check_trades(struct stage *stage)
{
    uint64_t trades = stage_sum_trades(stage);
    uint64_t enough = (uint64_t)stage->seconds * TRADES_PER_S;
    enough = enough > TRADES_ENOUGH ? TRADES_ENOUGH : enough;
    if (stage->at_least >= 0)
        enough = (uint64_t)stage->at_least;
    stage_check(stage, trades >= enough,
                "%llu takes in %.1f s (takers that met somebody; at least %llu wanted)",
                (unsigned long long)trades, seconds_of(stage), (unsigned long long)enough);
    for (int i = 0; i < LISTING_MARKETS && enough > 0; i++) {
        if (stage->markets[i].trades == 0)
            stage_check(stage, false, "%s did not trade", listing_at((uint32_t)i)->market);
    }
}

/* The stages that the node measured, and those without which the summary would be hollow. */
static void check_stages(struct stage *stage)
{
    struct client_request request = { .method = "GET", .target = "/metrics" };
    struct client_answer answer;
    if (client_call(&stage->admin, &request, &answer) == 0 && answer.status == 200)
        scrape_read(&stage->scrape, answer.body, answer.body_count);
    for (size_t i = 0; i < CC_COUNT(wanted_stages); i++) {
        const struct scrape_stage *row = scrape_find(&stage->scrape, wanted_stages[i]);
        if (row == NULL || scrape_quantile(row, 0.99) < 0)
            stage_check(stage, false, "/metrics has no values of the stage '%s'", wanted_stages[i]);
    }
    stage_check(stage, stage->scrape.has_journal && stage->scrape.journal_record_bytes > 0,
                "journal: %llu records, %llu bytes of records, %llu bytes written",
                (unsigned long long)stage->scrape.journal_records,
                (unsigned long long)stage->scrape.journal_record_bytes,
                (unsigned long long)stage->scrape.journal_written_bytes);
}

void stage_sum_check(struct stage *stage)
{
    uint64_t problems = stage->oracle.problems, postponed = 0;
    for (int i = 0; i < STAGE_PLAYERS; i++) {
        problems += stage->players[i].problems;
        postponed += stage->players[i].postponed;
    }
    check_stages(stage);
    check_trades(stage);
    stage_check(stage, problems == 0,
                "%llu problem answers, and %llu reads that were not ready and made again",
                (unsigned long long)problems, (unsigned long long)postponed);
}

static void show_markets(const struct stage *stage)
{
    printf("  %-10s %10s %16s\n", "market", "takes", "USDC taken");
    for (int i = 0; i < LISTING_MARKETS; i++)
        printf("  %-10s %10llu %16.2f\n", listing_at((uint32_t)i)->market,
               (unsigned long long)stage->markets[i].trades,
               (double)stage->markets[i].notional / 1e6);
}

static void show_players(const struct stage *stage)
{
    printf("  %-10s %10s %10s %10s %13s %13s\n", "player", "requests", "fills", "round trip", "p50",
           "p99");
    for (int i = 0; i < STAGE_PLAYERS; i++) {
        const struct player *player = &stage->players[i];
        printf("  %-10s %10llu %10llu %10s %10.0f us %10.0f us\n", player->account.name,
               (unsigned long long)player->sent, (unsigned long long)player->trades, "",
               (double)player->p50_ns / 1000, (double)player->p99_ns / 1000);
    }
}

void stage_sum_show(struct stage *stage)
{
    uint64_t sent = stage_sum_sent(stage), trades = stage_sum_trades(stage);
    double seconds = seconds_of(stage);
    printf("summary:\n  %llu signed requests, %.0f/s; %llu trades, %.0f/s\n",
           (unsigned long long)sent, (double)sent / seconds, (unsigned long long)trades,
           (double)trades / seconds);
    show_markets(stage);
    show_players(stage);
    for (int i = 0; i < STATUS_COUNT; i++) {
        uint64_t count = stage_sum_status(stage, (enum status)i);
        if (count > 0)
            printf("  %-10s %-52s %10llu\n",
                   i == STATUS_request_completed ? "accepted" : "rejected",
                   status_name((enum status)i), (unsigned long long)count);
    }
    printf("  %-34s %10s %13s\n", "stage (since the request came)", "p50", "p99");
    for (uint32_t i = 0; i < stage->scrape.stage_count; i++) {
        const struct scrape_stage *row = &stage->scrape.stages[i];
        if (scrape_quantile(row, 0.5) >= 0)
            printf("  %-34s %7.0f us %10.0f us\n", row->name, scrape_quantile(row, 0.5) / 1000,
                   scrape_quantile(row, 0.99) / 1000);
    }
    printf("  acknowledgements are durable by store.durability=%s\n", stage->provision.durability);
}
