#include "net/show_market.h"

#include "base/text.h"

enum { AMOUNT_SCALE = 6, RATE_SCALE = 6, FUNDING_INTERVAL_S = 3600 };

static const char *const state_names[] = { "ACTIVE",      "POST_ONLY", "REDUCE_ONLY",
                                           "CANCEL_ONLY", "HALTED",    "CLOSED" };

void show_market_text(struct writer *writer, const char *field, size_t count)
{
    writer_string(writer, field, text_trim(field, count));
}

/* ,"name":"<decimal>" */
#define MEMBER_DECIMAL(writer, name, value, scale) \
    do {                                           \
        WRITER_TEXT(writer, ",\"" name "\":");     \
        writer_decimal(writer, (value), (scale));  \
    } while (0)

#define MEMBER_UINT(writer, name, value)       \
    do {                                       \
        WRITER_TEXT(writer, ",\"" name "\":"); \
        writer_uint(writer, (value));          \
    } while (0)

static void write_tiers(struct writer *writer, const struct row_tier *tiers, unsigned count)
{
    WRITER_TEXT(writer, "[");
    for (unsigned i = 0; i < count && i < ROW_TIERS_MAX; i++) {
        if (i > 0)
            WRITER_TEXT(writer, ",");
        WRITER_TEXT(writer, "{\"upper_notional\":");
        if (tiers[i].upper_notional == 0)
            WRITER_TEXT(writer, "null");
        else
            writer_decimal(writer, tiers[i].upper_notional, AMOUNT_SCALE);
        MEMBER_UINT(writer, "max_leverage", tiers[i].max_leverage);
        MEMBER_UINT(writer, "imr_ppm", tiers[i].imr_ppm);
        MEMBER_UINT(writer, "mmr_ppm", tiers[i].mmr_ppm);
        WRITER_TEXT(writer, "}");
    }
    WRITER_TEXT(writer, "]");
}

static void write_fees(struct writer *writer, const struct row_market *row)
{
    WRITER_TEXT(writer, ",\"fees\":[");
    for (unsigned i = 0; i < ROW_FEE_TIERS; i++) {
        if (i > 0)
            WRITER_TEXT(writer, ",");
        WRITER_TEXT(writer, "{\"tier\":");
        writer_uint(writer, i);
        MEMBER_DECIMAL(writer, "maker_fee_rate", row->maker_fee_ppm[i], RATE_SCALE);
        MEMBER_DECIMAL(writer, "taker_fee_rate", row->taker_fee_ppm[i], RATE_SCALE);
        WRITER_TEXT(writer, "}");
    }
    WRITER_TEXT(writer, "]");
}

void show_market_record(struct writer *writer, const struct row_market *row)
{
    unsigned price_scale = row->price_decimals, size_scale = row->size_decimals;
    WRITER_TEXT(writer, "{\"market\":");
    show_market_text(writer, row->market, sizeof row->market);
    MEMBER_UINT(writer, "asset_id", row->asset_id);
    WRITER_TEXT(writer, ",\"base\":");
    show_market_text(writer, row->base, sizeof row->base);
    MEMBER_UINT(writer, "price_decimals", price_scale);
    MEMBER_UINT(writer, "size_decimals", size_scale);
    MEMBER_DECIMAL(writer, "tick_size", row->tick_size, price_scale);
    MEMBER_DECIMAL(writer, "lot_size", row->lot_size, size_scale);
    MEMBER_DECIMAL(writer, "min_size", row->min_size, size_scale);
    MEMBER_DECIMAL(writer, "max_order_size", row->max_order_size, size_scale);
    MEMBER_DECIMAL(writer, "min_notional", row->min_notional, AMOUNT_SCALE);
    MEMBER_DECIMAL(writer, "impact_notional", row->impact_notional, AMOUNT_SCALE);
    MEMBER_UINT(writer, "max_leverage", row->max_leverage);
    WRITER_TEXT(writer, ",\"tiers\":");
    write_tiers(writer, row->tiers, row->tier_count);
    MEMBER_UINT(writer, "price_band_ppm", row->price_band_ppm);
    MEMBER_UINT(writer, "max_slippage_ppm", row->max_slippage_ppm);
    write_fees(writer, row);
    MEMBER_UINT(writer, "funding_interval_s", FUNDING_INTERVAL_S);
    MEMBER_DECIMAL(writer, "max_price", row->max_price, price_scale);
    WRITER_TEXT(writer, ",\"state\":\"");
    writer_text(writer, row->state < CC_COUNT(state_names) ? state_names[row->state] : "");
    WRITER_TEXT(writer, "\"");
    if (row->effective_at_ns != 0) {
        MEMBER_UINT(writer, "effective_at_ns", row->effective_at_ns);
        WRITER_TEXT(writer, ",\"next_tiers\":");
        write_tiers(writer, row->next_tiers, row->next_tier_count);
    }
    WRITER_TEXT(writer, "}");
}

