#include "net/json/json_market.h"

#include "net/json/json_field.h"

enum { FUNDING_INTERVAL_S = 3600, INVARIANTS = 10 };

static const char *const state_names[] = { "ACTIVE",      "POST_ONLY", "REDUCE_ONLY",
                                           "CANCEL_ONLY", "HALTED",    "CLOSED" };

/* wire.md W3c, effect 2111 */
static const char *const cause_names[] = { "operator", "oracle", "fund",    "invariant",
                                           "restart",  "clock",  "restored" };

static void write_tiers(struct writer *writer, const struct row_tier *tiers, unsigned count)
{
    WRITER_TEXT(writer, "[");
    for (unsigned i = 0; i < count && i < ROW_TIERS_MAX; i++) {
        if (i > 0)
            WRITER_TEXT(writer, ",");
        WRITER_TEXT(writer, "{\"upper_notional\":");
        json_field_decimal_or_null(writer, tiers[i].upper_notional, JSON_FIELD_AMOUNT_SCALE);
        JSON_FIELD_UINT(writer, "max_leverage", tiers[i].max_leverage);
        JSON_FIELD_UINT(writer, "imr_ppm", tiers[i].imr_ppm);
        JSON_FIELD_UINT(writer, "mmr_ppm", tiers[i].mmr_ppm);
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
        JSON_FIELD_DECIMAL(writer, "maker_fee_rate", row->maker_fee_ppm[i], JSON_FIELD_RATE_SCALE);
        JSON_FIELD_DECIMAL(writer, "taker_fee_rate", row->taker_fee_ppm[i], JSON_FIELD_RATE_SCALE);
        WRITER_TEXT(writer, "}");
    }
    WRITER_TEXT(writer, "]");
}

void json_market_record(struct writer *writer, const struct row_market *row)
{
    unsigned price_scale = row->price_decimals, size_scale = row->size_decimals;
    WRITER_TEXT(writer, "{\"market\":");
    json_field_padded(writer, row->market, sizeof row->market);
    JSON_FIELD_UINT(writer, "asset_id", row->asset_id);
    WRITER_TEXT(writer, ",\"base\":");
    json_field_padded(writer, row->base, sizeof row->base);
    JSON_FIELD_UINT(writer, "price_decimals", price_scale);
    JSON_FIELD_UINT(writer, "size_decimals", size_scale);
    JSON_FIELD_DECIMAL(writer, "tick_size", row->tick_size, price_scale);
    JSON_FIELD_DECIMAL(writer, "lot_size", row->lot_size, size_scale);
    JSON_FIELD_DECIMAL(writer, "min_size", row->min_size, size_scale);
    JSON_FIELD_DECIMAL(writer, "max_order_size", row->max_order_size, size_scale);
    JSON_FIELD_DECIMAL(writer, "min_notional", row->min_notional, JSON_FIELD_AMOUNT_SCALE);
    JSON_FIELD_DECIMAL(writer, "impact_notional", row->impact_notional, JSON_FIELD_AMOUNT_SCALE);
    JSON_FIELD_UINT(writer, "max_leverage", row->max_leverage);
    WRITER_TEXT(writer, ",\"tiers\":");
    write_tiers(writer, row->tiers, row->tier_count);
    JSON_FIELD_UINT(writer, "price_band_ppm", row->price_band_ppm);
    JSON_FIELD_UINT(writer, "max_slippage_ppm", row->max_slippage_ppm);
    JSON_FIELD_UINT(writer, "mark_book_ppm", row->mark_book_ppm);
    JSON_FIELD_UINT(writer, "oracle_sources_min", row->oracle_sources_min);
    JSON_FIELD_DECIMAL(writer, "position_limit", row->position_limit, JSON_FIELD_AMOUNT_SCALE);
    JSON_FIELD_DECIMAL(writer, "open_interest_limit", row->open_interest_limit,
                       JSON_FIELD_AMOUNT_SCALE);
    write_fees(writer, row);
    JSON_FIELD_UINT(writer, "funding_interval_s", FUNDING_INTERVAL_S);
    JSON_FIELD_DECIMAL(writer, "max_price", row->max_price, price_scale);
    JSON_FIELD_WORD(writer, "state", JSON_FIELD_NAME_OF(state_names, row->state));
    if (row->effective_at_ns != 0) {
        JSON_FIELD_UINT(writer, "effective_at_ns", row->effective_at_ns);
        WRITER_TEXT(writer, ",\"next_tiers\":");
        write_tiers(writer, row->next_tiers, row->next_tier_count);
    }
    WRITER_TEXT(writer, "}");
}

