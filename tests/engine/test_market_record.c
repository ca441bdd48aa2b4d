/* The strict parser of 1001 (json.md J5; rules.md R1, R4, R6; wire.md W7, W10). */
#include "engine/table/market_change.h"
#include "engine/table/market_record.h"
#include "engine/table/tier.h"
#include "host.h"
#include "rig.h"

enum { TEXT_MAX = 8192 };

/* The published record with the first `from` replaced by `to`. */
static size_t edited(const char *from, const char *to, char text[TEXT_MAX])
{
    const char *at = strstr(host_btc_record, from);

    CHECK(at != NULL);
    return (size_t)snprintf(text, TEXT_MAX, "%.*s%s%s", (int)(at - host_btc_record),
                            host_btc_record, to, at + strlen(from));
}

static enum operator_rule broken(const char *text, size_t count, struct market_record *record)
{
    uint8_t body[TEXT_MAX] = { 0 };

    memcpy(body, text, count);
    return market_record_read(record, body, (count + 7) & ~(size_t)7);
}

static bool parses(const char *text, size_t count, struct market_record *record)
{
    return broken(text, count, record) == OPERATOR_RULE_none;
}

static void test_published(void)
{
    struct market_record record;

    CHECK(parses(host_btc_record, strlen(host_btc_record), &record));
    CHECK(strcmp(record.symbol, "BTC-PERP") == 0 && strcmp(record.base, "BTC") == 0);
    CHECK(record.asset_id == 1 && record.price_decimals == 1 && record.size_decimals == 5);
    CHECK(record.tick_size == 1 && record.lot_size == 1 && record.min_size == 1);
    CHECK(record.max_order_size == (UINT64_C(1) << 40) - 1); /* W10 */
    CHECK(record.min_notional == 10000000 && record.impact_notional == UINT64_C(20000000000));
    CHECK(record.max_leverage == 50 && record.price_band_ppm == 100000);
    CHECK(record.max_slippage_ppm == 50000 && record.state == MARKET_ACTIVE);
    CHECK(record.max_price == 16777215 && record.effective_at_ns == 0); /* W7: tick * (2^24 - 1) */
    CHECK(record.tier_count == 4 && record.tiers[3].upper_notional == UINT64_MAX);
    CHECK(record.tiers[0].imr_ppm == 20000 && record.tiers[0].mmr_ppm == 10000);
    /* R4: ded_2 = 20 m * 1 % = 200,000 USDC; ded_3 = ded_2 + 100 m * 3 % = 3.2 m; ded_4 = 28.2 m.
     * Of initial margin: 20 m * 2 % = 400,000; + 100 m * 6 % = 6.4 m; + 500 m * 10 % = 56.4 m. */
    CHECK(record.tiers[0].maintenance_deduction == 0 && record.tiers[0].initial_deduction == 0);
    CHECK(record.tiers[1].maintenance_deduction == INT64_C(200000000000));
    CHECK(record.tiers[2].maintenance_deduction == INT64_C(3200000000000));
    CHECK(record.tiers[3].maintenance_deduction == INT64_C(28200000000000));
    CHECK(record.tiers[1].initial_deduction == INT64_C(400000000000));
    CHECK(record.tiers[2].initial_deduction == INT64_C(6400000000000));
    CHECK(record.tiers[3].initial_deduction == INT64_C(56400000000000));
    CHECK(record.maker_ppm[0] == 150 && record.taker_ppm[0] == 450);
    CHECK(record.maker_ppm[5] == -20 && record.taker_ppm[5] == 260);
}

