#include "engine/table/market_record.h"

#include "base/decimal.h"
#include "base/json_scan.h"
#include "base/text.h"

enum {
    PPM_MAX = 999999,
    DECIMALS_SUM = 6,          /* price_decimals + size_decimals (R1): notional is micro-USDC */
    LADDER_TICKS = 1 << 24,    /* W7: max_price is at most the last tick of the ladder */
    FUNDING_INTERVAL_S = 3600, /* R5: not configurable */
    SCALAR_BYTES = 64,         /* longest decoded string of a scalar */
    MARKET_TIER_LEAST =
        1000000, /* 1 USDC: its margin is far above the rounding of deductions (R4) */
    TIGHTER_ROUNDING = MARKET_TIERS_MAX, /* micro-USDC: largest effect of rounding */
};

/* clang-format off */
/*    member              required */
#define MEMBER_LIST(X) \
    X(market,             1) \
    X(asset_id,           1) \
    X(base,               1) \
    X(price_decimals,     1) \
    X(size_decimals,      1) \
    X(tick_size,          1) \
    X(lot_size,           1) \
    X(min_size,           1) \
    X(max_order_size,     1) \
    X(min_notional,       1) \
    X(impact_notional,    1) \
    X(max_leverage,       1) \
    X(tiers,              1) \
    X(price_band_ppm,     1) \
    X(max_slippage_ppm,   1) \
    X(mark_book_ppm,      0) \
    X(oracle_sources_min, 0) \
    X(position_limit,     0) \
    X(open_interest_limit, 0) \
    X(fees,               1) \
    X(funding_interval_s, 0) \
    X(max_price,          0) \
    X(state,              0) \
    X(effective_at_ns,    0)
/* clang-format on */

enum member {
#define X(name, required) MEMBER_##name,
    MEMBER_LIST(X)
#undef X
        MEMBER_COUNT
};

enum tier_member { TIER_UPPER, TIER_LEVERAGE, TIER_IMR, TIER_MMR, TIER_MEMBERS };
enum fee_member { FEE_TIER_NUMBER, FEE_MAKER, FEE_TAKER, FEE_MEMBERS };

struct name {
    const char *text;
    uint8_t bytes;
    bool required;
};

#define NAME(literal, is_required)                \
    {                                             \
        literal, sizeof(literal) - 1, is_required \
    }

static const struct name record_names[MEMBER_COUNT] = {
#define X(name, required) NAME(#name, required),
    MEMBER_LIST(X)
#undef X
};

static const struct name tier_names[TIER_MEMBERS] = {
    NAME("upper_notional", true),
    NAME("max_leverage", true),
    NAME("imr_ppm", false),
    NAME("mmr_ppm", false),
};

static const struct name fee_names[FEE_MEMBERS] = {
    NAME("tier", true),
    NAME("maker_fee_rate", true),
    NAME("taker_fee_rate", true),
};

/* A member's value; `kind` is JSON_NONE if the member is absent. */
struct value {
    enum json_kind kind;
    struct json_span span;
};

static bool is_integer(const struct value *value, int64_t min, int64_t max, int64_t *out)
{
    return value->kind == JSON_NUMBER && json_scan_int64(&value->span, out) && *out >= min &&
           *out <= max;
}

static bool is_u32(const struct value *value, uint32_t min, uint32_t max, uint32_t *out)
{
    int64_t wide;
    if (!is_integer(value, min, max, &wide))
        return false;
    *out = (uint32_t)wide;
    return true;
}

/* Parses a decimal in a string to an integer with `scale` decimals. False: not one, or not within
 * min to max. */
static bool is_decimal(const struct value *value, unsigned scale, int64_t min, int64_t max,
                       int64_t *out)
{
    char text[SCALAR_BYTES];

    if (value->kind != JSON_STRING)
        return false;
    ptrdiff_t count = json_scan_unescape(&value->span, text, sizeof text);
    return count >= 0 && decimal_parse(text, (size_t)count, scale, min, max, out) == DECIMAL_OK;
}

