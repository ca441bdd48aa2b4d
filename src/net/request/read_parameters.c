#include "net/request/read_parameters.h"

#include "base/uuid.h"
#include "net/http/parameter.h"
#include "net/json/json_candle.h"
#include "net/json/json_money.h"
#include "net/json/json_order.h"
#include "net/request/api_caller.h"
#include "net/request/leadership.h"

enum {
    DEPTH_DEFAULT = 50,
    DEPTH_MAX = 1000,
    LIMIT_DEFAULT = 100,
    LIMIT_MAX = 1000,
    SKIP_MAX = 1 << 20
}; /* bytes: the longest frame */

#define TIME_MS_MAX (UINT64_C(1) << 43) /* the year 2248; in ns below 2^63 */

/* The parameters that a read has. */
enum parameter {
    HAS_KEY = 1,    /* X-API-KEY */
    HAS_ID = 2,     /* the path ends with a UUID */
    HAS_SYMBOL = 4, /* the path names a market */
    HAS_SUBACCOUNT = 8,
    HAS_PORTFOLIO = 16,
    HAS_MARKET = 32,
    HAS_STATUS = 64,
    HAS_PAGE = 128, /* limit, offset, before_sequence, before_index */
    HAS_DEPTH = 256,
    NEEDS_SUBACCOUNT = 512,
    NEEDS_PORTFOLIO = 1024,
    HAS_TIMES = 2048,   /* start_time, end_time */
    HAS_OUTCOME = 4096, /* status of withdrawals */
    HAS_DEVICE = 8192,  /* X-DEVICE-KEY in place of the API key */
    IS_DEVICE = 16384,  /* X-DEVICE-KEY and no API key */
    HAS_TOKEN = 32768,  /* Authorization: Bearer and the pairing's token */
    HAS_KIND = 65536,   /* kind of rows of the cash ledger */
    HAS_LIMIT = 131072, /* limit and nothing else of a page */
    HAS_FRAME = 262144, /* from, skip */
    NEEDS_INTERVAL = 524288,
    HAS_PART = 1048576, /* limit and offset, without them all rows */
};

#define PAGE   (HAS_PAGE)
#define PLACE  (HAS_SUBACCOUNT | HAS_PORTFOLIO)
#define IN_ALL (HAS_SUBACCOUNT | NEEDS_SUBACCOUNT)
#define IN_ONE (IN_ALL | HAS_PORTFOLIO | NEEDS_PORTFOLIO)

/* clang-format off */
#define PARAMETERS_order       HAS_KEY | HAS_ID
#define PARAMETERS_orders      HAS_KEY | PLACE | HAS_MARKET | HAS_STATUS | PAGE
#define PARAMETERS_fills       HAS_KEY | IN_ALL | HAS_PORTFOLIO | PAGE
#define PARAMETERS_request     HAS_KEY | HAS_ID
#define PARAMETERS_receipt     HAS_KEY | HAS_ID
#define PARAMETERS_positions   HAS_KEY | PLACE | HAS_MARKET | HAS_PART
#define PARAMETERS_balance     HAS_KEY | IN_ONE
#define PARAMETERS_balances    HAS_KEY | PLACE | HAS_PART
#define PARAMETERS_subaccounts HAS_KEY | HAS_SUBACCOUNT | HAS_PART
#define PARAMETERS_account     HAS_KEY
#define PARAMETERS_limits      HAS_KEY
#define PARAMETERS_sessions    HAS_KEY | HAS_DEVICE
#define PARAMETERS_master_keys HAS_KEY | HAS_DEVICE
#define PARAMETERS_api_keys    HAS_KEY | HAS_DEVICE
#define PARAMETERS_markets     0
#define PARAMETERS_market      HAS_SYMBOL
#define PARAMETERS_book        HAS_SYMBOL | HAS_DEPTH
#define PARAMETERS_book_orders HAS_SYMBOL | HAS_DEPTH
#define PARAMETERS_trades      HAS_SYMBOL | PAGE
#define PARAMETERS_candles     HAS_SYMBOL | NEEDS_INTERVAL | HAS_TIMES | HAS_LIMIT
#define PARAMETERS_ticker      HAS_SYMBOL
#define PARAMETERS_tickers     0
#define PARAMETERS_audit       0
#define PARAMETERS_payments    HAS_KEY | IN_ONE | HAS_MARKET | HAS_TIMES | PAGE
#define PARAMETERS_cash        HAS_KEY | IN_ALL | HAS_PORTFOLIO | HAS_KIND | HAS_TIMES | PAGE
#define PARAMETERS_rates       HAS_SYMBOL | HAS_TIMES | PAGE
#define PARAMETERS_liquidations HAS_SYMBOL | PAGE
#define PARAMETERS_mark        HAS_SYMBOL
#define PARAMETERS_fund        PAGE
#define PARAMETERS_fees        PAGE
#define PARAMETERS_heads       HAS_LIMIT
#define PARAMETERS_frames      HAS_FRAME
#define PARAMETERS_seal        0
#define PARAMETERS_withdrawals HAS_OUTCOME | PAGE
#define PARAMETERS_private_events   0 /* which no path asks for */
#define PARAMETERS_trades_after     0 /* the same */
#define PARAMETERS_pairing_open     HAS_KEY | IS_DEVICE
#define PARAMETERS_pairing_deposit  HAS_TOKEN | HAS_ID
#define PARAMETERS_pairing          HAS_KEY | IS_DEVICE | HAS_ID
#define PARAMETERS_pairing_complete HAS_KEY | IS_DEVICE | HAS_ID
#define PARAMETERS_pairing_result   HAS_TOKEN | HAS_ID
/* clang-format on */

