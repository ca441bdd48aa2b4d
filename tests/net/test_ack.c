/* Answers of signed writes: the examples of json.md J4, wire.md W6, every status in both styles,
 * evidence, and the 64 bytes of wire.md W5. */
#include <stdio.h>

#include "base/operator_rule.h"
#include "base/request.h"
#include "check.h"
#include "net/json/ack.h"

#define T  UINT64_C(1755582431240112233)
#define T2 UINT64_C(1755582433000000000)

static const uint8_t secret[32] = { 1, 2, 3 };

static const struct {
    int line;
    const char *name;
    struct answer answer;
    bool with_secret;
    const char *text;
} rows[] = {
    { __LINE__,
      "accepted",
      { .code = 0, .sequence = 4711, .processed_at_ns = T },
      false,
      "{\"status\":\"request_completed\",\"processed_at_ns\":1755582431240112233,"
      "\"sequence\":4711}" },
    { __LINE__,
      "without a sequence",
      { .code = 3, .processed_at_ns = T, .status = STATUS_request_dropped },
      false,
      "{\"status\":\"request_dropped\",\"processed_at_ns\":1755582431240112233}" },
    { __LINE__,
      "with a reason",
      { .code = 1003, .sequence = 9, .processed_at_ns = T, .reason = REASON_already_credited },
      false,
      "{\"status\":\"request_completed\",\"processed_at_ns\":1755582431240112233,\"sequence\":9,"
      "\"reason\":\"already_credited\"}" },
    { __LINE__,
      "an operator's code that breaks a rule",
      { .code = 1002,
        .sequence = 9,
        .processed_at_ns = T,
        .status = STATUS_order_rejected_invalid,
        .rule = OPERATOR_RULE_outcome },
      false,
      "{\"status\":\"order_rejected_invalid\",\"processed_at_ns\":1755582431240112233,"
      "\"sequence\":9,\"field\":\"outcome\",\"rule\":\"0 (settled) or 1 (reverted)\"}" },
    { __LINE__,
      "a status as the reason",
      { .code = 0, .sequence = 9, .processed_at_ns = T, .reason = STATUS_self_trade_prevention },
      false,
      "{\"status\":\"request_completed\",\"processed_at_ns\":1755582431240112233,\"sequence\":9,"
      "\"reason\":\"self_trade_prevention\"}" },
    { __LINE__,
      "duplicate",
      { .code = 0,
        .processed_at_ns = T2,
        .status = STATUS_duplicate_request_id,
        .members = ANSWER_HAS_ORIGINAL,
        .original_status = STATUS_request_completed,
        .original_processed_at_ns = T },
      false,
      "{\"status\":\"duplicate_request_id\",\"processed_at_ns\":1755582433000000000,"
      "\"original_status\":\"request_completed\",\"original_processed_at_ns\":"
      "1755582431240112233}" },
    { __LINE__,
      "account",
      { .code = 11,
        .sequence = 12,
        .processed_at_ns = T,
        .status = STATUS_account_created_with_session,
        .account_id = 7,
        .members = ANSWER_HAS_ACCOUNT | ANSWER_HAS_ID | ANSWER_HAS_EXPIRY,
        .id = { 0x01, 0x98, 0xc0, 0xde, 0, 8, 0x71, 0xcb, 0x80, 0, 0, 0, 3, 0, 0, 0 },
        .expires_at_ns = UINT64_C(1758174431240112233) },
      false,
      "{\"success\":true,\"message\":\"account_created_with_session\",\"processed_at_ns\":"
      "1755582431240112233,\"sequence\":12,\"account_id\":7,\"session_id\":"
      "\"0198c0de-0008-71cb-8000-000003000000\",\"expires_at\":\"2025-09-18T05:47:11.240Z\"}" },
    { __LINE__,
      "account without session",
      { .code = 11,
        .sequence = 12,
        .processed_at_ns = T,
        .account_id = 7,
        .status = STATUS_account_created_session_failed,
        .members = ANSWER_HAS_ACCOUNT },
      false,
      "{\"success\":true,\"message\":\"account_created_session_failed\",\"processed_at_ns\":"
      "1755582431240112233,\"sequence\":12,\"account_id\":7}" },
    { __LINE__,
      "duplicate account",
      { .code = 11,
        .processed_at_ns = T2,
        .status = STATUS_duplicate_request_id,
        .account_id = 7,
        .members = ANSWER_HAS_ORIGINAL | ANSWER_HAS_ACCOUNT | ANSWER_HAS_ID | ANSWER_HAS_EXPIRY,
        .original_status = STATUS_account_created_with_session,
        .original_processed_at_ns = T,
        .id = { 0x01, 0x98, 0xc0, 0xde, 0, 8, 0x71, 0xcb, 0x80, 0, 0, 0, 3, 0, 0, 0 },
        .expires_at_ns = UINT64_C(1758174431240112233) },
      false,
      "{\"success\":false,\"message\":\"duplicate_request_id\",\"processed_at_ns\":"
      "1755582433000000000,\"original_status\":\"account_created_with_session\","
      "\"original_processed_at_ns\":1755582431240112233,\"account_id\":7,\"session_id\":"
      "\"0198c0de-0008-71cb-8000-000003000000\",\"expires_at\":\"2025-09-18T05:47:11.240Z\"}" },
    { __LINE__,
      "too many sessions",
      { .code = 13,
        .sequence = 4712,
        .processed_at_ns = T,
        .status = STATUS_session_rejected_max_sessions },
      false,
      "{\"success\":false,\"message\":\"session_rejected_max_sessions\",\"reason\":"
      "\"max_sessions_exceeded\",\"processed_at_ns\":1755582431240112233,\"sequence\":4712}" },
    { __LINE__,
      "API key",
      { .code = 34, .sequence = 5, .processed_at_ns = T, .members = ANSWER_HAS_ID },
      true,
      "{\"success\":true,\"message\":\"request_completed\",\"processed_at_ns\":"
      "1755582431240112233,\"sequence\":5,\"api_key_id\":"
      "\"00000000-0000-0000-0000-000000000000\",\"api_key\":"
      "\"AQIDAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\"}" },
    { __LINE__,
      "API key refused: nothing is shown",
      { .code = 34,
        .sequence = 5,
        .processed_at_ns = T,
        .status = STATUS_order_rejected_invalid,
        .reason = REASON_limit_reached },
      true,
      "{\"success\":false,\"message\":\"order_rejected_invalid\",\"reason\":\"limit_reached\","
      "\"processed_at_ns\":1755582431240112233,\"sequence\":5}" },
    { __LINE__,
      "API key again: without the secret",
      { .code = 34,
        .processed_at_ns = T2,
        .status = STATUS_duplicate_request_id,
        .members = ANSWER_HAS_ORIGINAL | ANSWER_HAS_ID,
        .original_processed_at_ns = T },
      true,
      "{\"success\":false,\"message\":\"duplicate_request_id\",\"processed_at_ns\":"
      "1755582433000000000,\"original_status\":\"request_completed\","
      "\"original_processed_at_ns\":1755582431240112233,\"api_key_id\":"
      "\"00000000-0000-0000-0000-000000000000\"}" },
    { __LINE__,
      "batch",
      { .code = 8,
        .sequence = 6,
        .processed_at_ns = T,
        .item_count = 3,
        .results = { STATUS_request_completed, STATUS_rejected_order_not_found,
                     STATUS_duplicate_request_id } },
      false,
      "{\"status\":\"request_completed\",\"processed_at_ns\":1755582431240112233,\"sequence\":6,"
      "\"results\":[\"request_completed\",\"rejected_order_not_found\","
      "\"duplicate_request_id\"]}" },
    { __LINE__,
      "batch of one that was undone",
      { .code = 8,
        .sequence = 6,
        .processed_at_ns = T,
        .status = STATUS_rejected_size_zero,
        .reason = REASON_batch_aborted,
        .item_count = 1,
        .results = { STATUS_rejected_size_zero } },
      false,
      "{\"status\":\"rejected_size_zero\",\"processed_at_ns\":1755582431240112233,"
      "\"sequence\":6,\"reason\":\"batch_aborted\",\"results\":[\"rejected_size_zero\"]}" },
    { __LINE__,
      "batch without a look at its items",
      { .code = 8, .sequence = 6, .processed_at_ns = T, .status = STATUS_rejected_unauthorized },
      false,
      "{\"status\":\"rejected_unauthorized\",\"processed_at_ns\":1755582431240112233,"
      "\"sequence\":6}" },
    { __LINE__,
      "withdrawal",
      { .code = 10,
        .sequence = 7,
        .processed_at_ns = T,
        .members = ANSWER_HAS_ID,
        .id = { 0x01, 0x98, 0xc0, 0xde, 0, 8, 0x71, 0xcb, 0x80, 0, 0, 0, 3, 0, 0, 0 } },
      false,
      "{\"status\":\"request_completed\",\"processed_at_ns\":1755582431240112233,\"sequence\":7,"
      "\"withdrawal_id\":\"0198c0de-0008-71cb-8000-000003000000\"}" },
    { __LINE__,
      "withdrawal again",
      { .code = 10,
        .processed_at_ns = T2,
        .status = STATUS_duplicate_request_id,
        .members = ANSWER_HAS_ORIGINAL | ANSWER_HAS_ID,
        .original_processed_at_ns = T,
        .id = { 0x01, 0x98, 0xc0, 0xde, 0, 8, 0x71, 0xcb, 0x80, 0, 0, 0, 3, 0, 0, 0 } },
      false,
      "{\"status\":\"duplicate_request_id\",\"processed_at_ns\":1755582433000000000,"
      "\"original_status\":\"request_completed\","
      "\"original_processed_at_ns\":1755582431240112233,"
      "\"withdrawal_id\":\"0198c0de-0008-71cb-8000-000003000000\"}" },
    { __LINE__,
      "subaccount",
      { .code = 22,
        .sequence = 8,
        .processed_at_ns = T,
        .members = ANSWER_HAS_INDEXES,
        .subaccount_index = 3 },
      false,
      "{\"status\":\"request_completed\",\"processed_at_ns\":1755582431240112233,\"sequence\":8,"
      "\"subaccount_index\":3,\"portfolio_index\":0}" },
    { __LINE__,
      "portfolio again",
      { .code = 24,
        .processed_at_ns = T2,
        .status = STATUS_duplicate_request_id,
        .members = ANSWER_HAS_ORIGINAL | ANSWER_HAS_INDEXES,
        .original_processed_at_ns = T,
        .subaccount_index = 3,
        .portfolio_index = 5 },
      false,
      "{\"status\":\"duplicate_request_id\",\"processed_at_ns\":1755582433000000000,"
      "\"original_status\":\"request_completed\","
      "\"original_processed_at_ns\":1755582431240112233,\"portfolio_index\":5}" },
};

