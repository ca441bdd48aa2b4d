/* stage_settle.c - the end of the demo: all orders canceled, all positions closed against each
 * other at one price a market, then money and sizes compared with GET /audit, to the micro-USDC. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "perp/request/instant.h"
#include "perp_demo/stage.h"

enum { PHASE_MS = 120000, LISTEN_MS = 50, LINE_BYTES = 256 };

static const char *money(int128 micro)
{
    static char texts[8][DECIMAL_TEXT_MAX];
    static unsigned next;
    char *text = texts[next++ % CC_COUNT(texts)];
    decimal_format(text, micro, 6);
    return text;
}

/* Tells every player, and waits until all have come to `state`. */
static bool phase(struct stage *stage, const char *line, enum player_state state)
{
    uint64_t end_ns = instant_monotonic_ns() + (uint64_t)PHASE_MS * 1000000;
    uint32_t failures = stage->failures; /* more of them: somebody has ended */
    for (int i = 0; i < STAGE_PLAYERS; i++)
        crew_tell(&stage->members[STAGE_FIRST_PLAYER + i], line);
    for (;;) {
        int missing = 0;
        const char *name = "";
        for (int i = 0; i < STAGE_PLAYERS; i++) {
            if (stage->players[i].state < state) {
                missing++;
                name = stage->players[i].account.name;
            }
        }
        if (missing == 0)
            return true;
        if (instant_monotonic_ns() > end_ns || stage->failures > failures) {
            stage_check(stage, false, "%d players did not answer '%s' (%s; see %s/players.log)",
                        missing, line, name, stage->folder);
            return false;
        }
        stage_hear(stage, LISTEN_MS);
    }
}

static int64_t held(const struct stage *stage, uint32_t market)
{
    int64_t sum = 0;
    for (int i = 0; i < STAGE_PLAYERS; i++)
        sum += stage->players[i].held[market];
    return sum;
}

/* Your account, as a bot that only ends things. */
static bool as_you(struct stage *stage, struct bot *bot)
{
    char error[KEY_FILE_ERROR_MAX], api_key[COURIER_KEY_MAX] = "";
    memset(bot, 0, sizeof *bot);
    memcpy(bot->records, stage->records, sizeof bot->records);
    snprintf(bot->name, sizeof bot->name, "you");
    bot->random = 1;
    bot->portfolio.account_id = stage->you.account_id;
    FILE *file = fopen(stage->you.api_key_path, "re");
    if (file != NULL) {
        size_t count = fread(api_key, 1, sizeof api_key - 1, file);
        api_key[count] = '\0';
        fclose(file);
    }
    return file != NULL && key_file_read(&bot->key, stage->you.key_path, error) &&
           courier_init(&bot->courier, stage->server.url, api_key, 0) &&
           client_connect(&bot->courier.client) == 0;
}

/* Cancels your orders and, since the others' positions show yours, closes yours against them. */
static bool flatten_you(struct stage *stage, const int64_t prices[LISTING_MARKETS])
{
    static struct bot bot;
    if (!as_you(stage, &bot))
        return false;
    bot_cancel_all(&bot);
    bot_flush(&bot);
    for (uint32_t market = 0; market < LISTING_MARKETS; market++) {
        struct bot_wish wish = { .market = market,
                                 .quantity = held(stage, market),
                                 .price = prices[market],
                                 .expiry = UINT64_MAX,
                                 .reduce_only = true };
        if (wish.quantity != 0)
            bot_place(&bot, market, &wish);
    }
    bot_flush(&bot);
    client_close(&bot.courier.client);
    return true;
}

static bool read_your_cash(struct stage *stage, int64_t *cash)
{
    static struct bot bot;
    if (!as_you(stage, &bot))
        return false;
    bot_balance(&bot);
    *cash = bot.cash;
    client_close(&bot.courier.client);
    return bot.cash >= 0;
}

static struct player_book total(const struct player *player)
{
    struct player_book sum = { 0 };
    for (int i = 0; i < LISTING_MARKETS; i++) {
        sum.notional += player->own[i].notional;
        sum.gross += player->own[i].gross;
    }
    return sum;
}

/* What a player's own fills do not explain. */
static int128 fees_of(const struct player *player)
{
    return (int128)player->account.deposit - total(player).notional - player->cash;
}

