#include "engine/view/read_positions.h"

#include "base/uuid.h"
#include "engine/risk/liquidation_price.h"
#include "engine/risk/margin.h"
#include "engine/state/state.h"
#include "engine/table/adl.h"

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
    cursor->asset_id = market->record.asset_id;
    cursor->score = score_of(engine, holding);
}

/* ---- which there are -------------------------------------------------------------------------*/

/* Where a holding's row is. */
static bool is_before(const struct engine *engine, uint32_t left, uint32_t right)
{
    const struct holding *one = &engine->holdings.rows[left];
    const struct holding *other = &engine->holdings.rows[right];
    const struct portfolio *a = &engine->portfolios.rows[one->portfolio];
    const struct portfolio *b = &engine->portfolios.rows[other->portfolio];

    if (a->subaccount_index != b->subaccount_index)
        return a->subaccount_index < b->subaccount_index;
    if (a->portfolio_index != b->portfolio_index)
        return a->portfolio_index < b->portfolio_index;
    return engine->markets.rows[one->market].record.asset_id <
           engine->markets.rows[other->market].record.asset_id;
}

static void sift_down(struct read_positions *cursor, const struct engine *engine, uint32_t count,
                      uint32_t at)
{
    uint32_t *found = cursor->found;

    for (uint32_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && is_before(engine, found[child], found[child + 1]))
            child++;
        if (!is_before(engine, found[at], found[child]))
            return;
        uint32_t moved = found[at];
        found[at] = found[child];
        found[child] = moved;
        at = child;
    }
}

/* A heap sort: its worst order costs what every order does. */
static void sort(struct read_positions *cursor, const struct engine *engine)
{
    for (uint32_t at = cursor->count / 2; at-- > 0;)
        sift_down(cursor, engine, cursor->count, at);
    for (uint32_t left = cursor->count; left > 1; left--) {
        uint32_t last = cursor->found[0];
        cursor->found[0] = cursor->found[left - 1];
        cursor->found[left - 1] = last;
        sift_down(cursor, engine, left - 1, 0);
    }
}

/* Keeps the holding if it is a position that the filter admits. */
static void look_at(struct read_positions *cursor, const struct engine *engine,
                    const struct read_filter *filter, uint32_t index)
{
    const struct holding *holding = &engine->holdings.rows[index];
    const struct portfolio *portfolio = &engine->portfolios.rows[holding->portfolio];
    const char *symbol = engine->markets.rows[holding->market].record.symbol;

    cursor->visited++;
    if (holding->size == 0 ||
        !read_filter_admits(filter, portfolio->subaccount_index, portfolio->portfolio_index) ||
        (filter->market[0] != '\0' && memcmp(filter->market, symbol, QUERY_MARKET_BYTES) != 0))
        return;
    cursor->is_cut = cursor->count == READ_POSITIONS_MAX;
    if (!cursor->is_cut)
        cursor->found[cursor->count++] = index;
}

void read_positions_begin(struct read_positions *cursor, const struct engine *engine,
                          const struct read_filter *filter)
{
    uint32_t slot = account_find(engine, filter->account_id);

    cursor->count = 0;
    cursor->next = 0;
    cursor->visited = 0;
    cursor->is_cut = false;
    if (slot == ACCOUNT_NONE)
        return;
    const struct account *account = &engine->accounts.rows[slot];
    bool is_listed = account_position_counts(account);
    uint32_t at = is_listed ? account->holding_head
                            : engine->portfolios.rows[account->portfolio_head].holding_head;
    while (at != HOLDING_NONE && !cursor->is_cut) {
        const struct holding *holding = &engine->holdings.rows[at];
        look_at(cursor, engine, filter, at);
        at = is_listed ? holding->account_next : holding->next;
    }
    sort(cursor, engine);
}

uint16_t read_positions_asset(const struct read_positions *cursor, const struct engine *engine,
                              uint32_t number)
{
    INVARIANT(number < cursor->count);
    return engine->markets.rows[engine->holdings.rows[cursor->found[number]].market]
        .record.asset_id;
}

void read_positions_pass(struct read_positions *cursor, uint64_t count)
{
    uint32_t left = cursor->count - cursor->next;

    cursor->next += count < left ? (uint32_t)count : left;
}

bool read_positions_next(struct read_positions *cursor, const struct engine *engine,
                         struct row_position *row)
{
    if (cursor->next == cursor->count)
        return false;
    fill_row(engine, &engine->holdings.rows[cursor->found[cursor->next++]], cursor, row);
    return true;
}

/* ---- holders ---------------------------------------------------------------------------------*/

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
