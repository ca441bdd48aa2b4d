#include "node/history/history.h"

#include <stdlib.h>

#include "base/account_id.h"
#include "base/option.h"
#include "engine/engine.h"
#include "engine/view/read.h"
#include "node/history/history_find.h"

/* Of ended orders and withdrawals, the cash ledger and candles: twice what may wait for the file
 * (history_keep.c), which has the others. */
enum { ROWS_MAX = 1 << 18 };

enum { ACTIVE = 0 }; /* status of effect 2119 */

struct history *history_create(uint32_t capacity, uint32_t account_count, struct mix_key key)
{
    struct history *history = calloc(1, sizeof *history);

    if (history == NULL)
        return NULL;
    uint32_t fewer = capacity < ROWS_MAX ? capacity : ROWS_MAX;
    if (order_log_init(&history->orders, fewer, account_count, key) == 0 &&
        fill_log_init(&history->fills, capacity, account_count) == 0 &&
        request_log_init(&history->requests, capacity, key) == 0 &&
        money_log_init(&history->money, capacity, fewer, account_count) == 0 &&
        withdrawal_log_init(&history->withdrawals, fewer) == 0 &&
        candle_log_init(&history->candles, fewer) == 0 &&
        private_keep_init(&history->privates, fewer, account_count) == 0 &&
        history_attach(history, NULL) == 0)
        return history;
    history_destroy(history);
    return NULL;
}

int history_attach(struct history *history, struct history_file *file)
{
    return history_keep_init(&history->keep, history, file);
}

void history_destroy(struct history *history)
{
    if (history == NULL)
        return;
    history_keep_free(&history->keep);
    order_log_free(&history->orders);
    fill_log_free(&history->fills);
    request_log_free(&history->requests);
    money_log_free(&history->money);
    withdrawal_log_free(&history->withdrawals);
    candle_log_free(&history->candles);
    private_keep_free(&history->privates);
    free(history);
}

void history_keep_private(struct history *history, uint64_t most)
{
    history->privates.most = history->keep.file == NULL ? 0 : most;
}

void history_forget(struct history *history, const struct engine *engine)
{
    uint64_t sequence = engine_sequence(engine);
    /* An id is dated before its command's time plus the option then in force: at most this. */
    uint64_t newest_ms =
        engine_time(engine) / 1000000 + option_row(OPTION_exchange_clock_future_ms)->maximum;
    struct row_market market;
    uint64_t id;

    for (uint32_t slot = 0; read_account_at(engine, slot, &id); slot++) {
        order_log_forget(&history->orders, id, sequence, newest_ms,
                         history_find_refusals(&history->keep, id, sequence));
        history_ring_forget(&history->fills.fills, slot, sequence);
        history_ring_forget(&history->money.payments, slot, sequence);
        history_ring_forget(&history->money.cash, slot, sequence);
    }
    for (uint32_t k = 0; k < read_market_count(engine); k++) {
        read_market(engine, k, &market);
        history_ring_forget(&history->fills.trades, market.asset_id, sequence);
        history_ring_forget(&history->money.rates, market.asset_id, sequence);
        history_ring_forget(&history->money.liquidations, market.asset_id, sequence);
        for (int unit = 0; unit < CANDLE_UNITS; unit++)
            history_ring_forget(&history->candles.rings[unit], market.asset_id, sequence);
        history_find_candles(&history->keep, &history->candles, market.asset_id, sequence);
    }
    for (int house = 0; house < MONEY_HOUSES; house++)
        history_ring_forget(&history->money.houses[house], 0, sequence);
    withdrawal_log_forget(&history->withdrawals, sequence);
    request_log_forget(&history->requests, sequence, newest_ms);
    history_keep_end(&history->keep);
    history_keep_forget(&history->keep, engine, newest_ms);
}

/* Adds a public trade, the newest row of the fill log, to the events. */
static void show_trade(const struct history_sink *self, const struct effect *effect)
{
    struct history *history = self->history;
    const struct history_ring *trades = &history->fills.trades;
    const struct trade_row *row = history_ring_at(trades, trades->added - 1);
    struct effect_trade body;

    memcpy(&body, effect->bytes, sizeof body);
    market_names_refresh(&history->names, effect->engine);
    const struct market_name *name = market_names_of(&history->names, row->asset_id);
    struct event_log_event event = {
        .seq = body.book_seq,
        .sequence = effect->sequence,
        .time_ns = effect->t_ns,
        .asset_id = row->asset_id,
        .kind = EVENT_LOG_TRADE,
        .price_decimals = name->price_decimals,
        .size_decimals = name->size_decimals,
    };
    fill_log_show_trade(row, &event.trade);
    event_log_add(self->events, &event);
}

