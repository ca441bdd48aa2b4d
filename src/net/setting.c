#include "net/setting.h"

#include "base/json_scan.h"
#include "base/reason.h"
#include "base/status.h"
#include "base/symbols.h"
#include "net/caller.h"
#include "net/intake.h"
#include "net/show_member.h"

enum { BODY_BYTES = 40 }; /* W3b, 2001 */

enum member_place { LEVERAGE, MARKET, PORTFOLIO_INDEX, SUBACCOUNT_INDEX, MEMBERS };

static bool need(const struct json_member *member, enum json_kind kind, const char *what,
                 struct mistake *mistake)
{
    if (member->kind == kind)
        return true;
    if (member->kind == JSON_NONE)
        return mistake_set(mistake, PROBLEM_invalid_parameter, member->name, "%s is missing",
                           member->name);
    return mistake_set(mistake, PROBLEM_invalid_parameter, member->name, "%s is not %s",
                       member->name, what);
}

static bool read_int32(const struct json_member *member, int32_t minimum, int32_t *value,
                       struct mistake *mistake)
{
    int64_t number = 0;
    if (!need(member, JSON_NUMBER, "an integer", mistake))
        return false;
    if (!json_scan_int64(&member->value, &number) || number < minimum || number > INT32_MAX)
        return mistake_set(mistake, PROBLEM_invalid_parameter, member->name,
                           "%s is not an integer in %d..%d", member->name, minimum, INT32_MAX);
    *value = (int32_t)number;
    return true;
}

/* A text that is longer than any symbol, or holds a zero byte, names no market: nothing is kept. */
static void read_symbol(const struct json_span *span, char symbol[SYMBOL_BYTES])
{
    ptrdiff_t count = json_scan_unescape(span, symbol, SYMBOL_BYTES - 1);
    if (count < 0 || memchr(symbol, '\0', (size_t)count) != NULL)
        memset(symbol, 0, SYMBOL_BYTES);
}

bool setting_read(struct pending_setting *setting, const char *text, size_t count,
                  struct mistake *mistake)
{
    struct json_member members[MEMBERS] = {
        [LEVERAGE] = JSON_MEMBER("leverage"),
        [MARKET] = JSON_MEMBER("market"),
        [PORTFOLIO_INDEX] = JSON_MEMBER("portfolio_index"),
        [SUBACCOUNT_INDEX] = JSON_MEMBER("subaccount_index"),
    };
    int32_t leverage = 0, portfolio = 0, subaccount = 0;
    size_t error_at = 0;
    enum json_error error = json_scan_members(text, count, members, MEMBERS, &error_at);
    if (error != JSON_OK)
        return mistake_set(mistake, PROBLEM_malformed_json, NULL, "%s, at byte %zu",
                           json_scan_error_text(error), error_at);
    *setting = (struct pending_setting){ 0 };
    if (!read_int32(&members[LEVERAGE], INT32_MIN, &leverage, mistake) ||
        !need(&members[MARKET], JSON_STRING, "a string", mistake) ||
        !read_int32(&members[PORTFOLIO_INDEX], 0, &portfolio, mistake) ||
        !read_int32(&members[SUBACCOUNT_INDEX], 0, &subaccount, mistake))
        return false;
    /* A negative leverage is outside 1..max as 0 is, and meets the checks in their order. */
    setting->leverage = leverage > 0 ? (uint32_t)leverage : 0;
    setting->portfolio_index = (uint32_t)portfolio;
    setting->subaccount_index = (uint32_t)subaccount;
    read_symbol(&members[MARKET].value, setting->market);
    return true;
}

/* The checks of a setting that was read: is it served, and who asks. */
static bool admit(struct gate *gate, const struct conn *conn, const char *head_text,
                  struct pending_setting *setting, struct keyring_entry *entry,
                  struct mistake *mistake)
{
    if (!gate->config.source.ready(gate->config.source.context))
        return mistake_set(mistake, PROBLEM_not_ready, NULL, "the service is recovering");
    if (!caller_find(gate, &conn->head, head_text, entry, mistake))
        return false;
    setting->account_id = entry->account_id;
    if (entry->state == KEYRING_TOMBSTONE)
        return true; /* R11: the engine refuses it, behind the command that revoked the key */
    if (entry->scope != CALLER_READ_WRITE)
        return mistake_set(mistake, PROBLEM_read_only_key, NULL, "the API key has scope READ");
    return caller_reaches(entry->subaccount_pin, setting->subaccount_index, mistake);
}

