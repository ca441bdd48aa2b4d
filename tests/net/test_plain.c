/* Plain JSON writes other than a leverage setting (that is test_setting.c): bodies of json.md J3,
 * commands of wire.md W3b, outcomes of rules.md R11's last rows as HTTP. */
#include <stdio.h>

#include "base/reason.h"
#include "base/status.h"
#include "check.h"
#include "net/request/plain_body.h"

static struct pending_plain plain;
static struct problem_detail problem;

static bool reads(uint16_t code, const char *body)
{
    problem = (struct problem_detail){ 0 };
    return plain_body_read(&plain, code, body, strlen(body), &problem);
}

#define PLACE "\"subaccount_index\":3,\"portfolio_index\":5"

static void bodies(void)
{
    CHECK(reads(2002, "{" PLACE "}"));
    CHECK(plain.subaccount_index == 3 && plain.portfolio_index == 5);
    CHECK(reads(2003, "{\"more\":{},\"portfolio_index\":2147483647,\"subaccount_index\":0}"));
    CHECK(plain.subaccount_index == 0 && plain.portfolio_index == 2147483647);
    CHECK(reads(2009, "{" PLACE ",\"amount\":\"12.5\"}"));
    CHECK(plain.amount == 12500000 && plain.subaccount_index == 3 && plain.portfolio_index == 5);
    CHECK(reads(2009, "{" PLACE ",\"amount\":\"0.000001\"}") && plain.amount == 1);
    /* Of the engine to judge, behind the portfolio (R11): 0, what is below it, what no cash is. */
    CHECK(reads(2009, "{" PLACE ",\"amount\":\"0\"}") && plain.amount == 0);
    CHECK(reads(2009, "{" PLACE ",\"amount\":\"-3\"}") && plain.amount == 0);
    CHECK(reads(2009, "{" PLACE ",\"amount\":\"9999999999999999999\"}"));
    CHECK(plain.amount == INT64_MAX);
    /* Escapes are resolved: "Größe" is seven bytes. */
    CHECK(reads(2010, "{\"subaccount_index\":1,\"name\":\"Gr\\u00f6\xC3\x9F"
                      "e\"}"));
    CHECK(memcmp(plain.name,
                 "Gr\xC3\xB6\xC3\x9F"
                 "e\0\0",
                 9) == 0);
    CHECK(plain.subaccount_index == 1);
    CHECK(reads(2010, "{\"subaccount_index\":1,\"name\":\"12345678901234567890123456789012\"}"));
    CHECK(memcmp(plain.name, "12345678901234567890123456789012", 32) == 0);
}

static const struct {
    int line;
    const char *name;
    uint16_t code;
    const char *body, *member;
} bad[] = {
    { __LINE__, "no portfolio", 2002, "{\"subaccount_index\":3}", "portfolio_index" },
    { __LINE__, "no subaccount", 2003, "{\"portfolio_index\":3}", "subaccount_index" },
    { __LINE__, "text", 2002, "{\"portfolio_index\":\"3\",\"subaccount_index\":3}",
      "portfolio_index" },
    { __LINE__, "no amount", 2009, "{" PLACE "}", "amount" },
    { __LINE__, "a number", 2009, "{" PLACE ",\"amount\":1}", "amount" },
    { __LINE__, "seven decimals", 2009, "{" PLACE ",\"amount\":\"0.0000001\"}", "amount" },
    { __LINE__, "exponent", 2009, "{" PLACE ",\"amount\":\"1e3\"}", "amount" },
    { __LINE__, "empty", 2009, "{" PLACE ",\"amount\":\"\"}", "amount" },
    { __LINE__, "long", 2009,
      "{" PLACE ",\"amount\":\"1000000000000000000000000000000000000000000000000000\"}", "amount" },
    { __LINE__, "no name", 2010, "{\"subaccount_index\":1}", "name" },
    { __LINE__, "null", 2010, "{\"subaccount_index\":1,\"name\":null}", "name" },
    { __LINE__, "empty name", 2010, "{\"subaccount_index\":1,\"name\":\"\"}", "name" },
    { __LINE__, "33 bytes", 2010,
      "{\"subaccount_index\":1,\"name\":\"123456789012345678901234567890123\"}", "name" },
    { __LINE__, "tab", 2010, "{\"subaccount_index\":1,\"name\":\"a\\tb\"}", "name" },
    { __LINE__, "zero", 2010, "{\"subaccount_index\":1,\"name\":\"a\\u0000\"}", "name" },
    { __LINE__, "C1", 2010, "{\"subaccount_index\":1,\"name\":\"a\\u0085\"}", "name" },
};

