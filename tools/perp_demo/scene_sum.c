/* scene_sum.c - sums over all players, and the summary at the end. */
#include <stdio.h>

#include "perp_demo/scene.h"

enum { TRADES_PER_S = 50, /* what the demo must reach */ TRADES_ENOUGH = 1000 };

/* Stages of a signed request without which a summary of latencies would say nothing. */
static const char *const wanted_stages[] = { "verified", "sequenced", "matched", "released",
                                             "sent" };

uint64_t scene_sum_sent(const struct scene *scene)
{
    uint64_t sum = 0;
    for (int i = 0; i < SCENE_PLAYERS; i++)
        sum += scene->players[i].sent;
    return sum;
}

uint64_t scene_sum_trades(const struct scene *scene)
{
    uint64_t sum = 0;
    for (int i = 0; i < LISTING_MARKETS; i++)
        sum += scene->markets[i].trades;
    return sum;
}

uint64_t scene_sum_status(const struct scene *scene, enum status status)
{
    uint64_t sum = 0;
    for (int i = 0; i < SCENE_PLAYERS; i++)
        sum += scene->players[i].statuses[status];
    return sum;
}

uint64_t scene_sum_rejected(const struct scene *scene)
{
    uint64_t sum = 0;
    for (int i = 0; i < STATUS_COUNT; i++) {
        if (i != STATUS_request_completed)
            sum += scene_sum_status(scene, (enum status)i);
    }
    return sum;
}

static double seconds_of(const struct scene *scene)
{
    return (double)(scene->end_ns - scene->begin_ns) / 1e9;
}

static uint64_t wanted_trades(const struct scene *scene)
{
    uint64_t wanted = (uint64_t)scene->seconds * TRADES_PER_S;
    if (scene->at_least >= 0)
        return (uint64_t)scene->at_least;
    return wanted > TRADES_ENOUGH ? TRADES_ENOUGH : wanted;
}

bool scene_sum_is_enough(const struct scene *scene)
{
    uint64_t wanted = wanted_trades(scene);
    bool all = true;
    for (int i = 0; i < LISTING_MARKETS; i++)
        all = all && scene->markets[i].trades != 0;
    return wanted == 0 || (all && scene_sum_trades(scene) >= wanted);
}

static void check_trades(struct scene *scene)
{
    uint64_t trades = scene_sum_trades(scene);
    uint64_t enough = wanted_trades(scene);
    scene_check(scene, trades >= enough,
                "%llu takes in %.1f s (takers that met somebody; at least %llu wanted)",
                (unsigned long long)trades, seconds_of(scene), (unsigned long long)enough);
    for (int i = 0; i < LISTING_MARKETS && enough > 0; i++) {
        if (scene->markets[i].trades == 0)
            scene_check(scene, false, "%s did not trade", listing_at((uint32_t)i)->market);
    }
}

/* The stages that the node measured, and those without which the summary would be hollow. */
static void check_stages(struct scene *scene)
{
    scene_show_read_metrics(scene);
    for (size_t i = 0; i < CC_COUNT(wanted_stages); i++) {
        const struct scrape_stage *row = scrape_find(&scene->scrape, wanted_stages[i]);
        if (row == NULL || scrape_quantile(row, 0.99) < 0)
            scene_check(scene, false, "/metrics has no values of the stage '%s'", wanted_stages[i]);
    }
    scene_check(scene, scene->scrape.has_journal && scene->scrape.journal_record_bytes > 0,
                "journal: %llu records, %llu bytes of records, %llu bytes written",
                (unsigned long long)scene->scrape.journal_records,
                (unsigned long long)scene->scrape.journal_record_bytes,
                (unsigned long long)scene->scrape.journal_written_bytes);
}

void scene_sum_check(struct scene *scene)
{
    uint64_t problems = scene->oracle.problems, postponed = 0;
    for (int i = 0; i < SCENE_PLAYERS; i++) {
        problems += scene->players[i].problems;
        postponed += scene->players[i].postponed;
    }
    check_stages(scene);
    check_trades(scene);
    scene_check(scene, problems == 0,
                "%llu problem answers, and %llu reads that were not ready and made again",
                (unsigned long long)problems, (unsigned long long)postponed);
}

static void show_markets(const struct scene *scene)
{
    printf("  %-10s %10s %16s\n", "market", "takes", "USDC taken");
    for (int i = 0; i < LISTING_MARKETS; i++)
        printf("  %-10s %10llu %16.2f\n", listing_at((uint32_t)i)->market,
               (unsigned long long)scene->markets[i].trades,
               (double)scene->markets[i].notional / 1e6);
}

static void show_players(const struct scene *scene)
{
    printf("  %-10s %10s %10s %10s %13s %13s\n", "player", "requests", "fills", "round trip", "p50",
           "p99");
    for (int i = 0; i < SCENE_PLAYERS; i++) {
        const struct player *player = &scene->players[i];
        printf("  %-10s %10llu %10llu %10s %10.0f us %10.0f us\n", player->account.name,
               (unsigned long long)player->sent, (unsigned long long)player->trades, "",
               (double)player->p50_ns / 1000, (double)player->p99_ns / 1000);
    }
}

void scene_sum_show(struct scene *scene)
{
    uint64_t sent = scene_sum_sent(scene), trades = scene_sum_trades(scene);
    double seconds = seconds_of(scene);
    printf("summary:\n  %llu signed requests, %.0f/s; %llu trades, %.0f/s\n",
           (unsigned long long)sent, (double)sent / seconds, (unsigned long long)trades,
           (double)trades / seconds);
    show_markets(scene);
    show_players(scene);
    for (int i = 0; i < STATUS_COUNT; i++) {
        uint64_t count = scene_sum_status(scene, (enum status)i);
        if (count > 0)
            printf("  %-10s %-52s %10llu\n",
                   i == STATUS_request_completed ? "accepted" : "rejected",
                   status_name((enum status)i), (unsigned long long)count);
    }
    printf("  %-34s %10s %13s\n", "stage (since the request came)", "p50", "p99");
    for (uint32_t i = 0; i < scene->scrape.stage_count; i++) {
        const struct scrape_stage *row = &scene->scrape.stages[i];
        if (scrape_quantile(row, 0.5) >= 0)
            printf("  %-34s %7.0f us %10.0f us\n", row->name, scrape_quantile(row, 0.5) / 1000,
                   scrape_quantile(row, 0.99) / 1000);
    }
    printf("  acknowledgements are durable by store.durability=%s\n", scene->provision.durability);
}