static void answers_are_the_examples(void)
{
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        char text[ACK_BYTES_MAX];
        struct writer writer = writer_begin(text, sizeof text);
        ack_write(&writer, &rows[i].answer, rows[i].with_secret ? secret : NULL, NULL);
        CHECK_ROW(&rows[i], !writer.full);
        if (writer_count(&writer) != strlen(rows[i].text) ||
            memcmp(text, rows[i].text, writer_count(&writer)) != 0)
            fprintf(stderr, "%.*s\n", (int)writer_count(&writer), text);
        CHECK_ROW(&rows[i], writer_count(&writer) == strlen(rows[i].text));
        CHECK_ROW(&rows[i], memcmp(text, rows[i].text, writer_count(&writer)) == 0);
    }
}

/* The longest answer of any status, reason and code fits; no status is left without a name. */
static void every_status_fits(void)
{
    size_t count;
    const struct request *requests = request_table(&count);
    for (size_t k = 0; k < count; k++)
        for (unsigned status = 0; status < STATUS_COUNT; status++)
            for (unsigned reason = REASON_FIRST; reason < REASON_END; reason++) {
                char text[ACK_BYTES_MAX];
                struct writer writer = writer_begin(text, sizeof text);
                struct answer answer;
                memset(&answer, 0xFF, sizeof answer);
                answer.code = requests[k].code;
                answer.status = (uint8_t)status;
                answer.original_status = (uint8_t)status;
                answer.reason = (uint8_t)reason;
                const struct ack_stages stages = { UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX };
                answer.price_decimals = 6;
                if (answer.code == REQUEST_order_batch) {
                    answer.members = 0;
                    answer.item_count = MESSAGE_ITEMS_MAX;
                    memset(answer.results, (int)status, sizeof answer.results);
                }
                ack_write(&writer, &answer, secret, &stages);
                CHECK(!writer.full);
                CHECK(memmem(text, writer_count(&writer), status_name(status),
                             strlen(status_name(status))) != NULL);
            }
}

