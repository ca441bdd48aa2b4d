/* Random trading between random movements of cash: transfers, withdrawals, settlements, deposits,
 * faucet, top-ups, portfolios and subaccounts that open and close, suspensions, tiers. I1 to I6
 * hold (host), no cash is made (I2 against sums counted here), every row of the ledger continues
 * the one before, and the rows of a portfolio add up to its cash (R2). A state made from an image
 * on the way does the same. */
#include "engine/view/audit.h"
#include "image_copy.h"
#include "purse.h"
#include "traffic.h"

enum { COMMANDS = 30000, WAYS = 12, PORTFOLIOS = 4096, PENDING = 64, PLACES = 3 };

static struct traffic traffic;
static struct host loaded;
static struct image_copy ours, theirs;
static int64_t ledger[PORTFOLIOS];
static uint8_t pending[PENDING][16];
static int128 deposited, withdrawn, given, topped;
static uint32_t counts[WAYS], loads;

/* --- what is counted beside the engine -------------------------------------------------------- */

static void count_row(const struct effect_cash *row)
{
    uint32_t index =
        portfolio_find(traffic.host.engine, account_id_slot(row->portfolio.account_id),
                       row->portfolio.subaccount_index, row->portfolio.portfolio_index);

    CHECK(index < PORTFOLIOS && row->amount != 0);
    ledger[index] += row->amount;
    CHECK(row->balance_after == ledger[index]);
    if (row->kind == CASH_deposit)
        deposited += row->amount;
    if (row->kind == CASH_faucet)
        given += row->amount;
    if (row->kind == CASH_withdrawal || row->kind == CASH_withdrawal_reverted)
        withdrawn -= row->amount;
}

static void (*keep_effect)(struct engine_sink *sink, const struct effect *effect);

static void count_effect(struct engine_sink *sink, const struct effect *effect)
{
    struct effect_cash row;

    memcpy(&row, effect->bytes, sizeof row);
    if (effect->code == EFFECT_cash)
        count_row(&row);
    keep_effect(sink, effect);
}

static void check_sums(void)
{
    const struct engine *engine = traffic.host.engine;

    CHECK(engine->deposits == deposited && engine->faucet == given && engine->top_ups == topped);
    CHECK(engine->withdrawals_pending + engine->withdrawals_settled == withdrawn);
}

static void check_ledger(void)
{
    const struct engine *engine = traffic.host.engine;

    for (uint32_t i = 0; i < engine->portfolios.count; i++)
        CHECK(engine->portfolios.rows[i].cash == ledger[i]);
    CHECK(audit_holds(engine));
}

/* --- movements -------------------------------------------------------------------------------- */

static uint32_t below(uint32_t bound)
{
    return rig_below(&traffic.seed, bound);
}

static struct purse_place any_place(void)
{
    uint32_t subaccount = below(PLACES), portfolio = below(PLACES);
    return (struct purse_place){ subaccount, portfolio };
}

static uint64_t any_amount(void)
{
    uint32_t kind = below(8), amount = below(40000);

    if (kind == 0)
        return amount;
    return kind == 1 ? UINT64_MAX - amount : amount * HOST_USDC + amount;
}

static void withdraw(uint32_t n)
{
    struct purse_place place = any_place();
    uint32_t slot = below(PENDING);

    if (purse_withdraw(&traffic.host, n, place, any_amount()) == TRADE_OK)
        memcpy(pending[slot], traffic.host.result.id, sizeof pending[slot]);
}

/* A limit order of another portfolio than 0/0. */
static void order(uint32_t n)
{
    uint8_t body[48] = { 0 };
    struct purse_place place = any_place();
    uint64_t price = trade_market(&traffic.host)->mark + below(400) - 200;
    int64_t quantity = 1000 + below(100000);

    cc_store64(body, n);
    cc_store32(body + 8, place.subaccount);
    cc_store32(body + 12, place.portfolio);
    cc_store64(body + 16, price);
    cc_store64(body + 24, (uint64_t)(below(2) == 0 ? quantity : -quantity));
    cc_store64(body + 32, below(2) == 0 ? TRADE_GTC : TRADE_IOC);
    cc_store16(body + 44, HOST_BTC);
    (void)purse_send_as(&traffic.host, n, REQUEST_place_limit_order, body, sizeof body);
}

static void cancel_all(uint32_t n, uint32_t subaccount)
{
    uint8_t body[24] = { 0 };

    cc_store64(body, n);
    cc_store32(body + 8, subaccount);
    cc_store32(body + 12, UINT32_MAX);
    cc_store16(body + 16, 0xFFFF);
    (void)purse_send_as(&traffic.host, n, REQUEST_cancel_all_orders, body, sizeof body);
}

/* Empties a place into 0/0 and closes it, as far as that goes. */
static void close_place(uint32_t n)
{
    struct purse_place place = any_place(), main_place = { 0, 0 };
    uint32_t index = portfolio_find(traffic.host.engine, n, place.subaccount, place.portfolio);

    if (index == PORTFOLIO_NONE || place.subaccount == 0)
        return;
    cancel_all(n, place.subaccount);
    int64_t cash = traffic.host.engine->portfolios.rows[index].cash;
    (void)purse_transfer(&traffic.host, n, place, main_place, (uint64_t)cash);
    counts[0] +=
        purse_key(&traffic.host, REQUEST_portfolio_close, traffic.keys[n], n, place, 0) == TRADE_OK;
}

