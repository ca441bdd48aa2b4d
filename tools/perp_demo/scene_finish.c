/* scene_finish.c - the end of the demo: all orders canceled, all positions closed against each
 * other at one price a market, then money and sizes compared with GET /audit, to the micro-USDC. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "perp/request/instant.h"
#include "perp_demo/scene.h"

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
static bool phase(struct scene *scene, const char *line, enum player_state state)
{
    uint64_t end_ns = instant_monotonic_ns() + (uint64_t)PHASE_MS * 1000000;
    uint32_t failures = scene->failures; /* more of them: somebody has ended */
    for (int i = 0; i < SCENE_PLAYERS; i++)
        crew_send(&scene->members[SCENE_FIRST_PLAYER + i], line);
    for (;;) {
        int missing = 0;
        const char *name = "";
        for (int i = 0; i < SCENE_PLAYERS; i++) {
            if (scene->players[i].state < state) {
                missing++;
                name = scene->players[i].account.name;
            }
        }
        if (missing == 0)
            return true;
        if (instant_monotonic_ns() > end_ns || scene->failures > failures) {
            scene_check(scene, false, "%d players did not answer '%s' (%s; see %s/players.log)",
                        missing, line, name, scene->folder);
            return false;
        }
        scene_listen(scene, LISTEN_MS);
    }
}

static int64_t held(const struct scene *scene, uint32_t market)
{
    int64_t sum = 0;
    for (int i = 0; i < SCENE_PLAYERS; i++)
        sum += scene->players[i].held[market];
    return sum;
}

/* Your account, as a bot that only ends things. */
static bool as_you(struct scene *scene, struct bot *bot)
{
    char error[KEY_FILE_ERROR_MAX], api_key[COURIER_KEY_MAX] = "";
    memset(bot, 0, sizeof *bot);
    memcpy(bot->records, scene->records, sizeof bot->records);
    snprintf(bot->name, sizeof bot->name, "you");
    bot->random = 1;
    bot->portfolio.account_id = scene->you.account_id;
    FILE *file = fopen(scene->you.api_key_path, "re");
    if (file != NULL) {
        size_t count = fread(api_key, 1, sizeof api_key - 1, file);
        api_key[count] = '\0';
        fclose(file);
    }
    return file != NULL && key_file_read(&bot->key, scene->you.key_path, error) &&
           courier_init(&bot->courier, scene->server.url, api_key,
                        scene->wants_cluster ? PHASE_MS : 0) &&
           client_connect(&bot->courier.client) == 0;
}