/* J5: a name has at most 32 bytes, and then no zero follows it. */
static void test_longest_name(void)
{
    static const char base[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ1";
    char text[TEXT_MAX];
    struct market_record record;
    int head = snprintf(text, TEXT_MAX, "{\"market\":\"%s-PERP\",\"base\":\"%s\",", base, base);
    const char *rest = strstr(host_btc_record, "\"price_decimals\"");

    size_t count = (size_t)head + (size_t)snprintf(text + head, TEXT_MAX - (size_t)head,
                                                   "\"asset_id\":7,%s", rest);
    CHECK(parses(text, count, &record));
    CHECK(memcmp(record.symbol, "ABCDEFGHIJKLMNOPQRSTUVWXYZ1-PERP", 32) == 0);
    CHECK(strcmp(record.base, base) == 0);
    record.state = 0;
    record.absent = 0;
    CHECK(market_record_holds(&record)); /* an image takes it */
    record.symbol[31] = 'Q';
    CHECK(!market_record_holds(&record));
}

#define RULE(name) OPERATOR_RULE_##name
#define OPTIONAL   "\"state\":\"ACTIVE\"" /* a member that another may stand for */
#define R(name, from, to, want)        \
    {                                  \
        __LINE__, name, from, to, want \
    }

static const struct row {
    int line;
    const char *name, *from, *to;
    unsigned want; /* enum operator_rule; 0: it parses */
} rows[] = {
    R("unknown member", "\"asset_id\":1", "\"asset_id\":1,\"x\":1", RULE(record_member)),
    R("duplicate member", "\"asset_id\":1", "\"asset_id\":1,\"asset_id\":1", RULE(record_text)),
    R("missing asset id", "\"asset_id\":1,", "", RULE(asset_id)),
    R("missing tiers", "\"max_leverage\":50,\"tiers\":[", "\"max_leverage\":50,\"fee\":[",
      RULE(record_member)),
    R("missing band", "\"price_band_ppm\":100000,", "", RULE(price_band_ppm)),
    R("trailing text", "\"ACTIVE\"}", "\"ACTIVE\"}x", RULE(record_text)),
    R("no end", "\"ACTIVE\"}", "\"ACTIVE\"", RULE(record_text)),
    R("white space", "\"asset_id\":1", " \"asset_id\" : 1 ", 0),
    R("escaped name", "\"asset_id\"", "\"asset_i\\u0064\"", 0),
    R("escaped text", "\"0.00001\"", "\"0.0000\\u0031\"", 0),
    R("lower case", "\"BTC-PERP\"", "\"btc-PERP\"", RULE(market)),
    R("no suffix", "\"BTC-PERP\"", "\"BTC-PERQ\"", RULE(market)),
    R("only suffix", "\"BTC-PERP\"", "\"-PERP\"", RULE(market)),
    R("other base", "\"base\":\"BTC\"", "\"base\":\"ETH\"", RULE(base)),
    R("33 bytes", "\"BTC-PERP\"", "\"ABCDEFGHIJKLMNOPQRSTUVWXYZ12-PERP\"", RULE(market)),
    R("id 0", "\"asset_id\":1", "\"asset_id\":0", RULE(asset_id)),
    R("highest id", "\"asset_id\":1", "\"asset_id\":65534", 0),
    R("id too high", "\"asset_id\":1", "\"asset_id\":65535", RULE(asset_id)),
    R("id as text", "\"asset_id\":1", "\"asset_id\":\"1\"", RULE(asset_id)),
    R("id with decimals", "\"asset_id\":1", "\"asset_id\":1.0", RULE(asset_id)),
    R("decimals 7", "\"price_decimals\":1", "\"price_decimals\":2", RULE(size_decimals)),
    R("decimals 5", "\"size_decimals\":5", "\"size_decimals\":4", RULE(size_decimals)),
    R("negative decimals", "\"price_decimals\":1", "\"price_decimals\":-1", RULE(price_decimals)),
    R("tick 0", "\"tick_size\":\"0.1\"", "\"tick_size\":\"0\"", RULE(tick_size)),
    R("tick below raw", "\"tick_size\":\"0.1\"", "\"tick_size\":\"0.05\"", RULE(tick_size)),
    R("tick as number", "\"tick_size\":\"0.1\"", "\"tick_size\":0.1", RULE(tick_size)),
    R("tick with exponent", "\"tick_size\":\"0.1\"", "\"tick_size\":\"1e-1\"", RULE(tick_size)),
    R("tick of 1, another max_price", "\"tick_size\":\"0.1\"", "\"tick_size\":\"1\"",
      RULE(max_price)),
    R("max_price left out", ",\"max_price\":\"1677721.5\"", "", 0),
    R("other max_price", "1677721.5", "1677721.4", RULE(max_price)),
    R("lot 0", "\"lot_size\":\"0.00001\"", "\"lot_size\":\"0\"", RULE(lot_size)),
    R("sizes not of the lot", "\"lot_size\":\"0.00001\"", "\"lot_size\":\"0.00002\"",
      RULE(max_order_size)),
    R("size above 2^40-1", "10995116.27775", "10995116.27776", RULE(max_order_size)),
    R("smaller size", "10995116.27775", "1", 0),
    R("min above max", "\"min_size\":\"0.00001\"", "\"min_size\":\"10995116.27776\"",
      RULE(min_size)),
    R("no impact", "\"impact_notional\":\"20000\"", "\"impact_notional\":\"0\"",
      RULE(impact_notional)),
    R("no min notional", "\"min_notional\":\"10\"", "\"min_notional\":\"0\"", 0),
    R("negative min notional", "\"min_notional\":\"10\"", "\"min_notional\":\"-10\"",
      RULE(min_notional)),
    R("leverage 101", "\"max_leverage\":50,\"tiers\"", "\"max_leverage\":101,\"tiers\"",
      RULE(max_leverage)),
    R("leverage 0", "\"max_leverage\":50,\"tiers\"", "\"max_leverage\":0,\"tiers\"",
      RULE(max_leverage)),
    R("tier above the market", "\"max_leverage\":50,\"tiers\"", "\"max_leverage\":49,\"tiers\"",
      RULE(tier_of_market)),
    R("market above the tier", "\"max_leverage\":50,\"tiers\"", "\"max_leverage\":51,\"tiers\"", 0),
    R("rates left out", ",\"imr_ppm\":20000,\"mmr_ppm\":10000", "", 0),
    R("other rate", "\"imr_ppm\":20000", "\"imr_ppm\":20001", RULE(tier_imr)),
    R("other maintenance", "\"mmr_ppm\":10000", "\"mmr_ppm\":9999", RULE(tier_mmr)),
    R("tiers not ascending", "\"upper_notional\":\"100000000\"", "\"upper_notional\":\"20000000\"",
      RULE(tier_ascends)),
    R("a tier below a USDC", "\"upper_notional\":\"20000000\"", "\"upper_notional\":\"0.999999\"",
      RULE(tier_upper)),
    R("a tier of one", "\"upper_notional\":\"20000000\"", "\"upper_notional\":\"1\"", 0),
    R("last tier has an end", "\"upper_notional\":null", "\"upper_notional\":\"600000000\"",
      RULE(tier_end)),
    R("two without end", "\"upper_notional\":\"500000000\"", "\"upper_notional\":null",
      RULE(tier_ascends)),
    R("two tiers of one leverage", "\"max_leverage\":25,\"imr_ppm\":40000,\"mmr_ppm\":20000",
      "\"max_leverage\":10,\"imr_ppm\":100000,\"mmr_ppm\":50000", 0),
    R("leverage rises", "\"max_leverage\":25,\"imr_ppm\":40000,\"mmr_ppm\":20000",
      "\"max_leverage\":9", RULE(tier_falls)),
    R("tier leverage 0", "\"max_leverage\":25,\"imr_ppm\":40000,\"mmr_ppm\":20000",
      "\"max_leverage\":0", RULE(tier_leverage)),
    R("tier leverage 101", "\"max_leverage\":50,\"imr_ppm\":20000,\"mmr_ppm\":10000",
      "\"max_leverage\":101", RULE(tier_leverage)),
    R("tier leverage 1", "\"max_leverage\":5,\"imr_ppm\":200000,\"mmr_ppm\":100000",
      "\"max_leverage\":1", 0),
    R("tier leverage as text", "\"max_leverage\":25", "\"max_leverage\":\"25\"",
      RULE(tier_leverage)),
    R("tier without leverage", "\"max_leverage\":25,", "", RULE(tier_leverage)),
    R("unknown in tier", "\"max_leverage\":25", "\"max_leverage\":25,\"x\":0", RULE(tiers)),
    R("band 0", "\"price_band_ppm\":100000", "\"price_band_ppm\":0", RULE(price_band_ppm)),
    R("band 100 %", "\"price_band_ppm\":100000", "\"price_band_ppm\":1000000",
      RULE(price_band_ppm)),
    R("slippage 0", "\"max_slippage_ppm\":50000", "\"max_slippage_ppm\":0", RULE(max_slippage_ppm)),
    R("half a ppm", "0.00045", "0.0004505", RULE(fee_taker)),
    R("maker above taker", "\"maker_fee_rate\":\"0.00015\"", "\"maker_fee_rate\":\"0.001\"", 0),
    R("rebate above the lowest taker", "-0.00002", "-0.000261", RULE(fee_rebate)),
    R("rebate equal to it", "-0.00002", "-0.00026", 0),
    R("negative taker", "0.00045", "-0.00001", RULE(fee_taker)),
    R("tier twice", "{\"tier\":1", "{\"tier\":0", RULE(fee_tier)),
    R("five tiers", "{\"tier\":0,\"maker_fee_rate\":\"0.00015\",\"taker_fee_rate\":\"0.00045\"},",
      "", RULE(fee_tier)),
    R("half a ppm for the maker", "0.00015", "0.0001505", RULE(fee_maker)),
    R("maker of 100 %", "0.00015", "1", RULE(fee_maker)),
    R("maker just below it", "0.00015", "0.999999", 0),
    R("rebate of 100 %", "-0.00002", "-1", RULE(fee_maker)),
    R("maker as number", "\"0.00015\"", "0.00015", RULE(fee_maker)),
    R("no maker fee", "\"maker_fee_rate\":\"0.00015\",", "", RULE(fee_maker)),
    R("the first five tiers",
      ",{\"tier\":5,\"maker_fee_rate\":\"-0.00002\",\"taker_fee_rate\":\"0.00026\"}", "",
      RULE(fees)),
    R("seven tiers", "\"0.00026\"}",
      "\"0.00026\"},{\"tier\":6,\"maker_fee_rate\":\"0\",\"taker_fee_rate\":\"0\"}", RULE(fees)),
    R("unknown in fee", "{\"tier\":1", "{\"x\":0,\"tier\":1", RULE(fees)),
    R("funding interval", "\"funding_interval_s\":3600", "\"funding_interval_s\":28800",
      RULE(funding_interval_s)),
    R("funding interval left out", "\"funding_interval_s\":3600,", "", 0),
    R("state", "\"ACTIVE\"", "\"POST_ONLY\"", 0),
    R("unknown state", "\"ACTIVE\"", "\"active\"", RULE(state)),
    R("state left out", ",\"state\":\"ACTIVE\"", "", 0),
    R("effective at", "\"state\":\"ACTIVE\"", "\"effective_at_ns\":1755582431240112233", 0),
    R("effective at 0", "\"state\":\"ACTIVE\"", "\"effective_at_ns\":0", RULE(effective_at_ns)),
    R("effective at as text", "\"state\":\"ACTIVE\"", "\"effective_at_ns\":\"1\"",
      RULE(effective_at_ns)),
    R("half the first tier's mmr", OPTIONAL, "\"mark_book_ppm\":5000", 0),
    R("above half of it", OPTIONAL, "\"mark_book_ppm\":5001", RULE(mark_book_ppm)),
    R("the index alone", OPTIONAL, "\"mark_book_ppm\":0", 0),
    R("book as text", OPTIONAL, "\"mark_book_ppm\":\"0\"", RULE(mark_book_ppm)),
    R("no source", OPTIONAL, "\"oracle_sources_min\":0", RULE(oracle_sources_min)),
    R("one source", OPTIONAL, "\"oracle_sources_min\":1", 0),
    R("16 sources", OPTIONAL, "\"oracle_sources_min\":16", 0),
    R("17 sources", OPTIONAL, "\"oracle_sources_min\":17", RULE(oracle_sources_min)),
    R("no limit of position", OPTIONAL, "\"position_limit\":\"0\"", 0),
    R("highest limit of position", OPTIONAL, "\"position_limit\":\"1152921504606.846976\"", 0),
    R("above it: position", OPTIONAL, "\"position_limit\":\"1152921504606.846977\"",
      RULE(position_limit)),
    R("negative limit of position", OPTIONAL, "\"position_limit\":\"-1\"", RULE(position_limit)),
    R("limit of position as number", OPTIONAL, "\"position_limit\":1", RULE(position_limit)),
    R("no limit of open interest", OPTIONAL, "\"open_interest_limit\":\"0\"", 0),
    R("highest limit of open interest", OPTIONAL,
      "\"open_interest_limit\":\"1152921504606.846976\"", 0),
    R("above it: open interest", OPTIONAL, "\"open_interest_limit\":\"1152921504606.846977\"",
      RULE(open_interest_limit)),
    R("negative limit of open interest", OPTIONAL, "\"open_interest_limit\":\"-1\"",
      RULE(open_interest_limit)),
    R("limit of open interest as number", OPTIONAL, "\"open_interest_limit\":1",
      RULE(open_interest_limit)),
    R("an array for a number", "\"asset_id\":1", "\"asset_id\":[1]", RULE(asset_id)),
    R("an object for a number", "\"asset_id\":1", "\"asset_id\":{}", RULE(asset_id)),
    R("null for a number", "\"asset_id\":1", "\"asset_id\":null", RULE(asset_id)),
    R("a number for tiers", "\"funding_interval_s\":3600", "\"funding_interval_s\":[]",
      RULE(funding_interval_s)),
};

/* J4: of several broken rules it is the first of the text from its begin to its end, then a missing
 * member, then the order of the list. */
static void test_order_of_rules(void)
{
    static const struct edit {
        const char *from, *to;
    } tail = { "\"ACTIVE\"}", "\"ACTIVE\"}x" }, missing = { "\"price_band_ppm\":100000,", "" },
      wrong = { "\"BTC-PERP\"", "\"btc-PERP\"" }, tier = { "\"upper_notional\":null,", "" },
      inner = { "\"imr_ppm\":20000", "\"imr_ppm\":20001" }, end = { "\"ACTIVE\"}", "\"ACTIVE\"" };
    static const struct order_row {
        int line;
        const char *name;
        const struct edit *first, *second;
        unsigned want; /* enum operator_rule */
    } pairs[] = {
        { __LINE__, "trailing text, then a missing member", &missing, &tail, RULE(record_text) },
        { __LINE__, "no end, then a missing member", &missing, &end, RULE(record_text) },
        { __LINE__, "a tier that lacks a member is text", &tier, &tail, RULE(tier_upper) },
        { __LINE__, "a tier of another rate is text", &inner, &missing, RULE(tier_imr) },
        { __LINE__, "a missing member, then the list", &wrong, &missing, RULE(price_band_ppm) },
        { __LINE__, "text, then the list", &wrong, &tail, RULE(record_text) },
    };
    char text[TEXT_MAX];
    struct market_record record;

    for (size_t i = 0; i < CC_COUNT(pairs); i++) {
        (void)edited(pairs[i].first->from, pairs[i].first->to, text);
        const struct edit *second = pairs[i].second;
        char *at = strstr(text, second->from), rest[TEXT_MAX];
        CHECK_ROW(&pairs[i], at != NULL);
        snprintf(rest, sizeof rest, "%s%s", second->to, at + strlen(second->from));
        memcpy(at, rest, strlen(rest) + 1);
        CHECK_ROW(&pairs[i], broken(text, strlen(text), &record) == pairs[i].want);
    }
}

static void test_rows(void)
{
    char text[TEXT_MAX];
    struct market_record record;

    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        size_t count = edited(rows[i].from, rows[i].to, text);
        CHECK_ROW(&rows[i], broken(text, count, &record) == rows[i].want);
    }
}

