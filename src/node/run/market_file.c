#include "node/run/market_file.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/json_scan.h"
#include "base/operator_rule.h"
#include "base/text_file.h"
#include "engine/table/market_record.h"

/* W10 and R4: BTC and ETH to 50x with an impact notional of 20,000, the others to 20x with 6,000;
 * fees are R6's ladder, max_order_size is 2^40 - 1 raw (a whole number of lots of one). */
/* clang-format off */
#define FEES \
    "\"fees\":[{\"tier\":0,\"maker_fee_rate\":\"0.00015\",\"taker_fee_rate\":\"0.00045\"}," \
    "{\"tier\":1,\"maker_fee_rate\":\"0.00012\",\"taker_fee_rate\":\"0.0004\"}," \
    "{\"tier\":2,\"maker_fee_rate\":\"0.00008\",\"taker_fee_rate\":\"0.00035\"}," \
    "{\"tier\":3,\"maker_fee_rate\":\"0.00004\",\"taker_fee_rate\":\"0.0003\"}," \
    "{\"tier\":4,\"maker_fee_rate\":\"0\",\"taker_fee_rate\":\"0.00028\"}," \
    "{\"tier\":5,\"maker_fee_rate\":\"-0.00002\",\"taker_fee_rate\":\"0.00026\"}]"
#define TIERS_50 \
    "\"impact_notional\":\"20000\",\"max_leverage\":50,\"tiers\":[" \
    "{\"upper_notional\":\"20000000\",\"max_leverage\":50}," \
    "{\"upper_notional\":\"100000000\",\"max_leverage\":25}," \
    "{\"upper_notional\":\"500000000\",\"max_leverage\":10}," \
    "{\"upper_notional\":null,\"max_leverage\":5}]," \
    "\"position_limit\":\"50000000\",\"open_interest_limit\":\"500000000\""
#define TIERS_20 \
    "\"impact_notional\":\"6000\",\"max_leverage\":20,\"tiers\":[" \
    "{\"upper_notional\":\"5000000\",\"max_leverage\":20}," \
    "{\"upper_notional\":\"20000000\",\"max_leverage\":10}," \
    "{\"upper_notional\":null,\"max_leverage\":3}]," \
    "\"position_limit\":\"10000000\",\"open_interest_limit\":\"50000000\""
#define MARKET(base, asset, price_decimals, size_decimals, tick, lot, max_size, tiers) \
    "{\"market\":\"" base "-PERP\",\"asset_id\":" #asset ",\"base\":\"" base "\"," \
    "\"price_decimals\":" #price_decimals ",\"size_decimals\":" #size_decimals "," \
    "\"tick_size\":\"" tick "\",\"lot_size\":\"" lot "\",\"min_size\":\"" lot "\"," \
    "\"max_order_size\":\"" max_size "\",\"min_notional\":\"10\"," tiers "," \
    "\"price_band_ppm\":100000,\"max_slippage_ppm\":50000," FEES "}"

static const char default_text[] = "{\"markets\":["
    MARKET("BTC",  1, 1, 5, "0.1",     "0.00001", "10995116.27775", TIERS_50) ","
    MARKET("ETH",  2, 2, 4, "0.01",    "0.0001",  "109951162.7775", TIERS_50) ","
    MARKET("SOL",  3, 4, 2, "0.001",   "0.01",    "10995116277.75", TIERS_20) ","
    MARKET("XRP",  4, 6, 0, "0.0001",  "1",       "1099511627775",  TIERS_20) ","
    MARKET("DOGE", 5, 6, 0, "0.00001", "1",       "1099511627775",  TIERS_20)
    "]}";
/* clang-format on */

static bool fail(struct market_file *file, const char *path, const char *why)
{
    snprintf(file->error, sizeof file->error, "exchange.markets: %.120s: %s", path, why);
    return false;
}

