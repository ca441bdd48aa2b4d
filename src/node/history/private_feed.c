#include "node/history/private_feed.h"

#include "base/message.h"
#include "base/reason.h"
#include "engine/table/order_state.h"
#include "engine/view/read.h"
#include "engine/view/read_positions.h"
#include "node/history/history.h"

enum {
    TRANSFER_AT_TO_SUBACCOUNT = 24, /* in the body of code 9 (wire.md W3) */
    TRANSFER_AT_TO_PORTFOLIO = 28,
};

static struct private_event event_of(const struct effect *effect, enum private_kind kind,
                                     const struct effect_portfolio_id *portfolio)
{
    return (struct private_event){
        .account_id = portfolio->account_id,
        .seq = read_private_seq(effect->engine, portfolio->account_id),
        .sequence = effect->sequence,
        .time_ns = effect->t_ns,
        .subaccount_index = portfolio->subaccount_index,
        .portfolio_index = portfolio->portfolio_index,
        .kind = (uint8_t)kind,
    };
}

/* Whether anybody wants the events. */
static bool is_wanted(const struct private_feed *feed, const struct history *history)
{
    return feed->log != NULL || history->privates.most != 0;
}

static void add(const struct private_feed *feed, struct history *history,
                const struct private_event *event)
{
    if (feed->log != NULL)
        private_log_add(feed->log, event);
    if (history->privates.most != 0)
        private_keep_add(&history->privates, event);
}

static const struct market_name *name_of(struct history *history, const struct effect *effect,
                                         uint16_t asset_id)
{
    market_names_refresh(&history->names, effect->engine);
    return market_names_of(&history->names, asset_id);
}

/* ---- orders and fills ------------------------------------------------------------------------ */

/* Whether the order changed by what the command asks for, and not by what follows from it. */
static bool is_asked_for(const struct private_feed *feed, const struct effect *effect,
                         const struct order_summary *order)
{
    const struct command *command = effect->command;

    if (command_request_id(command) == NULL || command->code > REQUEST_order_batch ||
        cc_load64(command_body(command)) != order->account_id || order->status == ORDER_EXPIRED)
        return false;
    if (feed->answered == effect->sequence) /* deferred work, which carries out a cancel-all */
        return command->code == REQUEST_cancel_all_orders && order->reason == REASON_cancel_all;
    switch ((enum reason)order->reason) {
    case REASON_oco:
    case REASON_dead_man:
    case REASON_disconnect:
    case REASON_mmp:
    case REASON_liquidation:
    case REASON_market_state:
    case REASON_operator:
        return false;
    case REASON_reduce_only: /* another order's fill has ended it, unless it is the new one */
        return order->sequence == effect->sequence;
    default:
        return true;
    }
}

void private_feed_order(struct private_feed *feed, struct history *history,
                        const struct effect *effect, const struct order_summary *order)
{
    const struct effect_portfolio_id portfolio = { order->account_id, order->subaccount_index,
                                                   order->portfolio_index };
    struct row_order record;

    if (!is_wanted(feed, history) || order->account_id == 0)
        return;
    (void)name_of(history, effect, order->asset_id);
    struct private_event event = event_of(effect, PRIVATE_ORDER, &portfolio);
    order_summary_show(order, &history->names, &event.order.row);
    if (effect->record != EFFECT_NO_RECORD && (effect->record & EFFECT_CONDITIONAL) == 0 &&
        !order_summary_is_final(order)) {
        read_order_record(effect->engine, effect->record, &record);
        event.order.row.book_handle = record.book_handle;
    }
    if (is_asked_for(feed, effect, order))
        memcpy(event.order.request_id, command_request_id(effect->command),
               sizeof event.order.request_id);
    add(feed, history, &event);
}

static void add_fill(struct private_feed *feed, struct history *history,
                     const struct effect *effect)
{
    const struct history_ring *fills = &history->fills.fills;
    const struct fill_row *row = history_ring_at(fills, fills->added - 1);
    const struct effect_portfolio_id portfolio = { row->account_id, row->subaccount_index,
                                                   row->portfolio_index };

    if (row->account_id == 0)
        return;
    (void)name_of(history, effect, row->asset_id);
    struct private_event event = event_of(effect, PRIVATE_FILL, &portfolio);
    fill_log_show_fill(row, &history->names, &event.fill);
    add(feed, history, &event);
}