/* Adds a mark, as a read would show it now. */
static void show_mark(const struct history_sink *self, const struct effect *effect)
{
    struct market_names *names = &self->history->names;
    struct event_log_event event = {
        .sequence = effect->sequence,
        .time_ns = effect->t_ns,
        .asset_id = effect->asset_id,
        .kind = EVENT_LOG_MARK,
    };

    market_names_refresh(names, effect->engine);
    const struct market_name *name = market_names_of(names, effect->asset_id);
    bool is_there = read_mark(effect->engine, name->symbol, &event.mark);
    INVARIANT(is_there);
    event.seq = event.mark.book_seq; /* which the mark has raised */
    event_log_add(self->events, &event);
}

static void show_state(const struct history_sink *self, const struct effect *effect)
{
    struct market_names *names = &self->history->names;
    struct effect_market_state body;

    memcpy(&body, effect->bytes, sizeof body);
    market_names_refresh(names, effect->engine);
    struct event_log_event event = {
        .seq = read_book_seq(effect->engine, body.asset_id), /* which the change has raised */
        .sequence = effect->sequence,
        .time_ns = effect->t_ns,
        .asset_id = body.asset_id,
        .kind = EVENT_LOG_STATE,
        .state = { .settlement_price = body.price,
                   .state = body.state,
                   .cause = body.cause,
                   .price_decimals = market_names_of(names, body.asset_id)->price_decimals },
    };
    event_log_add(self->events, &event);
}

/* Adds the rate of an epoch that has opened, the newest row of the money log. */
static void show_rate(const struct history_sink *self, const struct effect *effect)
{
    struct history *history = self->history;
    const struct history_ring *rates = &history->money.rates;
    struct effect_funding_epoch body;

    memcpy(&body, effect->bytes, sizeof body);
    if (body.open == 0)
        return;
    market_names_refresh(&history->names, effect->engine);
    struct event_log_event event = {
        .seq = read_book_seq(effect->engine, body.asset_id), /* which the epoch has raised */
        .sequence = effect->sequence,
        .time_ns = effect->t_ns,
        .asset_id = body.asset_id,
        .kind = EVENT_LOG_RATE,
        .price_decimals = market_names_of(&history->names, body.asset_id)->price_decimals,
    };
    money_log_show_rate(history_ring_at(rates, rates->added - 1), &event.rate);
    event_log_add(self->events, &event);
}

/* Adds a liquidation, the newest row of the money log. */
static void show_liquidation(const struct history_sink *self, const struct effect *effect)
{
    struct history *history = self->history;
    const struct history_ring *liquidations = &history->money.liquidations;

    market_names_refresh(&history->names, effect->engine);
    const struct market_name *name = market_names_of(&history->names, effect->asset_id);
    struct event_log_event event = {
        .seq = read_book_seq(effect->engine, effect->asset_id), /* which it has raised */
        .sequence = effect->sequence,
        .time_ns = effect->t_ns,
        .asset_id = effect->asset_id,
        .kind = EVENT_LOG_LIQUIDATION,
        .price_decimals = name->price_decimals,
        .size_decimals = name->size_decimals,
    };
    money_log_show_liquidation(history_ring_at(liquidations, liquidations->added - 1),
                               &event.liquidation);
    event_log_add(self->events, &event);
}

static_assert((int)BOOK_LOG_ADD == (int)BOOK_ADD && (int)BOOK_LOG_REDUCE == (int)BOOK_REDUCE &&
                  (int)BOOK_LOG_DELETE == (int)BOOK_DELETE &&
                  (int)BOOK_LOG_EXECUTE == (int)BOOK_EXECUTE,
              "the actions of 2107");

/* Adds the change of an order in a book, which is still in its table. */
static void show_order(const struct history_sink *self, const struct effect *effect)
{
    struct history *history = self->history;
    struct effect_book_order body;
    struct row_book_order order;

    memcpy(&body, effect->bytes, sizeof body);
    market_names_refresh(&history->names, effect->engine);
    const struct market_name *name = market_names_of(&history->names, body.asset_id);
    read_order_queued(effect->engine, effect->record, &order);
    const struct book_log_change change = {
        .seq = body.book_seq,
        .sequence = effect->sequence,
        .time_ns = effect->t_ns,
        .handle = order.handle,
        .price = body.price,
        .size = order.size,
        .asset_id = body.asset_id,
        .side = body.side,
        .action = body.action,
        .price_decimals = name->price_decimals,
        .size_decimals = name->size_decimals,
    };
    book_log_add(self->orders, &change);
}

