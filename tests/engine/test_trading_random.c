/* Random streams of the order set over one and over three markets: after every command I1 to I6
 * (rules.md R2) hold, the cached figures of margin equal a recount from nothing (R4), and the
 * command's answer is one that its kind may have. Streams are short of cash, so margin refuses;
 * small quotas, so deferred work is sliced; the index jumps, so markets are held, marks scanned. */
#include "engine/view/audit.h"
#include "traffic.h"
#include "waiting.h"

enum { COMMANDS = 40000 };

struct stream {
    struct traffic traffic;
    uint32_t statuses[STATUS_COUNT];
    uint32_t reasons[256]; /* of canceled orders */
    uint32_t tier_changes;
};

static void count_reasons(struct stream *stream)
{
    const struct host *host = &stream->traffic.host;
    struct effect_order_state body;

    for (uint32_t i = 0; i < host->effect_count; i++)
        if (host->effects[i].code == EFFECT_account) {
            stream->tier_changes++;
        } else if (host->effects[i].code == EFFECT_order_state) {
            memcpy(&body, host->effects[i].bytes, sizeof body);
            if (body.status == ORDER_CANCELED || body.status == ORDER_EXPIRED)
                stream->reasons[body.reason]++;
        }
}

static void check_books(const struct host *host)
{
    uint32_t pages = 0;

    for (uint32_t i = 0; i < host->engine->markets.count; i++) {
        const struct book *book = &host->engine->markets.rows[i].book;
        pages += book_check_side(book, ORDER_LONG) + book_check_side(book, ORDER_SHORT);
    }
    CHECK(pages == host->engine->markets.pages.used);
}

static void run(struct stream *stream, uint64_t seed, uint32_t markets, const char *overrides)
{
    struct host *host = &stream->traffic.host;

    traffic_open(&stream->traffic, seed, markets, overrides);
    for (uint32_t i = 0; i < COMMANDS; i++) {
        stream->statuses[traffic_command(&stream->traffic)]++;
        count_reasons(stream);
        trade_check_figures(host);
        if (i % 8 == 0)
            waiting_check(host);
        if (i % 64 == 0)
            check_books(host);
    }
    host_close(host);
}

/* A stream that never meets a status proves nothing about it. */
static void check_reached(const struct stream *stream)
{
    static const uint8_t statuses[] = {
        STATUS_request_completed,
        STATUS_rejected_order_not_found,
        STATUS_rejected_size_not_equal,
        STATUS_rejected_size_zero,
        STATUS_rejected_invalid_size,
        STATUS_rejected_slippage_exceeds_maximum,
        STATUS_rejected_invalid_order_flags,
        STATUS_invalid_reduce_only_order,
        STATUS_self_trade_prevention,
        STATUS_rejected_post_only_would_cross_book,
        STATUS_rejected_market_cancel_only,
        STATUS_insufficient_margin_to_place,
        STATUS_insufficient_margin_to_trade,
        STATUS_rejected_f_o_k_not_fully_filled_low_liquidity,
        STATUS_rejected_f_o_k_not_fully_filled_insufficient_margin,
        STATUS_rejected_mark_price_zero,
        STATUS_rejected_invalid_price,
        STATUS_order_rejected_expired,
        STATUS_rejected_trigger_already_satisfied,
        STATUS_conditional_order_not_found,
    };
    static const uint8_t reasons[] = {
        REASON_none,       REASON_time_in_force,         REASON_user_cancel,
        REASON_cancel_all, REASON_reduce_only,           REASON_match_limit,
        REASON_oco,        STATUS_self_trade_prevention, STATUS_insufficient_margin_to_trade
    };

    const struct traffic *traffic = &stream->traffic;

    CHECK(traffic->leverage_set > 500 && traffic->leverage_refused > 50);
    CHECK(stream->tier_changes > 20);
    CHECK(traffic->kept_place > 1000 && traffic->entered_anew > 1000 && traffic->used_up > 200);
    for (size_t i = 0; i < CC_COUNT(statuses); i++) {
        if (stream->statuses[statuses[i]] == 0)
            fprintf(stderr, "never met: %s\n", status_name((enum status)statuses[i]));
        CHECK(stream->statuses[statuses[i]] != 0);
    }
    for (size_t i = 0; i < CC_COUNT(reasons); i++) {
        if (stream->reasons[reasons[i]] == 0)
            fprintf(stderr, "never met: reason %u\n", reasons[i]);
        CHECK(stream->reasons[reasons[i]] != 0);
    }
}

int main(void)
{
    static struct stream stream;

    run(&stream, 1, 1, NULL);
    run(&stream, 2, 1, "engine.makers_max=3\nengine.work_per_command=2\n");
    run(&stream, 3, 3, "engine.work_per_command=1\n");
    run(&stream, 4, 3, "limits.open_orders=20\n");
    check_reached(&stream);
    return 0;
}