static void add_position(struct private_feed *feed, struct history *history,
                         const struct effect *effect)
{
    struct effect_position body;

    memcpy(&body, effect->bytes, sizeof body);
    if (body.portfolio.account_id == 0)
        return;
    const struct market_name *market = name_of(history, effect, body.asset_id);
    struct private_event event = event_of(effect, PRIVATE_POSITION, &body.portfolio);
    event.position = (struct private_position){
        .size = body.size,
        .cost = body.cost,
        .net_funding = body.net_funding,
        .price_decimals = market->price_decimals,
        .size_decimals = market->size_decimals,
    };
    memcpy(event.position.market, market->symbol, sizeof event.position.market);
    read_positions_id(effect->engine, effect->record, event.position.id);
    add(feed, history, &event);
}

/* ---- cash ------------------------------------------------------------------------------------ */

/* What came in by a 2104, or goes to another portfolio of the account; its seq follows that of the
 * balance. */
static void add_transfer(struct private_feed *feed, struct history *history,
                         const struct effect *effect, const struct effect_cash *cash)
{
    struct private_event event = event_of(effect, PRIVATE_TRANSFER, &cash->portfolio);
    const uint8_t *body = command_body(effect->command);

    if (cash->kind == CASH_transfer)
        event.transfer = (struct private_transfer){
            .kind = PRIVATE_TRANSFER_BETWEEN,
            .amount = -cash->amount,
            .from_subaccount = cash->portfolio.subaccount_index,
            .from_portfolio = cash->portfolio.portfolio_index,
            .to_subaccount = cc_load32(body + TRANSFER_AT_TO_SUBACCOUNT),
            .to_portfolio = cc_load32(body + TRANSFER_AT_TO_PORTFOLIO),
        };
    else
        event.transfer = (struct private_transfer){
            .kind = cash->kind == CASH_deposit ? PRIVATE_TRANSFER_DEPOSIT : PRIVATE_TRANSFER_FAUCET,
            .amount = cash->amount,
            .from_subaccount = PRIVATE_OUTSIDE,
            .from_portfolio = PRIVATE_OUTSIDE,
            .to_subaccount = cash->portfolio.subaccount_index,
            .to_portfolio = cash->portfolio.portfolio_index,
        };
    add(feed, history, &event);
}

/* A payment, which has its id by now: the 2104 after its 2105 has brought it. */
static void add_payment(struct private_feed *feed, struct history *history,
                        const struct effect *effect, const struct private_event *balance)
{
    const struct history_ring *payments = &history->money.payments;
    struct private_event event = *balance;

    event.kind = PRIVATE_FUNDING;
    event.seq--;
    market_names_refresh(&history->names, effect->engine); /* a 2104 names no market */
    money_log_show_payment(history_ring_at(payments, payments->added - 1), &history->names,
                           &event.payment);
    add(feed, history, &event);
}

static void add_cash(struct private_feed *feed, struct history *history,
                     const struct effect *effect)
{
    const struct history_ring *rows = &history->money.cash;
    struct effect_cash body;

    memcpy(&body, effect->bytes, sizeof body);
    if (body.portfolio.account_id == 0)
        return;
    bool is_transfer = body.kind == CASH_deposit || body.kind == CASH_faucet ||
                       (body.kind == CASH_transfer && body.amount < 0);
    struct private_event event = event_of(effect, PRIVATE_BALANCE, &body.portfolio);
    event.seq -= is_transfer;
    if (body.kind == CASH_funding)
        add_payment(feed, history, effect, &event);
    market_names_refresh(&history->names, effect->engine);
    money_log_show_cash(history_ring_at(rows, rows->added - 1), &history->names, &event.cash);
    add(feed, history, &event);
    if (is_transfer)
        add_transfer(feed, history, effect, &body);
}

static void add_withdrawal(struct private_feed *feed, struct history *history,
                           const struct effect *effect)
{
    struct effect_withdrawal body;

    memcpy(&body, effect->bytes, sizeof body);
    bool is_back = body.outcome == WITHDRAWAL_REVERTED;
    struct private_event event = event_of(effect, PRIVATE_TRANSFER, &body.portfolio);
    event.transfer = (struct private_transfer){
        .kind = is_back                              ? PRIVATE_TRANSFER_REVERTED
                : body.outcome == WITHDRAWAL_SETTLED ? PRIVATE_TRANSFER_SETTLED
                                                     : PRIVATE_TRANSFER_WITHDRAWAL,
        .amount = (int64_t)body.amount,
        .from_subaccount = is_back ? PRIVATE_OUTSIDE : body.portfolio.subaccount_index,
        .from_portfolio = is_back ? PRIVATE_OUTSIDE : body.portfolio.portfolio_index,
        .to_subaccount = is_back ? body.portfolio.subaccount_index : PRIVATE_OUTSIDE,
        .to_portfolio = is_back ? body.portfolio.portfolio_index : PRIVATE_OUTSIDE,
    };
    memcpy(event.transfer.withdrawal_id, body.withdrawal_id, sizeof event.transfer.withdrawal_id);
    add(feed, history, &event);
}

