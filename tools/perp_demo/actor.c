#include "perp_demo/actor.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "perp/request/client_rule.h"
#include "perp/request/instant.h"
#include "perp_demo/pause.h"
#include "perp_demo/provision.h"
#include "perp_demo/role.h"
#include "perp_demo/statement.h"

enum {
    LINE_MAX_BYTES = 256,
    STAT_NS = 200000000,
    ROUNDS_MAX = 500,
    CALM_MS = 200,
    READS_AT_ONCE = 8
};

#define NS_PER_S  UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)

struct actor {
    struct bot bot;
    const struct role *role;
    uint64_t reported[STATUS_COUNT];
    bool stopped;
    char line[LINE_MAX_BYTES];
    size_t line_count;
};

static bool number(const char *text, uint64_t *value)
{
    int64_t parsed;
    if (decimal_parse(text, strlen(text), 0, 0, INT64_MAX, &parsed) != DECIMAL_OK)
        return false;
    *value = (uint64_t)parsed;
    return true;
}

static void report(struct actor *actor)
{
    const struct bot *bot = &actor->bot;
    const struct histogram *round_trip = &bot->courier.round_trip;
    printf("stat %llu %llu %llu %llu %llu %llu\n", (unsigned long long)bot->sent,
           (unsigned long long)bot->trades, (unsigned long long)bot->problems,
           (unsigned long long)bot->postponed,
           (unsigned long long)histogram_quantile(round_trip, 500000),
           (unsigned long long)histogram_quantile(round_trip, 990000));
    for (int i = 0; i < STATUS_COUNT; i++) {
        if (bot->statuses[i] != actor->reported[i])
            printf("status %s %llu\n", status_name((enum status)i),
                   (unsigned long long)bot->statuses[i]);
        actor->reported[i] = bot->statuses[i];
    }
    fflush(stdout);
}

static bool any_used(const struct bot *bot)
{
    for (int slot = 0; slot < BOT_SLOTS_MAX; slot++) {
        if (bot->slots[slot].used)
            return true;
    }
    return false;
}

/* Reads every order until all have ended. Gives up after many rounds in which each was answered:
 * what is open then stays open, and the scene says so. */
static void read_to_the_end(struct bot *bot)
{
    uint32_t rounds = 0;
    for (uint32_t i = 0; any_used(bot) && rounds < ROUNDS_MAX && pause_before(i); i++) {
        uint64_t postponed = bot->postponed;
        for (uint32_t slot = 0; slot < BOT_SLOTS_MAX; slot++) {
            if (bot->slots[slot].used)
                bot_read(bot, slot);
            if (bot->courier.count == READS_AT_ONCE)
                bot_flush(bot); /* the others want to read too */
        }
        bot_flush(bot);
        rounds += bot->postponed == postponed;
    }
}

static void say_books(const struct bot *bot)
{
    for (uint32_t market = 0; market < LISTING_MARKETS; market++) {
        const struct bot_book *book = &bot->books[market];
        char notional[DECIMAL_TEXT_MAX], gross[DECIMAL_TEXT_MAX];
        decimal_format(notional, book->notional, 0);
        decimal_format(gross, book->gross, 0);
        printf("own %u %lld %s %s\n", market, (long long)book->position, notional, gross);
    }
}

static void say_positions(struct bot *bot)
{
    int64_t sizes[LISTING_MARKETS];
    statement_positions(bot, sizes);
    for (uint32_t market = 0; market < LISTING_MARKETS; market++)
        printf("position %u %lld\n", market, (long long)sizes[market]);
}

static void say_sums(const char *word, const struct statement_sum *sums)
{
    for (uint32_t market = 0; market < LISTING_MARKETS; market++) {
        const struct statement_sum *sum = &sums[market];
        char notional[DECIMAL_TEXT_MAX], fees[DECIMAL_TEXT_MAX];
        decimal_format(notional, sum->notional, 0);
        decimal_format(fees, sum->fees, 0);
        printf("%s %u %lld %lld %s %s\n", word, market, (long long)sum->count, (long long)sum->size,
               notional, fees);
    }
}

