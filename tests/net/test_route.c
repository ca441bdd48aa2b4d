/* Routes derive from the table of request types; query parameters are read strictly. */
#include <stdio.h>

#include "check.h"
#include "net/http/route.h"

static struct route_table table;
static const struct route_features everything = { true, true, true, true };

/* Finds the route of a request line; gives the problem, 0 for none. */
static enum problem find(const char *method, const char *target, bool admin, struct route *route)
{
    char text[512];
    struct http_head head;
    struct problem_detail problem = { 0 };
    const char *allow;
    int count = snprintf(text, sizeof text, "%s %s HTTP/1.1\r\nHost: x\r\n\r\n", method, target);
    CHECK(http_parse(&head, text, (size_t)count) == count);
    if (route_find(&table, &head, text, admin, route, &problem, &allow))
        return PROBLEM_none;
    CHECK((problem.code == PROBLEM_method_not_allowed) == (allow != NULL));
    return problem.code;
}

/* W2: every built code of a client has its path; a path without a built code does not exist. */
static void codes_have_their_paths(void)
{
    size_t count;
    const struct request *requests = request_table(&count);
    for (size_t i = 0; i < count; i++) {
        struct route route;
        const struct request *request = &requests[i];
        if (request->path[0] == '\0')
            continue;
        enum problem problem = find("POST", request->path, false, &route);
        bool path_is_built = false;
        for (size_t k = 0; k < count; k++)
            path_is_built |= requests[k].built && strcmp(requests[k].path, request->path) == 0;
        CHECK((problem == PROBLEM_none) == path_is_built);
        if (problem == PROBLEM_none)
            CHECK(route.kind == ROUTE_SIGNED &&
                  route_has_code(route.path, request->code) == request->built);
        CHECK(find("POST", request->path, true, &route) == PROBLEM_not_found);
    }
}

static const struct {
    int line;
    const char *name, *target;
    bool admin;
    enum problem problem;
    enum route_kind kind;
    const char *argument;
    enum query_kind query; /* ROUTE_QUERY */
} rows[] = {
#define R(name, target, admin, problem, kind, argument)                             \
    {                                                                               \
        __LINE__, name, target, admin, PROBLEM_##problem, ROUTE_##kind, argument, 0 \
    }
#define Q(name, target, admin, query, argument)                                           \
    {                                                                                     \
        __LINE__, name, target, admin, PROBLEM_none, ROUTE_QUERY, argument, QUERY_##query \
    }
    Q("order", "/api/v1/orders/abc", false, order, "abc"),
    Q("list of orders", "/api/v1/orders", false, orders, ""),
    Q("fills", "/api/v1/fills", false, fills, ""),
    Q("positions", "/api/v1/positions", false, positions, ""),
    Q("balance", "/api/v1/portfolio/balance", false, balance, ""),
    Q("balances", "/api/v1/portfolio/cash_balances", false, balances, ""),
    Q("subaccounts", "/api/v1/subaccounts", false, subaccounts, ""),
    Q("sessions", "/api/v1/auth/sessions", false, sessions, ""),
    Q("master keys", "/api/v1/auth/master-keys", false, master_keys, ""),
    Q("API keys", "/api/v1/api-keys", false, api_keys, ""),
    Q("request", "/api/v1/requests/abc", false, request, "abc"),
    Q("receipt", "/api/v1/requests/abc/receipt", false, receipt, "abc"),
    R("no receipt of a slash", "/api/v1/requests/a/b/receipt", false, not_found, NONE, ""),
    R("no list of requests", "/api/v1/requests", false, not_found, NONE, ""),
    R("status", "/api/v1/status", false, none, STATUS, ""),
    R("limits", "/api/v1/limits", false, none, LIMITS, ""),
    R("latency", "/api/v1/latency", false, none, LATENCY, ""),
    R("latency on admin", "/api/v1/latency", true, none, LATENCY, ""),
    R("empty argument", "/api/v1/orders/", false, not_found, NONE, ""),
    R("argument with a slash", "/api/v1/orders/a/b", false, not_found, NONE, ""),
    Q("markets", "/api/v1/markets", false, markets, ""),
    Q("market", "/api/v1/markets/BTC-PERP", false, market, "BTC-PERP"),
    Q("book", "/api/v1/markets/BTC-PERP/book", false, book, "BTC-PERP"),
    Q("a market called book", "/api/v1/markets/book", false, market, "book"),
    Q("trades", "/api/v1/markets/BTC-PERP/trades?limit=1", false, trades, "BTC-PERP"),
    Q("a market called trades", "/api/v1/markets/trades", false, market, "trades"),
    Q("candles", "/api/v1/markets/BTC-PERP/candles?interval=1m", false, candles, "BTC-PERP"),
    Q("ticker", "/api/v1/markets/BTC-PERP/ticker", false, ticker, "BTC-PERP"),
    Q("tickers", "/api/v1/tickers", false, tickers, ""),
    R("other child", "/api/v1/markets/BTC-PERP/ticks", false, not_found, NONE, ""),
    R("child of a child", "/api/v1/markets/BTC-PERP/book/l2", false, not_found, NONE, ""),
    R("part without a market", "/api/v1/markets//trades", false, not_found, NONE, ""),
    Q("single orders", "/api/v1/markets/BTC-PERP/book/l3?depth=5", false, book_orders, "BTC-PERP"),
    Q("percent signs", "/api/v1/mark%65ts/%42TC%2dPERP/book?x", false, book, "BTC-PERP"),
    R("percent sign cut off", "/api/v1/markets/A%4", false, not_found, NONE, ""),
    R("zero byte", "/api/v1/markets/A%00", false, not_found, NONE, ""),
    R("escaped slash", "/api/v1/markets/BTC-PERP%2Fbook", false, not_found, NONE, ""),
    R("case counts", "/API/v1/time", false, not_found, NONE, ""),
    R("trailing slash", "/api/v1/time/", false, not_found, NONE, ""),
    R("livez on admin", "/livez", true, none, LIVEZ, ""),
    R("livez in public", "/livez", false, not_found, NONE, ""),
    R("time on admin", "/api/v1/time", true, not_found, NONE, ""),
    R("absolute form", "http://any/api/v1/time?x=1", false, none, TIME, ""),
};

