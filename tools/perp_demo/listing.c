#include "perp_demo/listing.h"

/* The defaults of wire.md W10 with the tiers of rules.md R4 and the fees of R6. */
#define FEES                                                                      \
    "\"fees\":["                                                                  \
    "{\"tier\":0,\"maker_fee_rate\":\"0.00015\",\"taker_fee_rate\":\"0.00045\"}," \
    "{\"tier\":1,\"maker_fee_rate\":\"0.00012\",\"taker_fee_rate\":\"0.0004\"},"  \
    "{\"tier\":2,\"maker_fee_rate\":\"0.00008\",\"taker_fee_rate\":\"0.00035\"}," \
    "{\"tier\":3,\"maker_fee_rate\":\"0.00004\",\"taker_fee_rate\":\"0.0003\"},"  \
    "{\"tier\":4,\"maker_fee_rate\":\"0\",\"taker_fee_rate\":\"0.00028\"},"       \
    "{\"tier\":5,\"maker_fee_rate\":\"-0.00002\",\"taker_fee_rate\":\"0.00026\"}]"

#define LARGE                                                 \
    "\"impact_notional\":\"20000\",\"max_leverage\":50,"      \
    "\"tiers\":["                                             \
    "{\"upper_notional\":\"20000000\",\"max_leverage\":50},"  \
    "{\"upper_notional\":\"100000000\",\"max_leverage\":25}," \
    "{\"upper_notional\":\"500000000\",\"max_leverage\":10}," \
    "{\"upper_notional\":null,\"max_leverage\":5}],"          \
    "\"position_limit\":\"50000000\",\"open_interest_limit\":\"500000000\","

#define SMALL                                                \
    "\"impact_notional\":\"6000\",\"max_leverage\":20,"      \
    "\"tiers\":["                                            \
    "{\"upper_notional\":\"5000000\",\"max_leverage\":20},"  \
    "{\"upper_notional\":\"20000000\",\"max_leverage\":10}," \
    "{\"upper_notional\":null,\"max_leverage\":3}],"         \
    "\"position_limit\":\"10000000\",\"open_interest_limit\":\"50000000\","

#define RECORD(id, base, price_decimals, size_decimals, tick, lot, most, kind)      \
    "{\"market\":\"" base "-PERP\",\"asset_id\":" #id ",\"base\":\"" base "\","     \
    "\"price_decimals\":" #price_decimals ",\"size_decimals\":" #size_decimals ","  \
    "\"tick_size\":\"" tick "\",\"lot_size\":\"" lot "\",\"min_size\":\"" lot "\"," \
    "\"max_order_size\":\"" most "\",\"min_notional\":\"10\"," kind                 \
    "\"price_band_ppm\":100000,\"max_slippage_ppm\":50000," FEES "}"

static const struct listing listings[LISTING_MARKETS] = {
    { "BTC-PERP", RECORD(1, "BTC", 1, 5, "0.1", "0.00001", "10995116.27775", LARGE), 1000000, 1000,
      60, 100 },
    { "ETH-PERP", RECORD(2, "ETH", 2, 4, "0.01", "0.0001", "109951162.7775", LARGE), 400000, 2500,
      90, 120 },
    { "SOL-PERP", RECORD(3, "SOL", 4, 2, "0.001", "0.01", "10995116277.75", SMALL), 2000000, 500,
      130, 150 },
    { "XRP-PERP", RECORD(4, "XRP", 6, 0, "0.0001", "1", "1099511627775", SMALL), 2500000, 400, 120,
      120 },
    { "DOGE-PERP", RECORD(5, "DOGE", 6, 0, "0.00001", "1", "1099511627775", SMALL), 200000, 5000,
      160, 160 },
};

const struct listing *listing_at(uint32_t index)
{
    INVARIANT(index < LISTING_MARKETS);
    return &listings[index];
}

uint32_t listing_find(const char *market)
{
    uint32_t index = 0;
    while (index < LISTING_MARKETS && strcmp(listings[index].market, market) != 0)
        index++;
    return index;
}