static void say_statement(struct bot *bot)
{
    struct statement statement;
    statement_read(bot, &statement);
    say_sums("orders", statement.orders);
    say_sums("fills", statement.fills);
    printf("statement %d %lld %lld %llu\n", statement.complete, (long long)statement.odd_fees,
           (long long)statement.out_of_turn, (unsigned long long)bot->accepted_orders);
}

static void prove(struct bot *bot)
{
    const struct courier *courier = &bot->courier;
    struct statement_proof proof;
    statement_prove(bot, &proof);
    unsigned long long executed_before = receipt_count(&courier->receipts, RECEIPT_BEFORE);
    executed_before += proof.untold_executed;
    printf("proof %llu %llu %llu %llu %llu %llu %llu %llu %llu\n",
           (unsigned long long)receipt_first(&courier->receipts),
           (unsigned long long)courier->unanswered, executed_before,
           (unsigned long long)receipt_count(&courier->receipts, RECEIPT_AFTER),
           (unsigned long long)proof.untold_unused, (unsigned long long)proof.asked,
           (unsigned long long)proof.found, (unsigned long long)proof.missing,
           (unsigned long long)proof.different);
    printf("proved\n");
}

static bool is_oracle(const struct actor *actor)
{
    return actor->role == role_at(ROLE_oracle);
}

static void stop(struct actor *actor)
{
    if (!is_oracle(actor)) {
        bot_cancel_all(&actor->bot);
        bot_flush(&actor->bot);
        read_to_the_end(&actor->bot);
    }
    actor->stopped = !is_oracle(actor); /* the oracle goes on: marks must live */
    report(actor);
    say_books(&actor->bot);
    if (!is_oracle(actor))
        say_positions(&actor->bot);
    printf("stopped\n");
}

static void flatten(struct actor *actor, const char *text)
{
    struct bot *bot = &actor->bot;
    for (uint32_t market = 0; market < LISTING_MARKETS && *text != '\0'; market++) {
        char *end;
        int64_t price = strtoll(text, &end, 10);
        text = end;
        if (price <= 0 || bot->books[market].position == 0 || bot->slots[market].used)
            continue;
        struct bot_wish wish = { .market = market,
                                 .quantity = -bot->books[market].position,
                                 .price = price,
                                 .expiry = UINT64_MAX,
                                 .reduce_only = true };
        bot_place(bot, market, &wish);
    }
    bot_flush(bot);
    report(actor);
    printf("flattening\n");
}

static void finish(struct actor *actor)
{
    read_to_the_end(&actor->bot);
    bot_balance(&actor->bot);
    report(actor);
    say_books(&actor->bot);
    say_statement(&actor->bot);
    printf("finished %lld\n", (long long)actor->bot.cash);
}

static void obey(struct actor *actor, const char *line)
{
    if (strcmp(line, "stop") == 0)
        stop(actor);
    else if (strcmp(line, "prove") == 0)
        prove(&actor->bot);
    else if (strncmp(line, "flatten ", 8) == 0)
        flatten(actor, line + 8);
    else if (strcmp(line, "finish") == 0)
        finish(actor);
    fflush(stdout);
}

/* Waits at most `wait_ns` for the scene's words. False: it is gone. */
static bool listen_to_scene(struct actor *actor, uint64_t wait_ns)
{
    struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
    const struct timespec wait = { .tv_sec = (time_t)(wait_ns / NS_PER_S),
                                   .tv_nsec = (long)(wait_ns % NS_PER_S) };
    if (ppoll(&input, 1, &wait, NULL) <= 0)
        return true;
    char text[LINE_MAX_BYTES];
    ssize_t count = read(STDIN_FILENO, text, sizeof text);
    if (count <= 0)
        return count < 0 && errno == EINTR;
    for (ssize_t i = 0; i < count; i++) {
        if (text[i] == '\n') {
            actor->line[actor->line_count] = '\0';
            obey(actor, actor->line);
            actor->line_count = 0;
        } else if (actor->line_count + 1 < sizeof actor->line) {
            actor->line[actor->line_count++] = text[i];
        }
    }
    return true;
}

