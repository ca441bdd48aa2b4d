#include "engine/view/read.h"

#include "base/money.h"
#include "base/uuid.h"
#include "engine/account/cash.h"
#include "engine/price/mark.h"
#include "engine/price/premium.h"
#include "engine/risk/fee.h"
#include "engine/risk/fund.h"
#include "engine/risk/margin.h"
#include "engine/state/portfolio_row.h"
#include "engine/table/market_change.h"
#include "engine/trade/resting.h"

static_assert((int)ROW_TIERS_MAX == (int)MARKET_TIERS_MAX &&
                  (int)ROW_FEE_TIERS == (int)MARKET_FEE_TIERS,
              "a row shows a whole record");

void read_order_record(const struct engine *engine, uint32_t index, struct row_order *row)
{
    if ((index & EFFECT_CONDITIONAL) != 0) {
        conditional_record(engine, index & ~EFFECT_CONDITIONAL, row);
        return;
    }
    const struct order *order = &engine->orders.hot[index];
    const struct market *market = &engine->markets.rows[order->market];
    const struct holding *holding = &engine->holdings.rows[order->holding];
    const struct portfolio *portfolio = &engine->portfolios.rows[holding->portfolio];
    uint64_t rank = order_rank(&engine->orders, index);
    bool ended = order_state_is_final((enum order_state)order->state); /* now */

    *row = (struct row_order){
        .account_id = state_account_id(engine, portfolio->account),
        .subaccount_index = portfolio->subaccount_index,
        .portfolio_index = portfolio->portfolio_index,
        .initial = order_initial(&engine->orders, index),
        .remaining = order->remaining,
        .filled = order_filled(&engine->orders, index),
        .filled_notional = order_filled_notional(&engine->orders, index),
        .price = resting_price(engine, order),
        .expiry = order_expiry(&engine->orders, index),
        .sequence = rank >> ORDER_STAMP_BITS,
        .time_ns = engine->orders.cold[index].placed_ns,
        .updated_at_ns = ended ? engine->t_ns : order_updated_ns(&engine->orders, index),
        .index = (uint16_t)rank,
        .status = order->state,
        .order_type = order->order_type,
        .side = order->side,
        .reason = order->reason,
        .post_only = (order->flags & ORDER_POST_ONLY) != 0,
        .reduce_only = (order->flags & ORDER_REDUCE_ONLY) != 0,
        .stp = order_stp(order),
        .price_decimals = market->record.price_decimals,
        .size_decimals = market->record.size_decimals,
        .book_handle = ended ? 0 : engine->orders.cold[index].handle,
    };
    memcpy(row->id, order->id, sizeof row->id);
    memcpy(row->market, market->record.symbol, sizeof row->market);
    if (conditional_is_kind(order->order_type))
        conditional_add_origin(engine, index, row);
}

void read_order_queued(const struct engine *engine, uint32_t index, struct row_book_order *row)
{
    INVARIANT((index & EFFECT_CONDITIONAL) == 0);
    *row = (struct row_book_order){
        .size = engine->orders.hot[index].remaining,
        .handle = engine->orders.cold[index].handle,
    };
}

void read_order_shown(const struct engine *engine, uint32_t index, struct row_order *row)
{
    uint8_t reason;
    enum order_state death = (index & EFFECT_CONDITIONAL) != 0
                                 ? conditional_death(engine, index & ~EFFECT_CONDITIONAL, &reason)
                                 : resting_death(engine, index, &reason);

    read_order_record(engine, index, row);
    if (death != ORDER_NEW) {
        row->status = (uint8_t)death;
        row->reason = reason;
        row->book_handle = 0;
    }
}

bool read_order(const struct engine *engine, uint64_t account_id, const uint8_t id[16], int32_t pin,
                struct row_order *row)
{
    uint64_t words[2] = { cc_load64(id), cc_load64(id + 8) };

    uint32_t account = account_find(engine, account_id);
    if (account == ACCOUNT_NONE)
        return false;
    uint64_t hash = mix_id(engine->key, account, id);
    uint32_t order = order_map_find(&engine->order_map, hash, account, words);
    if (order == ORDER_NONE) {
        order = conditional_find(engine, account, id, hash);
        if (order == CONDITIONAL_NONE)
            return false;
        order |= EFFECT_CONDITIONAL;
    }
    read_order_shown(engine, order, row);
    return pin == CREDENTIAL_NO_PIN || (uint32_t)pin == row->subaccount_index;
}