void show_market_list(struct writer *writer, const struct reply *reply, const uint8_t *rows)
{
    WRITER_TEXT(writer, "{\"markets\":[");
    for (uint32_t i = 0; i < reply->row_count; i++) {
        struct row_market row;
        memcpy(&row, rows + (size_t)i * sizeof row, sizeof row);
        if (i > 0)
            WRITER_TEXT(writer, ",");
        show_market_record(writer, &row);
    }
    WRITER_TEXT(writer, "]}");
}

static void write_levels(struct writer *writer, const struct row_book *book, const uint8_t *rows,
                         uint32_t count)
{
    WRITER_TEXT(writer, "[");
    for (uint32_t i = 0; i < count; i++) {
        struct row_level level;
        memcpy(&level, rows + (size_t)i * sizeof level, sizeof level);
        if (i > 0)
            WRITER_TEXT(writer, ",");
        WRITER_TEXT(writer, "[");
        writer_decimal(writer, level.price, book->price_decimals);
        WRITER_TEXT(writer, ",");
        writer_decimal(writer, level.size, book->size_decimals);
        WRITER_TEXT(writer, "]");
    }
    WRITER_TEXT(writer, "]");
}

void show_market_book(struct writer *writer, const struct reply *reply, const uint8_t *rows)
{
    struct row_book book;
    memcpy(&book, rows, sizeof book);
    const uint8_t *levels = rows + sizeof book;
    WRITER_TEXT(writer, "{\"market\":");
    show_market_text(writer, book.market, sizeof book.market);
    MEMBER_UINT(writer, "seq", book.book_seq);
    MEMBER_UINT(writer, "engine_seq", reply->applied);
    MEMBER_UINT(writer, "time_ns", reply->time_ns);
    WRITER_TEXT(writer, ",\"bids\":");
    write_levels(writer, &book, levels, book.bid_count);
    WRITER_TEXT(writer, ",\"asks\":");
    write_levels(writer, &book, levels + (size_t)book.bid_count * sizeof(struct row_level),
                 book.ask_count);
    WRITER_TEXT(writer, "}");
}

static void write_audit_market(struct writer *writer, const struct row_audit_market *row)
{
    WRITER_TEXT(writer, "{\"market\":");
    show_market_text(writer, row->market, sizeof row->market);
    MEMBER_DECIMAL(writer, "size_sum", row->size_sum, row->size_decimals);
    MEMBER_DECIMAL(writer, "cost_sum", row->cost_sum, AMOUNT_SCALE);
    if (row->best_bid == 0)
        WRITER_TEXT(writer, ",\"best_bid\":null");
    else
        MEMBER_DECIMAL(writer, "best_bid", row->best_bid, row->price_decimals);
    if (row->best_ask == 0)
        WRITER_TEXT(writer, ",\"best_ask\":null");
    else
        MEMBER_DECIMAL(writer, "best_ask", row->best_ask, row->price_decimals);
    MEMBER_DECIMAL(writer, "funding_pool", row->funding_pool, AMOUNT_SCALE);
    WRITER_TEXT(writer, "}");
}

static void write_totals(struct writer *writer, const struct row_audit *audit)
{
    WRITER_TEXT(writer, "\"totals\":{\"cash\":");
    writer_decimal(writer, audit->cash, AMOUNT_SCALE);
    MEMBER_DECIMAL(writer, "cost", audit->cost, AMOUNT_SCALE);
    MEMBER_DECIMAL(writer, "fee_account", audit->fee_account, AMOUNT_SCALE);
    MEMBER_DECIMAL(writer, "withdrawals_pending", audit->withdrawals_pending, AMOUNT_SCALE);
    MEMBER_DECIMAL(writer, "funding_pool", audit->funding_pool, AMOUNT_SCALE);
    MEMBER_DECIMAL(writer, "deposits", audit->deposits, AMOUNT_SCALE);
    MEMBER_DECIMAL(writer, "faucet", audit->faucet, AMOUNT_SCALE);
    MEMBER_DECIMAL(writer, "top_ups", audit->top_ups, AMOUNT_SCALE);
    MEMBER_DECIMAL(writer, "withdrawals_settled", audit->withdrawals_settled, AMOUNT_SCALE);
    WRITER_TEXT(writer, "}");
}

void show_market_audit(struct writer *writer, const struct reply *reply, const uint8_t *rows)
{
    struct row_audit audit;
    memcpy(&audit, rows, sizeof audit);
    WRITER_TEXT(writer, "{\"sequence\":");
    writer_uint(writer, reply->applied);
    WRITER_TEXT(writer, ",\"markets\":[");
    for (uint32_t i = 0; i < audit.market_count; i++) {
        struct row_audit_market row;
        memcpy(&row, rows + sizeof audit + (size_t)i * sizeof row, sizeof row);
        if (i > 0)
            WRITER_TEXT(writer, ",");
        write_audit_market(writer, &row);
    }
    WRITER_TEXT(writer, "],");
    write_totals(writer, &audit);
    for (unsigned i = 0; i < 6; i++) {
        const char name[] = { ',', '"', 'i', (char)('1' + i), '"', ':' };
        writer_bytes(writer, name, sizeof name);
        writer_bool(writer, audit.invariants >> i & 1);
    }
    MEMBER_UINT(writer, "recount_differences", audit.recount_differences);
    WRITER_TEXT(writer, "}");
}