/* Every beginning of the record, and every single byte changed, parses to nothing worse than a
 * refusal: with sanitizers this is the memory test of the parser. */
static void test_damage(void)
{
    char text[TEXT_MAX];
    size_t count = strlen(host_btc_record);
    struct market_record record;
    uint32_t refused = 0;

    for (size_t cut = 0; cut < count; cut++)
        CHECK(!parses(host_btc_record, cut, &record));
    memcpy(text, host_btc_record, count);
    for (size_t at = 0; at < count; at++) {
        text[at] ^= 0x40;
        refused += !parses(text, count, &record);
        text[at] ^= 0x40;
    }
    CHECK(refused > count - 60);
}

/* R4: 3x gives 333,333 and 166,666; max_price is capped at 2^40 - 1 raw. */
static void test_rates_and_bounds(void)
{
    char text[TEXT_MAX];
    struct market_record record;
    size_t count = edited("\"max_leverage\":5,\"imr_ppm\":200000,\"mmr_ppm\":100000",
                          "\"max_leverage\":3,\"imr_ppm\":333333,\"mmr_ppm\":166666", text);

    CHECK(parses(text, count, &record));
    CHECK(record.tiers[3].imr_ppm == 333333 && record.tiers[3].mmr_ppm == 166666);
    count = edited("\"tick_size\":\"0.1\"", "\"tick_size\":\"100000\"", text);
    CHECK(!parses(text, count, &record)); /* max_price sent is not W7's */
    char *price = strstr(text, "1677721.5");
    char tail[64];
    snprintf(tail, sizeof tail, "%s", price + strlen("1677721.5"));
    snprintf(price, 128, "109951162777.5%s", tail);
    CHECK(parses(text, strlen(text), &record));
    CHECK(record.max_price == (UINT64_C(1) << 40) - 1);
}