static bool is_u64_decimal(const struct value *value, unsigned scale, int64_t min, int64_t max,
                           uint64_t *out)
{
    int64_t number;
    if (!is_decimal(value, scale, min, max, &number))
        return false;
    *out = (uint64_t)number;
    return true;
}

/* Reads the members of an object, after its opening bracket. `array` reads a member that is an
 * array; NULL: none is allowed. False: malformed, or a member is missing or unknown. */
static bool read_object(struct json_scan *scan, const struct name *names, uint32_t count,
                        struct value *values,
                        bool (*array)(struct json_scan *scan, uint32_t member, void *into),
                        void *into)
{
    struct json_token token;

    while (json_scan_next(scan, &token)) {
        uint32_t member = 0;
        if (token.kind == JSON_OBJECT_END) {
            for (member = 0; member < count; member++)
                if (names[member].required && values[member].kind == JSON_NONE)
                    return false;
            return true;
        }
        while (member < count &&
               !json_scan_equal(&token.name, names[member].text, names[member].bytes))
            member++;
        if (member == count || token.kind == JSON_OBJECT)
            return false;
        values[member] = (struct value){ token.kind, token.value };
        if (token.kind == JSON_ARRAY && (array == NULL || !array(scan, member, into)))
            return false;
    }
    return false;
}

static bool fill_tier(struct market_tier *tier, const struct value *values)
{
    int64_t rate;

    *tier = (struct market_tier){ .upper_notional = UINT64_MAX };
    if (values[TIER_UPPER].kind != JSON_NULL &&
        !is_u64_decimal(&values[TIER_UPPER], 6, MARKET_TIER_LEAST, MARKET_NOTIONAL_MAX,
                        &tier->upper_notional))
        return false;
    if (!is_u32(&values[TIER_LEVERAGE], 1, MARKET_LEVERAGE_MAX, &tier->max_leverage))
        return false;
    tier->imr_ppm = MONEY_PPM / tier->max_leverage;
    tier->mmr_ppm = tier->imr_ppm / 2;
    if (values[TIER_IMR].kind != JSON_NONE &&
        !is_integer(&values[TIER_IMR], tier->imr_ppm, tier->imr_ppm, &rate))
        return false;
    return values[TIER_MMR].kind == JSON_NONE ||
           is_integer(&values[TIER_MMR], tier->mmr_ppm, tier->mmr_ppm, &rate);
}

static bool read_tiers(struct json_scan *scan, struct market_record *record)
{
    struct json_token token;

    while (json_scan_next(scan, &token)) {
        struct value values[TIER_MEMBERS] = { { .kind = JSON_NONE } };
        if (token.kind == JSON_ARRAY_END)
            return record->tier_count > 0;
        if (token.kind != JSON_OBJECT || record->tier_count == MARKET_TIERS_MAX)
            return false;
        if (!read_object(scan, tier_names, TIER_MEMBERS, values, NULL, NULL))
            return false;
        if (!fill_tier(&record->tiers[record->tier_count++], values))
            return false;
    }
    return false;
}

static bool fill_fee(struct market_record *record, uint32_t tier, const struct value *values)
{
    int64_t number, maker, taker;

    if (!is_integer(&values[FEE_TIER_NUMBER], tier, tier, &number) ||
        !is_decimal(&values[FEE_MAKER], 6, -PPM_MAX, PPM_MAX, &maker) ||
        !is_decimal(&values[FEE_TAKER], 6, 0, PPM_MAX, &taker))
        return false;
    record->maker_ppm[tier] = (int32_t)maker;
    record->taker_ppm[tier] = (int32_t)taker;
    return true;
}

static bool read_fees(struct json_scan *scan, struct market_record *record)
{
    struct json_token token;
    uint32_t count = 0;

    while (json_scan_next(scan, &token)) {
        struct value values[FEE_MEMBERS] = { { .kind = JSON_NONE } };
        if (token.kind == JSON_ARRAY_END)
            return count == MARKET_FEE_TIERS;
        if (token.kind != JSON_OBJECT || count == MARKET_FEE_TIERS)
            return false;
        if (!read_object(scan, fee_names, FEE_MEMBERS, values, NULL, NULL))
            return false;
        if (!fill_fee(record, count++, values))
            return false;
    }
    return false;
}

