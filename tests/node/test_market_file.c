/* exchange.markets: what is refused and how it is named (json.md J5; roles.md: exit 2), the
 * defaults of W10 and asset_id order. A record that 1001 would refuse must be named here, before
 * anything is written. */
#include <unistd.h>

#include "check.h"
#include "engine/table/market_record.h"
#include "node/run/market_file.h"

enum { TEXT_MAX = MARKET_FILE_BYTES_MAX + 4096 };

#define FEES                                                                    \
    "\"fees\":[{\"tier\":0,\"maker_fee_rate\":\"0\",\"taker_fee_rate\":\"0\"}," \
    "{\"tier\":1,\"maker_fee_rate\":\"0\",\"taker_fee_rate\":\"0\"},"           \
    "{\"tier\":2,\"maker_fee_rate\":\"0\",\"taker_fee_rate\":\"0\"},"           \
    "{\"tier\":3,\"maker_fee_rate\":\"0\",\"taker_fee_rate\":\"0\"},"           \
    "{\"tier\":4,\"maker_fee_rate\":\"0\",\"taker_fee_rate\":\"0\"},"           \
    "{\"tier\":5,\"maker_fee_rate\":\"0\",\"taker_fee_rate\":\"0\"}]"
#define RECORD_WITH(more, name, asset)                                                    \
    "{" more "\"market\":\"" name "-PERP\",\"asset_id\":" asset ",\"base\":\"" name "\"," \
    "\"price_decimals\":1,\"size_decimals\":5,\"tick_size\":\"0.1\","                     \
    "\"lot_size\":\"0.00001\",\"min_size\":\"0.00001\",\"max_order_size\":\"1000\","      \
    "\"min_notional\":\"10\",\"impact_notional\":\"20000\",\"max_leverage\":50,"          \
    "\"tiers\":[{\"upper_notional\":null,\"max_leverage\":50}],"                          \
    "\"price_band_ppm\":100000,\"max_slippage_ppm\":50000," FEES "}"
#define RECORD(name, asset) RECORD_WITH("", name, asset)

struct row {
    int line;
    const char *name;
    const char *text;
    const char *error; /* NULL: it is taken */
    uint32_t market_count;
};
#define ROW(...)              \
    {                         \
        __LINE__, __VA_ARGS__ \
    }

static const struct row rows[] = {
    ROW("one", "{\"markets\":[" RECORD("AAA", "7") "]}", NULL, 1),
    ROW("two", "{\"markets\":[" RECORD("AAA", "7") "," RECORD("BBB", "3") "]}", NULL, 2),
    ROW("nothing", "", "at byte 0", 0),
    ROW("no markets", "{\"other\":[]}", "no member `markets`", 0),
    ROW("empty markets", "{\"markets\":[]}", "no member `markets`", 0),
    ROW("a number among them", "{\"markets\":[1," RECORD("AAA", "7") "]}",
        "something else than records", 0),
    ROW("a list among them", "{\"markets\":[[" RECORD("AAA", "7") "]]}",
        "something else than records", 0),
    ROW("cut off", "{\"markets\":[" RECORD("AAA", "7"), "at byte", 0),
    ROW("not JSON", "markets = BTC", "at byte 0", 0),
    ROW("a member missing", "{\"markets\":[{\"market\":\"AAA-PERP\",\"asset_id\":7}]}",
        "record 1: base: required", 0),
    ROW("unknown member", "{\"markets\":[" RECORD_WITH("\"more\":1,", "AAA", "7") "]}",
        "record 1: body: no member beside", 0),
    ROW("second is wrong", "{\"markets\":[" RECORD("AAA", "7") "," RECORD("BBB", "-3") "]}",
        "record 2: asset_id: required; integer 1 to 65534", 0),
    ROW("asset_id twice", "{\"markets\":[" RECORD("AAA", "7") "," RECORD("BBB", "7") "]}",
        "record 2 has the asset_id or name of record 1", 0),
    ROW("name twice",
        "{\"markets\":[" RECORD("AAA", "7") "," RECORD("BBB", "8") "," RECORD("AAA", "9") "]}",
        "record 3 has the asset_id or name of record 1", 0),
    ROW("closed from the start",
        "{\"markets\":[" RECORD_WITH("\"state\":\"CLOSED\",", "AAA", "7") "]}",
        "record 1: state: not CLOSED", 0),
    ROW("tiers for later", "{\"markets\":[" RECORD_WITH("\"effective_at_ns\":1,", "AAA", "7") "]}",
        "record 1: effective_at_ns: absent", 0),
};