static void reads_are_found(void)
{
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        struct route route = { 0 };
        CHECK_ROW(&rows[i], find("GET", rows[i].target, rows[i].admin, &route) == rows[i].problem);
        if (rows[i].problem != PROBLEM_none)
            continue;
        CHECK_ROW(&rows[i], route.kind == rows[i].kind && route.path == NULL);
        if (route.kind == ROUTE_QUERY)
            CHECK_ROW(&rows[i], route.query == rows[i].query);
        if (rows[i].argument[0] != '\0')
            CHECK_ROW(&rows[i], strcmp(route.argument, rows[i].argument) == 0);
    }
    struct route route;
    CHECK(find("PUT", "/api/v1/time", false, &route) == PROBLEM_method_not_allowed);
    CHECK(find("HEAD", "/api/v1/api-keys", false, &route) == PROBLEM_method_not_allowed);
}

static const struct {
    int line;
    const char *name, *query;
    int count;
    const char *value;
} parameters[] = {
    { __LINE__, "there", "a=1&depth=7", 1, "7" },
    { __LINE__, "not there", "a=1", -1, "" },
    { __LINE__, "empty query", "", -1, "" },
    { __LINE__, "empty", "depth=", 0, "" },
    { __LINE__, "without =", "depth", 0, "" },
    { __LINE__, "twice", "depth=1&depth=1", -2, "" },
    { __LINE__, "escaped", "depth=%31%2b+", 3, "1+ " },
    { __LINE__, "bad escape", "depth=%3", -2, "" },
    { __LINE__, "zero byte", "depth=%00", -2, "" },
    { __LINE__, "too long", "depth=12345678", -3, "" },
    { __LINE__, "too long, twice", "depth=12345678&depth=1", -2, "" },
    { __LINE__, "longest", "depth=1234567", 7, "1234567" },
    { __LINE__, "prefix of a name", "depths=1&dept=2", -1, "" },
    { __LINE__, "separators", "&&depth=1&&", 1, "1" },
};

