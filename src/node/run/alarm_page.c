#include "node/run/alarm_page.h"

#include "node/run/page.h"

static void alarm_line(struct page *page, const char *name, bool is_raised)
{
    page_line(page, "perpd_alarm{name=\"%s\"} %d\n", name, is_raised);
}

/* The markets as the follower saw them last; returns how many. */
static uint32_t market_count(const struct exchange_counters *exchange)
{
    /* pairs: refresh_indexes */
    return atomic_load_explicit(&exchange->index_count, memory_order_acquire);
}

static void symbol_of(const struct exchange_counters_index *index, char symbol[33])
{
    symbol[32] = '\0';
    published_words_get(index->symbol, symbol, CC_COUNT(index->symbol));
}

/* R5: a market whose index is older than exchange.oracle_max_age_ms takes no orders. */
static void oracle_alarms(struct page *page, const struct node *node)
{
    const struct exchange_counters *exchange = &node->core.follower.exchange_counters;
    uint64_t most_ns = config_number(node->options, OPTION_exchange_oracle_max_age_ms) * 1000000;
    uint64_t now_ns = clock_now_ns(&node->clock);
    uint32_t count = market_count(exchange);

    for (uint32_t k = 0; k < count; k++) {
        uint64_t publish_ns = published_get(&exchange->indexes[k].publish_ns);
        char symbol[33];
        symbol_of(&exchange->indexes[k], symbol);
        if (publish_ns != 0)
            page_line(page, "perpd_alarm{name=\"oracle_stale\",market=\"%s\"} %d\n", symbol,
                      most_ns != 0 && now_ns > publish_ns && now_ns - publish_ns > most_ns);
    }
}

static void state_alarms(struct page *page, struct node *node)
{
    const struct follower *follower = &node->core.follower;
    const struct snapshotter_counters *snapshots = &node->core.snapshotter.counters;
    const struct history_keep *keep = &follower->sink.history->keep;
    const struct exchange_counters *exchange = &follower->exchange_counters;
    uint64_t lag_max_ms = config_number(node->options, OPTION_node_follower_lag_max);

    /* relaxed: shown only. */
    alarm_line(page, "invariant",
               atomic_load_explicit(&follower->invariants_failed, memory_order_relaxed) != 0);
    alarm_line(page, "segments",
               segment_pool_ready(node->core.pool) == 0 || alarm_wants_segments(node->core.pool));
    alarm_line(page, "segment_error", segment_pool_error(node->core.pool) != 0);
    alarm_line(page, "snapshot", published_get(&snapshots->alarm) != 0);
    alarm_line(page, "snapshot_put_off", published_get(&snapshots->waits) != 0);
    alarm_line(page, "archive",
               published_get(&snapshots->archive_fails) != 0 ||
                   published_get(&node->archive_copy.fails) != 0);
    alarm_line(page, "follower_lag", follower_lag_ns(follower) / 1000000 > lag_max_ms);
    alarm_line(page, "clock_gap", stopped_clock_gap_ns(&node->core.matcher.stopped_clock) != 0);
    alarm_line(page, "fund_deficit",
               atomic_load_explicit(&exchange->fund_cash, memory_order_relaxed) < 0);
    alarm_line(page, "short", atomic_load_explicit(&exchange->solvency, memory_order_relaxed) < 0);
    alarm_line(page, "history",
               node->core.history_was_damaged ||
                   atomic_load_explicit(&keep->is_damaged, memory_order_relaxed) ||
                   atomic_load_explicit(&keep->is_stopped, memory_order_relaxed));
    alarm_line(page, "restart", published_get(&node->core.matcher.staged_restart.doubts) != 0);
    alarm_line(page, "scrub", published_get(&node->core.scrub.counters.faults) != 0);
    oracle_alarms(page, node);
}

