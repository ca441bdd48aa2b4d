/* Defining and changing markets by 1001 (R9, R10, R11; json.md J5). */
#include "engine/state/state.h"
#include "engine/view/read.h"
#include "host.h"
#include "rig.h"

static struct host host;

enum { TEXT_MAX = 8192 };

#define DAY_NS (86400 * HOST_SECOND_NS)

static char text[TEXT_MAX];

/* The published record with `from` replaced by `to`, twice if there is a second pair. */
static const char *edited(const char *from, const char *to)
{
    const char *at = strstr(host_btc_record, from);

    CHECK(at != NULL);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - host_btc_record), host_btc_record, to,
             at + strlen(from));
    return text;
}

static void also(const char *from, const char *to)
{
    char copy[TEXT_MAX];

    memcpy(copy, text, sizeof copy);
    const char *at = strstr(copy, from);
    CHECK(at != NULL);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - copy), copy, to, at + strlen(from));
}

/* Whether the last record was refused by this rule, and the rule names that field (J4, J5). */
static bool breaks(enum operator_rule rule, const char *field)
{
    return host.result.rule == rule && strcmp(operator_rule_field(rule), field) == 0;
}

static void test_define(void)
{
    struct row_market row;
    struct effect_market_state state;

    host_open(&host, NULL); /* BTC-PERP is there */
    memcpy(&state, host_effect(&host, EFFECT_market_state, 0)->bytes, sizeof state);
    CHECK(state.asset_id == 1 && state.state == MARKET_ACTIVE);
    edited("\"asset_id\":1", "\"asset_id\":9");
    CHECK(host_market(&host, text) == STATUS_order_rejected_invalid); /* the name is taken */
    CHECK(host.result.rule == OPERATOR_RULE_name_taken);
    also("BTC-PERP", "AAA-PERP");
    also("\"base\":\"BTC\"", "\"base\":\"AAA\"");
    CHECK(host_market(&host, text) == STATUS_request_completed);
    edited("\"asset_id\":1", "\"asset_id\":4");
    also("BTC-PERP", "ZZZ-PERP");
    also("\"base\":\"BTC\"", "\"base\":\"ZZZ\"");
    also("ACTIVE", "CLOSED");
    CHECK(host_market(&host, text) == STATUS_order_rejected_invalid);
    CHECK(breaks(OPERATOR_RULE_new_state, "state"));
    also("\"state\":\"CLOSED\"", "\"effective_at_ns\":4000000000000000000");
    CHECK(host_market(&host, text) == STATUS_order_rejected_invalid);
    CHECK(breaks(OPERATOR_RULE_new_effective, "effective_at_ns"));
    CHECK(read_market_count(host.engine) == 2);
    also("\"effective_at_ns\":4000000000000000000", "\"state\":\"POST_ONLY\"");
    CHECK(host_market(&host, text) == STATUS_request_completed);
    memcpy(&state, host_effect(&host, EFFECT_market_state, 0)->bytes, sizeof state);
    CHECK(state.state == MARKET_POST_ONLY);
    CHECK(read_market_count(host.engine) == 3);
    read_market(host.engine, 0, &row);
    CHECK(row.asset_id == 1 && row.state == MARKET_ACTIVE);
    CHECK(row.mark_book_ppm == 2500); /* never sent: a quarter of 10,000 */
    read_market(host.engine, 1, &row);
    CHECK(row.asset_id == 4 && row.state == MARKET_POST_ONLY && row.max_price == 16777215);
    read_market(host.engine, 2, &row);
    CHECK(row.asset_id == 9 && strcmp(row.market, "AAA-PERP") == 0);
    CHECK(row.tiers[3].upper_notional == 0 && row.tiers[0].imr_ppm == 20000);
    char name[32] = "ZZZ-PERP";
    CHECK(read_market_named(host.engine, name, &row) && row.asset_id == 4);
    name[0] = 'Y';
    CHECK(!read_market_named(host.engine, name, &row));
    CHECK(host_market(&host, "{}") == STATUS_order_rejected_invalid);
    host_close(&host);
}

