#include "net/request/plain_body.h"

#include "base/decimal.h"
#include "base/json_scan.h"
#include "base/reason.h"
#include "base/status.h"
#include "base/symbols.h"
#include "base/text.h"
#include "net/json/json_field.h"
#include "net/request/api_caller.h"

enum { AMOUNT_DECIMALS = 6 };

enum member { LEVERAGE, MARKET, PORTFOLIO_INDEX, SUBACCOUNT_INDEX, NAME, AMOUNT, MEMBERS };

#define BIT(place) (1u << (place))
#define INDEXES    (BIT(PORTFOLIO_INDEX) | BIT(SUBACCOUNT_INDEX))

/* J3: the required members of a body. */
static unsigned members_of(uint16_t code)
{
    switch (code) {
    case REQUEST_set_leverage:
        return INDEXES | BIT(LEVERAGE) | BIT(MARKET);
    case REQUEST_faucet_credit:
        return INDEXES | BIT(AMOUNT);
    case REQUEST_rename_portfolio: /* the portfolio is in the path */
        return BIT(SUBACCOUNT_INDEX) | BIT(NAME);
    default:
        INVARIANT(code == REQUEST_portfolio_close || code == REQUEST_portfolio_reopen);
        return INDEXES;
    }
}

/* --- the body --------------------------------------------------------------------------------- */

static bool need(const struct json_member *member, enum json_kind kind, const char *what,
                 struct problem_detail *problem)
{
    if (member->kind == kind)
        return true;
    if (member->kind == JSON_NONE)
        return problem_detail_set(problem, PROBLEM_invalid_parameter, member->name, "%s is missing",
                                  member->name);
    return problem_detail_set(problem, PROBLEM_invalid_parameter, member->name, "%s is not %s",
                              member->name, what);
}

static bool read_int32(const struct json_member *member, int32_t minimum, int32_t *value,
                       struct problem_detail *problem)
{
    int64_t number = 0;
    if (!need(member, JSON_NUMBER, "an integer", problem))
        return false;
    if (!json_scan_int64(&member->value, &number) || number < minimum || number > INT32_MAX)
        return problem_detail_set(problem, PROBLEM_invalid_parameter, member->name,
                                  "%s is not an integer in %d..%d", member->name, minimum,
                                  INT32_MAX);
    *value = (int32_t)number;
    return true;
}

static bool read_index(const struct json_member *member, uint32_t *index,
                       struct problem_detail *problem)
{
    int32_t value = 0;
    if (!read_int32(member, 0, &value, problem))
        return false;
    *index = (uint32_t)value;
    return true;
}

/* A negative leverage becomes 0: both are outside 1..max, which is checked later. */
static bool read_leverage(const struct json_member *member, uint32_t *leverage,
                          struct problem_detail *problem)
{
    int32_t value = 0;
    if (!read_int32(member, INT32_MIN, &value, problem))
        return false;
    *leverage = value > 0 ? (uint32_t)value : 0;
    return true;
}

/* A text longer than any symbol, or with a zero byte, names no market: the symbol is empty then. */
static bool read_market(const struct json_member *member, char symbol[SYMBOL_BYTES],
                        struct problem_detail *problem)
{
    if (!need(member, JSON_STRING, "a string", problem))
        return false;
    ptrdiff_t count = json_scan_unescape(&member->value, symbol, SYMBOL_BYTES);
    if (count < 0 || memchr(symbol, '\0', (size_t)count) != NULL)
        memset(symbol, 0, SYMBOL_BYTES);
    return true;
}

static bool read_name(const struct json_member *member, char name[PENDING_NAME_BYTES],
                      struct problem_detail *problem)
{
    if (!need(member, JSON_STRING, "a string", problem))
        return false;
    ptrdiff_t count = json_scan_unescape(&member->value, name, PENDING_NAME_BYTES);
    if (count <= 0)
        return problem_detail_set(problem, PROBLEM_invalid_parameter, member->name,
                                  "name has not 1 to %d bytes of UTF-8", PENDING_NAME_BYTES);
    if (memchr(name, '\0', (size_t)count) != NULL || text_has_control(name, (size_t)count))
        return problem_detail_set(problem, PROBLEM_invalid_parameter, member->name,
                                  "name holds a control character");
    return true;
}

/* A decimal of at most 6 decimals. A negative amount becomes 0, one beyond any cash the maximum;
 * the engine's checks refuse both in their order. */