/* ---- what happens to a portfolio or an account ----------------------------------------------- */

/* Fills what a change of the status and an action both show. */
static struct private_event liquidation_of(const struct effect *effect,
                                           const struct effect_portfolio_id *portfolio)
{
    struct private_event event = event_of(effect, PRIVATE_LIQUIDATION, portfolio);
    struct row_balance row;
    bool is_there = read_balance(effect->engine, portfolio->account_id, portfolio->subaccount_index,
                                 portfolio->portfolio_index, &row);

    INVARIANT(is_there);
    event.liquidation = (struct private_liquidation){
        .equity = row.equity,
        .maintenance = row.maintenance_margin,
        .status = row.status,
    };
    return event;
}

static void add_status(struct private_feed *feed, struct history *history,
                       const struct effect *effect)
{
    struct effect_portfolio_state body;

    memcpy(&body, effect->bytes, sizeof body);
    if (body.portfolio.account_id == 0)
        return;
    struct private_event event = liquidation_of(effect, &body.portfolio);
    event.liquidation.status = body.status;
    add(feed, history, &event);
}

static void add_liquidation(struct private_feed *feed, struct history *history,
                            const struct effect *effect)
{
    struct effect_liquidation body;

    memcpy(&body, effect->bytes, sizeof body);
    if (body.portfolio.account_id == 0)
        return;
    const struct market_name *market = name_of(history, effect, body.asset_id);
    struct private_event event = liquidation_of(effect, &body.portfolio);
    event.liquidation.price = body.price;
    event.liquidation.size = -body.size; /* which leaves the position */
    event.liquidation.level = body.level;
    event.liquidation.price_decimals = market->price_decimals;
    event.liquidation.size_decimals = market->size_decimals;
    memcpy(event.liquidation.market, market->symbol, sizeof event.liquidation.market);
    add(feed, history, &event);
}

static void add_mmp(struct private_feed *feed, struct history *history, const struct effect *effect)
{
    struct effect_mmp body;

    memcpy(&body, effect->bytes, sizeof body);
    struct private_event event = event_of(effect, PRIVATE_MMP, &body.portfolio);
    event.mmp.frozen_until_ns = body.frozen_until;
    memcpy(event.mmp.market, name_of(history, effect, body.asset_id)->symbol,
           sizeof event.mmp.market);
    add(feed, history, &event);
}

static void add_session(struct private_feed *feed, struct history *history,
                        const struct effect *effect)
{
    struct effect_credential body;
    struct read_credential view;

    memcpy(&body, effect->bytes, sizeof body);
    const struct effect_portfolio_id nowhere = { body.account_id, PRIVATE_OUTSIDE,
                                                 PRIVATE_OUTSIDE };
    struct private_event event = event_of(effect, PRIVATE_SESSION, &nowhere);
    read_credential(effect->engine, effect->record, &view);
    event.session = (struct private_session){ .kind = body.kind, .action = body.action };
    memcpy(event.session.id, view.id, sizeof event.session.id);
    memcpy(event.session.key, view.key, sizeof event.session.key);
    add(feed, history, &event);
}

void private_feed_add(struct private_feed *feed, struct history *history,
                      const struct effect *effect)
{
    if (!is_wanted(feed, history))
        return;
    switch ((enum effect_code)effect->code) {
    case EFFECT_answer: {
        struct effect_answer body;
        memcpy(&body, effect->bytes, sizeof body);
        if (body.item == EFFECT_NO_ITEM)
            feed->answered = effect->sequence;
        break;
    }
    case EFFECT_fill:
        add_fill(feed, history, effect);
        break;
    case EFFECT_position:
        add_position(feed, history, effect);
        break;
    case EFFECT_cash:
        add_cash(feed, history, effect);
        break;
    case EFFECT_portfolio_state:
        add_status(feed, history, effect);
        break;
    case EFFECT_liquidation:
        add_liquidation(feed, history, effect);
        break;
    case EFFECT_mmp:
        add_mmp(feed, history, effect);
        break;
    case EFFECT_credential:
        add_session(feed, history, effect);
        break;
    case EFFECT_withdrawal:
        add_withdrawal(feed, history, effect);
        break;
    default:
        break;
    }
}
