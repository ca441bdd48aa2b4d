/* The wire tables against wire.md W2 and its enum lists, and the rows of rules.md R11, typed here
 * from the spec a second time. */
#include "base/field.h"
#include "base/problem.h"
#include "base/reason.h"
#include "base/request.h"
#include "base/rule.h"
#include "base/status.h"
#include "check.h"

/* clang-format off */
static const struct row {
    int line; const char *name; uint32_t code; uint32_t bytes; const char *path;
} rows[] = {
#define R(...) { __LINE__, __VA_ARGS__ }
    R("place_limit_order",                 0, 48, "/api/v1/trading/order/place/limit"),
    R("order_reduction",                   1, 56, "/api/v1/trading/order/update"),
    R("order_replacement",                 2, 72, "/api/v1/trading/order/update"),
    R("order_cancel",                      3, 40, "/api/v1/trading/order/cancel"),
    R("cancel_all_orders",                 4, 24, "/api/v1/trading/order/cancel-all"),
    R("place_market_order",                5, 40, "/api/v1/trading/order/place/market"),
    R("place_conditional_order",           6, 80, "/api/v1/trading/order/place/conditional"),
    R("conditional_order_cancel",          7, 40, "/api/v1/trading/order/cancel/conditional"),
    R("order_batch",                       8,  0, "/api/v1/trading/order/batch"),
    R("transfer",                          9, 40, "/api/v1/cash/transfer"),
    R("withdraw",                         10, 48, "/api/v1/cash/withdraw"),
    R("create_account_secp256k1",         11, 80, "/api/v1/account/create"),
    R("create_account_passkey",           12, 80, "/api/v1/account/create"),
    R("create_session",                   13, 56, "/api/v1/auth/sessions/create"),
    R("revoke_session",                   14, 40, "/api/v1/auth/sessions/revoke"),
    R("revoke_all_sessions",              15,  8, "/api/v1/auth/sessions/revoke-all"),
    R("add_admin_secp256k1_master_key",   16, 48, "/api/v1/auth/admin-keys/add"),
    R("remove_admin_secp256k1_master_key", 17, 48, "/api/v1/auth/admin-keys/remove"),
    R("add_admin_passkey_master_key",     19,  0, "/api/v1/auth/admin-keys/add"),
    R("remove_admin_passkey_master_key",  20, 48, "/api/v1/auth/admin-keys/remove"),
    R("create_subaccount",                22,  8, "/api/v1/subaccounts/create"),
    R("close_subaccount",                 23, 16, "/api/v1/subaccounts/close"),
    R("create_portfolio",                 24, 48, "/api/v1/portfolio/create"),
    R("schedule_cancel_all",              25, 24, "/api/v1/trading/schedule-cancel"),
    R("set_mmp",                          26, 48, "/api/v1/trading/mmp/set"),
    R("reset_mmp",                        27, 24, "/api/v1/trading/mmp/reset"),
    R("add_scoped_secp256k1_master_key",  28, 56, "/api/v1/auth/scoped-keys/add"),
    R("remove_scoped_secp256k1_master_key", 29, 48, "/api/v1/auth/scoped-keys/remove"),
    R("add_scoped_passkey_master_key",    30,  0, "/api/v1/auth/scoped-keys/add"),
    R("remove_scoped_passkey_master_key", 31, 48, "/api/v1/auth/scoped-keys/remove"),
    R("close_account",                    32,  8, "/api/v1/account/close"),
    R("login",                            33, 24, "/api/v1/login"),
    R("create_api_key",                   34, 48, "/api/v1/api-keys"),
    R("revoke_api_key",                   35, 24, "/api/v1/api-keys/revoke"),
    R("find_account",                     36,  8, "/api/v1/account/find"),
    R("oracle_price",                   1000, 24, "/api/v1/operator"),
    R("market_define",                  1001,  0, "/api/v1/operator"),
    R("market_state",                   1002,  8, "/api/v1/operator"),
    R("deposit_credit",                 1003, 56, "/api/v1/operator"),
    R("withdrawal_settle",              1004, 24, "/api/v1/operator"),
    R("suspend_account",                1005, 16, "/api/v1/operator"),
    R("fund_top_up",                    1006,  8, "/api/v1/operator"),
    R("operator_cancel",                1007, 40, "/api/v1/operator"),
    R("halt_all",                       1008,  8, "/api/v1/operator"),
    R("set_fee_tier",                   1009, 16, "/api/v1/operator"),
    R("index_accept",                   1010, 16, "/api/v1/operator"),
    R("clock_confirm",                  1011, 16, "/api/v1/operator"),
    R("tick",                           2000,  8, ""),
    R("set_leverage",                   2001, 40, ""),
    R("portfolio_close",                2002, 32, ""),
    R("portfolio_reopen",               2003, 32, ""),
    R("faucet_credit",                  2009, 40, ""),
    R("rename_portfolio",               2010, 64, ""),
    R("cancel_on_disconnect",           2011, 16, ""),
    R("disconnect_arm",                 2012, 56, ""),
    R("configuration",                  2013,  0, ""),
    R("boot",                           2014, 24, ""),
    R("effects_hash",                   2015, 40, ""),
    R("lead",                           2016, 64, ""),
    R("restored",                       2017, 128, ""),
    R("signing_key",                    2018, 96, ""),
#undef R
};
/* clang-format on */