static const struct ack_stages stages = { 4100, 5200, 5500, 210000 };

#define FACE "{\"status\":\"request_completed\",\"processed_at_ns\":1755582431240112233"
#define NO_ORDER                                                                                  \
    ",\"order_status\":null,\"remaining_size\":null,\"filled_size\":null,\"average_price\":null," \
    "\"quantity_ahead\":null,\"book_handle\":null"
#define TIMES \
    ",\"timing_ns\":{\"verified\":4100,\"sequenced\":5200,\"matched\":5500,\"ack\":210000}}"

/* J4, X-Ack: full: the members in their order, and when each is null. */
static const struct {
    int line;
    const char *name;
    struct answer answer;
    const char *text;
} full_rows[] = {
    { __LINE__,
      "the example",
      { .code = 0,
        .sequence = 4711,
        .processed_at_ns = T,
        .remaining = 50000,
        .quantity_ahead = 120000,
        .book_handle = 9000,
        .price_decimals = 1,
        .best_bid = 999999,
        .best_ask = 1000000,
        .book_seq = 9001,
        .members = ANSWER_HAS_ORDER | ANSWER_HAS_AHEAD | ANSWER_HAS_MARKET },
      FACE ",\"sequence\":4711,\"order_status\":\"OPEN\",\"remaining_size\":\"0.5\","
           "\"filled_size\":\"0\",\"average_price\":null,\"quantity_ahead\":\"1.2\","
           "\"book_handle\":9000,\"best_bid\":\"99999.9\",\"best_ask\":\"100000\",\"book_seq\":"
           "9001" TIMES },
    /* 1 at 100,000 and 2 at 100,000.1: R1 rounds 300000.2 / 3 to nine decimals. */
    { __LINE__,
      "filled",
      { .code = 5,
        .sequence = 4711,
        .processed_at_ns = T,
        .filled = 3,
        .filled_notional = 3000002,
        .order_status = 1,
        .price_decimals = 1,
        .best_ask = 1000001,
        .book_seq = 1,
        .members = ANSWER_HAS_ORDER | ANSWER_HAS_MARKET },
      FACE
      ",\"sequence\":4711,\"order_status\":\"FILLED\",\"remaining_size\":\"0\","
      "\"filled_size\":\"0.00003\",\"average_price\":\"100000.066666667\","
      "\"quantity_ahead\":null,\"book_handle\":null,\"best_bid\":null,\"best_ask\":\"100000.1\","
      "\"book_seq\":1" TIMES },
    { __LINE__,
      "first of its level",
      { .code = 1,
        .sequence = 4711,
        .processed_at_ns = T,
        .remaining = 1,
        .order_status = 5,
        .filled = 1,
        .filled_notional = 20001,
        .best_bid = 20001,
        .price_decimals = 6,
        .members = ANSWER_HAS_ORDER | ANSWER_HAS_AHEAD | ANSWER_HAS_MARKET },
      FACE
      ",\"sequence\":4711,\"order_status\":\"PARTIALLY_FILLED\",\"remaining_size\":\"1\","
      "\"filled_size\":\"1\",\"average_price\":\"0.020001\",\"quantity_ahead\":\"0\","
      "\"book_handle\":null,\"best_bid\":\"0.020001\",\"best_ask\":null,\"book_seq\":0" TIMES },
    { __LINE__,
      "a market and no order",
      { .code = 3,
        .processed_at_ns = T,
        .sequence = 9,
        .reason = REASON_user_cancel,
        .best_bid = 5,
        .best_ask = 6,
        .book_seq = 7,
        .members = ANSWER_HAS_MARKET },
      FACE ",\"sequence\":9,\"reason\":\"user_cancel\"" NO_ORDER
           ",\"best_bid\":\"5\",\"best_ask\":\"6\",\"book_seq\":7" TIMES },
    { __LINE__,
      "neither",
      { .code = 4, .processed_at_ns = T },
      FACE NO_ORDER ",\"best_bid\":null,\"best_ask\":null,\"book_seq\":null" TIMES },
    { __LINE__,
      "duplicate",
      { .code = 0,
        .processed_at_ns = T2,
        .status = STATUS_duplicate_request_id,
        .original_processed_at_ns = T,
        .best_bid = 1,
        .price_decimals = 1,
        .book_seq = 2,
        .members = ANSWER_HAS_ORIGINAL | ANSWER_HAS_MARKET },
      "{\"status\":\"duplicate_request_id\",\"processed_at_ns\":1755582433000000000,"
      "\"original_status\":\"request_completed\",\"original_processed_at_ns\":"
      "1755582431240112233" NO_ORDER
      ",\"best_bid\":\"0.1\",\"best_ask\":null,\"book_seq\":2" TIMES },
    { __LINE__,
      "other codes have none",
      { .code = 1003, .processed_at_ns = T, .sequence = 9 },
      FACE ",\"sequence\":9}" },
};

