/* Rows of a class that is left (wire.md W8): a withdrawal that lowers the account's class is judged
 * by its rows. Who gives rows back withdraws everything, whatever others have. */
#include "engine/state/share_count.h"
#include "keys.h"
#include "purse.h"
#include "trade.h"
#include "waiting.h"

#define USDC     HOST_USDC
#define REFUSED  STATUS_order_rejected_invalid
#define CLASSES  "limits.funding_small=10\nlimits.funding_full=1000\n"
#define M        TRADE_MARK
#define PLACE(n) ((struct purse_place){ 0, (n) })

enum { RICH = 7, SMALL = 8, POOR = 9 };

/* Of each table. What the unfunded have not used of theirs is not for small ones. */
enum { ROWS = 4096, HALF = ROWS / 2, EIGHTH = ROWS / 8, OF_SMALL = HALF - EIGHTH };

static struct host host;

static uint8_t class_of(uint32_t n)
{
    return host.engine->accounts.rows[n].share_class;
}

/* The counts alone: no test needs the rows themselves, and an audit would find them. */
static void give(uint32_t n, enum share_table table, uint32_t rows)
{
    uint32_t has = host.engine->accounts.rows[n].counts[table];
    share_count(host.engine, n, table, (int32_t)rows - (int32_t)has);
}

/* Account RICH has 2,000 USDC, SMALL 900, POOR nothing. The exchange before it ends. */
static void begin(void)
{
    if (host.memory != NULL)
        host_close(&host);
    trade_open(&host, CLASSES "engine.portfolios=4096\nengine.orders=4096\nengine.positions=4096\n"
                              "engine.credentials=4096\nengine.deposits=4096\n");
    for (uint32_t n = RICH; n <= POOR; n++)
        (void)host_account(&host, n);
    CHECK(host_deposit(&host, RICH, 2000 * USDC) == TRADE_OK);
    CHECK(host_deposit(&host, SMALL, 900 * USDC) == TRADE_OK);
    CHECK(class_of(RICH) == SHARE_CLASS_full && class_of(SMALL) == SHARE_CLASS_small);
    host.skip_audit = true;
}

static void refused(uint64_t amount, enum operator_rule rule, int line)
{
    const struct account before = host.engine->accounts.rows[RICH];
    const struct account *rich = &host.engine->accounts.rows[RICH];

    enum status status = purse_withdraw(&host, RICH, PLACE(0), amount);
    if (status != REFUSED || host.result.rule != rule)
        fprintf(stderr, "line %d: status %d, rule %u\n", line, (int)status, host.result.rule);
    CHECK(status == REFUSED && host.result.rule == rule);
    CHECK(host.result.reason == REASON_limit_reached);
    CHECK(rich->share_class == before.share_class && rich->cash == before.cash);
    CHECK(rich->net_deposits == before.net_deposits);
}

#define IS_REFUSED(amount, rule) refused(amount, rule, __LINE__)

/* --- each table ------------------------------------------------------------------------------- */

static const struct row {
    int line;
    const char *name;
    enum share_table table;
    enum operator_rule rule;
    uint32_t kept;    /* W8; of withdrawals beside the new one */
    uint32_t base[2]; /* W8, of an unfunded and of a small account; 0: there is none */
} rows[] = {
    { __LINE__, "subaccounts", SHARE_subaccounts, OPERATOR_RULE_fall_subaccounts, 1, { 0, 2 } },
    { __LINE__, "portfolios", SHARE_portfolios, OPERATOR_RULE_fall_portfolios, 2, { 0, 4 } },
    { __LINE__, "orders", SHARE_orders, OPERATOR_RULE_fall_orders, 64, { 8, 32 } },
    { __LINE__, "conditionals", SHARE_conditionals, OPERATOR_RULE_fall_conditionals, 0, { 0, 16 } },
    { __LINE__, "positions", SHARE_positions, OPERATOR_RULE_fall_positions, 16, { 4, 8 } },
    { __LINE__, "leverages", SHARE_leverages, OPERATOR_RULE_fall_leverages, 0, { 0, 4 } },
    { __LINE__, "mmps", SHARE_mmps, OPERATOR_RULE_fall_mmps, 0, { 0, 4 } },
    { __LINE__, "credentials", SHARE_credentials, OPERATOR_RULE_fall_credentials, 8, { 2, 8 } },
    { __LINE__, "arms", SHARE_arms, OPERATOR_RULE_fall_arms, 8, { 1, 4 } },
    { __LINE__, "withdrawals", SHARE_withdrawals, OPERATOR_RULE_fall_withdrawals, 15, { 1, 2 } },
};