/* Finds the records of the array `markets` in the text. */
static bool split(struct market_file *file, const char *path, size_t count)
{
    static struct json_scan scan; /* 15 KB, start-up only */
    struct json_token token;
    char detail[96];
    bool inside = false;

    json_scan_begin(&scan, file->text, count);
    while (json_scan_next(&scan, &token)) {
        if (token.kind == JSON_ARRAY && token.named && scan.depth == 2) {
            inside = json_scan_equal(&token.name, "markets", strlen("markets"));
            continue;
        }
        if (token.kind == JSON_ARRAY_END)
            inside = false;
        if (!inside)
            continue;
        if (token.kind != JSON_OBJECT)
            return fail(file, path, "`markets` holds something else than records");
        if (file->market_count == MARKET_FILE_MARKETS_MAX)
            return fail(file, path, "has more than 128 markets");
        if (!json_scan_skip(&scan, &token))
            break;
        const char *end = file->text + scan.at;
        file->markets[file->market_count++] =
            (struct core_market){ token.value.text, (uint32_t)(end - token.value.text) };
    }
    if (scan.error != JSON_OK) {
        snprintf(detail, sizeof detail, "%s at byte %u", json_scan_error_text(scan.error), scan.at);
        return fail(file, path, detail);
    }
    if (file->market_count == 0)
        return fail(file, path, "has no member `markets` with a record in it");
    return true;
}

static int by_asset(const void *a, const void *b)
{
    struct market_record left, right;
    const struct core_market *l = a, *r = b;
    bool both = market_record_parse(&left, (const uint8_t *)l->text, l->text_bytes) &&
                market_record_parse(&right, (const uint8_t *)r->text, r->text_bytes);
    INVARIANT(both); /* checked before the sort */
    return (left.asset_id > right.asset_id) - (left.asset_id < right.asset_id);
}

/* The rule that 1001 would refuse the record by in an empty exchange. */
static enum operator_rule fault_of(struct market_record *record, const struct core_market *market)
{
    enum operator_rule broken =
        market_record_read(record, (const uint8_t *)market->text, market->text_bytes);

    if (broken != OPERATOR_RULE_none)
        return broken;
    if (record->effective_at_ns != 0)
        return OPERATOR_RULE_new_effective;
    return record->state == MARKET_CLOSED ? OPERATOR_RULE_new_state : OPERATOR_RULE_none;
}

/* The first record before `index` with the same asset_id or name, or `index`. */
static uint32_t twin_of(const struct market_file *file, uint32_t index,
                        const struct market_record *record)
{
    struct market_record other;
    for (uint32_t i = 0; i < index; i++) {
        const struct core_market *market = &file->markets[i];
        bool parsed =
            market_record_parse(&other, (const uint8_t *)market->text, market->text_bytes);
        INVARIANT(parsed);
        if (other.asset_id == record->asset_id ||
            memcmp(other.symbol, record->symbol, sizeof other.symbol) == 0)
            return i;
    }
    return index;
}

/* A record that 1001 would refuse must not reach an empty directory: it is named here. */
static bool check(struct market_file *file, const char *path)
{
    struct market_record record;
    char detail[160];

    for (uint32_t i = 0; i < file->market_count; i++) {
        if (file->markets[i].text_bytes > REQUEST_BODY_MAX) {
            snprintf(detail, sizeof detail, "record %u is longer than a command's body", i + 1);
            return fail(file, path, detail);
        }
        enum operator_rule broken = fault_of(&record, &file->markets[i]);
        if (broken != OPERATOR_RULE_none) {
            snprintf(detail, sizeof detail, "record %u: %s: %s", i + 1, operator_rule_field(broken),
                     operator_rule_text(broken));
            return fail(file, path, detail);
        }
        uint32_t twin = twin_of(file, i, &record);
        if (twin != i) {
            snprintf(detail, sizeof detail, "record %u has the asset_id or name of record %u",
                     i + 1, twin + 1);
            return fail(file, path, detail);
        }
    }
    qsort(file->markets, file->market_count, sizeof file->markets[0], by_asset);
    return true;
}

bool market_file_load(struct market_file *file, const char *path)
{
    size_t count = sizeof default_text - 1;
    char why[TEXT_FILE_WHY] = "no memory";

    memset(file, 0, sizeof *file);
    file->text = path[0] == '\0' ? strdup(default_text) : text_file_read(path, &count, why);
    if (file->text == NULL)
        return fail(file, path, why);
    return split(file, path, count) && check(file, path);
}

void market_file_free(struct market_file *file)
{
    free(file->text);
    file->text = NULL;
    file->market_count = 0;
}
