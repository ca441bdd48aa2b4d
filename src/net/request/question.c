#include "net/request/question.h"

#include "base/uuid.h"
#include "net/http/parameter.h"
#include "net/json/show_money.h"
#include "net/json/show_order.h"
#include "net/request/caller.h"

enum { DEPTH_DEFAULT = 50, DEPTH_MAX = 1000, LIMIT_DEFAULT = 100, LIMIT_MAX = 1000 };

#define TIME_MS_MAX (UINT64_C(1) << 43) /* the year 2248; in ns below 2^63 */

/* What a read takes. */
enum take {
    TAKE_KEY = 1,    /* X-API-KEY */
    TAKE_ID = 2,     /* the path ends with a UUID */
    TAKE_SYMBOL = 4, /* the path names a market */
    TAKE_SUBACCOUNT = 8,
    TAKE_PORTFOLIO = 16,
    TAKE_MARKET = 32,
    TAKE_STATUS = 64,
    TAKE_PAGE = 128, /* limit, offset, before_sequence, before_index */
    TAKE_DEPTH = 256,
    NEED_SUBACCOUNT = 512,
    NEED_PORTFOLIO = 1024,
    TAKE_TIMES = 2048,   /* start_time, end_time */
    TAKE_OUTCOME = 4096, /* status of withdrawals */
};

#define PAGE   (TAKE_PAGE)
#define PLACE  (TAKE_SUBACCOUNT | TAKE_PORTFOLIO)
#define IN_ALL (TAKE_SUBACCOUNT | NEED_SUBACCOUNT)
#define IN_ONE (IN_ALL | TAKE_PORTFOLIO | NEED_PORTFOLIO)

/* clang-format off */
#define TAKES_order       TAKE_KEY | TAKE_ID
#define TAKES_orders      TAKE_KEY | PLACE | TAKE_MARKET | TAKE_STATUS | PAGE
#define TAKES_fills       TAKE_KEY | IN_ALL | TAKE_PORTFOLIO | PAGE
#define TAKES_request     TAKE_KEY | TAKE_ID
#define TAKES_positions   TAKE_KEY | PLACE | TAKE_MARKET
#define TAKES_balance     TAKE_KEY | IN_ONE
#define TAKES_balances    TAKE_KEY
#define TAKES_subaccounts TAKE_KEY
#define TAKES_account     TAKE_KEY
#define TAKES_markets     0
#define TAKES_market      TAKE_SYMBOL
#define TAKES_book        TAKE_SYMBOL | TAKE_DEPTH
#define TAKES_trades      TAKE_SYMBOL | PAGE
#define TAKES_audit       0
#define TAKES_payments    TAKE_KEY | IN_ONE | TAKE_MARKET | TAKE_TIMES | PAGE
#define TAKES_rates       TAKE_SYMBOL | TAKE_TIMES | PAGE
#define TAKES_mark        TAKE_SYMBOL
#define TAKES_fund        PAGE
#define TAKES_fees        PAGE
#define TAKES_withdrawals TAKE_OUTCOME | PAGE
/* clang-format on */

static const uint16_t takes_of[QUERY_KIND_COUNT] = {
#define X(name, extent) [QUERY_##name] = TAKES_##name,
    QUERY_LIST(X)
#undef X
};

static bool take_id(const struct conn *conn, struct query *query, struct problem_detail *problem)
{
    struct uuid id;
    if (!uuid_parse(&id, conn->route.argument, conn->route.argument_bytes))
        return problem_detail_set(problem, PROBLEM_invalid_parameter, "id", "id is not a UUID");
    memcpy(query->id, id.bytes, sizeof query->id);
    return true;
}

static bool take_symbol(const struct conn *conn, struct query *query,
                        struct problem_detail *problem)
{
    if (conn->route.argument_bytes >= QUERY_MARKET_BYTES)
        return problem_detail_set(problem, PROBLEM_not_found, NULL, "no such market");
    memcpy(query->market, conn->route.argument, conn->route.argument_bytes);
    return true;
}

