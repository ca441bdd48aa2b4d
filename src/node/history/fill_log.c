#include "node/history/fill_log.h"

#include <errno.h>

#include "base/account_id.h"
#include "base/uuid.h"
#include "engine/view/read.h"
#include "node/history/market_names.h"

enum {
    EFFECT_FUNDING_PAYMENT = 2105, /* counted wherever it comes from */
    TRADE_FILLS = 2,
};

int fill_log_init(struct fill_log *log, uint32_t capacity, uint32_t account_count)
{
    memset(log, 0, sizeof *log);
    if (history_ring_init(&log->fills, capacity, sizeof(struct fill_row), account_count) != 0)
        return -ENOMEM;
    if (history_ring_init(&log->trades, capacity, sizeof(struct trade_row), FILL_LOG_ASSETS) == 0)
        return 0;
    fill_log_free(log);
    return -ENOMEM;
}

void fill_log_free(struct fill_log *log)
{
    history_ring_free(&log->fills);
    history_ring_free(&log->trades);
}

static void add_trade(struct fill_log *log, const struct effect *effect)
{
    struct effect_trade body;

    memcpy(&body, effect->bytes, sizeof body);
    struct trade_row *row =
        history_ring_add(&log->trades, body.asset_id, effect->sequence, log->counted);
    row->price = body.price;
    row->size = body.size;
    row->trade_seq = body.trade_seq;
    row->seq = body.book_seq;
    row->time_ns = effect->t_ns;
    row->asset_id = body.asset_id;
    row->taker_side = body.taker_side;
    row->liquidation = body.flags & 1;
    log->trade_seq = body.trade_seq;
    log->fills_due = TRADE_FILLS;
}

static void add_fill(struct fill_log *log, const struct effect *effect)
{
    struct effect_fill body;
    struct row_order order;

    memcpy(&body, effect->bytes, sizeof body);
    read_order_record(effect->engine, effect->record, &order);
    uint32_t key = account_id_slot(order.account_id);
    INVARIANT(key < log->fills.key_count);
    struct fill_row *row = history_ring_add(&log->fills, key, effect->sequence, log->counted);
    row->account_id = order.account_id;
    memcpy(row->order_id, body.order_id, sizeof row->order_id);
    row->price = body.price;
    row->quantity = body.quantity < 0 ? 0 - (uint64_t)body.quantity : (uint64_t)body.quantity;
    row->fee = body.fee;
    row->time_ns = effect->t_ns;
    row->id_index = body.index;
    row->subaccount_index = order.subaccount_index;
    row->portfolio_index = order.portfolio_index;
    row->asset_id = effect->asset_id;
    row->side = order.side;
    row->liquidity = body.liquidity;
    if (log->fills_due != 0) { /* a deleveraging and a takeover have no public trade */
        row->trade_seq = log->trade_seq;
        log->fills_due--;
    }
}

void fill_log_append(struct fill_log *log, const struct effect *effect)
{
    if (effect->sequence != log->sequence) {
        log->sequence = effect->sequence;
        log->counted = 0;
        log->fills_due = 0;
    }
    switch (effect->code) {
    case EFFECT_trade:
        add_trade(log, effect);
        break;
    case EFFECT_fill:
        add_fill(log, effect);
        log->counted++;
        break;
    case EFFECT_cash:
    case EFFECT_FUNDING_PAYMENT:
        log->counted++;
        break;
    default:
        break;
    }
}

void fill_log_show_fill(const struct fill_row *fill, const struct market_names *names,
                        struct row_fill *row)
{
    const struct market_name *market = market_names_of(names, fill->asset_id);
    struct uuid id = uuid_engine(fill->time_ns, fill->link.sequence, fill->id_index);

    *row = (struct row_fill){
        .account_id = fill->account_id,
        .subaccount_index = fill->subaccount_index,
        .portfolio_index = fill->portfolio_index,
        .price = fill->price,
        .quantity = fill->quantity,
        .fee = fill->fee,
        .sequence = fill->link.sequence,
        .time_ns = fill->time_ns,
        .trade_seq = fill->trade_seq,
        .index = fill->link.index,
        .side = fill->side,
        .liquidity = fill->liquidity,
        .price_decimals = market->price_decimals,
        .size_decimals = market->size_decimals,
    };
    memcpy(row->id, id.bytes, sizeof row->id);
    memcpy(row->request_id, fill->order_id, sizeof row->request_id);
    memcpy(row->market, market->symbol, sizeof row->market);
}

void fill_log_show_trade(const struct trade_row *trade, struct row_trade *row)
{
    *row = (struct row_trade){
        .price = trade->price,
        .size = trade->size,
        .trade_seq = trade->trade_seq,
        .seq = trade->seq,
        .sequence = trade->link.sequence,
        .time_ns = trade->time_ns,
        .index = trade->link.index,
        .taker_side = trade->taker_side,
        .liquidation = trade->liquidation,
    };
}