/* A portfolio that has no row, or none: false. */
static bool closed_balance(const struct engine *engine, uint64_t account_id,
                           uint32_t subaccount_index, uint32_t portfolio_index,
                           struct row_balance *row)
{
    *row = (struct row_balance){
        .account_id = account_id,
        .subaccount_index = subaccount_index,
        .portfolio_index = portfolio_index,
        .status = PORTFOLIO_CLOSED,
    };
    portfolio_row_first_name((uint8_t *)row->name, portfolio_index);
    return portfolio_row_is_gone(engine, account_find(engine, account_id), subaccount_index,
                                 portfolio_index);
}

bool read_balance(const struct engine *engine, uint64_t account_id, uint32_t subaccount_index,
                  uint32_t portfolio_index, struct row_balance *row)
{
    uint32_t index =
        portfolio_find(engine, account_find(engine, account_id), subaccount_index, portfolio_index);
    struct margin_view view;

    if (index == PORTFOLIO_NONE)
        return closed_balance(engine, account_id, subaccount_index, portfolio_index, row);
    const struct portfolio *portfolio = &engine->portfolios.rows[index];
    margin_view(engine, index, &view);
    *row = (struct row_balance){
        .account_id = account_id,
        .subaccount_index = subaccount_index,
        .portfolio_index = portfolio_index,
        .cash_balance = view.withdrawable > 0 ? money_clamp(view.withdrawable) : 0,
        .withdrawable = money_clamp(view.withdrawable),
        .equity = view.equity,
        .initial_margin = view.initial,
        .maintenance_margin = view.maintenance,
        .withdrawable_now = cash_withdrawable_now(engine, index, view.withdrawable),
        .status = portfolio->status,
    };
    memcpy(row->name, portfolio->name, sizeof row->name);
    return true;
}

bool read_portfolio_from(const struct engine *engine, uint64_t account_id,
                         uint32_t *subaccount_index, uint32_t *portfolio_index)
{
    uint32_t account = account_find(engine, account_id);
    uint32_t count = subaccount_portfolio_count(engine, account, *subaccount_index);

    if (count == 0 || *portfolio_index < count)
        return count != 0;
    if (subaccount_portfolio_count(engine, account, *subaccount_index + 1) == 0)
        return false;
    *subaccount_index += 1;
    *portfolio_index = 0; /* every subaccount has one */
    return true;
}

bool read_subaccount_begin(const struct engine *engine, uint64_t account_id,
                           uint32_t subaccount_index, struct row_subaccount *row)
{
    uint32_t account = account_find(engine, account_id);

    *row = (struct row_subaccount){ .subaccount_index = subaccount_index,
                                    .status = SUBACCOUNT_CLOSED };
    if (subaccount_is_open(engine, account, subaccount_index))
        row->status = SUBACCOUNT_ACTIVE;
    return subaccount_portfolio_count(engine, account, subaccount_index) != 0;
}

uint32_t read_subaccount_add(const struct engine *engine, uint64_t account_id,
                             uint32_t *portfolio_index, uint32_t most, struct row_subaccount *row)
{
    uint32_t account = account_find(engine, account_id);
    uint32_t count = subaccount_portfolio_count(engine, account, row->subaccount_index);

    for (; *portfolio_index < count && most > 0; ++*portfolio_index, most--) {
        uint32_t at = portfolio_find(engine, account, row->subaccount_index, *portfolio_index);
        struct margin_view view;
        if (portfolio_is_closed(engine, at))
            continue;
        margin_view(engine, at, &view);
        row->portfolio_count++;
        row->cash_balance += view.withdrawable > 0 ? money_clamp(view.withdrawable) : 0;
    }
    return *portfolio_index < count ? count - *portfolio_index : 0;
}

void read_classes(const struct engine *engine, struct engine_sink *sink)
{
    for (uint32_t i = 0; i < engine->accounts.count; i++)
        if (engine->accounts.rows[i].status != ACCOUNT_FREE)
            sink->classify(sink, state_account_id(engine, i), engine->accounts.rows[i].share_class);
}

bool read_account(const struct engine *engine, uint64_t account_id, struct row_account *row)
{
    uint32_t slot = account_find(engine, account_id);
    const struct account *account = &engine->accounts.rows[slot];
    const struct market_table *markets = &engine->markets;

    if (slot == ACCOUNT_NONE)
        return false;
    *row = (struct row_account){
        .account_id = account_id,
        .volume_14d = fee_volume(account, engine->t_ns),
        .subaccount_count = account->subaccount_count,
        .status = account->status,
        .fee_tier = fee_tier(account, engine->t_ns),
        .private_seq = account->private_seq,
    };
    memcpy(row->label, account->label, sizeof row->label);
    row->share_class = account->share_class;
    for (uint32_t i = 0; i < SHARE_TABLE_COUNT; i++) {
        row->slots_used[i] = account->counts[i];
        row->slots_bound[i] = share_cap(engine, slot, (enum share_table)i);
    }
    if (markets->count > 0) { /* markets have the rates; all of W10 have the same */
        const struct market_record *record = &markets->rows[markets->sorted[0]].record;
        row->maker_fee_ppm = record->maker_ppm[row->fee_tier];
        row->taker_fee_ppm = record->taker_ppm[row->fee_tier];
    }
    return true;
}