/* An operator's 1001 is the same with a signature; the oracle's key is not enough (W3a). */
static void test_signed(void)
{
    uint8_t body[4120] = { 0 };

    host_open(&host, NULL);
    edited("\"price_band_ppm\":100000", "\"price_band_ppm\":90000");
    memcpy(body, text, strlen(text));
    struct host_request request = { .code = REQUEST_market_define,
                                    .body = body,
                                    .body_bytes = (uint32_t)((strlen(text) + 7) & ~7u),
                                    .key = host_oracle_key,
                                    .key_bytes = 32 };
    CHECK(host_signed(&host, &request) == STATUS_rejected_unauthorized);
    CHECK(host.engine->markets.rows[0].record.price_band_ppm == 100000);
    request.key = host_operator_key;
    CHECK(host_signed(&host, &request) == STATUS_request_completed);
    CHECK(host.engine->markets.rows[0].record.price_band_ppm == 90000);
    host_close(&host);
}

/* R10: what 1001 may change of an existing market, and what never. */
static void test_change(void)
{
    static const struct row {
        int line;
        const char *name, *from, *to, *from2, *to2;
        enum status want;
        uint8_t rule;
    } rows[] = {
        { __LINE__, "nothing", "BTC", "BTC", NULL, NULL, STATUS_request_completed, 0 },
        { __LINE__, "slippage", "\"max_slippage_ppm\":50000", "\"max_slippage_ppm\":1", NULL, NULL,
          STATUS_request_completed, 0 },
        { __LINE__, "sizes", "10995116.27775", "100", NULL, NULL, STATUS_request_completed, 0 },
        { __LINE__, "fees", "0.00045", "0.0005", NULL, NULL, STATUS_request_completed, 0 },
        { __LINE__, "impact", "\"20000\"", "\"30000\"", NULL, NULL, STATUS_request_completed, 0 },
        { __LINE__, "state is ignored", "ACTIVE", "HALTED", NULL, NULL, STATUS_request_completed,
          0 },
        { __LINE__, "name", "BTC-PERP", "BTD-PERP", "\"base\":\"BTC\"", "\"base\":\"BTD\"",
          STATUS_order_rejected_invalid, OPERATOR_RULE_name_stays },
        { __LINE__, "decimals",
          "\"price_decimals\":1,\"size_decimals\":5,\"tick_size\":\"0.1\",\"lot_size\":\"0.00001\","
          "\"min_size\":\"0.00001\",\"max_order_size\":\"10995116.27775\"",
          "\"price_decimals\":2,\"size_decimals\":4,\"tick_size\":\"0.01\",\"lot_size\":\"0.0001\","
          "\"min_size\":\"0.0001\",\"max_order_size\":\"100\"",
          ",\"max_price\":\"1677721.5\"", "", STATUS_order_rejected_invalid,
          OPERATOR_RULE_decimals_stay },
        { __LINE__, "tick", "\"tick_size\":\"0.1\"", "\"tick_size\":\"0.2\"",
          ",\"max_price\":\"1677721.5\"", "", STATUS_order_rejected_invalid,
          OPERATOR_RULE_tick_stays },
        { __LINE__, "lot", "\"lot_size\":\"0.00001\"", "\"lot_size\":\"0.00003\"",
          "\"min_size\":\"0.00001\"", "\"min_size\":\"0.00003\"", STATUS_order_rejected_invalid,
          OPERATOR_RULE_lot_stays },
        { __LINE__, "looser tiers", "\"20000000\"", "\"30000000\"", NULL, NULL,
          STATUS_request_completed, 0 },
        { __LINE__, "tighter tiers without notice", "\"20000000\"", "\"19000000\"", NULL, NULL,
          STATUS_order_rejected_invalid, OPERATOR_RULE_notice_absent },
        { __LINE__, "a time without tighter tiers", "\"state\":\"ACTIVE\"",
          "\"effective_at_ns\":4000000000000000000", NULL, NULL, STATUS_order_rejected_invalid,
          OPERATOR_RULE_notice_idle },
    };
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        host_open(&host, NULL);
        edited(rows[i].from, rows[i].to);
        if (rows[i].from2 != NULL)
            also(rows[i].from2, rows[i].to2);
        CHECK_ROW(&rows[i], host_market(&host, text) == rows[i].want);
        CHECK_ROW(&rows[i], host.result.rule == rows[i].rule);
        CHECK_ROW(&rows[i], host.engine->markets.rows[0].state == MARKET_ACTIVE);
        CHECK_ROW(&rows[i], host.effect_count == 0);
        host_close(&host);
    }
}

