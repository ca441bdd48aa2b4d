/* stage_settle.c - the end of the demo: all orders canceled, all positions closed against each
 * other at one price, then money and sizes compared with GET /audit, to the micro-USDC. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "perp/instant.h"
#include "perp_demo/bot.h"
#include "perp_demo/stage.h"

enum { PHASE_MS = 15000, LISTEN_MS = 50 };

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
        stage_listen(stage, LISTEN_MS);
    }
}

static int64_t held(const struct stage *stage)
{
    int64_t sum = 0;
    for (int i = 0; i < STAGE_PLAYERS; i++)
        sum += stage->players[i].held;
    return sum;
}

/* Your account, as a bot that only ends things. */
static bool as_you(struct stage *stage, struct bot *bot)
{
    char error[KEY_FILE_ERROR_MAX];
    *bot = (struct bot){ .record = stage->record, .random = 1 };
    snprintf(bot->name, sizeof bot->name, "you");
    bot->portfolio.account_id = stage->you.account_id;
    FILE *file = fopen(stage->you.api_key_path, "re");
    if (file != NULL) {
        size_t count = fread(bot->api_key, 1, sizeof bot->api_key - 1, file);
        bot->api_key[count] = '\0';
        fclose(file);
    }
    return file != NULL && key_file_read(&bot->key, stage->you.key_path, error) &&
           client_init(&bot->client, stage->url, CLIENT_TIMEOUT_MS) &&
           client_connect(&bot->client) == 0;
}

/* Cancels your orders and, since the others' positions show yours, closes yours against them. Your
 * cash goes to *cash. */
static bool flatten_you(struct stage *stage, int64_t price)
{
    static struct bot bot;
    if (!as_you(stage, &bot))
        return false;
    bot_cancel_all(&bot);
    bot_flush(&bot);
    if (held(stage) != 0) {
        struct bot_wish wish = {
            .quantity = held(stage), .price = price, .expiry = UINT64_MAX, .reduce_only = true
        };
        bot_place(&bot, 0, &wish);
        bot_flush(&bot);
    }
    client_close(&bot.client);
    return true;
}

static bool read_your_cash(struct stage *stage, int64_t *cash)
{
    static struct bot bot;
    if (!as_you(stage, &bot))
        return false;
    bot_balance(&bot);
    bot_flush(&bot);
    *cash = bot.cash;
    client_close(&bot.client);
    return bot.cash >= 0;
}

/* A player's fees are what its own fills do not explain; each must be possible at the rates. */
static int128 check_fees(struct stage *stage, const struct player *player)
{
    int128 fees = (int128)player->account.deposit - player->notional - player->cash;
    /* tier 0: makers 150 ppm, takers 450 ppm; each fill rounds up by less than one micro-USDC. */
    int128 least = player->gross * 150 / 1000000;
    int128 most = player->gross * 450 / 1000000 + (int128)player->trades * 1000;
    if (fees < least || fees > most)
        stage_check(stage, false, "%s paid %s USDC of fees on %s USDC traded; %s to %s is possible",
                    player->account.name, money(fees), money(player->gross), money(least),
                    money(most));
    return fees;
}

static void compare_money(struct stage *stage)
{
    const struct audit_answer *audit = &stage->audit;
    /* Who watches may have deposited more: what the players did not get is yours. The balances and
     * fees below must agree with it all the same. */
    if (stage->seconds == 0)
        stage->you.deposit = audit->deposits - STAGE_PLAYERS * stage->players[0].account.deposit;
    int128 cash = 0, fees = 0, deposits = stage->you.deposit, notional = 0;
    int64_t your_cash = 0, position = 0;
    stage_check(stage, read_your_cash(stage, &your_cash), "your balance is readable");
    cash = your_cash;
    for (int i = 0; i < STAGE_PLAYERS; i++) {
        const struct player *player = &stage->players[i];
        cash += player->cash;
        deposits += player->account.deposit;
        notional += player->notional;
        position += player->position;
        fees += check_fees(stage, player);
    }
    /* Every trade has two sides: what the players did not pay among themselves, you did. */
    int128 your_fees = (int128)stage->you.deposit + notional - your_cash;
    fees += your_fees;
    stage_check(stage, position == 0, "positions of all players: %" PRId64 " (all closed)",
                position);
    stage_check(stage, audit->deposits == deposits, "deposits: %s USDC, audit %s", money(deposits),
                money(audit->deposits));
    stage_check(stage, audit->cash == cash, "cash of all balances: %s USDC, audit %s", money(cash),
                money(audit->cash));
    stage_check(stage, audit->fee_account == fees,
                "fees that the fills leave over: %s USDC, audit %s", money(fees),
                money(audit->fee_account));
    stage_check(stage, audit->cost == 0 && audit->cost_sum == 0,
                "cost of open positions: audit %s USDC", money(audit->cost));
    if (your_fees == 0)
        stage_check(stage, notional == 0, "notional bought = notional sold (difference %s USDC)",
                    money(notional));
}

static void check_audit(struct stage *stage, const char *when)
{
    struct audit_answer *audit = &stage->audit;
    if (!audit_answer_read(audit, &stage->admin, PROVISION_MARKET, stage->record.size_decimals)) {
        stage_check(stage, false, "GET /audit %s", when);
        return;
    }
    bool all = true;
    for (int i = 0; i < AUDIT_INVARIANTS; i++)
        all = all && audit->holds[i];
    stage_check(stage, all && audit->recount_differences == 0,
                "audit %s: I1-I6 %s, %" PRId64 " recount differences, sequence %" PRIu64, when,
                all ? "hold" : "DO NOT HOLD", audit->recount_differences, audit->sequence);
    stage_check(stage, audit->size_sum == 0, "audit %s: sum of sizes %" PRId64, when,
                audit->size_sum);
    stage_check(stage, audit_answer_balances(audit),
                "audit %s: cash - cost + fees + pools = deposits (%s USDC)", when,
                money(audit->deposits));
}

void stage_settle(struct stage *stage)
{
    char line[64];
    printf("settling:\n");
    if (!phase(stage, "stop", PLAYER_STOPPED))
        return;
    int64_t price = (int64_t)feed_price(stage->feed);
    if (stage->seconds != 0)
        stage_check(stage, held(stage) == 0, "positions by own fills sum to %" PRId64, held(stage));
    check_audit(stage, "with positions open");
    stage_check(stage, flatten_you(stage, price), "your account is wound up");
    stage_check(stage, stage->audit.book_empty || stage->seconds == 0, "the book is empty");
    snprintf(line, sizeof line, "flatten %" PRId64, price);
    if (!phase(stage, line, PLAYER_FLATTENING) || !phase(stage, "settle", PLAYER_SETTLED))
        return;
    check_audit(stage, "after closing");
    compare_money(stage);
}