bool read_account_at(const struct engine *engine, uint32_t slot, uint64_t *account_id)
{
    if (slot >= engine->accounts.count)
        return false;
    *account_id = state_account_id(engine, slot);
    return true;
}

bool read_account_has_gone(const struct engine *engine, uint64_t account_id)
{
    uint32_t slot = account_id_slot(account_id);

    return slot < engine->accounts.count && state_account_id(engine, slot) != account_id;
}

uint64_t read_private_seq(const struct engine *engine, uint64_t account_id)
{
    return engine->accounts.rows[account_id_slot(account_id)].private_seq;
}

uint32_t read_market_count(const struct engine *engine)
{
    return engine->markets.count;
}

static void fill_tiers(struct row_tier *rows, const struct market_tier *tiers, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++)
        rows[k] = (struct row_tier){
            .upper_notional = tiers[k].upper_notional == UINT64_MAX ? 0 : tiers[k].upper_notional,
            .max_leverage = tiers[k].max_leverage,
            .imr_ppm = tiers[k].imr_ppm,
            .mmr_ppm = tiers[k].mmr_ppm,
        };
}

static void fill_market(const struct market *market, struct row_market *row)
{
    const struct market_record *record = &market->record;

    *row = (struct row_market){
        .tick_size = record->tick_size,
        .lot_size = record->lot_size,
        .min_size = record->min_size,
        .max_order_size = record->max_order_size,
        .min_notional = record->min_notional,
        .impact_notional = record->impact_notional,
        .max_price = record->max_price,
        .max_leverage = record->max_leverage,
        .price_band_ppm = record->price_band_ppm,
        .max_slippage_ppm = record->max_slippage_ppm,
        .asset_id = record->asset_id,
        .price_decimals = record->price_decimals,
        .size_decimals = record->size_decimals,
        .state = market->state,
        .tier_count = (uint8_t)record->tier_count,
        .next_tier_count = (uint8_t)market->next_tier_count,
        .effective_at_ns = record->effective_at_ns,
        .position_limit = record->position_limit,
        .open_interest_limit = record->open_interest_limit,
        .mark_book_ppm = market_record_book_ppm(record),
        .oracle_sources_min = record->oracle_sources_min,
    };
    memcpy(row->market, record->symbol, sizeof row->market);
    memcpy(row->base, record->base, sizeof row->base);
    memcpy(row->maker_fee_ppm, record->maker_ppm, sizeof row->maker_fee_ppm);
    memcpy(row->taker_fee_ppm, record->taker_ppm, sizeof row->taker_fee_ppm);
    fill_tiers(row->tiers, record->tiers, record->tier_count);
    fill_tiers(row->next_tiers, market->next_tiers, market->next_tier_count);
}

void read_market(const struct engine *engine, uint32_t k, struct row_market *row)
{
    INVARIANT(k < engine->markets.count);
    fill_market(&engine->markets.rows[engine->markets.sorted[k]], row);
}

static const struct market *market_named(const struct engine *engine, const char symbol[32])
{
    for (uint32_t i = 0; i < engine->markets.count; i++)
        if (memcmp(engine->markets.rows[i].record.symbol, symbol, MARKET_SYMBOL_BYTES) == 0)
            return &engine->markets.rows[i];
    return NULL;
}

bool read_market_named(const struct engine *engine, const char symbol[32], struct row_market *row)
{
    const struct market *market = market_named(engine, symbol);

    if (market == NULL)
        return false;
    fill_market(market, row);
    return true;
}

bool read_market_is(const struct engine *engine, const uint8_t *text, size_t text_bytes)
{
    struct market_record wanted, stands;

    if (!market_record_parse(&wanted, text, text_bytes))
        return false;
    uint32_t index = market_find(engine, wanted.asset_id);
    if (index == MARKET_NONE)
        return false;
    const struct market *market = &engine->markets.rows[index];
    stands = market->record;
    if (market->next_tier_count != 0) {
        memcpy(stands.tiers, market->next_tiers, sizeof stands.tiers);
        stands.tier_count = market->next_tier_count;
        stands.max_leverage = market->next_max_leverage;
    }
    if (!market_change_keep_absent(&wanted, &stands))
        return false;
    /* The first state and the time of a change only matter when they are given. */
    wanted.state = stands.state = 0;
    wanted.effective_at_ns = stands.effective_at_ns = 0;
    return memcmp(&wanted, &stands, sizeof wanted) == 0;
}