static void settle(void)
{
    uint32_t slot = below(PENDING), outcome = below(2);
    counts[1] += purse_settle(&traffic.host, pending[slot], (uint8_t)outcome) == TRADE_OK;
}

static void top_up(void)
{
    uint8_t body[8] = { 0 };
    uint32_t amount = below(1000);

    cc_store64(body, amount);
    if (purse_send(&traffic.host, PURSE_OPERATOR, 0, REQUEST_fund_top_up, body, 8) == TRADE_OK)
        topped += amount;
}

static void set_tier(uint32_t n)
{
    uint8_t body[16] = { 0 };
    uint32_t tier = below(7);

    cc_store64(body, n);
    body[8] = tier == 6 ? ACCOUNT_TIER_BY_VOLUME : (uint8_t)tier;
    counts[2] += purse_send(&traffic.host, PURSE_OPERATOR, 0, REQUEST_set_fee_tier, body,
                            sizeof body) == TRADE_OK;
}

static void move(void)
{
    struct host *host = &traffic.host;
    uint32_t kind = below(20), n = 1 + below(TRADE_ACCOUNTS);
    struct purse_place from = any_place(), to = any_place();
    uint64_t amount = any_amount();

    if (kind < 5)
        counts[3] += purse_transfer(host, n, from, to, amount) == TRADE_OK;
    else if (kind < 8)
        withdraw(n);
    else if (kind < 10)
        settle();
    else if (kind < 13)
        order(n);
    else if (kind == 13)
        counts[4] += purse_deposit(host, n, from, amount) == TRADE_OK;
    else if (kind == 14)
        counts[5] +=
            purse_key(host, REQUEST_faucet_credit, traffic.keys[n], n, from, amount) == TRADE_OK;
    else if (kind == 15)
        close_place(n);
    else if (kind == 16)
        counts[6] +=
            purse_key(host, REQUEST_portfolio_reopen, traffic.keys[n], n, from, 0) == TRADE_OK;
    else if (kind == 17)
        counts[7] += (amount % 2 == 0 ? purse_subaccount(host, n)
                                      : purse_portfolio(host, n, from.subaccount, "")) == TRADE_OK;
    else if (kind == 18)
        amount % 2 == 0 ? top_up() : set_tier(n);
    else
        counts[8] += (amount % 4 == 0 ? purse_close_subaccount(host, n, 1 + below(2))
                                      : purse_suspend(host, n, amount % 8 == 1)) == TRADE_OK;
}

/* --- runs ------------------------------------------------------------------------------------- */

static void load(void)
{
    struct image_problem problem = { 0 };

    image_copy_take(&ours, traffic.host.engine);
    if (!image_copy_open(&ours, &loaded, NULL, &problem)) {
        fprintf(stderr, "section %u, row %llu: %s\n", problem.section,
                (unsigned long long)problem.row, problem.text);
        exit(1);
    }
    traffic.host.mirror = &loaded;
    loads++;
}

static void leave(void)
{
    image_copy_take(&ours, traffic.host.engine);
    image_copy_take(&theirs, loaded.engine);
    CHECK(image_copy_equal(&ours, &theirs));
    traffic.host.mirror = NULL;
    host_close(&loaded);
}

static void run(uint64_t seed, uint32_t markets, const char *overrides)
{
    deposited = (int128)(TRADE_ACCOUNTS * TRADE_CASH);
    withdrawn = given = topped = 0;
    memset(ledger, 0, sizeof ledger);
    traffic_open(&traffic, seed, markets, overrides);
    keep_effect = traffic.host.sink.emit;
    traffic.host.sink.emit = count_effect;
    for (uint32_t i = 1; i <= TRADE_ACCOUNTS; i++)
        ledger[i] = (int64_t)TRADE_CASH;
    for (uint32_t i = 0; i < COMMANDS; i++) {
        traffic.host.skip_audit = i % 8 != 0;
        if (below(3) == 0)
            move();
        else
            (void)traffic_command(&traffic);
        check_sums();
        if (i % 400 == 399 && traffic.host.mirror == NULL)
            load();
        else if (i % 400 == 399)
            leave();
        if (i % 100 == 0)
            check_ledger();
    }
    if (traffic.host.mirror != NULL)
        leave();
    check_ledger();
    host_close(&traffic.host);
}

int main(void)
{
    run(21, 1, "exchange.testnet=on\nlimits.subaccounts=4\nlimits.portfolios=4\n");
    run(22, 3, "exchange.testnet=on\nengine.work_per_command=2\nengine.deposits=600\n");
    for (uint32_t i = 0; i < 9; i++)
        printf("%u ", counts[i]);
    printf("%u loads\n", loads);
    for (uint32_t i = 0; i < 9; i++)
        CHECK(counts[i] > 10);
    image_copy_free(&ours);
    image_copy_free(&theirs);
    return 0;
}