void json_market_state_data(struct writer *writer, const struct row_market_state *row)
{
    WRITER_TEXT(writer, "{\"state\":\"");
    writer_text(writer, JSON_FIELD_NAME_OF(state_names, row->state));
    if (row->cause == ROW_CAUSE_NONE)
        WRITER_TEXT(writer, "\",\"cause\":null");
    else {
        WRITER_TEXT(writer, "\"");
        JSON_FIELD_WORD(writer, "cause", JSON_FIELD_NAME_OF(cause_names, row->cause));
    }
    if (row->state == CC_COUNT(state_names) - 1)
        JSON_FIELD_DECIMAL(writer, "settlement_price", row->settlement_price, row->price_decimals);
    WRITER_TEXT(writer, "}");
}

void json_market_list(struct writer *writer, const struct reply *reply, const uint8_t *rows)
{
    WRITER_TEXT(writer, "{\"markets\":[");
    for (uint32_t i = 0; i < reply->row_count; i++) {
        struct row_market row;
        memcpy(&row, rows + (size_t)i * sizeof row, sizeof row);
        if (i > 0)
            WRITER_TEXT(writer, ",");
        json_market_record(writer, &row);
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

static void write_book_moment(struct writer *writer, const struct reply *reply,
                              const struct row_book *book)
{
    WRITER_TEXT(writer, "{\"market\":");
    json_field_padded(writer, book->market, sizeof book->market);
    JSON_FIELD_UINT(writer, "seq", book->book_seq);
    JSON_FIELD_UINT(writer, "engine_seq", reply->applied);
    JSON_FIELD_UINT(writer, "time_ns", reply->time_ns);
}

void json_market_book_orders(struct writer *writer, const struct reply *reply, const uint8_t *rows)
{
    struct row_book book;
    memcpy(&book, rows, sizeof book);
    write_book_moment(writer, reply, &book);
    WRITER_TEXT(writer, ",");
    json_market_orders(writer, rows);
    WRITER_TEXT(writer, "}");
}

static void write_order(struct writer *writer, const struct row_book_order *order, const char *side,
                        const uint8_t decimals[2])
{
    WRITER_TEXT(writer, "\"handle\":");
    writer_uint(writer, order->handle);
    JSON_FIELD_WORD(writer, "side", side);
    JSON_FIELD_DECIMAL(writer, "price", order->price, decimals[0]);
    JSON_FIELD_DECIMAL(writer, "size", order->size, decimals[1]);
    WRITER_TEXT(writer, "}");
}

void json_market_orders(struct writer *writer, const uint8_t *rows)
{
    struct row_book book;
    memcpy(&book, rows, sizeof book);
    const uint8_t *orders = rows + sizeof book;
    const uint8_t decimals[2] = { book.price_decimals, book.size_decimals };
    WRITER_TEXT(writer, "\"orders\":[");
    for (uint32_t i = 0; i < book.bid_count + book.ask_count; i++) {
        struct row_book_order order;
        memcpy(&order, orders + (size_t)i * sizeof order, sizeof order);
        writer_text(writer, i > 0 ? ",{" : "{");
        write_order(writer, &order, i < book.bid_count ? "LONG" : "SHORT", decimals);
    }
    WRITER_TEXT(writer, "]");
}

void json_market_order_change(struct writer *writer, const struct book_log_change *change)
{
    static const char *const actions[] = { "add", "reduce", "delete", "execute" };
    const uint8_t decimals[2] = { change->price_decimals, change->size_decimals };
    const struct row_book_order order = {
        .price = change->price,
        .size = change->action == BOOK_LOG_DELETE ? 0 : change->size,
        .handle = change->handle,
    };
    INVARIANT(change->action < CC_COUNT(actions));
    WRITER_TEXT(writer, "{\"action\":\"");
    writer_text(writer, actions[change->action]);
    WRITER_TEXT(writer, "\",");
    write_order(writer, &order, change->side == 0 ? "LONG" : "SHORT", decimals);
}

void json_market_book(struct writer *writer, const struct reply *reply, const uint8_t *rows)
{
    struct row_book book;
    memcpy(&book, rows, sizeof book);
    const uint8_t *levels = rows + sizeof book;
    write_book_moment(writer, reply, &book);
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
    json_field_padded(writer, row->market, sizeof row->market);
    JSON_FIELD_DECIMAL(writer, "size_sum", row->size_sum, row->size_decimals);
    JSON_FIELD_DECIMAL(writer, "cost_sum", row->cost_sum, JSON_FIELD_AMOUNT_SCALE);
    JSON_FIELD_DECIMAL_OR_NULL(writer, "best_bid", row->best_bid, row->price_decimals);
    JSON_FIELD_DECIMAL_OR_NULL(writer, "best_ask", row->best_ask, row->price_decimals);
    JSON_FIELD_DECIMAL(writer, "funding_pool", row->funding_pool, JSON_FIELD_AMOUNT_SCALE);
    WRITER_TEXT(writer, "}");
}

static void write_totals(struct writer *writer, const struct row_audit *audit)
{
    WRITER_TEXT(writer, "\"totals\":{\"cash\":");
    writer_decimal(writer, audit->cash, JSON_FIELD_AMOUNT_SCALE);
    JSON_FIELD_DECIMAL(writer, "cost", audit->cost, JSON_FIELD_AMOUNT_SCALE);
    JSON_FIELD_DECIMAL(writer, "fee_account", audit->fee_account, JSON_FIELD_AMOUNT_SCALE);
    JSON_FIELD_DECIMAL(writer, "withdrawals_pending", audit->withdrawals_pending,
                       JSON_FIELD_AMOUNT_SCALE);
    JSON_FIELD_DECIMAL(writer, "funding_pool", audit->funding_pool, JSON_FIELD_AMOUNT_SCALE);
    JSON_FIELD_DECIMAL(writer, "deposits", audit->deposits, JSON_FIELD_AMOUNT_SCALE);
    JSON_FIELD_DECIMAL(writer, "faucet", audit->faucet, JSON_FIELD_AMOUNT_SCALE);
    JSON_FIELD_DECIMAL(writer, "top_ups", audit->top_ups, JSON_FIELD_AMOUNT_SCALE);
    JSON_FIELD_DECIMAL(writer, "withdrawals_settled", audit->withdrawals_settled,
                       JSON_FIELD_AMOUNT_SCALE);
    WRITER_TEXT(writer, "}");
}

/* R2, solvency: what the exchange has beyond what it owes, beside what it holds for others. */
static void write_solvency(struct writer *writer, const struct row_audit *audit)
{
    int128 net = (int128)audit->fund + audit->fee_account - audit->owed;

    WRITER_TEXT(writer, ",\"solvency\":{\"fund\":");
    writer_decimal(writer, audit->fund, JSON_FIELD_AMOUNT_SCALE);
    JSON_FIELD_DECIMAL(writer, "fee_account", audit->fee_account, JSON_FIELD_AMOUNT_SCALE);
    JSON_FIELD_DECIMAL(writer, "owed", audit->owed, JSON_FIELD_AMOUNT_SCALE);
    JSON_FIELD_DECIMAL(writer, "net", net, JSON_FIELD_AMOUNT_SCALE);
    JSON_FIELD_DECIMAL(writer, "claims", audit->claims, JSON_FIELD_AMOUNT_SCALE);
    JSON_FIELD_BOOL(writer, "short", net < 0);
    WRITER_TEXT(writer, "}");
}

void json_market_audit(struct writer *writer, const struct reply *reply, const uint8_t *rows)
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
    for (unsigned i = 0; i < INVARIANTS; i++) {
        WRITER_TEXT(writer, ",\"i");
        writer_uint(writer, i + 1);
        WRITER_TEXT(writer, "\":");
        writer_bool(writer, audit.invariants >> i & 1);
    }
    write_solvency(writer, &audit);
    JSON_FIELD_UINT(writer, "recount_differences", audit.recount_differences);
    WRITER_TEXT(writer, "}");
}