static void compare_money(struct stage *stage)
{
    const struct audit_answer *audit = &stage->audit;
    /* Who watches may have deposited more: what the players did not get is yours. The balances and
     * fees below must agree with it all the same. */
    if (stage->seconds == 0)
        stage->you.deposit = audit->deposits - STAGE_PLAYERS * stage->players[0].account.deposit;
    int128 cash = 0, fees = 0, deposits = stage->you.deposit, notional = 0;
    int64_t your_cash = 0, open = 0;
    stage_check(stage, read_your_cash(stage, &your_cash), "your balance is readable");
    cash = your_cash;
    for (int i = 0; i < STAGE_PLAYERS; i++) {
        const struct player *player = &stage->players[i];
        cash += player->cash;
        deposits += player->account.deposit;
        notional += total(player).notional;
        for (int market = 0; market < LISTING_MARKETS; market++)
            open += player->own[market].position != 0;
        fees += fees_of(player);
    }
    /* Every trade has two sides: what the players did not pay among themselves, you did. */
    int128 your_fees = (int128)stage->you.deposit + notional - your_cash;
    fees += your_fees;
    stage_check(stage, open == 0, "%" PRId64 " positions of the players are open", open);
    stage_check(stage, audit->deposits == deposits, "deposits: %s USDC, audit %s", money(deposits),
                money(audit->deposits));
    stage_check(stage, audit->cash == cash, "cash of all balances: %s USDC, audit %s", money(cash),
                money(audit->cash));
    stage_check(stage, audit->fee_account == fees,
                "fees that the fills leave over: %s USDC, audit %s", money(fees),
                money(audit->fee_account));
    int64_t cost = audit->cost;
    for (int i = 0; i < LISTING_MARKETS && cost == 0; i++)
        cost = audit->markets[i].cost_sum;
    stage_check(stage, cost == 0, "cost of open positions: audit %s USDC", money(cost));
    if (your_fees == 0)
        stage_check(stage, notional == 0, "notional bought = notional sold (difference %s USDC)",
                    money(notional));
}

static void check_audit(struct stage *stage, const char *when)
{
    struct audit_answer *audit = &stage->audit;
    if (!audit_answer_read(audit, &stage->admin, stage->records)) {
        stage_check(stage, false, "GET /audit %s", when);
        return;
    }
    bool all = true, sizes = true;
    for (int i = 0; i < AUDIT_INVARIANTS; i++)
        all = all && audit->holds[i];
    stage_check(stage, all && audit->recount_differences == 0,
                "audit %s: I1-I6 %s, %" PRId64 " recount differences, sequence %" PRIu64, when,
                all ? "hold" : "DO NOT HOLD", audit->recount_differences, audit->sequence);
    for (uint32_t i = 0; i < LISTING_MARKETS; i++) {
        sizes = sizes && audit->markets[i].size_sum == 0;
        if (audit->markets[i].size_sum != 0)
            stage_check(stage, false, "audit %s: sum of sizes %" PRId64 " in %s", when,
                        audit->markets[i].size_sum, listing_at(i)->market);
    }
    if (sizes)
        stage_check(stage, true, "audit %s: sum of sizes 0 in every market", when);
    stage_check(stage, audit_answer_balances(audit),
                "audit %s: cash - cost + fees + pools = deposits (%s USDC)", when,
                money(audit->deposits));
}

static void check_stopped(struct stage *stage)
{
    bool empty = true, agreed = true;
    for (uint32_t i = 0; i < LISTING_MARKETS; i++) {
        empty = empty && stage->audit.markets[i].book_empty;
        agreed = agreed && held(stage, i) == 0;
    }
    if (stage->seconds == 0)
        return; /* you may have traded with them */
    stage_check(stage, agreed, "positions by own fills sum to 0 in every market");
    stage_check(stage, empty, "the books are empty");
}

void stage_settle(struct stage *stage)
{
    char line[LINE_BYTES];
    int64_t prices[LISTING_MARKETS];
    printf("settling:\n");
    if (!phase(stage, "stop", PLAYER_STOPPED))
        return;
    int at = snprintf(line, sizeof line, "flatten");
    for (uint32_t i = 0; i < LISTING_MARKETS; i++) {
        prices[i] = (int64_t)feed_price(stage->feed, i);
        at += snprintf(line + at, sizeof line - (size_t)at, " %" PRId64, prices[i]);
    }
    check_audit(stage, "with positions open");
    check_stopped(stage);
    stage_check(stage, flatten_you(stage, prices), "your account is wound up");
    if (stage->killed_ns != 0 && !phase(stage, "prove", PLAYER_PROVED))
        return;
    if (!phase(stage, line, PLAYER_FLATTENING) || !phase(stage, "settle", PLAYER_SETTLED))
        return;
    check_audit(stage, "after closing");
    compare_money(stage);
    stage_compare(stage);
    if (stage->killed_ns != 0)
        stage_chaos_check(stage);
    else if (stage->chaos)
        stage_check(stage, stage->seconds == 0, "chaos: it ended before perpd was to be killed");
}
