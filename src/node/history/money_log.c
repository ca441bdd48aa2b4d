#include "node/history/money_log.h"

#include <errno.h>

#include "base/account_id.h"
#include "base/message.h"
#include "base/uuid.h"
#include "engine/view/read.h"
#include "node/history/market_names.h"

enum { ASSETS = 1 << 16, TRADE_LIQUIDATION = 1, SETTLE_AT_WITHDRAWAL_ID = 0 };

int money_log_init(struct money_log *log, uint32_t capacity, uint32_t cash_capacity,
                   uint32_t account_count)
{
    memset(log, 0, sizeof *log);
    if (history_ring_init(&log->payments, capacity, sizeof(struct payment_row), account_count) ==
            0 &&
        history_ring_init(&log->rates, capacity, sizeof(struct rate_row), ASSETS) == 0 &&
        history_ring_init(&log->liquidations, capacity, sizeof(struct liquidation_row), ASSETS) ==
            0 &&
        history_ring_init(&log->cash, cash_capacity, sizeof(struct cash_row), account_count) == 0 &&
        history_ring_init(&log->houses[MONEY_FUND], capacity, sizeof(struct house_row), 1) == 0 &&
        history_ring_init(&log->houses[MONEY_FEES], capacity, sizeof(struct house_row), 1) == 0)
        return 0;
    money_log_free(log);
    return -ENOMEM;
}

void money_log_free(struct money_log *log)
{
    history_ring_free(&log->payments);
    history_ring_free(&log->rates);
    history_ring_free(&log->cash);
    history_ring_free(&log->liquidations);
    for (int i = 0; i < MONEY_HOUSES; i++)
        history_ring_free(&log->houses[i]);
}

static void add_payment(struct money_log *log, const struct effect *effect, uint32_t index)
{
    struct effect_funding_payment body;

    memcpy(&body, effect->bytes, sizeof body);
    uint32_t key = account_id_slot(body.portfolio.account_id);
    INVARIANT(key < log->payments.key_count);
    struct payment_row *row = history_ring_add(&log->payments, key, effect->sequence, index);
    row->account_id = body.portfolio.account_id;
    row->subaccount_index = body.portfolio.subaccount_index;
    row->portfolio_index = body.portfolio.portfolio_index;
    row->payment = body.payment;
    row->size = body.size;
    row->rate_ppb = body.rate_ppb;
    row->time_ns = effect->t_ns;
    row->asset_id = body.asset_id;
    read_funding_epoch(effect->engine, body.asset_id, &row->hour_ns, &row->index_price);
    log->unnamed = row;
}

static void add_rate(struct money_log *log, const struct effect *effect, uint32_t index)
{
    struct effect_funding_epoch body;

    memcpy(&body, effect->bytes, sizeof body);
    if (body.open == 0)
        return;
    struct rate_row *row = history_ring_add(&log->rates, body.asset_id, effect->sequence, index);
    row->rate_ppb = body.rate_ppb;
    row->index_price = body.index;
    row->hour_ns = body.hour;
    row->time_ns = effect->t_ns;
    row->asset_id = body.asset_id;
}

static void add_liquidation(struct money_log *log, const struct effect *effect, uint32_t index)
{
    struct effect_liquidation body;

    memcpy(&body, effect->bytes, sizeof body);
    struct liquidation_row *row =
        history_ring_add(&log->liquidations, body.asset_id, effect->sequence, index);
    row->price = body.price;
    row->size = body.size < 0 ? 0 - (uint64_t)body.size : (uint64_t)body.size;
    row->time_ns = effect->t_ns;
    row->asset_id = body.asset_id;
    row->side = body.size < 0 ? ORDER_SHORT : ORDER_LONG;
    row->level = body.level;
}

/* R2: which id a row of the ledger refers to. */
static bool find_ref(const struct effect *effect, const struct effect_cash *body, uint8_t id[16])
{
    struct uuid made;

    switch ((enum effect_cash_kind)body->kind) {
    case CASH_trade:
    case CASH_fee:
    case CASH_funding:
    case CASH_liquidation:
    case CASH_adl:
        if (body->kind == CASH_funding && body->portfolio.account_id == 0)
            return false; /* what remains in a pool */
        made = uuid_engine(effect->t_ns, effect->sequence, (uint32_t)body->ref);
        memcpy(id, made.bytes, sizeof made.bytes);
        return true;
    case CASH_transfer:
    case CASH_deposit:
    case CASH_withdrawal:
        if (command_request_id(effect->command) == NULL)
            return false;
        memcpy(id, command_request_id(effect->command), REQUEST_ID_BYTES);
        return true;
    case CASH_withdrawal_reverted:
        memcpy(id, command_body(effect->command) + SETTLE_AT_WITHDRAWAL_ID, UUID_BYTES);
        return true;
    case CASH_faucet:
    case CASH_fund:
    case CASH_settlement:
        break;
    }
    return false;
}

/* Rows of the ledger that a fill or a payment has made name no market: it is theirs. */
static bool is_of_former(const struct effect_cash *body)
{
    uint8_t kind = body->kind;

    return kind == CASH_trade || kind == CASH_fee || kind == CASH_liquidation || kind == CASH_adl ||
           (kind == CASH_funding && body->portfolio.account_id != 0);
}

static void fill_movement(struct house_row *row, const struct money_log *log,
                          const struct effect *effect, const struct effect_cash *body,
                          int64_t amount, int64_t balance_after)
{
    row->amount = amount;
    row->balance_after = balance_after;
    row->time_ns = effect->t_ns;
    row->asset_id = is_of_former(body) ? log->asset_id : effect->asset_id;
    row->kind = body->kind;
    row->has_ref = find_ref(effect, body, row->ref_id);
}