/* Adds a public event that the logs have. */
static void show(const struct history_sink *self, const struct effect *effect)
{
    switch ((enum effect_code)effect->code) {
    case EFFECT_trade:
        show_trade(self, effect);
        break;
    case EFFECT_mark:
        show_mark(self, effect);
        break;
    case EFFECT_market_state:
        show_state(self, effect);
        break;
    case EFFECT_funding_epoch:
        show_rate(self, effect);
        break;
    case EFFECT_liquidation:
        show_liquidation(self, effect);
        break;
    default:
        break;
    }
}

/* A new account has no rows: those of the accounts that had its slot before are no longer found by
 * it. What is not in the file yet goes there under the id that each row has. */
static void begin_account(struct history *history, const struct effect *effect)
{
    struct effect_account body;

    memcpy(&body, effect->bytes, sizeof body);
    if (body.what != ACCOUNT_WHAT_ACCOUNT || body.status != ACTIVE)
        return;
    uint32_t slot = account_id_slot(body.account_id);
    order_log_begin(&history->orders, slot);
    history_ring_begin(&history->fills.fills, slot);
    history_ring_begin(&history->money.payments, slot);
    history_ring_begin(&history->money.cash, slot);
}

static void emit(struct engine_sink *sink, const struct effect *effect)
{
    /* The sink is the first member. */
    struct history_sink *self = (struct history_sink *)(void *)sink;
    struct history *history = self->history;

    if (effect->code == EFFECT_order_state) {
        struct effect_order_state state;
        struct order_summary order;
        memcpy(&state, effect->bytes, sizeof state);
        order_summary_make(&order, effect, &state);
        order_log_append(&history->orders, &order, effect->sequence,
                         command_request_id(effect->command));
        private_feed_order(&self->feed, history, effect, &order);
        return;
    }
    if (effect->code == EFFECT_book_order) {
        if (self->orders != NULL && book_log_is_wanted(self->orders))
            show_order(self, effect);
        return;
    }
    if (effect->code == EFFECT_position) {
        private_feed_add(&self->feed, history, effect);
        return;
    }
    if (effect->code == EFFECT_account)
        begin_account(history, effect);
    if (self->watch != NULL)
        watch_effect(self->watch, effect);
    if (self->exchange_counters != NULL)
        exchange_counters_count(self->exchange_counters, effect);
    money_log_append(&history->money, effect,
                     history->fills.sequence == effect->sequence ? history->fills.counted : 0);
    fill_log_append(&history->fills, effect);
    if (effect->code == EFFECT_trade)
        candle_log_append(&history->candles,
                          history_ring_at(&history->fills.trades, history->fills.trades.added - 1));
    private_feed_add(&self->feed, history, effect);
    if (self->events != NULL)
        show(self, effect);
    request_log_append(&history->requests, effect);
    withdrawal_log_append(&history->withdrawals, effect);
}

void history_sink_init(struct history_sink *sink, struct history *history, struct private_log *log)
{
    /* Effects that neither a log nor the watch needs are not even emitted. */
    const uint32_t ignored = EFFECT_BIT(EFFECT_book_level) | EFFECT_BIT(EFFECT_book_order) |
                             EFFECT_BIT(EFFECT_timer) | EFFECT_BIT(EFFECT_fund);

    sink->sink.emit = emit;
    sink->sink.classify = NULL;
    sink->sink.ignores = ignored;
    sink->history = history;
    sink->exchange_counters = NULL;
    sink->events = NULL;
    sink->orders = NULL;
    sink->feed = (struct private_feed){ .log = log };
    sink->watch = NULL;
}

uint64_t history_sink_in_file(const struct history_sink *sink)
{
    const struct history *history = sink->history;
    bool has_private = sink->feed.log == NULL || history->privates.most >= PRIVATE_LOG_LANE;

    return has_private && history_keep_is_written(&history->keep)
               ? published_get(&history->keep.applied)
               : 0;
}

void history_sink_show(struct history_sink *sink, struct event_log *events, struct book_log *orders,
                       const struct engine *engine)
{
    struct row_market market;

    for (uint32_t k = 0; k < read_market_count(engine); k++) {
        read_market(engine, k, &market);
        struct event_log_event event = {
            .seq = read_book_seq(engine, market.asset_id),
            .sequence = engine_sequence(engine),
            .time_ns = engine_time(engine),
            .asset_id = market.asset_id,
            .kind = EVENT_LOG_BEGIN,
        };
        event_log_add(events, &event);
    }
    sink->events = events;
    sink->orders = orders;
    sink->sink.ignores &= ~EFFECT_BIT(EFFECT_book_order);
}

void history_prefetch(const struct history *history, const struct command *command)
{
    id_map_prefetch(&history->orders.map, command->request_hash);
    id_map_prefetch(&history->requests.map, command->request_hash);
    id_map_prefetch(&history->orders.map, command->target_hash);
}
