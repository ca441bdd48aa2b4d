#include "engine/view/read_positions.h"

#include "base/uuid.h"
#include "engine/risk/liquidation_price.h"
#include "engine/risk/margin.h"
#include "engine/state/state.h"
#include "engine/table/adl.h"

void read_positions_begin(struct read_positions *cursor, const struct read_filter *filter)
{
    *cursor = (struct read_positions){ .filter = *filter };
}

static int128 score_of(const struct engine *engine, const struct holding *holding)
{
    const struct market *market = &engine->markets.rows[holding->market];

    return adl_score((int128)(int64_t)market->mark * holding->size - holding->cost, holding->cost);
}

static uint64_t liquidation_price_of(const struct holding *holding, const struct market *market,
                                     const struct margin_standing *standing,
                                     const struct margin_part *part)
{
    struct liquidation_price_ask ask = {
        .tiers = market->record.tiers,
        .rest = standing->equity - (int128)(int64_t)market->mark * holding->size -
                (standing->maintenance - part->maintenance),
        .size = holding->size,
        .mark = market->mark,
        .tick_size = market->record.tick_size,
    };

    return liquidation_price(&ask);
}

void read_positions_id(const struct engine *engine, uint32_t index, uint8_t id[16])
{
    const struct holding *holding = &engine->holdings.rows[index];
    struct uuid made =
        uuid_engine(holding->position_ns, holding->position_sequence, holding->position_index);

    memcpy(id, made.bytes, sizeof made.bytes);
}

static void fill_row(const struct engine *engine, const struct holding *holding,
                     struct read_positions *cursor, struct row_position *row)
{
    const struct market *market = &engine->markets.rows[holding->market];
    const struct portfolio *portfolio = &engine->portfolios.rows[holding->portfolio];
    struct uuid id =
        uuid_engine(holding->position_ns, holding->position_sequence, holding->position_index);
    struct margin_standing standing;
    struct margin_part part;

    margin_standing(engine, holding->portfolio, &standing);
    margin_part(engine, holding, &part);
    *row = (struct row_position){
        .account_id = state_account_id(engine, portfolio->account),
        .subaccount_index = portfolio->subaccount_index,
        .portfolio_index = portfolio->portfolio_index,
        .size = holding->size,
        .cost = holding->cost,
        .net_funding = holding->net_funding,
        .mark_price = market->mark,
        .unrealized_pnl = part.value,
        .initial_margin = part.initial,
        .maintenance_margin = part.maintenance,
        .liquidation_price = liquidation_price_of(holding, market, &standing, &part),
        .leverage = leverage_in_force(market, holding->leverage),
        .price_decimals = market->record.price_decimals,
        .size_decimals = market->record.size_decimals,
    };
    memcpy(row->id, id.bytes, sizeof row->id);
    memcpy(row->market, market->record.symbol, sizeof row->market);
    cursor->portfolio = holding->portfolio;
    cursor->score = score_of(engine, holding);
}

/* Shows the portfolio's next position from cursor->next_market on. False: there is none. */
static bool next_of_portfolio(struct read_positions *cursor, const struct engine *engine,
                              uint32_t portfolio, struct row_position *row)
{
    const char *wanted = cursor->filter.market;

    while (cursor->next_market < engine->markets.count) {
        uint32_t k = cursor->next_market++;
        uint32_t market = engine->markets.sorted[k];
        const char *symbol = engine->markets.rows[market].record.symbol;
        if (wanted[0] != '\0' && memcmp(wanted, symbol, QUERY_MARKET_BYTES) != 0)
            continue;
        const struct holding *holding =
            &engine->holdings.rows[holding_find(engine, portfolio, market)];
        if (holding->size == 0) /* so it is in the dummy of HOLDING_NONE */
            continue;
        cursor->market = k;
        fill_row(engine, holding, cursor, row);
        return true;
    }
    return false;
}

bool read_positions_next(struct read_positions *cursor, const struct engine *engine,
                         struct row_position *row)
{
    uint64_t account_id = cursor->filter.account_id;
    uint32_t account = account_find(engine, account_id);

    while (read_portfolio_from(engine, account_id, &cursor->subaccount_index,
                               &cursor->portfolio_index)) {
        uint32_t portfolio =
            portfolio_find(engine, account, cursor->subaccount_index, cursor->portfolio_index);
        if (engine->portfolios.rows[portfolio].holding_count != 0 &&
            read_filter_admits(&cursor->filter, cursor->subaccount_index,
                               cursor->portfolio_index) &&
            next_of_portfolio(cursor, engine, portfolio, row))
            return true;
        cursor->visited++;
        cursor->next_market = 0;
        cursor->portfolio_index++;
    }
    return false;
}

bool read_positions_next_holder(const struct engine *engine, uint32_t k, uint32_t *from,
                                struct read_positions_holder *holder)
{
    INVARIANT(k < engine->markets.count);
    if (*from > engine->portfolios.slots)
        return false;
    uint32_t at = holding_next_holder(engine, engine->markets.sorted[k], *from);
    if (at == HOLDING_NONE)
        return false;
    const struct holding *holding = &engine->holdings.rows[at];
    *holder = (struct read_positions_holder){
        .portfolio = holding->portfolio,
        .size = holding->size,
    };
    if (holding->size != 0) {
        struct margin_standing standing;
        margin_standing(engine, holding->portfolio, &standing);
        holder->score = score_of(engine, holding);
    }
    *from = holding->portfolio + 1;
    return true;
}