/* R10: tighter is more margin at some notional. */
static void test_tighter(void)
{
    static const struct tighter_row {
        int line;
        const char *name, *from, *to;
        bool want;
    } changes[] = {
        R("the same", "\"asset_id\":1", "\"asset_id\":1", false),
        R("band", "\"price_band_ppm\":100000", "\"price_band_ppm\":5", false),
        R("a tier ends earlier", "\"upper_notional\":\"20000000\"",
          "\"upper_notional\":\"19999999\"", true),
        R("a tier ends later", "\"upper_notional\":\"20000000\"", "\"upper_notional\":\"20000001\"",
          false),
        R("more leverage in the last", "\"max_leverage\":5,\"imr_ppm\":200000,\"mmr_ppm\":100000",
          "\"max_leverage\":6", false),
        R("less leverage in the last", "\"max_leverage\":5,\"imr_ppm\":200000,\"mmr_ppm\":100000",
          "\"max_leverage\":4", true),
    };
    char text[TEXT_MAX];
    struct market_record now, next;

    CHECK(parses(host_btc_record, strlen(host_btc_record), &now));
    for (size_t i = 0; i < CC_COUNT(changes); i++) {
        size_t count = edited(changes[i].from, changes[i].to, text);
        CHECK_ROW(&changes[i], parses(text, count, &next));
        CHECK_ROW(&changes[i], market_change_is_tighter(&next, &now) == changes[i].want);
        /* The other way round it is the other answer, unless margin did not change. */
        bool is_margin = market_change_is_tighter(&now, &next) || changes[i].want;
        CHECK_ROW(&changes[i], is_margin == (i >= 2));
    }
    next = now;
    next.max_leverage = 25; /* 20 is what margin counts with (R4): no change */
    CHECK(!market_change_is_tighter(&next, &now));
    next.max_leverage = 19;
    CHECK(market_change_is_tighter(&next, &now));
}

int main(void)
{
    test_published();
    test_longest_name();
    test_rows();
    test_order_of_rules();
    test_damage();
    test_rates_and_bounds();
    test_tighter();
    return 0;
}