/* Cancels your orders and, since the others' positions show yours, closes yours against them. */
static bool flatten_you(struct scene *scene, const int64_t prices[LISTING_MARKETS])
{
    static struct bot bot;
    if (!as_you(scene, &bot))
        return false;
    bot_cancel_all(&bot);
    bot_flush(&bot);
    for (uint32_t market = 0; market < LISTING_MARKETS; market++) {
        struct bot_wish wish = { .market = market,
                                 .quantity = held(scene, market),
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

static bool read_your_cash(struct scene *scene, int64_t *cash)
{
    static struct bot bot;
    if (!as_you(scene, &bot))
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

static void compare_money(struct scene *scene)
{
    const struct audit_answer *audit = &scene->audit;
    /* Who watches may have deposited more: what the players did not get is yours. The balances and
     * fees below must agree with it all the same. */
    if (scene->seconds == 0)
        scene->you.deposit = audit->deposits - SCENE_PLAYERS * scene->players[0].account.deposit;
    int128 cash = 0, fees = 0, deposits = scene->you.deposit, notional = 0;
    int64_t your_cash = 0, open = 0;
    scene_check(scene, read_your_cash(scene, &your_cash), "your balance is readable");
    cash = your_cash;
    for (int i = 0; i < SCENE_PLAYERS; i++) {
        const struct player *player = &scene->players[i];
        cash += player->cash;
        deposits += player->account.deposit;
        notional += total(player).notional;
        for (int market = 0; market < LISTING_MARKETS; market++)
            open += player->own[market].position != 0;
        fees += fees_of(player);
    }
    /* Every trade has two sides: what the players did not pay among themselves, you did. */
    int128 your_fees = (int128)scene->you.deposit + notional - your_cash;
    fees += your_fees;
    if (scene->others != 0)
        return; /* who else traded here holds cash, fees and positions that nobody shows us */
    scene_check(scene, open == 0, "%" PRId64 " positions of the players are open", open);
    scene_check(scene, audit->deposits == deposits, "deposits: %s USDC, audit %s", money(deposits),
                money(audit->deposits));
    scene_check(scene, audit->cash == cash, "cash of all balances: %s USDC, audit %s", money(cash),
                money(audit->cash));
    scene_check(scene, audit->fee_account == fees,
                "fees that the fills leave over: %s USDC, audit %s", money(fees),
                money(audit->fee_account));
    int64_t cost = audit->cost;
    for (int i = 0; i < LISTING_MARKETS && cost == 0; i++)
        cost = audit->markets[i].cost_sum;
    scene_check(scene, cost == 0, "cost of open positions: audit %s USDC", money(cost));
    if (your_fees == 0)
        scene_check(scene, notional == 0, "notional bought = notional sold (difference %s USDC)",
                    money(notional));
}

static void check_audit(struct scene *scene, const char *when)
{
    struct audit_answer *audit = &scene->audit;
    if (!scene_cluster_aim(scene) || !audit_answer_read(audit, &scene->admin, scene->records)) {
        scene_check(scene, false, "GET /audit %s", when);
        return;
    }
    bool all = true, sizes = true;
    for (int i = 0; i < AUDIT_INVARIANTS; i++)
        all = all && audit->holds[i];
    scene_check(scene, all && audit->recount_differences == 0,
                "audit %s: I1-I6 %s, %" PRId64 " recount differences, sequence %" PRIu64, when,
                all ? "hold" : "DO NOT HOLD", audit->recount_differences, audit->sequence);
    for (uint32_t i = 0; i < LISTING_MARKETS; i++) {
        sizes = sizes && audit->markets[i].size_sum == 0;
        if (audit->markets[i].size_sum != 0)
            scene_check(scene, false, "audit %s: sum of sizes %" PRId64 " in %s", when,
                        audit->markets[i].size_sum, listing_at(i)->market);
    }
    if (sizes)
        scene_check(scene, true, "audit %s: sum of sizes 0 in every market", when);
    scene_check(scene, audit_answer_balances(audit),
                "audit %s: cash - cost + fees + pools = deposits (%s USDC)", when,
                money(audit->deposits));
}

static void check_stopped(struct scene *scene)
{
    bool empty = true, agreed = true;
    for (uint32_t i = 0; i < LISTING_MARKETS; i++) {
        empty = empty && scene->audit.markets[i].book_empty;
        agreed = agreed && held(scene, i) == 0;
    }
    if (scene->seconds == 0 || scene->others != 0)
        return; /* you, or who opened an account, may have traded with them */
    scene_check(scene, agreed, "positions by own fills sum to 0 in every market");
    scene_check(scene, empty, "the books are empty");
}

/* Accounts that are neither the players' nor yours. What is theirs only they can read, so that the
 * sums over all accounts are then left to GET /audit, which has them. */
static void count_others(struct scene *scene)
{
    scene_show_read_metrics(scene);
    uint64_t accounts = scene->scrape.accounts;
    scene->others = accounts > SCENE_ACCOUNTS ? accounts - SCENE_ACCOUNTS : 0;
    scene_check(scene, accounts >= SCENE_ACCOUNTS,
                "%" PRIu64 " accounts of the demo's own, %" PRIu64 " of others%s",
                (uint64_t)SCENE_ACCOUNTS, scene->others,
                scene->others != 0 ? ": GET /audit alone has the sums over all" : "");
}

void scene_finish(struct scene *scene)
{
    char line[LINE_BYTES];
    int64_t prices[LISTING_MARKETS];
    printf("settling:\n");
    if (!phase(scene, "stop", PLAYER_STOPPED))
        return;
    int at = snprintf(line, sizeof line, "flatten");
    for (uint32_t i = 0; i < LISTING_MARKETS; i++) {
        prices[i] = (int64_t)feed_price(scene->feed, i);
        at += snprintf(line + at, sizeof line - (size_t)at, " %" PRId64, prices[i]);
    }
    count_others(scene);
    check_audit(scene, "with positions open");
    check_stopped(scene);
    scene_check(scene, flatten_you(scene, prices), "your account is wound up");
    if (scene->killed_ns != 0 && !phase(scene, "prove", PLAYER_PROVED))
        return;
    if (!phase(scene, line, PLAYER_FLATTENING) || !phase(scene, "finish", PLAYER_FINISHED))
        return;
    check_audit(scene, "after closing");
    compare_money(scene);
    scene_compare(scene);
    if (scene->wants_cluster)
        scene_cluster_check(scene);
    if (scene->killed_ns != 0)
        scene_chaos_check(scene);
    else if (scene->chaos)
        scene_check(scene, scene->seconds == 0, "chaos: it ended before perpd was to be killed");
}