/* Whether POOR has rows of the table by its creation. */
static bool makes_some(enum share_table table)
{
    return table == SHARE_credentials || table == SHARE_subaccounts || table == SHARE_portfolios;
}

/* What another account of the class may have so that `count` rows more come in: there is room, and
 * what they have beyond their base is together half of what the class may have. */
static uint32_t others(uint32_t class_rows, uint32_t base, uint32_t count)
{
    if (base == 0 || count <= base || class_rows - count < base)
        return class_rows - count;
    uint32_t of_extra = base + class_rows / 2 - (count - base);
    return of_extra < class_rows - count ? of_extra : class_rows - count;
}

/* From full to small. */
static void test_to_small(const struct row *row)
{
    const uint32_t one = row->table == SHARE_withdrawals; /* the new one needs a row too */
    const uint32_t most = others(OF_SMALL, row->base[1], row->kept + 1 + one);

    begin();
    give(RICH, row->table, row->kept + 1);
    give(SMALL, row->table, most + 1);
    if (makes_some(row->table))
        give(POOR, row->table, 0);
    IS_REFUSED(1001 * USDC, row->rule);
    CHECK_ROW(row, purse_withdraw(&host, RICH, PLACE(0), 1000 * USDC) == TRADE_OK);
    CHECK_ROW(row, class_of(RICH) == SHARE_CLASS_full);
    begin();
    give(RICH, row->table, row->kept + 1);
    give(SMALL, row->table, most);
    if (makes_some(row->table))
        give(POOR, row->table, 0);
    CHECK_ROW(row, purse_withdraw(&host, RICH, PLACE(0), 1001 * USDC) == TRADE_OK);
    CHECK_ROW(row, class_of(RICH) == SHARE_CLASS_small);
    /* As many as are kept: whatever others have. */
    begin();
    give(RICH, row->table, row->kept);
    give(SMALL, row->table, HALF);
    give(POOR, row->table, EIGHTH);
    CHECK_ROW(row, purse_withdraw(&host, RICH, PLACE(0), 2000 * USDC) == TRADE_OK);
    CHECK_ROW(row, class_of(RICH) == SHARE_CLASS_unfunded);
}

/* From full to unfunded: the rows of the unfunded count, and those of both. */
static void test_to_unfunded(const struct row *row)
{
    const uint32_t count = row->kept + 1 + (row->table == SHARE_withdrawals);
    const uint32_t most = others(EIGHTH, row->base[0], count);

    if (makes_some(row->table))
        return; /* test_keys, test_portfolios */
    begin();
    give(RICH, row->table, row->kept + 1);
    give(POOR, row->table, most + 1);
    IS_REFUSED(1991 * USDC, row->rule);
    begin();
    give(RICH, row->table, row->kept + 1);
    give(POOR, row->table, most);
    give(SMALL, row->table, HALF - most - count + 1);
    IS_REFUSED(1991 * USDC, row->rule);
    give(SMALL, row->table, HALF - most - count);
    CHECK_ROW(row, purse_withdraw(&host, RICH, PLACE(0), 1991 * USDC) == TRADE_OK);
    CHECK_ROW(row, class_of(RICH) == SHARE_CLASS_unfunded);
}

/* Of the keys and sessions of the unfunded half are for what they have beside creations. */
static void test_keys(void)
{
    begin();
    give(RICH, SHARE_credentials, 9);
    give(POOR, SHARE_credentials, 2 + EIGHTH / 2 - 7 + 1);
    IS_REFUSED(2000 * USDC, OPERATOR_RULE_fall_credentials);
    give(POOR, SHARE_credentials, 2 + EIGHTH / 2 - 7);
    CHECK(purse_withdraw(&host, RICH, PLACE(0), 2000 * USDC) == TRADE_OK);
}

/* An unfunded account has 1 subaccount and 2 portfolios at most, whatever room there is: newcomers
 * need it. */