/* R10: tighter tiers with 24 h of notice, in force from the first command at their time. */
static void test_notice(void)
{
    char state[64];
    struct row_market row;

    host_open(&host, NULL);
    for (int early = 1; early >= 0; early--) {
        uint64_t at_ns = host.clock_ns + 1 + DAY_NS - (uint64_t)early;
        edited("\"20000000\"", "\"19000000\"");
        snprintf(state, sizeof state, "\"effective_at_ns\":%llu", (unsigned long long)at_ns);
        also("\"state\":\"ACTIVE\"", state);
        also("\"price_band_ppm\":100000", "\"price_band_ppm\":70000");
        CHECK(host_market(&host, text) ==
              (early ? STATUS_order_rejected_invalid : STATUS_request_completed));
        CHECK(host.result.rule == (early ? OPERATOR_RULE_notice_short : OPERATOR_RULE_none));
        read_market(host.engine, 0, &row);
        CHECK(row.price_band_ppm == (early ? 100000 : 70000)); /* the rest at once */
        CHECK(row.tiers[0].upper_notional == UINT64_C(20000000000000));
        CHECK(row.next_tier_count == (early ? 0 : 4));
        if (!early)
            CHECK(row.effective_at_ns == at_ns &&
                  row.next_tiers[0].upper_notional == UINT64_C(19000000000000));
    }
    uint64_t at_ns = row.effective_at_ns;
    host.clock_ns = at_ns - 2;
    host_tick(&host, 1);
    read_market(host.engine, 0, &row);
    CHECK(row.next_tier_count == 4);
    host_tick(&host, 1);
    CHECK(engine_time(host.engine) == at_ns);
    read_market(host.engine, 0, &row);
    CHECK(row.next_tier_count == 0 && row.effective_at_ns == 0);
    CHECK(row.tiers[0].upper_notional == UINT64_C(19000000000000));
    host_close(&host);
}

/* Tiers that come into force make every holder's check stale: one who is short of initial margin
 * under them is flagged without the mark having moved (R7). */
static void test_tiers_reach_holders(void)
{
    char state[64];
    struct row_balance balance;
    struct host_order sell = { .price = 1000000, .quantity = -100000, .expiry = UINT64_MAX };
    struct host_order buy = { .price = 1000000, .quantity = 100000, .expiry = 0 };

    host_open(&host, "exchange.oracle_max_age_ms=0\n");
    for (uint32_t n = 1; n <= 2; n++) {
        (void)host_account(&host, n);
        CHECK(host_deposit(&host, n, 10000 * HOST_USDC) == STATUS_request_completed);
    }
    CHECK(host_oracle(&host, HOST_BTC, 1000000) == STATUS_request_completed);
    edited("\"max_leverage\":50,\"imr_ppm\":20000,\"mmr_ppm\":10000", "\"max_leverage\":5");
    also("\"max_leverage\":25,\"imr_ppm\":40000,\"mmr_ppm\":20000", "\"max_leverage\":5");
    also("\"max_leverage\":10,\"imr_ppm\":100000,\"mmr_ppm\":50000", "\"max_leverage\":5");
    snprintf(state, sizeof state, "\"effective_at_ns\":%llu",
             (unsigned long long)(host.clock_ns + DAY_NS + HOST_SECOND_NS));
    also("\"state\":\"ACTIVE\"", state);
    CHECK(host_market(&host, text) == STATUS_request_completed);
    CHECK(host_limit(&host, 1, &sell) == STATUS_request_completed);
    CHECK(host_limit(&host, 2, &buy) == STATUS_request_completed);
    CHECK(read_balance(host.engine, 2, 0, 0, &balance));
    CHECK(balance.initial_margin == (int128)(5000 * HOST_USDC)); /* 20x of 100,000 */
    CHECK(!state_portfolio(host.engine, 2)->flagged);
    host_tick(&host, DAY_NS + HOST_SECOND_NS);
    host_tick(&host, 1);
    CHECK(read_balance(host.engine, 2, 0, 0, &balance));
    CHECK(balance.initial_margin == (int128)(20000 * HOST_USDC)); /* 5x */
    CHECK(state_portfolio(host.engine, 1)->flagged && state_portfolio(host.engine, 2)->flagged);
    host_close(&host);
}

/* CLOSED is final: neither a record nor a price reaches it (R11, 1000 and 1001). No command of this
 * rules version closes a market. */
static void test_closed(void)
{
    host_open(&host, NULL);
    host.engine->markets.rows[0].state = MARKET_CLOSED;
    CHECK(host_market(&host, host_btc_record) == STATUS_market_closed);
    CHECK(breaks(OPERATOR_RULE_record_closed, "asset_id"));
    /* a change that is forbidden whatever the state comes before it */
    edited("\"tick_size\":\"0.1\"", "\"tick_size\":\"0.2\"");
    also(",\"max_price\":\"1677721.5\"", ""); /* the record itself is sound */
    CHECK(host_market(&host, text) == STATUS_order_rejected_invalid);
    CHECK(breaks(OPERATOR_RULE_tick_stays, "tick_size"));
    CHECK(host_oracle(&host, HOST_BTC, 1000000) == STATUS_market_closed);
    CHECK(host_oracle(&host, 2, 1000000) == STATUS_rejected_market_not_found);
    CHECK(host_oracle(&host, 0, 1000000) == STATUS_order_rejected_invalid_market);
    CHECK(host_oracle(&host, 0xFFFF, 1000000) == STATUS_order_rejected_invalid_market);
    host_close(&host);
}