static bool fetch_markets(struct bot *bot)
{
    char error[INSTRUMENT_ERROR_MAX];
    struct client_request request = { .method = "GET", .target = "/api/v1/markets" };
    struct client_answer answer;
    if (client_rule_call(&bot->courier.client, &request, true, &answer) != 0) {
        fprintf(stderr, "%s: %s\n", bot->name, bot->courier.client.error);
        return false;
    }
    for (uint32_t market = 0; market < LISTING_MARKETS; market++) {
        if (!instrument_parse(&bot->records[market], answer.body, answer.body_count,
                              listing_at(market)->market, error)) {
            fprintf(stderr, "%s: %s\n", bot->name, error);
            return false;
        }
    }
    return true;
}

static bool read_api_key(char api_key[COURIER_KEY_MAX], const char *path)
{
    api_key[0] = '\0';
    if (strcmp(path, "-") == 0)
        return true;
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    size_t count = fread(api_key, 1, COURIER_KEY_MAX - 1, file);
    fclose(file);
    api_key[count] = '\0';
    api_key[strcspn(api_key, "\n")] = '\0';
    return count > 0;
}

static bool begin(struct actor *actor, char **argv)
{
    struct bot *bot = &actor->bot;
    char error[KEY_FILE_ERROR_MAX], api_key[COURIER_KEY_MAX];
    uint64_t patience_ms;
    snprintf(bot->name, sizeof bot->name, "%s", argv[2]);
    actor->role = role_find(argv[1]);
    INVARIANT(actor->role != NULL); /* main.c looked */
    if (!number(argv[6], &bot->portfolio.account_id) || !number(argv[8], &bot->random) ||
        !number(argv[9], &patience_ms) || patience_ms > UINT32_MAX || bot->random == 0) {
        fprintf(stderr, "%s: a number is wrong\n", bot->name);
        return false;
    }
    bot->feed = feed_open(argv[7]);
    if (bot->feed == NULL || !read_api_key(api_key, argv[5])) {
        fprintf(stderr, "%s: %s: %s\n", bot->name, bot->feed == NULL ? argv[7] : argv[5],
                strerror(errno));
        return false;
    }
    bot->courier.sends_frames = actor->role->sends_frames;
    if (!courier_init(&bot->courier, argv[3], api_key, (uint32_t)patience_ms)) {
        fprintf(stderr, "%s: %s\n", bot->name, bot->courier.client.error);
        return false;
    }
    if (!key_file_read(&bot->key, argv[4], error)) {
        fprintf(stderr, "%s: %s\n", bot->name, error);
        return false;
    }
    struct provision provision;
    if (!provision_greet(&provision, &bot->courier.client))
        return false;
    bot->courier.eip712 = provision.eip712;
    return fetch_markets(bot);
}

/* Who acts rarely, or moves the prices, never hurries. */
static uint64_t interval_ns(const struct actor *actor)
{
    bool hurries = actor->role->turn_ms < CALM_MS && feed_hurry(actor->bot.feed);
    return hurries ? 0 : actor->role->turn_ms * NS_PER_MS;
}

int actor_run(int argc, char **argv)
{
    static struct actor actor;
    if (argc != ACTOR_ARGUMENTS || !begin(&actor, argv))
        return 1;
    uint64_t next_ns = instant_monotonic_ns(), stat_ns = next_ns;
    for (bool present = true; present;) {
        uint64_t now_ns = instant_monotonic_ns();
        if (now_ns >= next_ns && !actor.stopped) {
            actor.role->turn(&actor.bot);
            actor.bot.turn++;
            next_ns += interval_ns(&actor);
            if (next_ns < now_ns)
                next_ns = now_ns; /* behind: no bursts to catch up */
        }
        if (now_ns >= stat_ns) {
            report(&actor);
            stat_ns = now_ns + STAT_NS;
        }
        now_ns = instant_monotonic_ns();
        uint64_t until_ns = actor.stopped || stat_ns < next_ns ? stat_ns : next_ns;
        present = listen_to_scene(&actor, until_ns > now_ns ? until_ns - now_ns : 0);
    }
    client_close(&actor.bot.courier.client);
    key_file_wipe(&actor.bot.key);
    return 0;
}