static void test_portfolios(void)
{
    begin();
    give(RICH, SHARE_portfolios, 3);
    give(POOR, SHARE_portfolios, 0);
    IS_REFUSED(1991 * USDC, OPERATOR_RULE_fall_portfolios);
    CHECK(purse_withdraw(&host, RICH, PLACE(0), 1990 * USDC) == TRADE_OK); /* small */
    begin();
    give(RICH, SHARE_portfolios, 2);
    CHECK(purse_withdraw(&host, RICH, PLACE(0), 1991 * USDC) == TRADE_OK);
    begin();
    give(RICH, SHARE_subaccounts, 2);
    IS_REFUSED(1991 * USDC, OPERATOR_RULE_fall_subaccounts);
    CHECK(purse_withdraw(&host, RICH, PLACE(0), 1990 * USDC) == TRADE_OK);
}

/* --- a customer who leaves -------------------------------------------------------------------- */

/* Others have all of the lower classes. With rows of his own that are real he gives them back one
 * table after the other, and withdraws everything. */
static void test_customer_leaves(void)
{
    struct waiting stop = { .trigger = M + 10, .quantity = 1000, .type = 3 };
    struct keys_id keys[7];

    begin();
    for (uint32_t i = 0; i < 65; i++)
        (void)trade_rest(&host, RICH, 100, M - 1000);
    CHECK(waiting_place(&host, RICH, &stop) == TRADE_OK);
    for (uint32_t i = 1; i <= 2; i++)
        CHECK(purse_portfolio(&host, RICH, 0, "") == TRADE_OK);
    for (uint32_t i = 0; i < 7; i++) /* with his master key and his session 9 */
        keys[i] = keys_make(&host, RICH, i == 0 ? KEYS_READ_WRITE : KEYS_READ, KEYS_NO_PIN);
    static const enum share_table tables[] = { SHARE_portfolios,   SHARE_orders,
                                               SHARE_conditionals, SHARE_positions,
                                               SHARE_credentials,  SHARE_withdrawals };
    for (size_t i = 0; i < CC_COUNT(tables); i++) {
        give(SMALL, tables[i], HALF);
        give(POOR, tables[i], EIGHTH);
    }
    IS_REFUSED(1001 * USDC, OPERATOR_RULE_fall_portfolios);
    CHECK(purse_key(&host, REQUEST_portfolio_close, keys[0], RICH, PLACE(2), 0) == TRADE_OK);
    IS_REFUSED(1001 * USDC, OPERATOR_RULE_fall_portfolios); /* its row is kept for 46 s */
    host_tick(&host, 47 * HOST_SECOND_NS);
    IS_REFUSED(1001 * USDC, OPERATOR_RULE_fall_orders);
    CHECK(host_cancel_all(&host, RICH, 0xFFFF, 0) == TRADE_OK);
    host_tick(&host, HOST_SECOND_NS); /* the list is worked off */
    IS_REFUSED(2000 * USDC, OPERATOR_RULE_fall_conditionals);
    CHECK(waiting_cancel_all(&host, RICH, HOST_BTC, 0) == TRADE_OK);
    host_tick(&host, HOST_SECOND_NS);
    IS_REFUSED(2000 * USDC, OPERATOR_RULE_fall_credentials);
    CHECK(keys_revoke(&host, RICH, keys[6]) == TRADE_OK);
    IS_REFUSED(2000 * USDC, OPERATOR_RULE_fall_credentials); /* its row is kept for 46 s */
    host_tick(&host, 47 * HOST_SECOND_NS);
    CHECK(purse_withdraw(&host, RICH, PLACE(0), 2000 * USDC) == TRADE_OK);
    CHECK(class_of(RICH) == SHARE_CLASS_unfunded);
    /* The operator's revert is never refused, nor a deposit. */
    uint8_t id[16];
    memcpy(id, host.result.id, sizeof id);
    give(RICH, SHARE_orders, 65);
    CHECK(purse_settle(&host, id, 1) == TRADE_OK && class_of(RICH) == SHARE_CLASS_full);
    CHECK(host_deposit(&host, RICH, USDC) == TRADE_OK);
}

int main(void)
{
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        test_to_small(&rows[i]);
        test_to_unfunded(&rows[i]);
    }
    test_keys();
    test_portfolios();
    test_customer_leaves();
    host_close(&host);
    return 0;
}
