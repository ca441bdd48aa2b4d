#include "engine/table/market_record.h"

#include "base/decimal.h"
#include "base/json_scan.h"
#include "base/text.h"

enum {
    PPM_MAX = 999999,
    DECIMALS_SUM = 6,            /* price_decimals + size_decimals (R1): notional is micro-USDC */
    LADDER_TICKS = 1 << 24,      /* W7: max_price is at most the last tick of the ladder */
    FUNDING_INTERVAL_S = 3600,   /* R5: not configurable */
    SCALAR_BYTES = 64,           /* longest decoded string of a scalar */
    MARKET_TIER_LEAST = 1000000, /* 1 USDC: its margin is far above what deductions round */
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
static_assert((int)TIER_MEMBERS >= (int)FEE_MEMBERS, "read_list has room for both");

struct name {
    const char *text;
    uint8_t bytes;
    bool required;
    uint8_t rule; /* enum operator_rule that the member breaks when it is absent or a container */
};

#define NAME(literal, is_required, broken)                                \
    {                                                                     \
        literal, sizeof(literal) - 1, is_required, OPERATOR_RULE_##broken \
    }

static const struct name record_names[MEMBER_COUNT] = {
#define X(name, required) NAME(#name, required, name),
    MEMBER_LIST(X)
#undef X
};

static const struct name tier_names[TIER_MEMBERS] = {
    NAME("upper_notional", true, tier_upper),
    NAME("max_leverage", true, tier_leverage),
    NAME("imr_ppm", false, tier_imr),
    NAME("mmr_ppm", false, tier_mmr),
};

static const struct name fee_names[FEE_MEMBERS] = {
    NAME("tier", true, fee_tier),
    NAME("maker_fee_rate", true, fee_maker),
    NAME("taker_fee_rate", true, fee_taker),
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

/* An object that is read: its names, the rule that any other name breaks, and what reads a member
 * that is an array; NULL: no member may be one. */
struct shape {
    const struct name *names;
    uint32_t count;
    enum operator_rule unknown;
    enum operator_rule (*array)(struct json_scan *scan, uint32_t member,
                                struct market_record *record);
};

/* Reads the members of an object, after its opening bracket. Returns the rule that one of them
 * breaks by its kind. */
static enum operator_rule read_object(struct json_scan *scan, const struct shape *shape,
                                      struct value *values, struct market_record *record)
{
    const struct name *names = shape->names;
    struct json_token token;

    while (json_scan_next(scan, &token)) {
        uint32_t member = 0;
        if (token.kind == JSON_OBJECT_END)
            return OPERATOR_RULE_none;
        while (member < shape->count &&
               !json_scan_equal(&token.name, names[member].text, names[member].bytes))
            member++;
        if (member == shape->count)
            return shape->unknown;
        if (token.kind == JSON_OBJECT || (token.kind == JSON_ARRAY && shape->array == NULL))
            return (enum operator_rule)names[member].rule;
        values[member] = (struct value){ token.kind, token.value };
        enum operator_rule broken =
            token.kind == JSON_ARRAY ? shape->array(scan, member, record) : OPERATOR_RULE_none;
        if (broken != OPERATOR_RULE_none)
            return broken;
    }
    return OPERATOR_RULE_record_text;
}

/* Returns the rule of the first member that an object must have and has not. */
static enum operator_rule find_missing(const struct shape *shape, const struct value *values)
{
    for (uint32_t member = 0; member < shape->count; member++)
        if (shape->names[member].required && values[member].kind == JSON_NONE)
            return (enum operator_rule)shape->names[member].rule;
    return OPERATOR_RULE_none;
}

static enum operator_rule fill_tier(struct market_record *record, uint32_t number,
                                    const struct value *values)
{
    struct market_tier *tier = &record->tiers[number];
    int64_t rate;

    *tier = (struct market_tier){ .upper_notional = UINT64_MAX };
    record->tier_count = number + 1;
    if (values[TIER_UPPER].kind != JSON_NULL &&
        !is_u64_decimal(&values[TIER_UPPER], 6, MARKET_TIER_LEAST, MARKET_NOTIONAL_MAX,
                        &tier->upper_notional))
        return OPERATOR_RULE_tier_upper;
    if (!is_u32(&values[TIER_LEVERAGE], 1, MARKET_LEVERAGE_MAX, &tier->max_leverage))
        return OPERATOR_RULE_tier_leverage;
    tier_set_rates(tier);
    if (values[TIER_IMR].kind != JSON_NONE &&
        !is_integer(&values[TIER_IMR], tier->imr_ppm, tier->imr_ppm, &rate))
        return OPERATOR_RULE_tier_imr;
    if (values[TIER_MMR].kind != JSON_NONE &&
        !is_integer(&values[TIER_MMR], tier->mmr_ppm, tier->mmr_ppm, &rate))
        return OPERATOR_RULE_tier_mmr;
    return OPERATOR_RULE_none;
}

static enum operator_rule fill_fee(struct market_record *record, uint32_t number,
                                   const struct value *values)
{
    int64_t tier, maker, taker;

    if (!is_integer(&values[FEE_TIER_NUMBER], number, number, &tier))
        return OPERATOR_RULE_fee_tier;
    if (!is_decimal(&values[FEE_MAKER], 6, -PPM_MAX, PPM_MAX, &maker))
        return OPERATOR_RULE_fee_maker;
    if (!is_decimal(&values[FEE_TAKER], 6, 0, PPM_MAX, &taker))
        return OPERATOR_RULE_fee_taker;
    record->maker_ppm[number] = (int32_t)maker;
    record->taker_ppm[number] = (int32_t)taker;
    return OPERATOR_RULE_none;
}

/* An array of objects: their names, how many it may have, the rule that it breaks by any other, and
 * what fills the record from one. */
struct list {
    const struct name *names;
    uint32_t count, least, most;
    enum operator_rule rule;
    enum operator_rule (*fill)(struct market_record *record, uint32_t number,
                               const struct value *values);
};

static enum operator_rule read_list(struct json_scan *scan, struct market_record *record,
                                    const struct list *list)
{
    const struct shape shape = { list->names, list->count, list->rule, NULL };
    struct json_token token;

    for (uint32_t count = 0; json_scan_next(scan, &token); count++) {
        struct value values[TIER_MEMBERS] = { { .kind = JSON_NONE } };
        if (token.kind == JSON_ARRAY_END)
            return count >= list->least ? OPERATOR_RULE_none : list->rule;
        if (token.kind != JSON_OBJECT || count == list->most)
            return list->rule;
        enum operator_rule broken = read_object(scan, &shape, values, record);
        if (broken == OPERATOR_RULE_none)
            broken = find_missing(&shape, values);
        if (broken == OPERATOR_RULE_none)
            broken = list->fill(record, count, values);
        if (broken != OPERATOR_RULE_none)
            return broken;
    }
    return OPERATOR_RULE_record_text;
}

static enum operator_rule read_array(struct json_scan *scan, uint32_t member,
                                     struct market_record *record)
{
    static const struct list tiers = { tier_names,       TIER_MEMBERS,        1,
                                       MARKET_TIERS_MAX, OPERATOR_RULE_tiers, fill_tier };
    static const struct list fees = { fee_names,        FEE_MEMBERS,        MARKET_FEE_TIERS,
                                      MARKET_FEE_TIERS, OPERATOR_RULE_fees, fill_fee };

    if (member == MEMBER_tiers)
        return read_list(scan, record, &tiers);
    if (member == MEMBER_fees)
        return read_list(scan, record, &fees);
    return (enum operator_rule)record_names[member].rule;
}

static bool is_symbol_character(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Fills the symbol `<BASE>-PERP` and its base (J5). */
static enum operator_rule fill_names(struct market_record *record, const struct value *values)
{
    static const char suffix[] = "-PERP";
    const size_t suffix_bytes = sizeof suffix - 1;
    const struct value *market = &values[MEMBER_market], *base = &values[MEMBER_base];

    if (market->kind != JSON_STRING)
        return OPERATOR_RULE_market;
    ptrdiff_t count = json_scan_unescape(&market->span, record->symbol, MARKET_SYMBOL_BYTES);
    if (count <= (ptrdiff_t)suffix_bytes)
        return OPERATOR_RULE_market;
    size_t base_bytes = (size_t)count - suffix_bytes;
    if (memcmp(record->symbol + base_bytes, suffix, suffix_bytes) != 0)
        return OPERATOR_RULE_market;
    for (size_t i = 0; i < base_bytes; i++)
        if (!is_symbol_character(record->symbol[i]))
            return OPERATOR_RULE_market;
    memcpy(record->base, record->symbol, base_bytes);
    if (base->kind != JSON_STRING || !json_scan_equal(&base->span, record->base, base_bytes))
        return OPERATOR_RULE_base;
    return OPERATOR_RULE_none;
}

static uint64_t max_price_of(uint64_t tick_size)
{
    return tick_size <= (uint64_t)MARKET_RAW_MAX / (LADDER_TICKS - 1)
               ? tick_size * (LADDER_TICKS - 1)
               : (uint64_t)MARKET_RAW_MAX;
}

static enum operator_rule fill_decimals(struct market_record *record, const struct value *values)
{
    uint32_t id, price_decimals, size_decimals;

    if (!is_u32(&values[MEMBER_asset_id], 1, MARKET_ASSET_MAX, &id))
        return OPERATOR_RULE_asset_id;
    if (!is_u32(&values[MEMBER_price_decimals], 0, DECIMALS_SUM, &price_decimals))
        return OPERATOR_RULE_price_decimals;
    if (!is_u32(&values[MEMBER_size_decimals], 0, DECIMALS_SUM, &size_decimals) ||
        price_decimals + size_decimals != DECIMALS_SUM)
        return OPERATOR_RULE_size_decimals;
    record->asset_id = (uint16_t)id;
    record->price_decimals = (uint8_t)price_decimals;
    record->size_decimals = (uint8_t)size_decimals;
    return OPERATOR_RULE_none;
}

/* The decimals are filled. */
static enum operator_rule fill_sizes(struct market_record *record, const struct value *values)
{
    const struct value *max_price = &values[MEMBER_max_price];
    unsigned of_price = record->price_decimals, of_size = record->size_decimals;
    uint64_t price;

    if (!is_u64_decimal(&values[MEMBER_tick_size], of_price, 1, MARKET_RAW_MAX, &record->tick_size))
        return OPERATOR_RULE_tick_size;
    if (!is_u64_decimal(&values[MEMBER_lot_size], of_size, 1, MARKET_RAW_MAX, &record->lot_size))
        return OPERATOR_RULE_lot_size;
    if (!is_u64_decimal(&values[MEMBER_max_order_size], of_size, 1, MARKET_RAW_MAX,
                        &record->max_order_size) ||
        record->max_order_size % record->lot_size != 0)
        return OPERATOR_RULE_max_order_size;
    if (!is_u64_decimal(&values[MEMBER_min_size], of_size, 0, MARKET_RAW_MAX, &record->min_size) ||
        record->min_size % record->lot_size != 0 || record->min_size > record->max_order_size)
        return OPERATOR_RULE_min_size;
    record->max_price = max_price_of(record->tick_size);
    if (max_price->kind != JSON_NONE &&
        (!is_u64_decimal(max_price, of_price, 1, MARKET_RAW_MAX, &price) ||
         price != record->max_price))
        return OPERATOR_RULE_max_price;
    return OPERATOR_RULE_none;
}

static enum operator_rule fill_limits(struct market_record *record, const struct value *values)
{
    const struct value *effective = &values[MEMBER_effective_at_ns];
    const struct value *interval = &values[MEMBER_funding_interval_s];
    int64_t seconds;

    if (!is_u64_decimal(&values[MEMBER_min_notional], 6, 0, MARKET_NOTIONAL_MAX,
                        &record->min_notional))
        return OPERATOR_RULE_min_notional;
    if (!is_u64_decimal(&values[MEMBER_impact_notional], 6, 1, MARKET_NOTIONAL_MAX,
                        &record->impact_notional))
        return OPERATOR_RULE_impact_notional;
    if (!is_u32(&values[MEMBER_max_leverage], 1, MARKET_LEVERAGE_MAX, &record->max_leverage))
        return OPERATOR_RULE_max_leverage;
    if (!is_u32(&values[MEMBER_price_band_ppm], 1, PPM_MAX, &record->price_band_ppm))
        return OPERATOR_RULE_price_band_ppm;
    if (!is_u32(&values[MEMBER_max_slippage_ppm], 1, PPM_MAX, &record->max_slippage_ppm))
        return OPERATOR_RULE_max_slippage_ppm;
    if (effective->kind != JSON_NONE &&
        (effective->kind != JSON_NUMBER ||
         !json_scan_uint64(&effective->span, &record->effective_at_ns) ||
         record->effective_at_ns == 0))
        return OPERATOR_RULE_effective_at_ns;
    if (interval->kind != JSON_NONE &&
        !is_integer(interval, FUNDING_INTERVAL_S, FUNDING_INTERVAL_S, &seconds))
        return OPERATOR_RULE_funding_interval_s;
    return OPERATOR_RULE_none;
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
static enum operator_rule fill_oracle(struct market_record *record, const struct value *values)
{
    const struct value *book = &values[MEMBER_mark_book_ppm];
    const struct value *sources = &values[MEMBER_oracle_sources_min];

    record->mark_book_ppm = MARKET_BOOK_FOLLOWS;
    record->oracle_sources_min = 1;
    if (book->kind == JSON_NONE)
        record->absent |= MARKET_ABSENT_BOOK;
    else if (!is_u32(book, 0, record->tiers[0].mmr_ppm / 2, &record->mark_book_ppm))
        return OPERATOR_RULE_mark_book_ppm;
    if (sources->kind == JSON_NONE)
        record->absent |= MARKET_ABSENT_SOURCES;
    else if (!is_u32(sources, 1, MARKET_SOURCES_MAX, &record->oracle_sources_min))
        return OPERATOR_RULE_oracle_sources_min;
    if (!fill_limit(record, &values[MEMBER_position_limit], MARKET_ABSENT_POSITION,
                    &record->position_limit))
        return OPERATOR_RULE_position_limit;
    if (!fill_limit(record, &values[MEMBER_open_interest_limit], MARKET_ABSENT_INTEREST,
                    &record->open_interest_limit))
        return OPERATOR_RULE_open_interest_limit;
    return OPERATOR_RULE_none;
}

static enum operator_rule fill_state(struct market_record *record, const struct value *values)
{
    const struct value *value = &values[MEMBER_state];
    static const struct {
        const char *text;
        size_t bytes;
    } names[] = {
#define X(name, code, next) { #name, sizeof #name - 1 },
        MARKET_STATE_LIST(X)
#undef X
    };

    record->state = MARKET_ACTIVE;
    if (value->kind != JSON_STRING)
        return value->kind == JSON_NONE ? OPERATOR_RULE_none : OPERATOR_RULE_state;
    for (uint8_t state = 0; state < MARKET_STATE_COUNT; state++) {
        record->state = state;
        if (json_scan_equal(&value->span, names[state].text, names[state].bytes))
            return OPERATOR_RULE_none;
    }
    return OPERATOR_RULE_state;
}

/* Bounds ascend, only the last tier has no end, and leverages never rise, from at most the
 * market's. Fills the deductions that make margin continuous (R4). */
static enum operator_rule judge_tiers(struct market_record *record)
{
    struct market_tier *tiers = record->tiers;
    uint32_t count = record->tier_count;

    if (tiers[0].max_leverage > record->max_leverage)
        return OPERATOR_RULE_tier_of_market;
    for (uint32_t k = 0; k + 1 < count; k++) {
        if (tiers[k].upper_notional >= tiers[k + 1].upper_notional)
            return OPERATOR_RULE_tier_ascends;
        if (tiers[k].max_leverage < tiers[k + 1].max_leverage)
            return OPERATOR_RULE_tier_falls;
        tier_set_deductions(&tiers[k + 1], &tiers[k]);
    }
    return tiers[count - 1].upper_notional == UINT64_MAX ? OPERATOR_RULE_none
                                                         : OPERATOR_RULE_tier_end;
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

/* Reads the text into `values`, its arrays into *record. A member that the record lacks counts
 * after the whole text (J4). */
static enum operator_rule read_text(struct market_record *record, const uint8_t *body,
                                    size_t body_bytes, struct value *values)
{
    static const struct shape shape = { record_names, MEMBER_COUNT, OPERATOR_RULE_record_member,
                                        read_array };
    const char *text = (const char *)body;
    struct json_scan scan;
    struct json_token token;

    json_scan_begin(&scan, text, text_trim(text, body_bytes));
    if (!json_scan_next(&scan, &token) || token.kind != JSON_OBJECT)
        return OPERATOR_RULE_record_text;
    enum operator_rule broken = read_object(&scan, &shape, values, record);
    if (broken != OPERATOR_RULE_none)
        return broken;
    if (json_scan_next(&scan, &token) || scan.error != JSON_OK)
        return OPERATOR_RULE_record_text;
    broken = find_missing(&shape, values);
    if (broken != OPERATOR_RULE_none)
        return broken;
    if (values[MEMBER_tiers].kind != JSON_ARRAY)
        return OPERATOR_RULE_tiers;
    return values[MEMBER_fees].kind == JSON_ARRAY ? OPERATOR_RULE_none : OPERATOR_RULE_fees;
}

enum operator_rule market_record_read(struct market_record *record, const uint8_t *body,
                                      size_t body_bytes)
{
    static enum operator_rule (*const fills[])(struct market_record *, const struct value *) = {
        fill_names, fill_decimals, fill_sizes, fill_limits, fill_oracle, fill_state
    };
    struct value values[MEMBER_COUNT] = { { .kind = JSON_NONE } };

    *record = (struct market_record){ .effective_at_ns = 0 };
    enum operator_rule broken = read_text(record, body, body_bytes, values);
    for (size_t i = 0; broken == OPERATOR_RULE_none && i < CC_COUNT(fills); i++)
        broken = fills[i](record, values);
    if (broken == OPERATOR_RULE_none)
        broken = judge_tiers(record);
    if (broken == OPERATOR_RULE_none && !fees_are_sound(record))
        broken = OPERATOR_RULE_fee_rebate;
    return broken;
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
        tier_set_rates(own);
    }
    return judge_tiers(&made) == OPERATOR_RULE_none &&
           memcmp(made.tiers, record->tiers, sizeof made.tiers) == 0;
}

/* Builds both names from the base and compares all bytes, so that both must end in zeros. */
static bool names_hold(const struct market_record *record)
{
    char symbol[MARKET_SYMBOL_BYTES] = { 0 }, base[MARKET_SYMBOL_BYTES] = { 0 };
    static const char suffix[] = "-PERP";
    size_t count = 0;

    while (count <= MARKET_SYMBOL_BYTES - sizeof suffix && is_symbol_character(record->base[count]))
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
