/* command_list.c - the lists: orders, fills, positions, balances, trades, sessions, keys. */
#include <jansson.h>
#include <stdio.h>

#include "perp/command/command.h"
#include "perp/invocation/choice.h"
#include "perp/print/report.h"

enum {
    TARGET_MAX = 512,
    PAGE_MAX = 1000, /* wire.md: the largest `limit` */
    ROWS_MAX = 20000,
    ROWS_DEFAULT = 100,
};

/* One kind of list: where it is, which settings and flags choose among its rows, and what of a row
 * people see. `-o json` gives all of it. */
struct list {
    const char *what; /* "orders" */
    const char *path;
    const char *array;     /* member that holds the rows; NULL: the answer is the array */
    bool has_subaccount;   /* --subaccount chooses among the rows */
    bool needs_subaccount; /* and is always sent */
    bool has_portfolio, paged, api_key;
    const char *columns;
};

static const struct list orders = {
    .what = "orders",
    .path = "/api/v1/orders",
    .has_subaccount = true,
    .has_portfolio = true,
    .paged = true,
    .api_key = true,
    .columns = "time id market side order_type price trigger_price initial_size remaining_size "
               "average_price order_status reason",
};

static const struct list fills = {
    .what = "fills",
    .path = "/api/v1/fills",
    .has_subaccount = true,
    .needs_subaccount = true,
    .has_portfolio = true,
    .paged = true,
    .api_key = true,
    .columns = "time request_id market side liquidity price quantity fee trade_seq",
};

static const struct list positions = {
    .what = "positions",
    .path = "/api/v1/positions",
    .has_portfolio = true,
    .api_key = true,
    .columns = "subaccount_index portfolio_index market side size average_entry_price mark_price "
               "unrealized_pnl liquidation_price leverage initial_margin maintenance_margin "
               "adl_quantile net_funding",
};

static const struct list balances = {
    .what = "portfolios",
    .path = "/api/v1/portfolio/cash_balances",
    .api_key = true,
    .columns = "subaccount_index portfolio_index name status cash_balance equity initial_margin "
               "maintenance_margin withdrawable",
};

static const struct list subaccounts = {
    .what = "subaccounts",
    .path = "/api/v1/subaccounts",
    .api_key = true,
    .columns = "subaccount_index status portfolio_count cash_balance",
};

static const struct list sessions = {
    .what = "sessions",
    .path = "/api/v1/auth/sessions",
    .api_key = true,
    .columns = "session_public_key scope subaccount_index created_at expires_at session_id",
};

static const struct list api_keys = {
    .what = "API keys",
    .path = "/api/v1/api-keys",
    .array = "api_keys",
    .api_key = true,
    .columns = "api_key_id scope subaccount_index label created_at",
};

static const struct list device_keys = {
    .what = "device keys",
    .path = "/api/v1/api-keys",
    .array = "device_keys",
    .api_key = true,
    .columns = "device_key_id subaccount_index created_at expires_at",
};

static const struct list master_keys = {
    .what = "master keys",
    .path = "/api/v1/auth/master-keys",
    .array = "master_keys",
    .api_key = true,
    .columns = "public_key curve kind scope subaccount_index created_at",
};

static const struct list trades = {
    .what = "trades",
    .array = "trades",
    .paged = true,
    .columns = "time price size taker_side liquidation trade_seq",
};

/* The place of a row in its list. */
struct row_location {
    uint64_t sequence, index;
};

/* A query in the making. */
struct query {
    char target[TARGET_MAX];
    size_t count;
    uint64_t rows; /* --limit */
    struct row_location before;
};

static void put(struct query *query, const char *name, const char *value)
{
    bool first = strchr(query->target, '?') == NULL;
    query->count += (size_t)snprintf(query->target + query->count, TARGET_MAX - query->count,
                                     "%c%s=%s", first ? '?' : '&', name, value);
    INVARIANT(query->count < TARGET_MAX);
}

static void put_number(struct query *query, const char *name, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    put(query, name, text);
}

static bool put_setting(struct context *context, struct query *query, const char *name,
                        uint32_t setting)
{
    uint64_t value;
    if (!context_number(context, setting, INT32_MAX, &value))
        return false;
    put_number(query, name, value);
    return true;
}

/* --before SEQUENCE:INDEX, as the note below a page prints it. */
static bool read_before(struct context *context, struct row_location *before)
{
    const char *text = context->arguments->values[FLAG_before];
    int64_t sequence, index = 0;
    *before = (struct row_location){ 0 };
    if (text == NULL)
        return true;
    size_t count = strcspn(text, ":");
    const char *rest = text[count] == ':' ? text + count + 1 : "0";
    if (decimal_parse(text, count, 0, 1, INT64_MAX, &sequence) != DECIMAL_OK ||
        decimal_parse(rest, strlen(rest), 0, 0, UINT32_MAX, &index) != DECIMAL_OK)
        return context_fail(context, EXIT_CODE_usage,
                            "--before '%.40s' is no SEQUENCE:INDEX, as 4711:0", text);
    *before = (struct row_location){ (uint64_t)sequence, (uint64_t)index };
    return true;
}