static const uint32_t parameters_of[QUERY_KIND_COUNT] = {
#define X(name, extent) [QUERY_##name] = PARAMETERS_##name,
    QUERY_LIST(X)
#undef X
};

static bool parse_id(const struct conn *conn, struct query *query, struct problem_detail *problem)
{
    const char *name = query->kind >= QUERY_pairing_open ? "pairing_id" : "id";
    struct uuid id;
    if (!uuid_parse(&id, conn->route.argument, conn->route.argument_bytes))
        return problem_detail_set(problem, PROBLEM_invalid_parameter, name, "%s is not a UUID",
                                  name);
    memcpy(query->id, id.bytes, sizeof query->id);
    return true;
}

static bool parse_symbol(const struct conn *conn, struct query *query,
                         struct problem_detail *problem)
{
    if (conn->route.argument_bytes > QUERY_MARKET_BYTES)
        return problem_detail_set(problem, PROBLEM_not_found, NULL, "no such market");
    memcpy(query->market, conn->route.argument, conn->route.argument_bytes);
    return true;
}

/* The index of a subaccount or portfolio; unchanged if absent. */
static bool parse_index(const struct parameters *parameters, const char *name, bool needed,
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

/* Malformed and unknown symbols give the same problem: invalid_market. */
static bool parse_market(const struct parameters *parameters, struct query *query,
                         struct problem_detail *problem)
{
    char text[PARAMETER_TEXT_MAX];
    enum parameter_found found = parameter_text(parameters, "market", text, problem);
    if (found == PARAMETER_ABSENT || found == PARAMETER_BAD)
        return found == PARAMETER_ABSENT;
    size_t count = found == PARAMETER_LONG ? 0 : strlen(text);
    if (count == 0 || count > QUERY_MARKET_BYTES)
        return problem_detail_set(problem, PROBLEM_invalid_market, NULL, "no such market");
    memcpy(query->market, text, count);
    return true;
}

static bool parse_status(const struct parameters *parameters, struct query *query,
                         struct problem_detail *problem)
{
    char text[PARAMETER_TEXT_MAX];
    enum parameter_found found = parameter_text(parameters, "status", text, problem);
    if (found != PARAMETER_GIVEN)
        return found == PARAMETER_ABSENT;
    if (json_order_status_of(text, &query->status))
        return true;
    return problem_detail_set(problem, PROBLEM_invalid_parameter, "status",
                              "status is none of OPEN, FILLED, CANCELED, REJECTED, UNTRIGGERED, "
                              "PARTIALLY_FILLED, EXPIRED");
}

static bool parse_outcome(const struct parameters *parameters, struct query *query,
                          struct problem_detail *problem)
{
    char text[PARAMETER_TEXT_MAX];
    enum parameter_found found = parameter_text(parameters, "status", text, problem);
    if (found != PARAMETER_GIVEN)
        return found == PARAMETER_ABSENT;
    if (json_money_outcome_of(text, &query->status))
        return true;
    return problem_detail_set(problem, PROBLEM_invalid_parameter, "status",
                              "status is none of pending, settled, reverted");
}

static bool parse_kind(const struct parameters *parameters, struct query *query,
                       struct problem_detail *problem)
{
    char text[PARAMETER_TEXT_MAX];
    enum parameter_found found = parameter_text(parameters, "kind", text, problem);
    if (found != PARAMETER_GIVEN)
        return found == PARAMETER_ABSENT;
    if (json_money_kind_of(text, &query->status))
        return true;
    return problem_detail_set(problem, PROBLEM_invalid_parameter, "kind",
                              "kind is none of trade, fee, funding, transfer, deposit, withdrawal, "
                              "withdrawal_reverted, faucet, liquidation, adl, fund, settlement");
}

static bool parse_page(const struct parameters *parameters, struct query *query,
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
    /* No index is that high: the maximum stands for all higher ones. */
    query->before_index = before_index < UINT32_MAX ? (uint32_t)before_index : UINT32_MAX;
    if (before == PARAMETER_GIVEN && query->before_sequence == 0) {
        /* 0 in a query asks for all rows; 0 from a client asks for rows before the first: none. */
        query->before_sequence = 1;
        query->before_index = 0;
    }
    return true;
}

/* The same of a list that is shown whole without them. */
static bool parse_part(const struct parameters *parameters, struct query *query,
                       struct problem_detail *problem)
{
    uint64_t limit = QUERY_NO_LIMIT;
    if (parameter_number(parameters, "limit", 1, LIMIT_MAX, &limit, problem) == PARAMETER_BAD ||
        parameter_number(parameters, "offset", 0, UINT64_MAX, &query->offset, problem) ==
            PARAMETER_BAD)
        return false;
    query->limit = (uint32_t)limit;
    return true;
}

static bool parse_interval(const struct parameters *parameters, struct query *query,
                           struct problem_detail *problem)
{
    char text[PARAMETER_TEXT_MAX];
    enum parameter_found found = parameter_text(parameters, "interval", text, problem);
    if (found == PARAMETER_BAD)
        return false;
    if (found == PARAMETER_ABSENT)
        return problem_detail_set(problem, PROBLEM_invalid_parameter, "interval",
                                  "interval is missing");
    if (found == PARAMETER_GIVEN && json_candle_interval_of(text, &query->interval))
        return true;
    return problem_detail_set(problem, PROBLEM_invalid_parameter, "interval",
                              "interval is none of 1m, 5m, 15m, 1h, 4h, 1d");
}

/* Unix ms, both inclusive; without them all times. */
static bool parse_times(const struct parameters *parameters, struct query *query,
                        struct problem_detail *problem)
{
    uint64_t start_ms = 0, end_ms = TIME_MS_MAX;
    enum parameter_found start =
        parameter_number(parameters, "start_time", 0, TIME_MS_MAX, &start_ms, problem);
    if (start == PARAMETER_BAD ||
        parameter_number(parameters, "end_time", 0, TIME_MS_MAX, &end_ms, problem) == PARAMETER_BAD)
        return false;
    query->start_ns = start_ms * 1000000;
    if (query->kind == QUERY_candles && start == PARAMETER_ABSENT)
        query->start_ns = QUERY_NO_START;
    query->end_ns = end_ms * 1000000 + 999999;
    return true;
}

static bool parse_limit(const struct parameters *parameters, struct query *query,
                        struct problem_detail *problem)
{
    uint64_t limit = LIMIT_DEFAULT;
    if (parameter_number(parameters, "limit", 1, LIMIT_MAX, &limit, problem) == PARAMETER_BAD)
        return false;
    query->limit = (uint32_t)limit;
    return true;
}

/* A frame of the journal, and how many of its bytes to leave out. */
static bool parse_frame(const struct parameters *parameters, struct query *query,
                        struct problem_detail *problem)
{
    switch (parameter_number(parameters, "from", 1, UINT64_MAX, &query->before_sequence, problem)) {
    case PARAMETER_ABSENT:
        return problem_detail_set(problem, PROBLEM_invalid_parameter, "from", "from is missing");
    case PARAMETER_GIVEN:
        return parameter_number(parameters, "skip", 0, SKIP_MAX, &query->offset, problem) !=
               PARAMETER_BAD;
    case PARAMETER_BAD:
    case PARAMETER_LONG:
        break;
    }
    return false;
}

static bool parse_depth(const struct parameters *parameters, struct query *query,
                        struct problem_detail *problem)
{
    uint64_t depth = query->kind == QUERY_book_orders ? DEPTH_MAX : DEPTH_DEFAULT;
    if (parameter_number(parameters, "depth", 1, DEPTH_MAX, &depth, problem) == PARAMETER_BAD)
        return false;
    query->limit = (uint32_t)depth;
    return true;
}

static bool parse_parameters(unsigned has, const struct parameters *parameters, struct query *query,
                             struct problem_detail *problem)
{
    return ((has & HAS_SUBACCOUNT) == 0 ||
            parse_index(parameters, "subaccount_index", has & NEEDS_SUBACCOUNT,
                        &query->subaccount_index, problem)) &&
           ((has & HAS_PORTFOLIO) == 0 ||
            parse_index(parameters, "portfolio_index", has & NEEDS_PORTFOLIO,
                        &query->portfolio_index, problem)) &&
           ((has & HAS_MARKET) == 0 || parse_market(parameters, query, problem)) &&
           ((has & HAS_STATUS) == 0 || parse_status(parameters, query, problem)) &&
           ((has & HAS_OUTCOME) == 0 || parse_outcome(parameters, query, problem)) &&
           ((has & HAS_KIND) == 0 || parse_kind(parameters, query, problem)) &&
           ((has & HAS_PAGE) == 0 || parse_page(parameters, query, problem)) &&
           ((has & HAS_PART) == 0 || parse_part(parameters, query, problem)) &&
           ((has & NEEDS_INTERVAL) == 0 || parse_interval(parameters, query, problem)) &&
           ((has & HAS_TIMES) == 0 || parse_times(parameters, query, problem)) &&
           ((has & HAS_FRAME) == 0 || parse_frame(parameters, query, problem)) &&
           ((has & HAS_LIMIT) == 0 || parse_limit(parameters, query, problem)) &&
           ((has & HAS_DEPTH) == 0 || parse_depth(parameters, query, problem));
}

static bool find_caller(const struct net_config *config, uint64_t unix_ns, const struct conn *conn,
                        const char *head_text, struct query *query, struct keyring_key *caller,
                        struct problem_detail *problem)
{
    struct keyring_row row;
    unsigned has = parameters_of[conn->route.query];
    enum api_caller_takes takes = (has & IS_DEVICE) != 0    ? API_CALLER_DEVICE_ALONE
                                  : (has & HAS_DEVICE) != 0 ? API_CALLER_DEVICE
                                                            : API_CALLER_KEY;
    if (!api_caller_find(config, unix_ns, &conn->head, head_text, takes, &row, problem))
        return false;
    *caller = row.key;
    query->account_id = row.account_id;
    query->pin = row.subaccount_pin;
    return true;
}

bool read_parameters_parse(const struct net_config *config, uint64_t unix_ns,
                           const struct conn *conn, const char *head_text, struct query *query,
                           struct keyring_key *caller, struct problem_detail *problem)
{
    const struct parameters parameters = { head_text + conn->head.query.at,
                                           conn->head.query.count };
    INVARIANT(conn->route.kind == ROUTE_QUERY && conn->route.query < QUERY_KIND_COUNT);
    unsigned has = parameters_of[conn->route.query];
    *query = (struct query){
        .received_ticks = conn->received_ticks,
        .kind = conn->route.query,
        .pin = API_CALLER_NO_PIN,
        .subaccount_index = QUERY_ANY_INDEX,
        .portfolio_index = QUERY_ANY_INDEX,
        .status = QUERY_ANY_STATUS,
        .address = conn->admin ? QUERY_ADMIN_ADDRESS : conn->address,
    };
    *caller = (struct keyring_key){ 0 };
    if (!config->source.ready(config->source.context))
        return problem_detail_set(problem, PROBLEM_not_ready, NULL, "the service is recovering");
    if (conn->route.query == QUERY_receipt && !leadership_write(config, problem))
        return false; /* who leads signs */
    if (!leadership_read(config, conn->head.min_sequence != 0, problem))
        return false;
    return ((has & HAS_KEY) == 0 ||
            find_caller(config, unix_ns, conn, head_text, query, caller, problem)) &&
           ((has & HAS_TOKEN) == 0 ||
            api_caller_token_hash(config, &conn->head, head_text, query->token_hash, problem)) &&
           ((has & HAS_ID) == 0 || parse_id(conn, query, problem)) &&
           ((has & HAS_SYMBOL) == 0 || parse_symbol(conn, query, problem)) &&
           parse_parameters(has, &parameters, query, problem) &&
           (query->subaccount_index == QUERY_ANY_INDEX ||
            api_caller_may_reach(query->pin, query->subaccount_index, problem));
}