/* The codes that this binary serves; every other is a route that does not exist. */
static const uint16_t built[] = { 0,    1,    2,    3,    4,    5,    6,    7,    8,    9,    10,
                                  11,   12,   13,   14,   15,   16,   17,   19,   20,   22,   23,
                                  24,   25,   26,   27,   28,   29,   30,   31,   32,   33,   34,
                                  35,   36,   1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008,
                                  1009, 1010, 1011, 2000, 2001, 2002, 2003, 2009, 2010, 2011, 2012,
                                  2013, 2014, 2015, 2016, 2017, 2018 };

static void check_requests(void)
{
    size_t count = 0;
    (void)request_table(&count);
    CHECK(count == CC_COUNT(rows) + 2); /* and the reserved 18 and 21 */
    for (const struct row *row = rows; row != rows + CC_COUNT(rows); row++) {
        const struct request *request = request_find(row->code);
        CHECK_ROW(row, request != NULL && request->code == row->code);
        CHECK_ROW(row, strcmp(request->name, row->name) == 0);
        CHECK_ROW(row, strcmp(request->path, row->path) == 0);
        CHECK_ROW(row, request->body_bytes == row->bytes);
        bool expected = false;
        for (size_t i = 0; i < CC_COUNT(built); i++)
            expected = expected || built[i] == row->code;
        CHECK_ROW(row, request->built == expected);
    }
    CHECK(request_find(18)->signer == SIGNER_NONE && request_find(21)->signer == SIGNER_NONE);
    CHECK(request_find(37) == NULL && request_find(999) == NULL && request_find(2004) == NULL);
}

/* W3's offsets, a few of each shape. */
static void check_fields(void)
{
    size_t count = 0;
    const struct field *fields = field_table(0, &count);
    CHECK(count == 10);
    CHECK(strcmp(fields[6].name, "stp") == 0 && fields[6].offset == 42);
    CHECK(fields[7].kind == FIELD_PAD && fields[7].offset == 43);
    CHECK(strcmp(fields[8].name, "asset") == 0 && fields[8].offset == 44);
    fields = field_table(1003, &count);
    CHECK(strcmp(fields[2].name, "external_ref") == 0 && fields[2].offset == 24);
    fields = field_table(30, &count);
    CHECK(fields[count - 1].kind == FIELD_CREDENTIAL && fields[count - 1].offset == 52);

    /* Every list is ascending and without a hole: a byte of a body belongs to one field. */
    for (uint32_t code = 0; code <= 2018; code++) {
        fields = field_table(code, &count);
        for (size_t i = 0; i + 1 < count; i++)
            CHECK(fields[i].offset + fields[i].size == fields[i + 1].offset);
    }
}

static void check_statuses(void)
{
    CHECK(STATUS_COUNT == 56);
    CHECK(STATUS_request_completed == 0 && STATUS_order_rejected_invalid == 7);
    CHECK(STATUS_self_trade_prevention == 23);
    CHECK(STATUS_rejected_market_not_found == 26 && STATUS_market_closed == 31);
    CHECK(STATUS_insufficient_margin_to_place == 32);
    CHECK(STATUS_rejected_f_o_k_not_fully_filled_low_liquidity == 36);
    CHECK(STATUS_rejected_max_conditional_orders_exceeded == 37);
    CHECK(STATUS_rejected_invalid_trigger == 42);
    CHECK(STATUS_master_key_added == 43 && STATUS_master_key_rejected_last_key == 48);
    CHECK(STATUS_session_created == 49 && STATUS_account_created_session_failed == 55);
    CHECK(strcmp(status_name(STATUS_session_revoked), "session_revoked") == 0);
}

static void check_reasons(void)
{
    CHECK(REASON_match_limit == 128 && REASON_already_credited == 131);
    CHECK(REASON_user_cancel == 145 && REASON_time_in_force == 147);
    CHECK(REASON_liquidation == 153 && REASON_operator == 155);
    CHECK(reason_name(REASON_none) == NULL);
    CHECK(strcmp(reason_name(23), "self_trade_prevention") == 0);
    CHECK(strcmp(reason_name(155), "operator") == 0);
    CHECK(REASON_market_gap == 156 && REASON_invalid_destination == 158);
    CHECK(reason_name(56)[0] == '\0' && reason_name(159)[0] == '\0');
}