/* J5: a record that leaves mark_book_ppm out keeps the one in force, which is at most half of the
 * first tier's mmr: tiers of a lower mmr must name another. 50x has 10,000 ppm, 100x has 5,000. */
static void test_book_kept(void)
{
    static const char clamp[] = "\"mark_book_ppm\":5000,\"state\"";
    const struct market_record *record;

    host_open(&host, NULL);
    record = &host.engine->markets.rows[0].record;
    edited("\"state\"", clamp);
    CHECK(host_market(&host, text) == STATUS_request_completed);
    edited("\"max_leverage\":50,\"tiers\"", "\"max_leverage\":100,\"tiers\"");
    also("\"max_leverage\":50,\"imr_ppm\":20000,\"mmr_ppm\":10000", "\"max_leverage\":100");
    CHECK(host_market(&host, text) == STATUS_order_rejected_invalid);
    CHECK(breaks(OPERATOR_RULE_book_kept, "mark_book_ppm"));
    CHECK(record->mark_book_ppm == 5000 && record->max_leverage == 50);
    CHECK(record->tiers[0].mmr_ppm == 10000);
    also("\"state\"", clamp); /* sent, it breaks its own rule */
    CHECK(host_market(&host, text) == STATUS_order_rejected_invalid);
    CHECK(breaks(OPERATOR_RULE_mark_book_ppm, "mark_book_ppm"));
    also("\"mark_book_ppm\":5000", "\"mark_book_ppm\":2500");
    CHECK(host_market(&host, text) == STATUS_request_completed);
    CHECK(record->mark_book_ppm == 2500 && record->tiers[0].mmr_ppm == 5000);
    also("\"mark_book_ppm\":2500,", ""); /* and the one in force is just half */
    CHECK(host_market(&host, text) == STATUS_request_completed);
    CHECK(record->mark_book_ppm == 2500);
    host_close(&host);
}

/* A later record without them gives waiting tiers up. */
static void test_notice_withdrawn(void)
{
    char state[64];
    struct row_market row;

    host_open(&host, NULL);
    edited("\"20000000\"", "\"19000000\"");
    snprintf(state, sizeof state, "\"effective_at_ns\":%llu",
             (unsigned long long)(host.clock_ns + 2 * DAY_NS));
    also("\"state\":\"ACTIVE\"", state);
    CHECK(host_market(&host, text) == STATUS_request_completed);
    CHECK(host_market(&host, host_btc_record) == STATUS_request_completed);
    read_market(host.engine, 0, &row);
    CHECK(row.next_tier_count == 0 && row.effective_at_ns == 0);
    host_tick(&host, 3 * DAY_NS);
    read_market(host.engine, 0, &row);
    CHECK(row.tiers[0].upper_notional == UINT64_C(20000000000000));
    host_close(&host);
}

/* Row 34: 128 markets. */
static void test_table_is_full(void)
{
    char id[32], name[32], base[32];

    host_open(&host, NULL);
    for (uint32_t i = 2; i <= 129; i++) {
        snprintf(id, sizeof id, "\"asset_id\":%u", i);
        snprintf(name, sizeof name, "M%u-PERP", i);
        snprintf(base, sizeof base, "\"base\":\"M%u\"", i);
        edited("\"asset_id\":1", id);
        also("BTC-PERP", name);
        also("\"base\":\"BTC\"", base);
        CHECK(host_market(&host, text) ==
              (i <= 128 ? STATUS_request_completed : STATUS_order_rejected_internal));
        CHECK(host.result.rule == (i <= 128 ? OPERATOR_RULE_none : OPERATOR_RULE_market_room));
    }
    CHECK(breaks(OPERATOR_RULE_market_room, "asset_id"));
    host_close(&host);
}

int main(void)
{
    test_define();
    test_signed();
    test_change();
    test_notice();
    test_notice_withdrawn();
    test_book_kept();
    test_tiers_reach_holders();
    test_closed();
    test_table_is_full();
    return 0;
}