/* An index of a subaccount or portfolio; stays as it is when there is none. */
static bool take_index(const struct parameters *parameters, const char *name, bool needed,
                       uint32_t *index, struct problem_detail *problem)
{
    uint64_t value = 0;
    switch (parameter_number(parameters, name, 0, INT32_MAX, &value, problem)) {
    case PARAMETER_ABSENT:
        if (needed)
            return problem_detail_set(problem, PROBLEM_invalid_parameter, name, "%s is missing",
                                      name);
        return true;
    case PARAMETER_GIVEN:
        *index = (uint32_t)value;
        return true;
    case PARAMETER_BAD:
    case PARAMETER_LONG:
        break;
    }
    return false;
}

/* A market that cannot exist is told from one that does not by nobody: both are invalid_market. */
static bool take_market(const struct parameters *parameters, struct query *query,
                        struct problem_detail *problem)
{
    char text[PARAMETER_TEXT_MAX];
    enum parameter_found found = parameter_text(parameters, "market", text, problem);
    if (found == PARAMETER_ABSENT || found == PARAMETER_BAD)
        return found == PARAMETER_ABSENT;
    size_t count = found == PARAMETER_LONG ? QUERY_MARKET_BYTES : strlen(text);
    if (count == 0 || count >= QUERY_MARKET_BYTES)
        return problem_detail_set(problem, PROBLEM_invalid_market, NULL, "no such market");
    memcpy(query->market, text, count);
    return true;
}

static bool take_status(const struct parameters *parameters, struct query *query,
                        struct problem_detail *problem)
{
    char text[PARAMETER_TEXT_MAX];
    enum parameter_found found = parameter_text(parameters, "status", text, problem);
    if (found != PARAMETER_GIVEN)
        return found == PARAMETER_ABSENT;
    if (show_order_status_of(text, &query->status))
        return true;
    return problem_detail_set(problem, PROBLEM_invalid_parameter, "status",
                              "status is none of OPEN, FILLED, CANCELED, REJECTED, UNTRIGGERED, "
                              "PARTIALLY_FILLED, EXPIRED");
}

static bool take_outcome(const struct parameters *parameters, struct query *query,
                         struct problem_detail *problem)
{
    char text[PARAMETER_TEXT_MAX];
    enum parameter_found found = parameter_text(parameters, "status", text, problem);
    if (found != PARAMETER_GIVEN)
        return found == PARAMETER_ABSENT;
    if (show_money_outcome_of(text, &query->status))
        return true;
    return problem_detail_set(problem, PROBLEM_invalid_parameter, "status",
                              "status is none of pending, settled, reverted");
}

static bool take_page(const struct parameters *parameters, struct query *query,
                      struct problem_detail *problem)
{
    uint64_t limit = LIMIT_DEFAULT;
    uint64_t before_index = 0;
    enum parameter_found before;
    if (parameter_number(parameters, "limit", 1, LIMIT_MAX, &limit, problem) == PARAMETER_BAD ||
        parameter_number(parameters, "offset", 0, UINT64_MAX, &query->offset, problem) ==
            PARAMETER_BAD)
        return false;
    before = parameter_number(parameters, "before_sequence", 0, UINT64_MAX, &query->before_sequence,
                              problem);
    if (before == PARAMETER_BAD || parameter_number(parameters, "before_index", 0, UINT64_MAX,
                                                    &before_index, problem) == PARAMETER_BAD)
        return false;
    query->limit = (uint32_t)limit;
    /* No index is as high: the highest stands for all that are higher. */
    query->before_index = before_index < UINT32_MAX ? (uint32_t)before_index : UINT32_MAX;
    if (before == PARAMETER_GIVEN && query->before_sequence == 0) {
        /* A query's 0 asks for all rows, a client's for those below the first: none. */
        query->before_sequence = 1;
        query->before_index = 0;
    }
    return true;
}