static bool read_amount(const struct json_member *member, uint64_t *amount,
                        struct problem_detail *problem)
{
    char text[DECIMAL_TEXT_MAX];
    int64_t value = 0;
    if (!need(member, JSON_STRING, "a string", problem))
        return false;
    ptrdiff_t count = json_scan_unescape(&member->value, text, sizeof text);
    enum decimal_error error =
        count < 0 ? DECIMAL_SYNTAX
                  : decimal_parse(text, (size_t)count, AMOUNT_DECIMALS, 0, INT64_MAX, &value);
    if (error == DECIMAL_SYNTAX || error == DECIMAL_DECIMALS)
        return problem_detail_set(problem, PROBLEM_invalid_parameter, member->name,
                                  "amount is not a decimal of at most %d decimals",
                                  AMOUNT_DECIMALS);
    *amount = (uint64_t)value;
    if (error == DECIMAL_RANGE)
        *amount = text[0] == '-' ? 0 : INT64_MAX;
    return true;
}

bool plain_body_read(struct pending_plain *plain, uint16_t code, const char *text, size_t count,
                     struct problem_detail *problem)
{
    struct json_member members[MEMBERS] = {
        [LEVERAGE] = JSON_MEMBER("leverage"),
        [MARKET] = JSON_MEMBER("market"),
        [PORTFOLIO_INDEX] = JSON_MEMBER("portfolio_index"),
        [SUBACCOUNT_INDEX] = JSON_MEMBER("subaccount_index"),
        [NAME] = JSON_MEMBER("name"),
        [AMOUNT] = JSON_MEMBER("amount"),
    };
    unsigned wanted = members_of(code);
    size_t error_at = 0;
    enum json_error error = json_scan_members(text, count, members, MEMBERS, &error_at);
    if (error != JSON_OK)
        return problem_detail_set(problem, PROBLEM_malformed_json, NULL, "%s, at byte %zu",
                                  json_scan_error_text(error), error_at);
    *plain = (struct pending_plain){ 0 };
    for (unsigned place = 0; place < MEMBERS; place++) {
        const struct json_member *member = &members[place];
        if ((wanted & BIT(place)) == 0)
            continue;
        bool good =
            place == LEVERAGE           ? read_leverage(member, &plain->leverage, problem)
            : place == MARKET           ? read_market(member, plain->market, problem)
            : place == PORTFOLIO_INDEX  ? read_index(member, &plain->portfolio_index, problem)
            : place == SUBACCOUNT_INDEX ? read_index(member, &plain->subaccount_index, problem)
            : place == NAME             ? read_name(member, plain->name, problem)
                                        : read_amount(member, &plain->amount, problem);
        if (!good)
            return false;
    }
    return true;
}

/* --- the outcome ------------------------------------------------------------------------------ */

/* The detail of a problem, the same for every request. */
static const char *detail_of(enum problem code)
{
    switch (code) {
    case PROBLEM_invalid_api_key:
        return "X-API-KEY names no live API key";
    case PROBLEM_invalid_device_key:
        return "there is no live device key of this secret";
    case PROBLEM_read_only_key:
        return "the API key has scope READ";
    case PROBLEM_subaccount_not_permitted:
        return "the key is pinned to another subaccount";
    case PROBLEM_portfolio_not_found:
        return "the account has no such portfolio";
    case PROBLEM_portfolio_not_active:
        return "the portfolio is not active";
    case PROBLEM_portfolio_not_empty:
        return "the portfolio has cash, a position or an order";
    case PROBLEM_portfolio_not_closed:
        return "the portfolio is not closed";
    case PROBLEM_subaccount_not_active:
        return "the subaccount is closed";
    case PROBLEM_invalid_market:
        return "no such market";
    case PROBLEM_insufficient_free_equity:
        return "the portfolio's equity does not cover its initial margin at this leverage, or a "
               "mark that it rests on is not valid";
    case PROBLEM_faucet_limit_exceeded:
        return "the account gets at most 100000 USDC in the 24 h from its first credit";
    case PROBLEM_limit_reached:
        return "the account has as many settings as it may, or accounts of its class have";
    case PROBLEM_not_ready:
        return "too many requests are waiting";
    default:
        return "the request could not be carried out";
    }
}