static uint32_t fill_levels(const struct market *market, enum order_side side, uint32_t depth,
                            struct row_level *levels)
{
    const struct book *book = &market->book;
    uint32_t count = 0;

    for (uint32_t tick = book_best(book, side); tick != BOOK_TICK_NONE && count < depth;
         tick = book_next(book, side, tick))
        levels[count++] = (struct row_level){
            .price = book_price(book, side, tick) * market->record.tick_size,
            .size = book_quantity(book, side, tick),
        };
    return count;
}

uint64_t read_book_seq(const struct engine *engine, uint16_t asset_id)
{
    uint32_t index = market_find(engine, asset_id);

    return index == MARKET_NONE ? 0 : engine->markets.rows[index].book_seq;
}

static uint32_t fill_orders(const struct engine *engine, const struct market *market,
                            enum order_side side, uint32_t limit, struct row_book_order *orders)
{
    const struct book *book = &market->book;
    uint32_t count = 0;

    for (uint32_t tick = book_best(book, side); tick != BOOK_TICK_NONE && count < limit;
         tick = book_next(book, side, tick)) {
        uint64_t price = book_price(book, side, tick) * market->record.tick_size;
        uint32_t at = book_head(book, side, tick);
        for (; at != ORDER_NONE && count < limit; at = engine->orders.hot[at].next)
            orders[count++] = (struct row_book_order){
                .price = price,
                .size = engine->orders.hot[at].remaining,
                .handle = engine->orders.cold[at].handle,
            };
    }
    return count;
}

/* Begins the row of a book. NULL: no such market. */
static const struct market *begin_book(const struct engine *engine, const char symbol[32],
                                       struct row_book *row)
{
    const struct market *market = market_named(engine, symbol);

    if (market == NULL)
        return NULL;
    *row = (struct row_book){
        .book_seq = market->book_seq,
        .price_decimals = market->record.price_decimals,
        .size_decimals = market->record.size_decimals,
    };
    memcpy(row->market, market->record.symbol, sizeof row->market);
    return market;
}

bool read_book_orders(const struct engine *engine, const char symbol[32], uint32_t limit,
                      struct row_book *row, struct row_book_order *orders)
{
    const struct market *market = begin_book(engine, symbol, row);

    if (market == NULL)
        return false;
    row->bid_count = fill_orders(engine, market, ORDER_LONG, limit, orders);
    row->ask_count = fill_orders(engine, market, ORDER_SHORT, limit, orders + row->bid_count);
    return true;
}

bool read_book(const struct engine *engine, const char symbol[32], uint32_t depth,
               struct row_book *row, struct row_level *levels)
{
    const struct market *market = begin_book(engine, symbol, row);

    if (market == NULL)
        return false;
    row->bid_count = fill_levels(market, ORDER_LONG, depth, levels);
    row->ask_count = fill_levels(market, ORDER_SHORT, depth, levels + row->bid_count);
    return true;
}

void read_credential(const struct engine *engine, uint32_t index, struct read_credential *view)
{
    const struct credential *credential = &engine->credentials.rows[index];

    INVARIANT(index != CREDENTIAL_NONE && index <= engine->credentials.slots.laid_out);
    *view = (struct read_credential){
        .account_id = state_account_id(engine, credential->account),
        .expires_ns = credential->expires_ns,
        .pin = credential->pin,
        .kind = credential_effect_kind(credential),
        .scope = credential->scope,
        .key_bytes = credential->key_bytes,
        .is_admin = credential_is_admin(credential),
        .created_ns = credential->created_ns,
    };
    memcpy(view->key, credential->key, sizeof view->key);
    credential_id(credential, view->id);
    if (credential->passkey != PASSKEY_NONE) {
        const struct passkey *passkey = &engine->passkeys.rows[credential->passkey];
        view->passkey_id = passkey->id;
        view->passkey_id_bytes = passkey->id_bytes;
    }
}

static bool is_of_closed(const struct engine *engine, const struct credential *credential)
{
    return engine->accounts.rows[credential->account].status == ACCOUNT_CLOSED;
}

