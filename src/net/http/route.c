#include "net/http/route.h"

#include "net/http/asset.h"

#define LATENCY_PATH "/api/v1/latency"

enum { TARGET_MAX = 256 };

/* The reads: first those that the follower answers, then those that net answers. A path that ends
 * with '/' has an argument; market_parts has the rest. */
#define QUERY_PATH_LIST(X)                                \
    X(order, false, "/api/v1/orders/")                    \
    X(orders, false, "/api/v1/orders")                    \
    X(fills, false, "/api/v1/fills")                      \
    X(request, false, "/api/v1/requests/")                \
    X(positions, false, "/api/v1/positions")              \
    X(payments, false, "/api/v1/funding-payments")        \
    X(cash, false, "/api/v1/cash/history")                \
    X(balance, false, "/api/v1/portfolio/balance")        \
    X(balances, false, "/api/v1/portfolio/cash_balances") \
    X(subaccounts, false, "/api/v1/subaccounts")          \
    X(account, false, "/api/v1/account")                  \
    X(sessions, false, "/api/v1/auth/sessions")           \
    X(master_keys, false, "/api/v1/auth/master-keys")     \
    X(api_keys, false, "/api/v1/api-keys")                \
    X(markets, false, "/api/v1/markets")                  \
    X(market, false, "/api/v1/markets/")                  \
    X(tickers, false, "/api/v1/tickers")                  \
    X(fund, false, "/api/v1/insurance-fund")              \
    X(fees, false, "/api/v1/fee-account")                 \
    X(heads, false, "/api/v1/heads")                      \
    X(audit, true, "/audit")                              \
    X(frames, true, "/admin/frames")                      \
    X(withdrawals, true, "/admin/withdrawals")

#define LOCAL_PATH_LIST(X)                      \
    X(TIME, false, "/api/v1/time")              \
    X(STATUS, false, "/api/v1/status")          \
    X(EXCHANGE, false, "/api/v1/exchange")      \
    X(LIMITS, false, "/api/v1/limits")          \
    X(EIP712, false, "/api/v1/eip712/")         \
    X(OPENAPI, false, "/api/v1/openapi.json")   \
    X(ASYNCAPI, false, "/api/v1/asyncapi.json") \
    X(STREAM, false, "/api/v1/stream")          \
    X(LATENCY, true, LATENCY_PATH)              \
    X(LIVEZ, true, "/livez")                    \
    X(READYZ, true, "/readyz")                  \
    X(METRICS, true, "/metrics")                \
    X(CLUSTER, true, "/admin/cluster")

/* Requests with a JSON body that the net thread answers and that write nothing. */
#define POSTED_LIST(X)                   \
    X(PREVIEW, "/api/v1/eip712/preview") \
    X(DEBUG, "/api/v1/debug/payload")

/* Device pairing. A path that ends with '/' has an argument, followed by the suffix. */
#define PAIRING_LIST(X)                                               \
    X(pairing_open, POST, "/api/v1/device-pairing", "")               \
    X(pairing_deposit, PUT, "/api/v1/device-pairing/", "")            \
    X(pairing, GET, "/api/v1/device-pairing/", "")                    \
    X(pairing_complete, POST, "/api/v1/device-pairing/", "/complete") \
    X(pairing_result, GET, "/api/v1/device-pairing/", "/result")

/* Reads of what an argument names, before the suffix. */
#define PART_LIST(X) X(receipt, GET, "/api/v1/requests/", "/receipt")

/* Plain JSON writes. A path that ends with '/' has an argument, followed by "/name". */
#define PLAIN_LIST(X)                                     \
    X(set_leverage, PUT, "/api/v1/leverage")              \
    X(portfolio_close, POST, "/api/v1/portfolio/close")   \
    X(portfolio_reopen, POST, "/api/v1/portfolio/reopen") \
    X(faucet_credit, POST, "/api/v1/faucet")              \
    X(rename_portfolio, PATCH, "/api/v1/portfolio/")      \
    X(rename_portfolio, PATCH, "/portfolio/")