static bool refused(struct problem_detail *problem, uint16_t request, enum problem code)
{
    static const char leverage[] = "leverage", amount[] = "amount";
    if (code != PROBLEM_invalid_parameter)
        return problem_detail_set(problem, code, NULL, "%s", detail_of(code));
    if (request == REQUEST_faucet_credit)
        return problem_detail_set(problem, code, amount,
                                  "amount must be above 0 and fit the portfolio's cash");
    return problem_detail_set(problem, code, leverage,
                              "leverage must be 1 to the market's max_leverage");
}

/* R11: the reason of order_rejected_invalid is the problem. */
static enum problem invalid_problem(uint8_t reason)
{
    static const struct {
        uint8_t reason, problem;
    } rows[] = {
#define R(name) { REASON_##name, PROBLEM_##name }
        R(portfolio_not_active),     R(portfolio_not_empty),
        R(portfolio_not_closed),     R(subaccount_not_active),
        R(insufficient_free_equity), R(invalid_parameter),
        R(faucet_limit_exceeded),    R(limit_reached),
#undef R
    };
    for (size_t i = 0; i < CC_COUNT(rows); i++)
        if (rows[i].reason == reason)
            return (enum problem)rows[i].problem;
    return PROBLEM_internal_error;
}

static enum problem unauthorized_problem(uint8_t reason, bool by_device)
{
    if (reason == REASON_read_only_key)
        return PROBLEM_read_only_key;
    if (reason == REASON_subaccount_not_permitted)
        return PROBLEM_subaccount_not_permitted;
    return by_device ? PROBLEM_invalid_device_key : PROBLEM_invalid_api_key;
}

bool plain_body_succeeded(const struct answer *answer, bool by_device,
                          struct problem_detail *problem)
{
    switch (answer->status) {
    case STATUS_request_completed:
        return true;
    case STATUS_request_dropped:
    case STATUS_retry_required:
        return refused(problem, answer->code, PROBLEM_not_ready);
    case STATUS_rejected_rate_limited:
        return problem_detail_set_number(problem, PROBLEM_rate_limited, answer->retry_after_ms,
                                         "the account has used up its writes (limits.write_rate)");
    case STATUS_rejected_unauthorized:
        return refused(problem, answer->code, unauthorized_problem(answer->reason, by_device));
    case STATUS_rejected_invalid_portfolio_id:
        return refused(problem, answer->code, PROBLEM_portfolio_not_found);
    case STATUS_rejected_market_not_found:
        return refused(problem, answer->code, PROBLEM_invalid_market);
    case STATUS_order_rejected_invalid:
        return refused(problem, answer->code, invalid_problem(answer->reason));
    default:
        return refused(problem, answer->code, PROBLEM_internal_error);
    }
}

bool plain_body_becomes_read(struct pending *pending)
{
    uint16_t code = pending->answer.code;
    if (pending->answer.status != STATUS_request_completed ||
        (code != REQUEST_faucet_credit && code != REQUEST_rename_portfolio))
        return false;
    const struct pending_plain plain = pending->plain;
    pending->kind = PENDING_READ;
    pending_move(pending, PENDING_HELD);
    pending->wrote = true;
    pending->query = (struct query){
        .received_ticks = pending->received_ticks,
        .account_id = plain.account_id,
        .subaccount_index = plain.subaccount_index,
        .portfolio_index = plain.portfolio_index,
        .pin = API_CALLER_NO_PIN,
        .kind = QUERY_balance,
        .status = QUERY_ANY_STATUS,
    };
    pending->caller = (struct keyring_key){ 0 }; /* the engine has judged the credential */
    return true;
}

void plain_body_write(struct writer *writer, uint16_t code, const struct pending_plain *plain)
{
    if (code != REQUEST_set_leverage) {
        INVARIANT(code == REQUEST_portfolio_close || code == REQUEST_portfolio_reopen);
        json_field_ids(writer, plain->account_id, plain->subaccount_index, plain->portfolio_index);
        JSON_FIELD_WORD(writer, "status", code == REQUEST_portfolio_close ? "CLOSED" : "ACTIVE");
        WRITER_TEXT(writer, "}");
        return;
    }
    WRITER_TEXT(writer, "{\"leverage\":");
    writer_uint(writer, plain->leverage);
    JSON_FIELD_TEXT(writer, "market", plain->market);
    JSON_FIELD_UINT(writer, "portfolio_index", plain->portfolio_index);
    JSON_FIELD_UINT(writer, "subaccount_index", plain->subaccount_index);
    JSON_FIELD_UINT(writer, "account_id", plain->account_id);
    WRITER_TEXT(writer, "}");
}