static void bad_bodies(void)
{
    for (size_t i = 0; i < CC_COUNT(bad); i++) {
        CHECK_ROW(&bad[i], !reads(bad[i].code, bad[i].body));
        CHECK_ROW(&bad[i], problem.code == PROBLEM_invalid_parameter);
        CHECK_ROW(&bad[i], strcmp(problem.member, bad[i].member) == 0);
    }
    CHECK(!reads(2002, "") && problem.code == PROBLEM_malformed_json);
    CHECK(!reads(2009, "[]") && problem.code == PROBLEM_malformed_json);
}

/* R11: the engine answers a status with the problem code as reason. */
static void outcomes(void)
{
    static const struct {
        int line;
        const char *name;
        uint16_t code;
        uint8_t status, reason;
        uint16_t problem;
    } rows[] = {
#define R(name, code, status, reason, problem) \
    { __LINE__, name, code, STATUS_##status, REASON_##reason, PROBLEM_##problem }
        R("key", 2002, rejected_unauthorized, none, invalid_api_key),
        R("READ", 2010, rejected_unauthorized, read_only_key, read_only_key),
        R("pin", 2009, rejected_unauthorized, subaccount_not_permitted, subaccount_not_permitted),
        R("missing", 2003, rejected_invalid_portfolio_id, none, portfolio_not_found),
        R("not active", 2002, order_rejected_invalid, portfolio_not_active, portfolio_not_active),
        R("not empty", 2002, order_rejected_invalid, portfolio_not_empty, portfolio_not_empty),
        R("not closed", 2003, order_rejected_invalid, portfolio_not_closed, portfolio_not_closed),
        R("subaccount", 2003, order_rejected_invalid, subaccount_not_active, subaccount_not_active),
        R("amount", 2009, order_rejected_invalid, invalid_parameter, invalid_parameter),
        R("faucet", 2009, order_rejected_invalid, faucet_limit_exceeded, faucet_limit_exceeded),
        R("suspended", 2009, rejected_account_suspended, none, internal_error),
        R("guard", 2009, order_rejected_internal, none, internal_error),
        R("no credit", 2010, request_dropped, none, not_ready),
#undef R
    };
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        const struct answer answer = { .code = rows[i].code,
                                       .status = rows[i].status,
                                       .reason = rows[i].reason };
        CHECK_ROW(&rows[i], !plain_body_succeeded(&answer, false, &problem));
        CHECK_ROW(&rows[i], problem.code == rows[i].problem && problem.detail[0] != '\0');
        if (rows[i].problem == PROBLEM_invalid_parameter)
            CHECK_ROW(&rows[i], strcmp(problem.member, "amount") == 0);
    }
    const struct answer good = { .code = 2002 };
    CHECK(plain_body_succeeded(&good, true, &problem));
    struct answer gone = { .code = REQUEST_portfolio_close,
                           .status = STATUS_rejected_unauthorized };
    CHECK(!plain_body_succeeded(&gone, true, &problem));
    CHECK(problem.code == PROBLEM_invalid_device_key);
}

static void states(void)
{
    char text[256];
    const struct pending_plain of = { .account_id = 7,
                                      .subaccount_index = 1,
                                      .portfolio_index = 2 };
    struct writer writer = writer_begin(text, sizeof text);
    plain_body_write(&writer, 2002, &of);
    text[writer_count(&writer)] = '\0';
    CHECK(strcmp(text, "{\"account_id\":7,\"subaccount_index\":1,\"portfolio_index\":2,"
                       "\"status\":\"CLOSED\"}") == 0);
    writer = writer_begin(text, sizeof text);
    plain_body_write(&writer, 2003, &of);
    text[writer_count(&writer)] = '\0';
    CHECK(strcmp(text, "{\"account_id\":7,\"subaccount_index\":1,\"portfolio_index\":2,"
                       "\"status\":\"ACTIVE\"}") == 0);
}

int main(void)
{
    bodies();
    bad_bodies();
    outcomes();
    states();
    return 0;
}