static void alarm_lines(struct page *page, struct node *node, bool serves)
{
    int64_t difference_ns = clock_difference_ns(&node->clock);
    int64_t bound_ns = CLOCK_DIFFERENCE_MAX_NS;

    page_line(page, "# HELP perpd_alarm 1: an operator has to look (operations.md).\n"
                    "# TYPE perpd_alarm gauge\n");
    alarm_line(page, "clock", difference_ns > bound_ns || difference_ns < -bound_ns);
    alarm_line(page, "poison",
               node->poison.refused_count != 0 || node->poison.off_count != 0 ||
                   node->poison.was_damaged);
    if (serves)
        state_alarms(page, node);
}

static void market_lines(struct page *page, const struct exchange_counters *exchange)
{
    uint32_t count = market_count(exchange);
    char symbol[33];

    page_line(page, "# HELP perpd_market_state 0 ACTIVE, 1 POST_ONLY, 2 REDUCE_ONLY, "
                    "3 CANCEL_ONLY, 4 HALTED, 5 CLOSED.\n"
                    "# TYPE perpd_market_state gauge\n");
    for (uint32_t k = 0; k < count; k++) {
        const struct exchange_counters_index *index = &exchange->indexes[k];
        symbol_of(index, symbol);
        page_line(page, "perpd_market_state{market=\"%s\",asset=\"%lu\"} %lu\n", symbol,
                  published_get(&index->asset_id), published_get(&index->state));
    }
    page_line(page, "# HELP perpd_mark_valid 1: the market has a mark price that counts.\n"
                    "# TYPE perpd_mark_valid gauge\n");
    for (uint32_t k = 0; k < count; k++) {
        symbol_of(&exchange->indexes[k], symbol);
        page_line(page, "perpd_mark_valid{market=\"%s\"} %lu\n", symbol,
                  published_get(&exchange->indexes[k].mark_valid));
    }
}

static void ring_lines(struct page *page, const struct node *node)
{
    static const struct {
        const char *name;
        size_t offset;
    } rings[] = { { "commands", offsetof(struct node_net, commands) },
                  { "answers", offsetof(struct node_net, answers) },
                  { "queries", offsetof(struct node_net, queries) },
                  { "replies", offsetof(struct node_net, replies) } };
    static const char *const heads[] = {
        "# HELP perpd_ring_used Slots of a ring between threads that wait to be read.\n"
        "# TYPE perpd_ring_used gauge\n",
        "# HELP perpd_ring_slots Slots of the ring.\n# TYPE perpd_ring_slots gauge\n"
    };

    for (unsigned of = 0; of < CC_COUNT(heads); of++) {
        page_line(page, "%s", heads[of]);
        for (uint32_t net = 0; net < node->topology.net_count; net++)
            for (size_t i = 0; i < CC_COUNT(rings); i++) {
                const uint8_t *base = (const void *)&node->nets[net];
                const struct ring *ring = (const void *)(base + rings[i].offset);
                page_line(page, "perpd_ring_%s{ring=\"%s\",thread=\"%u\"} %lu\n",
                          of == 0 ? "used" : "slots", rings[i].name, net,
                          of == 0 ? ring_depth(ring) : (uint64_t)ring->slot_mask + 1);
            }
    }
    page_line(page, "# HELP perpd_reply_buffers_free Buffers for the rows of reads, of 64.\n"
                    "# TYPE perpd_reply_buffers_free gauge\n");
    for (uint32_t net = 0; net < node->topology.net_count; net++)
        page_line(page, "perpd_reply_buffers_free{thread=\"%u\"} %d\n", net,
                  __builtin_popcountll(
                      atomic_load_explicit(&node->nets[net].pool.free, memory_order_relaxed)));
}

size_t alarm_page_write(struct node *node, char *text, size_t capacity)
{
    struct page page = { text, capacity, 0 };
    bool serves = phase_serves(phase_now(&node->phase));

    alarm_lines(&page, node, serves);
    if (serves)
        market_lines(&page, &node->core.follower.exchange_counters);
    ring_lines(&page, node);
    return page.used;
}