static void evidence_is_the_example(void)
{
    for (size_t i = 0; i < CC_COUNT(full_rows); i++) {
        char text[ACK_BYTES_MAX + 1];
        struct writer writer = writer_begin(text, ACK_BYTES_MAX);
        ack_write(&writer, &full_rows[i].answer, NULL, &stages);
        CHECK_ROW(&full_rows[i], !writer.full);
        text[writer_count(&writer)] = '\0';
        if (strcmp(text, full_rows[i].text) != 0)
            fprintf(stderr, "%s\n", text);
        CHECK_ROW(&full_rows[i], strcmp(text, full_rows[i].text) == 0);
    }
}

/* clang-format off */
static const uint8_t id[16] = { 0x01, 0x98, 0xc0, 0xde, 0, 0, 0x70, 0, 0x80, 0, 0, 0, 0, 0, 0, 0xa1 };

static const uint8_t binary[64] = {
    25, 0, 5, 1, 0, 0, 0, 0, /* rejected_post_only_would_cross_book; PARTIALLY_FILLED; version; pad */
    0x69, 0xc8, 0xfb, 0x73, 0xeb, 0x14, 0x5d, 0x18, /* 1755582431240112233 = 0x185d14eb73fbc869 */
    0x67, 0x12, 0, 0, 0, 0, 0, 0,                   /* 4711 = 0x1267 */
    0x01, 0x98, 0xc0, 0xde, 0, 0, 0x70, 0, 0x80, 0, 0, 0, 0, 0, 0, 0xa1,
    0x50, 0xc3, 0, 0, 0, 0, 0, 0,                   /* 50,000 = 0xc350 */
    0xc0, 0xd4, 1, 0, 0, 0, 0, 0,                   /* 120,000 = 0x1d4c0 */
    0x04, 0x10, 0, 0, 0x7c, 0x15, 0, 0,             /* 4,100 = 0x1004; 5,500 = 0x157c */
};
/* clang-format on */