bool read_credential_at(const struct engine *engine, uint32_t *cursor, struct read_credential *view)
{
    const struct credential *rows = engine->credentials.rows;
    uint32_t next = *cursor == CREDENTIAL_NONE ? engine->credentials.head : rows[*cursor].next;

    while (next != CREDENTIAL_NONE &&
           (!credential_is_live(&rows[next], engine->t_ns) || is_of_closed(engine, &rows[next])))
        next = rows[next].next;
    *cursor = next;
    if (next == CREDENTIAL_NONE)
        return false;
    read_credential(engine, next, view);
    return true;
}

uint8_t read_market_state(const struct engine *engine, uint32_t k)
{
    INVARIANT(k < engine->markets.count);
    uint32_t index = engine->markets.sorted[k];
    const struct market *market = &engine->markets.rows[index];
    return market->hold_count != 0 ? market->former_state
                                   : (uint8_t)market_own_state(engine, index);
}

void read_market_health(const struct engine *engine, uint32_t k, struct read_market_health *health)
{
    INVARIANT(k < engine->markets.count);
    uint32_t index = engine->markets.sorted[k];
    const struct market *market = &engine->markets.rows[index];
    uint8_t state = (uint8_t)market_own_state(engine, index);
    memcpy(health->symbol, market->record.symbol, sizeof market->record.symbol);
    health->publish_ns =
        state == MARKET_CLOSED || market->index_price == 0 ? 0 : market->publish_ns;
    health->asset_id = market->record.asset_id;
    health->state = state;
    health->is_mark_valid = market_mark_is_valid(engine, index);
}

bool read_mark(const struct engine *engine, const char symbol[32], struct row_mark *row)
{
    for (uint32_t i = 0; i < engine->markets.count; i++) {
        const struct market *market = &engine->markets.rows[i];
        if (memcmp(market->record.symbol, symbol, sizeof market->record.symbol) != 0)
            continue;
        *row = (struct row_mark){
            .book_seq = market->book_seq,
            .mark_price = market->mark,
            .index_price = market->index_price,
            .premium_ppb = market->premium_ppb,
            .predicted_rate_ppb = premium_predicted(engine, i),
            .valid = market_mark_is_valid(engine, i),
            .book_term = market->ema >> MARK_EMA_SHIFT,
            .third_price = mark_third(engine, i),
            .clamp_ppm = market_record_book_ppm(&market->record),
            .in_gap = market->in_gap,
            .state = market->state,
            .price_decimals = market->record.price_decimals,
        };
        memcpy(row->market, symbol, sizeof row->market);
        return true;
    }
    return false;
}

void read_house(const struct engine *engine, int64_t *fund, int64_t *fees)
{
    *fund = engine->portfolios.rows[0].cash;
    *fees = engine->fee_account;
}

uint32_t read_portfolio_slots(const struct engine *engine)
{
    return engine->portfolios.slots;
}

int128 read_owed(const struct engine *engine)
{
    return engine->liquidation.owed_total;
}

int128 read_solvency(const struct engine *engine)
{
    return fund_solvency(engine);
}

int128 read_claims(const struct engine *engine)
{
    int128 claims = 0;

    for (uint32_t i = 1; i < engine->portfolios.count; i++)
        claims += engine->portfolios.rows[i].cash > 0 ? engine->portfolios.rows[i].cash : 0;
    return claims;
}

uint32_t read_work_count(const struct engine *engine)
{
    return engine->work.count;
}

uint32_t read_withdrawals_pending(const struct engine *engine, int64_t *amount)
{
    *amount = engine->withdrawals_pending;
    return engine->withdrawals.slots.count -
           engine->withdrawals.releases.count; /* less the ended ones */
}

void read_funding_epoch(const struct engine *engine, uint16_t asset_id, uint64_t *hour_ns,
                        uint64_t *index_price)
{
    uint32_t index;
    enum status status = market_of_asset(engine, asset_id, &index);
    const struct market *market = &engine->markets.rows[index];

    INVARIANT(status == STATUS_request_completed);
    *hour_ns = market->funding_epoch_hour * MARKET_HOUR_NS;
    *index_price = market->funding_index;
}

bool read_master_key_at(const struct engine *engine, uint64_t account_id, uint32_t *cursor,
                        struct read_credential *view)
{
    uint32_t account = account_find(engine, account_id);

    INVARIANT(account != ACCOUNT_NONE);
    *cursor = *cursor == CREDENTIAL_NONE ? engine->accounts.rows[account].master_head
                                         : engine->credentials.rows[*cursor].account_next;
    if (*cursor == CREDENTIAL_NONE)
        return false;
    read_credential(engine, *cursor, view);
    return true;
}