static bool read_array(struct json_scan *scan, uint32_t member, void *into)
{
    if (member == MEMBER_tiers)
        return read_tiers(scan, into);
    return member == MEMBER_fees && read_fees(scan, into);
}

static bool is_symbol_character(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Fills the symbol `<BASE>-PERP` and its base (J5). */
static bool fill_names(struct market_record *record, const struct value *values)
{
    static const char suffix[] = "-PERP";
    const size_t suffix_bytes = sizeof suffix - 1;
    const struct value *market = &values[MEMBER_market], *base = &values[MEMBER_base];

    if (market->kind != JSON_STRING || base->kind != JSON_STRING)
        return false;
    ptrdiff_t count = json_scan_unescape(&market->span, record->symbol, MARKET_SYMBOL_BYTES - 1);
    if (count <= (ptrdiff_t)suffix_bytes)
        return false;
    size_t base_bytes = (size_t)count - suffix_bytes;
    if (memcmp(record->symbol + base_bytes, suffix, suffix_bytes) != 0)
        return false;
    for (size_t i = 0; i < base_bytes; i++)
        if (!is_symbol_character(record->symbol[i]))
            return false;
    memcpy(record->base, record->symbol, base_bytes);
    return json_scan_equal(&base->span, record->base, base_bytes);
}

static uint64_t max_price_of(uint64_t tick_size)
{
    uint64_t top = tick_size <= (uint64_t)MARKET_RAW_MAX / (LADDER_TICKS - 1)
                       ? tick_size * (LADDER_TICKS - 1)
                       : (uint64_t)MARKET_RAW_MAX;
    return top;
}

static bool fill_sizes(struct market_record *record, const struct value *values)
{
    uint32_t id, price_decimals, size_decimals;

    if (!is_u32(&values[MEMBER_asset_id], 1, MARKET_ASSET_MAX, &id) ||
        !is_u32(&values[MEMBER_price_decimals], 0, DECIMALS_SUM, &price_decimals) ||
        !is_u32(&values[MEMBER_size_decimals], 0, DECIMALS_SUM, &size_decimals) ||
        price_decimals + size_decimals != DECIMALS_SUM)
        return false;
    record->asset_id = (uint16_t)id;
    record->price_decimals = (uint8_t)price_decimals;
    record->size_decimals = (uint8_t)size_decimals;
    if (!is_u64_decimal(&values[MEMBER_tick_size], price_decimals, 1, MARKET_RAW_MAX,
                        &record->tick_size) ||
        !is_u64_decimal(&values[MEMBER_lot_size], size_decimals, 1, MARKET_RAW_MAX,
                        &record->lot_size) ||
        !is_u64_decimal(&values[MEMBER_min_size], size_decimals, 0, MARKET_RAW_MAX,
                        &record->min_size) ||
        !is_u64_decimal(&values[MEMBER_max_order_size], size_decimals, 1, MARKET_RAW_MAX,
                        &record->max_order_size))
        return false;
    if (record->min_size % record->lot_size != 0 ||
        record->max_order_size % record->lot_size != 0 || record->min_size > record->max_order_size)
        return false;
    record->max_price = max_price_of(record->tick_size);
    uint64_t max_price;
    return values[MEMBER_max_price].kind == JSON_NONE ||
           (is_u64_decimal(&values[MEMBER_max_price], price_decimals, 1, MARKET_RAW_MAX,
                           &max_price) &&
            max_price == record->max_price);
}

static bool fill_limits(struct market_record *record, const struct value *values)
{
    int64_t interval;

    if (!is_u64_decimal(&values[MEMBER_min_notional], 6, 0, MARKET_NOTIONAL_MAX,
                        &record->min_notional) ||
        !is_u64_decimal(&values[MEMBER_impact_notional], 6, 1, MARKET_NOTIONAL_MAX,
                        &record->impact_notional) ||
        !is_u32(&values[MEMBER_max_leverage], 1, MARKET_LEVERAGE_MAX, &record->max_leverage) ||
        !is_u32(&values[MEMBER_price_band_ppm], 1, PPM_MAX, &record->price_band_ppm) ||
        !is_u32(&values[MEMBER_max_slippage_ppm], 1, PPM_MAX, &record->max_slippage_ppm))
        return false;
    if (values[MEMBER_effective_at_ns].kind != JSON_NONE &&
        (values[MEMBER_effective_at_ns].kind != JSON_NUMBER ||
         !json_scan_uint64(&values[MEMBER_effective_at_ns].span, &record->effective_at_ns) ||
         record->effective_at_ns == 0))
        return false;
    return values[MEMBER_funding_interval_s].kind == JSON_NONE ||
           is_integer(&values[MEMBER_funding_interval_s], FUNDING_INTERVAL_S, FUNDING_INTERVAL_S,
                      &interval);
}

/* A notional, or `absent` in record->absent. */
static bool fill_limit(struct market_record *record, const struct value *value,
                       enum market_record_absent absent, uint64_t *limit)
{
    if (value->kind != JSON_NONE)
        return is_u64_decimal(value, 6, 0, MARKET_NOTIONAL_MAX, limit);
    record->absent |= (uint8_t)absent;
    return true;
}

/* What the mark and the oracle of the market may do; the tiers are read. */
static bool fill_oracle(struct market_record *record, const struct value *values)
{
    const struct value *book = &values[MEMBER_mark_book_ppm];
    const struct value *sources = &values[MEMBER_oracle_sources_min];

    record->mark_book_ppm = MARKET_BOOK_FOLLOWS;
    record->oracle_sources_min = 1;
    if (book->kind == JSON_NONE)
        record->absent |= MARKET_ABSENT_BOOK;
    else if (!is_u32(book, 0, record->tiers[0].mmr_ppm / 2, &record->mark_book_ppm))
        return false;
    if (sources->kind == JSON_NONE)
        record->absent |= MARKET_ABSENT_SOURCES;
    else if (!is_u32(sources, 1, MARKET_SOURCES_MAX, &record->oracle_sources_min))
        return false;
    return fill_limit(record, &values[MEMBER_position_limit], MARKET_ABSENT_POSITION,
                      &record->position_limit) &&
           fill_limit(record, &values[MEMBER_open_interest_limit], MARKET_ABSENT_INTEREST,
                      &record->open_interest_limit);
}

static bool fill_state(struct market_record *record, const struct value *value)
{
    static const struct name names[MARKET_STATE_COUNT] = {
        NAME("ACTIVE", false),      NAME("POST_ONLY", false), NAME("REDUCE_ONLY", false),
        NAME("CANCEL_ONLY", false), NAME("HALTED", false),    NAME("CLOSED", false),
    };

    record->state = MARKET_ACTIVE;
    if (value->kind == JSON_NONE)
        return true;
    if (value->kind != JSON_STRING)
        return false;
    for (uint8_t state = 0; state < MARKET_STATE_COUNT; state++) {
        record->state = state;
        if (json_scan_equal(&value->span, names[state].text, names[state].bytes))
            return true;
    }
    return false;
}

/* True if the tiers' bounds ascend, only the last has no end, and leverages never rise, from at
 * most the market's. Fills the deductions that make margin continuous (R4). */
static bool tiers_are_sound(struct market_record *record)
{
    struct market_tier *tiers = record->tiers;
    uint32_t count = record->tier_count;

    if (tiers[0].max_leverage > record->max_leverage)
        return false;
    for (uint32_t k = 0; k + 1 < count; k++) {
        if (tiers[k].upper_notional >= tiers[k + 1].upper_notional ||
            tiers[k].max_leverage < tiers[k + 1].max_leverage)
            return false;
        int128 edge = (int128)tiers[k].upper_notional;
        tiers[k + 1].initial_deduction =
            tiers[k].initial_deduction +
            (int64_t)money_cdiv(edge * (tiers[k + 1].imr_ppm - tiers[k].imr_ppm), MONEY_PPM);
        tiers[k + 1].maintenance_deduction =
            tiers[k].maintenance_deduction +
            (int64_t)money_cdiv(edge * (tiers[k + 1].mmr_ppm - tiers[k].mmr_ppm), MONEY_PPM);
    }
    return tiers[count - 1].upper_notional == UINT64_MAX;
}

/* R6: in every pair of fee tiers the taker's fee covers the maker's rebate. */
static bool fees_are_sound(const struct market_record *record)
{
    for (uint32_t maker = 0; maker < MARKET_FEE_TIERS; maker++)
        for (uint32_t taker = 0; taker < MARKET_FEE_TIERS; taker++)
            if (record->taker_ppm[taker] + record->maker_ppm[maker] < 0)
                return false;
    return true;
}

bool market_record_parse(struct market_record *record, const uint8_t *body, size_t body_bytes)
{
    struct value values[MEMBER_COUNT] = { { .kind = JSON_NONE } };
    const char *text = (const char *)body;
    struct json_scan scan;
    struct json_token token;

    *record = (struct market_record){ .effective_at_ns = 0 };
    json_scan_begin(&scan, text, text_trim(text, body_bytes));
    if (!json_scan_next(&scan, &token) || token.kind != JSON_OBJECT)
        return false;
    if (!read_object(&scan, record_names, MEMBER_COUNT, values, read_array, record))
        return false;
    if (json_scan_next(&scan, &token) || scan.error != JSON_OK)
        return false;
    if (values[MEMBER_tiers].kind != JSON_ARRAY || values[MEMBER_fees].kind != JSON_ARRAY)
        return false;
    return fill_names(record, values) && fill_sizes(record, values) &&
           fill_limits(record, values) && fill_oracle(record, values) &&
           fill_state(record, &values[MEMBER_state]) && tiers_are_sound(record) &&
           fees_are_sound(record);
}

static bool is_higher_at(const struct market_tier *next, const struct market_tier *now,
                         uint64_t notional)
{
    /* At this leverage only the tiers count. The caller compares the market's own leverage. */
    int128 next_initial = tier_initial(next, notional, UINT32_MAX);
    int128 now_initial = tier_initial(now, notional, UINT32_MAX);

    return next_initial > now_initial + TIGHTER_ROUNDING ||
           tier_maintenance(next, notional) > tier_maintenance(now, notional) + TIGHTER_ROUNDING;
}

/* Both margins are linear between the tiers' bounds, so it is enough to compare at the bounds. */
bool market_record_is_tighter(const struct market_record *next, const struct market_record *now)
{
    if (next->max_leverage < now->max_leverage && next->max_leverage < MARKET_LEVERAGE_DEFAULT)
        return true;
    for (uint32_t k = 0; k + 1 < next->tier_count; k++)
        if (is_higher_at(next->tiers, now->tiers, next->tiers[k].upper_notional))
            return true;
    for (uint32_t k = 0; k + 1 < now->tier_count; k++)
        if (is_higher_at(next->tiers, now->tiers, now->tiers[k].upper_notional))
            return true;
    return is_higher_at(next->tiers, now->tiers, MARKET_NOTIONAL_MAX);
}

static bool book_holds(const struct market_record *record)
{
    return record->mark_book_ppm == MARKET_BOOK_FOLLOWS ||
           record->mark_book_ppm <= record->tiers[0].mmr_ppm / 2;
}

bool market_record_keep_absent(struct market_record *next, const struct market_record *now)
{
    if ((next->absent & MARKET_ABSENT_BOOK) != 0)
        next->mark_book_ppm = now->mark_book_ppm;
    if ((next->absent & MARKET_ABSENT_SOURCES) != 0)
        next->oracle_sources_min = now->oracle_sources_min;
    if ((next->absent & MARKET_ABSENT_POSITION) != 0)
        next->position_limit = now->position_limit;
    if ((next->absent & MARKET_ABSENT_INTEREST) != 0)
        next->open_interest_limit = now->open_interest_limit;
    next->absent = 0;
    return book_holds(next);
}

/* --- of a state ------------------------------------------------------------------------------- */

/* True if the bounds and leverages are lawful and give these rates and deductions. */
static bool tiers_hold(const struct market_record *record)
{
    static const struct market_tier nothing;
    struct market_record made = { .max_leverage = record->max_leverage,
                                  .tier_count = record->tier_count };

    if (record->tier_count == 0 || record->tier_count > MARKET_TIERS_MAX)
        return false;
    for (uint32_t k = 0; k < MARKET_TIERS_MAX; k++) {
        const struct market_tier *tier = &record->tiers[k];
        struct market_tier *own = &made.tiers[k];
        if (k >= record->tier_count) {
            if (memcmp(tier, &nothing, sizeof nothing) != 0)
                return false;
            continue;
        }
        bool is_last = k + 1 == record->tier_count;
        if (tier->max_leverage == 0 || tier->max_leverage > MARKET_LEVERAGE_MAX ||
            (!is_last && tier->upper_notional > (uint64_t)MARKET_NOTIONAL_MAX))
            return false;
        own->upper_notional = tier->upper_notional;
        own->max_leverage = tier->max_leverage;
        own->imr_ppm = MONEY_PPM / tier->max_leverage;
        own->mmr_ppm = own->imr_ppm / 2;
    }
    return tiers_are_sound(&made) && memcmp(made.tiers, record->tiers, sizeof made.tiers) == 0;
}

/* Builds both names from the base and compares all bytes, so that both must end in zeros. */
static bool names_hold(const struct market_record *record)
{
    char symbol[MARKET_SYMBOL_BYTES] = { 0 }, base[MARKET_SYMBOL_BYTES] = { 0 };
    static const char suffix[] = "-PERP";
    size_t count = 0;

    while (count < MARKET_SYMBOL_BYTES - sizeof suffix && is_symbol_character(record->base[count]))
        count++;
    memcpy(base, record->base, count);
    memcpy(symbol, record->base, count);
    memcpy(symbol + count, suffix, sizeof suffix - 1);
    return count != 0 && memcmp(record->base, base, sizeof base) == 0 &&
           memcmp(record->symbol, symbol, sizeof symbol) == 0;
}

static bool sizes_hold(const struct market_record *record)
{
    const uint64_t most = (uint64_t)MARKET_RAW_MAX;

    if (record->asset_id == 0 || record->asset_id > MARKET_ASSET_MAX ||
        record->price_decimals + record->size_decimals != DECIMALS_SUM)
        return false;
    if (record->tick_size == 0 || record->tick_size > most || record->lot_size == 0 ||
        record->lot_size > most || record->max_order_size == 0 || record->max_order_size > most)
        return false;
    return record->min_size <= record->max_order_size && record->min_size % record->lot_size == 0 &&
           record->max_order_size % record->lot_size == 0 &&
           record->max_price == max_price_of(record->tick_size);
}

static bool limits_hold(const struct market_record *record)
{
    const uint64_t most = (uint64_t)MARKET_NOTIONAL_MAX;

    return record->min_notional <= most && record->impact_notional != 0 &&
           record->impact_notional <= most && record->max_leverage != 0 &&
           record->max_leverage <= MARKET_LEVERAGE_MAX && record->price_band_ppm != 0 &&
           record->price_band_ppm <= PPM_MAX && record->max_slippage_ppm != 0 &&
           record->max_slippage_ppm <= PPM_MAX && record->oracle_sources_min != 0 &&
           record->oracle_sources_min <= MARKET_SOURCES_MAX && record->position_limit <= most &&
           record->open_interest_limit <= most &&
           (record->mark_book_ppm == MARKET_BOOK_FOLLOWS || record->mark_book_ppm <= PPM_MAX);
}

static bool fees_hold(const struct market_record *record)
{
    for (uint32_t tier = 0; tier < MARKET_FEE_TIERS; tier++)
        if (record->maker_ppm[tier] < -PPM_MAX || record->maker_ppm[tier] > PPM_MAX ||
            record->taker_ppm[tier] < 0 || record->taker_ppm[tier] > PPM_MAX)
            return false;
    return fees_are_sound(record);
}

bool market_record_holds(const struct market_record *record)
{
    static const uint8_t zero[sizeof record->zero];

    return names_hold(record) && sizes_hold(record) && limits_hold(record) && fees_hold(record) &&
           tiers_hold(record) && record->state < MARKET_STATE_COUNT && record->absent == 0 &&
           memcmp(record->zero, zero, sizeof zero) == 0;
}
