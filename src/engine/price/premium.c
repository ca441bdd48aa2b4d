#include "engine/price/premium.h"

#include "base/money.h"
#include "engine/price/mark.h"
#include "engine/state/state.h"

#define PREMIUM_PPB        1000000000
#define PREMIUM_PPB_OF_PPM 1000

static int64_t clamp(int64_t value, int64_t most)
{
    if (value > most)
        return most;
    return value < -most ? -most : value;
}

int64_t premium_rate(int64_t sum, uint32_t count, uint32_t imr_ppm)
{
    int64_t premium = count == 0 ? 0 : sum / (int64_t)count;
    int64_t of_eight = premium + clamp(PREMIUM_INTEREST_PPB - premium, PREMIUM_CLAMP_PPB);

    return clamp(of_eight / 8, (int64_t)PREMIUM_RATE_OF_MARGIN * imr_ppm);
}

/* Returns max(0, impact_bid - index) - max(0, index - impact_ask), as ppb of the index. 0 when a
 * side is too thin, or when nobody may meet what rests. */
static int64_t sample(const struct engine *engine, uint32_t index)
{
    const struct market_record *record = &engine->markets.rows[index].record;
    int64_t price = (int64_t)engine->markets.rows[index].index_price;
    bool may_meet = market_may_meet(&engine->markets.rows[index]);
    int64_t bid = may_meet ? (int64_t)mark_impact(engine, index, true) : 0;
    int64_t ask = bid == 0 ? 0 : (int64_t)mark_impact(engine, index, false);
    uint32_t book = market_record_book_ppm(record), least = record->tiers[0].mmr_ppm / 4;
    int64_t most = PREMIUM_PPB_OF_PPM * (int64_t)(book > least ? book : least);

    if (bid == 0 || ask == 0)
        return 0;
    int64_t above = bid > price ? bid - price : 0;
    int64_t below = ask < price ? price - ask : 0;
    int128 ppb = money_tdiv((int128)(above - below) * PREMIUM_PPB, price);
    if (ppb > most)
        return most;
    return ppb < -most ? -most : (int64_t)ppb;
}

void premium_sample(struct engine *engine, uint32_t index)
{
    struct market *market = state_market(engine, index);
    uint64_t slot = engine->t_ns / MARKET_SLOT_NS;

    if (slot <= market->premium_slot)
        return;
    market->premium_slot = slot;
    if (market->state >= MARKET_HALTED || !market_mark_is_valid(engine, index))
        return;
    INVARIANT(market->premium_count < PREMIUM_SAMPLES);
    market->premium_ppb = sample(engine, index);
    market->premium_sum += market->premium_ppb;
    market->premium_count++;
}

int64_t premium_predicted(const struct engine *engine, uint32_t index)
{
    const struct market *market = &engine->markets.rows[index];

    return premium_rate(market->premium_sum, market->premium_count,
                        market->record.tiers[0].imr_ppm);
}

int64_t premium_end_hour(struct engine *engine, uint32_t index, uint64_t hour)
{
    struct market *market = state_market(engine, index);
    bool counts =
        hour == market->funding_hour + 1 && market->premium_count >= PREMIUM_SAMPLES_LEAST;
    int64_t rate =
        premium_rate(counts ? market->premium_sum : 0, counts ? market->premium_count : 0,
                     market->record.tiers[0].imr_ppm);

    market->premium_sum = 0;
    market->premium_count = 0;
    return rate;
}