static void check_problems(void)
{
    CHECK(problem_http_status(PROBLEM_malformed_request) == 400);
    CHECK(problem_http_status(PROBLEM_invalid_signature) == 401);
    CHECK(problem_http_status(PROBLEM_pairing_expired) == 410);
    CHECK(problem_http_status(PROBLEM_headers_too_large) == 431);
    CHECK(strcmp(problem_code(PROBLEM_not_ready), "not_ready") == 0);
    CHECK(strcmp(problem_http_title(413), "Payload Too Large") == 0);
    CHECK(strcmp(problem_http_title(503), "Service Unavailable") == 0);
    for (uint32_t problem = PROBLEM_none + 1; problem < PROBLEM_END; problem++)
        CHECK(problem_http_title(problem_http_status((enum problem)problem))[0] != '\0');
}

/* clang-format off */
/* R11: each row in its place, with the statuses it gives in the order of their conditions. */
static const struct { int line; const char *name, *statuses[6]; } rules[] = {
#define R(...) { __LINE__, __VA_ARGS__ }
    R("0",   { "request_dropped" }),
    R("1",   { "duplicate_request_id" }),
    R("2",   { "rejected_rate_limited", "retry_required", "rejected_rate_limited" }),
    R("3",   { "rejected_unauthorized", "session_rejected", "master_key_rejected_unauthorized" }),
    R("4",   { "rejected_account_suspended" }),
    R("5",   { "rejected_invalid_portfolio_id" }),
    R("6",   { "rejected_invalid_uuid" }),
    R("7",   { "order_rejected_invalid_market" }),
    R("8",   { "rejected_market_not_found" }),
    R("9",   { "order_rejected_invalid", "order_rejected_invalid" }),
    R("10",  { "market_closed", "rejected_market_halted", "rejected_market_cancel_only",
               "rejected_market_post_only", "rejected_market_reduce_only" }),
    R("11",  { "rejected_invalid_order_flags" }),
    R("12",  { "order_rejected_expired", "rejected_conditional_order_expired" }),
    R("13",  { "rejected_order_not_found" }),
    R("14",  { "rejected_size_not_equal" }),
    R("15",  { "rejected_size_zero" }),
    R("16",  { "rejected_invalid_size" }),
    R("17",  { "rejected_invalid_price" }),
    R("17b", { "rejected_invalid_size" }),
    R("18",  { "rejected_invalid_trigger" }),
    R("19",  { "rejected_mark_price_zero" }),
    R("20",  { "rejected_invalid_price" }),
    R("21",  { "rejected_invalid_size" }),
    R("22",  { "rejected_slippage_exceeds_maximum" }),
    R("23",  { "rejected_trigger_already_satisfied" }),
    R("24",  { "invalid_reduce_only_order" }),
    R("25",  { "rejected_max_conditional_orders_exceeded" }),
    R("26",  { "rejected_max_open_orders_exceeded" }),
    R("27",  { "insufficient_margin_to_place" }),
    R("28",  { "rejected_post_only_would_cross_book" }),
    R("29",  { "self_trade_prevention" }),
    R("30",  { "rejected_f_o_k_not_fully_filled_low_liquidity" }),
    R("31",  { "rejected_f_o_k_not_fully_filled_insufficient_margin" }),
    R("32",  { "insufficient_margin_to_trade" }),
    R("33",  { "insufficient_margin_to_place" }),
    R("34",  { "order_rejected_internal" }),
    R("35",  { "request_completed" }),
#undef R
};
/* clang-format on */

static void check_rules(void)
{
    int row = 0;

    for (size_t i = 0; i < CC_COUNT(rules); i++)
        for (int k = 0; k < 6 && rules[i].statuses[k] != NULL; k++, row++) {
            const struct rule *rule = rule_row((enum rule_row)row);
            const char *status = status_name((enum status)rule->status);
            CHECK_ROW(&rules[i], strcmp(rule->number, rules[i].name) == 0);
            CHECK_ROW(&rules[i], strcmp(status, rules[i].statuses[k]) == 0);
        }
    CHECK(row == ROW_COUNT);
    CHECK(ROW_STATUS(self_trade) == STATUS_self_trade_prevention);
    CHECK(rule_row(ROW_completed)->status == STATUS_request_completed);

    /* Step 11 by code, then steps 12 and 13. */
    CHECK(STEP_COUNT == 7);
    for (int step = 0; step < STEP_COUNT; step++)
        CHECK(strcmp(rule_step((enum rule_step)step)->number, step < 5    ? "11"
                                                              : step == 5 ? "12"
                                                                          : "13") == 0);
    CHECK(STEP_STATUS(account_rate) == STATUS_rejected_rate_limited);
    CHECK(STEP_STATUS(not_ready) == STATUS_retry_required);
    CHECK(STEP_STATUS(revoked_by_session) == STATUS_session_rejected);
    CHECK(STEP_STATUS(key_absent) == STATUS_rejected_unauthorized);
    CHECK(STEP_STATUS(key_of_session_codes) == STATUS_session_rejected);
    CHECK(STEP_STATUS(key_of_key_codes) == STATUS_master_key_rejected_unauthorized);
    CHECK(STEP_STATUS(no_credit) == STATUS_request_dropped);
}

int main(void)
{
    check_rules();
    check_requests();
    check_fields();
    check_statuses();
    check_reasons();
    check_problems();
    return 0;
}