static char path[] = "/tmp/perpd-market-file-XXXXXX";

static void write_text(const char *text, size_t count)
{
    FILE *out = fopen(path, "wb");
    CHECK(out != NULL);
    CHECK(fwrite(text, 1, count, out) == count);
    CHECK(fclose(out) == 0);
}

static uint16_t asset_of(const struct core_market *market)
{
    struct market_record record;
    CHECK(market_record_parse(&record, (const uint8_t *)market->text, market->text_bytes));
    return record.asset_id;
}

static void check_rows(void)
{
    static struct market_file file;
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        const struct row *row = &rows[i];
        write_text(row->text, strlen(row->text));
        bool loaded = market_file_load(&file, path);
        if (loaded != (row->error == NULL))
            fprintf(stderr, "%s\n", file.error);
        CHECK_ROW(row, loaded == (row->error == NULL));
        if (row->error != NULL) {
            CHECK_ROW(row, strstr(file.error, row->error) != NULL);
            CHECK_ROW(row, strstr(file.error, path) != NULL);
        } else {
            CHECK_ROW(row, file.market_count == row->market_count);
        }
        for (uint32_t k = 1; loaded && k < file.market_count; k++)
            CHECK_ROW(row, asset_of(&file.markets[k - 1]) < asset_of(&file.markets[k]));
        market_file_free(&file);
    }
}

/* W10: BTC, ETH, SOL, XRP, DOGE with asset ids 1 to 5. */
static void check_defaults(void)
{
    static const char *const names[] = { "BTC-PERP", "ETH-PERP", "SOL-PERP", "XRP-PERP",
                                         "DOGE-PERP" };
    static struct market_file file;
    struct market_record record;

    CHECK(market_file_load(&file, ""));
    CHECK(file.market_count == CC_COUNT(names));
    for (uint32_t i = 0; i < file.market_count; i++) {
        const struct core_market *market = &file.markets[i];
        CHECK(market_record_parse(&record, (const uint8_t *)market->text, market->text_bytes));
        CHECK(strcmp(record.symbol, names[i]) == 0);
        CHECK(record.asset_id == i + 1);
    }
    market_file_free(&file);
}

/* A record must fit in a command's body, spaces included (W3a: 1001). */
static void check_sizes(void)
{
    static const char head[] = "{\"markets\":[{", tail[] = RECORD("AAA", "7");
    static struct market_file file;
    static char text[TEXT_MAX];

    memset(text, ' ', sizeof text);
    memcpy(text, head, sizeof head - 1);
    memcpy(text + 5000, tail + 1, sizeof tail - 2);
    memcpy(text + 5000 + sizeof tail - 2, "]}", 2);
    write_text(text, 5000 + sizeof tail);
    CHECK(!market_file_load(&file, path));
    CHECK(strstr(file.error, "longer than a command's body") != NULL);
    market_file_free(&file);

    write_text(text, MARKET_FILE_BYTES_MAX + 1);
    CHECK(!market_file_load(&file, path));
    CHECK(strstr(file.error, "larger than 1 MiB") != NULL);
    market_file_free(&file);

    CHECK(!market_file_load(&file, "/nonexistent/markets.json"));
    CHECK(strstr(file.error, "No such file") != NULL);
    market_file_free(&file);
    CHECK(!market_file_load(&file, "/tmp"));
    CHECK(strstr(file.error, "not a regular file") != NULL);
    market_file_free(&file);
}

int main(void)
{
    int made = mkstemp(path);
    CHECK(made >= 0);
    close(made);
    check_rows();
    check_defaults();
    check_sizes();
    unlink(path);
    return 0;
}