void setting_take(struct gate *gate, struct conn *conn, const char *head_text, const char *body,
                  size_t count)
{
    struct pending_setting setting;
    struct keyring_entry entry;
    struct mistake mistake;
    if (!setting_read(&setting, body, count, &mistake) ||
        !admit(gate, conn, head_text, &setting, &entry, &mistake)) {
        struct pending *pending = pending_add(&gate->pendings, conn, PENDING_MISTAKE, PENDING_DONE);
        pending->mistake = mistake;
        gate_settle(gate, conn);
        return;
    }
    uint8_t bytes[BODY_BYTES] = { 0 };
    memcpy(bytes, entry.credential_id.bytes, 16);
    cc_store64(bytes + 16, setting.account_id);
    cc_store32(bytes + 24, setting.subaccount_index);
    cc_store32(bytes + 28, setting.portfolio_index);
    cc_store32(bytes + 32, setting.leverage);
    /* R11: an unknown market is told behind the portfolio, so the engine is asked all the same. */
    cc_store16(bytes + 36,
               symbols_find(gate->config.symbols, setting.market, strlen(setting.market)));
    struct pending *pending =
        intake_take_plain(gate, conn, REQUEST_set_leverage, bytes, sizeof bytes);
    pending->setting = setting;
}

static bool refused(struct mistake *mistake, enum problem problem)
{
    static const char leverage[] = "leverage";
    const char *detail = "the setting could not be stored";
    switch (problem) {
    case PROBLEM_invalid_api_key:
        detail = "X-API-KEY names no live API key";
        break;
    case PROBLEM_read_only_key:
        detail = "the API key has scope READ";
        break;
    case PROBLEM_subaccount_not_permitted:
        detail = "the API key is pinned to another subaccount";
        break;
    case PROBLEM_portfolio_not_found:
        detail = "the account has no such portfolio";
        break;
    case PROBLEM_portfolio_not_active:
        detail = "the portfolio is closed";
        break;
    case PROBLEM_invalid_market:
        detail = "no such market";
        break;
    case PROBLEM_invalid_parameter:
        detail = "leverage must be 1 to the market's max_leverage";
        break;
    case PROBLEM_insufficient_free_equity:
        detail = "the portfolio's equity does not cover its initial margin at this leverage, or a "
                 "mark that it rests on is not valid";
        break;
    case PROBLEM_not_ready:
        detail = "too many requests are waiting";
        break;
    default:
        break;
    }
    return mistake_set(mistake, problem, problem == PROBLEM_invalid_parameter ? leverage : NULL,
                       "%s", detail);
}

/* R11, 2001: order_rejected_invalid carries the problem code as its reason. */
static enum problem invalid_problem(uint8_t reason)
{
    switch (reason) {
    case REASON_portfolio_not_active:
        return PROBLEM_portfolio_not_active;
    case REASON_insufficient_free_equity:
        return PROBLEM_insufficient_free_equity;
    case REASON_invalid_parameter:
        return PROBLEM_invalid_parameter;
    default:
        return PROBLEM_internal_error;
    }
}

static enum problem unauthorized_problem(uint8_t reason)
{
    if (reason == REASON_read_only_key)
        return PROBLEM_read_only_key;
    if (reason == REASON_subaccount_not_permitted)
        return PROBLEM_subaccount_not_permitted;
    return PROBLEM_invalid_api_key;
}

bool setting_succeeded(const struct answer *answer, struct mistake *mistake)
{
    switch (answer->status) {
    case STATUS_request_completed:
        return true;
    case STATUS_request_dropped:
    case STATUS_retry_required:
        return refused(mistake, PROBLEM_not_ready);
    case STATUS_rejected_unauthorized:
        return refused(mistake, unauthorized_problem(answer->reason));
    case STATUS_rejected_invalid_portfolio_id:
        return refused(mistake, PROBLEM_portfolio_not_found);
    case STATUS_rejected_market_not_found:
        return refused(mistake, PROBLEM_invalid_market);
    case STATUS_order_rejected_invalid:
        return refused(mistake, invalid_problem(answer->reason));
    default:
        return refused(mistake, PROBLEM_internal_error);
    }
}

void setting_write(struct writer *writer, const struct pending_setting *setting)
{
    WRITER_TEXT(writer, "{\"leverage\":");
    writer_uint(writer, setting->leverage);
    SHOW_FIELD(writer, "market", setting->market);
    SHOW_UINT(writer, "portfolio_index", setting->portfolio_index);
    SHOW_UINT(writer, "subaccount_index", setting->subaccount_index);
    SHOW_UINT(writer, "account_id", setting->account_id);
    WRITER_TEXT(writer, "}");
}