/* W5: status u16, order_status u8, version u8, pad4, processed_at_ns u64, sequence u64,
 * request_id 16, remaining u64, quantity_ahead u64, verify_ns u32, match_ns u32. */
static void binary_is_the_layout(void)
{
    struct answer answer = { .code = 0,
                             .status = 25,
                             .sequence = 4711,
                             .processed_at_ns = T,
                             .order_status = 5,
                             .remaining = 50000,
                             .quantity_ahead = 120000,
                             .price_decimals = 1,
                             .members = ANSWER_HAS_ORDER | ANSWER_HAS_AHEAD | ANSWER_HAS_MARKET };
    char bytes[ACK_BINARY_BYTES];
    struct writer writer = writer_begin(bytes, sizeof bytes);
    ack_write_binary(&writer, &answer, id, &stages);
    CHECK(!writer.full && writer_count(&writer) == 64);
    CHECK(memcmp(bytes, binary, sizeof binary) == 0);

    /* It rests, but too far from both ends of its queue to be counted. */
    answer.members = ANSWER_HAS_ORDER | ANSWER_HAS_MARKET;
    answer.book_handle = 9000;
    writer = writer_begin(bytes, sizeof bytes);
    ack_write_binary(&writer, &answer, id, &stages);
    CHECK(cc_load64((uint8_t *)bytes + 48) == UINT64_MAX);
    answer.book_handle = 0; /* PARTIALLY_FILLED in no queue: it fired and goes on */
    writer = writer_begin(bytes, sizeof bytes);
    ack_write_binary(&writer, &answer, id, &stages);
    CHECK(cc_load64((uint8_t *)bytes + 48) == 0);
    answer.order_status = 1; /* FILLED: nothing stands before it */
    writer = writer_begin(bytes, sizeof bytes);
    ack_write_binary(&writer, &answer, id, &stages);
    CHECK(cc_load64((uint8_t *)bytes + 48) == 0);

    /* No order, no sequence, stages beyond 32 bits. */
    const struct ack_stages slow = { UINT64_C(1) << 32, 0, UINT64_MAX, 0 };
    answer = (struct answer){ .code = 0, .status = STATUS_request_dropped, .processed_at_ns = T };
    writer = writer_begin(bytes, sizeof bytes);
    ack_write_binary(&writer, &answer, id, &slow);
    CHECK((uint8_t)bytes[2] == 255 && cc_load64((uint8_t *)bytes + 16) == 0);
    CHECK(cc_load64((uint8_t *)bytes + 40) == 0 && cc_load64((uint8_t *)bytes + 48) == 0);
    CHECK(cc_load64((uint8_t *)bytes + 56) == UINT64_MAX);
}