static void parameters_are_strict(void)
{
    for (size_t i = 0; i < CC_COUNT(parameters); i++) {
        char value[8] = "";
        int count = route_parameter(parameters[i].query, strlen(parameters[i].query), "depth",
                                    value, sizeof value);
        CHECK_ROW(&parameters[i], count == parameters[i].count);
        if (count >= 0)
            CHECK_ROW(&parameters[i], strcmp(value, parameters[i].value) == 0);
    }
    /* W7: at most 64 parameters, the empty ones too. */
    char query[ROUTE_PARAMETERS_MAX + 16], value[8];
    memset(query, '&', sizeof query);
    memcpy(query + ROUTE_PARAMETERS_MAX - 1, "depth=1", 7);
    CHECK(route_parameter(query, ROUTE_PARAMETERS_MAX + 6, "depth", value, sizeof value) == 1);
    CHECK(route_parameter(query, ROUTE_PARAMETERS_MAX + 7, "depth", value, sizeof value) == 1);
    CHECK(route_parameter(query, ROUTE_PARAMETERS_MAX + 8, "depth", value, sizeof value) == -4);
}

/* W7, J3: one method each, the rename under both of its paths; a code without a handler has none.
 * The faucet is there on a test exchange only. */
static void plain_writes_are_found(void)
{
    static const struct {
        int line;
        const char *name, *method, *target;
        uint16_t code;
        const char *argument;
    } writes[] = {
        { __LINE__, "leverage", "PUT", "/api/v1/leverage", 2001, "" },
        { __LINE__, "close", "POST", "/api/v1/portfolio/close", 2002, "" },
        { __LINE__, "reopen", "POST", "/api/v1/portfolio/reopen", 2003, "" },
        { __LINE__, "faucet", "POST", "/api/v1/faucet", 2009, "" },
        { __LINE__, "name", "PATCH", "/api/v1/portfolio/12/name", 2010, "12" },
        { __LINE__, "name, short", "PATCH", "/portfolio/0/name", 2010, "0" },
        { __LINE__, "name of no number", "PATCH", "/portfolio/x/name", 2010, "x" },
    };
    static const char *const methods[] = { "GET", "POST", "PUT", "PATCH", "DELETE" };
    struct route route;

    for (size_t i = 0; i < CC_COUNT(writes); i++)
        for (size_t k = 0; k < CC_COUNT(methods); k++) {
            bool built = request_find(writes[i].code)->built;
            enum problem problem = find(methods[k], writes[i].target, false, &route);
            if (strcmp(methods[k], writes[i].method) != 0 || !built) {
                CHECK_ROW(&writes[i],
                          problem == (built ? PROBLEM_method_not_allowed : PROBLEM_not_found));
                continue;
            }
            CHECK_ROW(&writes[i], problem == PROBLEM_none && route.kind == ROUTE_PLAIN);
            CHECK_ROW(&writes[i], route.path != NULL && route.path->codes[0] == writes[i].code);
            CHECK_ROW(&writes[i], strcmp(route.argument_bytes == 0 ? "" : route.argument,
                                         writes[i].argument) == 0);
        }
    static const char *const nowhere[] = { "/portfolio/name",    "/portfolio//name",
                                           "/portfolio/1/names", "/portfolio/1/2/name",
                                           "/portfolio/1",       "/api/v1/portfolio/1/name/" };
    for (size_t i = 0; i < CC_COUNT(nowhere); i++)
        CHECK(find("PATCH", nowhere[i], false, &route) == PROBLEM_not_found);

    route_init(&table, (struct route_features){ 0 });
    CHECK(find("POST", "/api/v1/faucet", false, &route) == PROBLEM_not_found);
    CHECK(find("GET", "/api/v1/latency", false, &route) == PROBLEM_not_found);
    CHECK(find("GET", "/api/v1/latency", true, &route) == PROBLEM_none);
    CHECK(find("PUT", "/api/v1/leverage", false, &route) == PROBLEM_none);
    route_init(&table, everything);
}

int main(void)
{
    route_init(&table, everything);
    codes_have_their_paths();
    reads_are_found();
    plain_writes_are_found();
    parameters_are_strict();
    return 0;
}