/* The methods of a path as text, by their bits. OPTIONS is one of every path. */
#define OPTIONS_TOO ", OPTIONS"
static const char *const allow_texts[] = {
    [1 << HTTP_GET] = "GET" OPTIONS_TOO,
    [1 << HTTP_POST] = "POST" OPTIONS_TOO,
    [1 << HTTP_GET | 1 << HTTP_POST] = "GET, POST" OPTIONS_TOO,
    [1 << HTTP_PUT] = "PUT" OPTIONS_TOO,
    [1 << HTTP_GET | 1 << HTTP_PUT] = "GET, PUT" OPTIONS_TOO,
    [1 << HTTP_PATCH] = "PATCH" OPTIONS_TOO,
};

/* Suffixes after the name of a market. */
static const struct {
    const char *suffix;
    uint8_t query; /* enum query_kind */
} market_parts[] = { { "/book", QUERY_book },
                     { "/book/l3", QUERY_book_orders },
                     { "/trades", QUERY_trades },
                     { "/candles", QUERY_candles },
                     { "/ticker", QUERY_ticker },
                     { "/funding-rates", QUERY_rates },
                     { "/liquidations", QUERY_liquidations },
                     { "/mark", QUERY_mark } };

static struct route_path *add_path(struct route_table *table, const char *path)
{
    INVARIANT(table->count < ROUTE_PATHS_MAX);
    struct route_path *added = &table->paths[table->count++];
    *added =
        (struct route_path){ .path = path, .suffix = "", .path_bytes = (uint16_t)strlen(path) };
    return added;
}

static struct route_path *add_read(struct route_table *table, const char *path,
                                   enum route_kind kind, bool admin)
{
    struct route_path *added = add_path(table, path);
    added->kind = (uint8_t)kind;
    added->method = HTTP_GET;
    added->admin = admin;
    return added;
}

static struct route_path *signed_path(struct route_table *table, const char *path)
{
    for (uint16_t i = 0; i < table->count; i++)
        if (strcmp(table->paths[i].path, path) == 0)
            return &table->paths[i];
    struct route_path *added = add_path(table, path);
    added->kind = ROUTE_SIGNED;
    added->method = HTTP_POST;
    return added;
}

/* The pages of a listener, if this build has any. */
static void add_pages(struct route_table *table, bool admin)
{
    if (asset_find_page(admin) < 0)
        return;
    (void)add_read(table, "/", ROUTE_PAGE, admin);
    (void)add_read(table, ASSET_PATH, ROUTE_FILE, admin);
}