static void a_full_writer_stays_full(void)
{
    char text[8];
    struct writer writer = writer_begin(text, sizeof text);
    WRITER_TEXT(&writer, "1234567");
    CHECK(!writer.full);
    WRITER_TEXT(&writer, "89");
    CHECK(writer.full && writer_count(&writer) == 7);
    WRITER_TEXT(&writer, "8");
    CHECK(writer.full); /* what was left out is not forgotten */
}

static void strings_are_escaped(void)
{
    char text[128];
    struct writer writer = writer_begin(text, sizeof text);
    static const char raw[] = "a\"b\\c\x01\x7f\xc3\xa9/";
    writer_string(&writer, raw, sizeof raw - 1);
    writer_int(&writer, INT64_MIN);
    writer_uint(&writer, UINT64_MAX);
    static const char want[] = "\"a\\\"b\\\\c\\u0001\\u007f\xc3\xa9/\"-9223372036854775808"
                               "18446744073709551615";
    CHECK(writer_count(&writer) == sizeof want - 1 && memcmp(text, want, sizeof want - 1) == 0);
}

int main(void)
{
    answers_are_the_examples();
    every_status_fits();
    evidence_is_the_example();
    binary_is_the_layout();
    a_full_writer_stays_full();
    strings_are_escaped();
    return 0;
}