/* Unix ms, both inclusive; without them from the beginning to the end of time. */
static bool take_times(const struct parameters *parameters, struct query *query,
                       struct problem_detail *problem)
{
    uint64_t start_ms = 0, end_ms = TIME_MS_MAX;
    if (parameter_number(parameters, "start_time", 0, TIME_MS_MAX, &start_ms, problem) ==
            PARAMETER_BAD ||
        parameter_number(parameters, "end_time", 0, TIME_MS_MAX, &end_ms, problem) == PARAMETER_BAD)
        return false;
    query->start_ns = start_ms * 1000000;
    query->end_ns = end_ms * 1000000 + 999999;
    return true;
}

static bool take_depth(const struct parameters *parameters, struct query *query,
                       struct problem_detail *problem)
{
    uint64_t depth = DEPTH_DEFAULT;
    if (parameter_number(parameters, "depth", 1, DEPTH_MAX, &depth, problem) == PARAMETER_BAD)
        return false;
    query->limit = (uint32_t)depth;
    return true;
}

static bool take_parameters(unsigned takes, const struct parameters *parameters,
                            struct query *query, struct problem_detail *problem)
{
    return ((takes & TAKE_SUBACCOUNT) == 0 ||
            take_index(parameters, "subaccount_index", takes & NEED_SUBACCOUNT,
                       &query->subaccount_index, problem)) &&
           ((takes & TAKE_PORTFOLIO) == 0 ||
            take_index(parameters, "portfolio_index", takes & NEED_PORTFOLIO,
                       &query->portfolio_index, problem)) &&
           ((takes & TAKE_MARKET) == 0 || take_market(parameters, query, problem)) &&
           ((takes & TAKE_STATUS) == 0 || take_status(parameters, query, problem)) &&
           ((takes & TAKE_OUTCOME) == 0 || take_outcome(parameters, query, problem)) &&
           ((takes & TAKE_PAGE) == 0 || take_page(parameters, query, problem)) &&
           ((takes & TAKE_TIMES) == 0 || take_times(parameters, query, problem)) &&
           ((takes & TAKE_DEPTH) == 0 || take_depth(parameters, query, problem));
}

static bool take_key(const struct net_config *config, uint64_t unix_ns, const struct conn *conn,
                     const char *head_text, struct query *query, struct keyring_key *caller,
                     struct problem_detail *problem)
{
    struct keyring_entry entry;
    if (!caller_find(config, unix_ns, &conn->head, head_text, &entry, problem))
        return false;
    *caller = entry.key;
    query->account_id = entry.account_id;
    query->pin = entry.subaccount_pin;
    return true;
}

bool question_fill(const struct net_config *config, uint64_t unix_ns, const struct conn *conn,
                   const char *head_text, struct query *query, struct keyring_key *caller,
                   struct problem_detail *problem)
{
    const struct parameters parameters = { head_text + conn->head.query.at,
                                           conn->head.query.count };
    INVARIANT(conn->route.kind == ROUTE_QUERY && conn->route.query < QUERY_KIND_COUNT);
    unsigned takes = takes_of[conn->route.query];
    *query = (struct query){
        .received_ticks = conn->received_ticks,
        .kind = conn->route.query,
        .pin = CALLER_NO_PIN,
        .subaccount_index = QUERY_ANY_INDEX,
        .portfolio_index = QUERY_ANY_INDEX,
        .status = QUERY_ANY_STATUS,
    };
    *caller = (struct keyring_key){ 0 };
    if (!config->source.ready(config->source.context))
        return problem_detail_set(problem, PROBLEM_not_ready, NULL, "the service is recovering");
    return ((takes & TAKE_KEY) == 0 ||
            take_key(config, unix_ns, conn, head_text, query, caller, problem)) &&
           ((takes & TAKE_ID) == 0 || take_id(conn, query, problem)) &&
           ((takes & TAKE_SYMBOL) == 0 || take_symbol(conn, query, problem)) &&
           take_parameters(takes, &parameters, query, problem) &&
           (query->subaccount_index == QUERY_ANY_INDEX ||
            caller_reaches(query->pin, query->subaccount_index, problem));
}