void route_init(struct route_table *table, struct route_features features)
{
    size_t count;
    const struct request *requests = request_table(&count);
    table->count = 0;
    for (size_t i = 0; i < count; i++) {
        if (!requests[i].built || requests[i].path[0] == '\0')
            continue;
        struct route_path *path = signed_path(table, requests[i].path);
        INVARIANT(path->code_count < ROUTE_CODES_MAX);
        path->codes[path->code_count++] = requests[i].code;
    }
    struct route_path *logout = signed_path(table, ROUTE_LOGOUT_PATH);
    logout->codes[logout->code_count++] = REQUEST_revoke_session;
    logout->is_logout = true;
#define X(name, is_admin, text)                                                 \
    {                                                                           \
        struct route_path *path = add_read(table, text, ROUTE_QUERY, is_admin); \
        path->query = QUERY_##name;                                             \
    }
    QUERY_PATH_LIST(X)
#undef X
    if (features.latency)
        (void)add_read(table, LATENCY_PATH, ROUTE_LATENCY, false);
#define X(name, is_admin, text) (void)add_read(table, text, ROUTE_##name, is_admin);
    LOCAL_PATH_LIST(X)
#undef X
#define X(name, text)                                    \
    if (ROUTE_##name != ROUTE_DEBUG || features.debug) { \
        struct route_path *path = add_path(table, text); \
        path->kind = ROUTE_##name;                       \
        path->method = HTTP_POST;                        \
    }
    POSTED_LIST(X)
#undef X
#define X(name, verb, text, end)                         \
    {                                                    \
        struct route_path *path = add_path(table, text); \
        path->suffix = (end);                            \
        path->kind = ROUTE_QUERY;                        \
        path->query = QUERY_##name;                      \
        path->method = HTTP_##verb;                      \
    }
    PAIRING_LIST(X)
    PART_LIST(X)
#undef X
    struct route_path *seal = add_read(table, "/admin/seal", ROUTE_QUERY, true);
    seal->query = QUERY_seal;
    seal->method = HTTP_POST;
    add_read(table, "/admin/handover", ROUTE_HANDOVER, true)->method = HTTP_POST;
    add_read(table, "/admin/maintenance", ROUTE_MAINTENANCE, true)->method = HTTP_POST;
#define X(code, verb, text)                                                       \
    if (request_find(REQUEST_##code)->built &&                                    \
        (REQUEST_##code != REQUEST_faucet_credit || features.testnet)) {          \
        struct route_path *path = add_path(table, text);                          \
        path->kind = ROUTE_PLAIN;                                                 \
        path->suffix = REQUEST_##code == REQUEST_rename_portfolio ? "/name" : ""; \
        path->method = HTTP_##verb;                                               \
        path->codes[path->code_count++] = REQUEST_##code;                         \
    }
    PLAIN_LIST(X)
#undef X
    if (features.console)
        add_pages(table, false);
    add_pages(table, true);
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes percent signs, and '+' if `plus` (a query). Returns the length, -1 if malformed, -2 if
 * too long. A zero byte is malformed; so is an escaped slash in a path, which would not separate
 * segments (RFC 3986, 2.2), and no name here has one. */
static int unescape(char *out, size_t capacity, const char *text, size_t count, bool plus)
{
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        char c = text[i];
        if (c == '%') {
            int high = i + 2 < count ? hex_digit(text[i + 1]) : -1;
            int low = i + 2 < count ? hex_digit(text[i + 2]) : -1;
            if (high < 0 || low < 0 || (high == 0 && low == 0))
                return -1;
            c = (char)(high * 16 + low);
            i += 2;
            if (c == '/' && !plus)
                return -1;
        } else if (c == '+' && plus) {
            c = ' ';
        }
        if (length + 1 >= capacity)
            return -2;
        out[length++] = c;
    }
    out[length] = '\0';
    return (int)length;
}

/* Cuts the suffix of a market path off the text after "markets/". Returns the length of the rest.
 * */
static size_t cut_market_part(struct route *route, const char *argument, size_t length)
{
    for (unsigned i = 0; i < CC_COUNT(market_parts); i++) {
        size_t part = strlen(market_parts[i].suffix);
        if (length <= part || memcmp(argument + length - part, market_parts[i].suffix, part) != 0)
            continue;
        route->query = market_parts[i].query;
        return length - part;
    }
    return length;
}

/* Reads the argument after a path that ends with '/'. */
static bool parse_argument(struct route *route, const struct route_path *path, const char *text,
                           size_t count)
{
    size_t length = count - path->path_bytes;
    const char *argument = text + path->path_bytes;
    route->kind = path->kind;
    route->query = path->query;
    if (path->kind == ROUTE_QUERY && path->query == QUERY_market)
        length = cut_market_part(route, argument, length);
    size_t suffix_bytes = strlen(path->suffix);
    if (length <= suffix_bytes ||
        memcmp(argument + length - suffix_bytes, path->suffix, suffix_bytes) != 0)
        return false;
    length -= suffix_bytes;
    if (length == 0 || length >= ROUTE_ARGUMENT_MAX || memchr(argument, '/', length) != NULL)
        return false;
    memcpy(route->argument, argument, length);
    route->argument[length] = '\0';
    route->argument_bytes = (uint16_t)length;
    return true;
}

static bool has_argument(const struct route_path *path)
{
    return path->kind != ROUTE_SIGNED && path->kind != ROUTE_PAGE &&
           path->path[path->path_bytes - 1] == '/';
}

static const struct route_path *match(const struct route_table *table, const char *text,
                                      size_t count, bool admin, uint8_t method, struct route *route,
                                      const char **allow)
{
    unsigned methods = 0;  /* of the path itself */
    unsigned prefixed = 0; /* of paths with an argument, which the text may also be */
    for (uint16_t i = 0; i < table->count; i++) {
        const struct route_path *path = &table->paths[i];
        bool prefix = has_argument(path);
        if (prefix ? count <= path->path_bytes : count != path->path_bytes)
            continue;
        if (path->admin != admin || memcmp(path->path, text, path->path_bytes) != 0)
            continue;
        if (prefix && !parse_argument(route, path, text, count))
            continue;
        *(prefix ? &prefixed : &methods) |= 1u << path->method;
        if (path->method != method)
            continue; /* another row may have the same path and this method */
        if (!prefix) {
            route->kind = path->kind;
            route->query = path->query;
        }
        return path;
    }
    if (methods == 0)
        methods = prefixed;
    INVARIANT(methods < CC_COUNT(allow_texts));
    *allow = allow_texts[methods];
    INVARIANT((*allow == NULL) == (methods == 0)); /* the table has what the paths need */
    return NULL;
}

bool route_find(const struct route_table *table, const struct http_head *head, const char *text,
                bool admin, struct route *route, struct problem_detail *problem, const char **allow)
{
    const char *path_text = text + head->path.at;
    size_t count = head->path.count;
    char resolved[TARGET_MAX];
    *allow = NULL;
    route->path = NULL;
    route->argument_bytes = 0;
    if (CC_UNLIKELY(memchr(path_text, '%', count) != NULL)) {
        int length = unescape(resolved, sizeof resolved, path_text, count, false);
        if (length < 0)
            return problem_detail_set(problem, PROBLEM_not_found, NULL, "no such path");
        path_text = resolved;
        count = (size_t)length;
    }
    const struct route_path *path =
        match(table, path_text, count, admin, head->method, route, allow);
    if (path != NULL) {
        bool has_codes = path->kind == ROUTE_SIGNED || path->kind == ROUTE_PLAIN;
        route->path = has_codes ? path : NULL;
        return true;
    }
    if (*allow == NULL)
        return problem_detail_set(problem, PROBLEM_not_found, NULL, "no such path");
    if (head->method == HTTP_OPTIONS) {
        route->kind = ROUTE_OPTIONS;
        return true;
    }
    return problem_detail_set(problem, PROBLEM_method_not_allowed, NULL, "this path takes %.*s",
                              (int)(strlen(*allow) - strlen(OPTIONS_TOO)), *allow);
}

const char *route_market_part(unsigned number)
{
    return number < CC_COUNT(market_parts) ? market_parts[number].suffix : NULL;
}

bool route_has_code(const struct route_path *path, uint16_t code)
{
    for (uint16_t i = 0; i < path->code_count; i++)
        if (path->codes[i] == code)
            return true;
    return false;
}

int route_parameter(const char *query, size_t count, const char *name, char *value, size_t capacity)
{
    const char *end = query + count;
    size_t name_count = strlen(name);
    int found = -1;
    for (unsigned seen = 0; query < end; seen++) {
        if (seen == ROUTE_PARAMETERS_MAX)
            return -4;
        const char *stop = memchr(query, '&', (size_t)(end - query));
        if (stop == NULL)
            stop = end;
        const char *equals = memchr(query, '=', (size_t)(stop - query));
        const char *name_end = equals != NULL ? equals : stop;
        if ((size_t)(name_end - query) == name_count && memcmp(query, name, name_count) == 0) {
            const char *text = equals != NULL ? equals + 1 : stop;
            if (found != -1)
                return -2;
            found = unescape(value, capacity, text, (size_t)(stop - text), true);
            if (found == -1)
                return -2;
            found = found == -2 ? -3 : found;
        }
        query = stop + 1;
    }
    return found;
}