/* Upper-case names only: what else a status may be is the exchange's to know. */
static bool put_status(struct context *context, struct query *query)
{
    const char *text = context->arguments->values[FLAG_status];
    if (text == NULL)
        return true;
    if (text[0] == '\0' || text[strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_")] != '\0')
        return context_fail(context, EXIT_CODE_usage,
                            "--status '%.40s' is no order_status as OPEN or FILLED", text);
    put(query, "status", text);
    return true;
}

static bool filter(struct context *context, const struct list *list, struct query *query)
{
    const struct arguments *arguments = context->arguments;
    const char *market = arguments->values[FLAG_market];
    bool subaccount = list->has_subaccount &&
                      (list->needs_subaccount || context_is_set(context, SETTING_subaccount));
    bool portfolio = list->has_portfolio && context_is_set(context, SETTING_portfolio) &&
                     !arguments_has(arguments, FLAG_all);
    if (subaccount && !put_setting(context, query, "subaccount_index", SETTING_subaccount))
        return false;
    if (portfolio && !put_setting(context, query, "portfolio_index", SETTING_portfolio))
        return false;
    if (market != NULL) {
        if (!choice_market(context, market))
            return false;
        put(query, "market", market);
    }
    return put_status(context, query);
}

/* One page. Its rows are appended to `rows`; *whole gets the answer when the rows are a member. */
static bool read_page(struct context *context, const struct list *list, const char *target,
                      json_t *rows, json_t **whole)
{
    struct client_answer answer;
    if (!context_get(context, target, list->api_key, &answer))
        return false;
    json_t *root = json_loadb(answer.body, answer.body_count, 0, NULL);
    json_t *page = list->array != NULL ? json_object_get(root, list->array) : root;
    bool good = json_is_array(page) && json_array_extend(rows, page) == 0;
    if (good && list->array != NULL) {
        json_decref(*whole);
        *whole = json_incref(root);
    }
    json_decref(root);
    return good ||
           context_fail(context, EXIT_CODE_problem, "the answer holds no list of %s", list->what);
}

static bool last_location(const json_t *rows, struct row_location *location)
{
    size_t count = json_array_size(rows);
    const json_t *row = count > 0 ? json_array_get(rows, count - 1) : NULL;
    const json_t *sequence = json_object_get(row, "sequence");
    const json_t *index = json_object_get(row, "index");
    if (!json_is_integer(sequence) || !json_is_integer(index))
        return false;
    *location = (struct row_location){ (uint64_t)json_integer_value(sequence),
                                       (uint64_t)json_integer_value(index) };
    return true;
}

/* Pages until query->rows rows are read or a page is short. *more: the last page was full. */
static bool read_pages(struct context *context, const struct list *list, const struct query *query,
                       json_t *rows, json_t **whole, bool *more)
{
    uint64_t offset;
    struct row_location before = query->before;
    if (!choice_number(context, FLAG_offset, 0, INT64_MAX, 0, &offset))
        return false;
    do {
        struct query page = *query;
        size_t had = json_array_size(rows);
        uint64_t wanted = query->rows - had < PAGE_MAX ? query->rows - had : PAGE_MAX;
        put_number(&page, "limit", wanted);
        if (offset > 0 && had == 0)
            put_number(&page, "offset", offset);
        if (before.sequence > 0) {
            put_number(&page, "before_sequence", before.sequence);
            put_number(&page, "before_index", before.index);
        }
        if (!read_page(context, list, page.target, rows, whole))
            return false;
        size_t got = json_array_size(rows) - had;
        *more = got == wanted;
        if (got > 0 && !last_location(rows, &before))
            return context_fail(context, EXIT_CODE_problem, "a row has no sequence and index");
    } while (*more && json_array_size(rows) < query->rows);
    return true;
}

static void show(struct context *context, const struct list *list, json_t *rows, json_t *whole,
                 bool more)
{
    struct row_location location;
    if (context->arguments->json) {
        if (whole != NULL)
            (void)json_object_set(whole, list->array, rows);
        (void)json_dumpf(whole != NULL ? whole : rows, stdout, JSON_COMPACT);
        fprintf(stdout, "\n");
        return;
    }
    if (json_array_size(rows) == 0)
        fprintf(stdout, "no %s\n", list->what);
    else
        report_rows(stdout, rows, list->columns);
    if (more && last_location(rows, &location))
        fprintf(stderr, "there may be older ones: --before %llu:%llu\n",
                (unsigned long long)location.sequence, (unsigned long long)location.index);
}

/* Completes the target, reads the list and shows it. Returns the exit code. */
static int run(struct context *context, const struct list *list, struct query *query)
{
    json_t *rows = json_array(), *whole = NULL;
    bool more = false;
    bool good = list->paged ? read_pages(context, list, query, rows, &whole, &more)
                            : read_page(context, list, query->target, rows, &whole);
    if (good)
        show(context, list, rows, whole, more);
    json_decref(rows);
    json_decref(whole);
    return good ? EXIT_CODE_accepted : context->exit_code;
}

static bool begin(struct context *context, const struct list *list, const char *path,
                  struct query *query)
{
    *query = (struct query){ .rows = 0 };
    query->count = (size_t)snprintf(query->target, TARGET_MAX, "%s", path);
    return choice_number(context, FLAG_limit, 1, ROWS_MAX, ROWS_DEFAULT, &query->rows) &&
           read_before(context, &query->before) && filter(context, list, query);
}

static int read_list(struct context *context, const struct list *list)
{
    struct query query;
    return begin(context, list, list->path, &query) ? run(context, list, &query)
                                                    : context->exit_code;
}

/* Below zero: `a` comes first, for it was placed later. */
static int compare(const json_t *a, const json_t *b)
{
    json_int_t sequence_a = json_integer_value(json_object_get(a, "sequence"));
    json_int_t sequence_b = json_integer_value(json_object_get(b, "sequence"));
    if (sequence_a != sequence_b)
        return sequence_a < sequence_b ? 1 : -1;
    json_int_t index_a = json_integer_value(json_object_get(a, "index"));
    json_int_t index_b = json_integer_value(json_object_get(b, "index"));
    return index_a < index_b ? 1 : index_a > index_b ? -1 : 0;
}

/* The rows of two lists that are newest first, each rank once: of the same one that of `newer`,
 * which was read later. At most `most`. */
static json_t *merge(const json_t *older, const json_t *newer, size_t most)
{
    json_t *merged = json_array();
    size_t a = 0, b = 0;
    while (json_array_size(merged) < most) {
        json_t *left = json_array_get(newer, a), *right = json_array_get(older, b);
        if (left == NULL && right == NULL)
            break;
        int order = left == NULL ? 1 : right == NULL ? -1 : compare(left, right);
        a += order <= 0;
        b += order >= 0;
        INVARIANT(json_array_append(merged, order <= 0 ? left : right) == 0);
    }
    return merged;
}

/* One list of the orders of this status; *more: its last page was full. */
static bool read_status(struct context *context, const char *status, struct query *query,
                        json_t *rows, bool *more)
{
    json_t *whole = NULL; /* stays so: the list is bare */

    if (!begin(context, &orders, orders.path, query))
        return false;
    put(query, "status", status);
    return read_pages(context, &orders, query, rows, &whole, more);
}

/* Live orders are UNTRIGGERED, OPEN or PARTIALLY_FILLED. Reads in the order in which an order moves
 * from one to the next miss none. */
static int read_open(struct context *context)
{
    static const char *const statuses[] = { "UNTRIGGERED", "OPEN", "PARTIALLY_FILLED" };
    json_t *merged = json_array();
    bool good = true, more = false, full = false;
    for (size_t i = 0; i < CC_COUNT(statuses) && good; i++) {
        struct query query;
        json_t *rows = json_array();
        good = read_status(context, statuses[i], &query, rows, &full);
        if (good) {
            json_t *older = merged;
            merged = merge(older, rows, query.rows);
            json_decref(older);
            more |= full || json_array_size(merged) == query.rows;
        }
        json_decref(rows);
    }
    if (good)
        show(context, &orders, merged, NULL, more);
    json_decref(merged);
    return good ? EXIT_CODE_accepted : context->exit_code;
}

int command_list_orders(struct context *context)
{
    if (!arguments_has(context->arguments, FLAG_open))
        return read_list(context, &orders);
    if (arguments_has(context->arguments, FLAG_status) ||
        arguments_has(context->arguments, FLAG_offset)) {
        (void)context_fail(context, EXIT_CODE_usage,
                           "--open goes with neither --status nor "
                           "--offset");
        return context->exit_code;
    }
    return read_open(context);
}

int command_list_fills(struct context *context)
{
    return read_list(context, &fills);
}

int command_list_positions(struct context *context)
{
    return read_list(context, &positions);
}

int command_list_balances(struct context *context)
{
    return read_list(context, &balances);
}

int command_list_subaccounts(struct context *context)
{
    return read_list(context, &subaccounts);
}

int command_list_sessions(struct context *context)
{
    return read_list(context, &sessions);
}

int command_list_api_keys(struct context *context)
{
    return read_list(context, &api_keys);
}

int command_list_device_keys(struct context *context)
{
    return read_list(context, &device_keys);
}

int command_list_master_keys(struct context *context)
{
    return read_list(context, &master_keys);
}

int command_list_trades(struct context *context)
{
    const char *market = context->arguments->words[0];
    char path[TARGET_MAX];
    struct query query;
    if (!choice_market(context, market))
        return context->exit_code;
    snprintf(path, sizeof path, "/api/v1/markets/%s/trades", market);
    return begin(context, &trades, path, &query) ? run(context, &trades, &query)
                                                 : context->exit_code;
}
