/* Answers of signed writes: the examples of json.md J4, wire.md W6, every status in both styles. */
#include "base/request.h"
#include "check.h"
#include "net/ack.h"

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
};

static void answers_are_the_examples(void)
{
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        char text[ACK_BYTES_MAX];
        struct writer writer = writer_begin(text, sizeof text);
        ack_write(&writer, &rows[i].answer, rows[i].with_secret ? secret : NULL);
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
                ack_write(&writer, &answer, secret);
                CHECK(!writer.full);
                CHECK(memmem(text, writer_count(&writer), status_name(status),
                             strlen(status_name(status))) != NULL);
            }
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
    a_full_writer_stays_full();
    strings_are_escaped();
    return 0;
}