static void add_house(struct money_log *log, enum money_house house, const struct effect *effect,
                      const struct effect_cash *body, int64_t amount, int64_t balance_after,
                      uint32_t index)
{
    struct house_row *row = history_ring_add(&log->houses[house], 0, effect->sequence, index);

    fill_movement(row, log, effect, body, amount, balance_after);
}

static void add_to_ledger(struct money_log *log, const struct effect *effect,
                          const struct effect_cash *body, uint32_t index)
{
    uint32_t key = account_id_slot(body->portfolio.account_id);

    INVARIANT(key < log->cash.key_count);
    struct cash_row *row = history_ring_add(&log->cash, key, effect->sequence, index);

    fill_movement(&row->movement, log, effect, body, body->amount, body->balance_after);
    row->account_id = body->portfolio.account_id;
    row->subaccount_index = body->portfolio.subaccount_index;
    row->portfolio_index = body->portfolio.portfolio_index;
}

static void add_cash(struct money_log *log, const struct effect *effect, uint32_t index)
{
    struct effect_cash body;
    int64_t fund, fees;

    memcpy(&body, effect->bytes, sizeof body);
    if (log->unnamed != NULL && body.kind == CASH_funding) {
        log->asset_id = log->unnamed->asset_id;
        struct uuid id = uuid_engine(effect->t_ns, effect->sequence, (uint32_t)body.ref);
        memcpy(log->unnamed->id, id.bytes, sizeof log->unnamed->id);
        log->unnamed = NULL;
    }
    if (body.portfolio.account_id == 0) {
        add_house(log, MONEY_FUND, effect, &body, body.amount, body.balance_after, index);
        return;
    }
    add_to_ledger(log, effect, &body, index);
    bool by_fund = body.amount > 0 && log->liquidation_sequence == effect->sequence;
    if (body.kind != CASH_fee || by_fund)
        return;
    /* The effect comes before the account is credited. */
    read_house(effect->engine, &fund, &fees);
    add_house(log, MONEY_FEES, effect, &body, -body.amount, fees - body.amount, index);
}

void money_log_append(struct money_log *log, const struct effect *effect, uint32_t index)
{
    struct effect_trade trade;

    switch (effect->code) {
    case EFFECT_funding_payment:
        add_payment(log, effect, index);
        break;
    case EFFECT_funding_epoch:
        add_rate(log, effect, index);
        break;
    case EFFECT_liquidation: /* after its fills, so that its index is its own */
        add_liquidation(log, effect, index);
        break;
    case EFFECT_cash:
        add_cash(log, effect, index);
        break;
    case EFFECT_fill:
        log->asset_id = effect->asset_id;
        break;
    case EFFECT_trade:
        memcpy(&trade, effect->bytes, sizeof trade);
        log->liquidation_sequence = (trade.flags & TRADE_LIQUIDATION) != 0 ? effect->sequence : 0;
        break;
    default:
        break;
    }
}

void money_log_show_payment(const struct payment_row *payment, const struct market_names *names,
                            struct row_payment *row)
{
    const struct market_name *market = market_names_of(names, payment->asset_id);

    *row = (struct row_payment){
        .account_id = payment->account_id,
        .subaccount_index = payment->subaccount_index,
        .portfolio_index = payment->portfolio_index,
        .payment = payment->payment,
        .size = payment->size,
        .rate_ppb = payment->rate_ppb,
        .index_price = payment->index_price,
        .hour_ns = payment->hour_ns,
        .time_ns = payment->time_ns,
        .sequence = payment->link.sequence,
        .index = payment->link.index,
        .price_decimals = market->price_decimals,
        .size_decimals = market->size_decimals,
    };
    memcpy(row->id, payment->id, sizeof row->id);
    memcpy(row->market, market->symbol, sizeof row->market);
}

void money_log_show_rate(const struct rate_row *rate, struct row_rate *row)
{
    *row = (struct row_rate){
        .rate_ppb = rate->rate_ppb,
        .index_price = rate->index_price,
        .hour_ns = rate->hour_ns,
        .time_ns = rate->time_ns,
        .sequence = rate->link.sequence,
        .index = rate->link.index,
    };
}

void money_log_show_liquidation(const struct liquidation_row *liquidation,
                                struct row_liquidation *row)
{
    *row = (struct row_liquidation){
        .price = liquidation->price,
        .size = liquidation->size,
        .time_ns = liquidation->time_ns,
        .sequence = liquidation->link.sequence,
        .index = liquidation->link.index,
        .side = liquidation->side,
        .level = liquidation->level,
    };
}

void money_log_show_cash(const struct cash_row *cash, const struct market_names *names,
                         struct row_cash *row)
{
    money_log_show_house(&cash->movement, names, &row->movement);
    row->account_id = cash->account_id;
    row->subaccount_index = cash->subaccount_index;
    row->portfolio_index = cash->portfolio_index;
}

void money_log_show_house(const struct house_row *house, const struct market_names *names,
                          struct row_house *row)
{
    *row = (struct row_house){
        .amount = house->amount,
        .balance_after = house->balance_after,
        .time_ns = house->time_ns,
        .sequence = house->link.sequence,
        .index = house->link.index,
        .kind = house->kind,
        .has_ref = house->has_ref,
    };
    memcpy(row->ref_id, house->ref_id, sizeof row->ref_id);
    if (house->asset_id != 0)
        memcpy(row->market, market_names_of(names, house->asset_id)->symbol, sizeof row->market);
}
